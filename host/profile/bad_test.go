package profile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/profile"
)

// Each row is a whole profile and every line of its error.
func TestBadProfiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"unknown key near a known one", "schema = 1\n[model]\ncontext_windw = 5\n",
			[]string{`p.toml:3:1: model.context_windw: unknown key; did you mean "context_window"?`}},
		{"unknown table", "schema = 1\n[compation]\nstrategy = \"none\"\n",
			[]string{`p.toml:2:2: compation: unknown key; did you mean "compaction"?`}},
		{"unknown key far from all", "schema = 1\n[limits]\nbananas = 3\n",
			[]string{`p.toml:3:1: limits.bananas: unknown key; known here: max_steps, max_turns, max_tokens, max_cost_usd, timeout`}},
		{"known key in the wrong table", "schema = 1\n[price]\nheadroom_tokens = 3\n",
			[]string{`p.toml:3:1: price.headroom_tokens: unknown key; did you mean "compaction.headroom_tokens"?`}},
		{"two keys that may be meant", "schema = 1\n[model]\nmax_tokens = 3\n",
			[]string{`p.toml:3:1: model.max_tokens: unknown key; did you mean "max_output_tokens" or "limits.max_tokens"?`}},
		{"unknown key in a plugin's row", "schema = 1\n[[plugins]]\nuse = \"shell\"\nconfg = {}\n",
			[]string{`p.toml:4:1: plugins[0].confg: unknown key; did you mean "config"?`}},
		{"unknown key for one model", "schema = 1\n[compaction.models.\"gpt-4.1\"]\nheadroom = 1\n",
			[]string{`p.toml:3:1: compaction.models."gpt-4.1".headroom: unknown key; did you mean "headroom_tokens"?`}},
		{"a key of the settings", "schema = 1\ndefault_profile = \"x\"\n",
			[]string{`p.toml:2:1: default_profile: this key may not stand in a profile; allowed: settings.toml`}},

		{"unknown word", "schema = 1\n[model]\nprovider = \"opnai\"\n",
			[]string{`p.toml:3:1: model.provider: found text "opnai"; allowed: openai | scripted; did you mean "openai"?`}},
		{"effort", "schema = 1\n[model]\neffort = \"medium\"\n",
			[]string{`p.toml:3:1: model.effort: found text "medium"; allowed: off | low | high | max`}},
		{"number for text", "schema = 1\n[model]\nname = 7\n",
			[]string{`p.toml:3:1: model.name: found number 7; allowed: a model's name, or "auto"`}},
		{"empty name", "schema = 1\n[model]\nname = \" \"\n",
			[]string{`p.toml:3:1: model.name: found text " "; allowed: a model's name, or "auto"`}},
		{"text for number", "schema = 1\n[model]\nmax_output_tokens = \"8k\"\n",
			[]string{`p.toml:3:1: model.max_output_tokens: found text "8k"; allowed: a whole number from 1 to 10000000`}},
		{"decimal for whole number", "schema = 1\n[model]\nmax_output_tokens = 8192.0\n",
			[]string{`p.toml:3:1: model.max_output_tokens: found number 8192.0; allowed: a whole number from 1 to 10000000`}},
		{"negative window", "schema = 1\n[model]\ncontext_window = -1\n",
			[]string{`p.toml:3:1: model.context_window: found number -1; allowed: a whole number from 1024 to 100000000, or "auto"`}},
		{"window in words", "schema = 1\n[model]\ncontext_window = \"auto!\"\n",
			[]string{`p.toml:3:1: model.context_window: found text "auto!"; allowed: a whole number from 1024 to 100000000, or "auto"`}},
		{"output as large as the window", "schema = 1\n[model]\ncontext_window = 8192\nmax_output_tokens = 8192\n",
			[]string{`p.toml:4:1: model.max_output_tokens: found number 8192, which leaves no room for input in a window of 8192 (p.toml:3); allowed: less than context_window`}},
		{"percent for a ratio", "schema = 1\n[compaction]\nthreshold_ratio = 70\n",
			[]string{`p.toml:3:1: compaction.threshold_ratio: found number 70; allowed: a part of the window from 0.05 to 1 (0.8 is 80 %)`}},
		{"not a number", "schema = 1\n[compaction]\nthreshold_ratio = nan\n",
			[]string{`p.toml:3:1: compaction.threshold_ratio: found number nan; allowed: a part of the window from 0.05 to 1 (0.8 is 80 %)`}},
		{"zero limit", "schema = 1\n[limits]\nmax_steps = 0\n",
			[]string{`p.toml:3:1: limits.max_steps: found number 0; allowed: a whole number from 1 to 1000000`}},
		{"duration without a unit", "schema = 1\n[limits]\ntimeout = 45\n",
			[]string{`p.toml:3:1: limits.timeout: found number 45; allowed: a duration such as "45m", up to "720h"`}},
		{"duration of nothing", "schema = 1\n[limits]\ntimeout = \"0s\"\n",
			[]string{`p.toml:3:1: limits.timeout: found text "0s"; allowed: a duration such as "45m", up to "720h"`}},
		{"absurd retries", "schema = 1\n[retry]\nmax_retries = 1000\n",
			[]string{`p.toml:3:1: retry.max_retries: found number 1000; allowed: a whole number from 0 to 100`}},
		{"date for text", "schema = 1\ndescription = 2026-08-21\n",
			[]string{`p.toml:2:1: description: found a date or time; allowed: one line of text`}},
		{"value for a table", "schema = 1\nmodel = true\n",
			[]string{`p.toml:2:1: model: found true; allowed: a table`}},
		{"table for a value", "schema = 1\n[model.effort]\nx = 1\n",
			[]string{`p.toml:2:8: model.effort: found a table; allowed: off | low | high | max`}},

		{"cost limit without a price", "schema = 1\n[limits]\nmax_cost_usd = 2.5\n",
			[]string{`p.toml:3:1: limits.max_cost_usd: a cost limit needs a price, and there is none; write [price] with input and output, or leave the limit out`}},
		{"half a price", "schema = 1\n[price]\ninput = 0.27\n",
			[]string{`p.toml:2:2: price.output: missing; a price needs input and output; without [price] calls are unpriced`}},
		{"negative price", "schema = 1\n[price]\ninput = -0.1\noutput = 1\n",
			[]string{`p.toml:3:1: price.input: found number -0.1; allowed: US dollars per million tokens, from 0 to 100000`}},
		{"price of an unknown day", "schema = 1\n[price]\ninput = 1\noutput = 1\nsource = \"somewhere\"\n",
			[]string{`p.toml:5:1: price.source: found text "somewhere"; allowed: where the price was read, with the date, such as "vendor's price page, 2026-08-21"`}},

		{"two strategies", "schema = 1\n[compaction]\nstrategy = [\"notesoup\", \"summary\"]\n",
			[]string{`p.toml:3:1: compaction.strategy: found a list of 2 strategies (text "notesoup", text "summary"); allowed: one strategy; keep one here; the tools of another come with [[plugins]] use = "NAME"`}},
		{"strategy that looks like a file", "schema = 1\n[compaction]\nstrategy = \"mine.py\"\n",
			[]string{`p.toml:3:1: compaction.strategy: found text "mine.py"; allowed: a name of a-z, 0-9, _ and -, or a path with a /; a file beside this one is written "./mine.py"`}},
		{"strategy's table that is none", "schema = 1\n[compaction]\nnotesoup = \"request\"\n",
			[]string{`p.toml:3:1: compaction.notesoup: unknown key; known here: strategy, on_trigger, threshold_ratio, headroom_tokens, warning_margin_tokens, reminder_margin_tokens, trigger_tokens, models`}},
		{"one plugin as a table", "schema = 1\n[plugins]\nuse = \"shell\"\n",
			[]string{`p.toml:2:2: plugins: found a table; allowed: a list of tables; write [[plugins]] before each, or -c 'plugins=[{use="shell"}]'`}},
		{"row without a plugin", "schema = 1\n[[plugins]]\nuse = \"files\"\n[[plugins]]\nconfig = {}\n",
			[]string{`p.toml:4:3: plugins[1].use: missing; name the plugin of this row`}},
		{"same plugin twice", "schema = 1\n[[plugins]]\nuse = \"files\"\n\n[[plugins]]\nuse = \"files\"\n",
			[]string{`p.toml:6:1: plugins[1].use: "files" stands in plugins[0] (p.toml:2) too; keep one of the rows`}},
		{"unknown capability", "schema = 1\n[[plugins]]\nuse = \"x\"\ndeny = [\"model.generat\"]\n",
			[]string{`p.toml:4:1: plugins[0].deny[0]: found text "model.generat"; allowed: session.read | session.steer | session.spawn | user.ask | model.generate | records.write; did you mean "model.generate"?`}},
		{"config that JSON cannot hold", "schema = 1\nplugins = [ { use = \"x\", config = { rate = inf } } ]\n",
			[]string{`p.toml:2:37: plugins[0].config.rate: found number +inf, which JSON cannot hold`}},
		{"parameter of the host", "schema = 1\n[model.params]\nmax_tokens = 5\n",
			[]string{`p.toml:3:1: model.params.max_tokens: the host sets this itself; write model.max_output_tokens`}},

		{"M25 a key for a variable's name", "schema = 1\n[model]\napi_key_env = \"sk-abcdefghijklmnop\"\n",
			[]string{`p.toml:3:1: model.api_key_env: this value cannot stand here and is not repeated, it may hold a secret; allowed: the name of an environment variable, such as "OPENAI_API_KEY", never the key itself; "" sends no key`}},
		{"M25 a key that could be a name", "schema = 1\n[model]\napi_key_env = \"gsk_0123456789abcdefghijklmn\"\n",
			[]string{`p.toml:3:1: model.api_key_env: this value cannot stand here and is not repeated, it may hold a secret; allowed: the name of an environment variable, such as "OPENAI_API_KEY", never the key itself; "" sends no key`}},
		{"M25 a key in the profile", "schema = 1\n[model]\napi_key = \"sk-abcdefghijklmnop\"\n",
			[]string{`p.toml:3:1: model.api_key: unknown key; did you mean "api_key_env"?`}},
		{"M25 password in a URL", "schema = 1\n[model]\nbase_url = \"https://me:hunter2@host/v1\"\n",
			[]string{`p.toml:3:1: model.base_url: this value cannot stand here and is not repeated, it may hold a secret; allowed: an http or https URL without user and password, such as "http://localhost:8080/v1"`}},
		{"endpoint without a scheme", "schema = 1\n[model]\nbase_url = \"localhost:8080/v1\"\n",
			[]string{`p.toml:3:1: model.base_url: found text "localhost:8080/v1"; allowed: an http or https URL without user and password, such as "http://localhost:8080/v1"`}},
		{"endpoint of the scripted model", "schema = 1\n[model]\nprovider = \"scripted\"\nbase_url = \"http://localhost:1/v1\"\n",
			[]string{`p.toml:4:1: model.base_url: provider "scripted" (p.toml:3) has no endpoint; leave base_url out, or write provider = "openai"`}},

		{"no schema", "[model]\nname = \"x\"\n",
			[]string{`p.toml:1:1: schema: missing; write schema = 1 in the first line`}},
		{"newer schema", "schema = 2\nshiny = true\n",
			[]string{`p.toml:1:1: schema: found version 2; allowed: 1; a newer version needs a newer tureen; nothing else was checked`}},
		{"schema in words", "schema = \"1\"\n",
			[]string{`p.toml:1:1: schema: found text "1"; allowed: a whole number from 1 to 1`}},
		{"syntax", "schema = 1\n[model]\nname = \"x\n",
			[]string{`p.toml:3:10: not valid TOML: basic strings cannot have new lines`}},
		{"key twice", "schema = 1\n[model]\nname = \"x\"\nname = \"y\"\n",
			[]string{`p.toml:4:1: not valid TOML: key name is already defined`}},
		{"UTF-16", "\xff\xfes\x00", []string{`p.toml: the text is UTF-16; save it as UTF-8`}},
		{"Latin-1", "schema = 1\n# \xe9\n", []string{`p.toml: the text is not UTF-8 in line 2; save it as UTF-8`}},
		{"columns are characters", "schema = 1\nlimits = { \"größe\" = 1, max_step = 2 }\n", []string{
			`p.toml:2:12: limits."größe": unknown key; known here: max_steps, max_turns, max_tokens, max_cost_usd, timeout`,
			`p.toml:2:25: limits.max_step: unknown key; did you mean "max_steps"?`}},

		{"extends what is not there", "schema = 1\nextends = \"bse\"\n",
			[]string{`p.toml:2:1: extends: no profile "bse"; did you mean "base"?; there are: base, child`}},
		{"extends two levels", "schema = 1\nextends = \"child\"\n",
			[]string{`p.toml:2:1: extends: "child" extends "base" itself; one level only: extend "base"`}},
		{"extends itself", "schema = 1\nextends = \"./p.toml\"\n",
			[]string{`p.toml:2:1: extends: a profile cannot extend itself`}},
		{"a plugin's path that leads nowhere", "schema = 1\n[[plugins]]\nuse = \"./gone\"\n",
			[]string{`p.toml:3:1: plugins[0].use: there is no file "DIR/gone"; allowed: an executable file, or a directory with plugin.toml; mend the path, which is relative to the profile's file, with -c to the working directory`}},

		{"everything at once", "schema = 1\nnoise = 1\n[model]\neffort = \"hgih\"\n[limits]\nmax_turns = -1\n", []string{
			`p.toml:2:1: noise: unknown key; known here: schema, extends, description, notes_home, notes_project, agent_name, model, compaction, plugins, plugin, limits, price, retry, prompt`,
			`p.toml:4:1: model.effort: found text "hgih"; allowed: off | low | high | max; did you mean "high"?`,
			`p.toml:6:1: limits.max_turns: found number -1; allowed: a whole number from 1 to 1000000`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("p.toml", test.text)
			_, err := profile.Load("./p.toml", w.options())
			got := problems(t, err)
			if len(got) != len(test.want) {
				t.Fatalf("got %d problems, want %d:\n%s", len(got), len(test.want), strings.Join(got, "\n"))
			}
			for i := range got {
				if got[i] = strings.ReplaceAll(got[i], w.dir, "DIR"); got[i] != test.want[i] {
					t.Errorf("problem %d\n got %s\nwant %s", i, got[i], test.want[i])
				}
			}
		})
	}
}

