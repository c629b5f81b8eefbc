package fold

import (
	"fmt"

	"github.com/tureen-host/tureen/host/session"
)

// Before is what an undo of the newest compaction gives back. It is kept from the
// compaction to the next answer of the model.
type Before struct {
	Ordinal int              `json:"ordinal"` // of the compaction
	Started int64            `json:"started"` // seq of its compaction.started
	Ended   int64            `json:"ended"`   // seq of its compaction.ended
	Nodes   []Node           `json:"nodes"`   // the surface before it
	Window  int              `json:"window"`
	Marks   []string         `json:"marks,omitempty"`
	Context string           `json:"context,omitempty"`
	Anchor  Anchor           `json:"anchor"`
	Records map[string]int64 `json:"records,omitempty"` // those that it changed: seq of the one before, 0 = there was none
}

// NoUndo says why the newest compaction cannot be undone.
type NoUndo struct {
	Why string
	// At is where a fork begins with the surface from before the compaction, 0 where
	// there is none.
	At int64
}

func (e *NoUndo) Error() string {
	return fmt.Sprintf("the newest compaction cannot be undone: %s", e.Why)
}

// Undoable returns what an undo would give back, or a *NoUndo.
func (s *State) Undoable() (*Before, error) {
	return nil, &NoUndo{Why: "not built yet"}
}

var _ = session.KindCompactionUndone
