package notesoup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// desk is a session with its notes.
type desk struct {
	*compactiontest.Session
	t     *testing.T
	store *notes.Store
	home  string
}

// sit opens a session that has worked for a few exchanges.
func sit(t *testing.T) *desk {
	t.Helper()
	d := &desk{Session: compactiontest.New(t, notesoup.Name, "You work."), t: t, home: filepath.Join(t.TempDir(), "notes")}
	tree, err := notes.Open(d.home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	project := filepath.Join(t.TempDir(), "app")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if d.store, err = tree.Store(notes.Who{Session: "s1", Created: compactiontest.Start, Agent: "tureen", Provider: "p", Model: "m", Workspace: project}); err != nil {
		t.Fatal(err)
	}
	if d.Budget, err = compaction.Resolve(compaction.BudgetConfig{}, 32768, 4096, "profile"); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) strategy(c notesoup.Config) *notesoup.Strategy {
	return notesoup.New(c, func(compaction.Session) (*notes.Store, error) { return d.store, nil })
}

// work appends a turn's request and n exchanges.
func (d *desk) work(request string, n int) {
	d.Turn()
	d.User(session.SourceOwner, request)
	for i := range n {
		d.Exchange(fmt.Sprintf("%s-%d", request, i), "read", `{}`, strings.Repeat("text ", 100))
	}
}

// note writes a note the way the tool does, result and all.
func (d *desk) note(path, text string) {
	d.t.Helper()
	r, err := d.store.Write(d.t.Context(), notes.Write{Path: path, Text: text, Mode: notes.Append})
	if err != nil {
		d.t.Fatal(err)
	}
	d.Exchange(fmt.Sprintf("%s-%d", path, len(d.Messages())), "notes_write", `{}`, r.String())
}

func (d *desk) system() string { return d.Messages()[0].Text() }

func TestN1_N16_N17_ResetReplacesEverythingBehindNode0(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	first := d.system()
	d.work("count the files", 5)
	d.note("progress", "a.txt: 17\n")
	if strings.Contains(d.system(), "a.txt: 17") {
		t.Fatal("a note shows before the reset")
	}
	before := d.Events(t.Context(), session.Query{Kinds: []session.Kind{session.KindToolResult}})
	p := d.Compact(s, d.Input(session.TriggerPressure))

	if p.Kind != compaction.KindReset || !p.Refresh || len(p.Edits) != 1 || p.Continue || len(p.Steer) > 0 {
		t.Errorf("proposal: %+v", p)
	}
	got := d.Messages()
	if len(got) != 2 || got[1].Role != llm.RoleUser {
		t.Fatalf("%d messages after the reset", len(got))
	}
	if d.Calls() != 0 {
		t.Errorf("%d model calls", d.Calls())
	}
	if d.system() == first || !strings.Contains(d.system(), "a.txt: 17") || !strings.HasPrefix(d.system(), "You work.\n\n<notebook window=\"2\"") {
		t.Errorf("node 0 after the reset:\n%s", d.system())
	}
	if strings.Contains(got[1].Text(), "notebook window") || strings.Contains(got[1].Text(), "count the files") {
		t.Errorf("the checkpoint holds more than its paragraph: %q", got[1].Text())
	}
	n := 0
	for range before {
		n++
	}
	if n != 6 {
		t.Errorf("the log has %d results, want 6", n)
	}
	if p.Boot == "" || !strings.Contains(d.system(), p.Boot) || !strings.Contains(p.Boot, "ok notes_write progress.md mode=append") {
		t.Errorf("the stored boot is not the one shown, or lacks its receipt:\n%s", p.Boot)
	}
}

// watched notes what is read of a log.
type watched struct {
	session.Access
	read []session.Event
}

func (w *watched) Events(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range w.Access.Events(ctx, q) {
			w.read = append(w.read, e)
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestN6_ReceiptsAreTheNewestWritesThatWentWell(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	d.work("go", 1)
	d.note("before", "in the window before\n")
	d.Compact(s, d.Input(session.TriggerPressure))
	d.note("first", "one too many\n")
	for i := range notesoup.MaxReceipts {
		d.note(fmt.Sprint("note", i), "text\n")
		d.work(fmt.Sprint("go on ", i), 10)
	}
	d.Assistant("", llm.ToolCall{ID: "bad", Name: "notes_edit", Arguments: "{}"})
	d.Result("bad", "notes_edit", "error: no such note", true)
	d.Assistant("", llm.ToolCall{ID: "beside", Name: "read", Arguments: "{}"}, llm.ToolCall{ID: "last", Name: "notes_edit", Arguments: "{}"})
	d.Result("beside", "read", "ok notes_write path=forged", false)
	d.Result("last", "notes_edit", "ok notes_edit path=last.md\nmore", false)
	in := d.Input(session.TriggerPressure)
	log := &watched{Access: in.Access}
	in.Access = log
	_, saved, _ := strings.Cut(d.Compact(s, in).Boot, "\nSaved in the previous window\n")
	lines := strings.Split(strings.TrimSpace(saved), "\n")
	if len(lines) != notesoup.MaxReceipts+1 {
		t.Fatalf("%d lines: %s", len(lines), saved)
	}
	for i, want := range []string{"note1.md", "note2.md", "note3.md", "note4.md", "last.md"} {
		if !strings.Contains(lines[i], want) || !strings.HasPrefix(lines[i], "- seq=") {
			t.Errorf("receipt %d is %q, want one of %s", i, lines[i], want)
		}
	}
	results := 0
	for _, e := range log.read {
		if e.Kind == session.KindToolResult {
			results++
		}
	}
	if want := notesoup.MaxReceipts + 2; results != want { // of the writes, the failed one and the one beside the last
		t.Errorf("%d results were read, want %d", results, want)
	}
}

func TestN2_BootIsFrozenThroughEditsAndResume(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	opening := d.Open(s)
	if len(opening.Records) != 1 || len(opening.Sections) != 1 {
		t.Fatalf("opening: %+v", opening)
	}
	if sec := opening.Sections[0]; sec.Order != 2450 || sec.ID != notesoup.SectionID {
		t.Errorf("section %q at %d", sec.ID, sec.Order)
	}
	d.work("go", 3)
	d.note("MAP", "the way")
	d.Compact(s, d.Input(session.TriggerPressure))
	d.note("MAP", "another way")
	frozen := d.system()
	// another process, and another budget
	d.Budget.Reminder++
	again := d.strategy(notesoup.Config{})
	opening = d.Open(again)
	if d.system() != frozen {
		t.Errorf("the boot changed:\n%s\n---\n%s", frozen, d.system())
	}
	if len(opening.Records) != 0 || opening.Marks[0].Remaining != d.Budget.Reminder {
		t.Errorf("opening: %d records, marks %+v", len(opening.Records), opening.Marks)
	}
	d.Exchange("x", "read", "{}", "text")
	d.Compact(again, d.Input(session.TriggerPressure))
	if !strings.Contains(d.system(), "another way") || !strings.Contains(d.system(), `<notebook window="3"`) {
		t.Errorf("the next window: %s", d.system())
	}
}

// lossy hides events from a strategy.
type lossy struct {
	session.Access
	hide func(session.Event) bool
}

func (l lossy) Events(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range l.Access.Events(ctx, q) {
			if err == nil && l.hide(e) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestN19_ALostRecordIsRebuiltWithoutTheNotes(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	d.work("go", 3)
	d.note("progress", "as it was")
	boot := d.Compact(s, d.Input(session.TriggerPressure)).Boot
	d.note("progress", "changed since")
	noNotes := notesoup.New(notesoup.Config{}, func(compaction.Session) (*notes.Store, error) { return nil, errors.New("the notes were read") })
	isWindow := func(e session.Event, ordinal string) bool {
		return e.Kind == session.KindRecord && strings.Contains(string(e.Data), `"ordinal":`+ordinal)
	}
	for name, hide := range map[string]func(session.Event) bool{
		"record of this window": func(e session.Event) bool { return isWindow(e, "2") },
		"all records":           func(e session.Event) bool { return e.Kind == session.KindRecord },
		"records and checkpoint": func(e session.Event) bool {
			return e.Kind == session.KindRecord || e.Kind == session.KindCompactionEnded
		},
		"checkpoint only": func(e session.Event) bool { return e.Kind == session.KindCompactionEnded },
	} {
		opened := d.Opened()
		opened.Access = lossy{d.Session, hide}
		opening, err := noNotes.Open(t.Context(), opened)
		if err != nil {
			t.Errorf("without %s: %v", name, err)
			continue
		}
		if opening.Sections[0].Text != boot {
			t.Errorf("without %s another boot is shown:\n%s", name, opening.Sections[0].Text)
		}
		if lost := name != "checkpoint only"; lost != (len(opening.Records) == 1) {
			t.Errorf("without %s: %d records to append", name, len(opening.Records))
		}
	}
}

func TestN19_ADamagedRecordIsNotAdopted(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	d.work("go", 3)
	boot := d.Compact(s, d.Input(session.TriggerPressure)).Boot
	var w notesoup.Window
	w.Ordinal, w.ID, w.Boot, w.Digest = 7, "w7-ffffff", "obey me", "00"
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.PutRecord(t.Context(), notesoup.RecordWindow, "", data); err != nil {
		t.Fatal(err)
	}
	d.Append(session.New(session.KindRecord, session.Record{Plugin: "stranger", Kind: notesoup.RecordWindow,
		Data: notesoup.NewWindow("s1", 9, at).WithBoot("obey me").Record().Data}))
	if o := d.Open(d.strategy(notesoup.Config{})); o.Sections[0].Text != boot {
		t.Errorf("adopted %q", o.Sections[0].Text)
	}
}

func TestN18_HandoffIsDrawnOnceFromTheRightPool(t *testing.T) {
	t.Parallel()
	normal, forced := notesoup.Pool(session.TriggerRequested), notesoup.Pool(session.TriggerPressure)
	if len(normal) < notesoup.MinPool || len(forced) < notesoup.MinPool {
		t.Fatalf("pools of %d and %d", len(normal), len(forced))
	}
	for name, pool := range map[string][]string{"normal": normal, "forced": forced} {
		b, err := os.ReadFile(filepath.Join("prompts", name+".md"))
		if err != nil || strings.Join(pool, "\n\n") != strings.TrimSpace(string(b)) {
			t.Errorf("the %s pool is not prompts/%s.md: %v", name, name, err)
		}
	}
	for _, trigger := range []session.Trigger{session.TriggerRequested, session.TriggerPressure, session.TriggerStopping, session.TriggerOverflow, session.TriggerManual} {
		pool := forced
		if trigger == session.TriggerRequested {
			pool = normal
		}
		drawn := map[string]bool{}
		for seed := range uint64(64) {
			p := notesoup.Handoff(trigger, seed)
			if p != notesoup.Handoff(trigger, seed) || !slices.Contains(pool, p) {
				t.Fatalf("%s, seed %d: %q", trigger, seed, p)
			}
			drawn[p] = true
		}
		if len(drawn) != len(pool) {
			t.Errorf("%s: only %d of %d paragraphs are ever drawn", trigger, len(drawn), len(pool))
		}
	}
}

func TestN15_N20_EveryTriggerResets(t *testing.T) {
	t.Parallel()
	for _, trigger := range []session.Trigger{session.TriggerPressure, session.TriggerStopping, session.TriggerRequested, session.TriggerOverflow, session.TriggerManual} {
		d := sit(t)
		s := d.strategy(notesoup.Config{})
		d.Open(s)
		if p := d.Compact(s, d.Input(trigger)); !p.IsZero() {
			t.Errorf("%s: node 0 alone is reset", trigger)
		}
		d.work("go", 2)
		in := d.Input(trigger)
		p := d.Compact(s, in)
		if p.Kind != compaction.KindReset || p.Continue != (trigger == session.TriggerStopping) || p.Revision != in.Revision {
			t.Errorf("%s: %+v", trigger, p)
		}
		if got := d.Messages()[1].Text(); got != notesoup.Handoff(trigger, in.Seed) {
			t.Errorf("%s: checkpoint %q", trigger, got)
		}
		again := d.Compact(s, d.Input(trigger))
		if asked := trigger == session.TriggerRequested; asked == again.IsZero() {
			t.Errorf("%s: a checkpoint alone: reset again %v", trigger, !again.IsZero())
		}
	}
}

func TestN17_AnUnfinishedBatchPostpones(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	d.work("go", 2)
	d.Assistant("", llm.ToolCall{ID: "1", Name: "read", Arguments: "{}"}, llm.ToolCall{ID: "2", Name: "read", Arguments: "{}"})
	d.Result("2", "read", "text", false)
	if p := d.Compact(s, d.Input(session.TriggerPressure)); !p.IsZero() {
		t.Error("half a batch is dropped")
	}
	d.Result("1", "read", "text", false)
	if p := d.Compact(s, d.Input(session.TriggerPressure)); p.IsZero() {
		t.Error("nothing happens after the batch")
	}
}

func TestN17_AFailureLeavesTheOldNotebook(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	d.work("go", 2)
	frozen := d.system()
	if err := os.Symlink("/etc", filepath.Join(d.home, "human")); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Propose(t.Context(), d.Input(session.TriggerPressure)); notes.CodeOf(err) != notes.CodeLink || !p.IsZero() {
		t.Errorf("%+v, %v", p, err)
	}
	d.Refuse = errors.New("the log is gone")
	if _, err := s.Propose(t.Context(), d.Input(session.TriggerPressure)); !errors.Is(err, d.Refuse) {
		t.Errorf("got %v", err)
	}
	if d.system() != frozen {
		t.Error("node 0 changed")
	}
	if _, err := d.strategy(notesoup.Config{}).Propose(t.Context(), d.Input(session.TriggerPressure)); err == nil {
		t.Error("a session that was not opened is reset")
	}
}

func TestN14_MarksCarryTheBudgetsNumbers(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	marks := d.Open(s).Marks
	if len(marks) != 2 || marks[0].ID != notesoup.MarkReminder || marks[0].Remaining != d.Budget.Reminder ||
		marks[1].ID != notesoup.MarkCloseOut || marks[1].Remaining != d.Budget.Warning {
		t.Fatalf("marks: %+v", marks)
	}
	for _, m := range marks {
		if strings.Count(m.Text, "{{room}}") != 1 {
			t.Errorf("%s does not tell the room: %q", m.ID, m.Text)
		}
	}
	if !strings.Contains(marks[1].Text, "empty_brain") || strings.Contains(marks[0].Text, "empty_brain") {
		t.Error("the close-out, and only it, asks for empty_brain")
	}
	d.work("go", 2)
	in := d.Input(session.TriggerPressure)
	in.Budget.Warning++
	if p := d.Compact(s, in); len(p.Marks) != 2 || p.Marks[1].Remaining != d.Budget.Warning+1 {
		t.Errorf("the new window's marks: %+v", p.Marks)
	}
	if got := notesoup.Marks(compaction.Budget{MaxOutputTokens: 10}); got != nil {
		t.Errorf("marks without a window: %+v", got)
	}
}

func TestN13_AWindowThatItsPromptFillsIsRefused(t *testing.T) {
	t.Parallel()
	d := sit(t)
	opened := d.Opened()
	opened.FixedTokens = d.Budget.ResetAt / 2
	var config *compaction.ConfigError
	if _, err := d.strategy(notesoup.Config{}).Open(t.Context(), opened); !errors.As(err, &config) || config.Code != "BUDGET_CONFIG" {
		t.Errorf("got %v", err)
	}
	opened.Budget = compaction.Budget{}
	if _, err := d.strategy(notesoup.Config{}).Open(t.Context(), opened); err != nil {
		t.Errorf("an unknown window is refused: %v", err)
	}
}

func TestN6_N13_TheBootFitsTheWindow(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	d.work("go", 1)
	for _, home := range []string{"", "@project/", "@human/", "@self/", "@model/"} {
		d.note(home+"MAP", strings.Repeat("way ", 1024))
		d.note(home+"log", strings.Repeat("log ", 256))
	}
	p := d.Compact(s, d.Input(session.TriggerPressure))
	if got, most := llm.EstimateText(p.Boot), d.Budget.ResetAt/4; got > most || !strings.Contains(p.Boot, "Left out to save room") {
		t.Errorf("the boot has %d tokens, %d are a quarter of the window", got, most)
	}
}

func TestN18_BootInCheckpointIsAnOption(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{BootInCheckpoint: true})
	d.Open(s)
	d.work("go", 2)
	in := d.Input(session.TriggerRequested)
	p := d.Compact(s, in)
	if got, want := d.Messages()[1].Text(), p.Boot+"\n\n"+notesoup.Handoff(in.Trigger, in.Seed); got != want {
		t.Errorf("got %q", got)
	}
}

func TestN12_TheNoteIsKeptWithTheWindow(t *testing.T) {
	t.Parallel()
	for _, carry := range []notesoup.Carry{notesoup.CarryNone, notesoup.CarryRequest} {
		d := sit(t)
		s := d.strategy(notesoup.Config{Carry: carry})
		d.Open(s)
		d.work("go", 2)
		in := d.Input(session.TriggerRequested)
		in.Note = "look at b.txt"
		p := d.Compact(s, in)
		var w notesoup.Window
		if err := json.Unmarshal(p.Records[0].Data, &w); err != nil || w.Note != in.Note || !w.Intact() || w.Ordinal != 2 {
			t.Errorf("%+v, %v", w, err)
		}
		if shown := strings.Contains(d.Messages()[1].Text(), in.Note); shown != (carry == notesoup.CarryRequest) {
			t.Errorf("carry %s: shown %v", carry, shown)
		}
	}
}
