package sessiontest

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

var mailing = []promise{
	{"Post", "mail reaches the owner of a session, and where there is none the next one", func(k *kit) {
		log := k.create("a")
		k.create("b")
		if mail := k.mail(log); len(mail) != 0 {
			k.Errorf("a new session has mail %v", mail)
		}
		k.post("a", "one")
		if got := texts(k.mail(log)); got != "one" {
			k.Errorf("the owner finds %q", got)
		}
		k.close(log)
		k.post("a", "two")
		if got := texts(k.mail(k.open("a"))); got != "one two" {
			k.Errorf("the next owner finds %q", got)
		}
	}},

	{"PostExact", "command, text, sender and time come back exactly; the store gives the id, and time and sender where they are empty", func(k *kit) {
		log := k.create("a")
		box := k.mailbox()
		at := time.Date(2031, 2, 3, 4, 5, 6, 789_012_345, time.FixedZone("", -3*3600))
		mail := []session.Mail{
			{ID: 77, Command: session.CommandSteer, Text: "look at \"x\"\n🥣 e\u0301", From: "pid 1 on there", Time: at},
			{Command: session.CommandPrompt, Text: strings.Repeat("ten megabytes ", 10<<20/14)},
			{Command: session.CommandCancel},
			{Command: "a command of a later version", Text: "nul \x00 and bad utf-8 \xff"},
		}
		before := time.Now()
		for _, m := range mail {
			if err := box.Post(k.ctx, "a", m); err != nil {
				k.Fatalf("post: %v", err)
			}
		}
		after := time.Now()
		for i, got := range k.mail(log) {
			want := mail[i]
			if got.ID != int64(i+1) || got.Command != want.Command || got.Text != want.Text || got.Time.Location() != time.UTC {
				k.Errorf("mail %d is %.200v, want %.200v", i, got, want)
			}
			if i == 0 && (got.From != want.From || !got.Time.Equal(at)) {
				k.Errorf("sender and time are %q and %s", got.From, got.Time)
			}
			if i > 0 && (!strings.HasPrefix(got.From, "pid ") || got.Time.Before(before) || got.Time.After(after)) {
				k.Errorf("sender and time that were set are %q and %s", got.From, got.Time)
			}
		}
		if n := len(k.mail(log)); n != len(mail) {
			k.Errorf("%d mails came, want %d", n, len(mail))
		}
		if err := box.Post(k.ctx, "a", session.Mail{Time: time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
			k.Error("mail of the year 9000 is taken")
		}
	}},

	{"PostOrder", "mail waits in the order it was left, and no id is given twice, not even after the mail is gone", func(k *kit) {
		log := k.create("a")
		var last int64
		for round := range 4 {
			for i := range 3 {
				k.post("a", fmt.Sprint(round, i))
			}
			mail := k.mail(log)
			if got, want := texts(mail), fmt.Sprintf("%d 0 %[1]d 1 %[1]d 2", round); got != want {
				k.Errorf("mail is %q, want %q", got, want)
			}
			for _, m := range mail {
				if m.ID <= last {
					k.Errorf("id %d comes after %d", m.ID, last)
				}
				last = m.ID
			}
			k.take(log, ids(mail)...)
			if round%2 == 0 {
				k.close(log)
				log = k.open("a")
			}
		}
	}},

	{"PostUnknown", "Post to an id that is unknown, or that could be none, answers ErrNotFound and makes nothing", func(k *kit) {
		for _, id := range append([]string{"a"}, badIDs...) {
			k.want(k.mailbox().Post(k.ctx, id, session.Mail{Command: session.CommandCancel}), session.ErrNotFound)
		}
		if list := k.list(); len(list) != 0 {
			k.Errorf("list is %v", list)
		}
		if mail := k.mail(k.create("a")); len(mail) != 0 {
			k.Errorf("the session made later has mail %v", mail)
		}
	}},

	{"PostLeavesTheLog", "mail is not part of the log: head, events, summary and status are as before, and the owner's next batch fits", func(k *kit) {
		log := k.create("a")
		k.append(log, started(1), note("x", ""))
		for _, state := range []string{"open", "closed"} {
			before, events := k.list()[0], len(k.read(k.view("a"), session.Query{}))
			k.post("a", "one")
			after := k.list()[0]
			before.Bytes, after.Bytes = 0, 0
			if after != before || after.Status != "running" || after.Events != 3 {
				k.Errorf("%s: summary is %+v, was %+v", state, after, before)
			}
			if n := len(k.read(k.view("a"), session.Query{})); n != events {
				k.Errorf("%s: %d events, were %d", state, n, events)
			}
			if state == "open" {
				if _, err := log.Append(k.ctx, session.Batch{Head: 3}); err != nil {
					k.Errorf("append after a post: %v", err)
				}
				k.close(log)
			}
		}
		log = k.open("a")
		k.append(log, ended(session.ReasonLimit))
		k.post("a", "two")
		if s := k.list()[0]; s.Status != "limit" || s.Events != 4 {
			k.Errorf("summary is %+v", s)
		}
	}},

	{"PostNewer", "Post does not read the log: mail also reaches an owner of a newer version", func(k *kit) {
		log := k.create("a")
		future := note("x", "")
		future.V = session.SchemaVersion + 1
		k.append(log, future)
		k.post("a", "one")
		if got := texts(k.mail(log)); got != "one" {
			k.Errorf("mail is %q", got)
		}
	}},

	{"MailClosed", "after Close Mail answers fs.ErrClosed, a closed store takes no mail, and a context that is done posts nothing", func(k *kit) {
		log := k.create("a")
		ctx, cancel := context.WithCancel(k.ctx)
		cancel()
		k.want(k.mailbox().Post(ctx, "a", session.Mail{Command: session.CommandCancel}), context.Canceled)
		_, err := k.mailLog(log).Mail(ctx)
		k.want(err, context.Canceled)
		k.close(k.store)
		if err := k.mailbox().Post(k.ctx, "a", session.Mail{Command: session.CommandCancel}); err == nil {
			k.Error("Post works after the store is closed")
		}
		if mail := k.mail(log); len(mail) != 0 {
			k.Errorf("mail is %v", mail)
		}
		k.close(log)
		_, err = k.mailLog(log).Mail(k.ctx)
		k.want(err, fs.ErrClosed)
	}},
}

// mailbox is the store as one that takes mail.
func (k *kit) mailbox() session.Mailbox {
	k.Helper()
	box, ok := k.store.(session.Mailbox)
	if !ok {
		k.Fatalf("%T is no session.Mailbox", k.store)
	}
	return box
}

// post leaves a steer. It may be called from any goroutine.
func (k *kit) post(id, text string) {
	k.Helper()
	if err := k.mailbox().Post(k.ctx, id, session.Mail{Command: session.CommandSteer, Text: text}); err != nil {
		k.Errorf("post to %s: %v", id, err)
	}
}

func (k *kit) mailLog(log session.Log) session.MailLog {
	k.Helper()
	l, ok := log.(session.MailLog)
	if !ok {
		k.Fatalf("%T is no session.MailLog", log)
	}
	return l
}

func (k *kit) mail(log session.Log) []session.Mail {
	k.Helper()
	mail, err := k.mailLog(log).Mail(k.ctx)
	if err != nil {
		k.Fatalf("mail: %v", err)
	}
	return mail
}

// take appends a batch that does nothing but take mail.
func (k *kit) take(log session.Log, mail ...int64) {
	k.Helper()
	if _, err := log.Append(k.ctx, session.Batch{Head: k.head(log), Taken: mail}); err != nil {
		k.Fatalf("take mail %v: %v", mail, err)
	}
}

func ids(mail []session.Mail) (ids []int64) {
	for _, m := range mail {
		ids = append(ids, m.ID)
	}
	return ids
}

func texts(mail []session.Mail) string {
	var t []string
	for _, m := range mail {
		t = append(t, m.Text)
	}
	return strings.Join(t, " ")
}
