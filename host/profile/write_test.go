package profile_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tureen-host/tureen/host/profile"
)

func TestWriteResolved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.toml", `schema = 1
extends = "base"
description = "say \"hi\""
[model]
name = "m"
params = { temperature = 0.2, "odd key" = [1, { a = 2.0 }] }
[compaction]
strategy = "summary"
threshold_ratio = 0.7
[compaction.summary]
keep = 3
[compaction.notesoup]
carry = "request"
[compaction.models."gpt-4.1"]
trigger_tokens = 49152
[limits]
timeout = "45m"
`)
	p := w.load("./p.toml", "model.effort=high")
	var b bytes.Buffer
	if err := p.WriteResolved(&b); err != nil {
		t.Fatal(err)
	}
	want := `# profile p from p.toml
schema = 1
description = "say \"hi\""  # p.toml:3
notes_home = "HOME/.agents/notes"  # default
agent_name = "tureen"  # default

[model]
provider = "openai"  # default
name = "m"  # p.toml:5
base_url = "https://api.openai.com/v1"  # default
api_key_env = "OPENAI_API_KEY"  # default
context_window = "auto"  # default
max_output_tokens = 8192  # default
effort = "high"  # -c
system_update = "rewrite"  # default

[model.params]
"odd key" = [1, {a = 2.0}]  # p.toml:6
temperature = 0.2  # p.toml:6

[compaction]
strategy = "summary"  # p.toml:8
on_trigger = "auto"  # default
threshold_ratio = 0.7  # p.toml:9

[compaction.models."gpt-4.1"]
trigger_tokens = 49152  # p.toml:15

[compaction.summary]
keep = 3  # p.toml:11

[[plugins]]
use = "files"  # profiles/base.toml:4

[[plugins]]
use = "shell"  # profiles/base.toml:6
config = {timeout = "60s"}  # profiles/base.toml:7

[limits]
timeout = "45m"  # p.toml:17

[retry]
max_retries = 5  # default
max_retry_after = "10s"  # default
`
	if got := strings.ReplaceAll(b.String(), w.env["HOME"], "HOME"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What loads is printed and loads again as the same; what does not is refused
// with places, never with a panic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("schema = 1\n[model]\nname = \"x\"\nparams = { a = [1, 2.0, -0.0, 1e300], \"b.c\" = 1979-05-27T07:32:00Z }\n"))
	f.Add([]byte("schema = 1\n[[plugins]]\nuse = \"a\"\n[plugins.config]\nx = { y = [[], {}] }\n[[plugins]]\nuse = \"b\"\nconfig.z = 07:32:00\n"))
	f.Add([]byte("\xef\xbb\xbfschema = 1\r\n[compaction]\r\nstrategy = \"n\"\r\n[compaction.n]\r\n\"\\u0001\" = \"\x7f\\u0085\"\r\n"))
	f.Add([]byte("schema = 1\nplugins = [{ use = \"a\", deny = [\"session.read\"] }]\n[price]\ninput = 1\noutput = 2\n[limits]\nmax_cost_usd = 1\ntimeout = \"1h\"\n"))
	f.Add([]byte("schema = 1\n[compaction.models.\"a.b\"]\nheadroom_tokens = 0x10\n[model]\nname = \"\"\n"))
	dir := f.TempDir()
	load := func(text []byte) (*profile.Profile, error) {
		return profile.Load("f", profile.Options{
			Dir: dir, Embedded: fstest.MapFS{"f.toml": {Data: text}},
			Env: func(name string) string { return map[string]string{"HOME": dir}[name] },
		})
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := load(text)
		if err != nil {
			if len(problems(t, err)) == 0 || strings.TrimSpace(err.Error()) == "" {
				t.Fatalf("an error without a problem: %#v", err)
			}
			return
		}
		for key, origin := range p.Origins {
			if origin.File != "" && (origin.Line < 1 || origin.Column < 1) {
				t.Errorf("%s has no place: %+v", key, origin)
			}
		}
		var first, second bytes.Buffer
		if err := p.WriteResolved(&first); err != nil {
			t.Fatal(err)
		}
		again, err := load(first.Bytes())
		if err != nil {
			t.Fatalf("what was printed does not load: %v\n%s", err, first.Bytes())
		}
		if err := again.WriteResolved(&second); err != nil {
			t.Fatal(err)
		}
		if a, b := uncommented(first.String()), uncommented(second.String()); a != b {
			t.Errorf("printed\n%s\nthen\n%s", a, b)
		}
		if string(p.Compaction.Config) != string(again.Compaction.Config) {
			t.Errorf("config %s became %s", p.Compaction.Config, again.Compaction.Config)
		}
	})
}

// uncommented drops the origins, which differ.
func uncommented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if at := strings.LastIndex(line, "  # "); at >= 0 {
			lines[i] = line[:at]
		}
	}
	return strings.Join(lines, "\n")
}
