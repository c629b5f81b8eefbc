package guards_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// stopping asks whether the turn may end: "" = yes.
func (w *watch) stopping(turn int) string {
	w.t.Helper()
	d, err := w.hooks.TurnStopping(w.t.Context(), hook.Where{Session: "a", Turn: turn, Step: 1})
	if err != nil {
		w.t.Fatal(err)
	}
	if d.Stop != nil {
		return "stop " + d.Stop.Code
	}
	return d.Continue
}

func TestC133_AnnouncedStepsGetTwoNudgesThenTheTurnEnds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Now let me read X.": "ends with a step", "Executing step 2:": "ends with a step",
		"<tool_call>\n{\"name\": \"read\", \"arguments\": {\"file_path\": \"X\"}}\n</tool_call>": "writes a tool call out as text",
	} {
		w := keep(t, `{}`)
		for i, want := range []string{want, want, "stop ANNOUNCED"} {
			w.diary.answers(1, text)
			if got := w.stopping(1); !strings.Contains(got, want) {
				t.Errorf("%q, time %d: %q, want %q", text, i+1, got, want)
			}
		}
	}
}

func TestC133_AnswersEndAtOnce(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "answers.txt"))
	if err != nil {
		t.Fatal(err)
	}
	w := keep(t, `{}`)
	for text := range strings.SplitSeq(string(raw), "\n%%\n") {
		w.diary.answers(1, text)
		if got := w.stopping(1); got != "" {
			t.Errorf("the turn is held up with %q by:\n%s", got, text)
		}
	}
}

// A call in between begins a new row, within a bound for the turn; another turn
// begins with nothing. The count is in the log: a new process knows it.
func TestC133_NudgesCountInARowAndInTheTurn(t *testing.T) {
	t.Parallel()
	w := keep(t, `{}`)
	nudged := 0
	for range 20 {
		w.diary.answers(1, "Let me read it.")
		got := w.stopping(1)
		if got == "stop ANNOUNCED" {
			break
		}
		if nudged++; !strings.Contains(got, "step") {
			t.Fatalf("nudge %d: %q", nudged, got)
		}
		w.diary.answers(1, "", "read")
	}
	if nudged != 6 {
		t.Errorf("%d nudges in a turn, want 6", nudged)
	}
	w.diary.add(session.New(session.KindTurnStarted, session.TurnStarted{}).At(2, 0))
	w.diary.answers(2, "Let me read it.")
	if got := w.stopping(2); !strings.Contains(got, "step") {
		t.Errorf("the next turn: %q", got)
	}
	again := keep(t, `{"nudges":1}`)
	again.diary.events = w.diary.events
	again.diary.answers(2, "Let me read it.")
	if got := again.stopping(2); got != "stop ANNOUNCED" {
		t.Errorf("a new process: %q", got)
	}
}

// What is no final answer is not judged, and what cannot be read holds nothing up.
func TestC133_NothingElseIsHeldUp(t *testing.T) {
	t.Parallel()
	w := keep(t, `{}`)
	if got := w.stopping(1); got != "" {
		t.Errorf("no answer yet: %q", got)
	}
	w.diary.answers(1, "Let me read it.")
	if got := w.stopping(2); got != "" {
		t.Errorf("the answer of another turn: %q", got)
	}
	w.diary.answers(1, "Let me read it.", "read")
	if got := w.stopping(1); got != "" {
		t.Errorf("an answer with a call: %q", got)
	}
	w.diary.add(session.New(session.KindMessageAssistant, session.Assistant{Message: llm.Text(llm.RoleAssistant, "Let me read it."), Stop: llm.StopMaxTokens}).At(1, 3))
	if got := w.stopping(1); got != "" {
		t.Errorf("an answer that was cut off: %q", got)
	}
	for _, w := range []*watch{keep(t, `{"nudges":0}`), keep(t, `{}`, sdk.CapSessionRead), keep(t, `{}`, sdk.CapRecordsWrite)} {
		w.diary.answers(1, "Let me read it.")
		if got := w.stopping(1); got != "" {
			t.Errorf("off or without its capabilities: %q", got)
		}
	}
}

// TestC108_NudgesHoldOneRecord: however many turns had one.
func TestC108_NudgesHoldOneRecord(t *testing.T) {
	t.Parallel()
	w := keep(t, `{}`)
	for turn := 1; turn <= 9; turn++ {
		w.diary.add(session.New(session.KindTurnStarted, session.TurnStarted{}).At(turn, 0))
		w.diary.answers(turn, "Now let me read X.")
		if got := w.stopping(turn); !strings.Contains(got, "ends with a step") {
			t.Errorf("turn %d: %q", turn, got)
		}
	}
	n := 0
	for range compactiontest.Records(w.diary.events, "guards", "") {
		n++
	}
	if n != 1 {
		t.Errorf("%d records hold", n)
	}
}
