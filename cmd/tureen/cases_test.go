package main_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// keeper is a model that works a plan off; how it condenses is its own affair.
type keeper struct {
	*plan
	condense func(req llm.Request) string
}

func (k keeper) Reply(req llm.Request) scripted.Reply {
	if last := req.Messages[len(req.Messages)-1]; strings.HasPrefix(last.Text(), summaryAsk()) {
		return scripted.Reply{Text: k.condense(req)}
	}
	return k.plan.Reply(req)
}

// quotes condenses as a good model does: it keeps the person's own words.
func quotes(task string) func(llm.Request) string {
	return func(req llm.Request) string {
		return "## Primary Request and Intent\n" + strings.Join(holding(req, task), "\n")
	}
}

// boxed is a crew whose profile has these rows too, and a model that is overheard.
func boxed(t *testing.T, agent scripted.Agent, rows string, flags ...string) (*crew, *overheard) {
	t.Helper()
	p := planned(t, user(t), nil)
	p.plan = nil
	write(t, p.path("work", "case.toml"), crashProfile+rows)
	o := &overheard{Agent: agent}
	var err error
	if p.server, err = scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: 32000, MaxOutputTokens: 2000, Agent: o}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.server.Close() })
	p.env = append(p.env, "OPENAI_BASE_URL="+p.server.BaseURL())
	p.flags = append([]string{"-P", "case.toml", "-c", "model.context_window=26000"}, flags...)
	return p, o
}

// much is a step that, with half before it, crosses the line: reading stops short of
// it, writing does not.
func much(n int, calls ...any) scripted.Reply {
	return batch(n, append(calls, "read", reads("big1.md"), "write", scrawl)...)
}

func half(n int, calls ...any) scripted.Reply {
	return batch(n, append(calls, "read", reads("big2.md"))...)
}

// find returns the events of a kind that fit.
func find[T any](t *testing.T, events []session.Event, kind session.Kind, fits func(T) bool) (found []session.Event) {
	t.Helper()
	for _, e := range events {
		if e.Kind != kind {
			continue
		}
		p, err := session.Decode[T](e)
		if err != nil {
			t.Fatal(err)
		}
		if fits(p) {
			found = append(found, e)
		}
	}
	return found
}

func says(text string) func(session.Message) bool {
	return func(m session.Message) bool { return strings.Contains(m.Message.Text(), text) }
}

// compacted is the end of the only compaction.
func compacted(t *testing.T, events []session.Event) session.Event {
	t.Helper()
	ended := find(t, events, session.KindCompactionEnded, func(session.CompactionEnded) bool { return true })
	if len(ended) != 1 {
		t.Fatalf("%d compactions, want one: %s", len(ended), kindsOf(events))
	}
	return ended[0]
}

func roles(req llm.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		fmt.Fprintf(&b, "\n%s: %.120q", m.Role, m.Text())
	}
	return b.String()
}

// gate holds the answer to a request for a summary until it is opened.
type gate struct{ asked, open chan struct{} }

func newGate(t *testing.T) gate {
	g := gate{make(chan struct{}, 8), make(chan struct{})}
	t.Cleanup(g.release)
	return g
}

func (g gate) condense(llm.Request) string {
	g.asked <- struct{}{}
	<-g.open
	return "The files are read; carry on."
}

func (g gate) release() {
	select {
	case <-g.open:
	default:
		close(g.open)
	}
}

// reached waits until a summary is asked for.
func (g gate) reached(t *testing.T) {
	t.Helper()
	select {
	case <-g.asked:
	case <-time.After(time.Minute):
		t.Fatal("no summary was asked for")
	}
}

func answering(text string) func(session.Assistant) bool {
	return func(a session.Assistant) bool { return a.Message.Text() == text }
}

func kindsOf(events []session.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "\n%d %d.%d %s %.300s", e.Seq, e.Turn, e.Step, e.Kind, e.Data)
	}
	return b.String()
}

// holdsNo wants a text in no output and in no file of the sandbox.
func (s *sandbox) holdsNo(t *testing.T, text string, outcomes ...outcome) {
	t.Helper()
	for _, o := range outcomes {
		if all := o.stdout + o.stderr; strings.Contains(all, text) {
			t.Errorf("%s is written to the person:\n%s", text, all)
		}
	}
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), text) {
			t.Errorf("%s is in %s (%v)", text, path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
