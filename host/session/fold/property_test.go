package fold_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

const moves = 60

func folded(t rapid.TB, events []session.Event) *fold.State {
	t.Helper()
	s := fold.New()
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// same tells whether two states are one, messages included.
func same(t rapid.TB, what string, a, b *fold.State) {
	t.Helper()
	if x, y := string(a.Snapshot()), string(b.Snapshot()); x != y {
		t.Fatalf("%s:\n%s\nis not\n%s", what, x, y)
	}
	if !reflect.DeepEqual(a.Surface.Messages(0), b.Surface.Messages(0)) {
		t.Fatalf("%s: the messages differ", what)
	}
	if a.Compaction.Before != nil && !reflect.DeepEqual(a.Compaction.Before.Nodes, b.Compaction.Before.Nodes) {
		t.Fatalf("%s: what an undo gives back differs", what)
	}
}

// TestC1_AnyLegalLogKeepsTheRules: the fold is total and deterministic over what a
// host may write, and every state that an append leaves can be sent.
func TestC1_AnyLegalLogKeepsTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		if v := checkAll(g.events); len(v) > 0 {
			rt.Fatalf("%+v", v)
		}
		same(rt, "folded again", folded(rt, g.events), g.s)
	})
}

// TestR1_SnapshotAndRestAreAFullFold: wherever the snapshot was taken.
func TestR1_SnapshotAndRestAreAFullFold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		at := rapid.Int64Range(1, g.s.Head).Draw(rt, "snapshot")
		log := stored(rt, g.events, at)
		loaded, err := fold.Load(t.Context(), log)
		if err != nil {
			rt.Fatal(err)
		}
		full, err := fold.Full(t.Context(), log)
		if err != nil {
			rt.Fatal(err)
		}
		same(rt, "from the snapshot", loaded, full)
	})
}

// TestR1_L9_M8_EveryPrefixIsRepaired: whatever append a crash came behind, Repair
// leaves a log that keeps the rules and a conversation that may be sent.
func TestR1_L9_M8_EveryPrefixIsRepaired(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		cut := rapid.SampledFrom(g.cuts).Draw(rt, "cut")
		events := append([]session.Event{}, g.events[:cut]...)
		events = append(events, fold.Repair(folded(rt, events))...)
		if v := checkAll(events); len(v) > 0 {
			rt.Fatalf("cut at %d: %+v", cut, v)
		}
		for i := range events {
			events[i].Seq = int64(i + 1)
		}
		s := folded(rt, events)
		if s.Turn.Open || len(fold.Repair(s)) > 0 {
			rt.Fatalf("cut at %d: something is open still", cut)
		}
		if err := llm.Validate(append(s.Surface.Messages(0), llm.Text(llm.RoleUser, "go on"))); err != nil {
			rt.Fatalf("cut at %d: %v", cut, err)
		}
	})
}

// TestL4_InboxItemsAreClaimedOnceAndInOrder compares the inbox with what was queued
// and claimed.
func TestL4_InboxItemsAreClaimedOnceAndInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		var queued, claimed []int64
		for _, e := range g.events {
			switch e.Kind {
			case session.KindInboxQueued:
				queued = append(queued, e.Seq)
			case session.KindInboxClaimed:
				p, _ := session.Decode[session.InboxClaimed](e)
				claimed = append(claimed, p.Items...)
			}
		}
		for _, it := range g.s.Inbox {
			claimed = append(claimed, it.Seq)
		}
		if !reflect.DeepEqual(queued, claimed) {
			rt.Fatalf("queued %v, claimed or waiting %v", queued, claimed)
		}
	})
}

// TestC1_WhatACompactionHidStaysHidden: only an undo of that very compaction brings
// a node back, and then exactly those.
func TestC1_WhatACompactionHidStaysHidden(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		s := fold.New()
		hidden, before := map[int64]bool{}, map[int64]bool{}
		for _, e := range g.events {
			if e.Kind == session.KindCompactionUndone {
				for _, n := range s.Compaction.Before.Nodes {
					delete(hidden, n.Seq)
				}
			}
			if err := s.Apply(e); err != nil {
				rt.Fatal(err)
			}
			now := map[int64]bool{}
			for _, n := range s.Surface.Nodes {
				if now[n.Seq] {
					rt.Fatalf("event %d: node %d stands twice", e.Seq, n.Seq)
				}
				if now[n.Seq] = true; hidden[n.Seq] {
					rt.Fatalf("event %d (%s) brings node %d back", e.Seq, e.Kind, n.Seq)
				}
			}
			for seq := range before {
				hidden[seq] = hidden[seq] || !now[seq]
			}
			before = now
		}
	})
}
