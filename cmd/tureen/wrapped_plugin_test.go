package main_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/plugins/builtin"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// How a shipped strategy behaves in a plugin of this test binary, named WAY-STRATEGY.
const (
	wayHeld  = "held"  // the first time it is asked it says so in a file and never answers
	wayStale = "stale" // it answers for another revision of the log
)

// wrapped writes a plugin that is a shipped strategy with a way of its own, and has a
// crew use it.
func (p *crew) wrapped(t *testing.T, way, strategy string) {
	t.Helper()
	name := way + "-" + strategy
	faulty(t, p.sandbox, name)
	write(t, p.path("work", "crash.toml"), strings.Replace(crashProfile, "[[plugins]]\nuse = \"notesoup\"\n", "", 1))
	p.flags = append(p.flags, "-c", "compaction.strategy=./"+name)
	p.files = append(p.files[:len(p.files):len(p.files)], name, markHeld)
}

// markHeld is the file that a held strategy leaves.
const markHeld = "asked"

// serveWrapped serves such a plugin; false means that the name is none of theirs.
func serveWrapped(name string) bool {
	way, strategy, _ := strings.Cut(name, "-")
	if way != wayHeld && way != wayStale {
		return false
	}
	p, err := builtin.Lookup(strategy, "test")
	if err != nil {
		return false
	}
	p.Name = name
	start := p.Start
	p.Start = func(ctx context.Context, init sdk.Init) (sdk.Services, error) {
		s, err := start(ctx, init)
		s.Strategy = &wayward{Strategy: s.Strategy, way: way}
		return s, err
	}
	sdk.Serve(p)
	return true
}

// wayward is a strategy with a way of its own.
type wayward struct {
	compaction.Strategy
	way, workspace string
}

// Open implements compaction.Strategy.
func (w *wayward) Open(ctx context.Context, s compaction.Session) (compaction.Opening, error) {
	w.workspace = s.Workspace
	return w.Strategy.Open(ctx, s)
}

// Propose implements compaction.Strategy.
func (w *wayward) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	if w.way == wayHeld {
		mark, err := os.OpenFile(filepath.Join(w.workspace, markHeld), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_ = mark.Close()
			<-ctx.Done()
			select {}
		}
	}
	p, err := w.Strategy.Propose(ctx, in)
	if w.way == wayStale && p.Revision > 0 {
		p.Revision--
	}
	return p, err
}
