package compaction_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

const head = 1000 // the revision in these tests

// surface draws a surface: node 0, then whole exchanges, then perhaps an
// unfinished batch.
func surface(t *rapid.T) []session.Node {
	nodes := []session.Node{{Seq: 2, Role: llm.RoleSystem, Tokens: 500}}
	add := func(n session.Node) {
		n.Seq = nodes[len(nodes)-1].Seq + rapid.Int64Range(1, 3).Draw(t, "gap")
		n.Tokens = rapid.IntRange(2, 400).Draw(t, "tokens")
		n.Chars = 3 * n.Tokens
		nodes = append(nodes, n)
	}
	batch := func(i int) (ids []string) {
		for k := range rapid.IntRange(1, 4).Draw(t, "calls") {
			ids = append(ids, fmt.Sprintf("call-%d-%d", i, k))
		}
		add(session.Node{Role: llm.RoleAssistant, CallIDs: ids})
		return rapid.Permutation(ids).Draw(t, "answers")
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "units") {
		switch rapid.IntRange(0, 2).Draw(t, "unit") {
		case 0:
			add(session.Node{Role: llm.RoleUser})
		case 1:
			add(session.Node{Role: llm.RoleAssistant})
		case 2:
			for _, id := range batch(i) {
				add(session.Node{Role: llm.RoleTool, CallID: id})
			}
		}
	}
	if rapid.Bool().Draw(t, "unfinished") {
		ids := batch(99)
		for _, id := range ids[1:] {
			add(session.Node{Role: llm.RoleTool, CallID: id})
		}
	}
	return nodes
}

func one(*llm.Message) int { return 1 }

func replace(nodes []session.Node, from, to int) compaction.Proposal {
	return compaction.Proposal{Revision: head, Kind: compaction.KindSummary, Edits: []compaction.Edit{{Replace: &compaction.Replace{
		Span:     compaction.Span{From: nodes[from].Seq, To: nodes[to].Seq},
		Messages: []*llm.Message{llm.Text(llm.RoleUser, "what happened")},
	}}}}
}

// openAt counts the calls without a result before nodes[i].
func openAt(nodes []session.Node, i int) int {
	open := map[string]bool{}
	for _, n := range nodes[:i] {
		for _, id := range n.CallIDs {
			open[id] = true
		}
		delete(open, n.CallID)
	}
	return len(open)
}

func sum(nodes []session.Node) (total int) {
	for _, n := range nodes {
		total += n.Tokens
	}
	return total
}

func TestC5_CheckAcceptsWhatBalancedTailYields(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := surface(t)
		keep := rapid.IntRange(0, sum(nodes)).Draw(t, "keep")
		cut, ok := compaction.BalancedTail(nodes, keep)
		latest := 0 // the best cut, found the slow way
		for i := 2; i <= len(nodes); i++ {
			if openAt(nodes, i) == 0 && sum(nodes[i:]) >= keep {
				latest = i
			}
		}
		if ok != (latest > 0) || ok && cut != latest {
			t.Fatalf("got %d, %v; the latest balanced cut that keeps %d is %d", cut, ok, keep, latest)
		}
		if !ok {
			return
		}
		p := replace(nodes, 1, cut-1)
		if err := compaction.Check(nodes, p, head, one); err != nil {
			t.Fatal(err)
		}
		if got, want := compaction.After(nodes, p, one), nodes[0].Tokens+1+sum(nodes[cut:]); got != want {
			t.Fatalf("After: got %d, want %d", got, want)
		}
	})
}

func TestC5_N17_CheckRefusesEveryCutPair(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := surface(t)
		if len(nodes) < 2 {
			return
		}
		from := rapid.IntRange(1, len(nodes)-1).Draw(t, "from")
		to := rapid.IntRange(from, len(nodes)-1).Draw(t, "to")
		cuts := openAt(nodes, from) > 0 || openAt(nodes, to+1) > 0
		got := compaction.RefusalOf(compaction.Check(nodes, replace(nodes, from, to), head, one))
		if cuts != (got == compaction.RefusedPair) || !cuts && got != "" {
			t.Fatalf("span %d..%d of %d nodes: refused as %q, cuts a pair: %v", from, to, len(nodes), got, cuts)
		}
	})
}

