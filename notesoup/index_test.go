package notesoup_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup"
)

// tooled appends a call with arguments and its result.
func (d *desk) tooled(name, arguments, result string, isError bool) (call, answer int64) {
	id := fmt.Sprint("t", len(d.Messages()), name, arguments)
	call = d.Assistant("", llm.ToolCall{ID: id, Name: name, Arguments: arguments})
	return call, d.Result(id, name, result, isError)
}

func TestN18_TheIndexSaysWhoSaidWhat(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.Turn()
	old := d.User(session.SourceOwner, "Look at\nthe parser first.")
	said := d.Assistant("It reads <owner seq=\"1\">, not </log>.\nMore of it.")
	d.EndTurn(session.ReasonCompleted)
	d.Turn()
	request := d.User(session.SourceOwner, "Now fix it.")
	d.User(session.SourceHost, "a notice of the host")
	d.tooled("write", `{"path":"a.go","text":"x"}`, "ok", false)
	d.tooled("edit", `{"path":"refused.go"}`, "no", true)
	again, _ := d.tooled("edit", `{"path":"a.go"}`, "ok", false)
	_, failed := d.tooled("shell", `{"command":"go test"}`, "exit status 1\nFAIL parser", true)
	d.tooled("notes_write", `{"path":"progress"}`, "Error: E_EXISTS: progress.md exists", true)
	index, rest := d.indexed(session.TriggerPressure, true)
	want := fmt.Sprintf(`Files that calls of yours wrote:
- seq=%d edit a.go
The last error that a tool returned:
- seq=%d shell: exit status 1 FAIL parser
The owner said before, for looking up and not to be taken up again:
- seq=%d Look at the parser first.
You said:
- seq=%d It reads <\owner seq="1">, not <\/log>. More of it.
`, again, failed, old, said)
	if index != want {
		t.Errorf("got\n%s\nwant\n%s", index, want)
	}
	if !strings.HasSuffix(rest, fmt.Sprintf("<owner seq=\"%d\">\nNow fix it.\n</owner>", request)) {
		t.Errorf("the request: %q", rest)
	}
}

func TestN18_AnIndexIsNeverMadeOfAnIndex(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.Turn()
	d.User(session.SourceOwner, "Fix it.")
	d.Assistant("The cause is in the lexer.")
	first, _ := d.indexed(session.TriggerPressure, true)
	for range 3 { // nothing was said since
		d.tooled("read", `{}`, "text", false)
		if again, _ := d.indexed(session.TriggerPressure, true); again != first || strings.Count(again, "lexer") != 1 {
			t.Fatalf("got\n%s\nafter\n%s", again, first)
		}
	}
}

func TestN18_TheIndexIsBounded(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.Turn()
	d.User(session.SourceOwner, "Go.")
	for i := range 300 {
		d.Assistant(fmt.Sprintf("step %03d: %s", i, strings.Repeat("漢字", 200)))
	}
	for i := range 60 {
		d.tooled("write", fmt.Sprintf(`{"path":"dir/%03d.go"}`, i), "ok", false)
	}
	index, _ := d.indexed(session.TriggerPressure, true)
	if n := llm.EstimateText(index); n > notesoup.MaxIndexTokens || n < notesoup.MaxIndexTokens/2 {
		t.Errorf("the index has %d tokens", n)
	}
	if !strings.Contains(index, "dir/059.go") || strings.Contains(index, "dir/000.go") || !strings.Contains(index, "step 299") || strings.Contains(index, "step 000") {
		t.Errorf("not the newest:\n%s", index)
	}
}

// counted counts what is read of a log.
type counted struct {
	session.Access
	n atomic.Int64
}

func (c *counted) Events(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range c.Access.Events(ctx, q) {
			c.n.Add(1)
			if !yield(e, err) {
				return
			}
		}
	}
}

// What is read for a reset does not grow with the log.
func TestN18_TheIndexReadsABoundedPartOfTheLog(t *testing.T) {
	t.Parallel()
	read := func(exchanges int) int {
		d := sit(t)
		s := d.strategy(notesoup.Config{Carry: notesoup.CarryRequest})
		d.Open(s)
		d.Turn()
		for i := range exchanges {
			d.tooled("read", fmt.Sprint(i), "text", false)
		}
		d.work("the newest", 3)
		in := d.Input(session.TriggerPressure)
		log := &counted{Access: in.Access}
		in.Access = log
		if p := d.Compact(s, in); p.IsZero() {
			t.Fatal("no reset")
		}
		return int(log.n.Load())
	}
	few, many := read(2000), read(6000)
	if few != many || few > 2000 {
		t.Errorf("%d events are read of a log of 2000 exchanges, %d of one of 6000", few, many)
	}
}

func TestN18_WithoutCarryThereIsNoIndex(t *testing.T) {
	t.Parallel()
	d := sit(t)
	s := d.strategy(notesoup.Config{})
	d.Open(s)
	d.work("go", 3)
	in := d.Input(session.TriggerPressure)
	d.Compact(s, in)
	if got := d.Messages()[1].Text(); got != notesoup.Handoff(in.Trigger, in.Seed) {
		t.Errorf("got %q", got)
	}
}
