package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

func TestTranscript_ATurnAsItIsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	b.has(session.KindInboxQueued, session.InboxItem{Queue: session.NextTurn, Source: session.SourceOwner, Text: "look around"})
	b.has(session.KindTurnStarted, session.TurnStarted{})
	b.has(session.KindInboxClaimed, session.InboxClaimed{Items: []int64{1}})
	b.has(session.KindStepStarted, session.StepStarted{})
	b.has(session.KindMessageUser, said("look around"))
	b.does(deltaMsg{llm.BlockReasoning, "First I list, then I read.\nAnd so on."})
	b.has(session.KindMessageAssistant, answer("", "shell", `{"command":"ls -l","description":"d"}`, "read", `{"file_path":"a.txt"}`))
	b.has(session.KindToolStarted, session.ToolStarted{CallID: "cshell", Name: "shell"})
	b.has(session.KindToolResult, session.ToolResult{Message: llm.ToolResult("cshell", "a.txt", false), Name: "shell", Millis: 12})
	b.has(session.KindToolResult, session.ToolResult{Message: llm.ToolResult("cread", "Error: no such file", true), Name: "read", Code: "NOT_FOUND", Millis: 1})
	b.has(session.KindStepStarted, session.StepStarted{})
	b.does(deltaMsg{llm.BlockText, "There is one file. "})
	b.does(deltaMsg{llm.BlockText, "It cannot be read,\n\nwhich is odd"})
	same(t, "the end of the answer", b.screen(), `which is odd

› Enter: read at the next step · Alt-Enter: next turn · Es…
⠋ answering 0s · ██░░░░░░░░░░░░░░┃░░░ · 10% of 32k · talker`)
	b.has(session.KindMessageAssistant, answer("There is one file. It cannot be read,\n\nwhich is odd."))
	b.clock = b.clock.Add(4200 * time.Millisecond)
	b.has(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonCompleted})
	same(t, "the scrollback", b.printed(), `› look around

∴ First I list, then I read. And so on. (37 chars)

• shell ls -l → 5 chars, 12 ms
• read a.txt ✗ NOT_FOUND, 19 chars, 1 ms
  no such file

There is one file. It cannot be read,

which is odd.

· 2 steps, 4.2 s`)
	same(t, "the live part", b.screen(), `
› ask for something, or /help
██░░░░░░░░░░░░░░┃░░░ · 10% of 32k · talker · notesoup`)
}

func TestTranscript_Notices(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	b.does(idleMsg{})
	b.has(session.KindCompactionEnded, session.CompactionEnded{Ordinal: 2, Strategy: "notesoup", Kind: "reset", TokensBefore: 46100, TokensAfter: 8900, Millis: 12})
	b.has(session.KindCompactionFailed, session.CompactionFailed{Strategy: "summary", Trigger: "pressure", Error: "no answer"})
	b.has(session.KindCompactionDropped, session.CompactionDropped{Why: "there is nothing to compact"})
	b.has(session.KindWarning, session.Warning{Message: "the window is unknown", Hint: "set it"})
	b.has(session.KindPlugin, session.PluginState{Plugin: "files", State: "crashed", Generation: 1, Detail: "signal: killed"})
	b.has(session.KindPlugin, session.PluginState{Plugin: "files", State: "started", Generation: 1})
	b.has(session.KindChildSpawned, session.ChildSpawned{ID: "01c", Label: "reads the logs"})
	same(t, "the status", b.status(), "██░░░░░░░░░░░░░░┃░░░ · 10% of 32k · talker · 1 agent")
	b.does(progressMsg{"subagent reads the logs", "grep: three hits"})
	if s := b.screen(); !strings.Contains(s, "⠋ agent reads the logs · grep: three hits\n") {
		t.Errorf("no row of the agent:\n%s", s)
	}
	b.has(session.KindChildSettled, session.ChildSettled{ID: "01c", Reason: session.ReasonCompleted, Text: "Nothing\nin them."})
	b.has(session.KindDirectoryChanged, session.DirectoryChanged{To: "/tmp/x"})
	b.has(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, "job 3 is done"), Source: session.SourcePlugin, From: "shell"})
	b.has(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, "a whole checkpoint"), Source: session.SourceCheckpoint})
	b.does(logMsg{"warning: a plugin is slow"})
	same(t, "the scrollback", b.printed(), `↻ reset #2 notesoup 46.1k→8.9k tokens, 12 ms, 0 model calls
! pressure compaction by summary failed, the conversation
  stays as it is: no answer
· no compaction: there is nothing to compact
! the window is unknown
  hint: set it
! plugin files crashed (generation 1): signal: killed
· agent reads the logs works on its task
· agent reads the logs: completed: Nothing in them.
· tools start from /tmp/x now
· shell to the agent: job 3 is done
warning: a plugin is slow`)
}

