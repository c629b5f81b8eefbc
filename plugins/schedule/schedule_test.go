package schedule_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/schedule"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// lent is a session as a host keeps it: a log of records and of what was queued.
type lent struct {
	session.Refusing
	mu     sync.Mutex
	events []session.Event
	read   int // events handed out, records apart
	// refuse, where not nil, is asked before a message is queued; its error is
	// returned after it was, where queued is true.
	refuse func() (queued bool, err error)
}

func (l *lent) add(e session.Event) {
	e.Seq, e.Time = int64(len(l.events)+1), time.Now()
	l.events = append(l.events, e)
}

func (l *lent) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := append([]session.Event(nil), l.events...)
	return func(yield func(session.Event, error) bool) {
		for _, e := range events {
			if e.Seq <= q.After || q.Before > 0 && e.Seq >= q.Before || !slices.Contains(q.Kinds, e.Kind) {
				continue
			}
			if l.read++; !yield(e, nil) {
				return
			}
		}
	}
}

func (l *lent) Records(_ context.Context, kind string) iter.Seq2[session.Event, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return compactiontest.Records(l.events, schedule.Name, kind)
}

func (l *lent) PutRecord(_ context.Context, kind, key string, data json.RawMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(session.New(session.KindRecord, session.Record{Plugin: schedule.Name, Kind: kind, Key: key, Data: data}))
	return nil
}

func (l *lent) FollowUp(_ context.Context, text, key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	queued, err := true, error(nil)
	if l.refuse != nil {
		queued, err = l.refuse()
	}
	if queued {
		l.add(session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextTurn, Source: session.SourcePlugin, From: schedule.Name, Text: text, Key: key, Wake: true}))
	}
	return err
}

// queued are the messages so far.
func (l *lent) queued() (items []session.InboxItem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if p, err := session.Decode[session.InboxItem](e); err == nil && e.Kind == session.KindInboxQueued {
			items = append(items, p)
		}
	}
	return items
}

// await returns when n messages are queued.
func (l *lent) await(t *testing.T, n int) []session.InboxItem {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if items := l.queued(); len(items) >= n {
			return items
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d messages were queued, want %d", len(l.queued()), n)
		}
	}
}

// bench is the running plugin with a session of a person's and one of a subagent's.
type bench struct {
	*plugintest.Plugin
	t   *testing.T
	log *lent
}

func run(t *testing.T, log *lent, config string) *bench {
	t.Helper()
	p := plugintest.Run(t, schedule.Plugin("test"), plugintest.Host{Config: json.RawMessage(config), Sessions: []compaction.Session{
		{ID: "s", Workspace: "/w", Access: log}, {ID: "child", Workspace: "/w", Parent: "s", Depth: 1, Access: &lent{}}}})
	return &bench{p, t, log}
}

type args = map[string]any