func TestBadOverrides(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ override, want string }{
		{"model.provider=opnai", `-c: model.provider: found text "opnai"; allowed: openai | scripted; did you mean "openai"?`},
		{"model.name", `-c: "model.name" has no =; write -c key=value with a dotted key, such as -c compaction.strategy=summary`},
		{"=x", `-c: "" is not a dotted key; write -c key=value with a dotted key, such as -c compaction.strategy=summary`},
		{"a\nb=x", `-c: "a\nb" is not a dotted key; write -c key=value with a dotted key, such as -c compaction.strategy=summary`},
		{"plugins[0].use=x", `-c: "plugins[0].use" names an item of a list; a list is set whole, such as -c 'plugins=[{use="shell"}]'`},
		{"plugins.use=x", `-c: plugins: found a table; allowed: a list of tables; write [[plugins]] before each, or -c 'plugins=[{use="shell"}]'`},
		{"extends=base", `-c: extends: this key may not stand in -c; allowed: a profile`},
		{"model.name=12", `-c: model.name: found number 12; allowed: a model's name, or "auto"`},
		{"limits.max_steps=1\nx = 2", `-c: limits.max_steps: found text "1\nx = 2"; allowed: a whole number from 1 to 1000000`},
	} {
		w := newWorld(t)
		_, err := profile.Load("base", w.options(test.override))
		if got := problems(t, err); len(got) != 1 || got[0] != test.want {
			t.Errorf("-c %s\n got %s\nwant %s", test.override, strings.Join(got, "\n"), test.want)
		}
	}
}

