package main_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// strategies are the names of those that ship and make room.
var strategies = []string{"notesoup", "summary", "prune", "truncate"}

// tightPlan is a plan that crosses the line of its window once, before its third step.
func tightPlan() []scripted.Reply {
	return []scripted.Reply{half(1, "shell", effect("c1-0")), much(2, "shell", effect("c2-0")), batch(3, "shell", effect("c3-0")), {Text: "The plan is done."}}
}

// under has a crew work a plan off under a strategy.
func under(t *testing.T, strategy string, replies []scripted.Reply) *crew {
	t.Helper()
	p := planned(t, user(t), replies)
	p.flags = append(p.flags, "-c", "model.context_window=26000", "-c", "compaction.strategy="+strategy)
	return p
}

// compactions counts those in a log that are whole.
func compactions(t *testing.T, events []session.Event) int {
	t.Helper()
	began := find(t, events, session.KindCompactionStarted, func(session.CompactionStarted) bool { return true })
	ended := find(t, events, session.KindCompactionEnded, func(session.CompactionEnded) bool { return true })
	if len(began) != len(ended) {
		t.Errorf("%d compactions began, %d ended", len(began), len(ended))
	}
	return len(ended)
}

// crashPoint is an append around a compaction.
type crashPoint struct {
	at     string
	before bool // the compaction is not stored yet
	after  bool // it is
}

// TestC9_R1_ACrashAroundACompaction kills the host at the append of a compaction: what
// is stored is the session before or after it, and it goes on from there to the same
// end. The soak kills it at every append around it.
func TestC9_R1_ACrashAroundACompaction(t *testing.T) {
	t.Parallel()
	crashAround(t, []crashPoint{
		{"kind:compaction.ended:1:before", true, false}, {"kind:compaction.ended:1:during", false, false}, {"kind:compaction.ended:1:after", false, true},
	})
}

func crashAround(t *testing.T, points []crashPoint) {
	t.Helper()
	for _, strategy := range strategies {
		for _, point := range points {
			if strings.Contains(point.at, "model.call") && strategy != "summary" {
				continue
			}
			t.Run(strategy+"/"+point.at, func(t *testing.T) {
				t.Parallel()
				p := under(t, strategy, tightPlan())
				k := p.crash(t, point.at, p.run()...)
				if !k.byKill {
					t.Fatalf("the run has no such point; it ended with %d: %s", k.exit, &k.stderr)
				}
				id := p.lastSession()
				events, broken, err := p.events(id)
				if err != nil {
					t.Fatal(err)
				}
				if n := compactions(t, events); point.before && n != 0 || point.after && n != 1 || n > 1 {
					t.Errorf("%d compactions are stored", n)
				}
				if len(broken) > 0 {
					t.Errorf("%+v", broken)
				}
				for _, line := range lost(k.said(), events) {
					t.Errorf("said and not stored: %s", line)
				}
				p.goOn(t, id)
				if f := p.audit(t, id); !f.none() {
					t.Error(f.String())
				}
				p.tight(t)
			})
		}
	}
}

// tight holds a session against tightPlan.
func (p *crew) tight(t *testing.T) {
	t.Helper()
	effects, _ := os.ReadFile(p.path("work", "effects.txt"))
	if n := compactions(t, p.log(t)); n != 1 || string(effects) != "c1-0\nc2-0\nc3-0\n" {
		t.Errorf("%d compactions, effects %q", n, effects)
	}
	for i, body := range p.server.Requests() {
		if ids := wireIDs(t, body); fmt.Sprint(ids.calls) != fmt.Sprint(ids.results) {
			t.Errorf("request %d has the calls %v and the results %v", i, ids.calls, ids.results)
		}
	}
}

// TestC9_AKilledStrategyLeavesTheConversation kills the strategy's process while it is
// asked: the request goes out as it stands, and the next process makes room.
func TestC9_AKilledStrategyLeavesTheConversation(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			p := under(t, strategy, tightPlan())
			p.wrapped(t, wayHeld, strategy)
			k := p.start(t, "", p.run()...)
			waitFor(t, func() bool { return exists(p.path("work", markHeld)) })
			pid := p.plugin(wayHeld + "-" + strategy)
			if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
				t.Error("the strategy does not run")
				_ = k.cmd.Process.Kill()
			}
			if k.wait(t); k.exit != 0 {
				t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
			}
			if failed := find(t, p.log(t), session.KindCompactionFailed, func(session.CompactionFailed) bool { return true }); len(failed) != 1 {
				t.Errorf("%d compactions failed, want one%s", len(failed), kindsOf(failed))
			}
			if f := p.audit(t, p.lastSession()); !f.none() {
				t.Error(f.String())
			}
			p.tight(t)
		})
	}
	t.Run("summary, while the model writes", func(t *testing.T) {
		t.Parallel()
		var p *crew
		asked := 0
		p, _ = boxed(t, keeper{&plan{replies: tightPlan()}, func(llm.Request) string {
			if asked++; asked == 1 {
				_ = syscall.Kill(p.plugin("summary"), syscall.SIGKILL)
			}
			return "Two of the steps are done."
		}}, "", "-c", "compaction.strategy=summary")
		k := p.crash(t, "", p.run()...)
		if k.exit != 0 {
			t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
		}
		failed := find(t, p.log(t), session.KindCompactionFailed, func(session.CompactionFailed) bool { return true })
		if len(failed) != 1 || asked != 2 {
			t.Errorf("%d compactions failed, the model was asked for %d summaries%s", len(failed), asked, kindsOf(failed))
		}
		p.files = append(slices.Clone(planFiles), "case.toml")
		if f := p.audit(t, p.lastSession()); !f.none() {
			t.Error(f.String())
		}
		p.tight(t)
	})
}
