package fold_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

var rescued = session.Created{ID: "r", Workspace: "/known", Time: time.Unix(9, 0).UTC(), Origin: &session.Origin{Session: "s", How: session.HowSalvage}}

// torn yields events as a Salvager does: in place of the lost ones, damage.
func torn(events []session.Event, lost map[int64]bool) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		from := int64(0)
		for _, e := range events {
			if lost[e.Seq] {
				if from == 0 {
					from = e.Seq
				}
				continue
			}
			if from != 0 && !yield(session.Event{}, &session.Damage{From: from, To: e.Seq - 1, What: "unreadable"}) {
				return
			}
			if from = 0; !yield(e, nil) {
				return
			}
		}
		if from != 0 {
			yield(session.Event{}, &session.Damage{From: from, What: "unreadable"})
		}
	}
}

func salvage(t rapid.TB, from iter.Seq2[session.Event, error]) ([]session.Event, *fold.State, *fold.Salvaged) {
	t.Helper()
	out, s, result := fold.Salvage(from, rescued)
	var events []session.Event
	for e, err := range out {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events, s, result
}

// sane holds a salvaged log against everything that must be true of any.
func sane(t rapid.TB, given []session.Event, lost map[int64]bool, out []session.Event, s *fold.State, r *fold.Salvaged) {
	t.Helper()
	for i, e := range out {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d stands at %d", e.Seq, i+1)
		}
	}
	if v := checkAll(out); len(v) > 0 {
		t.Fatalf("the salvaged log breaks rules: %+v\n%s", v, beside(given, out))
	}
	same(t, "the state of the salvage", s, folded(t, out))
	if r.Events != len(out) || r.Kept+r.SetAside+r.Lost+r.Closed != r.Events || r.Bridged > r.Lost+r.SetAside {
		t.Fatalf("%d events, %+v", len(out), *r)
	}
	kept := 0
	for _, e := range out[1:] {
		if int(e.Seq) <= len(given) && !lost[e.Seq] && reflect.DeepEqual(e, given[e.Seq-1]) {
			kept++
		}
	}
	if kept+1 < r.Kept || kept > r.Kept+r.Bridged {
		t.Fatalf("%d events are what they were, %+v", kept, *r)
	}
}

// TestX1_ASalvageOfAnUndamagedLogIsThatLog but for its id and where it came from.
func TestX1_ASalvageOfAnUndamagedLogIsThatLog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		out, s, r := salvage(rt, torn(g.events, nil))
		if !reflect.DeepEqual(out[1:], g.events[1:]) || r.Kept != len(g.events) || r.Events != r.Kept || len(r.Damage) > 0 {
			rt.Fatalf("%+v", *r)
		}
		first, _ := session.Decode[session.Created](out[0])
		old, _ := session.Decode[session.Created](g.events[0])
		old.ID, old.Origin, old.Time = rescued.ID, rescued.Origin, rescued.Time
		if !reflect.DeepEqual(first, old) || !out[0].Time.Equal(rescued.Time) {
			rt.Fatalf("%+v", first)
		}
		sane(rt, g.events, nil, out, s, r)
	})
}

// TestC102_WhateverIsMissingASalvageKeepsTheRules.
func TestC102_WhateverIsMissingASalvageKeepsTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		lost := map[int64]bool{}
		for range rapid.IntRange(1, 6).Draw(rt, "gaps") {
			from := rapid.Int64Range(1, g.s.Head).Draw(rt, "from")
			for seq := from; seq < from+rapid.Int64Range(1, 8).Draw(rt, "length"); seq++ {
				lost[seq] = true
			}
		}
		out, s, r := salvage(rt, torn(g.events, lost))
		sane(rt, g.events, lost, out, s, r)
	})
}

// TestX1_HostileEventsAreSetAside: events whose parts were exchanged never break the
// rules of the log that comes of them.
func TestX1_HostileEventsAreSetAside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		events := append([]session.Event{}, g.events...)
		lost := map[int64]bool{}
		for range rapid.IntRange(1, 8).Draw(rt, "n") {
			i := rapid.IntRange(0, len(events)-1).Draw(rt, "which")
			other := g.events[rapid.IntRange(0, len(events)-1).Draw(rt, "other")]
			e := &events[i]
			switch rapid.IntRange(0, 7).Draw(rt, "how") {
			case 0:
				e.Kind = other.Kind
			case 1:
				e.Data = other.Data
			case 2:
				e.Op = other.Op
			case 3:
				e.Turn, e.Step = other.Turn, other.Step
			case 4:
				e.Data = e.Data[:rapid.IntRange(0, len(e.Data)).Draw(rt, "cut")]
			case 5:
				e.Kind, e.Data, e.Op, e.Turn, e.Step = other.Kind, other.Data, other.Op, other.Turn, other.Step
			case 6:
				e.V = session.SchemaVersion + 1
			case 7:
				lost[e.Seq] = true
			}
		}
		out, s, r := salvage(rt, torn(events, lost))
		sane(rt, events, lost, out, s, r)
	})
}

