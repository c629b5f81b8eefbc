package sqlitelog

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// summed are the kinds whose newest event a summary is made of, besides the first
// event and the last.
var summed = []session.Kind{session.KindTurnStarted, session.KindTurnEnded, session.KindSessionArchived}

// summary reads what the catalogue keeps of the log, in a time that does not grow
// with it.
func (r *reader) summary(ctx context.Context) (session.Summary, error) {
	sum := session.Summary{ID: r.id}
	events, err := r.landmarks(ctx)
	if err != nil {
		return sum, r.fault("open", err)
	}
	if len(events) == 0 || events[0].Seq != 1 || events[0].Kind != session.KindSessionCreated {
		return sum, r.fault("open", &session.Damage{From: 1, To: 1, What: "nothing is there"})
	}
	if err := store.CheckSchema(r.id, events[len(events)-1].V); err != nil {
		return sum, err
	}
	for _, e := range events {
		store.Fold(&sum, e)
	}
	return sum, nil
}

// landmarks reads, in the order of the log, the first event, the newest of each
// summed kind, and of the last one where it stands.
func (r *reader) landmarks(ctx context.Context) ([]session.Event, error) {
	index := " INDEXED BY events_kind"
	if r.version < sumVersion {
		index = ""
	}
	query, args := "SELECT * FROM (SELECT "+columns+", "+r.crc()+" FROM events WHERE seq = 1)", []any{}
	for _, k := range summed {
		query += fmt.Sprintf(" UNION ALL SELECT * FROM (SELECT %s, %s FROM events%s WHERE %s AND kind = ? ORDER BY seq DESC LIMIT 1)",
			columns, r.crc(), index, rare)
		args = append(args, string(k))
	}
	query += " UNION ALL SELECT * FROM (SELECT seq, v, time, '', 0, 0, NULL, 0, 0, 0, NULL, NULL FROM events ORDER BY seq DESC LIMIT 1)"
	rows, err := r.db.QueryContext(ctx, "SELECT * FROM ("+query+") ORDER BY 1", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var events []session.Event
	for rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, rows.Err()
}
