package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

func (a *app) sessionImportCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import FILE | -",
		Short: "Make a session of an exported one",
		Long: `Import reads what tureen session export wrote, one event a line, from a file or,
with -, from stdin, and makes a session of it, event for event: exported again it
is the same file. It keeps its id where that is free here, else it gets a new one;
the id goes to stdout.

A file that is no log, or one that breaks the rules that tureen session verify holds
a log against, is refused with the number of the line, and nothing is changed: there
is a session only once all of it is stored. A file that was cut between two lines
looks like a session that broke off; where its last turn has no end, that is said.

"last" goes by when a session was made: name this one by its id.`,
		Example: `  tureen session import run.jsonl
  ssh build tureen session export last | tureen session import -
  tureen session import run.jsonl --json | jq -r .session`,
		Args: arguments(1, 1, "a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			open, name := func() (io.ReadCloser, error) { return os.Open(args[0]) }, args[0]
			if name == "-" {
				open, name = func() (io.ReadCloser, error) { return io.NopCloser(a.in), nil }, "stdin"
			}
			return a.withStore(func(s *store) error {
				moved, err := a.importFrom(cmd.Context(), s, open, name)
				if err != nil {
					return err
				}
				what := "it is as it was exported"
				if moved.Session != moved.From {
					what = "its id " + render.Head(strconv.Quote(moved.From), 40) + " cannot be had here, so it has a new one"
				}
				if moved.Open {
					what += "; its last turn is open, so it broke off or its export was cut, and a resume ends that turn"
				}
				return a.printMoved(asJSON, moved, moved, what)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// importGrace is how long a cancelled import has to clear away what it began.
const importGrace = 2 * time.Second

// importFrom imports what open opens. When ctx ends it waits neither for that nor for
// more input.
func (a *app) importFrom(ctx context.Context, s *store, open func() (io.ReadCloser, error), name string) (host.Moved, error) {
	p := a.activity("import")
	defer p.clear()
	type outcome struct {
		moved host.Moved
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		in, err := open()
		if err != nil {
			done <- outcome{err: usagef("name a file that tureen session export wrote, or - for stdin", "import %s: %v", name, cause(err))}
			return
		}
		defer in.Close()
		moved, err := host.Import(ctx, s.Store, in, p.at)
		done <- outcome{moved, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done:
		case <-time.After(importGrace):
			return o.moved, context.Cause(ctx)
		}
	}
	return o.moved, importFault(name, o.err)
}

// importFault says on which line a file is no log.
func importFault(name string, err error) error {
	var line *session.LineError
	var rule *host.RuleError
	var own *fault
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &rule):
		return faultf(exitState, "IMPORT_INVALID", "nothing was imported; export it again from where it came from: should tureen session verify find the same there, tureen session salvage mends it",
			"%s, %v", name, err)
	case !errors.As(err, &line):
		return stateFault("", err)
	case errors.Is(err, session.ErrNewer):
		return faultf(exitState, "SESSION_NEWER", "use a newer tureen; nothing was imported", "%s was written by a newer version (line %d)", name, line.Line)
	}
	return faultf(exitState, "IMPORT_INVALID", "export the session again and compare the files; nothing was imported", "%s, %v", name, line)
}