// TestC102_WhatDamageDidNotTouchIsKept: one stretch is missing, and every message
// but those that answer a lost one is where it was, up to the next compaction, which
// may want to replace what is lost.
func TestC102_WhatDamageDidNotTouchIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		from := rapid.Int64Range(1, g.s.Head).Draw(rt, "from")
		to := rapid.Int64Range(from, min(from+20, g.s.Head)).Draw(rt, "to")
		lost, calls := map[int64]bool{}, map[string]bool{}
		for seq := from; seq <= to; seq++ {
			lost[seq] = true
			if p, err := session.Decode[session.Assistant](g.events[seq-1]); err == nil && p.Message != nil {
				for _, c := range p.Message.Calls() {
					calls[c.ID] = true
				}
			}
		}
		out, s, r := salvage(rt, torn(g.events, lost))
		sane(rt, g.events, lost, out, s, r)
		for i, e := range g.events[:min(len(g.events), len(out))] {
			if e.Seq > to && (e.Kind == session.KindCompactionStarted || e.Kind == session.KindCompactionUndone) {
				break
			}
			if lost[e.Seq] || e.Op == nil || e.Op.Kind != session.OpAppend || e.Kind == session.KindMessageSystem || reflect.DeepEqual(out[i], e) {
				continue
			}
			if p, err := session.Decode[session.ToolResult](e); err == nil && calls[p.Message.CallID] {
				continue
			}
			rt.Fatalf("events %d to %d are lost, and so is %s %d: %s\n%s", from, to, e.Kind, e.Seq, out[i].Data, beside(g.events[:e.Seq], out))
		}
	})
}

// beside shows the newest events of a log and what became of them.
func beside(given, out []session.Event) string {
	var b strings.Builder
	given = given[:min(len(given), len(out))]
	for _, e := range given[max(0, len(given)-60):] {
		fmt.Fprintf(&b, "%d %d.%d %s %v: %s\n", e.Seq, e.Turn, e.Step, e.Kind, e.Op, out[e.Seq-1].Kind)
	}
	return b.String()
}

// TestX1_WhatASalvageWritesAnew shows the bridges by example.
func TestX1_WhatASalvageWritesAnew(t *testing.T) {
	t.Parallel()
	first := append([]session.Event{created()}, turn(1, system("s"), user("u"), assistant("", llm.Usage{}, "a"), result("a", "r"))...) // 9 events
	whole := append(append([]session.Event{}, first...), turn(2, user("v"), assistant("w", llm.Usage{}))...)                           // 15
	for i := range whole {
		whole[i].Seq = int64(i + 1)
	}
	for name, c := range map[string]struct {
		lost    []int64
		kinds   string // of what is written anew
		shown   string
		bridged int
	}{
		"the first event":           {[]int64{1}, "session.created", "s|u||r|v|w", 1},
		"a result":                  {[]int64{7}, "tool.result", "s|u||*|v|w", 1},
		"an answer":                 {[]int64{6}, "event.lost", "s|u|v|w", 0},
		"the end of a turn":         {[]int64{9}, "turn.ended", "s|u||r|v|w", 1},
		"a turn's seam":             {[]int64{8, 9, 10, 11}, "step.ended turn.ended turn.started step.started", "s|u||r|v|w", 4},
		"a result and a turn's end": {[]int64{7, 8, 9, 10}, "tool.result step.ended turn.ended turn.started", "s|u||*|v|w", 4},
		"the system prompt":         {[]int64{4}, "message.system", "*|u||r|v|w", 1},
		"the person's words":        {[]int64{5}, "message.user", "s|*||r|v|w", 1},
	} {
		lost := map[int64]bool{}
		for _, seq := range c.lost {
			lost[seq] = true
		}
		out, s, r := salvage(t, torn(whole, lost))
		sane(t, whole, lost, out, s, r)
		var kinds []string
		for _, seq := range c.lost {
			kinds = append(kinds, string(out[seq-1].Kind))
		}
		text := shown(s)
		for _, ours := range []string{"(The stored session was damaged", "Error: the stored session was damaged"} {
			if i := strings.Index(text, ours); i >= 0 {
				end := len(text)
				if j := strings.Index(text[i:], "|"); j >= 0 {
					end = i + j
				}
				text = text[:i] + "*" + text[end:]
			}
		}
		if strings.Join(kinds, " ") != c.kinds || text != c.shown || r.Bridged != c.bridged {
			t.Errorf("%s: %v, %q, %+v", name, kinds, text, *r)
		}
	}
}

