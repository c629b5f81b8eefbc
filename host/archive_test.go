package host_test

import (
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// TestL18_WhatIsBelowAnArchivedSessionTakesNoStep: a subagent at work ends blocked at its
// next step; opened by itself, it is blocked before it asks the model; and once the
// session above is taken out again it goes on.
func TestL18_WhatIsBelowAnArchivedSessionTakesNoStep(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 9)
	archived := make(chan struct{})
	h := newHome(t, settings{store: sqlite(t), reply: func(req llm.Request) scripted.Reply {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-archived
		return scripted.Reply{Text: "Done."}
	}})
	child := h.spawn("do it")
	<-asked
	put := func(c *home, away bool) {
		t.Helper()
		if changed, err := c.Agent.Archive(t.Context(), session.Archived{Archived: away}); err != nil || !changed {
			t.Fatalf("archived %v: %v, %v", away, changed, err)
		}
	}
	if err := h.lend().Tell(t.Context(), child.ID, "one thing more"); err != nil { // which another step is owed to
		t.Fatal(err)
	}
	put(h, true)
	close(archived)
	var settled []session.ChildSettled
	until(t, func() bool {
		settled = events[session.ChildSettled](h, h.ID(), session.KindChildSettled)
		return len(settled) > 0
	})
	if s := settled[0]; len(settled) != 1 || s.Reason != session.ReasonBlocked || s.Error == nil || s.Error.Code != "ARCHIVED" {
		t.Errorf("settled %+v, %+v", s, s.Error)
	}
	if len(asked) != 0 {
		t.Error("the model was asked once more")
	}
	h.close()

	c := h.openChild(child.ID)
	if err := c.Agent.Prompt(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	if reason := c.run(); reason != session.ReasonBlocked || len(asked) != 0 {
		t.Errorf("by itself it ended %s, asked %d times", reason, len(asked))
	}
	c.close()

	above := h.openChild(h.ID())
	put(above, false)
	above.close()
	c = h.openChild(child.ID)
	if err := c.Agent.Prompt(t.Context(), "go on again"); err != nil {
		t.Fatal(err)
	}
	if reason := c.run(); reason != session.ReasonCompleted || len(asked) == 0 {
		t.Errorf("taken out again it ended %s, asked %d times", reason, len(asked))
	}
	put(c, true) // its own
	if err := c.Agent.Prompt(t.Context(), "and again"); err != nil {
		t.Fatal(err)
	}
	if reason := c.run(); reason != session.ReasonBlocked {
		t.Errorf("archived itself it ended %s", reason)
	}
}
