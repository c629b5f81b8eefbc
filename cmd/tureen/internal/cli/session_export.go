package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

func (a *app) sessionExportCommand() *cobra.Command {
	var file, format string
	cmd := &cobra.Command{
		Use:   "export [ID | last]",
		Short: "Write a session as JSON lines or as Markdown",
		Long: `Export writes every event of the log as a line of JSON, which tureen session import
reads, or with --format md a transcript to read. No token is spent.`,
		Example: `  tureen session export last -o run.jsonl
  tureen session export 01k7 --format md > run.md`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := exporters[format]
			if !ok {
				return usagef("use jsonl or md", "--format %q is no format", format)
			}
			if slices.Contains([]string{"json", "jsonl", "md"}, file) {
				return usagef("--format md or jsonl says the format; for a file of that name: -o ./"+file, "-o names a file, and %q looks like a format", file)
			}
			return a.withSession(cmd.Context(), sessionArgument(args), func(row session.Summary, r session.Reader) error {
				p := a.activity("export")
				defer p.clear()
				return a.writeTo(file, func(w io.Writer) error {
					return write(cmd.Context(), w, row, faultReader{watchedReader{r, p}})
				})
			})
		},
	}
	cmd.Flags().StringVarP(&file, "file", "o", "", "write to this file instead of stdout")
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl or md")
	return cmd
}

// faultReader has its errors be faults of the session.
type faultReader struct{ session.Reader }

func (r faultReader) Read(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range r.Reader.Read(ctx, q) {
			if !yield(e, stateFault(r.ID(), err)) {
				return
			}
		}
	}
}

// exporters are the formats of an export.
var exporters = map[string]func(context.Context, io.Writer, session.Summary, session.Reader) error{
	"jsonl": exportLines,
	"md":    exportTranscript,
}

func exportLines(ctx context.Context, w io.Writer, _ session.Summary, r session.Reader) error {
	return session.WriteLines(w, r.Read(ctx, session.Query{}))
}

func exportTranscript(ctx context.Context, w io.Writer, row session.Summary, r session.Reader) error {
	t := render.NewTranscript(w, row)
	for e, err := range r.Read(ctx, session.Query{}) {
		if err != nil {
			return err
		}
		if err := t.Event(e); err != nil {
			return err
		}
	}
	return nil
}

// writeOut writes stdout. Where what is to be written does not read to its end, the
// rest of it is there, in whole lines.
func (a *app) writeOut(write func(io.Writer) error) error {
	w := bufio.NewWriter(a.out)
	if render.IsTerminal(a.out) {
		w = bufio.NewWriter(render.JSONFor(a.out))
	}
	err := write(w)
	var read *fault
	if flushed := outputError(w.Flush()); flushed != nil || !errors.As(err, &read) {
		return cmp.Or(flushed, outputError(err))
	}
	return err
}

// writeTo writes to stdout where file is "", else a file, whole or not at all. Where
// file is a link, what it names is written; what is no regular file, such as a device
// or a pipe, is written to as it stands.
func (a *app) writeTo(file string, write func(io.Writer) error) error {
	if file == "" {
		return a.writeOut(write)
	}
	target, in, err := destination(file)
	if err != nil {
		return usagef("name a file in a directory that can be written", "-o %s: %v", file, cause(err))
	}
	w := bufio.NewWriter(in)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if cerr := in.Close(); err == nil {
		err = cerr
	}
	if err == nil && target != "" {
		err = os.Rename(in.Name(), target)
	}
	if err != nil {
		if target != "" {
			os.Remove(in.Name())
		}
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// destination opens what is to be written for file: a file beside target that takes
// its name in the end, or file itself, and target is "".
func destination(file string) (target string, in *os.File, err error) {
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		target, err = filepath.EvalSymlinks(file)
		if info, serr := os.Stat(file); err != nil || serr == nil && !info.Mode().IsRegular() {
			in, err = os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
			return "", in, err
		}
		file = target
	}
	in, err = os.CreateTemp(filepath.Dir(file), ".tureen-*")
	return file, in, err
}
