package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Directory is where tools start from.
func (a *Agent) Directory() string {
	var dir string
	a.rec.view(func(s *fold.State) { dir = s.Directory })
	return dir
}

// changeDirectory lets tools start from another directory from now on (T22, SP4).
// One that is none changes nothing and warns.
func (a *Agent) changeDirectory(ctx context.Context, to, why string) error {
	from := a.Directory()
	if to == from {
		return nil
	}
	at := a.where()
	if info, err := os.Stat(to); err != nil || !info.IsDir() || !filepath.IsAbs(to) {
		return a.rec.stage(session.New(session.KindWarning, session.Warning{Code: "DIRECTORY",
			Message: fmt.Sprintf("a plugin asked for the working directory %q, which is not an absolute path of a directory", to)}).At(at.Turn, at.Step))
	}
	if err := a.rec.commit(ctx, session.New(session.KindDirectoryChanged, session.DirectoryChanged{From: from, To: to, Why: why}).At(at.Turn, at.Step)); err != nil {
		return err
	}
	if a.Moved == nil {
		return nil
	}
	return a.Moved(ctx, to)
}

// checkDirectory falls back to the workspace where the directory of an earlier
// process is gone.
func (a *Agent) checkDirectory(ctx context.Context) error {
	dir := a.Directory()
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	var workspace string
	a.rec.view(func(s *fold.State) { workspace = s.Created.Workspace })
	if dir == workspace {
		return nil
	}
	a.gone = dir
	return a.rec.commit(ctx, session.New(session.KindDirectoryChanged, session.DirectoryChanged{From: dir, To: workspace, Why: "it is unavailable"}))
}
