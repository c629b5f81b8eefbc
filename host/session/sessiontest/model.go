package sessiontest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/session"
)

// Compare runs the same random operations on a session of each of two stores and
// demands the same outcomes. It closes the stores.
func Compare(t *testing.T, a, b session.Store) {
	ctx := newKit(t, a).ctx
	newKit(t, b)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		id := fmt.Sprintf("s%05d", n)
		one, err := begin(ctx, a, id)
		if err != nil {
			t.Fatalf("create in the first store: %v", err)
		}
		defer func() { one.log.Close() }()
		two, err := begin(ctx, b, id)
		if err != nil {
			t.Fatalf("create in the second store: %v", err)
		}
		defer func() { two.log.Close() }()
		play(ctx, t, one, two)
	})
}

// checkAgainstModel is Compare with the plainest log there can be.
func checkAgainstModel(t *testing.T, store session.Store) {
	ctx := newKit(t, store).ctx
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		id := fmt.Sprintf("s%05d", n)
		l, err := begin(ctx, store, id)
		if err != nil {
			t.Fatalf("create: %v", err)
		}
		defer func() { l.log.Close() }()
		first := session.New(session.KindSessionCreated, birth(id))
		first.Seq, first.Time = 1, birth(id).Time
		play(ctx, t, l, &model{id: id, events: []session.Event{first}})
	})
}

func play(ctx context.Context, t *rapid.T, a, b subject) {
	for i, do := range script(t) {
		if x, y := do(ctx, a), do(ctx, b); x != y {
			t.Fatalf("operation %d differs\nfirst:  %s\nsecond: %s", i, x, y)
		}
	}
}

// model says in the fewest words what a log does.
type model struct {
	id       string
	events   []session.Event
	snap     []byte
	snapHead int64
	waiting  []session.Mail
	posted   int64
}

func (m *model) append(_ context.Context, b session.Batch) (int64, error) {
	if b.Head != int64(len(m.events)) {
		return 0, session.ErrConflict
	}
	left := slices.Clone(m.waiting)
	for _, id := range b.Taken {
		n := len(left)
		left = slices.DeleteFunc(left, func(m session.Mail) bool { return m.ID == id })
		if len(left) == n {
			return 0, session.ErrNoMail
		}
	}
	m.waiting = left
	for _, e := range b.Events {
		e.Seq = int64(len(m.events)) + 1
		m.events = append(m.events, e)
	}
	if b.Snapshot != nil {
		m.snap, m.snapHead = b.Snapshot, int64(len(m.events))
	}
	return int64(len(m.events)), nil
}

func (m *model) post(_ context.Context, mail session.Mail) error {
	m.posted++
	mail.ID = m.posted
	m.waiting = append(m.waiting, mail)
	return nil
}

func (m *model) mail(context.Context) ([]session.Mail, error) { return m.waiting, nil }

func (m *model) read(_ context.Context, q session.Query) ([]session.Event, error) {
	var out []session.Event
	for _, e := range m.events {
		if e.Seq > q.After && (q.Before <= 0 || e.Seq < q.Before) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind)) {
			out = append(out, e)
		}
	}
	if q.Reverse {
		slices.Reverse(out)
	}
	if q.Limit > 0 {
		out = out[:min(q.Limit, len(out))]
	}
	return out, nil
}

func (m *model) snapshot(context.Context) ([]byte, int64, error) { return m.snap, m.snapHead, nil }

func (m *model) reopen(context.Context) error { return nil }

func (m *model) summary(context.Context) (session.Summary, error) {
	last := m.events[len(m.events)-1]
	s := session.Summary{ID: m.id, Title: "t", Status: "idle", Created: m.events[0].Time,
		Updated: last.Time.UTC(), Events: last.Seq}
	for _, e := range m.events {
		switch e.Kind {
		case session.KindTurnStarted:
			s.Turns, s.Status = e.Turn, "running"
		case session.KindTurnEnded:
			s.Status = "error" // what has no reason ended badly
			if ended, err := session.Decode[session.TurnEnded](e); err == nil && ended.Reason != "" {
				s.Status = string(ended.Reason)
			}
		}
	}
	return s, nil
}
