package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// faults is what an audit finds, by what a user would call it.
type faults struct {
	Lost       []string // said on stdout, not in the log
	Duplicates []string // calls that were dispatched, or took effect, twice
	Unpaired   []string // calls without a result, or with two
	Orphans    []string // processes, sockets, locks, temporary files
	Broken     []string // rules of the log
}

func (f *faults) add(o faults) {
	f.Lost, f.Duplicates, f.Unpaired = append(f.Lost, o.Lost...), append(f.Duplicates, o.Duplicates...), append(f.Unpaired, o.Unpaired...)
	f.Orphans, f.Broken = append(f.Orphans, o.Orphans...), append(f.Broken, o.Broken...)
}

func (f *faults) none() bool { return reflect.ValueOf(*f).IsZero() }

func (f *faults) String() string {
	var b strings.Builder
	for _, part := range []struct {
		name string
		list []string
	}{{"lost", f.Lost}, {"duplicate", f.Duplicates}, {"unpaired", f.Unpaired}, {"orphan", f.Orphans}, {"broken", f.Broken}} {
		for _, text := range part.list {
			fmt.Fprintf(&b, "%s: %s\n", part.name, text)
		}
	}
	return b.String()
}

// lastSession is the id of the only session, "" where there is none yet.
func (s *sandbox) lastSession() string {
	files, _ := filepath.Glob(s.path("data", "sessions", "*.db"))
	if len(files) == 0 {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(files[0]), ".db")
}

// events reads a session's log, and holds it against the rules.
func (s *sandbox) events(id string) ([]session.Event, []fold.Violation, error) {
	store, err := sqlitelog.Open(s.path("data"))
	if err != nil {
		return nil, nil, err
	}
	defer store.Close()
	log, err := store.View(context.Background(), id)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	var events []session.Event
	for e, err := range log.Read(context.Background(), session.Query{}) {
		if err != nil {
			return nil, nil, err
		}
		events = append(events, e)
	}
	violations, err := fold.Check(context.Background(), log)
	return events, violations, err
}

// lost names the lines of a killed run's stdout (stream-json) that its log does
// not say: what was printed must be the beginning of what the log comes to.
func lost(stdout []byte, events []session.Event) []string {
	opened := 0 // the killed process's own events begin where it repaired or opened
	for i, e := range events {
		if e.Kind == session.KindSessionOpened {
			opened = i
		}
	}
	for opened > 0 && repairs(events[opened-1]) {
		opened--
	}
	var b bytes.Buffer
	stream := render.NewStream(&b)
	for _, e := range events[opened:] {
		stream.Event(e, session.Meter{})
	}
	said, stored := essence(stdout), essence(b.Bytes())
	if len(said) <= len(stored) && slices.Equal(said, stored[:len(said)]) {
		return nil
	}
	for i, line := range said {
		if i >= len(stored) || stored[i] != line {
			return []string{line}
		}
	}
	return nil
}

// repairs tells whether an event closes what a crash left.
func repairs(e session.Event) bool {
	var p struct {
		Repaired bool
		Code     string
	}
	_ = json.Unmarshal(e.Data, &p)
	return p.Repaired || e.Kind == session.KindCompactionDropped || e.Kind == session.KindToolResult && (p.Code == fold.CodeOutcomeUnknown || p.Code == fold.CodeNotStarted)
}

// essence is the whole lines of a stream without what the log cannot repeat.
func essence(stream []byte) []string {
	var out []string
	for line := range bytes.Lines(stream) {
		var v map[string]any
		if json.Unmarshal(line, &v) != nil { // cut by the kill
			continue
		}
		switch v["type"] {
		case "session.started", "run.completed":
			continue
		case "context.usage":
			v = map[string]any{"type": v["type"], "turn": v["turn"], "step": v["step"]}
		}
		delete(v, "seq")
		text, _ := json.Marshal(v)
		out = append(out, string(text))
	}
	return out
}

