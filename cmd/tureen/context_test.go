package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// contextShown is what context show --json says.
type contextShown struct {
	Session, Owner, Profile, Strategy, Model string
	Seq                                      int64
	Archived, Automatic                      bool
	Window                                   int    `json:"context_window"`
	WindowSource                             string `json:"window_source"`
	Reserve                                  int    `json:"output_reserve"`
	ResetAt                                  int    `json:"reset_at"`
	BudgetSource                             string `json:"budget_source"`
	BudgetProblem                            string `json:"budget_problem"`
	Measured, Room, Fixed                    int
	PastLine                                 bool `json:"past_line"`
	Ordinal                                  int  `json:"window"`
	Compactions                              struct {
		Count  int
		Newest []struct {
			host.CompactionResult
			Seq      int64
			Relieved bool
			Undone   bool
		}
	}
	Marks         []string `json:"marks_shown"`
	Breaker, Rest bool
	Undo          struct {
		Possible     bool
		Why, Command string
		ForkAt       int64 `json:"fork_at"`
	}
	Breakdown struct {
		fold.Breakdown
		Total int
	}
	Turns   int
	Outline []fold.TurnOutline
}

// surface is what an undo gives back.
func (c contextShown) surface() string {
	return fmt.Sprint(c.Outline, c.Breakdown, c.Measured, c.Ordinal, c.Marks)
}

