package hook_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
)

// voter decides as it was told to.
type voter struct {
	hook.Passive
	name  string
	says  hook.ToolDecision
	after hook.ToolDecision // with the person's answer
	asked *[]string
}

func (v voter) Name() string       { return v.name }
func (voter) Points() []hook.Point { return []hook.Point{hook.BeforeTool} }
func (v voter) BeforeTool(_ context.Context, _ hook.Where, c hook.ToolCall) (hook.ToolDecision, error) {
	*v.asked = append(*v.asked, v.name)
	if c.Answer != nil {
		return v.after, nil
	}
	return v.says, nil
}

// Whatever the judges of a call say, in whatever order: who denies is not overruled,
// nobody is asked behind it, and a call that runs is bound by each of them (T2, G3).
func TestT2_G3_ALaterJudgeNeverWidens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var asked []string
		var judges []hook.Hooks
		var all []voter
		decision := rapid.Custom(func(t *rapid.T) hook.ToolDecision {
			d := hook.ToolDecision{Confinement: session.Confinement{Files: rapid.SampledFrom([]session.FilePolicy{"", session.FilesFull, session.FilesWorkspaceWrite, session.FilesReadOnly}).Draw(t, "files"),
				Writable: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"/a", "/b"}), 0, 2, rapid.ID[string]).Draw(t, "writable"), Offline: rapid.Bool().Draw(t, "offline")}}
			if rapid.IntRange(0, 3).Draw(t, "deny") == 0 {
				d.Deny = "no"
			}
			return d
		})
		for i := range rapid.IntRange(1, 5).Draw(t, "judges") {
			v := voter{name: fmt.Sprint(i), says: decision.Draw(t, "says"), after: decision.Draw(t, "after"), asked: &asked}
			if rapid.Bool().Draw(t, "asks") {
				v.says.Ask = &session.Question{Text: "may it?"}
			}
			all, judges = append(all, v), append(judges, v)
		}
		d, err := hook.NewChain(slog.New(slog.DiscardHandler), judges...).BeforeTool(t.Context(), hook.Where{}, hook.ToolCall{}, func(string, session.Question) (session.Answer, error) {
			return session.Answer{Outcome: session.OutcomeAnswered, Text: "yes"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		denied := false
		for _, v := range all {
			if denied != !slices.Contains(asked, v.name) {
				t.Fatalf("judge %s: asked %v, denied before it %v", v.name, asked, denied)
			}
			if denied {
				continue
			}
			final := v.says
			if v.says.Ask != nil && v.says.Deny == "" {
				final = v.after
			}
			denied = final.Deny != ""
			if bound := d.Confinement.With(final.Confinement); fmt.Sprint(bound) != fmt.Sprint(d.Confinement) {
				t.Fatalf("bound to %+v, judge %s wants %+v", d.Confinement, v.name, final.Confinement)
			}
		}
		if denied != (d.Deny != "") {
			t.Fatalf("denied %v, the decision is %+v", denied, d)
		}
	})
}