func TestTranscript_HowTurnsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ended session.TurnEnded
		want  string
	}{
		{session.TurnEnded{Reason: session.ReasonCompleted}, ""},
		{session.TurnEnded{Reason: session.ReasonCancelled}, "· cancelled"},
		{session.TurnEnded{Reason: session.ReasonCancelled, Repaired: true}, "· the turn before broke off"},
		{session.TurnEnded{Reason: session.ReasonMaxTokens}, "✗ max_tokens: the answer was cut off at the output limit\n  hint: say \"go on\", or start with -c\n  model.max_output_tokens=N"},
		{session.TurnEnded{Reason: session.ReasonLimit, Error: &session.Failure{Code: "LIMIT_STEPS", Message: "20 steps", Hint: "raise it"}}, "✗ LIMIT_STEPS: 20 steps\n  hint: raise it"},
		{session.TurnEnded{Reason: session.ReasonBlocked, Error: &session.Failure{Code: "BLOCKED", Message: "not today"}}, "✗ BLOCKED: not today"},
	} {
		b := newBench(t, 60, 24)
		b.has(session.KindTurnStarted, session.TurnStarted{})
		b.has(session.KindStepStarted, session.StepStarted{})
		b.has(session.KindTurnEnded, c.ended)
		same(t, string(c.ended.Reason), b.printed(), c.want)
		if b.busy() {
			t.Error("still busy")
		}
	}
}

// A request that fails is told once: as a retry, with the end of the turn, or where
// the step went on.
func TestTranscript_FailedRequestsAreToldOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	b.has(session.KindTurnStarted, session.TurnStarted{})
	b.does(deltaMsg{llm.BlockText, "half an ans"})
	b.has(session.KindAttempt, session.Attempt{Code: "SERVER", Message: "SERVER: down", RetryAfter: 500})
	b.has(session.KindAttempt, session.Attempt{Code: "OVERFLOW", Message: "OVERFLOW: too long", Attempt: 1})
	b.has(session.KindCompactionEnded, session.CompactionEnded{Ordinal: 1, Strategy: "s", Kind: "trim"})
	b.has(session.KindAttempt, session.Attempt{Code: "AUTH", Message: "AUTH: who?", Attempt: 2})
	b.has(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonError, Error: &session.Failure{Code: "AUTH", Message: "AUTH: who?"}})
	same(t, "the scrollback", b.printed(), `half an ans

! retry 1 in 500 ms: SERVER: down
! OVERFLOW: too long
↻ trim #1 s 0→0 tokens, 0 ms, 0 model calls
✗ AUTH: who?`)
}

func TestInput_WhereWordsGo(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	b.presses("one{", "{enter}")
	b.has(session.KindTurnStarted, session.TurnStarted{})
	b.presses("two", "{enter}", "three", "{alt+enter}", "{enter}", " ", "{enter}")
	b.presses("{backspace}", "a", "{shift+enter}", "b", "{enter}")
	b.has(session.KindInboxQueued, session.InboxItem{Queue: session.NextStep, Source: session.SourceSteer, Text: "two"})
	b.has(session.KindInboxQueued, session.InboxItem{Queue: session.NextTurn, Source: session.SourceOwner, Text: "three"})
	if screen := b.screen(); !strings.Contains(screen, "next step: two\nnext turn: three") || !strings.Contains(screen, "2 queued") {
		t.Errorf("what waits:\n%s", screen)
	}
	b.presses("{esc}")
	b.has(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonCancelled})
	b.presses("typed", "{esc}", "{up}", "{up}", "{up}", "{down}", "{enter}")
	if got, want := strings.Join(b.session.calls, "|"), "prompt one{|steer two|prompt three|steer a\nb|cancel|prompt a\nb"; got != want {
		t.Errorf("the session was asked:\n%s\nwant:\n%s", got, want)
	}
}

func TestInput_EscapeClearsBeforeItEndsAWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	b.does(progressMsg{"waiting", "a job"})
	b.presses("draft", "{esc}")
	if !b.edit.empty() || len(b.session.calls) > 0 {
		t.Fatalf("input %q, asked %q", b.edit.value(), b.session.calls)
	}
	if b.presses("{esc}"); strings.Join(b.session.calls, "|") != "cancel" {
		t.Errorf("asked %q", b.session.calls)
	}
}

func TestInput_WhatCannotBeSentIsGivenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	b.session.fail = errors.New("the disk is full; free some space")
	b.presses("precious words", "{enter}")
	same(t, "the scrollback", b.printed(), "✗ the disk is full\n  hint: free some space")
	if b.edit.value() != "precious words" {
		t.Errorf("the input is %q", b.edit.value())
	}
}

