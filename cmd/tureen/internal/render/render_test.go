package render_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

func TestAmount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1k", 8900: "8.9k", 8949: "8.9k", 8951: "9k", 46_100: "46.1k", 99_949: "99.9k", 99_951: "100k",
		102_400: "102k", 128_000: "128k", 999_949: "1000k", 999_951: "1M", 1_200_000: "1.2M",
	} {
		if got := render.Amount(n); got != want {
			t.Errorf("Amount(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestTheOneLines(t *testing.T) {
	t.Parallel()
	reset := session.CompactionEnded{Ordinal: 1, Strategy: "notesoup", Kind: "reset", TokensBefore: 46_100, TokensAfter: 8_900, Millis: 12}
	if got, want := render.Compacted(reset), "reset #1 notesoup 46.1k→8.9k tokens, 12 ms, 0 model calls"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	usd := 0.01234
	reset.Trigger, reset.ModelCalls, reset.CostUSD, reset.Dropped, reset.Trimmed, reset.Kept = session.TriggerOverflow, 1, &usd, 40, 3, 2
	if got, want := render.Compacted(reset), "reset #1 notesoup 46.1k→8.9k tokens, 12 ms, 1 model call, $0.0123; overflow, 3 trimmed, 40 dropped, 2 kept"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	failed := session.CompactionFailed{Strategy: "summary", Trigger: session.TriggerPressure, Error: "no answer", ModelCalls: 2, CostUSD: &usd, Millis: 900}
	if got, want := render.Failed(failed), "pressure compaction by summary failed, the conversation stays as it is: no answer (900 ms, 2 model calls, $0.0123)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	full := session.Meter{Window: 128_000, Measured: 52_100, ResetAt: 102_400}
	if got, want := render.Meter(full), "52.1k/128k (41%) line 102k"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := render.Meter(session.Meter{Measured: 950}), "950 tokens, window unknown"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"short", "short"},
		{"exactly 10", "exactly 10"},
		{"more than ten", "more than…"},
		{"a\n\tb\x1b[31m", "a b [31m"},
		{"é" + strings.Repeat("ü", 20), "é" + strings.Repeat("ü", 8) + "…"},
		{"bad \xff", "bad ?"},
	} {
		if got := render.Head(c.text, 10); got != c.want {
			t.Errorf("Head(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// event makes an event as an observer gets it.
func event(kind session.Kind, payload any) session.Event {
	e := session.New(kind, payload).At(1, 2)
	e.Time = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	return e
}

func TestStreamLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := render.NewStream(&out)
	answer := llm.Text(llm.RoleAssistant, "<b>")
	answer.Blocks = append(answer.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "c1", Name: "read", Arguments: `{"file_path":"a"}`}})
	s.Event(event(session.KindMessageAssistant, session.Assistant{Message: answer}), session.Meter{})
	s.Event(event(session.KindToolResult, session.ToolResult{Message: llm.ToolResult("c1", "gone", true), Name: "read", Code: "NOT_FOUND", Millis: 3}), session.Meter{})
	s.Event(event(session.KindStepEnded, session.StepEnded{}), session.Meter{Window: 100, Measured: 40, ResetAt: 80, Fixed: 10, Source: "usage", Ordinal: 2})
	s.Event(event(session.KindRecord, session.Record{}), session.Meter{}) // nobody's business
	if err := s.End(host.Result{Status: "completed"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"v":1,"seq":1,"ts":"2026-01-02T03:04:05.000006Z","type":"item.completed","turn":1,"step":2,"item":{"type":"message","role":"assistant","text":"\u003cb\u003e"}}`,
		`{"v":1,"seq":2,"ts":"2026-01-02T03:04:05.000006Z","type":"item.completed","turn":1,"step":2,"item":{"type":"tool_call","call_id":"c1","name":"read","arguments":"{\"file_path\":\"a\"}"}}`,
		`{"v":1,"seq":3,"ts":"2026-01-02T03:04:05.000006Z","type":"item.completed","turn":1,"step":2,"item":{"type":"tool_result","call_id":"c1","name":"read","text":"gone","is_error":true,"code":"NOT_FOUND","ms":3}}`,
		`{"v":1,"seq":4,"ts":"2026-01-02T03:04:05.000006Z","type":"context.usage","turn":1,"step":2,"used":40,"size":100,"reset_at":80,"fixed_overhead":10,"source":"usage","window":2}`,
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(want)+1 {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	for i, w := range want {
		if lines[i] != w {
			t.Errorf("line %d\n got %s\nwant %s", i+1, lines[i], w)
		}
	}
	var last struct {
		Type string
		Seq  int
	}
	if err := json.Unmarshal([]byte(lines[4]), &last); err != nil || last.Type != "run.completed" || last.Seq != 5 {
		t.Errorf("last line %s: %v", lines[4], err)
	}
}

// Each type of the table is written by the stream, and no other is.
func TestHelpNamesEveryType(t *testing.T) {
	t.Parallel()
	var out, help bytes.Buffer
	s := render.NewStream(&out)
	s.Start(render.SessionStarted{})
	for _, e := range []session.Event{
		event(session.KindTurnStarted, session.TurnStarted{}), event(session.KindStepStarted, session.StepStarted{}),
		event(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, "hello")}),
		event(session.KindAttempt, session.Attempt{}), event(session.KindStepEnded, session.StepEnded{}),
		event(session.KindCompactionEnded, session.CompactionEnded{}), event(session.KindCompactionFailed, session.CompactionFailed{}), event(session.KindCompactionPostponed, session.CompactionPostponed{}),
		event(session.KindCompactionUndone, session.CompactionUndone{}), event(session.KindCompactionRest, session.CompactionRest{}),
		event(session.KindUndoRefused, session.UndoRefused{}), event(session.KindSessionArchived, session.Archived{}),
		event(session.KindQuestionAsked, session.Question{}), event(session.KindQuestionAnswered, session.Answer{}),
		event(session.KindCommandRun, session.CommandRun{}), event(session.KindDirectoryChanged, session.DirectoryChanged{}),
		event(session.KindChildSpawned, session.ChildSpawned{}), event(session.KindChildSettled, session.ChildSettled{}),
		event(session.KindReport, session.Report{Data: json.RawMessage(`{}`)}),
		event(session.KindPlugin, session.PluginState{}), event(session.KindWarning, session.Warning{}),
		event(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonCompleted}),
		event(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonError}),
	} {
		s.Event(e, session.Meter{})
	}
	if err := s.End(host.Result{}); err != nil {
		t.Fatal(err)
	}
	var written, named []string
	for line := range strings.Lines(out.String()) {
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		written = append(written, e.Type)
	}
	render.WriteTypes(&help)
	for line := range strings.Lines(help.String()) {
		if name, _, ok := strings.Cut(line, "  "); ok && name != "" {
			named = append(named, name)
		}
	}
	if got, want := strings.Join(written, " "), strings.Join(named, " "); got != want {
		t.Errorf("written %s\n  named %s", got, want)
	}
	if !strings.Contains(help.String(), "model_calls {main, compaction, notes, retry, other}") {
		t.Errorf("help lacks the fields of run.completed:\n%s", help.String())
	}
}

// What is undone, rests, or was put away is said on one line, to people, in an event's
// gist and in a transcript.
func TestC19_WhatIsSaidOfUndoRestAndArchive(t *testing.T) {
	t.Parallel()
	lost := session.New(session.KindToolResult, session.ToolResult{})
	for _, c := range []struct {
		kind                       session.Kind
		payload                    any
		gist, progress, transcript string
	}{
		{session.KindCompactionUndone, session.CompactionUndone{Ordinal: 3, Seq: 9},
			"compaction #3 is undone: the conversation is what it was before it; automatic compaction …",
			"compaction #3 is undone: the conversation is what it was before it; automatic compaction rests\n",
			"\n---\n\n*compaction #3 is undone: the conversation is what it was before it; automatic compaction rests*\n\n---\n"},
		{session.KindCompactionRest, session.CompactionRest{Why: "the model changed"}, "automatic compaction acts again: the model changed", "automatic compaction acts again: the model changed\n", ""},
		{session.KindCompactionRest, session.CompactionRest{Rest: true}, "automatic compaction rests", "automatic compaction rests\n", ""},
		{session.KindUndoAsked, session.UndoAsked{From: "pid 1 on h"}, "pid 1 on h", "", ""},
		{session.KindWindowLearned, session.WindowLearned{Model: "m", Window: 8192, Before: 32768}, "m: 8192 tokens, not 32768", "", ""},
		{session.KindCompactionPostponed, session.CompactionPostponed{Strategy: "notesoup", Trigger: "pressure"},
			"pressure compaction by notesoup waits for one step of last words", "pressure compaction by notesoup waits for one step of last words\n", ""},
		{session.KindUndoRefused, session.UndoRefused{Why: "it answered", Hint: "fork"}, "it answered", "warning: nothing is undone: it answered\nhint: fork\n", ""},
		{session.KindSessionArchived, session.Archived{Archived: true}, "the session is archived: it takes no step any more", "the session is archived: it takes no step any more\n", "\n*the session is archived: it takes no step any more.*\n"},
		{session.KindSessionArchived, session.Archived{}, "the session is no longer archived", "the session is no longer archived\n", "\n*the session is no longer archived.*\n"},
		{session.KindLost, session.Lost{Why: "it did not read"}, "it did not read", "", "\n*Event 7 is lost: it did not read.*\n"},
		{session.KindLost, session.Lost{Why: "no turn is open", Event: &lost}, "tool.result, set aside: no turn is open", "", "\n*Event 7 is lost: tool.result, set aside: no turn is open.*\n"},
		{session.KindSessionCreated, session.Created{Title: "mend it", Origin: &session.Origin{Session: "01a", Seq: 7, How: session.HowFork}}, "forked from 01a at event 7 mend it", "", ""},
		{session.KindSessionCreated, session.Created{Origin: &session.Origin{Session: "01a", How: session.HowSalvage}}, "salvaged from 01a", "", ""},
		{session.KindSessionOpened, session.Opened{Plugins: []string{"a@1", "b@2"}, Profile: "p", Strategy: "s"}, "profile p, strategy s: a@1 b@2", "", ""},
		{session.KindSessionOpened, session.Opened{Plugins: []string{"a@1"}}, "a@1", "", ""},
		{session.KindCompactionAsked, session.CompactionAsked{Instructions: "be brief", From: "me"}, "me be brief", "", ""},
		{session.KindCompactionDropped, session.CompactionDropped{Why: "cut"}, "cut", "", ""},
		{session.KindMarkShown, session.MarkShown{ID: "close-out"}, "close-out", "", ""},
	} {
		e := event(c.kind, c.payload)
		e.Seq = 7
		var progress, transcript bytes.Buffer
		render.NewProgress(render.NewLines(&progress, render.Style{})).Event(e, session.Meter{})
		sheet := render.NewTranscript(&transcript, session.Summary{})
		transcript.Reset()
		if err := sheet.Event(e); err != nil {
			t.Fatal(err)
		}
		if got := render.Gist(e); got != c.gist || progress.String() != c.progress || transcript.String() != c.transcript {
			t.Errorf("%s %+v\n gist %q\n progress %q\n transcript %q", c.kind, c.payload, got, progress.String(), transcript.String())
		}
	}
}

func TestProgressLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	lines := render.NewLines(&out, render.Style{})
	p := render.NewProgress(lines)
	p.Live = true
	p.Event(event(session.KindStepStarted, session.StepStarted{}), session.Meter{})
	p.Delta(llm.BlockReasoning, "hm")
	p.Delta(llm.BlockText, "I am about ")
	p.Delta(llm.BlockText, "to read")
	answer := &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "c1", Name: "read", Arguments: `{"file_path":"a.txt"}`}}}}
	p.Event(event(session.KindMessageAssistant, session.Assistant{Message: answer}), session.Meter{})
	p.Event(event(session.KindToolResult, session.ToolResult{Message: llm.ToolResult("c1", "Error: no such file", true), Name: "read", Code: "NOT_FOUND"}), session.Meter{})
	p.Event(event(session.KindAttempt, session.Attempt{Message: "HTTP 500", RetryAfter: 500}), session.Meter{})
	p.Event(event(session.KindPlugin, session.PluginState{Plugin: "files", State: "started", Generation: 1}), session.Meter{})
	p.Event(event(session.KindPlugin, session.PluginState{Plugin: "files", State: "crashed", Generation: 1, Detail: "signal: killed"}), session.Meter{})
	p.Event(event(session.KindWarning, session.Warning{Message: "it is full", Hint: "empty it"}), session.Meter{})
	p.Event(session.Event{Kind: session.KindToolResult, Data: []byte("not JSON")}, session.Meter{})
	lines.Logger(slog.LevelWarn).With("plugin", "files").Warn("it is slow", "ms", 7)
	lines.Logger(slog.LevelWarn).Info("nobody asked")
	want := `step 2
I am about to read
  read {"file_path":"a.txt"} ✗ NOT_FOUND, 19 chars, 0 ms
    no such file
  retry 1 in 500 ms: HTTP 500
warning: plugin files crashed (generation 1): signal: killed
warning: it is full
hint: empty it
warning: it is slow (plugin=files, ms=7)
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

// What plugins and models say cannot steer the terminal, nor pass for a line of
// the host's.
func TestForeignTextIsPlain(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;owned\a\x1b[2J\u009b31m\u202etxet\r\nerror: fake\x7f"
	var out bytes.Buffer
	lines := render.NewLines(&out, render.Style{})
	p := render.NewProgress(lines)
	p.Live, p.Verbose = true, true
	p.Start(render.SessionStarted{Profile: evil, Strategy: evil, Model: evil})
	p.Event(event(session.KindCompactionFailed, session.CompactionFailed{Trigger: "manual", Strategy: evil, Error: evil}), session.Meter{})
	p.Event(event(session.KindCompactionEnded, session.CompactionEnded{Strategy: evil}), session.Meter{})
	p.Event(event(session.KindWarning, session.Warning{Message: evil, Hint: evil}), session.Meter{})
	p.Event(event(session.KindPlugin, session.PluginState{Plugin: evil, State: "crashed", Detail: evil}), session.Meter{})
	p.Event(event(session.KindPlugin, session.PluginState{Plugin: evil, State: "stopped", Detail: evil}), session.Meter{})
	p.Event(event(session.KindAttempt, session.Attempt{Message: evil}), session.Meter{})
	p.Event(event(session.KindToolResult, session.ToolResult{Message: llm.ToolResult("c", evil, true), Name: evil, Code: evil}), session.Meter{})
	p.Event(event(session.KindCompactionRest, session.CompactionRest{Why: evil}), session.Meter{})
	p.Event(event(session.KindUndoRefused, session.UndoRefused{Why: evil, Hint: evil}), session.Meter{})
	p.Progress(evil, evil)
	lines.Error(evil, evil)
	log := lines.Logger(slog.LevelDebug).With("plugin", evil)
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelError} {
		log.Log(t.Context(), level, evil, "line", evil)
	}
	if strings.ContainsAny(out.String(), "\x1b\a\r\x7f\u009b\u202e") {
		t.Errorf("controls in %q", out.String())
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "error: fake") {
			t.Errorf("a fake line in:\n%s", out.String())
		}
	}
	p.Delta(llm.BlockText, "one\ttwo\x1b[2J\n")
	if !strings.HasSuffix(out.String(), "\none\ttwo[2J\n") {
		t.Errorf("live text: %q", out.String())
	}
	if got := render.Plain("é\ta\nb\xff \u202ea\u2066b\u2069"); got != "é\ta\nb\uFFFD ab" {
		t.Errorf("%q", got)
	}
}
