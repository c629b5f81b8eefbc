package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

var triggers = []session.Trigger{session.TriggerPressure, session.TriggerStopping, session.TriggerRequested, session.TriggerOverflow, session.TriggerManual}

// trial is one question of the sweep.
type trial struct {
	question
	where         string
	trigger       session.Trigger
	balanced      bool // no call was open
	invalid       error
	before, after int            // tokens
	messages      []*llm.Message // once it is applied
}

// sweep asks at every place of every history, with every trigger; once, for all the
// checks that look at what came.
func (s *Subject) sweep(ctx context.Context) ([]trial, error) {
	s.sweeping.Do(func() {
		s.failed = s.with(ctx, func(i Instance) error {
			for _, h := range histories() {
				if err := s.walk(ctx, i, h); err != nil {
					return fmt.Errorf("%s: %w", h.name, err)
				}
			}
			return nil
		})
	})
	return s.swept, s.failed
}

func (s *Subject) walk(ctx context.Context, i Instance, h history) error {
	log := s.log()
	strategy, err := seat(ctx, i, log)
	if err != nil {
		return err
	}
	defer i.Close(ctx, log.id)
	for n, step := range h.steps {
		step(log)
		var last trial // that was applied
		for _, trigger := range triggers {
			t := trial{where: fmt.Sprintf("%s, message %d, trigger %s", h.name, n+1, trigger), trigger: trigger}
			t.question = ask(ctx, strategy, log, pressed(log, trigger))
			nodes := log.nodes()
			t.balanced, t.invalid, t.before = compaction.Balanced(nodes), log.fault(), tokens(nodes)
			switch {
			case t.applies() && same(t.question, last.question) == nil:
				t.messages, t.after = last.messages, last.after
			case t.applies():
				after := log.Copy("copy")
				if err := after.Try(t.p, trigger); err != nil {
					return fmt.Errorf("%s: %w", t.where, err)
				}
				t.messages, t.after = after.Messages(), tokens(after.nodes())
				last = t
			}
			s.swept = append(s.swept, t)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

func tokens(nodes []session.Node) (n int) {
	for _, node := range nodes {
		n += node.Tokens
	}
	return n
}

// each is a check of every trial.
func each(judge func(s *Subject, t trial) error) func(context.Context, *Subject) error {
	return func(ctx context.Context, s *Subject) error {
		trials, err := s.sweep(ctx)
		if err != nil {
			return err
		}
		for _, t := range trials {
			var p *panicked
			if errors.As(t.err, &p) {
				return fmt.Errorf("%s: %w", t.where, p)
			}
			if err := judge(s, t); err != nil {
				return fmt.Errorf("%s: %w", t.where, err)
			}
		}
		return nil
	}
}

// refusals is a check that the host refuses no proposal for one of these reasons.
func refusals(reasons ...compaction.Refusal) func(context.Context, *Subject) error {
	return each(func(_ *Subject, t trial) error {
		if slices.Contains(reasons, compaction.RefusalOf(t.refused)) {
			return t.refused
		}
		return nil
	})
}

var kinds = each(func(s *Subject, t trial) error {
	switch {
	case compaction.RefusalOf(t.refused) == compaction.RefusedKind:
		return t.refused
	case t.err == nil && t.p.Postpone:
		return errors.New("it postpones where the host does not offer that")
	case t.applies() && len(s.Kinds) > 0 && !slices.Contains(s.Kinds, t.p.Kind):
		return fmt.Errorf("kind %q is not declared: %v", t.p.Kind, s.Kinds)
	}
	return nil
})

var sendable = each(func(_ *Subject, t trial) error {
	if !t.applies() || !t.balanced {
		return nil
	}
	messages := t.messages
	if messages[len(messages)-1].Role == llm.RoleAssistant {
		messages = append(slices.Clone(messages), llm.Text(llm.RoleUser, "Go on."))
	}
	return llm.Validate(messages)
})

var calls = each(func(_ *Subject, t trial) error { return t.invalid })

// relief wants one proposal at least that makes a full window emptier.
func relief(ctx context.Context, s *Subject) error {
	trials, err := s.sweep(ctx)
	if err != nil {
		return err
	}
	var last trial
	for _, t := range trials {
		if t.trigger != session.TriggerPressure || t.before < budget.ResetAt {
			continue
		}
		if last = t; t.applies() && t.after < t.before {
			return nil
		}
	}
	return fmt.Errorf("%s: %d tokens stay; its error: %v", last.where, last.before, last.err)
}

// opening judges what is shown from the start.
func opening(ctx context.Context, s *Subject) error {
	return s.with(ctx, func(i Instance) error {
		log := s.log()
		strategy, err := i.Open(ctx, log.Opened())
		if err != nil {
			return err
		}
		o, err := strategy.Open(ctx, log.Opened())
		if err != nil {
			return err
		}
		ids := map[string]bool{}
		for _, sec := range o.Sections {
			if sec.ID == "" || ids[sec.ID] || !utf8.ValidString(sec.Text) || strings.ContainsRune(sec.Text, 0) {
				return fmt.Errorf("section %q has no id of its own, or is not text", sec.ID)
			}
			ids[sec.ID] = true
		}
		for _, m := range o.Marks {
			if m.ID == "" || m.Remaining <= 0 || m.Remaining >= budget.Window || strings.TrimSpace(m.Text) == "" {
				return fmt.Errorf("mark %q at %d tokens remaining of %d", m.ID, m.Remaining, budget.Window)
			}
		}
		return nil
	})
}
