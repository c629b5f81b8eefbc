package main_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// TestN12_R1_ACrashAroundAnArmedReset kills the host at every append from before the
// answer that asks for a reset to behind the one that follows it. A reset whose call is
// answered in the log comes, once; one whose call is not does not.
func TestN12_R1_ACrashAroundAnArmedReset(t *testing.T) {
	t.Parallel()
	for n := 4; n <= 10; n++ {
		for _, when := range []string{"before", "during", "after"} {
			point := fmt.Sprintf("append:%d:%s", n, when)
			t.Run(point, func(t *testing.T) {
				t.Parallel()
				p := planned(t, user(t), []scripted.Reply{batch(1, "shell", effect("c1-0")), batch(2, "empty_brain", object{}), batch(3, "shell", effect("c3-0")), {Text: "The plan is done."}})
				k := p.crash(t, point, p.run()...)
				if !k.byKill {
					t.Fatalf("the run has no such point; it ended with %d: %s", k.exit, &k.stderr)
				}
				id := p.lastSession()
				before, _, err := p.events(id)
				if err != nil {
					t.Fatal(err)
				}
				unanswered := len(find(t, before, session.KindMessageAssistant, func(a session.Assistant) bool { return asksForReset(a) })) > 0 &&
					!slices.ContainsFunc(before, func(e session.Event) bool { return e.Kind == session.KindCompactionArmed })
				p.goOn(t, id)
				want := 1
				if unanswered {
					want = 0 // the repair answers the call: its outcome is not known
				}
				if got := compactions(t, p.log(t)); got != want {
					t.Errorf("%d resets, want %d%s", got, want, kindsOf(p.log(t)))
				}
				// a call that was under way is not run again; nothing is done twice
				if effects, _ := os.ReadFile(p.path("work", "effects.txt")); string(effects) != "c1-0\nc3-0\n" && string(effects) != "c3-0\n" {
					t.Errorf("effects %q", effects)
				}
				if f := p.audit(t, id); !f.none() {
					t.Error(f.String())
				}
			})
		}
	}
}

// asksForReset tells whether an answer calls empty_brain.
func asksForReset(a session.Assistant) bool {
	for _, c := range a.Message.Calls() {
		if c.Name == "empty_brain" {
			return true
		}
	}
	return false
}
