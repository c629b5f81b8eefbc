package compactiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
)

// unasked are the triggers that may come again without anything new.
var unasked = []session.Trigger{session.TriggerPressure, session.TriggerOverflow, session.TriggerManual}

// nothing asks where node 0 is all there is, and where one short message is.
func nothing(ctx context.Context, s *Subject) error {
	return s.with(ctx, func(i Instance) error {
		log := s.log()
		strategy, err := seat(ctx, i, log)
		if err != nil {
			return err
		}
		defer i.Close(ctx, log.id)
		for _, step := range []func(*Session){nil, prompt("Hello.")} {
			if step != nil {
				step(log)
			}
			for _, trigger := range unasked {
				q := ask(ctx, strategy, log, pressed(log, trigger))
				where := fmt.Sprintf("%d messages behind node 0, trigger %s", len(log.nodes())-1, trigger)
				if err := q.broken(); err != nil {
					return fmt.Errorf("%s: %w", where, err)
				}
				if !q.applies() {
					continue
				}
				if before, after := tokens(log.nodes()), compaction.After(log.nodes(), q.p, nil); after >= before {
					return fmt.Errorf("%s: %d tokens behind node 0 become %d", where, before, after)
				}
			}
		}
		return nil
	})
}

// settles asks ten times in a row.
func settles(ctx context.Context, s *Subject) error {
	const rounds = 10
	return s.with(ctx, func(i Instance) error {
		for _, trigger := range unasked {
			log := s.log()
			strategy, err := seat(ctx, i, log)
			if err != nil {
				return err
			}
			long("Read every file in order.").replay(log)
			for n := 1; ; n++ {
				q := ask(ctx, strategy, log, pressed(log, trigger))
				if !q.applies() {
					break // what is not valid is the matter of other checks
				}
				if n == rounds {
					return fmt.Errorf("trigger %s: round %d still proposes %d edits of kind %s; %d messages are left", trigger, n, len(q.p.Edits), q.p.Kind, len(log.nodes()))
				}
				if err := log.Try(q.p, trigger); err != nil {
					return fmt.Errorf("trigger %s, round %d: %w", trigger, n, err)
				}
			}
			i.Close(ctx, log.id)
		}
		return nil
	})
}

// repeats asks the same twice.
func repeats(ctx context.Context, s *Subject) error {
	if !s.Deterministic {
		return nil
	}
	return s.with(ctx, func(i Instance) error {
		log := s.log()
		strategy, err := seat(ctx, i, log)
		if err != nil {
			return err
		}
		long("Read every file in order.").replay(log)
		for _, trigger := range triggers {
			in := pressed(log, trigger)
			one, two := ask(ctx, strategy, log, in), ask(ctx, strategy, log, in)
			if err := same(one, two); err != nil {
				return fmt.Errorf("trigger %s: %w", trigger, err)
			}
		}
		return nil
	})
}

// same compares two answers but for the revision.
func same(one, two question) error {
	one.p.Revision, two.p.Revision = 0, 0
	if (one.err == nil) == (two.err == nil) && reflect.DeepEqual(one.p, two.p) {
		return nil
	}
	first, _ := json.Marshal(one.p)
	second, _ := json.Marshal(two.p)
	return fmt.Errorf("%s (error %v) at first, then %s (error %v)", first, one.err, second, two.err)
}

// restart asks one instance, then another that was started after the first one
// stopped, then one that was started after a kill.
func restart(ctx context.Context, s *Subject) error {
	log := s.log()
	var first question
	var in compaction.Input
	for n, what := range []string{"first start", "restart", "restart after a kill"} {
		i, err := s.Start(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		end := i.Kill
		if n != 1 {
			end = func() error { return i.Stop(context.WithoutCancel(ctx)) }
		}
		strategy, err := seat(ctx, i, log)
		var q question
		if err == nil {
			if n == 0 {
				long("Read every file in order.").replay(log)
				in = pressed(log, session.TriggerPressure)
			}
			again := pressed(log, session.TriggerPressure)
			again.Time = in.Time
			q = ask(ctx, strategy, log, again)
			err = q.broken()
		}
		if endErr := end(); err == nil {
			err = endErr
		}
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", what, err)
		case n == 0:
			first = q
		case first.err == nil && q.err != nil:
			return fmt.Errorf("%s: %w", what, q.err)
		case s.Deterministic:
			if err := same(first, q); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
	}
	return nil
}