// small is node 0, a prompt, an exchange with a long result, an answer, a prompt.
func small() []session.Node {
	return []session.Node{
		{Seq: 2, Role: llm.RoleSystem, Tokens: 100, Chars: 300},
		{Seq: 4, Role: llm.RoleUser, Tokens: 50, Chars: 150},
		{Seq: 6, Role: llm.RoleAssistant, Tokens: 20, Chars: 0, CallIDs: []string{"a"}},
		{Seq: 8, Role: llm.RoleTool, Tokens: 3000, Chars: 9000, CallID: "a"},
		{Seq: 9, Role: llm.RoleAssistant, Tokens: 30, Chars: 90},
		{Seq: 12, Role: llm.RoleUser, Tokens: 10, Chars: 30},
	}
}

func TestN17_CheckNamesItsReason(t *testing.T) {
	t.Parallel()
	span := func(from, to int64) *compaction.Span { return &compaction.Span{From: from, To: to} }
	put := func(from, to int64, messages ...*llm.Message) compaction.Edit {
		return compaction.Edit{Replace: &compaction.Replace{Span: *span(from, to), Messages: messages}}
	}
	said := llm.Text(llm.RoleUser, "said")
	long := llm.Text(llm.RoleUser, strings.Repeat("long ", 5000))
	trim := func(node int64, head, tail int) compaction.Edit {
		return compaction.Edit{Trim: &compaction.Trim{Node: node, Head: head, Tail: tail}}
	}
	cases := []struct {
		name  string
		kind  compaction.Kind
		edits []compaction.Edit
		want  compaction.Refusal
	}{
		{"a summary of the start", compaction.KindSummary, []compaction.Edit{put(4, 8, said)}, ""},
		{"a reset of everything", compaction.KindReset, []compaction.Edit{put(4, 12, said)}, ""},
		{"a reset may grow", compaction.KindReset, []compaction.Edit{put(4, 12, long)}, ""},
		{"a summary may not grow", compaction.KindSummary, []compaction.Edit{put(4, 12, long)}, compaction.RefusedSize},
		{"a reset of a part", compaction.KindReset, []compaction.Edit{put(4, 9, said)}, compaction.RefusedKind},
		{"a reset in two edits", compaction.KindReset, []compaction.Edit{put(4, 9, said), put(12, 12, said)}, compaction.RefusedKind},
		{"a trim", compaction.KindTrim, []compaction.Edit{trim(8, 400, 100)}, ""},
		{"two edits in order", compaction.KindSummary, []compaction.Edit{{Drop: span(4, 4)}, trim(8, 400, 100)}, ""},
		{"two edits out of order", compaction.KindSummary, []compaction.Edit{trim(8, 400, 100), {Drop: span(4, 4)}}, compaction.RefusedSpan},
		{"overlapping edits", compaction.KindSummary, []compaction.Edit{put(4, 8, said), {Drop: span(6, 9)}}, compaction.RefusedSpan},
		{"a trim inside a drop", compaction.KindSummary, []compaction.Edit{{Drop: span(4, 8)}, trim(8, 1, 1)}, compaction.RefusedSpan},
		{"a trim that drops", compaction.KindTrim, []compaction.Edit{{Drop: span(4, 4)}}, compaction.RefusedKind},
		{"a trim of a prompt", compaction.KindTrim, []compaction.Edit{trim(4, 1, 1)}, compaction.RefusedTrim},
		{"a trim of node 0", compaction.KindTrim, []compaction.Edit{trim(2, 1, 1)}, compaction.RefusedSpan},
		{"a trim that leaves all", compaction.KindTrim, []compaction.Edit{trim(8, 8000, 1000)}, compaction.RefusedTrim},
		{"a negative trim", compaction.KindTrim, []compaction.Edit{trim(8, -1, 10)}, compaction.RefusedTrim},
		{"node 0 in a span", compaction.KindSummary, []compaction.Edit{put(2, 8, said)}, compaction.RefusedSystem},
		{"a span off the surface", compaction.KindSummary, []compaction.Edit{put(4, 7, said)}, compaction.RefusedSpan},
		{"a span backwards", compaction.KindSummary, []compaction.Edit{put(9, 4, said)}, compaction.RefusedSpan},
		{"a call without its result", compaction.KindSummary, []compaction.Edit{put(4, 6, said)}, compaction.RefusedPair},
		{"a result without its call", compaction.KindSummary, []compaction.Edit{put(8, 9, said)}, compaction.RefusedPair},
		{"everything dropped", compaction.KindSummary, []compaction.Edit{{Drop: span(4, 12)}}, compaction.RefusedSpan},
		{"no message", compaction.KindSummary, []compaction.Edit{put(4, 8)}, compaction.RefusedText},
		{"a blank message", compaction.KindSummary, []compaction.Edit{put(4, 8, llm.Text(llm.RoleUser, " \n"))}, compaction.RefusedText},
		{"an assistant message", compaction.KindSummary, []compaction.Edit{put(4, 8, llm.Text(llm.RoleAssistant, "x"))}, compaction.RefusedText},
		{"not UTF-8", compaction.KindSummary, []compaction.Edit{put(4, 8, llm.Text(llm.RoleUser, "a\xff"))}, compaction.RefusedText},
		{"NUL", compaction.KindSummary, []compaction.Edit{put(4, 8, llm.Text(llm.RoleUser, "a\x00"))}, compaction.RefusedText},
		{"two things at once", compaction.KindSummary, []compaction.Edit{{Drop: span(4, 4), Trim: &compaction.Trim{Node: 8}}}, compaction.RefusedEdit},
		{"nothing at all", compaction.KindSummary, []compaction.Edit{{}}, compaction.RefusedEdit},
		{"an unknown kind", "fold", []compaction.Edit{put(4, 8, said)}, compaction.RefusedKind},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := compaction.Check(small(), compaction.Proposal{Revision: head, Kind: c.kind, Edits: c.edits}, head, nil)
			if got := compaction.RefusalOf(err); got != c.want || (err == nil) != (c.want == "") {
				t.Fatalf("got %v, want refusal %q", err, c.want)
			}
		})
	}
}

