package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

var errAway = errors.New("the suite has taken this away")

// withdrawn cancels a question halfway through the outline, and inside a model call.
func withdrawn(ctx context.Context, s *Subject) error {
	return s.with(ctx, func(i Instance) error {
		log := s.log()
		strategy, err := seat(ctx, i, log)
		if err != nil {
			return err
		}
		long("Read every file in order.").replay(log)
		plain := ask(ctx, strategy, log, pressed(log, session.TriggerManual))

		cancelled, cancel := context.WithCancel(ctx)
		defer cancel()
		in := half(log, func() error { cancel(); return context.Canceled })
		if err := s.ends(cancelled, strategy, log, in); err != nil {
			return fmt.Errorf("halfway through the outline: %w", err)
		}
		if err := s.insideACall(ctx, strategy, log); err != nil {
			return fmt.Errorf("inside a model call: %w", err)
		}
		later := ask(ctx, strategy, log, pressed(log, session.TriggerManual))
		if plain.err == nil && later.err != nil {
			return fmt.Errorf("the next question: %w", later.err)
		}
		return nil
	})
}

// half is a question whose outline ends in the middle, with an error.
func half(log *Session, why func() error) compaction.Input {
	in := pressed(log, session.TriggerManual)
	whole, left := in.Outline, len(log.nodes())/2
	in.Outline = func(yield func(session.Node, error) bool) {
		n := 0
		for node, err := range whole {
			if n++; n > left {
				yield(session.Node{}, why())
				return
			}
			if !yield(node, err) {
				return
			}
		}
	}
	return in
}

// ends wants an error of a question whose context ended, promptly.
func (s *Subject) ends(ctx context.Context, strategy compaction.Strategy, log *Session, in compaction.Input) error {
	came := make(chan question, 1)
	go func() { came <- ask(ctx, strategy, log, in) }()
	return s.within(came)
}

func (s *Subject) within(came <-chan question) error {
	select {
	case q := <-came:
		var p *panicked
		switch {
		case errors.As(q.err, &p):
			return p
		case q.err == nil:
			return errors.New("it answers as if nothing had happened")
		}
		return nil
	case <-time.After(s.patience()):
		return fmt.Errorf("it goes on for more than %s", s.patience())
	}
}

// insideACall cancels once the model is asked; a strategy that asks none is done.
func (s *Subject) insideACall(ctx context.Context, strategy compaction.Strategy, log *Session) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	usual := log.Model
	defer func() { log.Model = usual }()
	asked, release, came := make(chan struct{}, 100), make(chan struct{}), make(chan question, 1)
	defer close(release)
	log.Model = func(ctx context.Context, _ []*llm.Message, _ session.Generate) (session.Generated, error) {
		asked <- struct{}{}
		select {
		case <-ctx.Done():
			return session.Generated{}, ctx.Err()
		case <-release:
			return session.Generated{}, errAway
		}
	}
	in := pressed(log, session.TriggerManual)
	go func() { came <- ask(ctx, strategy, log, in) }()
	select {
	case <-came:
		return nil
	case <-asked:
	}
	cancel()
	return s.within(came)
}

// pages asks about an outline that is longer than what travels at once, and withdraws
// the question while the rest is fetched.
func pages(ctx context.Context, s *Subject) error {
	const exchanges, idLength = 400, 1000
	return s.with(ctx, func(i Instance) error {
		log := s.log()
		strategy, err := seat(ctx, i, log)
		if err != nil {
			return err
		}
		prompt("Read every file in order.")(log)
		for n := range exchanges {
			log.Exchange(page(fmt.Sprint("call ", n), idLength), "read", "{}", page("short", 60))
		}
		if err := ask(ctx, strategy, log, pressed(log, session.TriggerManual)).broken(); err != nil {
			return err
		}
		cancelled, cancel := context.WithCancel(ctx)
		defer cancel()
		var fetched atomic.Bool
		log.paused = func(ctx context.Context) { fetched.Store(true); cancel(); <-ctx.Done() }
		came := make(chan question, 1)
		in := pressed(log, session.TriggerManual)
		go func() { came <- ask(cancelled, strategy, log, in) }()
		select {
		case q := <-came:
			if fetched.Load() && q.err == nil {
				return errors.New("it answers a question that was withdrawn")
			}
			return q.broken()
		case <-time.After(max(s.patience(), time.Minute)):
			return errors.New("it goes on while the rest of the outline is fetched, though the question is withdrawn")
		}
	})
}

// failures takes away one thing after the other that a strategy may lean on.
func failures(ctx context.Context, s *Subject) error {
	says := func(text string, stop llm.StopReason, err error) func(*Session) {
		return func(log *Session) {
			log.Model = func(context.Context, []*llm.Message, session.Generate) (session.Generated, error) {
				return session.Generated{Message: llm.Text(llm.RoleAssistant, text), Stop: stop}, err
			}
		}
	}
	troubles := []struct {
		name string
		take func(*Session)
	}{
		{"the log cannot be read", func(log *Session) { log.Refuse = errAway }},
		{"outline and meter cannot be read", func(log *Session) { log.away = errAway }},
		{"the model fails", says("", "", errAway)},
		{"the model's window is too small", says("", "", &llm.Error{Code: llm.CodeOverflow, Message: "too long"})},
		{"the model says nothing", says("", llm.StopEnd, nil)},
		{"the model says nothing but blanks", says(" \n\t", llm.StopEnd, nil)},
		{"the model is cut off", says("Half of a sen", llm.StopMaxTokens, nil)},
		{"the model babbles", says(page("babble", 400_000), llm.StopEnd, nil)},
	}
	return s.with(ctx, func(i Instance) error {
		for _, t := range troubles {
			log := s.log()
			strategy, err := seat(ctx, i, log)
			if err != nil {
				return err
			}
			long("Read every file in order.").replay(log)
			t.take(log)
			for _, trigger := range unasked {
				if err := ask(ctx, strategy, log, pressed(log, trigger)).broken(); err != nil {
					return fmt.Errorf("%s, trigger %s: %w", t.name, trigger, err)
				}
			}
			in := half(log, func() error { return errAway })
			if err := ask(ctx, strategy, log, in).broken(); err != nil {
				return fmt.Errorf("%s, half of an outline: %w", t.name, err)
			}
			i.Close(ctx, log.id)
		}
		return nil
	})
}
