package sessiontest

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// importing are the promises of a store that is a session.Importer.
var importing = []promise{
	{"Import", "an imported session has the events to the byte, seq and time included, and goes on as if it had been made so", func(k *kit) {
		events := numbered("other", append(odd(), started(1), ended(session.ReasonLimit), started(2))...)
		k.imports("a", events, nil)
		log := k.open("a")
		for i, got := range k.read(log, session.Query{}) {
			if !same(got, events[i]) {
				k.Errorf("event %d is\n%.300s, want\n%.300s", i, print(got), print(events[i]))
			}
		}
		if k.head(log) != int64(len(events)) || k.append(log, note("x", "")) != int64(len(events))+1 {
			k.Errorf("head is %d", k.head(log))
		}
		if data, _, err := log.Snapshot(k.ctx); data != nil || err != nil {
			k.Errorf("snapshot is %q (%v)", data, err)
		}
	}},

	{"ImportSummary", "an imported session is listed as its events say, under the name that the store gives it", func(k *kit) {
		events := numbered("other", started(1), ended(session.ReasonCompleted), started(2), ended(session.ReasonLimit),
			session.New(session.KindSessionArchived, session.Archived{Archived: true}), note("x", ""))
		k.imports("a", events, nil)
		s := k.list()[0]
		if s.ID != "a" || s.Title != "title of other" || s.Status != "limit" || s.Turns != 2 || s.Events != 7 || !s.Archived ||
			s.Origin == nil || s.Origin.Session != "first" || s.Bytes == 0 || !s.Updated.Equal(events[6].Time) {
			k.Errorf("summary is %+v", s)
		}
	}},

	{"ImportSnapshot", "the snapshot is asked once, after the last event, and kept with the head", func(k *kit) {
		events, asked, seen := numbered("a", notes(50)...), 0, 0
		counted := func(yield func(session.Event, error) bool) {
			for e, err := range all(events) {
				seen++
				if !yield(e, err) {
					return
				}
			}
		}
		err := k.importer().Import(k.ctx, "a", counted, func() []byte {
			if asked++; seen != 51 {
				k.Errorf("asked after %d events", seen)
			}
			return []byte("s")
		})
		if err != nil || asked != 1 {
			k.Fatal(asked, err)
		}
		if data, head, err := k.view("a").Snapshot(k.ctx); string(data) != "s" || head != 51 || err != nil {
			k.Errorf("snapshot is %q at %d (%v)", data, head, err)
		}
	}},

	{"ImportRefuses", "what no log can be, and a bad id, is refused, and nothing is left of it", func(k *kit) {
		good := numbered("a", notes(5)...)
		change := func(i int, f func(e *session.Event)) []session.Event {
			events := slices.Clone(good)
			f(&events[i])
			return events
		}
		for name, events := range map[string][]session.Event{
			"none":       nil,
			"gap":        slices.Delete(slices.Clone(good), 3, 4),
			"repetition": slices.Insert(slices.Clone(good), 3, good[2]),
			"no first":   good[1:],
			"from zero":  change(0, func(e *session.Event) { e.Seq = 0 }),
			"first kind": change(0, func(e *session.Event) { e.Kind = session.KindTurnStarted }),
			"newer":      change(2, func(e *session.Event) { e.V = session.SchemaVersion + 1 }),
			"no time":    change(4, func(e *session.Event) { e.Time = time.Time{} }),
			"backwards":  {good[0], good[2], good[1]},
		} {
			if err := k.importer().Import(k.ctx, "a", all(events), func() []byte { return []byte("s") }); err == nil {
				k.Errorf("%s: taken", name)
			} else if name == "newer" {
				k.want(err, session.ErrNewer)
			}
		}
		for _, id := range badIDs {
			if err := k.importer().Import(k.ctx, id, all(good), nil); err == nil {
				k.Errorf("id %q is taken", id)
			}
		}
		if list := k.list(); len(list) != 0 {
			k.Errorf("list is %+v", list)
		}
		k.close(k.create("a"))
	}},

	{"ImportUsedID", "an id in use is refused with fs.ErrExist before an event is asked for, and the session is left alone", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(3)...)
		for range 2 {
			err := k.importer().Import(k.ctx, "a", func(func(session.Event, error) bool) { k.Error("asked") }, nil)
			k.want(err, fs.ErrExist)
			k.close(log)
		}
		if k.head(k.open("a")) != 4 {
			k.Error("the session is another")
		}
	}},

	{"ImportBrokenOff", "an error of the events, or of the context, ends the import with it, and there is no session", func(k *kit) {
		stop := errors.New("the source ends here")
		ctx, cancel := context.WithCancel(k.ctx)
		for _, c := range []struct {
			want error
			at   func() error
		}{{stop, func() error { return stop }}, {context.Canceled, func() error { cancel(); return nil }}} {
			events := func(yield func(session.Event, error) bool) {
				for e := range all(numbered("a", notes(3000)...)) {
					var err error
					if e.Seq == 2000 {
						err = c.at()
					}
					if !yield(e, err) {
						return
					}
				}
			}
			k.want(k.importer().Import(ctx, "a", events, func() []byte { k.Error("asked"); return nil }), c.want)
			_, err := k.store.View(k.ctx, "a")
			k.want(err, session.ErrNotFound)
		}
		k.imports("a", numbered("a"), nil)
	}},

	{"ImportByOne", "of many that import under one id at once one does it, whole", func(k *kit) {
		const rivals = 6
		var wg sync.WaitGroup
		errs := make([]error, rivals)
		for i := range rivals {
			wg.Go(func() { errs[i] = k.importer().Import(k.ctx, "a", all(numbered("a", notes(10+i)...)), nil) })
		}
		wg.Wait()
		won := 0
		for i, err := range errs {
			if err == nil {
				if won++; k.list()[0].Events != int64(11+i) {
					k.Errorf("%d events, want %d", k.list()[0].Events, 11+i)
				}
			} else if !errors.Is(err, fs.ErrExist) && !errors.Is(err, session.ErrLocked) {
				k.Errorf("import: %v", err)
			}
		}
		if won != 1 {
			k.Errorf("%d did it", won)
		}
	}},

	{"ImportFromItself", "a session can be imported from a log of the same store that is at work; some thousand events read in order and by kind", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(3000)...)
		copied := func(yield func(session.Event, error) bool) {
			for e, err := range log.Read(k.ctx, session.Query{}) {
				if e.Seq%1000 == 0 {
					k.append(log, note("x", ""))
				}
				if !yield(e, err) {
					return
				}
			}
		}
		if err := k.importer().Import(k.ctx, "b", copied, nil); err != nil {
			k.Fatal(err)
		}
		b := k.view("b")
		for _, q := range []session.Query{{}, {Reverse: true}, {Kinds: []session.Kind{session.KindRecord}},
			{Kinds: []session.Kind{session.KindRecord, session.KindSessionCreated, "x"}, Reverse: true, Limit: 40}} {
			q.Before = 3002
			if got, want := k.read(b, q), k.read(log, q); !slices.EqualFunc(got, want, same) {
				k.Errorf("%+v: %d events, want %d", q, len(got), len(want))
			}
		}
	}},
}

