package sessiontest

import (
	"errors"
	"sync"

	"github.com/tureen-host/tureen/host/session"
)

var removing = []promise{
	{"Remove", "a removed session is nowhere any more, its mail included, and the others are untouched", func(k *kit) {
		for _, id := range []string{"a", "ab", "b"} {
			log := k.create(id)
			k.append(log, started(1), note("x", ""))
			k.close(log)
			k.post(id, "one")
		}
		k.list()
		k.remove("a")
		if list := k.list(); len(list) != 2 || list[0].ID != "b" || list[1].ID != "ab" || list[0].Events != 3 {
			k.Errorf("list is %+v", list)
		}
		_, err := k.store.Open(k.ctx, "a")
		k.want(err, session.ErrNotFound)
		_, err = k.store.View(k.ctx, "a")
		k.want(err, session.ErrNotFound)
		k.want(k.mailbox().Post(k.ctx, "a", session.Mail{Command: session.CommandCancel}), session.ErrNotFound)
		if id, err := k.store.Resolve(k.ctx, "a"); id != "ab" {
			k.Errorf("a resolves to %q (%v), want ab", id, err)
		}
		if log := k.open("ab"); k.head(log) != 3 || texts(k.mail(log)) != "one" {
			k.Errorf("head of another is %d, its mail %q", k.head(log), texts(k.mail(log)))
		}
	}},

	{"RemoveAndCreate", "the id of a removed session is free again: the next one of that id begins empty", func(k *kit) {
		for range 3 {
			log := k.create("a")
			if mail := k.mail(log); k.head(log) != 1 || len(mail) != 0 {
				k.Errorf("head of a new session is %d, its mail %v", k.head(log), mail)
			}
			if _, err := log.Append(k.ctx, session.Batch{Head: 1, Events: notes(5), Snapshot: []byte("s")}); err != nil {
				k.Fatal(err)
			}
			k.post("a", "one")
			k.close(log)
			k.remove("a")
		}
		k.create("a")
		if list := k.list(); len(list) != 1 || list[0].Events != 1 || list[0].Status != "idle" {
			k.Errorf("list is %+v", list)
		}
	}},

	{"RemoveOwned", "a session that somebody owns is not removed: Remove answers a LockedError and leaves it as it is", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(3)...)
		err := k.remover().Remove(k.ctx, "a")
		k.want(err, session.ErrLocked)
		var locked *session.LockedError
		if !errors.As(err, &locked) || locked.ID != "a" {
			k.Errorf("error is %#v", err)
		}
		k.append(log, note("x", ""))
		if n := len(k.read(k.view("a"), session.Query{})); n != 5 || len(k.list()) != 1 {
			k.Errorf("%d events, want 5", n)
		}
		k.close(log)
		k.remove("a")
	}},

	{"RemoveByOne", "of many that remove a session at once one does it; the others find it owned or gone", func(k *kit) {
		for range 4 {
			k.close(k.create("a"))
			errs := make(chan error)
			const removers = 6
			for range removers {
				go func() { errs <- k.remover().Remove(k.ctx, "a") }()
			}
			removed := 0
			for range removers {
				if err := <-errs; err == nil {
					removed++
				} else if !errors.Is(err, session.ErrNotFound) && !errors.Is(err, session.ErrLocked) {
					k.Errorf("remove: %v", err)
				}
			}
			if list := k.list(); removed != 1 || len(list) != 0 {
				k.Fatalf("%d removed it, list is %v", removed, list)
			}
		}
	}},

	{"RemoveUnknown", "Remove of an id that is unknown, or that could be none, answers ErrNotFound", func(k *kit) {
		k.close(k.create("b"))
		for _, id := range append([]string{"a", "b.db"}, badIDs...) {
			k.want(k.remover().Remove(k.ctx, id), session.ErrNotFound)
		}
		k.remove("b")
		k.want(k.remover().Remove(k.ctx, "b"), session.ErrNotFound)
		if list := k.list(); len(list) != 0 {
			k.Errorf("list is %v", list)
		}
	}},

	{"RemoveNewer", "a session that a newer version wrote to can be removed", func(k *kit) {
		log := k.create("a")
		future := note("x", "")
		future.V = session.SchemaVersion + 1
		k.append(log, future)
		k.close(log)
		k.remove("a")
		if list := k.list(); len(list) != 0 {
			k.Errorf("list is %v", list)
		}
	}},

	{"RemoveWhileRead", "Remove does not wait for a view, which reads on or fails but sees no event that was never there", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(200)...)
		k.close(log)
		view := k.view("a")
		k.read(view, session.Query{Limit: 3})
		k.remove("a")
		if events, err := collect(k.ctx, view, session.Query{}); err == nil && len(events) != 201 {
			k.Errorf("%d events without an error", len(events))
		}
		k.close(view)
		if list := k.list(); len(list) != 0 {
			k.Errorf("list is %v", list)
		}
	}},

	{"RemoveOrOpen", "of an opener and a remover one wins: the session is opened whole, or it is not there; no list calls it damaged", func(k *kit) {
		for range 12 {
			log := k.create("a")
			k.append(log, notes(3)...)
			k.close(log)
			k.post("a", "one") // so that a list has to look at it again
			var opened session.Log
			var openErr, removeErr error
			var wg sync.WaitGroup
			wg.Go(func() { opened, openErr = k.store.Open(k.ctx, "a") })
			wg.Go(func() { removeErr = k.remover().Remove(k.ctx, "a") })
			wg.Go(func() {
				list, err := k.store.List(k.ctx)
				if err != nil || len(list) > 1 || len(list) == 1 && list[0].Status != "idle" {
					k.Errorf("list is %+v (%v)", list, err)
				}
			})
			wg.Wait()
			if openErr == nil {
				k.want(removeErr, session.ErrLocked)
				if k.append(opened, note("x", "")) != 5 {
					k.Errorf("head is %d, want 5", k.head(opened))
				}
				k.close(opened)
				k.remove("a")
			} else if !errors.Is(openErr, session.ErrNotFound) && !errors.Is(openErr, session.ErrLocked) || removeErr != nil {
				k.Errorf("open: %v; remove: %v", openErr, removeErr)
			}
			if list := k.list(); len(list) != 0 {
				k.Fatalf("list is %+v", list)
			}
		}
	}},
}

// remover is the store as one that removes.
func (k *kit) remover() session.Remover {
	k.Helper()
	r, ok := k.store.(session.Remover)
	if !ok {
		k.Fatalf("%T is no session.Remover", k.store)
	}
	return r
}

func (k *kit) remove(id string) {
	k.Helper()
	if err := k.remover().Remove(k.ctx, id); err != nil {
		k.Fatalf("remove %s: %v", id, err)
	}
}