func (s *sandbox) context(t *testing.T, args ...string) (c contextShown) {
	t.Helper()
	o := s.ok(t, append([]string{"context", "show", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(o.stdout), &c); err != nil {
		t.Fatalf("%v in %s", err, o.stdout)
	}
	return c
}

// talkative is a user with the profile p.toml and a model that answers at some
// length, and condenses when it is asked to.
func talkative(t *testing.T, strategy string) (*sandbox, *scripted.Server) {
	t.Helper()
	u := user(t)
	write(t, u.path("work", "p.toml"), fmt.Sprintf("schema = 1\nextends = \"base\"\n[model]\nname = \"m\"\ncontext_window = 32000\nmax_output_tokens = 2000\n[compaction]\nstrategy = %q\n", strategy))
	agent := scripted.AgentFunc(func(r llm.Request) scripted.Reply {
		if strings.HasPrefix(r.Messages[len(r.Messages)-1].Text(), summaryAsk()) {
			return scripted.Reply{Text: "A checkpoint."}
		}
		return scripted.Reply{Text: strings.Repeat("An answer of some length. ", 40)}
	})
	server, err := scripted.Serve(t.Context(), scripted.Options{Model: "m", ContextWindow: 32000, MaxOutputTokens: 2000, Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	u.env = append(u.env, "OPENAI_BASE_URL="+server.BaseURL(), "OPENAI_API_KEY=any")
	return u, server
}

func TestC19_ContextShowSaysWhatTheLogSays(t *testing.T) {
	t.Parallel()
	u, _ := talkative(t, "notesoup")
	u.ok(t, "run", "-q", "-P", "./p.toml", "the first task\nin two lines")
	u.ok(t, "resume", "-q", "last", "the second task")
	u.env = append(u.env, "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=") // nothing is asked
	before, err := os.ReadFile(u.path("data", "sessions", u.lastSession()+".db"))
	if err != nil {
		t.Fatal(err)
	}
	c := u.context(t)
	state := u.folded(t)
	switch {
	case c.Session != u.lastSession() || c.Seq != state.Head || c.Owner != "" || c.Strategy != "notesoup" || !c.Automatic || c.Model != "m":
		t.Errorf("session %+v", c)
	case c.Window != 32000 || c.WindowSource != "profile" || c.Reserve != 2000 || c.ResetAt != 25600 || c.BudgetSource != "profile":
		t.Errorf("budget %+v", c)
	case c.Measured <= 0 || c.Room != 25600-c.Measured || c.PastLine || c.Fixed != state.Fixed() || c.Ordinal != 1:
		t.Errorf("measure %+v", c)
	case c.Compactions.Count != 0 || c.Undo.Possible || c.Undo.Why == "" || c.Undo.Command != "":
		t.Errorf("compactions %+v", c)
	}
	b := c.Breakdown
	if sum := b.System + b.Tools + b.Owner + b.Notices + b.Checkpoint + b.Assistant + b.Results; sum != b.Total || b.Total != state.Estimate() || b.Owner == 0 || b.Assistant < 500 {
		t.Errorf("breakdown %+v, want a sum of %d", b, state.Estimate())
	}
	said := c.Outline[len(c.Outline)-2:]
	if said[0].Turn != 1 || said[0].Prompt != "the first task" || said[0].Steps != 1 || said[1].Turn != 2 || said[1].Prompt != "the second task" {
		t.Errorf("outline %+v", c.Outline)
	}
	if c := u.context(t, "--last", "1"); len(c.Outline) != 1 || c.Outline[0].Turn != 2 || c.Turns < 2 {
		t.Errorf("--last 1: %+v of %d", c.Outline, c.Turns)
	}
	text := u.ok(t, "context", "show").stdout
	for _, want := range []string{"/32k (", ") line 25.6k, ", "\nwindow ", " 32000 tokens (profile), 2000 of them for an answer\n", "25600 tokens: ", " left\n",
		"window 1, 0 compactions\n", "  tool declarations\n", "  answers\n", "the first task\n", "the second task\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "█") {
		t.Errorf("a bar in a file:\n%s", text)
	}
	if after, err := os.ReadFile(u.path("data", "sessions", u.lastSession()+".db")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("looking changed the session: %v", err)
	}
}

// The line is the profile's, or the command line's; a profile that is gone leaves the
// defaults, and says so.
func TestC19_ContextShowTakesTheLineOfTheProfile(t *testing.T) {
	t.Parallel()
	u, _ := talkative(t, "notesoup")
	u.ok(t, "run", "-q", "-P", "./p.toml", "a task")
	if c := u.context(t, "-c", "compaction.trigger_tokens=1000"); c.ResetAt != 1000 || !c.PastLine || c.Room != 1000-c.Measured || c.Room >= 0 {
		t.Errorf("past the line: %+v", c)
	}
	if o := u.ok(t, "context", "show", "-c", "compaction.trigger_tokens=1000"); !strings.Contains(o.stdout, "1000 tokens: ") || !strings.Contains(o.stdout, " past it\n") {
		t.Errorf("past the line: %s", o.stdout)
	}
	if c := u.context(t, "-c", "compaction.headroom_tokens=40000"); c.ResetAt != 0 || c.BudgetSource != "none" || !strings.Contains(c.BudgetProblem, "headroom_tokens (40000)") {
		t.Errorf("a line that cannot be: %+v", c)
	}
	if c := u.context(t, "-c", "compaction.on_trigger=off"); c.Automatic {
		t.Errorf("automatic with on_trigger off: %+v", c)
	}
	if o := u.run(t, "context", "show", "-P", "nosuch"); o.exit != 2 || !strings.Contains(o.stderr, "nosuch") {
		t.Errorf("exit %d: %s", o.exit, o.stderr)
	}
	if err := os.Remove(u.path("work", "p.toml")); err != nil {
		t.Fatal(err)
	}
	c := u.context(t)
	if c.BudgetSource != "defaults" || !strings.Contains(c.BudgetProblem, "p.toml") || c.ResetAt != 25600 || c.Window != 32000 || c.Strategy != "notesoup" {
		t.Errorf("without the profile: %+v", c)
	}
	if o := u.ok(t, "context", "show"); !strings.Contains(o.stdout, "with the default keys, for the profile cannot be read") {
		t.Errorf("without the profile: %s", o.stdout)
	}
}

// folded is the fold of the only session.
func (s *sandbox) folded(t *testing.T) *fold.State {
	t.Helper()
	store, err := sqlitelog.Open(s.path("data"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	log, err := store.View(t.Context(), s.lastSession())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	state, err := fold.Full(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// A preview says what a compaction then does, and changes nothing.
func TestC19_C11_APreviewChangesNothing(t *testing.T) {
	t.Parallel()
	for strategy, calls := range map[string]int{"notesoup": 0, "summary": 1} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			u, model := talkative(t, strategy)
			u.ok(t, "run", "-q", "-P", "./p.toml", strings.Repeat("A line of a long request.\n", 300))
			u.ok(t, "resume", "-q", "last", "more")
			before, asked := u.context(t), model.Stats().Requests
			var p struct {
				Session, Strategy, Kind, Boot, Refused string
				TokensBefore                           int `json:"tokens_before"`
				TokensAfter                            int `json:"tokens_after"`
				ModelCalls                             int `json:"model_calls"`
				Dropped                                int
				Relieved                               bool
				Added                                  []string
			}
			o := u.ok(t, "context", "preview", "--json")
			if err := json.Unmarshal([]byte(o.stdout), &p); err != nil {
				t.Fatalf("%v in %s", err, o.stdout)
			}
			if p.Session != before.Session || p.Strategy != strategy || p.Kind == "" || p.TokensBefore != before.Measured || p.TokensAfter >= p.TokensBefore ||
				p.ModelCalls != calls || p.Dropped == 0 || len(p.Added) == 0 || !p.Relieved || p.Refused != "" {
				t.Errorf("preview %+v of %+v", p, before)
			}
			if n := model.Stats().Requests - asked; n != calls {
				t.Errorf("%d model calls, want %d", n, calls)
			}
			text := u.ok(t, "context", "preview", "--full").stdout
			if first, _, _ := strings.Cut(p.Added[0], "\n"); strategy == "summary" && !strings.Contains(text, first) { // notesoup's words vary
				t.Errorf("no %q in\n%s", first, text)
			}
			for _, want := range []string{p.Kind + " by " + strategy, "messages", "the conversation is as it was", "tureen compact " + p.Session} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if (calls > 0) != strings.Contains(text, "after 1 model call for this preview") {
				t.Errorf("what it cost is not said: %s", text)
			}
			if short := u.ok(t, "context", "preview").stdout; strategy == "notesoup" && (len(short) >= len(text) || !strings.Contains(short, "--full shows them")) {
				t.Errorf("not shortened: %s", short)
			}
			after := u.context(t)
			if after.surface() != before.surface() || after.Compactions.Count != 0 {
				t.Errorf("before %+v\nafter %+v", before, after)
			}
			events, violations, err := u.events(u.lastSession())
			if err != nil || len(violations) > 0 {
				t.Fatal(err, violations)
			}
			if said := kindsOf(events); strings.Contains(said, "compaction.") {
				t.Errorf("the log has %s", said)
			}
			u.ok(t, "compact", "-q", "last")
			done := u.context(t).Compactions.Newest[0]
			if done.Kind != p.Kind || done.TokensBefore != p.TokensBefore || abs(done.TokensAfter-p.TokensAfter) > 20 {
				t.Errorf("it said %+v and did %+v", p, done)
			}
			if o := u.run(t, "context", "preview", "-c", "compaction.strategy=none"); o.exit != 2 {
				t.Errorf("without a strategy: exit %d, %s", o.exit, o.stderr)
			}
		})
	}
}

// clockTime is the time of day that a request tells.
var clockTime = regexp.MustCompile(`\d\d:\d\d:\d\d[+-]\d\d:\d\d, an? \w+day`)

// newest is the body of the newest request, but for the time of day.
func newest(model *scripted.Server) string {
	bodies := model.Requests()
	return clockTime.ReplaceAllString(string(bodies[len(bodies)-1]), "CLOCK")
}

func abs(n int) int { return max(n, -n) }

// An undo gives the surface back exactly: what is sent next is, byte for byte, what
// would have been sent had the compaction never been. It needs no model.
func TestC19_L9_AnUndoGivesBackTheSurface(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"notesoup", "summary"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			u, model := talkative(t, strategy)
			u.ok(t, "run", "-q", "-P", "./p.toml", strings.Repeat("A line of a long request.\n", 300))
			u.ok(t, "resume", "-q", "last", "more")
			before := u.context(t)
			for _, home := range []string{"data", "notes"} {
				if err := os.CopyFS(u.path(home+".kept"), os.DirFS(u.path(home))); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			u.ok(t, "compact", "-q", "last")
			if c := u.context(t); c.surface() == before.surface() || !c.Undo.Possible || c.Undo.Command != "tureen context undo --session "+c.Session {
				t.Fatalf("compacted %+v", c)
			}
			env := u.env
			u.env = append(u.env, "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=")
			var done struct {
				Session, State string
				Ordinal        int
				Before         int `json:"tokens_before"`
				After          int `json:"tokens_after"`
			}
			o := u.ok(t, "context", "undo", "--json")
			if err := json.Unmarshal([]byte(o.stdout), &done); err != nil || done.State != "undone" || done.Ordinal != 1 || done.After != before.Measured || done.Before >= done.After {
				t.Errorf("%v: %s", err, o.stdout)
			}
			u.env = env
			after := u.context(t)
			if after.surface() != before.surface() || !after.Rest || after.Undo.Possible || !after.Compactions.Newest[0].Undone || after.Compactions.Count != 1 {
				t.Errorf("before %+v\nafter %+v", before, after)
			}
			if o := u.run(t, "context", "undo"); o.exit != 9 || !strings.Contains(o.stderr, "error: session "+before.Session+": nothing is undone: ") {
				t.Errorf("a second undo: exit %d, %s", o.exit, o.stderr)
			}
			u.ok(t, "session", "verify", "last")
			u.ok(t, "resume", "-q", "last", "and now?")
			undone := newest(model)
			for _, home := range []string{"data", "notes"} {
				if os.RemoveAll(u.path(home)) != nil || exists(u.path(home+".kept")) && os.Rename(u.path(home+".kept"), u.path(home)) != nil {
					t.Fatal("the store of before does not come back")
				}
			}
			u.ok(t, "resume", "-q", "last", "and now?")
			if never := newest(model); undone != never {
				at := 0
				for at < min(len(undone), len(never)) && undone[at] == never[at] {
					at++
				}
				t.Errorf("from byte %d on, after the undo:\n%.600s\nhad it never been:\n%.600s", at, undone[at:], never[at:])
			}
		})
	}
}

// Once the model has answered, a branch from before the compaction is the way, and the
// refusal names it.
func TestC19_L9_AfterAnAnswerAForkHasTheSurface(t *testing.T) {
	t.Parallel()
	u, _ := talkative(t, "notesoup")
	u.ok(t, "run", "-q", "-P", "./p.toml", strings.Repeat("A line of a long request.\n", 300))
	before := u.context(t)
	u.ok(t, "compact", "-q", "last")
	u.ok(t, "resume", "-q", "last", "go on")
	var refused struct {
		State, Why, Hint string
		ForkAt           int64 `json:"fork_at"`
	}
	o := u.run(t, "context", "undo", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &refused); err != nil || o.exit != 9 || refused.State != "refused" || refused.Why == "" {
		t.Fatalf("exit %d, %v: %s%s", o.exit, err, o.stdout, o.stderr)
	}
	fork := fmt.Sprintf("tureen session fork %s --at %d", before.Session, refused.ForkAt)
	if !strings.Contains(refused.Hint, fork) || !strings.Contains(o.stderr, fork) || u.context(t).Undo.Command != fork {
		t.Fatalf("no %q in %s%s", fork, o.stdout, o.stderr)
	}
	var made struct{ Session string }
	o = u.ok(t, append(strings.Fields(fork)[1:], "--json")...)
	if err := json.Unmarshal([]byte(o.stdout), &made); err != nil {
		t.Fatal(err)
	}
	if branch := u.context(t, "--session", made.Session); branch.surface() != before.surface() || branch.Compactions.Count != 0 {
		t.Errorf("before %+v\nthe branch %+v", before, branch)
	}
	u.ok(t, "resume", "-q", made.Session, "go on")
}

// leave posts a command as a process does that then ends.
func (s *sandbox) leave(t *testing.T, id string, m session.Mail) {
	t.Helper()
	store, err := sqlitelog.Open(s.path("data"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Post(t.Context(), id, m); err != nil {
		t.Fatal(err)
	}
}

// An undo that waited is done, and told of in a stream, when the session is opened.
// A compaction by hand ends the rest that it leaves.
func TestC19_L4_AnUndoByMail(t *testing.T) {
	t.Parallel()
	u, _ := talkative(t, "notesoup")
	u.ok(t, "run", "-q", "-P", "./p.toml", strings.Repeat("A line of a long request.\n", 300))
	before := u.context(t)
	u.ok(t, "compact", "-q", "last")
	u.leave(t, before.Session, session.Mail{Command: session.CommandUndo})
	lines := checkStream(t, u.ok(t, "resume", "-q", "last", "-o", "stream-json").stdout)
	if !slices.Contains(types(lines), "compaction.undone") {
		t.Errorf("the stream says %v", types(lines))
	}
	if c := u.context(t); c.surface() != before.surface() || !c.Rest {
		t.Errorf("before %+v\nafter %+v", before, c)
	}
	lines = checkStream(t, u.ok(t, "compact", "-q", "last", "-o", "stream-json").stdout)
	if !slices.Contains(types(lines), "compaction.rest") || u.context(t).Rest {
		t.Errorf("the rest does not end with a compaction: %v", types(lines))
	}
}

// During a turn an undo waits for its end; the answer has come by then.
func TestC19_L4_AnUndoDuringATurnIsRefusedAtItsEnd(t *testing.T) {
	t.Parallel()
	h := startHeld(t, "summary", "begin", "Done.")
	o := h.run(t, "context", "undo", "--json")
	var left struct{ State, Owner string }
	if err := json.Unmarshal([]byte(o.stdout), &left); err != nil || o.exit != 0 || left.State != "taken" || left.Owner != h.owner() {
		t.Errorf("exit %d, %v: %s%s", o.exit, err, o.stdout, o.stderr)
	}
	if c := h.context(t); c.Owner != h.owner() {
		t.Errorf("show beside the owner: %+v", c)
	}
	if o := h.run(t, "context", "preview"); o.exit != 9 || !strings.Contains(o.stderr, "is in use by "+h.owner()) {
		t.Errorf("preview: exit %d, %s", o.exit, o.stderr)
	}
	h.release(t)
	if r := h.end(t); r.Status != "completed" {
		t.Errorf("result %+v", r)
	}
	if !strings.Contains(h.stderr.String(), "warning: nothing is undone: ") {
		t.Errorf("the refusal is not told: %s", h.stderr.String())
	}
	events, violations, err := h.events(h.lastSession())
	if err != nil || len(violations) > 0 || len(find(t, events, session.KindUndoRefused, func(session.UndoRefused) bool { return true })) != 1 {
		t.Errorf("%v, %v: %s", err, violations, kindsOf(events))
	}
}
