package fold_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// TestC1_AnUndoneCompactionNeverWas: the surface, the window, the marks, the measure,
// the context and what the records say are what they were.
func TestC1_AnUndoneCompactionNeverWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		g.put(fold.Repair(g.s)...)
		before, count := folded(rt, g.events), g.s.Compaction.Count
		g.compact(session.TriggerManual)
		if g.s.Compaction.Count == count {
			rt.Skip("nothing to compact")
		}
		if g.chance(2) { // something else happens before the person changes their mind
			g.put(session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextTurn, Text: "x"}))
		}
		if _, err := g.s.Undoable(); err != nil {
			rt.Fatal(err)
		}
		g.undo()
		after := g.s
		if !reflect.DeepEqual(before.Surface.Nodes, after.Surface.Nodes) || before.Surface.Tokens != after.Surface.Tokens {
			rt.Fatalf("the surface is\n%+v\nwas\n%+v", after.Surface.Nodes, before.Surface.Nodes)
		}
		if a, b := before.Compaction, after.Compaction; a.Window != b.Window || strings.Join(a.Marks, ",") != strings.Join(b.Marks, ",") || before.Context != after.Context || before.Anchor != after.Anchor {
			rt.Fatalf("window %d, marks %v, context %q, anchor %+v; was %d, %v, %q, %+v", b.Window, b.Marks, after.Context, after.Anchor, a.Window, a.Marks, before.Context, before.Anchor)
		}
		if a, b := g.records(before), g.records(after); !reflect.DeepEqual(a, b) {
			rt.Fatalf("the records say %v, said %v", b, a)
		}
		if after.Surface.Generation <= before.Surface.Generation || !after.Compaction.Rest || after.Compaction.Count != count+1 {
			rt.Fatalf("%+v", after.Compaction)
		}
		var none *fold.NoUndo
		if _, err := after.Undoable(); !errors.As(err, &none) {
			rt.Fatalf("it can be undone twice: %v", err)
		}
		if v := checkAll(g.events); len(v) > 0 {
			rt.Fatalf("%+v", v)
		}
	})
}

// records are the data behind State.Records.
func (g *script) records(s *fold.State) map[string]string {
	data := map[string]string{}
	for key, seq := range s.Records {
		p, err := session.Decode[session.Record](g.events[seq-1])
		if err != nil {
			g.t.Fatal(err)
		}
		data[key] = string(p.Data)
	}
	return data
}

// compacted is a log of one turn and a reset behind it, with two records, one of
// which is new.
func compacted() []session.Event {
	events := append([]session.Event{created(), record("old", "1")}, turn(1, system("sys"), user("a"), assistant("b", llm.Usage{}))...)
	return append(events, // 10 and on
		session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: 1, Kind: "reset"}), record("old", "2"), record("new", "3"),
		user("checkpoint").On(session.Op{Kind: session.OpReplace, From: 6, To: 7}), system("sys2").On(session.Op{Kind: session.OpReplace, From: 5, To: 5}),
		session.New(session.KindCompactionEnded, session.CompactionEnded{Ordinal: 1, Kind: "reset", Relieved: true}))
}

func record(key, data string) session.Event {
	return session.New(session.KindRecord, session.Record{Plugin: "p", Kind: "k", Key: key, Data: json.RawMessage(data)})
}

func TestC1_WhatFollowedTheCompactionStaysBehindWhatComesBack(t *testing.T) {
	t.Parallel()
	events := append(compacted(), user("later"), system("sys3").On(session.Op{Kind: session.OpReplace, From: 14, To: 14}), user("last"))
	s := state(t, events...)
	undo, again, err := s.Undo("pid 1 on H")
	if err != nil {
		t.Fatal(err)
	}
	if want := []fold.Again{{Seq: 2}, {Seq: 12, None: true}}; !reflect.DeepEqual(again, want) {
		t.Errorf("to write again: %+v", again)
	}
	undo.Seq = s.Head + 1
	if err := s.Apply(undo); err != nil || shown(s) != "sys|a|b|later|last" {
		t.Errorf("%q, %v", shown(s), err)
	}
	if want := map[string]int64{"p/k/old": 2}; !reflect.DeepEqual(s.Records, want) {
		t.Errorf("records %v", s.Records)
	}
	if p, _ := session.Decode[session.CompactionUndone](undo); p != (session.CompactionUndone{Ordinal: 1, Seq: 15, From: "pid 1 on H"}) {
		t.Errorf("%+v", p)
	}
}

