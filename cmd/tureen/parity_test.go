package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// scenario is a place where a compaction can come, and what is stored for it whatever
// the strategy.
type scenario struct {
	name  string
	play  func(t *testing.T, p *crew, strategy string)
	shape []string
}

// How a compaction is stored: in a turn, between turns, and where the host refuses what
// the strategy proposes. It is one append, at the turn and step that it belongs to.
var scenarios = []scenario{
	{"an open turn", func(t *testing.T, p *crew, _ string) { p.ends(t, 0, "") },
		[]string{"compaction.started in a turn", "message.user in a turn, replaces", "compaction.ended in a turn"}},
	{"idle", func(t *testing.T, p *crew, _ string) {
		p.plan.replies = []scripted.Reply{half(1), {Text: "The file is read."}, {Text: "I go on."}}
		p.ends(t, 0, "")
		p.ok(t, append([]string{"compact"}, p.flags...)...)
		p.ok(t, append([]string{"resume", "last", "-q", "Go on."}, p.flags...)...)
	}, []string{"compaction.started", "message.user, replaces", "compaction.ended"}},
	{"a rejected proposal", func(t *testing.T, p *crew, strategy string) {
		p.wrapped(t, wayStale, strategy)
		p.plan.replies = append(slices.Clone(tightPlan()[:2]), scripted.Reply{Text: "It is full."})
		p.ends(t, 0, "")
	}, []string{"compaction.failed in a turn"}},
}

// differences between two strategies are these, with the reason, and no others.
var differences = []struct{ strategy, event, field, why string }{
	{"summary", "model.call", "", "it asks the model, and each call is booked where it was made"},
	{"notesoup", "record", "", "it keeps an account of each window"},
	{"notesoup", "message.system", "", "the notes of the new window stand in the system prompt"},
	{"notesoup", "compaction.ended", "boot", "the text that the window begins with is stored"},
	{"notesoup", "compaction.ended", "cost_usd", "what calls nobody costs nothing; the model's calls have a cost where the profile has a price"},
}

// TestC9_N17_StrategiesLeaveTheSameTrail runs each scenario under summary and notesoup and
// holds what is stored for the compaction against each other and against the promise.
func TestC9_N17_StrategiesLeaveTheSameTrail(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			fields := map[string][]string{} // of each event of the shape, under the first strategy
			for _, strategy := range []string{"summary", "notesoup"} {
				p := under(t, strategy, tightPlan())
				s.play(t, p, strategy)
				trail, inTurn := p.trail(t)
				met := map[int]bool{}
				shape, keys := []string(nil), map[string][]string{}
				for _, e := range trail {
					line := lineOf(e, inTurn)
					own := difference(strategy, string(e.Kind), "")
					if own >= 0 {
						met[own] = true
						continue
					}
					shape = append(shape, line)
					for _, field := range fieldsOf(t, e) {
						if own := difference(strategy, string(e.Kind), field); own >= 0 {
							met[own] = true
						} else {
							keys[line] = append(keys[line], field)
						}
					}
				}
				if !slices.Equal(shape, s.shape) {
					t.Errorf("%s leaves %q, want %q%s", strategy, shape, s.shape, kindsOf(trail))
				}
				if strategy == "notesoup" && fmt.Sprint(keys) != fmt.Sprint(fields) {
					t.Errorf("the fields differ:\nsummary  %v\nnotesoup %v", fields, keys)
				}
				fields = keys
				for i, d := range differences {
					if s.name != "a rejected proposal" && d.strategy == strategy && !met[i] {
						t.Errorf("%s is said to differ in %s %s, because %s; it does not", strategy, d.event, d.field, d.why)
					}
				}
				if server := p.server.Stats(); server.Refused > 0 {
					t.Errorf("%s: the strict server refused %d requests", strategy, server.Refused)
				}
			}
		})
	}
}

func difference(strategy, event, field string) int {
	for i, d := range differences {
		if d.strategy == strategy && d.event == event && d.field == field {
			return i
		}
	}
	return -1
}

// trail is what is stored for the first compaction, or attempt at one: itself, and the
// calls to the model just before it. inTurn tells whether a turn is open there.
func (p *crew) trail(t *testing.T) (trail []session.Event, inTurn bool) {
	t.Helper()
	events := p.log(t)
	from := slices.IndexFunc(events, func(e session.Event) bool {
		return e.Kind == session.KindCompactionStarted || e.Kind == session.KindCompactionFailed
	})
	if from < 0 {
		t.Fatalf("no compaction was tried: %s", kindsOf(events))
	}
	to := from
	for events[from].Kind == session.KindCompactionStarted && events[to].Kind != session.KindCompactionEnded {
		to++
	}
	for _, e := range events[:from] {
		inTurn = e.Kind == session.KindTurnStarted || inTurn && e.Kind != session.KindTurnEnded
	}
	for events[from-1].Kind == session.KindModelCall {
		from--
	}
	if rest := events[to+1:]; slices.ContainsFunc(rest, func(e session.Event) bool { return e.Kind == session.KindCompactionStarted }) {
		t.Errorf("there is a second one: %s", kindsOf(rest))
	}
	return events[from : to+1], inTurn
}

func lineOf(e session.Event, inTurn bool) string {
	line := string(e.Kind)
	if inTurn {
		line += " in a turn"
	}
	if e.Op != nil {
		line += map[session.OpKind]string{session.OpAppend: ", appends", session.OpReplace: ", replaces", session.OpDrop: ", drops"}[e.Op.Kind]
	}
	return line
}

// fieldsOf are the names in an event's payload.
func fieldsOf(t *testing.T, e session.Event) []string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(e.Data, &fields); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(fields))
}
