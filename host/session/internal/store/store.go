// Package store holds what every session.Store does alike: the rule for ids, the
// stamping of a batch and of a mail, the fold of a Summary and the search by prefix.
package store

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// Statuses of a Summary that are no turn's reason.
const (
	StatusIdle    = "idle"    // no turn so far
	StatusRunning = "running" // a turn is open
	StatusDamaged = "damaged" // the storage does not read
	StatusNewer   = "newer"   // written by a newer version
)

// Last is what Resolve takes for the newest session; no session may be called so.
const Last = "last"

// CheckID tells whether id may name a session: 1 to 64 of a-z, 0-9 and "-", so
// that no id can be a path.
func CheckID(id string) error {
	bad := strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
	if bad || id == "" || len(id) > 64 {
		return fmt.Errorf("session id %q: want 1 to 64 of a-z, 0-9 and \"-\"", id)
	}
	if id == Last {
		return fmt.Errorf("session id %q: the word stands for the newest session; choose another id", id)
	}
	return nil
}

// NotFound is the error for an id that names no session.
func NotFound(id string) error {
	return fmt.Errorf("no session %q (%w); list the sessions to see which there are", id, session.ErrNotFound)
}

// Exists is the error for an id that is taken. It is fs.ErrExist.
func Exists(id string) error {
	return fmt.Errorf("session %s: the id is in use (%w); choose another id", id, fs.ErrExist)
}

// Closed is the error of a handle that is used after Close. It is fs.ErrClosed.
func Closed(id string) error {
	return fmt.Errorf("session %s: the log was closed before (%w); open the session again", id, fs.ErrClosed)
}

// Conflict is the error of a batch that was made for another head.
func Conflict(id string, want, found int64) error {
	return fmt.Errorf("session %s: batch made for head %d, log is at %d (%w); read on from there", id, want, found, session.ErrConflict)
}

// NoMail is the error of a batch that takes a mail which is not there.
func NoMail(mail int64) error {
	return fmt.Errorf("batch takes mail %d: it does not wait, or not any more (%w), nothing was written; read the mail again",
		mail, session.ErrNoMail)
}

// CheckSchema refuses a log whose newest event has a payload version that this
// binary does not know.
func CheckSchema(id string, v int) error {
	if v <= session.SchemaVersion {
		return nil
	}
	return fmt.Errorf("session %s: events of schema %d, this version reads up to %d (%w); use a newer tureen",
		id, v, session.SchemaVersion, session.ErrNewer)
}

// Stamp returns copies of b's events, ready to be stored: seqs after b.Head,
// times in UTC, now where an event has none, and nil for empty data. The copies
// share nothing with b.
func Stamp(b session.Batch, now time.Time) ([]session.Event, error) {
	events := make([]session.Event, len(b.Events))
	for i, e := range b.Events {
		if e.Time.IsZero() {
			e.Time = now
		}
		e, err := stored(e)
		if err != nil {
			return nil, fmt.Errorf("event %d of the batch (%s): %w", i, e.Kind, err)
		}
		e.Seq = b.Head + int64(i) + 1
		events[i] = e
	}
	return events, nil
}

// stored returns e as it comes back from a store, sharing nothing.
func stored(e session.Event) (session.Event, error) {
	if err := storable(e.Time); err != nil {
		return e, err
	}
	e.Time = e.Time.Round(0).UTC()
	if e.Op != nil {
		op := *e.Op
		e.Op = &op
	}
	e.Data = bytes.Clone(e.Data)
	if len(e.Data) == 0 {
		e.Data = nil
	}
	return e, nil
}

var (
	earliest = time.Unix(0, math.MinInt64)
	latest   = time.Unix(0, math.MaxInt64)
)

// storable refuses what is no number of nanoseconds since 1970.
func storable(t time.Time) error {
	if t.After(earliest) && t.Before(latest) {
		return nil
	}
	return fmt.Errorf("time %s cannot be stored; want a year from 1678 to 2261", t.Format(time.RFC3339))
}

