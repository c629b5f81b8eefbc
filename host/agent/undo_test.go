package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// booted is a strategy that keeps its window in a record of the log, as notesoup
// does: the boot of window N is "boot N", and a reset begins window N+1.
type booted struct {
	opened int
	fails  error // of the next Open
}

type window struct {
	N int `json:"n"`
}

func (w window) section() []compaction.Section {
	return []compaction.Section{{ID: "boot", Order: 2450, Text: fmt.Sprintf("boot %d", w.N)}}
}

func (w window) record() []compaction.Record {
	data, _ := json.Marshal(w)
	return []compaction.Record{{Kind: "window", Data: data}}
}

func (b *booted) window(ctx context.Context, log session.Access) (w window) {
	for e := range log.Events(ctx, session.Query{Kinds: []session.Kind{session.KindRecord}, Reverse: true}) {
		if r, err := session.Decode[session.Record](e); err == nil && r.Plugin == "st" {
			_ = json.Unmarshal(r.Data, &w)
			return w
		}
	}
	return w
}

func (b *booted) Open(ctx context.Context, s compaction.Session) (compaction.Opening, error) {
	b.opened++
	if err := b.fails; err != nil {
		b.fails = nil
		return compaction.Opening{}, err
	}
	w := b.window(ctx, s.Access)
	opening := compaction.Opening{Marks: []compaction.Mark{{ID: fmt.Sprint("mark", max(1, w.N)), Remaining: 1900, Text: "mark"}}}
	if w.N == 0 {
		w.N = 1
		opening.Records = w.record()
	}
	opening.Sections = w.section()
	return opening, nil
}

func (b *booted) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	p, err := wipe("go on from your notes")(ctx, in)
	if p.IsZero() {
		return p, err
	}
	w := window{b.window(ctx, in.Access).N + 1}
	p.Refresh, p.Sections, p.Records, p.Boot = true, w.section(), w.record(), w.section()[0].Text
	p.Marks = []compaction.Mark{{ID: fmt.Sprint("mark", w.N), Remaining: 1900, Text: "mark"}}
	return p, err
}

// moody is a plugin whose section is another one each time it is asked.
type moody struct{ asked int }

func (m *moody) Name() string { return "moody" }
func (m *moody) Sections(context.Context, string) ([]prompt.Section, error) {
	m.asked++
	return []prompt.Section{{ID: "mood", Order: 3000, Text: fmt.Sprint("asked ", m.asked)}}, nil
}
func (m *moody) Contexts(context.Context, string) ([]prompt.Context, error) { return nil, nil }