// TestX1_C102_ALostTailMayHoldWhatACallDid: what is open where the end is lost, or where
// something of its turn is, is ended with "not known"; a log that breaks off is not.
func TestX1_C102_ALostTailMayHoldWhatACallDid(t *testing.T) {
	t.Parallel()
	whole := append([]session.Event{created()}, turn(1, system("s"), user("u"), assistant("", llm.Usage{}, "a"))[:5]...) // 6: the call is made
	whole = append(whole, session.New(session.KindToolStarted, session.ToolStarted{CallID: "a"}).At(1, 1),
		session.New(session.KindWarning, session.Warning{Code: "W"}).At(1, 1))
	for i := range whole {
		whole[i].Seq = int64(i + 1)
	}
	for name, c := range map[string]struct {
		lost   []int64
		until  int
		closed int
		text   string
	}{
		"breaks off":               {nil, 8, 0, ""},
		"its start is lost":        {[]int64{7, 8}, 8, 3, "what became of this call is not known"},
		"what followed is lost":    {[]int64{8}, 8, 3, "may have taken effect"},
		"a start before the end":   {[]int64{7}, 8, 3, "what became of this call is not known"},
		"lost after its beginning": {[]int64{4}, 8, 3, "may have taken effect"},
	} {
		lost := map[int64]bool{}
		for _, seq := range c.lost {
			lost[seq] = true
		}
		given := whole[:c.until]
		out, s, r := salvage(t, torn(given, lost))
		sane(t, given, lost, out, s, r)
		if r.Closed != c.closed || s.Turn.Open != (c.closed == 0) {
			t.Errorf("%s: turn %+v, %+v", name, s.Turn, *r)
			continue
		}
		if c.closed == 0 {
			continue
		}
		answer, _ := session.Decode[session.ToolResult](out[len(out)-3])
		end, _ := session.Decode[session.TurnEnded](out[len(out)-1])
		if answer.Code != fold.CodeOutcomeUnknown || !strings.Contains(answer.Message.Text(), c.text) ||
			end.Reason != session.ReasonError || end.Error == nil || end.Error.Code != fold.CodeDamaged {
			t.Errorf("%s: %+v, %+v", name, answer, end)
		}
	}
}

func TestX1_HalfACompactionIsSetAsideWhole(t *testing.T) {
	t.Parallel()
	whole := append(compacted(), turn(2, user("v"), assistant("w", llm.Usage{}))...)
	for i := range whole {
		whole[i].Seq = int64(i + 1)
	}
	for seq := int64(10); seq <= 15; seq++ {
		lost := map[int64]bool{seq: true}
		out, s, r := salvage(t, torn(whole, lost))
		sane(t, whole, lost, out, s, r)
		if shown(s) != "sys|a|b|v|w" || r.SetAside != 5 || s.Compaction.Count != 0 {
			t.Errorf("without event %d: %q, %+v", seq, shown(s), *r)
		}
		for _, e := range out[9:15] {
			if p, err := session.Decode[session.Lost](e); e.Kind != session.KindLost || err != nil || p.Why == "" || (p.Event == nil) != (e.Seq == seq) {
				t.Errorf("without event %d, event %d is %s: %s", seq, e.Seq, e.Kind, e.Data)
			}
		}
	}
}

