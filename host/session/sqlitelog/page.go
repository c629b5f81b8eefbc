package sqlitelog

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
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
		for s := newScan(q, head); !s.over(); {
			events, err := r.page(ctx, s)
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(session.Event{}, err)
				return
			}
		}
	}
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

// rare is word for word the condition of the index events_rare; common are its
// kinds.
const rare = `kind NOT IN
    ('step.started', 'step.ended', 'message.assistant', 'tool.started', 'tool.result')`

var common = map[session.Kind]bool{
	session.KindStepStarted: true, session.KindStepEnded: true,
	session.KindMessageAssistant: true, session.KindToolStarted: true,
	session.KindToolResult: true,
}

const columns = `seq, v, time, kind, turn, step, op, op_from, op_to, op_after, data`

// query is the statement of the next page. Where only rare kinds are asked for it
// walks their index instead of the log.
func (s *scan) query() (string, []any) {
	var b strings.Builder
	args := []any{s.after, s.before}
	from, all := "events INDEXED BY events_rare", rare
	for _, k := range s.kinds {
		if common[k] {
			from, all = "events", "true"
		}
		args = append(args, string(k))
	}
	if len(s.kinds) == 0 {
		from, all = "events", "true"
	} else {
		all += " AND kind IN (?" + strings.Repeat(", ?", len(s.kinds)-1) + ")"
	}
	order := "ASC"
	if s.reverse {
		order = "DESC"
	}
	fmt.Fprintf(&b, "SELECT %s FROM %s WHERE seq > ? AND seq < ? AND %s ORDER BY seq %s LIMIT %d",
		columns, from, all, order, s.limit())
	return b.String(), args
}

// limit is how many events the next page may have.
func (s *scan) limit() int {
	if s.left > 0 {
		return min(s.size, s.left)
	}
	return s.size
}

// pass moves the scan behind e. It tells whether an event is missing in between.
func (s *scan) pass(e session.Event) (gap bool) {
	next := s.after + 1
	if s.reverse {
		next, s.before = s.before-1, e.Seq
	} else {
		s.after = e.Seq
	}
	if s.left > 0 {
		s.left--
		s.done = s.left == 0
	}
	return len(s.kinds) == 0 && e.Seq != next
}

// page reads the next events and moves s behind them. It may return events and an
// error.
func (r *reader) page(ctx context.Context, s *scan) ([]session.Event, error) {
	done, err := r.use()
	if err != nil {
		return nil, err
	}
	defer done()
	query, args := s.query()
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, r.fault("read", err)
	}
	defer rows.Close()
	limit, bytes := s.limit(), 0
	events := make([]session.Event, 0, limit)
	for bytes < pageBytes && rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return events, r.fault("read", err)
		}
		if s.pass(e) {
			return events, r.fault("read", damaged(r.path, fmt.Sprintf("there is a gap beside event %d", e.Seq)))
		}
		events, bytes = append(events, e), bytes+len(e.Data)
	}
	s.done = s.done || bytes < pageBytes && len(events) < limit
	s.size = min(2*s.size, maxPage)
	if err := rows.Err(); err != nil {
		return events, r.fault("read", err)
	}
	return events, nil
}

func scanEvent(rows *sql.Rows) (e session.Event, err error) {
	var nanos int64
	var op sql.NullString
	var at session.Op
	err = rows.Scan(&e.Seq, &e.V, &nanos, &e.Kind, &e.Turn, &e.Step, &op, &at.From, &at.To, &at.After, (*[]byte)(&e.Data))
	if err != nil {
		return e, err
	}
	e.Time = time.Unix(0, nanos).UTC()
	if op.Valid {
		at.Kind = session.OpKind(op.String)
		e.Op = &at
	}
	if len(e.Data) == 0 {
		e.Data = nil
	}
	return e, nil
}

// summary reads what the catalogue keeps of the log, in a time that does not grow
// with it.
func (r *reader) summary(ctx context.Context) (session.Summary, error) {
	sum := session.Summary{ID: r.id}
	var first, last, turn session.Event
	var nanos int64
	var kind sql.NullString
	err := r.db.QueryRowContext(ctx, `
		SELECT first.kind, first.data, last.seq, last.v, last.time, turn.kind, turn.data,
			(SELECT count(*) FROM events INDEXED BY events_rare WHERE `+rare+` AND kind = 'turn.started')
		FROM events AS first
		JOIN (SELECT seq, v, time FROM events ORDER BY seq DESC LIMIT 1) AS last
		LEFT JOIN (SELECT kind, data FROM events INDEXED BY events_rare
			WHERE `+rare+` AND kind IN ('turn.started', 'turn.ended') ORDER BY seq DESC LIMIT 1) AS turn
		WHERE first.seq = 1`).Scan(&first.Kind, (*[]byte)(&first.Data), &last.Seq, &last.V, &nanos,
		&kind, (*[]byte)(&turn.Data), &sum.Turns)
	if err == sql.ErrNoRows {
		return sum, r.fault("open", damaged(r.path, "the first event is missing"))
	}
	if err != nil {
		return sum, r.fault("open", err)
	}
	if err := store.CheckSchema(r.id, last.V); err != nil {
		return sum, err
	}
	turns := sum.Turns
	first.Seq = 1
	store.Fold(&sum, first)
	turn.Kind, turn.Seq, turn.Time = session.Kind(kind.String), last.Seq, time.Unix(0, nanos).UTC()
	store.Fold(&sum, turn)
	sum.Turns = turns
	return sum, nil
}
