package fold_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

var branch = session.Created{ID: "b", Workspace: "/w", Time: time.Unix(9, 0).UTC(), Origin: &session.Origin{Session: "s", How: session.HowFork}}

func fork(t rapid.TB, events []session.Event, at int64) ([]session.Event, *fold.State, error) {
	t.Helper()
	seq, s, err := fold.Fork(context.Background(), stored(t, events, 0), branch, at)
	if err != nil {
		return nil, nil, err
	}
	var out []session.Event
	for e, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out, s, nil
}

// TestL9_ABranchBeginsAtAnyPlaceThatALogCanBeCut: it keeps the rules, has the
// prefix event for event, and its closers close everything.
func TestL9_ABranchBeginsAtAnyPlaceThatALogCanBeCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := draw(rt, moves)
		at := rapid.Int64Range(1, g.s.Head).Draw(rt, "at")
		events, s, err := fork(rt, g.events, at)
		var cut *fold.CutError
		if errors.As(err, &cut) {
			if slices.Contains(g.cuts, at) && g.events[at-1].Kind != session.KindRecord && g.events[at-1].Kind != session.KindCompactionUndone {
				rt.Fatalf("an append ends at %d: %v", at, err)
			}
			for _, near := range []int64{cut.Before, cut.After} {
				if _, _, err := fork(rt, g.events, near); err != nil {
					rt.Fatalf("%v, but: %v", cut, err)
				}
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if v := checkAll(events); len(v) > 0 {
			rt.Fatalf("%+v", v)
		}
		if !reflect.DeepEqual(events[1:at], g.events[1:at]) || events[0].Time != branch.Time {
			rt.Fatal("the prefix is another")
		}
		prefix := folded(rt, g.events[:at])
		if s.Turn.Open || len(fold.Repair(s)) > 0 || len(s.Running()) > 0 || len(s.Questions) > 0 || s.Compaction.Asked != nil || s.Compaction.UndoAsked != nil || s.Archived {
			rt.Fatalf("something is open: %+v", s)
		}
		n := len(prefix.Surface.Nodes)
		if !reflect.DeepEqual(s.Surface.Nodes[:n], prefix.Surface.Nodes) || len(s.Surface.Nodes)-n != len(prefix.Turn.Calls) {
			rt.Fatal("the surface is another")
		}
		if !reflect.DeepEqual(s.Inbox, prefix.Inbox) || !reflect.DeepEqual(s.Records, prefix.Records) {
			rt.Fatal("inbox or records are others")
		}
		same(rt, "the state of the branch", s, folded(rt, events))
	})
}

// TestL9_ForkVariants: the model is told that the other session may have gone on.
func TestL9_ForkVariants(t *testing.T) {
	t.Parallel()
	whole := append([]session.Event{created()}, turn(1, system("s"), user("u"), assistant("", llm.Usage{}, "a", "b"),
		session.New(session.KindToolStarted, session.ToolStarted{CallID: "a", Name: "t"}), result("a", "r"), result("b", "r"))...)
	for i := range whole {
		whole[i].Seq = int64(i + 1)
	}
	events, _, err := fork(t, whole, 7)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := session.Decode[session.ToolResult](events[7])
	b, _ := session.Decode[session.ToolResult](events[8])
	if a.Message.CallID != "a" || a.Code != fold.CodeOutcomeUnknown || !strings.Contains(a.Message.Text(), "it was started") || !strings.Contains(a.Message.Text(), "may have finished it since") ||
		b.Message.CallID != "b" || b.Code != fold.CodeNotStarted || !strings.Contains(b.Message.Text(), "may have made it since") || !a.Message.IsError || !b.Message.IsError {
		t.Errorf("%+v\n%+v", a.Message, b.Message)
	}
	ended, _ := session.Decode[session.TurnEnded](events[10])
	if len(events) != 11 || ended.Reason != session.ReasonCancelled || !ended.Repaired || ended.Error.Code != "FORKED" {
		t.Errorf("%d events, %+v", len(events), ended)
	}
	if own := fold.Repair(state(t, whole[:7]...)); !strings.Contains(string(own[0].Data), "broke off") {
		t.Errorf("a crash is told of as a branch: %s", own[0].Data)
	}
	first, _ := session.Decode[session.Created](events[0])
	if !reflect.DeepEqual(first, branch) {
		t.Errorf("%+v", first)
	}
}

func TestL9_WhereALogCannotBeCut(t *testing.T) {
	t.Parallel()
	events := append(compacted(), user("later"), session.New(session.KindCompactionUndone, session.CompactionUndone{Ordinal: 1, Seq: 15}), record("old", "1"), record("new", "null"), user("last"))
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	for at, want := range map[int64][2]int64{10: {9, 15}, 12: {9, 15}, 14: {9, 15}, 17: {16, 19}, 18: {16, 19}, 21: {20, 0}, -1: {0, 1}} {
		var cut *fold.CutError
		if _, _, err := fork(t, events, at); !errors.As(err, &cut) || [2]int64{cut.Before, cut.After} != want {
			t.Errorf("at %d: %v (%+v)", at, err, cut)
		}
	}
	for at, want := range map[int64]int{1: 1, 9: 9, 15: 15, 16: 16, 19: 19, 20: 20, 0: 20} {
		if out, _, err := fork(t, events, at); err != nil || len(out) != want {
			t.Errorf("at %d: %d events, %v", at, len(out), err)
		}
	}
}
