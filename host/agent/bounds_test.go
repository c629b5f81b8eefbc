package agent_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/spill"
	"github.com/tureen-host/tureen/host/tool"
)

// crowd counts the calls that run at once.
type crowd struct{ now, most, alone atomic.Int64 }

func (c *crowd) call(exclusive bool) func(context.Context, tool.Call) (tool.Result, error) {
	return func(_ context.Context, call tool.Call) (tool.Result, error) {
		n := c.now.Add(1)
		defer c.now.Add(-1)
		for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
		}
		if exclusive && n > 1 {
			c.alone.Add(1)
		}
		if strings.HasSuffix(call.ID, "7") {
			return tool.Result{Text: "failed " + call.ID, IsError: true}, nil
		}
		return tool.Result{Text: "did " + call.ID}, nil
	}
}

// One answer with a thousand calls: each has its result, in the order of the calls,
// at most ten run at once and an exclusive one alone.
func TestL19_AThousandCallsInOneAnswer(t *testing.T) {
	t.Parallel()
	const many = 1000
	var list []string
	for i := range many {
		name := "read"
		if i%97 == 0 {
			name = "write"
		}
		list = append(list, fmt.Sprintf("c%d %s {}", i, name))
	}
	s := newSetup(t, calls(list...), says("done"))
	var c crowd
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "read", Parallel: true}, c.call(false)).add(tool.Spec{Name: "write"}, c.call(true))}
	s.completed("go")
	if most, alone := c.most.Load(), c.alone.Load(); most > 10 || alone > 0 {
		t.Errorf("%d ran at once, %d exclusive calls were not alone", most, alone)
	}
	next := 0
	for _, e := range s.events() {
		p, err := session.Decode[session.ToolResult](e)
		if e.Kind != session.KindToolResult {
			continue
		}
		want := fmt.Sprintf("c%d", next)
		if err != nil || p.Message.CallID != want || !strings.HasSuffix(p.Message.Text(), want) || p.Message.IsError != strings.HasSuffix(want, "7") {
			t.Fatalf("result %d is %s %q (%v)", next, p.Message.CallID, p.Message.Text(), err)
		}
		next++
	}
	if next != many || s.count(session.KindToolStarted) != many {
		t.Errorf("%d results of %d starts", next, s.count(session.KindToolStarted))
	}
	s.same(1)
}

// same holds the n-th request against what another process makes of the log: the
// surface is in the log whole.
func (s *setup) same(n int) {
	s.t.Helper()
	state, err := fold.Load(s.t.Context(), s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	request, loaded := s.model.requests[n].Messages, state.Surface.Messages(0)
	if err := llm.Validate(request); err != nil {
		s.t.Error(err)
	}
	for i, m := range request {
		if i >= len(loaded) || m.Text() != loaded[i].Text() || m.Role != loaded[i].Role {
			s.t.Fatalf("message %d of request %d is not that of the log", i, n)
		}
	}
}

// Output of 30 MB, as one line and as a hundred thousand: the log keeps every byte,
// the model sees a bounded part and can read on anywhere.
func TestC14_C16_HugeOutput(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("0123456789", 30)
	for name, text := range map[string]string{"line": strings.Repeat("x", 30<<20), "lines": strings.Repeat(line+"\n", 100_000)} {
		s := newSetup(t, calls("a print {}"))
		lines := strings.Count(text, "\n")
		s.model.answers = append(s.model.answers, func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
			id := regexp.MustCompile(`spill-\d+`).FindString(r.Messages[len(r.Messages)-1].Text())
			calls(fmt.Sprintf(`b read_spill {"id":%q,"offset":%d}`, id, max(1, lines)))(ctx, r, yield)
		}, says("done"))
		s.tools = []tool.Provider{prints(map[string]string{"print": text}), spill.New(s.log)}
		s.completed("go")
		kept := s.spilled()["a"]
		if sha256.Sum256([]byte(kept.Text)) != sha256.Sum256([]byte(text)) || kept.Bytes != len(text) || kept.Lines != max(1, lines) {
			t.Errorf("%s: kept are %d bytes and %d lines of %d and %d", name, kept.Bytes, kept.Lines, len(text), lines)
		}
		if n := llm.EstimateText(s.results(1)["a"]); n > spill.MaxInline {
			t.Errorf("%s: %d tokens are shown", name, n)
		}
		if got := s.results(2)["b"]; llm.EstimateText(got) > spill.MaxPaged || lines > 0 && !strings.HasPrefix(got, fmt.Sprintf("%d: %s\n", lines, line)) || !strings.Contains(got, "total") && lines > 0 {
			t.Errorf("%s: read on: %.200q", name, got)
		}
		s.same(2)
	}
}