// All layers are checked together.
func TestProblemsOfAllLayers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("config/settings.toml", "plugins = []\n[retry]\nmax_retries = -1\n")
	w.write("p.toml", "schema = 1\nextends = \"./b.toml\"\nnoise = 1\n")
	w.write("b.toml", "schema = 1\n[model]\nname = 1\n")
	_, err := profile.Load("./p.toml", w.options("retry.max_retries=x"))
	got := problems(t, err)
	want := []string{
		`user settings DIR/config/settings.toml:1:1: plugins: this key may not stand in settings.toml; allowed: a profile, -c`,
		`user settings DIR/config/settings.toml:3:1: retry.max_retries: found number -1; allowed: a whole number from 0 to 100`,
		`p.toml:3:1: noise: unknown key; known here: schema, extends, description, notes_home, notes_project, agent_name, model, compaction, plugins, plugin, limits, price, retry, prompt`,
		`b.toml:3:1: model.name: found number 1; allowed: a model's name, or "auto"`,
		`-c: retry.max_retries: found text "x"; allowed: a whole number from 0 to 100`,
	}
	if strings.ReplaceAll(strings.Join(got, "\n"), w.dir, "DIR") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if head, _, _ := strings.Cut(err.Error(), "\n"); head != `profile "p" has 5 problems:` {
		t.Errorf("heading = %q", head)
	}
}

