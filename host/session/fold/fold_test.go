package fold_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
)

var appendOp = session.Op{Kind: session.OpAppend}

func system(text string) session.Event {
	return session.New(session.KindMessageSystem, session.Message{Message: llm.Text(llm.RoleSystem, text)}).On(appendOp)
}

func user(text string) session.Event {
	return session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, text), Source: session.SourceOwner}).On(appendOp)
}

func assistant(text string, u llm.Usage, callIDs ...string) session.Event {
	m := llm.Text(llm.RoleAssistant, text)
	for _, id := range callIDs {
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: "t", Arguments: "{}"}})
	}
	return session.New(session.KindMessageAssistant, session.Assistant{Message: m, Usage: u}).On(appendOp)
}

func result(id, text string) session.Event {
	return session.New(session.KindToolResult, session.ToolResult{Message: llm.ToolResult(id, text, false), Name: "t"}).On(appendOp)
}

func created() session.Event {
	return session.New(session.KindSessionCreated, session.Created{ID: "s"})
}

func turn(n int, events ...session.Event) []session.Event {
	out := []session.Event{session.New(session.KindTurnStarted, session.TurnStarted{}).At(n, 0), session.New(session.KindStepStarted, session.StepStarted{}).At(n, 1)}
	for _, e := range events {
		out = append(out, e.At(n, 1))
	}
	return append(out, session.New(session.KindStepEnded, session.StepEnded{}).At(n, 1), session.New(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonCompleted}).At(n, 0))
}