func TestX1_ASalvageEndsWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	whole := compacted()
	for i := range whole {
		whole[i].Seq = int64(i + 1)
	}
	yields := func(yield func(session.Event, error) bool) {
		_ = yield(whole[0], nil) && yield(whole[1], nil) && yield(session.Event{}, &session.Damage{From: 3, What: "cut"})
	}
	if out, _, r := salvage(t, yields); len(out) != 2 || len(r.Damage) != 1 || r.Lost != 0 {
		t.Errorf("%d events, %+v", len(out), *r)
	}
	nothing := func(yield func(session.Event, error) bool) {
		yield(session.Event{}, &session.Damage{From: 1, What: "cut"})
	}
	if out, s, _ := salvage(t, nothing); len(out) != 1 || s.Created.Workspace != "/known" {
		t.Errorf("of nothing: %d events", len(out))
	}
	known := func(yield func(session.Event, error) bool) {
		_ = yield(whole[0], nil) && yield(session.Event{}, &session.Damage{From: 2, To: 4, What: "cut"})
	}
	if out, _, r := salvage(t, known); len(out) != 4 || r.Lost != 3 || !bytes.Contains(out[3].Data, []byte(`"cut"`)) {
		t.Errorf("%d events, %+v", len(out), *r)
	}
	far := whole[1]
	far.Seq = 1 << 60
	beyond := func(yield func(session.Event, error) bool) { _ = yield(whole[0], nil) && yield(far, nil) }
	if out, _, r := salvage(t, beyond); len(out) != 1 || len(r.Damage) != 1 {
		t.Errorf("%d events, %+v", len(out), *r)
	}
	boom := errors.New("boom")
	out, _, _ := fold.Salvage(func(yield func(session.Event, error) bool) { _ = yield(whole[0], nil) && yield(session.Event{}, boom) }, rescued)
	var last error
	for _, err := range out {
		last = err
	}
	if !errors.Is(last, boom) {
		t.Errorf("an error of the store came back as %v", last)
	}
}

// TestX1_ACompactionOutlivesWhatItHid: where some of what it replaced is lost, it
// stays in force for the rest, so that the old conversation does not come back.
func TestX1_ACompactionOutlivesWhatItHid(t *testing.T) {
	t.Parallel()
	whole := append(compacted(), turn(2, user("v"), assistant("w", llm.Usage{}))...)
	for i := range whole {
		whole[i].Seq = int64(i + 1)
	}
	for _, c := range []struct {
		lost  int64
		shown string
	}{{5, "sys2|checkpoint|v|w"}, {6, "sys2|checkpoint|v|w"}, {7, "sys2|checkpoint|v|w"}} {
		lost := map[int64]bool{c.lost: true}
		out, s, r := salvage(t, torn(whole, lost))
		sane(t, whole, lost, out, s, r)
		if shown(s) != c.shown || s.Compaction.Count != 1 || s.Compaction.Window != 2 {
			t.Errorf("without event %d: %q, %+v", c.lost, shown(s), *r)
		}
	}
}

// TestX1_APromptIsNotTakenUpTwice: an item whose message stands leaves the inbox,
// also where the claim, or another item of it, is lost.
func TestX1_APromptIsNotTakenUpTwice(t *testing.T) {
	t.Parallel()
	item := func(text string) session.Event {
		return session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextTurn, Source: session.SourceOwner, Text: text, Wake: true})
	}
	said := func(text string, item int64) session.Event {
		return session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, text), Source: session.SourceOwner, Item: item}).On(appendOp)
	}
	done := turn(1, system("s"), said("u", 2), said("v", 3), assistant("w", llm.Usage{}))
	whole := []session.Event{created(), item("u"), item("v"), done[0], session.New(session.KindInboxClaimed, session.InboxClaimed{Items: []int64{2, 3}}).At(1, 1)}
	whole = append(whole, done[1:]...)
	for i := range whole {
		whole[i].Seq = int64(i + 1)
	}
	for _, seq := range []int64{2, 3, 5} {
		lost := map[int64]bool{seq: true}
		out, s, r := salvage(t, torn(whole, lost))
		sane(t, whole, lost, out, s, r)
		if shown(s) != "s|u|v|w" || len(s.Inbox) != 0 || r.Bridged != 1 {
			t.Errorf("without event %d: %q, inbox %+v, %+v", seq, shown(s), s.Inbox, *r)
		}
	}
}

// TestX1_AnAnswerOutlivesAllThatWasSaidBefore: where everything from the first
// turn's beginning up to near its end is lost, what follows stands.
func TestX1_AnAnswerOutlivesAllThatWasSaidBefore(t *testing.T) {
	t.Parallel()
	whole := append([]session.Event{created()}, turn(1, system("s"), user("u"), assistant("", llm.Usage{}, "a"), result("a", "r"))...)
	whole = append(whole, turn(2, assistant("w", llm.Usage{}))...)
	lost := map[int64]bool{}
	for i := range whole {
		whole[i].Seq = int64(i + 1)
		lost[whole[i].Seq] = i > 0 && i < 8
	}
	out, s, r := salvage(t, torn(whole, lost))
	sane(t, whole, lost, out, s, r)
	if text := shown(s); !strings.HasPrefix(text, "(The stored") || !strings.HasSuffix(text, "|w") || strings.Count(text, "|") != 2 || r.SetAside != 0 {
		t.Errorf("%q, %+v", text, *r)
	}
}
