package cli

import (
	"encoding/json"
	"errors"
	"iter"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

// logWindows collects windows from events.
type logWindows struct {
	list    []sessionWindow
	head    int64
	started *session.Event // of the compaction whose end is still to come
	ordinal int            // its
	id      string         // of the window that it will begin
	boot    int
}

func newWindows() *logWindows {
	return &logWindows{list: []sessionWindow{{Ordinal: 1, First: 1, Began: "session", Compactions: []contextCompaction{}, Missing: []session.Damage{}}}}
}

func (l *logWindows) read(events iter.Seq2[session.Event, error]) error {
	for e, err := range events {
		var damage *session.Damage
		switch {
		case errors.As(err, &damage):
			l.now().Missing = append(l.now().Missing, *damage)
			continue
		case err != nil:
			return err
		}
		if l.head = e.Seq; l.now().From.IsZero() {
			l.now().From = e.Time
		}
		l.add(e)
	}
	return nil
}

func (l *logWindows) now() *sessionWindow { return &l.list[len(l.list)-1] }

// add takes an event in. A payload that does not decode tells nothing.
func (l *logWindows) add(e session.Event) {
	switch e.Kind {
	case session.KindLost:
		if p, err := session.Decode[session.Lost](e); err == nil {
			l.now().Missing = append(l.now().Missing, session.Damage{From: e.Seq, To: e.Seq, What: p.Why})
		}
	case session.KindCompactionStarted:
		if p, err := session.Decode[session.CompactionStarted](e); err == nil {
			l.started, l.ordinal, l.id, l.boot = &e, p.Ordinal, "", 0
		}
	case session.KindRecord:
		if p, err := session.Decode[session.Record](e); err == nil && p.Kind == "window" {
			l.record(p)
		}
	case session.KindCompactionEnded:
		if p, err := session.Decode[session.CompactionEnded](e); err == nil {
			l.ended(e, p)
		}
		l.started = nil
	case session.KindCompactionUndone:
		if p, err := session.Decode[session.CompactionUndone](e); err == nil {
			l.undone(p.Ordinal)
		}
	}
}

// record names the window that a compaction is about to begin, or the present one.
func (l *logWindows) record(r session.Record) {
	var w struct {
		ID   string `json:"id"`
		Boot string `json:"boot"`
	}
	if json.Unmarshal(r.Data, &w) != nil {
		return
	}
	if l.started != nil {
		l.id, l.boot = w.ID, len(w.Boot)
	} else if now := l.now(); now.ID == "" {
		now.ID, now.BootBytes = w.ID, len(w.Boot)
	}
}

func (l *logWindows) ended(e session.Event, p session.CompactionEnded) {
	c := contextCompaction{Seq: e.Seq, Time: e.Time, Relieved: p.Relieved, CompactionResult: host.CompactionOf(p)}
	if p.Kind != "reset" {
		l.now().Compactions = append(l.now().Compactions, c)
		return
	}
	first, id, boot := e, "", len(p.Boot)
	if l.started != nil && l.ordinal == p.Ordinal {
		if first, id = *l.started, l.id; boot == 0 {
			boot = l.boot
		}
	}
	before := l.now()
	before.Last, before.To, before.Tokens, before.Ended = first.Seq-1, &first.Time, &p.TokensBefore, string(p.Trigger)
	l.list = append(l.list, sessionWindow{Ordinal: before.Ordinal + 1, ID: id, First: first.Seq, From: first.Time, Began: string(p.Trigger),
		Millis: &p.Millis, BootBytes: boot, Compactions: []contextCompaction{c}, Missing: []session.Damage{}})
}

// undone marks a compaction; the window that it began goes on as the one before.
func (l *logWindows) undone(ordinal int) {
	now := l.now()
	for i := range now.Compactions {
		if now.Compactions[i].Ordinal == ordinal && !now.Compactions[i].Undone {
			now.Compactions[i].Undone = true
			if i > 0 || now.Compactions[i].Kind != "reset" || len(l.list) == 1 {
				return
			}
			gone := *now
			l.list = l.list[:len(l.list)-1]
			before := l.now()
			before.Last, before.To, before.Tokens, before.Ended = 0, nil, nil, ""
			before.Compactions = append(before.Compactions, gone.Compactions...)
			before.Missing = append(before.Missing, gone.Missing...)
			return
		}
	}
}
