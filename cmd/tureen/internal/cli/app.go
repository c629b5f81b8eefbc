package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
	"github.com/tureen-host/tureen/profiles"
)

// app is one call of the program.
type app struct {
	in    io.Reader
	out   io.Writer
	env   func(string) string
	lines *render.Lines // stderr
	globals
	keyboard *keyboard // in, where a person types
}

// globals are the flags of every verb.
type globals struct {
	profile   string
	overrides []string
	dir       string
	model     string
	baseURL   string
	color     string
	quiet     bool
	verbose   bool
}

// Main runs the program and returns its exit code. ctx is cancelled with a
// Signal as its cause.
func Main(ctx context.Context, args []string) int {
	a := &app{in: os.Stdin, out: os.Stdout, env: os.Getenv, lines: render.NewLines(os.Stderr, render.Style{})}
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitCompleted
	}
	var silent silentExit
	if errors.As(err, &silent) {
		return int(silent)
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	if f := cmd.Flag("output"); f != nil && f.Annotations[resultFormat] != nil {
		return a.failRun(formatOf(args), err)
	}
	f := faultOf(err)
	a.lines.Error(f.Message, f.Hint)
	return f.exit
}

// setUp settles what every verb relies on: colours, and the working directory.
func (a *app) setUp() error {
	style, err := render.NewStyle(a.color, os.Stderr, a.env)
	if err != nil {
		return usagef("leave it out to have colours on a terminal only", "%v", err)
	}
	a.lines = render.NewLines(os.Stderr, style)
	if a.quiet && a.verbose {
		return usagef("choose one of them", "-q and -v exclude each other")
	}
	if a.dir == "" {
		return nil
	}
	if err := os.Chdir(a.dir); err != nil {
		return usagef("name a directory that exists", "-C %s: %v", a.dir, cause(err))
	}
	return nil
}

// cause is an error without the path that the caller names already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func (a *app) logger() *slog.Logger {
	switch {
	case a.quiet:
		return a.lines.Logger(slog.LevelError)
	case a.verbose:
		return a.lines.Logger(slog.LevelDebug)
	}
	return a.lines.Logger(slog.LevelWarn)
}

// profileOptions are where profiles are found from dir, and what the command
// line overrides.
func (a *app) profileOptions(dir string) (profile.Options, error) {
	paths, err := host.FindPaths(a.env, "")
	o := profile.Options{Dir: dir, ConfigDir: paths.Config, Embedded: profiles.FS, Env: a.env, Overrides: a.overrides}
	for _, f := range []profile.Flag{{Name: "--model", Key: "model.name", Value: a.model}, {Name: "--base-url", Key: "model.base_url", Value: a.baseURL}} {
		if f.Value != "" {
			o.Flags = append(o.Flags, f)
		}
	}
	return o, err
}

// loadProfile loads a profile from dir, "" being the working directory, and
// prints its warnings. A profile that was named by its path keeps that as its
// name, so that a session can be resumed with it.
func (a *app) loadProfile(name, dir string) (*profile.Profile, error) {
	p, err := a.readProfile(name, dir)
	if err == nil {
		a.warnOf(p)
	}
	return p, err
}

// readProfile is loadProfile without the warnings, and with more flags.
func (a *app) readProfile(name, dir string, more ...profile.Flag) (*profile.Profile, error) {
	o, err := a.profileOptions(dir)
	if err != nil {
		return nil, err
	}
	o.Flags = append(o.Flags, more...)
	p, err := profile.Load(name, o)
	if err != nil {
		return nil, err
	}
	if isPath(name) {
		if p.Name = name; !filepath.IsAbs(name) {
			p.Name, err = filepath.Abs(filepath.Join(dir, name))
		}
	}
	return p, err
}

func (a *app) warnOf(p *profile.Profile) {
	if a.quiet {
		return
	}
	for _, w := range p.Warnings {
		a.lines.Warning(w.Error(), "")
	}
}

func isPath(profile string) bool {
	return strings.Contains(profile, "/") || strings.HasSuffix(profile, ".toml")
}

// notesHome is where the notes of a profile are.
func (a *app) notesHome(p *profile.Profile) (string, error) {
	if p.NotesHome != "" {
		return p.NotesHome, nil
	}
	paths, err := host.FindPaths(a.env, "")
	return paths.Notes, err
}

// openStore opens the sessions of this user.
func (a *app) openStore() (*store, error) {
	paths, err := host.FindPaths(a.env, "")
	if err != nil {
		return nil, err
	}
	s, err := sqlitelog.Open(paths.Data)
	if err != nil {
		return nil, stateFault("", err)
	}
	warn := a.lines.Warning
	if a.quiet {
		warn = func(string, string) {}
	}
	return &store{Store: s, warn: warn}, nil
}

// withStore opens the store for one use of it.
func (a *app) withStore(use func(*store) error) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	defer s.Close()
	return use(s)
}

// jsonFlag gives a reading verb its --json.
func jsonFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "print JSON")
}

// print writes v as JSON, or has text write it for people. A reader that went
// away is no error.
func (a *app) print(asJSON bool, v any, text func(io.Writer) error) error {
	var err error
	if asJSON {
		enc := json.NewEncoder(render.JSONFor(a.out))
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(v)
	} else {
		err = text(a.out)
	}
	return outputError(err)
}

func outputError(err error) error {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return faultf(exitUnexpected, "OUTPUT", "check where the output goes", "write the output: %v", cause(err))
}
