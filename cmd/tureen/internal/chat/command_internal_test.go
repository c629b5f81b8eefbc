package chat

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

func TestCommands_AreRunAndAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, asked, says string }{
		{"/goal win  the race", "command goal win  the race", "  did goal win  the race"},
		{"/notes @project", "notes @project", "  notes of @project"},
		{"/export a.md", "export a.md", "  written to a.md"},
		{"/compact keep names", "compact keep names", ""},
		{"/undo", "undo", ""},
		{"/model", "", "  talker, window 32000 (profile), profile p, strategy notesoup"},
		{"/model two words", "", "! /model takes one name"},
		{"/model other", "model other", "· the session goes on with model other"},
		{"/model bad", "", "✗ no such model\n  hint: name another"},
	} {
		b := newBench(t, 80, 24)
		b.presses(c.line, "{enter}")
		same(t, c.line, strings.Join(b.session.calls, "|"), c.asked)
		_, says, _ := strings.Cut(b.printed(), "\n\n")
		same(t, c.line, says, c.says)
	}
}

func TestCommands_WaitForTheEndOfTheTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, 80, 24)
	b.has(session.KindTurnStarted, session.TurnStarted{})
	b.presses("/compact", "{enter}", "/model other", "{enter}", "/undo", "{enter}")
	if len(b.session.calls) > 0 || strings.Count(b.printed(), "press Esc first") != 3 {
		t.Errorf("asked in a turn: %q", b.session.calls)
	}
}

func TestCommands_UnknownOnesNameTheNearest(t *testing.T) {
	t.Parallel()
	b := newBench(t, 80, 24)
	b.o.Nearest = func(word string, names []string) string {
		if word == "gaol" {
			return "goal"
		}
		return ""
	}
	for name, want := range map[string]string{
		"gaol": "there is no command /gaol; did you mean /goal?",
		"co":   "there is no command /co; did you mean /compact or /context or /cost?",
		"zzz":  "there is no command /zzz; /help lists what there is",
	} {
		if got := b.unknown(name).Error(); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestCommands_AreCompleted(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"/co": "/co", "/con": "/context ", "/g": "/goal ", "/zz": "/zz", "x/g": "x/g", "/goal x": "/goal x", "/": "/", "/u": "/undo "} {
		b := newBench(t, 80, 24)
		b.presses(typed, "{tab}")
		same(t, typed, b.edit.value(), want)
	}
	b := newBench(t, 80, 24)
	b.presses("/c")
	same(t, "suggestions", b.screen(), `
› /c
  /compact  shorten the conversation now
  /context  how full the context is, and with what
  /cost  model calls, tokens and price by kind
██░░░░░░░░░░░░░░┃░░░ · 10% of 32k · talker · notesoup`)
}

func TestHelp_ListsKeysAndCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	b.facts.Commands[0].Usage = "[OBJECTIVE | clear | edit OBJECTIVE]"
	b.presses("/help", "{enter}")
	got := b.printed()
	for _, want := range []string{`  Alt-Enter    sends for the next turn
`, `  Esc          ends the step under way and keeps what
               waits; else clears the input
`, `
  /context                 how full the context is, and
                           with what
`, `  /goal [OBJECTIVE | clear | edit OBJECTIVE]
                           sets the goal
`} {
		if !strings.Contains(got, want) {
			t.Errorf("no\n%s\nin\n%s", want, got)
		}
	}
	b = newBench(t, 20, 24)
	b.presses("/help", "{enter}")
	for row := range strings.Lines(b.printed()) {
		if cells(strings.TrimRight(row, "\n")) >= 20 {
			t.Errorf("too wide: %q", row)
		}
	}
}

func TestContext_ShowsTheMeterAndWhatTheSessionSays(t *testing.T) {
	t.Parallel()
	b := newBench(t, 80, 24)
	b.presses("/context", "{enter}")
	same(t, "/context", b.printed(), `› /context

  ████████████████████░░░░░░░░░░░░┃░░░░░░░
  500/1k (50%) line 800, counted by the endpoint; window 2, 1 compaction
  300 left before the line
  undo  compaction #1 can be taken back`)
}

