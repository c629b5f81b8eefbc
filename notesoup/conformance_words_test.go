package notesoup_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// granting asks as a host does that takes a postponement, and then once more.
type granting struct{ *notesoup.Strategy }

func (g granting) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	in.MayPostpone = true
	p, err := g.Strategy.Propose(ctx, in)
	if err != nil || !p.Postpone {
		return p, err
	}
	if !p.IsZero() || p.Revision != in.Revision || len(p.Records) > 0 {
		return p, errors.New("what postpones changes something")
	}
	in.MayPostpone = false
	return g.Strategy.Propose(ctx, in)
}

func TestN15_ConformanceWithLastWordsAndStrict(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]notesoup.Config{
		"last words": {Carry: notesoup.CarryRequest, LastWords: true},
		"strict":     {Carry: notesoup.CarryNone, BootInCheckpoint: true, Strict: true},
	} {
		t.Run(name, func(t *testing.T) {
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
				Start:         compactiontest.InProcess(func() compaction.Strategy { return granting{notesoup.New(config, open)} }),
				Kinds:         []compaction.Kind{compaction.KindReset},
				Deterministic: true,
			})
		})
	}
}