func state(t testing.TB, events ...session.Event) *fold.State {
	t.Helper()
	s := fold.New()
	for i, e := range events {
		e.Seq = int64(i + 1)
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func shown(s *fold.State) string {
	var out []string
	for _, m := range s.Surface.Messages(0) {
		out = append(out, m.Text())
	}
	return strings.Join(out, "|")
}

func TestC1_ReplacementsHideAndNeverDelete(t *testing.T) {
	t.Parallel()
	events := []session.Event{created(), system("sys"), user("a"), user("b"), user("c")}
	for _, tc := range []struct {
		op   session.Op
		want string
	}{
		{session.Op{Kind: session.OpReplace, From: 3, To: 4}, "sys|new|c"},
		{session.Op{Kind: session.OpInsert, After: 3}, "sys|a|new|b|c"},
		{appendOp, "sys|a|b|c|new"},
	} {
		s := state(t, append(events, user("new").On(tc.op))...)
		if got := shown(s); got != tc.want {
			t.Errorf("%+v gives %q, want %q", tc.op, got, tc.want)
		}
	}
	s := state(t, append(events, session.New(session.KindNodesDropped, struct{}{}).On(session.Op{Kind: session.OpDrop, From: 4, To: 5}))...)
	if got := shown(s); got != "sys|a" || s.Surface.Generation != 1 {
		t.Errorf("drop gives %q, generation %d", got, s.Surface.Generation)
	}
}

func TestC1_OnlyASystemMessageMayReplaceNode0(t *testing.T) {
	t.Parallel()
	s := state(t, created(), system("sys"), user("a"))
	for _, to := range []int64{2, 3} {
		e := user("x").On(session.Op{Kind: session.OpReplace, From: 2, To: to})
		e.Seq = 4
		if err := state(t, created(), system("sys"), user("a")).Apply(e); err == nil {
			t.Errorf("a user message replaced node 0 up to %d", to)
		}
	}
	e := system("new").On(session.Op{Kind: session.OpReplace, From: 2, To: 2})
	e.Seq = 4
	if err := s.Apply(e); err != nil || shown(s) != "new|a" {
		t.Errorf("%v, %q", err, shown(s))
	}
}

func TestC2_TheAnchorCountsOnlyWhereItIsNotFarBelowTheEstimate(t *testing.T) {
	t.Parallel()
	low := state(t, append([]session.Event{created()}, turn(1, system(strings.Repeat("x", 300)), assistant("ok", llm.Usage{Input: 5, Output: 1}))...)...)
	if n, source := low.Measure(); source != fold.SourceEstimate || n != low.Estimate() {
		t.Errorf("a usage below the estimate was believed: %d %s", n, source)
	}
	high := state(t, append([]session.Event{created()}, turn(1, system(strings.Repeat("x", 300)), assistant("ok", llm.Usage{Input: 400, CacheRead: 80, Output: 20}))...)...)
	if n, source := high.Measure(); source != fold.SourceUsage || n != 500 {
		t.Errorf("measured %d %s, want 500 usage", n, source)
	}
	e := user(strings.Repeat("y", 30)) // 10 tokens and two overheads
	e.Seq = high.Head + 1
	if err := high.Apply(e); err != nil {
		t.Fatal(err)
	}
	if n, _ := high.Measure(); n != 518 {
		t.Errorf("measured %d after a message of 18 tokens, want 518", n)
	}
}

// TestC2_C078_TheRatioOfAnEndpointIsLearned: what the endpoint counts for an
// estimated token scales the estimate, through compactions, until the model is
// another.
func TestC2_C078_TheRatioOfAnEndpointIsLearned(t *testing.T) {
	t.Parallel()
	events := append([]session.Event{created(), session.New(session.KindRequestHeader, session.Header{Model: "m", Provider: "p"})},
		turn(1, system(strings.Repeat("x", 3000)), user(strings.Repeat("y", 3000)), assistant("ok", llm.Usage{Input: 1400, Output: 20}))...)
	s := state(t, events...)
	if n, source := s.Measure(); source != fold.SourceUsage || n != 1420 || s.Estimate() != 1420 {
		t.Fatalf("measured %d %s, estimate %d; want 1420, as the endpoint counted", n, source, s.Estimate())
	}
	put := func(e session.Event) {
		t.Helper()
		e.Seq = s.Head + 1
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	put(user(strings.Repeat("z", 3000)))
	if n, _ := s.Measure(); n < 1420+690 || n > 1420+720 {
		t.Errorf("measured %d after a message of about 1,000 estimated tokens", n)
	}
	put(user("checkpoint").On(session.Op{Kind: session.OpReplace, From: s.Surface.Nodes[1].Seq, To: s.Head}))
	if n, source := s.Measure(); source != fold.SourceEstimate || n < 690 || n > 740 {
		t.Errorf("measured %d %s after a replacement that leaves about 1,020 estimated tokens", n, source)
	}
	put(session.New(session.KindRequestHeader, session.Header{Model: "another", Provider: "p"}))
	if n, _ := s.Measure(); n < 1000 {
		t.Errorf("measured %d for a model that has counted nothing yet", n)
	}
}

func TestC2_AbsentUsageIsNeverZero(t *testing.T) {
	t.Parallel()
	s := state(t, append([]session.Event{created()}, turn(1, system(strings.Repeat("x", 300)), assistant("ok", llm.Usage{}))...)...)
	if n, source := s.Measure(); n < 100 || source != fold.SourceEstimate {
		t.Errorf("measured %d %s", n, source)
	}
}

func TestN24_AStaleAnchorIsDroppedByACompaction(t *testing.T) {
	t.Parallel()
	events := append([]session.Event{created()}, turn(1, system("sys"), user("a"), assistant("ok", llm.Usage{Input: 5000, Output: 1}))...)
	s := state(t, append(events, user("checkpoint").On(session.Op{Kind: session.OpReplace, From: 5, To: 6}))...)
	if n, source := s.Measure(); source != fold.SourceEstimate || n > 100 {
		t.Errorf("measured %d %s after the replacement", n, source)
	}
}

func TestR1_SnapshotEqualsAFullFold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		store := memlog.New()
		log, err := store.Create(t.Context(), session.Created{ID: fmt.Sprintf("s%d", rapid.IntRange(0, 1<<30).Draw(rt, "id")), Time: time.Unix(0, 0)})
		if err != nil {
			rt.Fatal(err)
		}
		s, err := fold.Full(t.Context(), log)
		if err != nil {
			rt.Fatal(err)
		}
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		snapAt := rapid.IntRange(0, n-1).Draw(rt, "snap")
		for i := range n {
			var batch []session.Event
			nodes := s.Surface.Nodes
			switch k := rapid.IntRange(0, 4).Draw(rt, "kind"); {
			case len(nodes) == 0:
				batch = []session.Event{system("sys")}
			case k == 0 && len(nodes) > 2:
				from := rapid.IntRange(1, len(nodes)-1).Draw(rt, "from")
				to := rapid.IntRange(from, len(nodes)-1).Draw(rt, "to")
				batch = []session.Event{user("r").On(session.Op{Kind: session.OpReplace, From: nodes[from].Seq, To: nodes[to].Seq})}
			case k == 1:
				batch = []session.Event{session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextTurn, Text: "q"})}
			case k == 2 && len(s.Inbox) > 0:
				batch = []session.Event{session.New(session.KindInboxClaimed, session.InboxClaimed{Items: []int64{s.Inbox[0].Seq}})}
			case k == 3:
				batch = []session.Event{session.New("future.kind", map[string]int{"x": 1}), session.New(session.KindRecord, session.Record{Plugin: "p", Kind: "k", Data: json.RawMessage(`1`)})}
			default:
				batch = []session.Event{user(rapid.StringN(1, 20, -1).Draw(rt, "text"))}
			}
			head := s.Head
			for j := range batch {
				e := batch[j]
				e.Seq = s.Head + 1
				if err := s.Apply(e); err != nil {
					rt.Fatal(err)
				}
			}
			b := session.Batch{Head: head, Events: batch}
			if i == snapAt {
				b.Snapshot = s.Snapshot()
			}
			if _, err := log.Append(t.Context(), b); err != nil {
				rt.Fatal(err)
			}
		}
		loaded, err := fold.Load(t.Context(), log)
		if err != nil {
			rt.Fatal(err)
		}
		full, err := fold.Full(t.Context(), log)
		if err != nil {
			rt.Fatal(err)
		}
		if a, b := string(loaded.Snapshot()), string(full.Snapshot()); a != b || shown(loaded) != shown(full) {
			rt.Fatalf("from the snapshot:\n%s\nfrom the start:\n%s", a, b)
		}
	})
}

