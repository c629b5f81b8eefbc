package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

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

A file that is no whole log is refused with the number of the line, and nothing is
changed: there is a session only once all of it is stored.`,
		Example: `  tureen session import run.jsonl
  ssh build tureen session export last | tureen session import -
  tureen session import run.jsonl --json | jq -r .session`,
		Args: arguments(1, 1, "a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, name := a.in, "stdin"
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return usagef("name a file that tureen session export wrote, or - for stdin", "import %s: %v", args[0], cause(err))
				}
				defer f.Close()
				in, name = f, args[0]
			}
			return a.withStore(func(s *store) error {
				moved, err := a.importFrom(cmd.Context(), s, in, name)
				if err != nil {
					return err
				}
				what := "it is as it was exported"
				if moved.Session != moved.From {
					what = "its id " + moved.From + " is in use here, so it has a new one"
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

// importFrom imports what in has. When ctx ends it does not wait for more input.
func (a *app) importFrom(ctx context.Context, s *store, in io.Reader, name string) (host.Moved, error) {
	p := a.activity("import")
	defer p.clear()
	type outcome struct {
		moved host.Moved
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
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
	switch {
	case !errors.As(err, &line):
		return stateFault("", err)
	case errors.Is(err, session.ErrNewer):
		return faultf(exitState, "SESSION_NEWER", "use a newer tureen; nothing was imported", "%s was written by a newer version (line %d)", name, line.Line)
	}
	return faultf(exitState, "IMPORT_INVALID", "export the session again and compare the files; nothing was imported", "%s, %v", name, line)
}
