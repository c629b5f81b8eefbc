package history

import (
	"context"
	"iter"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// entry is an event that was read. Seen: only that it was looked at counts.
type entry struct {
	session.Event
	seen bool
}

// search yields, the newest first, the events in which the query's text may stand, as
// far as the log knows. Those that are not only seen are messages that hold it, answers
// of which a result does, wherever that stands, and results.
func (ask ListAsk) search(ctx context.Context, log Log) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		s := &searched{ask: ask, log: log}
		err := s.behind(ctx)
		if err == nil {
			err = s.run(ctx, yield)
		}
		if err != nil {
			yield(entry{}, err)
		}
	}
}

// searched is a search that goes on. Seq 0 = there is none.
type searched struct {
	ask    ListAsk
	log    Log
	result session.Event // the newest that holds the text and whose answer did not come yet
	answer session.Event // that of an earlier one; it had to be read
}

func (s *searched) run(ctx context.Context, yield func(entry, error) bool) error {
	q := session.Query{After: s.ask.After, Before: s.ask.Before, Reverse: true, Kinds: said, Text: s.ask.Query}
	for e, err := range s.log.Events(ctx, q) {
		if err != nil {
			return err
		}
		owner, before, err := s.settle(ctx, e)
		if err != nil {
			return err
		}
		if before.Seq > 0 && !yield(entry{before, false}, nil) {
			return nil
		}
		if e.Kind == session.KindToolResult {
			s.note(e)
		}
		if !yield(entry{e, e.Kind != session.KindToolResult && !owner && !s.ask.says(e)}, nil) {
			return nil
		}
	}
	if _, before, err := s.settle(ctx, session.Event{}); before.Seq == 0 || err != nil {
		return err
	} else {
		yield(entry{before, false}, nil)
	}
	return nil
}

// behind looks at the results that belong to the last answer before the bound and
// stand behind that.
func (s *searched) behind(ctx context.Context) error {
	const page = 16
	q := session.Query{After: s.ask.Before - 1, Kinds: []session.Kind{session.KindToolResult, session.KindMessageAssistant}, Limit: page}
	for n := page; s.ask.Before > 0 && n == page; {
		n = 0
		for e, err := range s.log.Events(ctx, q) {
			if err != nil || e.Kind == session.KindMessageAssistant {
				return err
			}
			s.note(e)
			q.After, n = e.Seq, n+1
		}
	}
	return nil
}

// note keeps a result that holds the text.
func (s *searched) note(e session.Event) {
	if s.answer.Seq > 0 && s.answer.Seq < e.Seq {
		return // one of the same answer
	}
	r, err := session.Decode[session.ToolResult](e)
	if err == nil && r.Message != nil && !strings.HasPrefix(r.Name, ownTools) && holds(r.Message.Text(), s.ask.Query) {
		s.result = e
	}
}

// settle finds the answer of the result that was noted, before the event that follows
// in the log is yielded. It is that event, or one to yield first, or kept until its
// turn comes.
func (s *searched) settle(ctx context.Context, e session.Event) (owner bool, before session.Event, err error) {
	if r := s.result; r.Seq > 0 {
		s.result = session.Event{}
		if e.Kind == session.KindMessageAssistant && e.Step > 0 && e.Turn == r.Turn && e.Step == r.Step && e.Seq < r.Seq {
			return true, before, nil
		}
		if s.answer, err = s.answerOf(ctx, r.Seq); err != nil {
			return false, before, err
		}
	}
	switch a := s.answer; {
	case a.Seq == 0 || a.Seq < e.Seq:
		return false, before, nil
	case a.Seq == e.Seq:
		s.answer = session.Event{}
		return true, before, nil
	default:
		s.answer = session.Event{}
		return false, a, nil
	}
}

// answerOf reads the answer before a result, where it is within the bounds.
func (s *searched) answerOf(ctx context.Context, result int64) (session.Event, error) {
	q := session.Query{After: s.ask.After, Before: result, Kinds: []session.Kind{session.KindMessageAssistant}, Reverse: true, Limit: 1}
	for e, err := range s.log.Events(ctx, q) {
		if err != nil || s.ask.Before > 0 && e.Seq >= s.ask.Before {
			return session.Event{}, err
		}
		return e, nil
	}
	return session.Event{}, nil
}

// says tells whether a message itself holds the text.
func (ask ListAsk) says(e session.Event) bool {
	switch e.Kind {
	case session.KindMessageUser:
		m, err := session.Decode[session.Message](e)
		return err == nil && m.Message != nil && holds(m.Message.Text(), ask.Query)
	case session.KindMessageAssistant:
		m, err := session.Decode[session.Assistant](e)
		if err != nil || m.Message == nil {
			return false
		}
		for _, c := range m.Message.Calls() {
			if holds(c.Name+" "+c.Arguments, ask.Query) {
				return true
			}
		}
		return holds(m.Message.Text(), ask.Query)
	}
	return false
}

// holds tells whether a text holds another one, letters of either case alike.
func holds(text, query string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(query))
}