func TestR1_RepairClosesWhatACutLeftOpen(t *testing.T) {
	t.Parallel()
	whole := append([]session.Event{created()}, turn(1, system("s"), user("u"), assistant("", llm.Usage{}, "a", "b"),
		session.New(session.KindToolStarted, session.ToolStarted{CallID: "a", Name: "t"}), result("a", "r"), result("b", "r"))...)
	for n := 1; n <= len(whole); n++ {
		s := state(t, whole[:n]...)
		events := append([]session.Event{}, whole[:n]...)
		events = append(events, fold.Repair(s)...)
		if v := checkAll(events); len(v) > 0 {
			t.Errorf("prefix %d: %+v", n, v)
		}
	}
}

func checkAll(events []session.Event) []fold.Violation {
	c := fold.NewChecker()
	for i, e := range events {
		e.Seq = int64(i + 1)
		c.Event(e)
	}
	c.End()
	return c.Violations()
}

func TestCheckNamesEachBrokenRule(t *testing.T) {
	t.Parallel()
	start := func(id string) session.Event {
		return session.New(session.KindToolStarted, session.ToolStarted{CallID: id, Name: "t"})
	}
	comp := session.New(session.KindCompactionStarted, session.CompactionStarted{})
	for name, tc := range map[string]struct {
		rule   string
		events []session.Event
	}{
		"first":               {"first", []session.Event{user("x")}},
		"second created":      {"first", []session.Event{created(), created()}},
		"turn in turn":        {"turn", append(append([]session.Event{created()}, turn(1, system("s"), user("u"))[:4]...), session.New(session.KindTurnStarted, session.TurnStarted{}).At(2, 0))},
		"turn skipped":        {"turn", append([]session.Event{created()}, turn(2, system("s"), user("u"))...)},
		"answer outside step": {"step", []session.Event{created(), system("s"), user("u"), assistant("x", llm.Usage{})}},
		"unanswered call":     {"call", append([]session.Event{created()}, turn(1, system("s"), user("u"), assistant("", llm.Usage{}, "a"))...)},
		"foreign result":      {"call", append([]session.Event{created()}, turn(1, system("s"), user("u"), result("zz", "r"))...)},
		"double dispatch":     {"call", append([]session.Event{created()}, turn(1, system("s"), user("u"), assistant("", llm.Usage{}, "a"), start("a"), start("a"), result("a", "r"))...)},
		"half compaction":     {"compaction", []session.Event{created(), system("s"), comp, user("u")}},
		"bad span":            {"fold", []session.Event{created(), system("s"), user("u").On(session.Op{Kind: session.OpReplace, From: 9, To: 9})}},
		"unknown claim":       {"inbox", []session.Event{created(), session.New(session.KindInboxClaimed, session.InboxClaimed{Items: []int64{7}})}},
		"newer schema":        {"version", []session.Event{created(), {V: session.SchemaVersion + 1, Kind: "x"}}},
	} {
		found := false
		for _, v := range checkAll(tc.events) {
			found = found || v.Rule == tc.rule
		}
		if !found {
			t.Errorf("%s: rule %q did not speak: %+v", name, tc.rule, checkAll(tc.events))
		}
	}
	if v := checkAll(append([]session.Event{created()}, turn(1, system("s"), user("u"), assistant("hi", llm.Usage{}))...)); len(v) > 0 {
		t.Errorf("a good log breaks rules: %+v", v)
	}
}
