package notesoup_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
)

// denied is what the plugin's judge says to a call.
func (d *desk) denied(name string, args any) string {
	d.t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	decision, err := d.plugin.Hooks(d.plugin.Info.HookPoints, "").BeforeTool(d.t.Context(), hook.Where{Session: "s1", Turn: 1, Step: 1}, hook.ToolCall{CallID: "c", Name: name, Arguments: b})
	if err != nil {
		d.t.Fatal(err)
	}
	return decision.Deny
}

func TestN15_LastWordsRefuseAllButNotesOverTheWire(t *testing.T) {
	t.Parallel()
	d := sit(t, `{"last_words":true}`)
	d.Open(d.plugin.Strategy())
	d.Turn()
	d.User(session.SourceOwner, "Collect the codes.")
	d.did("get_context_remaining", object{})
	before := d.declared()
	if why := d.denied("shell", object{}); why != "" {
		t.Fatalf("before the step: %q", why)
	}
	in := d.Input(session.TriggerPressure)
	in.MayPostpone = true
	p := d.Compact(d.plugin.Strategy(), in)
	if !p.Postpone || len(p.Steer) != 1 {
		t.Fatalf("%+v", p)
	}
	d.Append(session.New(session.KindCompactionPostponed, session.CompactionPostponed{}))
	d.Append(session.New(session.KindStepStarted, session.StepStarted{}))
	for _, c := range []struct {
		tool string
		args object
		open bool
	}{
		{"notes_write", object{"path": "progress", "text": "x"}, true},
		{"notes_write", object{"path": "deep/in/there.txt", "text": "x"}, true},
		{"notes_edit", object{"path": "progress", "edits": []object{{"old": "x", "new": "y"}}}, true},
		{"notes_edit", object{"path": "progress", "move_to": "done"}, true},
		{"notes_write", object{"path": "@project/progress", "text": "x"}, false},
		{"notes_write", object{"path": "@human/x", "text": "x"}, false},
		{"notes_edit", object{"path": "@self/x", "move_to": "y"}, false},
		{"notes_write", object{"path": "../x", "text": "x"}, false},
		{"notes_write", object{"path": "", "text": "x"}, false},
		{"notes_write", object{"path": 7, "text": "x"}, false},
		{"notes_read", object{"path": "progress"}, false},
		{"empty_brain", object{}, false},
		{"get_context_remaining", object{}, false},
		{"shell", object{"command": "rm -rf build"}, false},
		{"write", object{"path": "progress.md"}, false},
	} {
		why := d.denied(c.tool, c.args)
		if (why == "") != c.open || why != "" && (!strings.Contains(why, "full") || !strings.Contains(why, "notes_write")) {
			t.Errorf("%s %v: denied %q", c.tool, c.args, why)
		}
	}
	if after := d.declared(); after != before {
		t.Error("the declarations of the tools changed")
	}
	d.serve(`{"last_words":true}`) // another process, in the middle of the step
	if d.denied("shell", object{}) == "" || d.denied("notes_write", object{"path": "progress"}) != "" {
		t.Error("a new process does not know of the step")
	}
	d.did("notes_write", object{"path": "progress", "text": "a.txt: K-17\n"})
	d.Open(d.plugin.Strategy())
	if p := d.Compact(d.plugin.Strategy(), d.Input(session.TriggerPressure)); p.IsZero() || !strings.Contains(p.Boot, "K-17") || d.Calls() != 0 {
		t.Errorf("%+v, %d model calls", p, d.Calls())
	}
	d.Append(session.New(session.KindStepStarted, session.StepStarted{}))
	if why := d.denied("shell", object{}); why != "" {
		t.Errorf("in the new window: %q", why)
	}
}

// declared is the bytes of the tools' declarations.
func (d *desk) declared() string {
	d.t.Helper()
	specs, err := d.plugin.Tools().Tools(d.t.Context(), "s1")
	if err != nil {
		d.t.Fatal(err)
	}
	b, err := json.Marshal(specs)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

func TestN11_StrictPagesDoNotLookAtTheRoom(t *testing.T) {
	t.Parallel()
	d := sit(t, `{"strict":true}`)
	block := strings.Repeat(strings.Repeat("x", 99)+"\n", 160)
	for range 3 {
		d.call("notes_write", object{"path": "long", "text": block, "mode": "append"})
	}
	d.step++
	if r := d.beside("notes_read", object{"path": "long"}, 10); r.IsError || len(r.Text) < 31<<10 || len(r.Text) > 32<<10 {
		t.Errorf("a page of %d bytes, error %v", len(r.Text), r.IsError)
	}
}
