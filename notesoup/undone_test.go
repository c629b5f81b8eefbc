package notesoup_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup"
)

// newestOf is the newest event of a kind before a seq, 0 for the newest of all.
func (d *desk) newestOf(k session.Kind, before int64) session.Event {
	d.t.Helper()
	for e, err := range d.Events(d.t.Context(), session.Query{Kinds: []session.Kind{k}, Before: before, Reverse: true, Limit: 1}) {
		if err != nil {
			d.t.Fatal(err)
		}
		return e
	}
	d.t.Fatalf("the log has no %s", k)
	return session.Event{}
}

// undo takes the newest compaction back as the host does: the event, and behind it
// the record from before.
func (d *desk) undo(system string) {
	d.t.Helper()
	started, ended := d.newestOf(session.KindCompactionStarted, 0), d.newestOf(session.KindCompactionEnded, 0)
	d.Append(session.New(session.KindCompactionUndone, session.CompactionUndone{Seq: ended.Seq}))
	data := json.RawMessage("null")
	for e := range d.Events(d.t.Context(), session.Query{Kinds: []session.Kind{session.KindRecord}, Before: started.Seq, Reverse: true, Limit: 1}) {
		r, _ := session.Decode[session.Record](e)
		data = r.Data
	}
	d.Append(session.New(session.KindRecord, session.Record{Plugin: "another", Kind: "window", Data: json.RawMessage(`{}`)}))
	d.Append(session.New(session.KindRecord, session.Record{Plugin: notesoup.Name, Kind: notesoup.RecordWindow, Data: data}))
	if system != "" {
		d.System(system)
	}
}

// boot is what a process that takes the session now would show.
func (d *desk) boot() (text string, records int) {
	d.t.Helper()
	o, err := d.strategy(notesoup.Config{}).Open(d.t.Context(), d.Opened())
	if err != nil {
		d.t.Fatal(err)
	}
	return o.Sections[0].Text, len(o.Records)
}

func TestN2_N19_AfterAnUndoTheWindowIsTheOneBefore(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	d.work("go", 1)
	d.note("first", "in the first window\n")
	d.Compact(s, d.Input(session.TriggerPressure))
	d.work("go on", 1)
	d.note("second", "in the second window\n")
	second, _ := d.boot()
	system := d.system()
	for round := range 3 { // each time another window 3, taken back
		p := d.Compact(s, d.Input(session.TriggerPressure))
		if !strings.Contains(p.Boot, `<notebook window="3"`) || strings.Contains(saved(p.Boot), "first.md") || !strings.Contains(saved(p.Boot), "second.md") {
			t.Fatalf("round %d: the receipts are not those of window 2:\n%s", round, p.Boot)
		}
		d.note("between", "written before the undo\n")
		d.undo(system)
		if boot, records := d.boot(); boot != second || records != 0 {
			t.Errorf("round %d: %d records, and the boot is\n%s", round, records, boot)
		}
	}
	if _, err := s.Open(t.Context(), d.Opened()); err != nil {
		t.Fatal(err)
	}
	d.work("and on", 1)
	if p := d.Compact(s, d.Input(session.TriggerPressure)); !strings.Contains(p.Boot, `<notebook window="3"`) {
		t.Errorf("the ordinal after the undo: %.80s", p.Boot)
	}
}

// saved is the part of a boot that lists the receipts.
func saved(boot string) string {
	_, text, _ := strings.Cut(boot, "\nSaved in the previous window\n")
	return text
}

// forgetful is a log that has lost its records; its pages are as long as asked for.
type forgetful struct{ session.Access }

func (f forgetful) Events(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		limit := q.Limit
		q.Limit = 0
		n := 0
		for e, err := range f.Access.Events(ctx, q) {
			if err == nil && e.Kind == session.KindRecord {
				continue
			}
			if n++; !yield(e, err) || n == limit {
				return
			}
		}
	}
}

func TestN19_WithoutRecordsAnUndoneCompactionIsNotBelieved(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	first := d.Open(s).Sections[0].Text
	d.work("go", 2)
	system := d.system()
	d.Compact(s, d.Input(session.TriggerPressure))
	d.System(d.system() + "\nand a word of a plugin") // node 0 of the second window, once more
	d.undo("")
	opened := d.Opened()
	opened.Access = forgetful{d.Session}
	o, err := d.strategy(notesoup.Config{}).Open(t.Context(), opened)
	if err != nil || o.Sections[0].Text != first || len(o.Records) != 1 {
		t.Errorf("%v, %d records, boot %.80s\nof %.80s", err, len(o.Records), o.Sections[0].Text, system)
	}
}

func TestN19_ARecordThatSaysNullIsNone(t *testing.T) {
	t.Parallel()
	d := sit(t)
	w := notesoup.NewWindow("s1", 2, at).WithBoot("<notebook window=\"2\" id=\"x\">never</notebook>")
	d.work("go", 1)
	d.Append(session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: 1}))
	d.Append(session.New(session.KindRecord, session.Record{Plugin: notesoup.Name, Kind: notesoup.RecordWindow, Data: w.Record().Data}))
	d.Append(session.New(session.KindCompactionEnded, session.CompactionEnded{Ordinal: 1, Boot: w.Boot}))
	if boot, _ := d.boot(); boot != w.Boot {
		t.Fatalf("before the undo: %.80s", boot)
	}
	d.undo("")
	if boot, records := d.boot(); !strings.Contains(boot, `<notebook window="1"`) || records != 1 {
		t.Errorf("%d records, boot %.80s", records, boot)
	}
}

// A compaction of another strategy leaves the window alone, undone or not.
func TestN19_AnUndoneSummaryLeavesTheWindow(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	d.work("go", 2)
	second := d.Compact(s, d.Input(session.TriggerPressure)).Boot
	d.Append(session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: 2, Kind: string(compaction.KindSummary)}))
	ended := d.Append(session.New(session.KindCompactionEnded, session.CompactionEnded{Ordinal: 2, Kind: string(compaction.KindSummary)}))
	if boot, records := d.boot(); boot != second || records != 0 {
		t.Fatalf("%d records, boot %.80s", records, boot)
	}
	d.Append(session.New(session.KindCompactionUndone, session.CompactionUndone{Ordinal: 2, Seq: ended}))
	if boot, records := d.boot(); boot != second || records != 0 {
		t.Errorf("%d records, boot %.80s", records, boot)
	}
}
