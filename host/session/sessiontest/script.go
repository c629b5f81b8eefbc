package sessiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/session"
)

// operation is one thing that a random script does to a session. It returns what
// there is to see of the outcome, in words that do not depend on the store.
type operation func(ctx context.Context, s subject) string

// subject is what a script works on.
type subject interface {
	append(ctx context.Context, b session.Batch) (int64, error)
	post(ctx context.Context, m session.Mail) error
	mail(ctx context.Context) ([]session.Mail, error)
	read(ctx context.Context, q session.Query) ([]session.Event, error)
	snapshot(ctx context.Context) ([]byte, int64, error)
	reopen(ctx context.Context) error
	summary(ctx context.Context) (session.Summary, error)
}

// script draws the operations of a run. The head is followed along, and so is the
// mail, so that most appends hit and some miss.
func script(t *rapid.T) []operation {
	head, posted := int64(1), int64(0)
	waiting := map[int64]bool{}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) operation {
		switch rapid.SampledFrom([]string{"append 1", "append 2", "append 3", "append 4", "read 1", "read 2", "read 3",
			"snapshot", "reopen", "list", "post 1", "post 2", "mail"}).Draw(t, "do") {
		case "append 1", "append 2", "append 3", "append 4":
			b := session.Batch{Head: head, Events: rapid.SliceOfN(drawEvent, 0, 6).Draw(t, "events")}
			if rapid.Bool().Draw(t, "snapshots") {
				b.Snapshot = rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "snapshot")
			}
			if rapid.IntRange(0, 9).Draw(t, "misses") == 0 {
				b.Head += rapid.Int64Range(-3, 3).Filter(func(n int64) bool { return n != 0 }).Draw(t, "by")
			}
			if posted > 0 {
				b.Taken = rapid.SliceOfN(rapid.Int64Range(1, posted), 0, 2).Draw(t, "taken")
			}
			if b.Head == head && take(waiting, b.Taken) {
				head += int64(len(b.Events))
			}
			return doAppend(b)
		case "post 1", "post 2":
			posted++
			waiting[posted] = true
			return doPost(drawMail.Draw(t, "mail"))
		case "mail":
			return doMail
		case "read 1", "read 2", "read 3":
			return doRead(drawQuery(t, head))
		case "snapshot":
			return doSnapshot
		case "reopen":
			return doReopen
		}
		return doList
	}), 1, 20).Draw(t, "script")
}

func doAppend(b session.Batch) operation {
	return func(ctx context.Context, s subject) string {
		head, err := s.append(ctx, b)
		return fmt.Sprintf("append %d events at %d, take %v: head %d%s", len(b.Events), b.Head, b.Taken, head, class(err))
	}
}

// take removes what is taken from what waits, if all of it does.
func take(waiting map[int64]bool, taken []int64) bool {
	for i, id := range taken {
		if !waiting[id] || slices.Contains(taken[:i], id) {
			return false
		}
	}
	for _, id := range taken {
		delete(waiting, id)
	}
	return true
}

func doPost(m session.Mail) operation {
	return func(ctx context.Context, s subject) string {
		return fmt.Sprintf("post %+v%s", m, class(s.post(ctx, m)))
	}
}

func doMail(ctx context.Context, s subject) string {
	mail, err := s.mail(ctx)
	var b strings.Builder
	fmt.Fprintf(&b, "mail%s", class(err))
	for _, m := range mail {
		fmt.Fprintf(&b, "\n\t%d %d %q %q %q", m.ID, m.Time.UnixNano(), m.Command, m.Text, m.From)
	}
	return b.String()
}

func doRead(q session.Query) operation {
	return func(ctx context.Context, s subject) string {
		events, err := s.read(ctx, q)
		var b strings.Builder
		fmt.Fprintf(&b, "read %+v%s", q, class(err))
		for _, e := range events {
			b.WriteString("\n\t" + print(e))
		}
		return b.String()
	}
}

func doSnapshot(ctx context.Context, s subject) string {
	data, head, err := s.snapshot(ctx)
	return fmt.Sprintf("snapshot at %d: %x%s", head, data, class(err))
}

func doReopen(ctx context.Context, s subject) string {
	return "reopen" + class(s.reopen(ctx))
}

func doList(ctx context.Context, s subject) string {
	sum, err := s.summary(ctx)
	sum.Bytes = 0 // differs by nature
	return fmt.Sprintf("summary %+v%s", sum, class(err))
}

