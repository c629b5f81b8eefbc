package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

var taking = []promise{
	{"MailStays", "reading mail does not take it: who stops between Mail and Append leaves it to the next owner", func(k *kit) {
		log := k.create("a")
		k.post("a", "one")
		k.post("a", "two")
		for range 3 {
			if got := texts(k.mail(log)); got != "one two" {
				k.Errorf("mail is %q", got)
			}
			k.append(log, note("x", "")) // takes nothing
			k.close(log)
			log = k.open("a")
		}
	}},

	{"Taken", "mail is gone with the batch that takes it, for good, and what the batch does not name stays", func(k *kit) {
		log := k.create("a")
		for _, text := range []string{"one", "two", "three", "four"} {
			k.post("a", text)
		}
		mail := ids(k.mail(log))
		head, err := log.Append(k.ctx, session.Batch{Head: 1, Events: notes(2), Snapshot: []byte("s"), Taken: []int64{mail[2], mail[0]}})
		if head != 3 || err != nil {
			k.Fatalf("append returns %d, %v; want 3", head, err)
		}
		if data, at, _ := log.Snapshot(k.ctx); string(data) != "s" || at != 3 {
			k.Errorf("snapshot is %q at %d", data, at)
		}
		for range 2 {
			if got := texts(k.mail(log)); got != "two four" {
				k.Errorf("mail is %q", got)
			}
			k.close(log)
			log = k.open("a")
		}
		k.take(log, mail[1], mail[3]) // a batch without events takes mail too
		if got := texts(k.mail(log)); got != "" || k.head(log) != 3 {
			k.Errorf("mail is %q, head %d", got, k.head(log))
		}
	}},

	{"TakenTwice", "a batch that takes what is not there is refused whole with ErrNoMail: no mail is executed twice", func(k *kit) {
		log := k.create("a")
		for _, text := range []string{"one", "two", "three"} {
			k.post("a", text)
		}
		mail := ids(k.mail(log))
		k.take(log, mail[0])
		for _, taken := range [][]int64{{mail[0]}, {mail[1], mail[0]}, {mail[1], mail[1]}, {mail[2] + 1}, {0}, {-1}, {mail[1], mail[2], 1 << 60}} {
			_, err := log.Append(k.ctx, session.Batch{Head: 1, Events: notes(2), Snapshot: []byte("s"), Taken: taken})
			k.want(err, session.ErrNoMail)
			snapshot, _, _ := log.Snapshot(k.ctx)
			if got := texts(k.mail(log)); k.head(log) != 1 || snapshot != nil || got != "two three" {
				k.Fatalf("after a batch that takes %v the head is %d, the snapshot %q, the mail %q", taken, k.head(log), snapshot, got)
			}
		}
		k.close(log)
		log = k.open("a")
		_, err := log.Append(k.ctx, session.Batch{Head: 1, Events: notes(1), Taken: mail[:1]})
		k.want(err, session.ErrNoMail)
		k.take(log, mail[1:]...)
	}},

	{"TakenForNothing", "a batch that is refused for another reason takes no mail", func(k *kit) {
		log := k.create("a")
		k.post("a", "one")
		mail := ids(k.mail(log))
		_, err := log.Append(k.ctx, session.Batch{Head: 7, Events: notes(1), Taken: mail})
		k.want(err, session.ErrConflict)
		bad := note("x", "")
		bad.Time = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
		if _, err := log.Append(k.ctx, session.Batch{Head: 1, Events: []session.Event{bad}, Taken: mail}); err == nil {
			k.Error("an event of the year 9000 is taken")
		}
		ctx, cancel := context.WithCancel(k.ctx)
		cancel()
		_, err = log.Append(ctx, session.Batch{Head: 1, Events: notes(1), Taken: mail})
		k.want(err, context.Canceled)
		if got := texts(k.mail(log)); got != "one" || k.head(log) != 1 {
			k.Errorf("mail is %q, head %d", got, k.head(log))
		}
	}},

	{"PostBesideWriter", "many may post while the owner reads, appends and takes: every mail is executed exactly once, each sender's in order", func(k *kit) {
		log := k.create("a")
		const senders, each = 8, 6
		var wg sync.WaitGroup
		for i := range senders {
			wg.Go(func() {
				for j := range each {
					k.post("a", fmt.Sprintf("%d.%d", i, j))
				}
			})
		}
		done := make(chan struct{})
		go func() {
			wg.Wait()
			close(done)
		}()
		var got []string
		for running := true; running; {
			select {
			case <-done:
				running = false // one last look
			default:
			}
			mail := k.mail(log)
			var b session.Batch
			for _, m := range mail {
				got = append(got, m.Text)
				b.Events = append(b.Events, note("x", m.Text))
			}
			b.Head, b.Taken = k.head(log), ids(mail)
			b.Events = append(b.Events, note("x", "other work"))
			if _, err := log.Append(k.ctx, b); err != nil {
				k.Fatalf("append: %v", err)
			}
		}
		for i := range senders {
			var of []string
			for _, text := range got {
				if strings.HasPrefix(text, fmt.Sprint(i, ".")) {
					of = append(of, text)
				}
			}
			if len(of) != each || !slices.IsSorted(of) {
				k.Errorf("of sender %d came %v", i, of)
			}
		}
		if got := k.mail(log); len(got) != 0 {
			k.Errorf("left is %v", got)
		}
	}},

	{"TakenByOne", "of concurrent batches that take the same mail exactly one is stored", func(k *kit) {
		log := k.create("a")
		k.post("a", "one")
		mail := ids(k.mail(log))
		const writers = 8
		errs := make(chan error, writers)
		for range writers {
			go func() {
				_, err := log.Append(k.ctx, session.Batch{Head: 1, Taken: mail}) // moves no head
				errs <- err
			}()
		}
		stored := 0
		for range writers {
			if err := <-errs; err == nil {
				stored++
			} else if !errors.Is(err, session.ErrNoMail) {
				k.Errorf("append: %v", err)
			}
		}
		if stored != 1 {
			k.Errorf("%d batches are stored", stored)
		}
	}},
}