// body is what the n-th request says, as bytes.
func (s *setup) body(n int) string {
	s.t.Helper()
	s.shown(n)
	b, err := json.Marshal(s.model.requests[n])
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// worked is a session that has done something, with a strategy that keeps windows.
func worked(t *testing.T, more ...answerFunc) (*setup, *booted) {
	t.Helper()
	s := newSetup(t, append([]answerFunc{calls(`a echo {}`), says("done")}, more...)...)
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	b := &booted{}
	s.options.Strategy = agent.Strategy{Strategy: b, Name: "st", Plugin: "st", Auto: true}
	s.options.Budget = tight
	s.completed("the task")
	return s, b
}

func (s *setup) compacted() {
	s.t.Helper()
	if did, err := s.agent.Compact(s.t.Context(), ""); err != nil || !did {
		s.t.Fatalf("compacted %v, %v", did, err)
	}
}

func (s *setup) undone() session.CompactionUndone {
	s.t.Helper()
	undone, err := s.agent.Undo(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	s.check()
	return undone
}

// state is a full fold of the log.
func (s *setup) state() *fold.State {
	s.t.Helper()
	state, err := fold.Full(s.t.Context(), s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

// After an undo the next request is that of a session that never compacted, byte for
// byte: prompt, conversation, tools. Other processes in between change nothing.
func TestC1_AfterAnUndoTheRequestIsThatOfBefore(t *testing.T) {
	t.Parallel()
	never, _ := worked(t, says("more"))
	never.completed("and then?")
	for _, resumes := range []string{"", "before", "after", "before after", "with the prompt in history"} {
		s, b := worked(t, says("more"))
		s.options.InHistory = strings.Contains(resumes, "history")
		window := s.state().Compaction.Window
		s.compacted()
		if !strings.Contains(s.state().Surface.Nodes[0].Message.Text(), "boot 2") {
			t.Fatal("the compaction brought no new boot")
		}
		if strings.Contains(resumes, "before") || s.options.InHistory {
			s.agent = nil
			s.open()
		}
		undone := s.undone()
		if strings.Contains(resumes, "after") {
			s.agent = nil
			s.open()
		}
		s.completed("and then?")
		if got, want := s.body(2), never.body(2); got != want {
			t.Errorf("resumed %q: the request is\n%s\nand without the compaction\n%s", resumes, got, want)
		}
		state := s.state()
		if state.Compaction.Window != window || state.Compaction.Count != 1 || undone.Ordinal != 1 || len(state.Surface.Nodes) != len(never.state().Surface.Nodes) {
			t.Errorf("resumed %q: window %d, %d compactions, undone %+v", resumes, state.Compaction.Window, state.Compaction.Count, undone)
		}
		if w := b.window(t.Context(), s.agent.Access("st")); w.N != 1 {
			t.Errorf("resumed %q: the strategy is in window %d", resumes, w.N)
		}
	}
}

// Sections that a plugin renders anew for each window are those of before as well.
func TestC1_SP2_AnUndoGivesBackTheSectionsOfPlugins(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"), says("more"))
	mood := &moody{}
	s.options.Prompts = []prompt.Provider{mood}
	withStrategy(s, &strategy{propose: wipe("short")})
	s.completed("task")
	first := s.shown(0)[0]
	s.compacted()
	if !strings.Contains(first, "asked 1") || mood.asked != 2 {
		t.Fatalf("asked %d times, the prompt is %q", mood.asked, first)
	}
	s.undone()
	s.completed("more")
	if got := s.shown(1)[0]; got != first || mood.asked != 2 {
		t.Errorf("asked %d times, the prompt is %q", mood.asked, got)
	}
}

// A reset that is refused begins no window: the plugins' sections stay.
func TestSP2_ARefusedResetChangesNoSection(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"), says("more"))
	s.options.Prompts = []prompt.Provider{&moody{}}
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		p, err := wipe("short")(ctx, in)
		p.Revision++
		return p, err
	}})
	s.completed("task")
	if did, err := s.agent.Compact(t.Context(), ""); did || err != nil {
		t.Fatalf("%v, %v", did, err)
	}
	s.completed("more")
	if s.shown(0)[0] != s.shown(1)[0] {
		t.Errorf("the prompt became %q", s.shown(1)[0])
	}
}

// What was said after the compaction stays, behind what the undo gives back.
func TestC1_WhatFollowedTheCompactionStays(t *testing.T) {
	t.Parallel()
	s, _ := worked(t, fails(&llm.Error{Code: llm.CodeInvalidRequest, Message: "no"}), says("more"))
	s.compacted()
	if reason, _ := s.run("lost?"); reason != session.ReasonError {
		t.Fatalf("ended %s", reason)
	}
	s.undone()
	s.completed("and this")
	got := s.shown(3)
	order := []int{slices.Index(got, "assistant: done"), slices.Index(got, "user: lost?"), slices.Index(got, "user: and this")}
	if order[0] < 0 || !slices.IsSorted(order) || slices.Contains(got, "user: go on from your notes") {
		t.Errorf("the agent was asked with %q", got)
	}
}

func TestC1_AnUndoIsOneAppendWithTheRecordsOfBefore(t *testing.T) {
	t.Parallel()
	s, _ := worked(t)
	before := s.state().Records
	s.compacted()
	log := &appends{Log: s.log}
	s.options.Log, s.agent = log, nil
	s.open()
	s.undone()
	if want := "compaction.undone record"; !slices.Contains(log.kinds, want) {
		t.Errorf("no append is %q: %q", want, log.kinds)
	}
	texts := func(seqs map[string]int64) map[string]string {
		out := map[string]string{}
		for key, seq := range seqs {
			out[key] = string(s.events()[seq-1].Data)
		}
		return out
	}
	if got, want := texts(s.state().Records), texts(before); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("records are %v, were %v", got, want)
	}
	loaded, err := fold.Load(t.Context(), s.log)
	if _, head, _ := s.log.Snapshot(t.Context()); err != nil || head != s.state().Head || string(loaded.Snapshot()) != string(s.state().Snapshot()) {
		t.Errorf("the snapshot is of %d, the head is %d (%v)", head, s.state().Head, err)
	}
}

// A record that the compaction wrote first is none again.
func TestC1_ARecordThatWasNotThereIsNull(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"))
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		p, err := wipe("short")(ctx, in)
		p.Records = []compaction.Record{{Kind: "a", Key: "x/y", Data: json.RawMessage(`1`)}, {Kind: "a", Key: "x/y", Data: json.RawMessage(`2`)}}
		return p, err
	}})
	s.completed("task")
	s.compacted()
	s.undone()
	last := s.events()[len(s.events())-1]
	if r, err := session.Decode[session.Record](last); err != nil || r.Kind != "a" || r.Key != "x/y" || string(r.Data) != "null" || len(s.state().Records) != 0 {
		t.Errorf("%s %+v, %v; records %v", last.Kind, r, err, s.state().Records)
	}
}

