package grow

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
	"github.com/tureen-host/tureen/plugins/builtin"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// serve is the argument with which a host starts this binary as a shipped plugin.
const serve = "plugin-serve"

// TestMain makes this binary the shipped plugins too.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == serve {
		plugin, err := builtin.Lookup(os.Args[2], "test")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		sdk.Serve(plugin)
		return
	}
	os.Exit(m.Run())
}

// counting counts the events that are read from the logs of a store.
type counting struct {
	session.Store
	events, bytes atomic.Int64
}

func (c *counting) Open(ctx context.Context, id string) (session.Log, error) {
	log, err := c.Store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return countingLog{log, c}, nil
}

type countingLog struct {
	session.Log
	c *counting
}

func (l countingLog) Read(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range l.Log.Read(ctx, q) {
			l.c.events.Add(1)
			l.c.bytes.Add(int64(len(e.Data)))
			if !yield(e, err) {
				return
			}
		}
	}
}

// silent is a model that says one word, and when it is asked notes what was read so far.
type silent struct {
	store         *counting
	events, bytes int64
}

func (s *silent) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	s.events, s.bytes = s.store.events.Load(), s.store.bytes.Load()
	return func(yield func(llm.Chunk, error) bool) {
		yield(llm.Chunk{Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, "Yes."), Stop: llm.StopEnd, Usage: llm.Usage{Input: 9000, Output: 1}}}, nil)
	}
}

func (*silent) Info(context.Context) (llm.Info, error) {
	return llm.Info{Provider: "test", Name: "m", ContextWindow: 256_000, WindowSource: "profile", MaxOutputTokens: 4000}, nil
}

// resumed resumes a session twice and returns what is read before the first request of
// each.
func resumed(t *testing.T, n int) (events, bytes [2]int64) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlitelog.Open(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	opening := rich(t)
	g := (Log{Events: n, Window: 320, Text: strings.Repeat("what is found there\n", 20), Seed: 3}).From(opening)
	const id = "01m8qgzj69rhjt9jkdx9nev5wz"
	if err := store.Import(t.Context(), id, g.Events(), g.Snapshot); err != nil {
		t.Fatal(err)
	}
	if resets := g.state.Compaction.Count; n == 100_000 && resets < 55 {
		t.Errorf("%d resets in %d events", resets, n)
	}
	text := "schema = 1\n[model]\nname = \"m\"\n[compaction]\nstrategy = \"notesoup\"\n[[plugins]]\nuse = \"files\"\n[[plugins]]\nuse = \"shell\"\n"
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(string) string { return "" }
	p, err := profile.Load("./p.toml", profile.Options{Dir: dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		counted := &counting{Store: store}
		model := &silent{store: counted}
		h, err := host.Resume(t.Context(), host.Config{Profile: p, Store: counted, NotesHome: filepath.Join(dir, "notes"), Version: "test", Model: model,
			Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Env: env, Self: []string{os.Args[0]}}, id)
		if err != nil {
			t.Fatal(err)
		}
		err = h.Agent.Prompt(t.Context(), "Are you there?")
		if err == nil {
			_, _, err = h.Agent.Run(t.Context())
		}
		if cerr := h.Close(context.Background()); err != nil || cerr != nil {
			t.Fatal(err, cerr)
		}
		events[i], bytes[i] = model.events, model.bytes
	}
	return events, bytes
}

// What a resume reads up to its first request is the last window, however long the log
// is, and it is the same the second time.
func TestD3_C108_AResumeReadsTheLastWindow(t *testing.T) {
	t.Parallel()
	const window = Tail * 8 // events
	short, shortBytes := resumed(t, 10_000)
	long, longBytes := resumed(t, 100_000)
	for i := range 2 {
		if long[i] == 0 || long[i] > window || long[i] > short[i]+short[i]/10 || longBytes[i] > shortBytes[i]+shortBytes[i]/10 {
			t.Errorf("resume %d read %d events of %d bytes of the long log, %d of %d bytes of the short one", i, long[i], longBytes[i], short[i], shortBytes[i])
		}
	}
	t.Logf("read before the first request: %v and %v events, %v and %v bytes", short, long, shortBytes, longBytes)
}
