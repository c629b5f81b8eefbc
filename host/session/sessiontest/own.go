package sessiontest

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tureen-host/tureen/host/session"
)

var owning = []promise{
	{"SecondOpener", "a session has one owner: the next opener gets a LockedError that names the session and the owner", func(k *kit) {
		k.create("a")
		_, err := k.store.Open(k.ctx, "a")
		k.want(err, session.ErrLocked)
		var locked *session.LockedError
		if !errors.As(err, &locked) || locked.ID != "a" || !strings.HasPrefix(locked.Owner, "pid ") {
			k.Errorf("error is %#v", err)
		}
		k.close(k.view("a"))
	}},

	{"CloseReleases", "Close gives the session up, the next owner finds every event, and a second Close does nothing", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(3)...)
		k.close(log)
		next := k.open("a")
		k.close(log) // must not take the session from its new owner
		if k.append(next, note("x", "")) != 5 {
			k.Errorf("head is %d, want 5", k.head(next))
		}
		_, err := k.store.Open(k.ctx, "a")
		k.want(err, session.ErrLocked)
	}},

	{"AppendClosed", "Append after Close fails with fs.ErrClosed and writes nothing", func(k *kit) {
		log := k.create("a")
		k.close(log)
		_, err := log.Append(k.ctx, session.Batch{Head: 1, Events: notes(1)})
		k.want(err, fs.ErrClosed)
		if head := k.head(k.view("a")); head != 1 {
			k.Errorf("head is %d, want 1", head)
		}
	}},

	{"OneOwner", "of many that open and close a session at once, one has it at a time", func(k *kit) {
		k.close(k.create("a"))
		var owners, taken atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 10 {
					log, err := k.store.Open(k.ctx, "a")
					if err != nil {
						if !errors.Is(err, session.ErrLocked) {
							k.Errorf("open: %v", err)
						}
						continue
					}
					taken.Add(1)
					if owners.Add(1) > 1 {
						k.Error("two owners at once")
					}
					head, err := log.Head(k.ctx)
					if err == nil {
						_, err = log.Append(k.ctx, session.Batch{Head: head, Events: notes(1)})
					}
					owners.Add(-1)
					if err := errors.Join(err, log.Close()); err != nil {
						k.Errorf("append and close: %v", err)
					}
				}
			})
		}
		wg.Wait()
		if head := k.head(k.view("a")); head != 1+int64(taken.Load()) {
			k.Errorf("head is %d after %d owners", head, taken.Load())
		}
	}},

	{"CloseWhileUsed", "Close may come while others read and append: they get an error, and what was acknowledged is there", func(k *kit) {
		log := k.create("a")
		var acked atomic.Int64
		var wg sync.WaitGroup
		wg.Go(func() {
			for head := int64(1); ; {
				next, err := log.Append(k.ctx, session.Batch{Head: head, Events: notes(1)})
				if err != nil {
					k.want(err, fs.ErrClosed)
					return
				}
				head = next
				acked.Store(head)
			}
		})
		wg.Go(func() {
			for {
				if _, err := collect(k.ctx, log, session.Query{}); err != nil {
					k.want(err, fs.ErrClosed)
					return
				}
			}
		})
		for acked.Load() < 10 {
			k.head(log)
		}
		k.close(log)
		wg.Wait()
		if head := k.head(k.view("a")); head != acked.Load() {
			k.Errorf("head is %d, acknowledged were %d", head, acked.Load())
		}
	}},

	{"UsedID", "Create refuses an id that is in use, with fs.ErrExist, and leaves the session alone", func(k *kit) {
		log := k.create("a")
		k.append(log, notes(1)...)
		for range 2 {
			_, err := k.store.Create(k.ctx, session.Created{ID: "a", Title: "other"})
			k.want(err, fs.ErrExist)
			k.close(log)
		}
		if head := k.head(k.open("a")); head != 2 {
			k.Errorf("head is %d, want 2", head)
		}
	}},

	{"BadID", "an id is 1 to 64 of a-z, 0-9 and -, and not the word last; no other can be created or found", func(k *kit) {
		for _, id := range badIDs {
			if _, err := k.store.Create(k.ctx, session.Created{ID: id}); err == nil {
				k.Errorf("Create takes %q", id)
			}
			_, err := k.store.Open(k.ctx, id)
			k.want(err, session.ErrNotFound)
			_, err = k.store.View(k.ctx, id)
			k.want(err, session.ErrNotFound)
		}
		if list := k.list(); len(list) != 0 {
			k.Errorf("list is %v", list)
		}
		for _, id := range []string{"0", "-", strings.Repeat("z", 64)} {
			k.create(id)
		}
	}},

	{"NotFound", "Open and View of an unknown id answer ErrNotFound and make nothing", func(k *kit) {
		_, err := k.store.Open(k.ctx, "a")
		k.want(err, session.ErrNotFound)
		_, err = k.store.View(k.ctx, "a")
		k.want(err, session.ErrNotFound)
		k.create("a")
	}},

	{"NewerEvents", "a session that a newer version wrote to is refused with ErrNewer", func(k *kit) {
		log := k.create("a")
		future := note("x", "")
		future.V = session.SchemaVersion + 1
		k.append(log, future)
		k.close(log)
		_, err := k.store.Open(k.ctx, "a")
		k.want(err, session.ErrNewer)
		_, err = k.store.View(k.ctx, "a")
		k.want(err, session.ErrNewer)
	}},
}

// badIDs are ids that no session can have.
var badIDs = []string{"", ".", "..", "../a", "a/b", "a\\b", "A", "a.db", "a b", "ä", "a\x00", "last", strings.Repeat("a", 65)}
