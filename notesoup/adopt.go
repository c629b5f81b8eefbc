package notesoup

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/tureen-host/tureen/host/session"
)

// adopt finds the window that the log is in and the seq at which it begins (N2,
// N19): the newest record, or, where that is lost, the boot in the newest
// compaction, or else the marked section of the newest system message. kept is
// false where the record is lost. A compaction that was undone counts for nothing,
// and a record that an undo wrote again begins where it was written first. Notes are
// not read. A zero Window means that there has been none.
func adopt(ctx context.Context, log session.Access) (w Window, since int64, kept bool, err error) {
	for e, err := range inForce(ctx, log) {
		if err != nil {
			return Window{}, 0, false, fmt.Errorf("notesoup: find the window in the log: %w", err)
		}
		switch found, ok := e.window(); {
		case !ok:
		case e.Kind == session.KindRecord && w.ID != "" && found.ID != w.ID:
			return w, since, kept, nil
		case e.Kind == session.KindRecord && e.again:
			w, since, kept = found, e.Seq, true
		case e.Kind == session.KindRecord:
			return found, e.Seq, true, nil
		case kept: // it is the record's first place that is looked for
		case w.ID != "":
			return w, since, false, nil
		default:
			w, since = found, e.Seq
		}
	}
	if w.ID != "" {
		return w, since, kept, nil
	}
	return fromSystem(ctx, log)
}

// entry is a record, or the end of a compaction. again tells of a record that an undo
// wrote again.
type entry struct {
	session.Event
	again bool
}

// window reads the window of an entry; a record that says null is none.
func (e entry) window() (Window, bool) {
	if e.Kind == session.KindCompactionEnded {
		ended, err := session.Decode[session.CompactionEnded](e.Event)
		if err != nil || ended.Boot == "" {
			return Window{}, false
		}
		w, ok := FindWindow(ended.Boot)
		return w.WithBoot(ended.Boot), ok
	}
	r, err := session.Decode[session.Record](e.Event)
	if err != nil || r.Plugin != Name || r.Kind != RecordWindow {
		return Window{}, false
	}
	var w Window
	return w, json.Unmarshal(r.Data, &w) == nil && w.Intact()
}

// inForce yields records and ends of compactions, the newest first, but for those of
// compactions that were undone.
func inForce(ctx context.Context, log session.Access) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		var run []session.Event // records that stand one behind the other: those of an undo do
		pass := func(again bool) bool {
			for _, e := range run {
				if !yield(entry{e, again}, nil) {
					return false
				}
			}
			run = run[:0]
			return true
		}
		var u undone
		for e, err := range newest(ctx, log, 3, 0, session.KindRecord, session.KindCompactionEnded, session.KindCompactionStarted, session.KindCompactionUndone) {
			if err != nil {
				yield(entry{}, err)
				return
			}
			joins := len(run) > 0 && e.Seq == run[len(run)-1].Seq-1 && (e.Kind == session.KindRecord || e.Kind == session.KindCompactionUndone)
			if !joins && !pass(false) {
				return
			}
			switch {
			case u.covers(e):
			case e.Kind == session.KindRecord:
				run = append(run, e)
			case e.Kind == session.KindCompactionEnded && !yield(entry{e, false}, nil):
				return
			case e.Kind == session.KindCompactionUndone && !pass(true):
				return
			}
		}
		pass(false)
	}
}

// undone is what a walk from the newest event to the oldest knows of compactions that
// were undone.
type undone struct {
	end int64 // of the one whose start has not come yet, 0 = none
}

// covers tells whether an event belongs to a compaction that was undone.
func (u *undone) covers(e session.Event) bool {
	if e.Kind == session.KindCompactionUndone {
		if p, err := session.Decode[session.CompactionUndone](e); err == nil {
			u.end = p.Seq
		}
		return false
	}
	within := e.Seq <= u.end
	if within && e.Kind == session.KindCompactionStarted {
		u.end = 0
	}
	return within
}

// fromSystem reads the window back from the newest system message with a boot, but
// for those from the start of an undone compaction to its undo.
func fromSystem(ctx context.Context, log session.Access) (Window, int64, bool, error) {
	var u undone
	for e, err := range newest(ctx, log, 1, 0, session.KindMessageSystem, session.KindCompactionStarted, session.KindCompactionUndone) {
		if err != nil {
			return Window{}, 0, false, fmt.Errorf("notesoup: find the window in the system message: %w", err)
		}
		if u.covers(e); u.end > 0 || e.Kind != session.KindMessageSystem {
			continue
		}
		m, err := session.Decode[session.Message](e)
		if err != nil || m.Message == nil {
			continue
		}
		if w, ok := FindWindow(m.Message.Text()); ok {
			return w, e.Seq, false, nil
		}
	}
	return Window{}, 0, false, nil
}