func TestUndo_TakesNoWords(t *testing.T) {
	t.Parallel()
	b := newBench(t, 80, 24)
	b.presses("/undo now", "{enter}")
	if text := b.printed(); !strings.Contains(text, "/undo takes no words") || strings.Contains(strings.Join(b.session.calls, " "), "undo") {
		t.Errorf("%s, %v", text, b.session.calls)
	}
}

func TestCost_IsThatOfTheWholeSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, 80, 24)
	b.facts.Cost = func(u llm.Usage) float64 { return float64(u.Input+u.Output) / 1000 }
	b.session.events = []session.Event{
		session.New(session.KindMessageAssistant, session.Assistant{Message: llm.Text(llm.RoleAssistant, "a"), Usage: llm.Usage{Input: 1000, CacheRead: 400, Output: 10}}),
		session.New(session.KindMessageAssistant, session.Assistant{Message: llm.Text(llm.RoleAssistant, "b"), Usage: llm.Usage{Input: 500, Output: 10}}),
		session.New(session.KindChildSettled, session.ChildSettled{ID: "01c", Usage: llm.Usage{Input: 1000, Output: 20}}),
		session.New(session.KindModelCall, session.ModelCall{Purpose: llm.PurposeCompaction, Usage: llm.Usage{Input: 90, Output: 10}}),
	}
	b.presses("/cost", "{enter}")
	same(t, "/cost", b.printed(), `› /cost

  kind        calls  input  cached  output    price
  main            2   1.5k     400      20    $1.52
  subagents       1     1k       0      20    $1.02
  compaction      1     90       0      10  $0.1000
  total           4   2.6k     400      50    $2.64`)
}

func TestBar_HasTheMarkOfTheLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    session.Meter
		want string
	}{
		{session.Meter{}, ""},
		{session.Meter{Window: 100}, "░░░░░░░░░░"},
		{session.Meter{Window: 100, Measured: 1, ResetAt: 80}, "█░░░░░░░┃░"},
		{session.Meter{Window: 100, Measured: 50, ResetAt: 80}, "█████░░░┃░"},
		{session.Meter{Window: 100, Measured: 95, ResetAt: 80}, "████████┃█"},
		{session.Meter{Window: 100, Measured: 500, ResetAt: 100}, "█████████┃"},
	} {
		if got := render.Bar(c.m, 10, render.Style{}); got != c.want {
			t.Errorf("%+v: %s, want %s", c.m, got, c.want)
		}
	}
}

func TestStatus_DropsWhatMattersLeast(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		90: "⠋ waiting 0s · ██░░░░░░░░░░░░░░┃░░░ · 10% of 32k · talker · notesoup",
		60: "⠋ waiting 0s · ██░░░░░░░░░░░░░░┃░░░ · 10% of 32k · talker",
		40: "⠋ waiting 0s · █░░░░░░░┃░ · 10%",
		26: "⠋ waiting 0s · 10%",
		20: "⠋ waiting 0s · 10%",
		12: "⠋ waiting …",
	} {
		b := newBench(t, width, 24)
		b.does(progressMsg{"waiting", "a job"})
		same(t, "the status", b.status(), want)
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{340 * time.Millisecond: "340 ms 0s", 4200 * time.Millisecond: "4.2 s 4s", 185 * time.Second: "3 min 5 s 3m05s", 2 * time.Hour: "120 min 0 s 2h00m"} {
		same(t, d.String(), span(d)+" "+elapsed(d), want)
	}
}

func TestGist_IsWhatSaysMost(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{`{"description":"d","command":"ls\nrm"}`: "ls rm", `{"file_path":"a","limit":3}`: "a", `{"n":1}`: `{"n":1}`, `{}`: "", `broken`: "broken"} {
		same(t, args, gistOf(llm.ToolCall{Arguments: args}, 40), want)
	}
}

func TestFailures_ComeWithTheirHint(t *testing.T) {
	t.Parallel()
	f := failureOf(errors.New("it is shut; open it"))
	same(t, "the failure", f.Message+"|"+f.Hint, "it is shut|open it")
}
