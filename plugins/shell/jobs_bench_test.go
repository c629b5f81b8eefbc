package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
	"github.com/tureen-host/tureen/plugins/shell"
)

// ledger is the log of a session as the host lends it.
type ledger struct {
	session.Refusing
	mu     sync.Mutex
	events []session.Event
	deaf   bool // the host takes nothing any more
	room   int  // how many events it takes before that, 0 = any number
	read   int  // events handed out, records apart
	late   int  // how many reads fail first: the host has not opened the session yet
}

func (l *ledger) setDeaf(deaf bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deaf = deaf
}

func (l *ledger) append(e session.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deaf {
		return context.DeadlineExceeded
	}
	e.Seq = int64(len(l.events) + 1)
	l.events = append(l.events, e)
	l.deaf = l.room > 0 && len(l.events) == l.room
	return nil
}

func (l *ledger) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	l.mu.Lock()
	events := slices.Clone(l.events)
	early := l.late > 0
	l.late--
	l.mu.Unlock()
	return func(yield func(session.Event, error) bool) {
		if early {
			yield(session.Event{}, errors.New("the session is not open here"))
			return
		}
		for _, e := range events {
			if e.Seq <= q.After || q.Before > 0 && e.Seq >= q.Before || q.Kinds != nil && !slices.Contains(q.Kinds, e.Kind) {
				continue
			}
			l.mu.Lock()
			l.read++
			l.mu.Unlock()
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (l *ledger) Steer(_ context.Context, text, key string, wake bool) error {
	return l.append(session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextStep, Source: session.SourcePlugin, From: shell.Name, Text: text, Key: key, Wake: wake}))
}

func (l *ledger) Records(_ context.Context, kind string) iter.Seq2[session.Event, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.late--; l.late >= 0 {
		return l.Refusing.Records(context.Background(), kind)
	}
	return compactiontest.Records(l.events, shell.Name, kind)
}

func (l *ledger) PutRecord(_ context.Context, kind, key string, data json.RawMessage) error {
	return l.append(session.New(session.KindRecord, session.Record{Plugin: shell.Name, Kind: kind, Key: key, Data: data}))
}

// notices are the messages to the model; each wakes.
func (l *ledger) notices(t *testing.T) (texts []string) {
	t.Helper()
	for e := range l.Events(t.Context(), session.Query{Kinds: []session.Kind{session.KindInboxQueued}}) {
		item, err := session.Decode[session.InboxItem](e)
		if err != nil || !item.Wake || !strings.HasPrefix(item.Key, "job:job-") && !strings.HasPrefix(item.Key, "wait:") {
			t.Errorf("notice %+v, %v", item, err)
		}
		texts = append(texts, item.Text)
	}
	return texts
}

type jobRecord struct {
	ID, Label, Command, Status, File string
	Started                          time.Time
	Exit                             *int `json:"exit_code"`
	Ended                            *time.Time
	Tell                             bool
}

func (l *ledger) records(t *testing.T) (records []jobRecord) {
	t.Helper()
	for e := range l.Events(t.Context(), session.Query{Kinds: []session.Kind{session.KindRecord}}) {
		var r jobRecord
		in, err := session.Decode[session.Record](e)
		if err == nil {
			err = json.Unmarshal(in.Data, &r)
		}
		if err != nil || in.Kind != "job" || in.Key != r.ID {
			t.Errorf("record %s: %v", e.Data, err)
		}
		records = append(records, r)
	}
	return records
}

// crew is the plugin with jobs, over the wire.
type crew struct {
	bench
	log     *ledger
	running *plugintest.Plugin
	host    plugintest.Host
}

func jobs(t *testing.T, config string) *crew {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return reopen(t, config, dir, &ledger{})
}

