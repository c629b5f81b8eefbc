package planning_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
)

func TestP2_SP8_PlanModeIsGuidanceAndToolsStay(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	before := r.tools.Digest()
	want(t, r.types("/plan show"), "off")
	want(t, r.types("/plan"), "on")
	want(t, r.context("plan"), "change nothing", "exit_plan_mode")
	shown := r.steps("Make it faster.", session.SourceOwner)
	if len(shown) != 2 || !strings.Contains(shown[0], "plan mode on") {
		t.Errorf("the model is told %q", shown)
	}
	want(t, r.types("/plan on"), "is on")
	want(t, r.types("/plan off"), "off")
	if shown = r.steps("", ""); len(shown) != 1 || !strings.Contains(shown[0], "plan mode off") {
		t.Errorf("the model is told %q", shown)
	}
	if r.context("plan") != "" {
		t.Error("plan mode is told though it is off")
	}
	if _, err := r.fails("/plan maybe"); err == nil || !strings.Contains(err.Error(), "maybe") {
		t.Errorf("/plan maybe: %v", err)
	}
	r.restart()
	if r.tools.Digest() != before {
		t.Error("the tools changed")
	}
	for _, e := range r.book.events {
		if item, _ := session.Decode[session.InboxItem](e); e.Kind == session.KindInboxQueued && item.From != "" && item.Wake {
			t.Errorf("a notice wakes the agent: %q", item.Text)
		}
	}
}

func TestP2_ThePersonDecidesAboutThePlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer    session.Answer
		isError   bool
		concludes bool
		on        bool // plan mode afterwards
		says      string
	}{
		"approved":    {session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{"Approve"}, Text: "mind the tests"}, false, false, false, "They said: mind the tests"},
		"revise":      {session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{"Keep planning"}}, true, false, true, "plan mode stays on"},
		"free text":   {session.Answer{Outcome: session.OutcomeAnswered, Text: "smaller steps"}, true, false, true, "smaller steps"},
		"declined":    {session.Answer{Outcome: session.OutcomeDeclined}, true, true, true, "did not decide"},
		"unavailable": {session.Answer{Outcome: session.OutcomeUnavailable}, true, true, true, "nobody is there"},
		"pending":     {session.Answer{Outcome: session.OutcomePending}, true, true, true, "did not decide"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, "")
			r.types("/plan on")
			r.turn("Plan it.")
			r.call("todo_write", list("pending a"))
			r.book.answer = c.answer
			got := r.call("exit_plan_mode", object{"plan": "1. Read\n2. Write"})
			concludes := slices.Contains(got.Effects, tool.EffectConcludeTurn)
			if got.IsError != c.isError || concludes != c.concludes || !strings.Contains(got.Text, c.says) {
				t.Errorf("%+v", got)
			}
			q := r.book.asked[0]
			if len(r.book.asked) != 1 || q.Detail != "1. Read\n2. Write" || q.CallID == "" || len(q.Options) != 2 || q.Options[0].Label != "Approve" {
				t.Errorf("asked %+v", r.book.asked)
			}
			r.restart()
			if on := r.context("plan") != ""; on != c.on {
				t.Errorf("plan mode is on: %v", on)
			}
			if c.concludes && r.stopping(llm.StopEnd) != "" {
				t.Error("the turn is kept open while the person is asked")
			}
		})
	}
}

func TestP2_APlanIsHandedOverInPlanModeOnly(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.turn("Do it.")
	refused(t, r.call("exit_plan_mode", object{"plan": "1. Read"}), "NOT_PLANNING", "go on with the work")
	r.types("/plan on")
	refused(t, r.dispatch("exit_plan_mode", []byte(`{"plan":" \n "}`)), "BAD_PLAN")
	refused(t, r.dispatch("exit_plan_mode", []byte(`{"plan":"`+strings.Repeat("x", 20_001)+`"}`)), "BAD_PLAN", "20000")
	if len(r.book.asked) != 0 {
		t.Errorf("the person was asked: %+v", r.book.asked)
	}
}

// A profile that does not let the plugin reach the person is as if nobody were there.
func TestP2_WithoutTheCapabilityNobodyIsThere(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.deny = []sdk.Capability{sdk.CapUserAsk}
	r.restart()
	r.types("/plan on")
	r.turn("Plan it.")
	r.call("todo_write", list("pending a"))
	if r.stopping(llm.StopEnd) != "" {
		t.Error("the agent is urged on in plan mode")
	}
	got := r.call("exit_plan_mode", object{"plan": "1. Read"})
	refused(t, got, "NO_PERSON", "/plan off")
	if !slices.Contains(got.Effects, tool.EffectConcludeTurn) {
		t.Error("the turn goes on")
	}
}

// Rounds wait until plan mode is over.
func TestP2_P4_NoRoundInPlanMode(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/plan on")
	want(t, r.types("/goal Build it"), "g1 is set", "Plan mode is on")
	r.steps("", "")
	if text := r.idle(); text != "" {
		t.Errorf("a round in plan mode: %q", text)
	}
	want(t, r.types("/plan off"), "Round 1")
	if shown := r.steps("", ""); len(shown) != 2 || !strings.Contains(shown[1], "round 1 of 256") {
		t.Errorf("after plan mode: %q", shown)
	}
}
