package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

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
			return a.withSession(cmd.Context(), sessionArgument(args), func(row session.Summary, r session.Reader) error {
				p := a.activity("export")
				defer p.clear()
				return a.writeTo(file, func(w io.Writer) error {
					return write(cmd.Context(), w, row, watchedReader{r, p})
				})
			})
		},
	}
	cmd.Flags().StringVarP(&file, "file", "o", "", "write to this file instead of stdout")
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl or md")
	return cmd
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

// writeTo writes a file whole or not at all, or stdout where file is "".
func (a *app) writeTo(file string, write func(io.Writer) error) error {
	if file == "" && render.IsTerminal(a.out) {
		return outputError(write(render.JSONFor(a.out))) // whole lines
	}
	if file == "" {
		w := bufio.NewWriter(a.out)
		if err := write(w); err != nil {
			return outputError(err)
		}
		return outputError(w.Flush())
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".tureen-*")
	if err != nil {
		return usagef("name a file in a directory that can be written", "-o %s: %v", file, cause(err))
	}
	w := bufio.NewWriter(f)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