// reopen starts the plugin for a session that may have been open before.
func reopen(t *testing.T, config, dir string, log *ledger) *crew {
	t.Helper()
	c := &crew{log: log, host: plugintest.Host{Config: json.RawMessage(config), Sessions: []compaction.Session{{ID: "s", Resumed: true, Workspace: dir, Access: log}}}}
	c.running = plugintest.Run(t, shell.Plugin("test"), c.host)
	tools, err := tool.NewRegistry(t.Context(), "s", []tool.Provider{c.running.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	c.bench = bench{t: t, dir: dir, tools: tools, services: sdk.Services{Tools: c.running.Tools()}}
	return c
}

// use calls a tool within a confinement.
func (c *crew) use(ctx context.Context, name string, bound session.Confinement, a args) tool.Result {
	c.t.Helper()
	if _, ok := a["description"]; !ok && name == "shell" {
		a["description"] = "Try something"
	}
	arguments, err := json.Marshal(a)
	if err != nil {
		c.t.Fatal(err)
	}
	if bad, ok := c.tools.Validate(name, arguments); ok {
		return bad
	}
	r, err := c.running.Tools().Call(ctx, tool.Call{Session: "s", Name: name, Arguments: arguments, Room: -1, Confinement: bound}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func (c *crew) ok(name string, a args) string {
	c.t.Helper()
	r := c.use(c.t.Context(), name, session.Confinement{}, a)
	if r.IsError {
		c.t.Fatalf("%s %v: %s", name, a, r.Text)
	}
	return r.Text
}

func (c *crew) says(name string, a args, lines ...string) {
	c.t.Helper()
	if got, want := c.ok(name, a), strings.Join(lines, "\n"); got != want {
		c.t.Errorf("%s %v:\n%s\nwant\n%s", name, a, got, want)
	}
}

func (c *crew) refuses(name string, a args, code, text string) {
	c.t.Helper()
	r := c.use(c.t.Context(), name, session.Confinement{}, a)
	if !r.IsError || r.Code != code || !strings.HasPrefix(r.Text, "Error: "+text) {
		c.t.Errorf("%s %v:\n got %s: %s\nwant %s: Error: %s…", name, a, r.Code, r.Text, code, text)
	}
}

// waits is what the plugin keeps a run waiting for.
func (c *crew) waits() string {
	c.t.Helper()
	return c.waitsAfter(0)
}

// waitsAfter is waits after a turn.
func (c *crew) waitsAfter(turn int) string {
	c.t.Helper()
	d, err := c.hooks().Idle(c.t.Context(), hook.Where{Session: "s", Turn: turn})
	if err != nil || d.FollowUp != "" {
		c.t.Fatalf("%+v, %v", d, err)
	}
	return d.Wait
}

func (c *crew) hooks() hook.Hooks {
	return c.running.Hooks(shell.Plugin("test").HookPoints, "end_turn")
}

// step is a step that comes about: what the plugin tells it stands in the log then.
func (c *crew) step(turn, step int) []string {
	c.t.Helper()
	texts := c.rejectedStep(turn, step)
	for _, text := range texts {
		m := session.Message{Message: llm.Text(llm.RoleUser, text), Source: session.SourcePlugin, From: shell.Name}
		if err := c.log.append(session.New(session.KindMessageUser, m)); err != nil {
			c.t.Fatal(err)
		}
	}
	return texts
}

// rejectedStep is one that does not come about.
func (c *crew) rejectedStep(turn, step int) []string {
	c.t.Helper()
	d, err := c.hooks().BeforeStep(c.t.Context(), hook.Where{Session: "s", Turn: turn, Step: step}, nil)
	if err != nil || d.Reject != "" {
		c.t.Fatalf("%+v, %v", d, err)
	}
	return d.Inject
}

// settled waits until nothing is waited for any more.
func (c *crew) settled() {
	c.t.Helper()
	c.until("the jobs are told of", func() bool { return c.waits() == "" })
}

func (c *crew) until(what string, true func() bool) {
	c.t.Helper()
	for range 3000 {
		if true() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.t.Fatalf("it never came to that: %s", what)
}

func (c *crew) put(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// told checks the notices, each by how it begins.
func (c *crew) told(want ...string) {
	c.t.Helper()
	got := c.log.notices(c.t)
	if len(got) != len(want) {
		c.t.Fatalf("%d notices, want %d: %q", len(got), len(want), got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			c.t.Errorf("notice %q, want %q…", got[i], want[i])
		}
	}
}
