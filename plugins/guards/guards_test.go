package guards_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/guards"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// diary is a session's log that the plugin reads and writes records to.
type diary struct {
	session.Refusing
	mu     sync.Mutex
	events []session.Event
}

func (d *diary) add(e session.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.Seq = int64(len(d.events) + 1)
	d.events = append(d.events, e)
}

func (d *diary) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	d.mu.Lock()
	events := slices.Clone(d.events)
	d.mu.Unlock()
	if q.Reverse {
		slices.Reverse(events)
	}
	return func(yield func(session.Event, error) bool) {
		sent := 0
		for _, e := range events {
			if e.Seq <= q.After || q.Before > 0 && e.Seq >= q.Before || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) {
				continue
			}
			if sent++; q.Limit > 0 && sent > q.Limit || !yield(e, nil) {
				return
			}
		}
	}
}

func (d *diary) PutRecord(_ context.Context, kind, key string, data json.RawMessage) error {
	d.add(session.New(session.KindRecord, session.Record{Plugin: guards.Name, Kind: kind, Key: key, Data: data}))
	return nil
}

// answers lets the model answer in a turn, with calls or without.
func (d *diary) answers(turn int, text string, calls ...string) {
	m := llm.Text(llm.RoleAssistant, text)
	for i, name := range calls {
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: fmt.Sprint("c", i), Name: name, Arguments: "{}"}})
	}
	d.add(session.New(session.KindMessageAssistant, session.Assistant{Message: m, Stop: llm.StopEnd}).At(turn, 1))
}

func newDiary() *diary {
	d := &diary{}
	d.add(session.New(session.KindRequestHeader, session.Header{Tools: []llm.Tool{{Name: "read"}, {Name: "shell"}}}))
	d.add(session.New(session.KindTurnStarted, session.TurnStarted{}).At(1, 0))
	return d
}

// watch is the plugin over the wire.
type watch struct {
	t     *testing.T
	hooks hook.Hooks
	diary *diary
}

func keep(t *testing.T, config string, deny ...sdk.Capability) *watch {
	t.Helper()
	w := &watch{t: t, diary: newDiary()}
	p := plugintest.Run(t, guards.Plugin("1.0.0"), plugintest.Host{Config: json.RawMessage(config), Deny: deny, Sessions: []compaction.Session{
		{ID: "a", Workspace: "/w", Access: w.diary}, {ID: "b", Workspace: "/w", Access: newDiary()},
	}})
	w.hooks = p.Hooks(p.Info.HookPoints, "end_turn")
	return w
}

// call tells the plugin of a call and returns what it says, in short: "" for
// nothing, "stop CODE", or the reminder.
func (w *watch) call(id, name, arguments string, failed bool) string {
	w.t.Helper()
	d, err := w.hooks.AfterTool(w.t.Context(), hook.Where{Session: id, Turn: 1, Step: 1}, hook.ToolOutcome{CallID: "c", Name: name, Arguments: arguments, Text: "text", IsError: failed})
	if err != nil {
		w.t.Fatal(err)
	}
	if d.Replace != nil || len(d.Contexts) > 1 {
		w.t.Errorf("the plugin changed a result or said too much: %+v", d)
	}
	if d.Stop != nil {
		return "stop " + d.Stop.Code + ": " + d.Stop.Message
	}
	return strings.Join(d.Contexts, "\n")
}

func (w *watch) quiet(id, name, arguments string) {
	w.t.Helper()
	if said := w.call(id, name, arguments, false); said != "" {
		w.t.Errorf("%s %s: the plugin said %q, want nothing", name, arguments, said)
	}
}

func (w *watch) says(id, name, arguments string, want ...string) {
	w.t.Helper()
	said := w.call(id, name, arguments, false)
	for _, part := range want {
		if !strings.Contains(said, part) {
			w.t.Errorf("%s %s: the plugin said %q, want %q in it", name, arguments, said, part)
		}
	}
}

