package sqlitelog

import (
	"context"
	"fmt"
)

// faultsShown is how many faults of a file Inspect tells of.
const faultsShown = 20

// Inspect implements session.Inspector: SQLite holds the pages, the tables and their
// indexes against each other. An index that does not fit would hide events from a
// Read by kinds, and a wrong pointer the end of the log from every Read.
func (r *reader) Inspect(ctx context.Context) ([]string, error) {
	done, err := r.use()
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := r.db.QueryContext(ctx, fmt.Sprintf(`PRAGMA integrity_check(%d)`, faultsShown))
	if err != nil {
		return nil, r.fault("inspect", err)
	}
	defer rows.Close()
	var found []string
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
