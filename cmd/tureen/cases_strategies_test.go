package main_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// Whichever strategy makes room, the first request after it has the project's rules once
// and as they were, and the todo list with its states.
func TestK4_C023_C025_WhatStandsStandsUnderEachStrategy(t *testing.T) {
	t.Parallel()
	const rule = "Never run git push. The word is KESTREL."
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			p := under(t, strategy, []scripted.Reply{
				half(1, "todo_write", todoItems("completed alpha is read", "in_progress beta is changed", "pending gamma is tested")),
				much(2), batch(3, "read", reads("a.md")), {Text: "The plan is done."}})
			p.files = append(slices.Clone(planFiles), "AGENTS.md")
			write(t, p.path("work", "AGENTS.md"), rule+"\n"+strings.Repeat("Another rule that is to be kept.\n", 20))
			write(t, p.path("work", "crash.toml"), crashProfile+"[[plugins]]\nuse = \"instructions\"\n[[plugins]]\nuse = \"planning\"\n")
			p.ends(t, 0, "")
			compacted(t, p.log(t))
			bodies := p.server.Requests()
			for _, body := range bodies[len(bodies)-2:] {
				var b struct {
					Messages []struct{ Role, Content string }
				}
				if err := json.Unmarshal(body, &b); err != nil {
					t.Fatal(err)
				}
				rules := 0
				for _, m := range b.Messages {
					if m.Role == "user" && strings.Contains(m.Content, rule) {
						rules++
					}
				}
				if rules != 1 {
					t.Errorf("the rules stand %d times in a request after the compaction", rules)
				}
				for _, item := range []string{"alpha is read", "beta is changed", "gamma is tested"} {
					if !strings.Contains(string(body), item) {
						t.Errorf("a request after the compaction lacks %q", item)
					}
				}
			}
			if n := p.server.Stats(); n.Refused > 0 {
				t.Errorf("the strict server refused %d requests", n.Refused)
			}
		})
	}
}

// Under each strategy a request begins with the one before it, byte for byte, but where
// a compaction stands between them in the log.
func TestC1_C131_EachStrategyKeepsThePrefix(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			var replies []scripted.Reply
			for n := 1; n <= 8; n++ {
				replies = append(replies, half(n))
			}
			p := under(t, strategy, append(replies, scripted.Reply{Text: "Done."}))
			f := p.behind(t, func([]byte) (string, string) { return "", "" })
			p.ends(t, 0, "")
			work := slices.DeleteFunc(slices.Clone(f.bodies), func(b []byte) bool { return strings.Contains(string(b), jsonText(summaryAsk())) })
			steps, allowed := 0, []int(nil) // requests before which something was compacted
			fresh := false
			for _, e := range p.log(t) {
				switch e.Kind {
				case session.KindCompactionEnded:
					fresh = true
				case session.KindMessageAssistant:
					if fresh {
						allowed = append(allowed, steps)
					}
					steps, fresh = steps+1, false
				}
			}
			if breaks := checkPrefixes(t, work); !slices.Equal(breaks, allowed) || len(allowed) == 0 || len(work) != steps {
				t.Errorf("%d requests for %d steps; the prefix breaks at %v, compactions stand before %v", len(work), steps, breaks, allowed)
			}
		})
	}
}