func TestInput_Leaving(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		wait time.Duration
		quit bool
	}{
		"Ctrl-D on an empty input":    {[]string{"{ctrl+d}"}, 0, true},
		"Ctrl-D in a text":            {[]string{"ab", "{left}", "{ctrl+d}"}, 0, false},
		"Ctrl-C once":                 {[]string{"ab", "{ctrl+c}"}, 0, false},
		"Ctrl-C twice":                {[]string{"ab", "{ctrl+c}", "{ctrl+c}"}, 0, true},
		"Ctrl-C with a key between":   {[]string{"{ctrl+c}", "a", "{ctrl+c}"}, 0, false},
		"Ctrl-C with a while between": {[]string{"{ctrl+c}", "{ctrl+c}"}, 5 * time.Second, false},
		"/quit":                       {[]string{"/quit", "{enter}"}, 0, true},
	} {
		b := newBench(t, 60, 24)
		for _, k := range c.keys {
			b.presses(k)
			b.clock = b.clock.Add(c.wait)
		}
		if b.quitting != c.quit {
			t.Errorf("%s: leaves %v", name, b.quitting)
		}
	}
}

// More rows than fit above the live part are printed a few at a time, in order.
func TestPrint_AFewRowsAtATime(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 12)
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprint("row ", i))
	}
	b.print(want...)
	for rounds := 0; len(b.out) > 0; rounds++ {
		before := len(b.out)
		if b.drain() == nil || b.drain() != nil {
			t.Fatal("not one print at a time")
		}
		if n := before - len(b.out); n+b.maxLive() >= b.height || rounds > 50 {
			t.Fatalf("%d rows at once above %d live ones of %d", n, b.maxLive(), b.height)
		}
		b.does(printedMsg{})
	}
}

// Whatever the agent, its plugins and the person say: no row is wider than the
// terminal, nothing steers it, and the live part leaves room above.
func TestModel_AnyEventsAnySize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, rapid.IntRange(20, 100).Draw(rt, "width"), rapid.IntRange(6, 40).Draw(rt, "height"))
		text := rapid.SampledFrom([]string{"word ", strings.Repeat("long", 60), "\x1b[2J\x1b]0;t\a", "汤👩‍🍳é", "\u202eabc\u2066", "a\nb\r\nc\td", "", "مرحبا"})
		for i := range rapid.IntRange(1, 25).Draw(rt, "events") {
			s := text.Draw(rt, fmt.Sprint("text", i)) + text.Draw(rt, fmt.Sprint("more", i))
			switch rapid.IntRange(0, 13).Draw(rt, fmt.Sprint("kind", i)) {
			case 0:
				b.has(session.KindTurnStarted, session.TurnStarted{})
			case 1:
				b.does(deltaMsg{llm.BlockText, s})
			case 2:
				b.does(deltaMsg{llm.BlockReasoning, s})
			case 3:
				b.has(session.KindMessageAssistant, answer(s, s, s))
			case 4:
				b.has(session.KindToolStarted, session.ToolStarted{CallID: "c" + s, Name: s})
			case 5:
				b.has(session.KindToolResult, session.ToolResult{Message: llm.ToolResult("c"+s, s, i%2 == 0), Name: s, Code: s})
			case 6:
				b.does(progressMsg{s, s})
			case 7:
				b.has(session.KindInboxQueued, session.InboxItem{Source: session.SourceOwner, Text: s})
			case 8:
				b.has(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, s), Source: session.SourcePlugin, From: s})
			case 9:
				q := session.Question{Kind: session.QuestionOpen, Plugin: s, Text: s, Detail: strings.Repeat(s+"\n", 12), Options: []session.Option{{Label: s, Description: s}, {Label: "b"}}}
				b.does(askMsg{newBox(int64(i), q, false, func(session.Answer) {})})
			case 10:
				b.does(tea.PasteMsg{Content: s})
			case 11:
				b.has(session.KindWarning, session.Warning{Message: s, Hint: s})
			case 12:
				b.has(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonError, Error: &session.Failure{Code: s, Message: s, Hint: s}})
			case 13:
				b.presses("{tab}")
			}
			rows, x, y := b.live()
			if len(rows) > b.maxLive() {
				rt.Fatalf("%d live rows of at most %d:\n%s", len(rows), b.maxLive(), strings.Join(rows, "\n"))
			}
			if y >= len(rows) || x >= b.width {
				rt.Fatalf("the cursor stands at %d,%d in %d rows of %d", x, y, len(rows), b.width)
			}
			for _, row := range slices.Concat(rows, b.out) {
				if cells(row) >= b.width || strings.ContainsAny(row, "\x1b\a\r\n\u202e\u2066") {
					rt.Fatalf("a row of %d columns: %q", cells(row), row)
				}
			}
			b.out = nil
		}
	})
}
