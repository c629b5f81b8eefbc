package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// kit is a store under test, with helpers that end the test where a call that
// has to work does not.
type kit struct {
	*testing.T
	ctx   context.Context
	store session.Store
}

func newKit(t *testing.T, store session.Store) *kit {
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return &kit{T: t, ctx: t.Context(), store: store}
}

// create makes a session whose log is closed with the test.
func (k *kit) create(id string) session.Log {
	k.Helper()
	return k.createAt(id, time.Time{})
}

func (k *kit) createAt(id string, at time.Time) session.Log {
	k.Helper()
	log, err := k.store.Create(k.ctx, session.Created{
		ID: id, Workspace: "/srv/" + id, Profile: "demo", Strategy: "notesoup", Title: "title of " + id, Time: at,
	})
	if err != nil {
		k.Fatalf("create %s: %v", id, err)
	}
	k.Cleanup(func() { log.Close() })
	return log
}

func (k *kit) open(id string) session.Log {
	k.Helper()
	log, err := k.store.Open(k.ctx, id)
	if err != nil {
		k.Fatalf("open %s: %v", id, err)
	}
	k.Cleanup(func() { log.Close() })
	return log
}

func (k *kit) view(id string) session.Reader {
	k.Helper()
	r, err := k.store.View(k.ctx, id)
	if err != nil {
		k.Fatalf("view %s: %v", id, err)
	}
	k.Cleanup(func() { r.Close() })
	return r
}

func (k *kit) close(c interface{ Close() error }) {
	k.Helper()
	if err := c.Close(); err != nil {
		k.Fatalf("close: %v", err)
	}
}

func (k *kit) head(r session.Reader) int64 {
	k.Helper()
	head, err := r.Head(k.ctx)
	if err != nil {
		k.Fatalf("head: %v", err)
	}
	return head
}

// append adds events behind the head.
func (k *kit) append(log session.Log, events ...session.Event) int64 {
	k.Helper()
	head, err := log.Append(k.ctx, session.Batch{Head: k.head(log), Events: events})
	if err != nil {
		k.Fatalf("append: %v", err)
	}
	return head
}

// read returns what q selects.
func (k *kit) read(r session.Reader, q session.Query) []session.Event {
	k.Helper()
	events, err := collect(k.ctx, r, q)
	if err != nil {
		k.Fatalf("read %+v: %v", q, err)
	}
	return events
}

func (k *kit) list() []session.Summary {
	k.Helper()
	list, err := k.store.List(k.ctx)
	if err != nil {
		k.Fatalf("list: %v", err)
	}
	return list
}

// want checks that err is target.
func (k *kit) want(err, target error) {
	k.Helper()
	if !errors.Is(err, target) {
		k.Errorf("error is %v, want %v", err, target)
	}
}

func collect(ctx context.Context, r session.Reader, q session.Query) ([]session.Event, error) {
	var events []session.Event
	for e, err := range r.Read(ctx, q) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// note makes an event of a kind and a text.
func note(kind session.Kind, text string) session.Event {
	return session.New(kind, map[string]string{"text": text})
}

// notes makes n events whose kinds alternate between a common and a rare one.
func notes(n int) []session.Event {
	events := make([]session.Event, n)
	for i := range events {
		kind := session.KindToolResult
		if i%2 == 1 {
			kind = session.KindRecord
		}
		events[i] = note(kind, fmt.Sprint(i))
	}
	return events
}

// ended makes the end of a turn.
func ended(reason session.Reason) session.Event {
	return session.New(session.KindTurnEnded, session.TurnEnded{Reason: reason})
}

// started makes the beginning of a turn.
func started(ordinal int) session.Event {
	return session.New(session.KindTurnStarted, session.TurnStarted{}).At(ordinal, 0)
}

func seqs(events []session.Event) []int64 {
	s := make([]int64, len(events))
	for i, e := range events {
		s[i] = e.Seq
	}
	return s
}

// same tells whether two events are equal to the last byte.
func same(a, b session.Event) bool { return print(a) == print(b) }

// print shows an event with the bytes of its payload, whether they are JSON or
// not.
func print(e session.Event) string {
	op, _ := json.Marshal(e.Op)
	return fmt.Sprintf("%d v%d %d %q turn %d step %d op %s data %q",
		e.Seq, e.V, e.Time.UnixNano(), e.Kind, e.Turn, e.Step, op, e.Data)
}
