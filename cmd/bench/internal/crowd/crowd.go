// Package crowd runs many sessions on one engine, in this process, with a model that
// answers at once or thinks for a while, and says what that costs. It is a program of
// its own for its memory's sake.
package crowd

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
	"github.com/tureen-host/tureen/profiles"
)

// Figures are what the crowd came to: times in milliseconds, sizes in bytes.
type Figures struct {
	Create    float64 `json:"create"`     // to make a session, one after the other
	Rate      float64 `json:"rate"`       // steps a second, all sessions at it and no model to wait for
	P50       float64 `json:"p50"`        // from the end of an answer to the next request, while the
	P99       float64 `json:"p99"`        // model thinks so long that half of that rate is asked for
	Idle      float64 `json:"idle"`       // host and plugins, a session more that has had a turn
	IdleHost  float64 `json:"idle_host"`  // of it, the host's
	Goroutine float64 `json:"goroutines"` // of an idle session
}

// Main runs the crowd with the arguments of its command line and writes Figures as JSON:
//
//	-tureen FILE   the program that serves the plugins
//	-profile FILE  what the sessions run; its model is not asked
//	-data DIR      where they are stored
//	-file FILE     what each step reads
//	-sessions N, -steps N
func Main(ctx context.Context, args []string, w io.Writer) (err error) {
	var c crowd
	var tureen, path, data string
	flags := flag.NewFlagSet("crowd", flag.ContinueOnError)
	flags.StringVar(&tureen, "tureen", "", "program")
	flags.StringVar(&path, "profile", "", "profile")
	flags.StringVar(&data, "data", "", "directory")
	flags.StringVar(&c.file, "file", "", "file")
	flags.IntVar(&c.sessions, "sessions", 1000, "sessions")
	flags.IntVar(&c.steps, "steps", 20, "steps")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	p, err := profile.Load("./"+filepath.Base(path), profile.Options{Dir: dir, Embedded: profiles.FS, Env: os.Getenv})
	if err != nil {
		return err
	}
	store, err := sqlitelog.Open(data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	c.model = newThinker(c.file, c.sessions)
	engine, err := host.Start(ctx, host.Config{Profile: p, Store: store, NotesHome: filepath.Join(dir, "notes"), Version: "bench", Model: c.model,
		ModelInfo: llm.Info{Provider: "bench", Name: "bench", ContextWindow: 256 << 10, WindowSource: "profile", MaxOutputTokens: 8192},
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, nil)), Env: os.Getenv, Self: []string{tureen}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close(context.WithoutCancel(ctx))) }()
	figures, err := c.run(ctx, engine, filepath.Dir(c.file))
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(figures)
}

type crowd struct {
	file            string
	sessions, steps int
	model           *thinker
}

func (c *crowd) run(ctx context.Context, engine *host.Engine, workspace string) (f Figures, err error) {
	first, err := c.create(ctx, engine, 1, workspace) // what is made once is not a session's
	if err != nil {
		return f, err
	}
	hostBefore, before, err := memory()
	if err != nil {
		return f, err
	}
	routines := runtime.NumGoroutine()
	began := time.Now()
	more, err := c.create(ctx, engine, c.sessions-1, workspace)
	if err != nil {
		return f, err
	}
	n := float64(c.sessions - 1)
	f.Create = float64(time.Since(began)) / float64(time.Millisecond) / n
	hostAfter, after, err := memory()
	if err != nil {
		return f, err
	}
	f.Idle, f.IdleHost = float64(after-before)/n, float64(hostAfter-hostBefore)/n
	f.Goroutine = float64(runtime.NumGoroutine()-routines) / n
	all := append(first, more...)

	took, _, err := c.work(ctx, all, 0)
	if err != nil {
		return f, err
	}
	f.Rate = float64(c.sessions*c.steps) / took.Seconds()
	think := time.Duration(2 * float64(c.sessions) / f.Rate * float64(time.Second))
	_, costs, err := c.work(ctx, all, think)
	f.P50, f.P99 = quantile(costs, 0.5), quantile(costs, 0.99)
	return f, err
}

// create makes sessions, one after the other, and lets each have a turn without a call.
func (c *crowd) create(ctx context.Context, engine *host.Engine, n int, workspace string) (all []*host.Host, err error) {
	c.model.begin(0, 0)
	for range n {
		h, err := engine.Create(ctx, "begin", host.SessionConfig{Workspace: workspace})
		if err == nil {
			err = turn(ctx, h, c.model.prompt())
		}
		if err != nil {
			return nil, fmt.Errorf("session %d: %w", len(all), err)
		}
		all = append(all, h)
	}
	return all, nil
}

// work has every session take its steps in one turn, all at once.
func (c *crowd) work(ctx context.Context, all []*host.Host, think time.Duration) (time.Duration, []float64, error) {
	c.model.begin(c.steps, think)
	began := time.Now()
	var group errgroup.Group
	for _, h := range all {
		prompt := c.model.prompt()
		group.Go(func() error { return turn(ctx, h, prompt) })
	}
	err := group.Wait()
	return time.Since(began), c.model.costs(), err
}

func turn(ctx context.Context, h *host.Host, prompt string) error {
	if err := h.Agent.Prompt(ctx, prompt); err != nil {
		return err
	}
	reason, failure, err := h.Agent.Run(ctx)
	if err == nil && reason != session.ReasonCompleted {
		err = fmt.Errorf("session %s ended %s: %+v", h.ID(), reason, failure)
	}
	return err
}

// memory is what host and plugins have, once what is not used is given back.
func memory() (host, all int64, err error) {
	debug.FreeOSMemory()
	tree, err := lab.Tree(os.Getpid())
	for _, p := range tree {
		all += p.PSS
	}
	if err == nil {
		host = tree[0].PSS
	}
	return host, all, err
}