// StampMail returns m ready to be stored: its time in UTC, now where it has none,
// and from this process where it names no other.
func StampMail(m session.Mail, now time.Time) (session.Mail, error) {
	if m.Time.IsZero() {
		m.Time = now
	}
	if err := storable(m.Time); err != nil {
		return m, fmt.Errorf("mail %q: %w", m.Command, err)
	}
	m.Time = m.Time.Round(0).UTC()
	m.From = cmp.Or(m.From, Process())
	return m, nil
}

// Process names this process as an owner or a sender of mail.
func Process() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("pid %d on %s", os.Getpid(), host)
}

// First makes the event that a log begins with. A zero created.Time becomes now.
func First(created session.Created, now time.Time) session.Event {
	if created.Time.IsZero() {
		created.Time = now
	}
	created.Time = created.Time.Round(0).UTC()
	e := session.New(session.KindSessionCreated, created)
	e.Time = created.Time
	return e
}

// Fold carries s past e, the next event of its log. ID and Bytes are the store's
// to fill. Turns is the ordinal of the newest turn, which its event carries: nothing
// is counted, so events in between may be left out.
func Fold(s *session.Summary, e session.Event) {
	s.Events, s.Updated = e.Seq, e.Time
	switch {
	case e.Seq == 1 && e.Kind == session.KindSessionCreated:
		c, _ := session.Decode[session.Created](e)
		s.Title, s.Profile, s.Strategy, s.Workspace = c.Title, c.Profile, c.Strategy, c.Workspace
		s.Created, s.Status, s.Parent, s.Origin = c.Time, StatusIdle, c.Parent, c.Origin
	case e.Kind == session.KindTurnStarted:
		s.Turns, s.Status = e.Turn, StatusRunning
	case e.Kind == session.KindTurnEnded:
		ended, _ := session.Decode[session.TurnEnded](e)
		s.Status = string(cmp.Or(ended.Reason, session.ReasonError))
	case e.Kind == session.KindSessionArchived:
		a, _ := session.Decode[session.Archived](e)
		s.Archived = a.Archived
	}
	if e.V > session.SchemaVersion {
		s.Status = StatusNewer
	}
}

// Sort puts the newest session first.
func Sort(list []session.Summary) {
	slices.SortFunc(list, func(a, b session.Summary) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
}

// Resolve finds a session in list, which is sorted: the one called prefix, else
// the only one whose id starts with it; "last" is the newest of a person's own
// that reads and is not archived, else the newest archived one, else the newest.
func Resolve(list []session.Summary, prefix string) (string, error) {
	prefix = strings.ToLower(prefix)
	if prefix == "" {
		return "", fmt.Errorf("no session named (%w); give an id, its beginning or %q", session.ErrNotFound, Last)
	}
	if prefix == Last {
		if len(list) == 0 {
			return "", fmt.Errorf("no session so far (%w); start one first", session.ErrNotFound)
		}
		return last(list).ID, nil
	}
	var ids []string
	for _, s := range list {
		if s.ID == prefix {
			return s.ID, nil
		}
		if strings.HasPrefix(s.ID, prefix) {
			ids = append(ids, s.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", NotFound(prefix)
	case 1:
		return ids[0], nil
	}
	return "", ambiguous(prefix, ids)
}

// last picks from a list that is not empty.
func last(list []session.Summary) session.Summary {
	for _, archived := range []bool{false, true} {
		i := slices.IndexFunc(list, func(s session.Summary) bool {
			return s.Status != StatusDamaged && s.Status != StatusNewer && s.Parent == "" && s.Archived == archived
		})
		if i >= 0 {
			return list[i]
		}
	}
	return list[0]
}

func ambiguous(prefix string, ids []string) error {
	const named = 8
	more := ""
	if n := len(ids) - named; n > 0 {
		ids, more = ids[:named], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("several sessions begin with %q: %s%s (%w); give more of the id", prefix, strings.Join(ids, ", "), more, session.ErrAmbiguous)
}
