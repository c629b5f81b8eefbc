package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/cmd/tureen/internal/search"
	"github.com/tureen-host/tureen/host/session"
)

// behind yields what still reads of a damaged session, oldest first, and in place of
// what does not, *session.Damage. found is yielded where the store cannot read on.
func (s *store) behind(ctx context.Context, id string, found error) iter.Seq2[session.Event, error] {
	if salvager, ok := s.Store.(session.Salvager); ok {
		return salvager.Salvage(ctx, id)
	}
	return func(yield func(session.Event, error) bool) { yield(session.Event{}, found) }
}

// events reads a session.
func (s *store) events(ctx context.Context, id string, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		r, err := s.Store.View(ctx, id)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		defer r.Close()
		r.Read(ctx, q)(yield)
	}
}

// rest reads what is left of a damaged session, and only that.
type rest struct {
	session.Reader
	s     *store
	id    string
	found error
}

func (r rest) Read(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range r.s.behind(ctx, r.id, r.found) {
			var damage *session.Damage
			if errors.As(err, &damage) || err == nil && len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// passedOver is damage that was read on behind.
type passedOver struct {
	damage []session.Damage
	found  error // where each event reads: what is wrong
}

func (p *passedOver) Error() string {
	if len(p.damage) == 0 {
		return p.found.Error()
	}
	text := p.damage[0].Error()
	if n := len(p.damage) - 1; n > 0 {
		text += fmt.Sprintf(", and %s more", render.Count(n, "place"))
	}
	return text
}

// searchBehind searches what still reads of a damaged session, what stands
// before an event, 0 for all of it. It returns the hits, newest first, as many as may be
// shown and one more; the error is a *passedOver where it was read to its end.
func (v *searchVerb) searchBehind(ctx context.Context, s *store, id string, parts []search.Part, found error, before int64, room int) ([]search.Hit, error) {
	var hits []search.Hit
	over := &passedOver{found: found}
	if before == 0 {
		before = math.MaxInt64
	}
	for e, err := range s.behind(ctx, id, found) {
		var damage *session.Damage
		switch {
		case errors.As(err, &damage):
			over.damage = append(over.damage, *damage)
		case err != nil:
			return hits, err
		case e.Seq < before:
			more := v.matcher.In(e, parts)
			slices.Reverse(more)
			if hits = append(hits, more...); v.limit > 0 && len(hits) > room+1 {
				hits = slices.Delete(hits, 0, len(hits)-room-1)
			}
		}
	}
	slices.Reverse(hits)
	return hits, over
}