func TestC1_WhyACompactionCannotBeUndone(t *testing.T) {
	t.Parallel()
	whole := compacted()
	at := func(events ...session.Event) []session.Event {
		return append(append([]session.Event{}, whole...), events...)
	}
	undone := session.New(session.KindCompactionUndone, session.CompactionUndone{Ordinal: 1, Seq: 15})
	for name, c := range map[string]struct {
		events []session.Event
		why    string
		at     int64
	}{
		"none":      {whole[:9], "no compaction", 0},
		"a turn":    {at(session.New(session.KindTurnStarted, session.TurnStarted{}).At(2, 0)), "turn", 9},
		"answered":  {at(turn(2, user("x"), assistant("y", llm.Usage{}))...), "answered", 9},
		"undone":    {at(undone), "already", 0},
		"not ended": {whole[:14], "no compaction", 0},
	} {
		var none *fold.NoUndo
		if _, _, err := state(t, c.events...).Undo(""); !errors.As(err, &none) || !strings.Contains(none.Why, c.why) || none.At != c.at {
			t.Errorf("%s: %v, at %d", name, err, none.At)
		}
	}
	for name, events := range map[string][]session.Event{
		"twice": at(undone, undone), "after an answer": at(append(turn(2, user("x"), assistant("y", llm.Usage{})), undone)...),
		"another":        at(session.New(session.KindCompactionUndone, session.CompactionUndone{Ordinal: 2, Seq: 15})),
		"without any":    append(append([]session.Event{}, whole[:9]...), undone),
		"within a turn":  at(session.New(session.KindTurnStarted, session.TurnStarted{}).At(2, 0), undone.At(2, 0)),
		"inside another": at(session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: 2}), undone),
	} {
		if v := checkAll(events); len(v) == 0 {
			t.Errorf("%s: no rule speaks", name)
		}
	}
	if v := checkAll(at(undone)); len(v) > 0 {
		t.Errorf("an undo breaks rules: %+v", v)
	}
}

// TestC1_AutomaticCompactionRestsAfterAnUndo until something that matters is another.
func TestC1_AutomaticCompactionRestsAfterAnUndo(t *testing.T) {
	t.Parallel()
	header := func(model string, window int) session.Event {
		return session.New(session.KindRequestHeader, session.Header{Model: model, ContextWindow: window})
	}
	opened := func(profile, strategy string) session.Event {
		return session.New(session.KindSessionOpened, session.Opened{Profile: profile, Strategy: strategy})
	}
	undone := append(compacted(), header("m", 1), opened("p", "s"),
		session.New(session.KindUndoAsked, session.UndoAsked{}), session.New(session.KindCompactionUndone, session.CompactionUndone{Ordinal: 1, Seq: 15}))
	rests := func(e ...session.Event) bool {
		return state(t, append(undone[:len(undone):len(undone)], e...)...).Compaction.Rest
	}
	for name, c := range map[string]struct {
		events []session.Event
		rests  bool
	}{
		"after the undo": {nil, true},
		"same header":    {[]session.Event{header("m", 1)}, true},
		"other model":    {[]session.Event{header("n", 1)}, false},
		"other window":   {[]session.Event{header("m", 2)}, false},
		"same profile":   {[]session.Event{opened("p", "s")}, true},
		"not said":       {[]session.Event{opened("", "")}, true},
		"other profile":  {[]session.Event{opened("q", "s")}, false},
		"other strategy": {[]session.Event{opened("p", "t")}, false},
		"ended":          {[]session.Event{session.New(session.KindCompactionRest, session.CompactionRest{})}, false},
		"begun again":    {[]session.Event{header("n", 1), session.New(session.KindCompactionRest, session.CompactionRest{Rest: true})}, true},
	} {
		if rests(c.events...) != c.rests {
			t.Errorf("%s: rests %v", name, !c.rests)
		}
	}
	asked := undone[:len(undone)-1]
	if state(t, asked...).Compaction.UndoAsked == nil || state(t, undone...).Compaction.UndoAsked != nil ||
		state(t, append(asked[:len(asked):len(asked)], session.New(session.KindUndoRefused, session.UndoRefused{}))...).Compaction.UndoAsked != nil {
		t.Error("an undo that was asked for waits wrongly")
	}
}

func TestL18_ArchivedIsFoldedAndALostEventIsNothing(t *testing.T) {
	t.Parallel()
	archived := func(yes bool) session.Event {
		return session.New(session.KindSessionArchived, session.Archived{Archived: yes})
	}
	lost := session.New(session.KindLost, session.Lost{Why: "w"})
	if !state(t, created(), archived(true), lost).Archived || state(t, created(), archived(true), archived(false)).Archived {
		t.Error("archived is folded wrongly")
	}
	events := append(append(compacted()[:12:12], lost), compacted()[12:]...)
	if v := checkAll(append([]session.Event{created(), lost}, turn(1, system("s"), lost, user("u"))...)); len(v) > 0 {
		t.Errorf("%+v", v)
	}
	if s := state(t, events...); s.Unknown != 0 || len(checkAll(events)) > 0 {
		t.Errorf("%d unknown, %+v", s.Unknown, checkAll(events))
	}
}