// The same arguments in another order, spacing or spelling are the same call, also
// where it was refused.
func TestG1_C134_IdenticalCallsAreRemindedOfAndThenStopped(t *testing.T) {
	t.Parallel()
	w := keep(t, `{}`)
	w.quiet("a", "read", `{"file_path":"a.txt","limit":10,"deep":{"x":1,"y":[1,2]}}`)
	if said := w.call("a", "read", `{"limit":10.0,"deep":{"y":[1.0,2],"x":1e0},"file_path":"a.txt"}`, true); said != "" {
		t.Errorf("the second call: %q", said)
	}
	w.says("a", "read", "{ \"deep\": {\"y\": [1, 2],\t\"x\": 1},\n \"file_path\": \"a.txt\", \"limit\": 1e1}", "same call of read", "3 times in a row", "At 6")
	w.quiet("a", "read", `{"file_path":"a.txt","limit":10,"deep":{"x":1,"y":[1,2]}}`)
	w.says("a", "read", `{"file_path":"a.txt","limit":10,"deep":{"x":1,"y":[1,2]}}`, "- tool: read", "times in a row: 5", `- arguments: {"deep":{"x":1,"y":[1,2]},"file_path":"a.txt","limit":10}`)
	w.says("a", "read", `{"file_path":"a.txt","limit":10,"deep":{"x":1,"y":[1,2]}}`, "stop LOOP", "6 times in a row", "read {")
	w.says("a", "read", `{"file_path":"a.txt","limit":10,"deep":{"x":1,"y":[1,2]}}`, "stop LOOP", "7 times in a row") // who goes on is stopped again
}

func TestG1_OtherCallsAndPromptsBeginTheCountAnew(t *testing.T) {
	t.Parallel()
	w := keep(t, `{}`)
	same := `{"file_path":"a.txt"}`
	before := func(source session.Source) {
		d, err := w.hooks.BeforeStep(t.Context(), hook.Where{Session: "a", Turn: 1}, []hook.Pending{{Text: "x", Source: source}})
		if err != nil || d.Reject != "" || len(d.Inject) > 0 {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	w.quiet("a", "read", same)
	w.quiet("a", "read", same)
	w.quiet("a", "read", `{"file_path":"b.txt"}`)
	w.quiet("a", "read", same)
	w.quiet("a", "read", same)
	w.quiet("b", "read", same) // another session has its own count
	before(session.SourceOwner)
	w.quiet("a", "read", same)
	w.quiet("a", "read", same)
	before(session.SourcePlugin) // nobody spoke
	before(session.SourceHost)
	w.says("a", "read", same, "3 times in a row")
	before(session.SourceSteer)
	w.quiet("a", "read", same)
	w.quiet("a", "read", same)
	w.says("a", "read", same, "3 times in a row")
	w.quiet("a", "shell", same) // the same arguments of another tool
}

// The reminders that a default leaves out are those that the end of the turn would
// come before; what the config says counts as it stands.
func TestG1_C134_EachReminderCanCome(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		`{}`:                              "[3 5] 6",
		`{"stop_at":0}`:                   "[3 5 8] 0",
		`{"stop_at":9}`:                   "[3 5 8] 9",
		`{"stop_at":8}`:                   "[3 5] 8",
		`{"stop_at":3}`:                   "[] 3",
		`{"stop_at":0,"remind_at":[9,4]}`: "[4 9] 0",
		`{"remind_at":[]}`:                "[] 6",
	} {
		c, err := guards.ParseConfig(json.RawMessage(config))
		if got := fmt.Sprint(c.RemindAt, " ", c.StopAt); err != nil || strings.ReplaceAll(got, "  ", " ") != want {
			t.Errorf("%s: %s, %v, want %s", config, got, err, want)
		}
	}
	w := keep(t, `{"stop_at":0}`)
	var said []int
	for n := 1; n <= 20; n++ {
		if w.call("a", "read", `{}`, false) != "" {
			said = append(said, n)
		}
	}
	if !slices.Equal(said, []int{3, 5, 8}) {
		t.Errorf("without an end of the turn reminders come at %v, want 3, 5 and 8", said)
	}
}

// Tools that are made to be repeated have high bounds of their own: by default one
// reminder at 20 and the end of the turn at 50.
func TestG1_PollsHaveBoundsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for config, at := range map[string][2]int{`{}`: {20, 50}, `{"poll_remind_at":3,"poll_stop_at":5}`: {3, 5}, `{"poll_remind_at":0,"poll_stop_at":4}`: {0, 4}, `{"poll_stop_at":0}`: {20, 0}} {
		w := keep(t, config)
		for n := 1; n <= 60; n++ {
			said := w.call("a", "job_output", `{"job_id":"j1"}`, false)
			switch stopped := at[1] > 0 && n >= at[1]; {
			case stopped != strings.HasPrefix(said, "stop LOOP"), stopped && !strings.Contains(said, "raise poll_stop_at"):
				t.Fatalf("%s: poll %d: %q", config, n, said)
			case !stopped && (said != "") != (n == at[0]):
				t.Fatalf("%s: poll %d: %q", config, n, said)
			case n == at[0] && (!strings.Contains(said, "job_output") || strings.Contains(said, "turn is ended") != (at[1] > 0)):
				t.Errorf("%s: the reminder is %q", config, said)
			}
		}
	}
	w := keep(t, `{"poll_remind_at":3,"poll_stop_at":4}`)
	for i := range 10 { // work in between begins a new row
		w.quiet("a", "job_output", `{"job_id":"j1"}`)
		w.quiet("a", "job_output", `{"job_id":"j1"}`)
		w.quiet("a", "edit", fmt.Sprintf(`{"n":%d}`, i))
	}
	if _, err := w.hooks.BeforeStep(t.Context(), hook.Where{Session: "a", Turn: 1}, []hook.Pending{{Text: "x", Source: session.SourceSteer}}); err != nil {
		t.Fatal(err)
	}
	w.quiet("a", "job_output", `{"job_id":"j1"}`)
	w.quiet("a", "job_output", `{"job_id":"j1"}`)
	w.says("a", "job_output", `{"job_id":"j1"}`, "3 times in a row")
	if _, err := guards.ParseConfig(json.RawMessage(`{"poll_stop_at":1}`)); err == nil || !strings.Contains(err.Error(), "poll_stop_at is 1") {
		t.Errorf("poll_stop_at = 1: %v", err)
	}
}