func TestN17_CheckRefusesAnotherRevision(t *testing.T) {
	t.Parallel()
	p := replace(small(), 1, 4)
	if got := compaction.RefusalOf(compaction.Check(small(), p, head+1, nil)); got != compaction.RefusedRevision {
		t.Fatalf("got %q", got)
	}
	if err := compaction.Check(small(), compaction.Proposal{}, head+1, nil); err != nil {
		t.Fatalf("the zero proposal: %v", err)
	}
}

func TestN17_OneMessageSpanMayGrowByReset(t *testing.T) {
	t.Parallel()
	nodes := small()[:2]
	p := replace(nodes, 1, 1)
	p.Kind = compaction.KindReset
	p.Edits[0].Replace.Messages[0] = llm.Text(llm.RoleUser, strings.Repeat("boot ", 500))
	if err := compaction.Check(nodes, p, head, nil); err != nil {
		t.Fatal(err)
	}
}

func TestC12_TrimTextCutsWholeCodePoints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé漢🙂\n")), 0, 400, -1).Draw(t, "text")
		head, tail := rapid.IntRange(0, 200).Draw(t, "head"), rapid.IntRange(0, 200).Draw(t, "tail")
		got := compaction.TrimText(text, head, tail)
		runes := []rune(text)
		marker := utf8.RuneCountInString(compaction.TrimMarker)
		if head+tail+marker >= len(runes) {
			if got != text {
				t.Fatalf("short text changed: %q", got)
			}
			return
		}
		if want := string(runes[:head]) + compaction.TrimMarker + string(runes[len(runes)-tail:]); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