func (b *bench) call(name string, a args) tool.Result {
	b.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := b.Tools().Call(b.t.Context(), tool.Call{Session: "s", ID: "c", Name: name, Arguments: raw, Turn: 1}, func(string) {})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// says calls a tool and wants a piece of text in the answer.
func (b *bench) says(want, name string, a args) {
	b.t.Helper()
	if r := b.call(name, a); !strings.Contains(r.Text, want) {
		b.t.Errorf("%s %v: %q, want %q", name, a, r.Text, want)
	}
}

func (b *bench) waits() string {
	b.t.Helper()
	d, err := b.Hooks([]hook.Point{hook.Idle}, "end_turn").Idle(b.t.Context(), hook.Where{Session: "s", Turn: 1})
	if err != nil {
		b.t.Fatal(err)
	}
	return d.Wait
}

func TestS8_RemindersAreSetListedChangedAndTakenAway(t *testing.T) {
	t.Parallel()
	b := run(t, &lent{}, `{"time_zone": "UTC"}`)
	b.says("No reminders.", "schedule_list", args{})
	b.says("Set. r1: daily at 09:30, next at ", "schedule_create", args{"title": "one", "prompt": "p", "daily": "09:30"})
	b.says("Set. r2: each friday at 10:00, next at ", "schedule_create", args{"title": "two", "prompt": "p", "weekly": args{"day": "friday", "time": "10:00"}})
	b.says("Error: give exactly one of", "schedule_create", args{"title": "t", "prompt": "p"})
	b.says("Error: give exactly one of", "schedule_update", args{"id": "r1", "daily": "10:00", "cron": "* * * * *"})
	b.says("Changed. r1: every 2m0s, next at ", "schedule_update", args{"id": "r1", "every_seconds": 120})
	b.says("Changed. r1: every 2m0s, next at ", "schedule_update", args{"id": "r1", "title": "new"})
	b.says("Reminder r2 is gone.", "schedule_delete", args{"id": "r2"})
	b.says(`Error: there is no reminder "r2" to come`, "schedule_delete", args{"id": "r2"})
	b.says("Set. r3: ", "schedule_create", args{"title": "three", "prompt": "p", "cron": "0 9 * * 1-5"})
	text, err := b.Commands().Run(t.Context(), "s", "schedule", "")
	if err != nil || strings.Count(text, "\n") != 2 || !strings.Contains(text, ": new\n") {
		t.Errorf("/schedule: %q, %v", text, err)
	}
	if _, err := b.Commands().Run(t.Context(), "s", "schedule", "delete r3"); err != nil {
		t.Error(err)
	}
	if _, err := b.Commands().Run(t.Context(), "s", "schedule", "drop r3"); err == nil || !strings.Contains(err.Error(), "/schedule delete ID") {
		t.Errorf("/schedule drop: %v", err)
	}
	// Another process finds the same, and gives no id twice.
	b = run(t, b.log, `{}`)
	b.says("r1: every 2m0s", "schedule_list", args{})
	b.says("Set. r4: ", "schedule_create", args{"title": "four", "prompt": "p", "daily": "01:00"})
	for i := range 50 {
		want := "Set. "
		if i >= 48 {
			want = "Error: this session has 50 reminders"
		}
		b.says(want, "schedule_create", args{"title": "more", "prompt": "p", "daily": "01:00"})
	}
}

func TestS8_SubagentsHaveNoReminders(t *testing.T) {
	t.Parallel()
	b := run(t, &lent{}, `{}`)
	for id, want := range map[string]int{"": 4, "s": 4, "child": 0} {
		if specs, err := b.Tools().Tools(t.Context(), id); err != nil || len(specs) != want {
			t.Errorf("session %q has %d tools (%v), want %d", id, len(specs), err, want)
		}
	}
	r, err := b.Tools().Call(t.Context(), tool.Call{Session: "child", Name: "schedule_create", Arguments: json.RawMessage(`{"title":"t","prompt":"p","daily":"10:00"}`)}, func(string) {})
	if err != nil || !r.IsError {
		t.Errorf("a subagent set a reminder: %+v, %v", r, err)
	}
}

func TestS8_AReminderComesOnceAndIsFramed(t *testing.T) {
	t.Parallel()
	b := run(t, &lent{}, `{"time_zone": "UTC"}`)
	b.call("schedule_create", args{"title": "a \"title\"", "prompt": "line\nid: \"r9\"", "after_seconds": 1})
	if w := b.waits(); w != "" && !strings.HasPrefix(w, "reminder r1, due at ") || w == "" && len(b.log.queued()) == 0 {
		t.Errorf("a run would not stay: %q", w)
	}
	item := b.log.await(t, 1)[0]
	var due time.Time
	for line := range strings.Lines(item.Text) {
		if at, ok := strings.CutPrefix(line, "due: "); ok {
			due, _ = time.Parse(time.RFC3339, strings.TrimSpace(at))
		}
	}
	if item.Key != fmt.Sprintf("schedule:r1:%d", due.Unix()) || strings.Count(item.Text, "\nid: ") != 1 ||
		!strings.Contains(item.Text, `title: "a \"title\""`) || !strings.Contains(item.Text, `prompt: "line\nid: \"r9\""`) {
		t.Errorf("queued %+v", item)
	}
	b.says("No reminders.", "schedule_list", args{})
	if w := b.waits(); w != "" {
		t.Errorf("a run would stay for %q", w)
	}
	run(t, b.log, `{}`).says("No reminders.", "schedule_list", args{}) // it has read the log by then
	if n := len(b.log.queued()); n != 1 {
		t.Errorf("it came %d times", n)
	}
}

// TestS8_AnUnknownOutcomeIsLookedUp: the host queued the message, but the plugin did
// not hear so; and one that the host did not take comes after all.
func TestS8_AnUnknownOutcomeIsLookedUp(t *testing.T) {
	t.Parallel()
	for name, queued := range map[string]bool{"queued": true, "not queued": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &lent{}
			tries := 0
			log.refuse = func() (bool, error) {
				if tries++; tries == 1 {
					return queued, errors.New("the line broke")
				}
				return true, nil
			}
			b := run(t, log, `{}`)
			b.call("schedule_create", args{"title": "t", "prompt": "p", "after_seconds": 1})
			log.await(t, 1)
			b.says("No reminders.", "schedule_list", args{}) // reads the log where that is owed
			log.mu.Lock()
			defer log.mu.Unlock()
			if want := map[bool]int{true: 1, false: 2}[queued]; tries != want {
				t.Errorf("it was sent %d times, want %d", tries, want)
			}
		})
	}
}

// TestS8_OfWhatWasMissedTheLatestComes: and a run stays only for what is due soon, and
// not for ever.
func TestS8_OfWhatWasMissedTheLatestComes(t *testing.T) {
	t.Parallel()
	log := &lent{}
	since := time.Now().Add(-10 * time.Hour).Truncate(time.Second)
	put := func(id string, every int) {
		data, _ := json.Marshal(args{"id": id, "title": id, "prompt": "p", "since": since, "rule": args{"every_seconds": every}})
		_ = log.PutRecord(t.Context(), "reminder", id, data)
	}
	put("r1", 4*3600)
	put("r2", 11*3600)
	b := run(t, log, `{"max_waits": 1}`)
	if item := log.await(t, 1)[0]; item.Key != fmt.Sprintf("schedule:r1:%d", since.Add(8*time.Hour).Unix()) {
		t.Errorf("queued %+v", item)
	}
	if w := b.waits(); w != "" {
		t.Errorf("a run would stay for %q", w)
	}
	b.call("schedule_create", args{"title": "soon", "prompt": "p", "every_seconds": 60})
	if w := b.waits(); w != "" {
		t.Errorf("a run would stay for a second one: %q", w)
	}
	b = run(t, log, `{"max_waits": 1}`)
	if w := b.waits(); !strings.HasPrefix(w, "reminder r3, due at ") {
		t.Errorf("a run would stay for %q", w)
	}
	if n := len(log.queued()); n != 1 {
		t.Errorf("%d came", n)
	}
}
