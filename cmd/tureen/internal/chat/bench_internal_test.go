package chat

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// bench is a chat without a terminal: messages go in, rows come out.
type bench struct {
	*model
	t       *testing.T
	session *fakeSession
	clock   time.Time
	seq     int64
}

func newBench(t *testing.T, width, height int) *bench {
	t.Helper()
	b := &bench{t: t, session: &fakeSession{}, clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	var keys int64
	o := options{Options: Options{Now: func() time.Time { return b.clock }, Hint: func(code string) string { return "" }}, key: func() int64 { keys++; return keys }}
	b.model = newModel(t.Context(), o, b.session, Facts{ID: "01s", Profile: "p", Strategy: "notesoup", Model: "talker", Window: 32000, WindowSource: "profile",
		Meter: session.Meter{Window: 32000, ResetAt: 25600, Measured: 3200}, Commands: []command.Command{{Name: "goal", Usage: "TEXT", Description: "sets the goal"}}})
	b.width, b.height = width, height
	return b
}

// does takes a message and everything that it leads to.
func (b *bench) does(msg tea.Msg) {
	b.t.Helper()
	if cmd := b.take(msg); cmd != nil {
		b.follow(cmd())
	}
	for cmd := b.next(); cmd != nil; cmd = b.next() {
		b.take(cmd())
	}
}

func (b *bench) follow(msg tea.Msg) {
	if msg != nil {
		b.does(msg)
	}
}

// event feeds an event of the log.
func (b *bench) has(kind session.Kind, payload any) {
	b.t.Helper()
	b.seq++
	e := session.New(kind, payload)
	e.Seq, e.Time = b.seq, b.clock
	b.does(eventMsg{e, b.meter})
}

// presses presses keys by their names; a name in braces is a special one.
func (b *bench) presses(keys ...string) {
	b.t.Helper()
	special := map[string]tea.Key{"{enter}": {Code: tea.KeyEnter}, "{esc}": {Code: tea.KeyEscape}, "{tab}": {Code: tea.KeyTab}, "{up}": {Code: tea.KeyUp},
		"{down}": {Code: tea.KeyDown}, "{alt+enter}": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "{shift+enter}": {Code: tea.KeyEnter, Mod: tea.ModShift},
		"{ctrl+c}": {Code: 'c', Mod: tea.ModCtrl}, "{ctrl+d}": {Code: 'd', Mod: tea.ModCtrl}, "{backspace}": {Code: tea.KeyBackspace},
		"{space}": {Code: tea.KeySpace, Text: " "}, "{left}": {Code: tea.KeyLeft}}
	for _, k := range keys {
		if key, ok := special[k]; ok {
			b.does(tea.KeyPressMsg(key))
			continue
		}
		for _, r := range k {
			b.does(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// printed takes what went into the scrollback so far.
func (b *bench) printed() string {
	text := strings.Join(b.out, "\n")
	b.out = nil
	return text
}

// screen is the live part.
func (b *bench) screen() string {
	rows, _, _ := b.live()
	return strings.Join(rows, "\n")
}

// answer is an answer with calls: a tool's name and its arguments.
func answer(text string, calls ...string) session.Assistant {
	m := llm.Text(llm.RoleAssistant, text)
	for i := 0; i+1 < len(calls); i += 2 {
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "c" + calls[i], Name: calls[i], Arguments: calls[i+1]}})
	}
	return session.Assistant{Message: m}
}

func said(text string) session.Message {
	return session.Message{Message: llm.Text(llm.RoleUser, text), Source: session.SourceOwner}
}

// fakeSession notes what is asked of it.
type fakeSession struct {
	calls   []string
	fail    error
	answers []session.Answer
	events  []session.Event
}

func (s *fakeSession) note(call string) error {
	s.calls = append(s.calls, call)
	return s.fail
}

func (s *fakeSession) Prompt(_ context.Context, text string) error { return s.note("prompt " + text) }
func (s *fakeSession) Steer(_ context.Context, text string) error  { return s.note("steer " + text) }
func (s *fakeSession) Cancel() bool                                { return s.note("cancel") == nil }
func (s *fakeSession) Compact(_ context.Context, text string) error {
	return s.note(strings.TrimSpace("compact " + text))
}
func (s *fakeSession) Undo(context.Context) error { return s.note("undo") }
func (s *fakeSession) Context(context.Context) (string, error) {
	return "undo  compaction #1 can be taken back", s.fail
}
func (s *fakeSession) Command(_ context.Context, name, arguments string) (string, error) {
	return "did " + name + " " + arguments, s.note("command " + name + " " + arguments)
}
func (s *fakeSession) Answer(_ context.Context, a session.Answer) error {
	s.answers = append(s.answers, a)
	return s.note("answer " + a.ID)
}
func (s *fakeSession) Access() session.Access { return fakeAccess{s: s} }
func (s *fakeSession) Notes(_ context.Context, address string) (string, error) {
	return "notes of " + address, s.note("notes " + address)
}
func (s *fakeSession) Export(_ context.Context, file string) (string, error) {
	return file, s.note("export " + file)
}
func (s *fakeSession) SetModel(_ context.Context, name string) (Facts, error) {
	if name == "bad" {
		return Facts{}, errors.New("no such model; name another")
	}
	return Facts{Model: name}, s.note("model " + name)
}

type fakeAccess struct {
	session.Refusing
	s *fakeSession
}

func (fakeAccess) Outline(context.Context) (session.Outline, error) { return session.Outline{}, nil }
func (a fakeAccess) Meter(context.Context) (session.Meter, error) {
	return session.Meter{Window: 1000, ResetAt: 800, Measured: 500, Fixed: 300, Ordinal: 2, Compactions: 1, Source: "usage"}, nil
}
func (a fakeAccess) Events(context.Context, session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, e := range a.s.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}
