package main_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

var callGlob = scripted.Reply{Calls: []scripted.Call{{Name: "glob", Arguments: `{"pattern":"*"}`}}, Usage: &scripted.Usage{PromptTokens: 1000, CompletionTokens: 100}}

// twoTurns is a model that reads a file twice, then answers; a prompt of a second
// turn is answered at once.
func twoTurns() scripted.Agent {
	return scripted.NewScript(callGlob, callGlob, scripted.Reply{Text: "Done."}, scripted.Reply{Text: "Done again."})
}

// endless is an answer that takes minutes.
var endless = scripted.Reply{Text: "It begins well" + strings.Repeat(" and goes on", 1000), ChunkDelayMS: 100}

// TestL3_LimitsAreResumable: each limit ends the run with exit code 4, names its
// key, and a resume under a higher one completes the task.
func TestL3_LimitsAreResumable(t *testing.T) {
	t.Parallel()
	price := []string{"-c", "price.input=1000", "-c", "price.output=10000"} // 2 USD a request
	for _, c := range []struct {
		name, key, low, high, code string
		more                       []string
		what                       string
		setUp                      func(t *testing.T, u *sandbox)
	}{
		{name: "steps", key: "limits.max_steps", low: "1", high: "10", code: "LIMIT_STEPS", what: "1 steps"},
		{name: "tokens", key: "limits.max_tokens", low: "1500", high: "100000", code: "LIMIT_TOKENS", what: "2200 tokens"},
		{name: "cost", key: "limits.max_cost_usd", low: "3.5", high: "1000", code: "LIMIT_COST", more: price, what: "4.0000 USD"},
		{name: "time, in a tool", key: "limits.timeout", low: "1500ms", high: "10m", code: "LIMIT_TIME", what: "1.5s", setUp: func(t *testing.T, u *sandbox) {
			withModel(scripted.NewScript(scripted.Reply{Calls: []scripted.Call{{Name: "shell", Arguments: `{"description":"wait","command":"sleep 1000"}`}}},
				scripted.Reply{Text: "Done."}))(t, u)
		}},
		{name: "time, in an answer", key: "limits.timeout", low: "1500ms", high: "10m", code: "LIMIT_TIME", what: "1.5s", setUp: func(t *testing.T, u *sandbox) {
			withModel(scripted.NewScript(endless, scripted.Reply{Text: "Done."}))(t, u)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := user(t)
			if c.setUp == nil {
				c.setUp = withModel(twoTurns())
			}
			c.setUp(t, u)
			limited := func(value string, args ...string) []string {
				args = append(args, "-o", "stream-json", "-P", "none", "-c", "model.name=m", "-c", "model.context_window=32000", "-c", "model.max_output_tokens=2000", "-c", c.key+"="+value)
				return append(args, c.more...)
			}
			o := u.run(t, limited(c.low, "run", asked)...)
			lines := checkStream(t, o.stdout)
			r := lines[len(lines)-1].Result
			if o.exit != 4 || r.ExitCode != 4 || r.Status != "limit" || r.Error == nil || r.Error.Code != c.code {
				t.Fatalf("exit %d, %+v, error %+v\n%s", o.exit, r, r.Error, o.stderr)
			}
			if want := "limit " + c.key + " reached: " + c.what; r.Error.Message != want || !strings.Contains(r.Error.Hint, c.key) {
				t.Errorf("it says %q and %q, want %q", r.Error.Message, r.Error.Hint, want)
			}
			way := said(o.stderr, "resume: tureen ")
			if len(way) != 1 {
				t.Fatalf("no way to go on:\n%s", o.stderr)
			}
			u.ok(t, "session", "verify", r.Session)
			o = u.ok(t, limited(c.high, strings.Fields(way[0])...)...)
			lines = checkStream(t, o.stdout)
			if r := lines[len(lines)-1].Result; r.Status != "completed" || r.Text != "Done." {
				t.Errorf("the resume ended %s with %q", r.Status, r.Text)
			}
			u.ok(t, "session", "verify", r.Session)
		})
	}
}

// TestL7_TheTimeLimitKeepsWhatWasSaid: the words of an answer that the limit cut
// stand in the log and are shown to the model afterwards.
func TestL7_TheTimeLimitKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	u := user(t)
	withModel(scripted.NewScript(endless))(t, u)
	o := u.run(t, known("limits.timeout=1500ms")...)
	if o.exit != 4 {
		t.Fatalf("exit %d: %s", o.exit, o.stderr)
	}
	log := u.ok(t, "session", "export", "last").stdout
	if !strings.Contains(log, `"interrupted":true`) || !strings.Contains(log, "It beg") {
		t.Errorf("the log has nothing of the answer:\n%s", log)
	}
}

// Turns count in one process, so that a second prompt of another is needed.
func TestL3_TheLimitOfTurns(t *testing.T) {
	t.Parallel()
	u := user(t)
	withModel(scripted.NewScript(scripted.Reply{Calls: []scripted.Call{{Name: "shell", Arguments: `{"description":"wait","command":"touch begun; while [ ! -e go ]; do sleep 0.01; done"}`}}},
		scripted.Reply{Text: "Done."}, scripted.Reply{Text: "Done again."}))(t, u)
	cmd := u.command(append(known("limits.max_turns=1"), "-o", "json")...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	waitFor(t, func() bool { return exists(u.path("work", "begun")) })
	id := u.lastSession()
	u.ok(t, "prompt", "--session", id, "and another thing")
	write(t, u.path("work", "go"), "")
	_ = cmd.Wait()
	var r host.Result
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if r.ExitCode != 4 || r.Error == nil || r.Error.Code != "LIMIT_TURNS" || r.Error.Message != "limit limits.max_turns reached: 1 turns" || !strings.Contains(r.Error.Hint, "limits.max_turns") {
		t.Fatalf("%+v, error %+v", r, r.Error)
	}
	if o := u.ok(t, "resume", id, "-P", "none", "-c", "model.name=m", "-c", "model.context_window=32000", "-c", "model.max_output_tokens=2000"); o.stdout != "Done again.\n" {
		t.Errorf("the prompt that waited was answered with %q", o.stdout)
	}
	u.ok(t, "session", "verify", id)
}

// waitFor waits until something is so.
func waitFor(t testing.TB, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited for a minute in vain")
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