// class names the sentinel behind err: texts may differ, sentinels may not.
func class(err error) string {
	if err == nil {
		return ""
	}
	for _, s := range []error{session.ErrConflict, session.ErrNotFound, session.ErrLocked, session.ErrNewer,
		session.ErrDamaged, session.ErrNoMail, fs.ErrClosed, fs.ErrExist} {
		if errors.Is(err, s) {
			return ", " + s.Error()
		}
	}
	return ", some other error"
}

var kinds = []session.Kind{
	session.KindTurnStarted, session.KindTurnEnded, session.KindStepStarted, session.KindMessageUser,
	session.KindToolResult, session.KindRecord, session.KindInboxQueued, "unknown.kind",
}

var drawEvent = rapid.Custom(func(t *rapid.T) session.Event {
	e := session.Event{
		V:    rapid.IntRange(0, session.SchemaVersion).Draw(t, "v"),
		Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
		Time: time.Unix(0, rapid.Int64Range(1, 1<<62).Draw(t, "time")),
		Turn: rapid.IntRange(0, 1<<40).Draw(t, "turn"),
		Step: rapid.IntRange(0, 9).Draw(t, "step"),
		Data: json.RawMessage(rapid.OneOf(rapid.String(), rapid.SampledFrom(payloads)).Draw(t, "data")),
	}
	if rapid.Bool().Draw(t, "has op") {
		seq := rapid.Int64Range(0, 50)
		e.Op = &session.Op{
			Kind: session.OpKind(rapid.SampledFrom([]string{"append", "replace", "insert", "drop", ""}).Draw(t, "op")),
			From: seq.Draw(t, "from"), To: seq.Draw(t, "to"), After: seq.Draw(t, "after"),
		}
	}
	return e
})

var payloads = []string{"", "null", `{"reason":"completed"}`, `{"reason":"limit"}`, "\x00", "\xff", `{"text":"🥣"}`, strings.Repeat("long ", 2000)}

var drawMail = rapid.Custom(func(t *rapid.T) session.Mail {
	return session.Mail{
		Time:    time.Unix(0, rapid.Int64Range(1, 1<<62).Draw(t, "time")),
		Command: session.Command(rapid.SampledFrom([]string{"prompt", "steer", "cancel", "compact", ""}).Draw(t, "command")),
		Text:    rapid.OneOf(rapid.String(), rapid.SampledFrom(payloads)).Draw(t, "text"),
		From:    rapid.StringN(1, 20, -1).Draw(t, "from"),
	}
})

func drawQuery(t *rapid.T, head int64) session.Query {
	seq := rapid.Int64Range(-2, head+3)
	return session.Query{
		After: seq.Draw(t, "after"), Before: seq.Draw(t, "before"),
		Kinds:   rapid.SliceOfNDistinct(rapid.SampledFrom(kinds), 0, 3, rapid.ID).Draw(t, "kinds"),
		Limit:   rapid.IntRange(0, 20).Draw(t, "limit"),
		Reverse: rapid.Bool().Draw(t, "reverse"),
	}
}

// live is a subject in a store.
type live struct {
	store session.Store
	log   session.Log
}

// begin makes a session with a fixed first event.
func begin(ctx context.Context, store session.Store, id string) (*live, error) {
	log, err := store.Create(ctx, birth(id))
	return &live{store, log}, err
}

func birth(id string) session.Created {
	return session.Created{ID: id, Title: "t", Time: time.Unix(1_900_000_000, 1).UTC()}
}

func (l *live) append(ctx context.Context, b session.Batch) (int64, error) {
	return l.log.Append(ctx, b)
}

func (l *live) post(ctx context.Context, m session.Mail) error {
	return l.store.(session.Mailbox).Post(ctx, l.log.ID(), m)
}

func (l *live) mail(ctx context.Context) ([]session.Mail, error) {
	return l.log.(session.MailLog).Mail(ctx)
}

func (l *live) read(ctx context.Context, q session.Query) ([]session.Event, error) {
	return collect(ctx, l.log, q)
}

func (l *live) snapshot(ctx context.Context) ([]byte, int64, error) { return l.log.Snapshot(ctx) }

func (l *live) reopen(ctx context.Context) (err error) {
	id := l.log.ID()
	if err := l.log.Close(); err != nil {
		return err
	}
	l.log, err = l.store.Open(ctx, id)
	return err
}

func (l *live) summary(ctx context.Context) (session.Summary, error) {
	list, err := l.store.List(ctx)
	if err != nil {
		return session.Summary{}, err
	}
	i := slices.IndexFunc(list, func(s session.Summary) bool { return s.ID == l.log.ID() })
	if i < 0 {
		return session.Summary{}, session.ErrNotFound
	}
	return list[i], nil
}
