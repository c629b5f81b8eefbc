package fold_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
)

func queued() session.Event {
	return session.New(session.KindInboxQueued, session.InboxItem{Text: "x", Queue: session.NextStep, Source: session.SourceOwner})
}

// TestC108_AClaimTakesWhatItNames: whatever is claimed in whatever order, the rest stays
// in its order, and an item is queued once.
func TestC108_AClaimTakesWhatItNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := fold.NewChecker()
		head := int64(0)
		add := func(e session.Event) {
			head++
			e.Seq = head
			c.Event(e)
		}
		add(created())
		var want []int64
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			if len(want) == 0 || rapid.Bool().Draw(t, "queue") {
				add(queued())
				want = append(want, head)
				continue
			}
			taken := rapid.SliceOfNDistinct(rapid.SampledFrom(want), 1, len(want), rapid.ID[int64]).Draw(t, "taken")
			add(session.New(session.KindInboxClaimed, session.InboxClaimed{Items: taken}))
			want = slices.DeleteFunc(want, func(seq int64) bool { return slices.Contains(taken, seq) })
		}
		var got []int64
		for _, it := range c.State().Inbox {
			got = append(got, it.Seq)
		}
		if !slices.Equal(got, want) || len(c.Violations()) > 0 {
			t.Fatalf("in the inbox are %v, want %v; %v", got, want, c.Violations())
		}
		add(session.New(session.KindInboxClaimed, session.InboxClaimed{Items: []int64{1, head + 9}}))
		if v := c.Violations(); len(v) != 2 || v[0].Rule != "inbox" {
			t.Fatalf("violations %v", v)
		}
	})
}

// TestC108_AClaimCostsWhatItTakes: claiming from the front or the back of a long inbox
// copies none of it.
func TestC108_AClaimCostsWhatItTakes(t *testing.T) {
	const n = 20_000
	for _, back := range []bool{false, true} {
		s := state(t, created())
		for range n {
			e := queued()
			e.Seq = s.Head + 1
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		first := &s.Inbox[n/2]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range int64(n / 4) {
			item := 2 + i
			if back {
				item = n + 1 - i
			}
			e := session.New(session.KindInboxClaimed, session.InboxClaimed{Items: []int64{item}})
			e.Seq = s.Head + 1
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		at := n / 2
		if !back {
			at -= n / 4
		}
		if each := (after.TotalAlloc - before.TotalAlloc) / (n / 4); &s.Inbox[at] != first || each > 8<<10 || len(s.Inbox) != n-n/4 {
			t.Errorf("back %v: the inbox was moved, or a claim allocates %d bytes; %d items are left", back, each, len(s.Inbox))
		}
	}
}

// TestC108_ChildrenAreFoundByID: thousands of them, each settled and begun again.
func TestC108_ChildrenAreFoundByID(t *testing.T) {
	t.Parallel()
	c := fold.NewChecker()
	head := int64(0)
	add := func(e session.Event) {
		head++
		e.Seq = head
		c.Event(e)
	}
	add(created())
	const n = 3000
	for round := range 2 {
		for i := range n {
			add(session.New(session.KindChildSpawned, session.ChildSpawned{ID: fmt.Sprint("c", i), Label: fmt.Sprint(round)}))
		}
		for i := range n {
			add(session.New(session.KindChildSettled, session.ChildSettled{ID: fmt.Sprint("c", i), Reason: session.ReasonCompleted}))
		}
	}
	children := c.State().Children
	if len(c.Violations()) > 0 || len(children) != n || children[7].ID != "c7" || children[7].Label != "1" || len(c.State().Running()) > 0 {
		t.Errorf("%d children, %+v, violations %v", len(children), children[7], c.Violations())
	}
}

// TestD1_C102_ASnapshotKnowsWhereTheLogWent: a log that ends before its snapshot was
// taken has lost its end.
func TestD1_C102_ASnapshotKnowsWhereTheLogWent(t *testing.T) {
	t.Parallel()
	log, err := memlog.New().Create(t.Context(), session.Created{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := fold.Full(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	for head, want := range map[int64]string{1: "", 9: "was taken at event 9, the log ends at 1"} {
		found, err := fold.Check(t.Context(), snapshotted{log, s.Snapshot(), head})
		if err != nil || (want == "") != (len(found) == 0) || want != "" && (found[0].Rule != "snapshot" || found[0].Text != want || found[0].Seq != 1) {
			t.Errorf("head %d: %v, %v", head, found, err)
		}
	}
}

// snapshotted is a log with a snapshot of another head.
type snapshotted struct {
	session.Reader
	data []byte
	head int64
}

func (s snapshotted) Snapshot(context.Context) ([]byte, int64, error) { return s.data, s.head, nil }