// What a strategy had to say after its compaction goes with it, where no step has
// shown it; what others said stays.
func TestC1_AnUndoTakesBackWhatTheStrategyHadToSay(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"), says("more"))
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		p, err := wipe("short")(ctx, in)
		p.Steer = []string{"you were just reset"}
		return p, err
	}})
	s.completed("task")
	s.compacted()
	if err := s.agent.Steer(t.Context(), "mind the gap"); err != nil {
		t.Fatal(err)
	}
	s.undone()
	s.completed("")
	if got := strings.Join(s.shown(1), "|"); strings.Contains(got, "just reset") || !strings.HasSuffix(got, "user: mind the gap") {
		t.Errorf("the agent was asked with %q", got)
	}
}

func TestC1_WhatCannotBeUndoneSaysWhyAndWhereToFork(t *testing.T) {
	t.Parallel()
	refusal := func(s *setup) *fold.NoUndo {
		t.Helper()
		head := s.state().Head
		_, err := s.agent.Undo(t.Context(), "")
		var no *fold.NoUndo
		if !errors.As(err, &no) || s.state().Head != head {
			t.Fatalf("%v; the log went from %d to %d", err, head, s.state().Head)
		}
		return no
	}
	s, _ := worked(t, says("more"))
	if no := refusal(s); no.At != 0 {
		t.Errorf("without a compaction: %+v", no)
	}
	s.compacted()
	s.completed("and then?")
	no := refusal(s)
	events := s.events()
	if no.At == 0 || events[no.At].Kind != session.KindCompactionStarted {
		t.Errorf("after an answer: %+v", no)
	}
	s, _ = worked(t)
	s.compacted()
	s.undone()
	refusal(s)
}

// A strategy that fails to open after an undo is opened before the next step, and the
// step is not taken without it.
func TestC1_AStrategyThatMissesTheUndoIsOpenedAgain(t *testing.T) {
	t.Parallel()
	never, _ := worked(t, says("more"))
	never.completed("and then?")
	s, b := worked(t, says("more"))
	s.compacted()
	b.fails = errPlugin
	if undone, err := s.agent.Undo(t.Context(), ""); !errors.Is(err, errPlugin) || undone.Ordinal != 1 {
		t.Fatalf("%+v, %v", undone, err)
	}
	b.fails = errPlugin
	if reason, failure := s.run("and then?"); reason != session.ReasonError || !strings.Contains(failure.Message, errPlugin.Error()) || len(s.model.requests) != 2 {
		t.Fatalf("ended %s %+v after %d requests", reason, failure, len(s.model.requests))
	}
	s.completed("")
	if got, want := s.body(2), never.body(2); got != want {
		t.Errorf("the request is\n%s\nand without the compaction\n%s", got, want)
	}
}

// With notes that changed in the meantime, and another process in between, the
// notebook is that of the window before, byte for byte, and so is all the rest.
func TestC1_N2_AnUndoneNotesResetGivesBackItsNotebook(t *testing.T) {
	t.Parallel()
	tree, err := notes.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	workspace := t.TempDir()
	store := func(s compaction.Session) (*notes.Store, error) {
		return tree.Store(notes.Who{Session: s.ID, Created: s.Created, Agent: s.Agent, Provider: s.Provider, Model: s.Model, Workspace: workspace})
	}
	begin := func() *setup {
		s := newSetup(t, calls(`a echo {}`), says("done"), says("more"), says("end"))
		s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
		s.options.Budget = compaction.Budget{Window: 100_000, ResetAt: 80_000, Reserve: 20_000, Warning: 25_000, Reminder: 30_000, Source: "profile"}
		s.reopen(store)
		return s
	}
	never, s := begin(), begin()
	for _, w := range []*setup{never, s} {
		w.completed("the task")
	}
	first := s.state().Surface.Nodes[0].Message.Text()
	for round := range 2 {
		n, err := store(compaction.Session{ID: "s1", Created: s.state().Created.Time, Agent: "tureen", Provider: "p", Model: "m"})
		if err == nil {
			_, err = n.Write(t.Context(), notes.Write{Path: fmt.Sprint("note", round), Text: "something new", Mode: notes.Append})
		}
		if err != nil {
			t.Fatal(err)
		}
		s.compacted()
		if now := s.state().Surface.Nodes[0].Message.Text(); now == first || !strings.Contains(now, fmt.Sprint("note", round)) {
			t.Fatal("the reset brought no new notebook")
		}
		s.reopen(store)
		s.undone()
		s.reopen(store)
	}
	for n, prompt := range []string{"and then?", "and now?"} {
		never.completed(prompt)
		s.completed(prompt)
		if got, want := s.body(2+n), never.body(2+n); got != want {
			t.Errorf("the request is\n%s\nand without the resets\n%s", got, want)
		}
	}
}

// reopen takes the session as another process with notesoup does.
func (s *setup) reopen(store notesoup.Notes) {
	s.t.Helper()
	s.options.Strategy = agent.Strategy{Strategy: notesoup.New(notesoup.Config{}, store), Name: notesoup.Name, Plugin: notesoup.Name, Auto: true}
	s.agent = nil
	s.open()
}
