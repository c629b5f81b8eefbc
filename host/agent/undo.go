package agent

import (
	"context"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Undo takes the newest compaction back, and has automatic compaction rest. It must
// not run beside Run. The error is a *fold.NoUndo where there is nothing to take
// back any more.
func (a *Agent) Undo(ctx context.Context, from string) (session.CompactionUndone, error) {
	return session.CompactionUndone{}, &fold.NoUndo{Why: "not built yet"}
}
