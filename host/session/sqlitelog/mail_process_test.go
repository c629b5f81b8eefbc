package sqlitelog_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

func TestMailIsExecutedOnceThoughItsOwnerIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	create(t, s, "a").Close()
	const mails = 40
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		for i := range mails {
			post(t, s, "a", fmt.Sprint(i))
		}
	}()
	for round := range 4 {
		c := start(t, "serve", dir, 0)
		for range 3 + round {
			c.line(t)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.Wait()
	}
	<-posted
	last := start(t, "serve", dir, 0)
	for last.line(t) != fmt.Sprint(mails-1) {
	}
	last.Process.Kill()
	last.Wait()

	log, err := s.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	n := 0
	for e, err := range log.Read(t.Context(), session.Query{After: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		if want := strconv.Quote(fmt.Sprint(n)); string(e.Data) != want {
			t.Fatalf("event %d executes mail %s, want %s", e.Seq, e.Data, want)
		}
		n++
	}
	if left := mail(t, log); n != mails || len(left) != 0 {
		t.Errorf("%d mails are executed and %v are left, want %d and none", n, left, mails)
	}
}

func TestProcessesPostToABusyOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log := create(t, s, "a")
	const senders = 2
	acked := make([]string, senders)
	done := make(chan int, senders)
	for i := range senders {
		c := start(t, "post", dir, 0)
		go func() {
			for range 15 {
				c.lines.Scan()
			}
			c.Process.Kill() // as likely as not in the middle of a post
			acked[i] = c.lines.Text()
			for c.lines.Scan() {
				acked[i] = c.lines.Text()
			}
			done <- c.Process.Pid
		}()
	}
	var pids []int
	for len(pids) < senders {
		select {
		case pid := <-done:
			pids = append(pids, pid)
		default:
			appendTo(t, log, 1)
		}
	}
	waiting, err := log.(session.MailLog).Mail(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	of := map[string][]string{}
	for _, m := range waiting {
		of[m.From] = append(of[m.From], m.Text)
	}
	var last []string
	for from, texts := range of {
		for i, text := range texts {
			if text != fmt.Sprint(i) {
				t.Fatalf("from %s came %v", from, texts)
			}
		}
		last = append(last, texts[len(texts)-1])
		if !slices.ContainsFunc(pids, func(pid int) bool { return strings.HasPrefix(from, fmt.Sprintf("pid %d on ", pid)) }) {
			t.Errorf("mail is from %s, the senders are %v", from, pids)
		}
	}
	if len(of) != senders {
		t.Fatalf("mail came from %d senders", len(of))
	}
	// What was acknowledged is there, and at most the one after it.
	slices.Sort(last)
	slices.Sort(acked)
	for i := range last {
		got, _ := strconv.Atoi(last[i])
		if want, err := strconv.Atoi(acked[i]); err != nil || got < want || got > want+1 {
			t.Errorf("last mails are %v, acknowledged %v", last, acked)
		}
	}
}

// childPost posts to session a for ever. It prints each number that was
// acknowledged.
func childPost(dir string) error {
	store, err := sqlitelog.Open(dir)
	for i := 0; err == nil; i++ {
		err = store.Post(context.Background(), "a", session.Mail{Command: session.CommandSteer, Text: fmt.Sprint(i)})
		if err == nil {
			fmt.Println(i)
		}
	}
	return err
}

// childServe owns session a and executes its mail, an event each, for ever. It
// prints the text of each.
func childServe(dir string) error {
	ctx := context.Background()
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	log, err := store.Open(ctx, "a")
	if err != nil {
		return err
	}
	head, err := log.Head(ctx)
	for err == nil {
		var mail []session.Mail
		mail, err = log.(session.MailLog).Mail(ctx)
		for _, m := range mail {
			b := session.Batch{Head: head, Events: []session.Event{session.New("x", m.Text)}, Taken: []int64{m.ID}}
			if head, err = log.Append(ctx, b); err != nil {
				break
			}
			fmt.Println(m.Text)
		}
		if len(mail) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return err
}
