package planning_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/planning"
)

// book is a session in memory as the plugin reaches it: its log, its inbox and how
// often it was compacted.
type book struct {
	session.Refusing
	answer session.Answer // to every question

	mu          sync.Mutex
	events      []session.Event
	inbox       []session.Event // what is queued and not claimed
	compactions int
	turn, step  int
	asked       []session.Question
	refuse      error // of every record
}

func (b *book) add(kind session.Kind, payload any) session.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.append(kind, payload, b.turn, b.step)
}

func (b *book) append(kind session.Kind, payload any, turn, step int) session.Event {
	e := session.New(kind, payload).At(turn, step)
	e.Seq = int64(len(b.events)) + 1
	b.events = append(b.events, e)
	return e
}

func (b *book) queue(item session.InboxItem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inbox = append(b.inbox, b.append(session.KindInboxQueued, item, 0, 0))
}

func (b *book) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	b.mu.Lock()
	events := slices.Clone(b.events)
	b.mu.Unlock()
	if q.Reverse {
		slices.Reverse(events)
	}
	return func(yield func(session.Event, error) bool) {
		n := 0
		for _, e := range events {
			if e.Seq <= q.After || q.Before > 0 && e.Seq >= q.Before || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) {
				continue
			}
			if n++; q.Limit > 0 && n > q.Limit || !yield(e, nil) {
				return
			}
		}
	}
}

func (b *book) Meter(context.Context) (session.Meter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return session.Meter{Ordinal: 1 + b.compactions, Compactions: b.compactions}, nil
}

func (b *book) Steer(_ context.Context, text, key string, wake bool) error {
	b.queue(session.InboxItem{Queue: session.NextStep, Source: session.SourcePlugin, From: planning.Name, Text: text, Key: key, Wake: wake})
	return nil
}

func (b *book) FollowUp(_ context.Context, text, key string) error {
	b.queue(session.InboxItem{Queue: session.NextTurn, Source: session.SourcePlugin, From: planning.Name, Text: text, Key: key, Wake: true})
	return nil
}

func (b *book) Records(_ context.Context, kind string) iter.Seq2[session.Event, error] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return compactiontest.Records(b.events, planning.Name, kind)
}

func (b *book) PutRecord(_ context.Context, kind, key string, data json.RawMessage) error {
	if b.refuse != nil {
		return b.refuse
	}
	b.add(session.KindRecord, session.Record{Plugin: planning.Name, Kind: kind, Key: key, Data: data})
	return nil
}

func (b *book) Ask(_ context.Context, q session.Question, _ time.Duration) (session.Answer, error) {
	b.add(session.KindQuestionAsked, q)
	b.add(session.KindQuestionAnswered, b.answer)
	b.asked = append(b.asked, q)
	return b.answer, nil
}
