package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// How far back a session's log is searched for what it wrote: of the newest calls,
// which are small, and of the results behind a call.
const (
	maxCallsRead  = 5000
	maxWritesRead = 200
	besideWrite   = 16
)

// noteWrite is a write of a session.
type noteWrite struct {
	notes.Told
	session string
	seq     int64
	time    time.Time
}

// noteWrites are a session's newest writes, newest first.
type noteWrites []noteWrite

// noteWrites finds them in the log. What does not read of a damaged one is only not
// told.
func (a *app) noteWrites(ctx context.Context, prefix string) (all noteWrites, err error) {
	err = a.withSession(ctx, prefix, func(row session.Summary, r session.Reader) error {
		q := session.Query{Kinds: []session.Kind{session.KindToolStarted}, Reverse: true, Limit: maxCallsRead}
		for e, err := range r.Read(ctx, q) {
			if errors.Is(err, session.ErrDamaged) {
				return nil
			}
			if err != nil {
				return err
			}
			call, err := session.Decode[session.ToolStarted](e)
			if err != nil || call.Name != "notes_write" && call.Name != "notes_edit" {
				continue
			}
			if w, ok := writeOf(ctx, r, e.Seq, call.CallID); ok {
				w.session = row.ID
				all = append(all, w)
			}
			if len(all) == maxWritesRead {
				break
			}
		}
		return nil
	})
	return all, err
}

// writeOf reads the receipt of a call that was started at seq.
func writeOf(ctx context.Context, r session.Reader, started int64, id string) (noteWrite, bool) {
	q := session.Query{Kinds: []session.Kind{session.KindToolResult}, After: started, Limit: besideWrite}
	for e, err := range r.Read(ctx, q) {
		if err != nil {
			break
		}
		result, err := session.Decode[session.ToolResult](e)
		if err != nil || result.Message == nil || result.Message.CallID != id {
			continue
		}
		line, _, _ := strings.Cut(result.Message.Text(), "\n")
		told, ok := notes.ReadReceipt(line)
		return noteWrite{Told: told, seq: e.Seq, time: e.Time}, ok && !result.Message.IsError
	}
	return noteWrite{}, false
}

// of are the writes that made texts at an address.
func (all noteWrites) of(address string) (found noteWrites) {
	for _, w := range all {
		if w.Rev != "" && (w.Address == address && w.MovedTo == "" || w.MovedTo == address) {
			found = append(found, w)
		}
	}
	return found
}

// lengths are how long the texts were that the session wrote to an address.
func (all noteWrites) lengths(address string) (n []int) {
	for _, w := range all.of(address) {
		n = append(n, w.CodePoints)
	}
	return n
}

// row is a version with what is known of its making.
func (all noteWrites) row(v notes.Version) noteVersion {
	row := noteVersion{Address: v.String(), Rev: v.Rev, Bytes: v.Bytes, Written: v.Written, EndedBy: v.By, Problem: string(v.Unreadable)}
	if !v.Ended.IsZero() {
		row.Ended = &v.Ended
	}
	for _, w := range all.of(row.Address) {
		if w.Rev == v.Rev && !w.time.Before(v.Written.Add(-besideTime)) { // the oldest that is no older
			row.MadeBy, row.Session, row.Seq = w.By, w.session, w.seq
		}
	}
	return row
}

// besideTime is how far the times of one write may lie apart in the log, the note and
// the trash.
const besideTime = 2 * time.Second

// byOthers tells how versions were made that the session did not make: as the one
// before them ended, right when they were written. rows are newest first.
func byOthers(rows []noteVersion) {
	older := map[string]*noteVersion{}
	for i := len(rows) - 1; i >= 0; i-- {
		v := &rows[i]
		before := older[v.Address]
		if v.MadeBy == "" && before != nil && before.Ended != nil && before.EndedBy != notes.Moved && before.EndedBy != notes.Deleted &&
			v.Written.Sub(*before.Ended).Abs() < besideTime {
			v.MadeBy = before.EndedBy
		}
		older[v.Address] = v
	}
}

// addAppends adds the texts of a note that were appended to: each is the beginning of
// one of those that are kept, and ended when the next was written.
func (all noteWrites) addAppends(rows []noteVersion, texts []string) []noteVersion {
	if len(rows) == 0 {
		return rows
	}
	address := rows[0].Address
	for _, w := range all.of(address) {
		has := func(v noteVersion) bool { return v.Rev == w.Rev }
		if slices.ContainsFunc(rows, has) {
			continue
		}
		i := slices.IndexFunc(texts, func(text string) bool { return notes.Rev(notes.Head(text, w.CodePoints)) == w.Rev })
		if i < 0 {
			continue
		}
		next := slices.IndexFunc(all, func(n noteWrite) bool { return n.Address == address && n.Was == w.Rev && n.seq > w.seq })
		row := noteVersion{Address: address, Rev: w.Rev, Bytes: int64(len(notes.Head(texts[i], w.CodePoints))), Written: w.time,
			MadeBy: w.By, Session: w.session, Seq: w.seq, Ended: &w.time, EndedBy: notes.Appended}
		if next >= 0 {
			row.Ended = &all[next].time
		}
		rows = append(rows, row)
	}
	return rows
}