// auditLog looks at a whole log for calls that were not dispatched at most once
// and answered exactly once, and for a system prompt that a resume changed.
func auditLog(events []session.Event, violations []fold.Violation) (f faults) {
	for _, v := range violations {
		f.Broken = append(f.Broken, fmt.Sprintf("event %d breaks %q: %s", v.Seq, v.Rule, v.Text))
	}
	type call struct{ started, answered int }
	var open map[string]*call
	closeStep := func(at int64) {
		for id, c := range open {
			if c.started > 1 {
				f.Duplicates = append(f.Duplicates, fmt.Sprintf("call %s before event %d was dispatched %d times", id, at, c.started))
			}
			if c.answered != 1 {
				f.Unpaired = append(f.Unpaired, fmt.Sprintf("call %s before event %d has %d results", id, at, c.answered))
			}
		}
		open = nil
	}
	compacting := false
	for i, e := range events {
		switch e.Kind {
		case session.KindMessageAssistant:
			closeStep(e.Seq)
			open = map[string]*call{}
			p, _ := session.Decode[session.Assistant](e)
			for _, c := range p.Message.Calls() {
				open[c.ID] = &call{}
			}
		case session.KindToolStarted:
			p, _ := session.Decode[session.ToolStarted](e)
			if c := open[p.CallID]; c != nil {
				c.started++
			} else {
				f.Duplicates = append(f.Duplicates, fmt.Sprintf("event %d dispatches call %s, which nobody makes", e.Seq, p.CallID))
			}
		case session.KindToolResult:
			p, _ := session.Decode[session.ToolResult](e)
			if e.Op.Kind != session.OpAppend {
				continue
			}
			if c := open[p.Message.CallID]; c != nil {
				c.answered++
			} else {
				f.Unpaired = append(f.Unpaired, fmt.Sprintf("event %d answers call %s, which nobody makes", e.Seq, p.Message.CallID))
			}
		case session.KindCompactionStarted, session.KindCompactionEnded:
			compacting = e.Kind == session.KindCompactionStarted
		case session.KindMessageSystem:
			if !compacting && e.Op.Kind != session.OpAppend {
				f.Broken = append(f.Broken, fmt.Sprintf("event %d changes the system prompt outside of a compaction", e.Seq))
			}
		}
		if i == len(events)-1 {
			closeStep(e.Seq)
		}
	}
	return f
}

// auditEffects holds effects.txt against the log: what a call is said to have
// done stands there once, what is unknown at most once, the rest never.
func auditEffects(effects []byte, events []session.Event) (f faults) {
	done := map[string]int{}
	for line := range strings.Lines(string(effects)) {
		done[strings.TrimSpace(line)]++
	}
	ran := map[string]bool{}
	for _, e := range events {
		p, err := session.Decode[session.ToolResult](e)
		if e.Kind != session.KindToolResult || err != nil || p.Name != "shell" {
			continue
		}
		id := p.Message.CallID
		switch n := done[id]; {
		case !p.Message.IsError && n != 1, p.Code == fold.CodeNotStarted && n != 0:
			f.Duplicates = append(f.Duplicates, fmt.Sprintf("call %s took effect %d times; its result is %q %q", id, n, p.Code, p.Message.Text()))
		}
		ran[id] = true
	}
	for id, n := range done {
		if n > 1 || !ran[id] {
			f.Duplicates = append(f.Duplicates, fmt.Sprintf("call %s took effect %d times (answered: %v)", id, n, ran[id]))
		}
	}
	return f
}

// auditPlace names what was left behind once every program has ended. files are
// what may stand in the working directory, nil for anything but hidden files.
func (s *sandbox) auditPlace(files []string) (f faults) {
	if left := s.leftovers(); left != "" {
		f.Orphans = append(f.Orphans, strings.Split(left, "\n")...)
	}
	inside := func(dir string, may func(name string) bool) {
		entries, _ := os.ReadDir(s.path(dir))
		for _, e := range entries {
			if !may(e.Name()) {
				f.Orphans = append(f.Orphans, filepath.Join(dir, e.Name()))
			}
		}
	}
	inside("data/sessions", func(name string) bool { return strings.HasSuffix(name, ".db") })
	inside("work", func(name string) bool {
		return !strings.HasPrefix(name, ".") && (files == nil || slices.Contains(files, name))
	})
	inside("notes/.meta/tmp", func(string) bool { return false })
	return f
}