// salvaging are the promises of a store that is a session.Salvager, of logs that
// are not damaged.
var salvaging = []promise{
	{"Salvage", "of a whole log Salvage yields what Read does, while it is owned and after", func(k *kit) {
		log := k.create("a")
		k.append(log, odd()...)
		k.append(log, notes(500)...)
		for _, state := range []string{"owned", "free"} {
			want := k.read(k.view("a"), session.Query{})
			got, err := k.salvage("a")
			if err != nil || !slices.EqualFunc(got, want, same) {
				k.Errorf("%s: %d events (%v), want %d", state, len(got), err, len(want))
			}
			k.close(log)
		}
		if head := k.head(k.open("a")); head != int64(501+len(odd())) {
			k.Errorf("head is %d", head)
		}
	}},

	{"SalvageBeside", "Salvage of a session at work ends at the head that it began with", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(99)...)
		n := int64(0)
		for e, err := range k.salvager().Salvage(k.ctx, "a") {
			if n++; err != nil || e.Seq != n || n > 100 {
				k.Fatalf("event %d is %d (%v)", n, e.Seq, err)
			}
			k.append(log, note("x", ""))
		}
		if n != 100 {
			k.Errorf("%d events, want 100", n)
		}
	}},

	{"SalvageUnknown", "Salvage of an id that is unknown, or that could be none, answers ErrNotFound", func(k *kit) {
		for _, id := range append([]string{"a"}, badIDs...) {
			_, err := k.salvage(id)
			k.want(err, session.ErrNotFound)
		}
	}},
}

func (k *kit) importer() session.Importer { return k.store.(session.Importer) }
func (k *kit) salvager() session.Salvager { return k.store.(session.Salvager) }

func (k *kit) imports(id string, events []session.Event, snapshot func() []byte) {
	k.Helper()
	if err := k.importer().Import(k.ctx, id, all(events), snapshot); err != nil {
		k.Fatalf("import %s: %v", id, err)
	}
}

func (k *kit) salvage(id string) (events []session.Event, err error) {
	for e, err := range k.salvager().Salvage(k.ctx, id) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// numbered puts a first event before others and gives all their seq and time.
func numbered(id string, events ...session.Event) []session.Event {
	at := time.Unix(1_900_000_000, 123).UTC()
	first := session.New(session.KindSessionCreated, session.Created{ID: id, Title: "title of " + id, Time: at,
		Origin: &session.Origin{Session: "first", Seq: 1, How: session.HowFork}})
	events = append([]session.Event{first}, events...)
	for i := range events {
		events[i].Seq, events[i].Time = int64(i+1), at.Add(time.Duration(i)*time.Minute)
	}
	return events
}

func all(events []session.Event) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// able are the promises that a store makes besides those that every one makes.
func able(store session.Store) []promise {
	var more []promise
	if _, ok := store.(session.Importer); ok {
		more = append(more, importing...)
	}
	if _, ok := store.(session.Salvager); ok {
		more = append(more, salvaging...)
	}
	return more
}