// Tools that are made to be repeated neither count nor break a row.
func TestG1_ExcludedToolsAreNotSeen(t *testing.T) {
	t.Parallel()
	w := keep(t, `{"exclude":["look"]}`)
	for range 10 {
		w.quiet("a", "look", `{}`)
	}
	w.quiet("a", "read", `{}`)
	w.quiet("a", "look", `{}`)
	w.quiet("a", "read", `{}`)
	w.quiet("a", "look", `{}`)
	w.says("a", "read", `{}`, "3 times in a row")
	for range 10 {
		keep(t, `{}`).quiet("a", "job_output", `{"job":1}`)
	}
}

func TestG1_CyclesOfTwoAndThreeCallsCount(t *testing.T) {
	t.Parallel()
	for _, cycle := range [][]string{{"A", "B"}, {"A", "B", "C"}, {"A", "A", "B"}, {"A", "B", "B"}} {
		w := keep(t, `{}`)
		var said []string
		for i := range 6 * len(cycle) {
			if s := w.call("a", "read", fmt.Sprintf(`{"file_path":%q}`, cycle[i%len(cycle)]), false); s != "" {
				said = append(said, fmt.Sprintf("%d %s", i+1, s))
			}
		}
		if len(said) != 3 || !strings.HasPrefix(said[0], fmt.Sprint(3*len(cycle), " You are going in a circle: read, then read")) ||
			!strings.Contains(said[1], "times in a row: 5") || !strings.HasPrefix(said[2], fmt.Sprint(6*len(cycle), " stop LOOP")) {
			t.Errorf("%v: %q", cycle, said)
		}
	}
	w := keep(t, `{}`) // an edit in between is progress
	for i := range 30 {
		w.quiet("a", "edit", fmt.Sprintf(`{"new_string":"%d"}`, i))
		w.quiet("a", "shell", `{"command":"make test"}`)
	}
}

func TestG1_ConfigDecides(t *testing.T) {
	t.Parallel()
	w := keep(t, `{"remind_at":[4,2],"stop_at":0}`)
	long := fmt.Sprintf(`{"content":%q}`, strings.Repeat("é", 600))
	w.quiet("a", "write", long)
	w.says("a", "write", long, "same call of write", "2 times")
	w.quiet("a", "write", long)
	said := w.call("a", "write", long, false)
	if !strings.Contains(said, strings.Repeat("é", 488)+"… (114 more characters)") || strings.Contains(said, "is ended") {
		t.Errorf("the fourth call: %q", said)
	}
	for range 50 {
		w.quiet("a", "write", long)
	}
	if _, err := plugintest.Start(t, guards.Plugin("1.0.0"), plugintest.Host{Config: json.RawMessage(`{"stop_at":1}`)}); err == nil || !strings.Contains(err.Error(), "write 2 or more") {
		t.Errorf("stop_at = 1: %v", err)
	}
}

// Arguments that are no JSON count as they stand.
func TestG1_BrokenArgumentsCountToo(t *testing.T) {
	t.Parallel()
	w := keep(t, `{"remind_at":[2]}`)
	for _, bad := range []string{`{"a":`, `[1]`, `"{\"a\":1}`, strings.Repeat(`{"a":`, 20000), "\xff\xfe"} {
		w.quiet("a", "read", bad)
		w.says("a", "read", bad+" ", "2 times in a row")
	}
	w.quiet("a", "read", `{"n":9007199254740993}`)
	w.quiet("a", "read", `{"n":9007199254740992}`) // not the same number
	w.quiet("a", "read", `{}`)
	w.says("a", "read", ``, "2 times in a row")
}