// world is a home with a configuration and a working directory.
type world struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), env: map[string]string{}}
	w.env["HOME"] = filepath.Join(w.dir, "home")
	return w
}

func (w *world) write(path, text string) {
	w.t.Helper()
	full := filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) options(overrides ...string) profile.Options {
	return profile.Options{
		Dir: w.dir, ConfigDir: filepath.Join(w.dir, "config"), Overrides: overrides,
		Env: func(name string) string { return w.env[name] }, Embedded: shipped,
	}
}

func (w *world) load(name string, overrides ...string) *profile.Profile {
	w.t.Helper()
	p, err := profile.Load(name, w.options(overrides...))
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func problems(t *testing.T, err error) []string {
	t.Helper()
	var all *profile.Errors
	if !errors.As(err, &all) {
		t.Fatalf("error is %v (%T), want *profile.Errors", err, err)
	}
	lines := make([]string, len(all.Problems))
	for i, p := range all.Problems {
		lines[i] = p.Error()
	}
	return lines
}

// TestC3_AModelsNameIsNoPattern: keys for a pattern would never apply, and nobody would
// know; keys for other models are no fault.
func TestC3_AModelsNameIsNoPattern(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.toml", "schema = 1\n[model]\nname = \"gpt-4.1\"\n[compaction.models.\"gpt-*\"]\nheadroom_tokens = 5\n[compaction.models.\"gpt-4\"]\nheadroom_tokens = 5\n")
	if p := w.load("./p.toml"); len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Error(), "applies to no model") || !strings.Contains(p.Warnings[0].Error(), `"gpt-4.1"`) {
		t.Errorf("warnings %v", p.Warnings)
	}
}
