package notesoup_test

import (
	"path/filepath"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	tree, err := notes.Open(filepath.Join(t.TempDir(), "notes"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	open := func(s compaction.Session) (*notes.Store, error) {
		return tree.Store(notes.Who{Session: s.ID, Created: s.Created, Agent: s.Agent, Provider: s.Provider, Model: s.Model, Workspace: s.Workspace})
	}
	compactiontest.Run(t, &compactiontest.Subject{
		Start: compactiontest.InProcess(func() compaction.Strategy {
			return notesoup.New(notesoup.Config{Carry: notesoup.CarryRequest}, open)
		}),
		Kinds:         []compaction.Kind{compaction.KindReset},
		Deterministic: true,
	})
}
