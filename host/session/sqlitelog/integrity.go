package sqlitelog

import (
	"context"
	"fmt"
)

// faultsShown is how many faults of a file Inspect tells of.
const faultsShown = 20

// Inspect implements session.Inspector. The catalogue may know of more events than
// there are, and a snapshot that is not what was stored counts as none elsewhere.
// Beyond that SQLite holds the pages, the tables and their indexes against each other:
// an index that does not fit would hide events from a Read by kinds, and a wrong
// pointer the end of the log from every Read.
func (r *reader) Inspect(ctx context.Context) ([]string, error) {
	done, err := r.use()
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := r.missing(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := r.db.QueryContext(ctx, fmt.Sprintf(`PRAGMA integrity_check(%d)`, faultsShown))
	if err != nil {
		return nil, r.fault("inspect", err)
	}
	defer rows.Close()
	for rows.Next() {
		var what string
		if err := rows.Scan(&what); err != nil {
			return found, r.fault("inspect", err)
		}
		if what != "ok" {
			found = append(found, what)
		}
	}
	if err := rows.Err(); err != nil {
		return found, r.fault("inspect", err)
	}
	return found, nil
}

// missing says what the rows that do read do not tell of themselves. The catalogue is
// asked first, as an owner notes there what is in the log already.
func (r *reader) missing(ctx context.Context) (found []string, err error) {
	expected, head := r.expected(ctx), int64(0)
	if err := r.db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM events`).Scan(&head); err != nil {
		return nil, r.fault("inspect", err)
	}
	if expected > head {
		found = append(found, fmt.Sprintf("the log ends at event %d, and the catalogue knew of %d events", head, expected))
	}
	unsummed, err := r.unsummed(ctx)
	if err != nil {
		return found, err
	}
	found = append(found, unsummed...)
	_, _, spoilt, err := r.snapshot(ctx)
	if spoilt {
		found = append(found, "the snapshot is not what was stored (the checksum differs); it is not used")
	}
	return found, err
}

// unsummed names events without a sum that stand behind one that has it.
func (r *reader) unsummed(ctx context.Context) (found []string, err error) {
	if r.version < sumVersion {
		return nil, nil
	}
	rows, err := r.db.QueryContext(ctx, `SELECT seq FROM events WHERE crc IS NULL
		AND seq > (SELECT seq FROM events WHERE crc IS NOT NULL ORDER BY seq LIMIT 1) LIMIT ?`, faultsShown)
	if err != nil {
		return nil, r.fault("inspect", err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			return found, r.fault("inspect", err)
		}
		found = append(found, fmt.Sprintf("event %d has no checksum, and one before it has", seq))
	}
	if err := rows.Err(); err != nil {
		return found, r.fault("inspect", err)
	}
	return found, nil
}
