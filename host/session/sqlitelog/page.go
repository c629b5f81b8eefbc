package sqlitelog

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// A page ends after this many events, or after the event that brings it to this
// many bytes. The first page is small, for readers that want little.
const (
	firstPage = 32
	maxPage   = 512
	pageBytes = 1 << 20
)

// Read implements session.Reader. It holds one page in memory and nothing in the
// database between two pages: a slow reader is in nobody's way.
func (r *reader) Read(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		head, err := r.Head(ctx)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		s := newScan(q, head)
		if q.Text != "" {
			r.search(ctx, q.Text, head, s, yield)
			return
		}
		r.scan(ctx, s, yield)
	}
}

// scan yields what is left of s. It tells whether more is wanted.
func (r *reader) scan(ctx context.Context, s *scan, yield func(session.Event, error) bool) bool {
	for !s.over() {
		events, err := r.page(ctx, s)
		for _, e := range events {
			if !yield(e, nil) {
				return false
			}
		}
		if err != nil {
			yield(session.Event{}, err)
			return false
		}
	}
	return true
}

// scan is what is left to read of a query.
type scan struct {
	after, before int64 // exclusive
	left          int   // events; 0 = no bound
	kinds         []session.Kind
	reverse       bool
	size          int // events of the next page
	done          bool
}

func newScan(q session.Query, head int64) *scan {
	s := &scan{after: max(q.After, 0), before: head + 1, left: max(q.Limit, 0),
		kinds: q.Kinds, reverse: q.Reverse, size: firstPage}
	if q.Before > 0 {
		s.before = min(s.before, q.Before)
	}
	return s
}

func (s *scan) over() bool { return s.done || s.before-s.after <= 1 }

// rare is word for word the condition of the index events_kind; common are its
// kinds.
const rare = `kind NOT IN
    ('step.started', 'step.ended', 'message.assistant', 'tool.started', 'tool.result')`

var common = map[session.Kind]bool{
	session.KindStepStarted: true, session.KindStepEnded: true,
	session.KindMessageAssistant: true, session.KindToolStarted: true,
	session.KindToolResult: true,
}

const columns = `seq, v, time, kind, turn, step, op, op_from, op_to, op_after, data`

// maxMerge bounds the kinds that are looked up one by one.
const maxMerge = 40

// query is the statement of the next page. Rare kinds are found in their index, each
// by itself, and merged; common ones are met soon on a walk along the log.
func (s *scan) query(r *reader) (string, []any) {
	order := "ASC"
	if s.reverse {
		order = "DESC"
	}
	kinds := s.kindSet()
	if r.version < sumVersion || len(kinds) == 0 || len(kinds) > maxMerge || slices.ContainsFunc(kinds, isCommon) {
		text, args := s.walk(r.crc(), kinds)
		return fmt.Sprintf("%s ORDER BY seq %s LIMIT %d", text, order, s.limit()), args
	}
	var parts []string
	var args []any
	for _, k := range kinds {
		parts = append(parts, "SELECT "+columns+", crc FROM events INDEXED BY events_kind WHERE "+rare+" AND kind = ? AND seq > ? AND seq < ?")
		args = append(args, string(k), s.after, s.before)
	}
	return fmt.Sprintf("%s ORDER BY seq %s LIMIT %d", strings.Join(parts, " UNION ALL "), order, s.limit()), args
}

func isCommon(k session.Kind) bool { return common[k] }

// kindSet is the kinds asked for, each once.
func (s *scan) kindSet() []session.Kind {
	return slices.Compact(slices.Sorted(slices.Values(s.kinds)))
}

// walk is the statement that passes over the log itself.
func (s *scan) walk(crc string, kinds []session.Kind) (string, []any) {
	text, args := "SELECT "+columns+", "+crc+" FROM events WHERE seq > ? AND seq < ?", []any{s.after, s.before}
	if len(kinds) > 0 {
		text += " AND kind IN (?" + strings.Repeat(", ?", len(kinds)-1) + ")"
	}
	for _, k := range kinds {
		args = append(args, string(k))
	}
	return text, args
}

// limit is how many events the next page may have.
func (s *scan) limit() int {
	if s.left > 0 {
		return min(s.size, s.left)
	}
	return s.size
}

// gap is the damage where events are missing between those that were passed and
// seq, nil where none is.
func (s *scan) gap(seq int64) error {
	from, to := s.after+1, seq-1
	if s.reverse {
		from, to = seq+1, s.before-1
	}
	if len(s.kinds) > 0 || from > to {
		return nil
	}
	return &session.Damage{From: from, To: to, What: "nothing is there"}
}

// pass moves the scan behind seq.
func (s *scan) pass(seq int64) {
	if s.reverse {
		s.before = seq
	} else {
		s.after = seq
	}
	if s.left > 0 {
		s.left--
		s.done = s.left == 0
	}
}

// page reads the next events and moves s behind them. It may return events and an
// error.
func (r *reader) page(ctx context.Context, s *scan) ([]session.Event, error) {
	done, err := r.use()
	if err != nil {
		return nil, err
	}
	defer done()
	query, args := s.query(r)
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, r.fault("read", err)
	}
	defer rows.Close()
	limit, bytes := s.limit(), 0
	events := make([]session.Event, 0, limit)
	for bytes < pageBytes && rows.Next() {
		e, err := scanEvent(rows)
		if e.Seq > 0 && (e.Seq <= s.after || e.Seq >= s.before) { // it would be read for ever
			return events, r.fault("read", &session.Damage{From: s.after + 1, To: s.before - 1, What: fmt.Sprintf("event %d stands in their place", e.Seq)})
		}
		if gap := s.gap(e.Seq); gap != nil && e.Seq > 0 {
			return events, r.fault("read", gap)
		}
		if err != nil {
			return events, r.fault("read", err)
		}
		s.pass(e.Seq)
		events, bytes = append(events, e), bytes+len(e.Data)
	}
	s.done = s.done || bytes < pageBytes && len(events) < limit
	s.size = min(2*s.size, maxPage)
	if err := rows.Err(); err != nil {
		return events, r.fault("read", err)
	}
	return events, nil
}

// scanEvent reads a row of columns and its sum. With damage it returns the seq alone.
func scanEvent(rows *sql.Rows) (e session.Event, err error) {
	var nanos int64
	var op sql.NullString
	var at session.Op
	var stored sql.NullInt64
	err = rows.Scan(&e.Seq, &e.V, &nanos, &e.Kind, &e.Turn, &e.Step, &op, &at.From, &at.To, &at.After, (*[]byte)(&e.Data), &stored)
	if err != nil {
		if rows.Err() == nil { // a column of a type that it cannot have
			err = &session.Damage{From: e.Seq, To: e.Seq, What: err.Error()}
		}
		return session.Event{Seq: e.Seq}, err
	}
	e.Time = time.Unix(0, nanos).UTC()
	if op.Valid {
		at.Kind = session.OpKind(op.String)
		e.Op = &at
	}
	if len(e.Data) == 0 {
		e.Data = nil
	}
	if stored.Valid && stored.Int64 != sum(e) {
		return session.Event{Seq: e.Seq}, badSum(e.Seq)
	}
	return e, nil
}
