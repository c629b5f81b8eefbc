package history_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup/history"
)

// indexed is a log that leaves out events which do not hold the text that is asked for:
// those whose seq has its bit set.
type indexed struct {
	events []session.Event
	out    uint64
}

func (l indexed) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		events, n := slices.Clone(l.events), 0
		if q.Reverse {
			slices.Reverse(events)
		}
		for _, e := range events {
			if e.Seq <= q.After || q.Before > 0 && e.Seq >= q.Before || !slices.Contains(q.Kinds, e.Kind) {
				continue
			}
			if q.Text != "" && l.out>>(e.Seq%64)&1 == 1 && !slices.ContainsFunc(session.Texts(e), func(s string) bool { return has(s, q.Text) }) {
				continue
			}
			if n++; !yield(e, nil) || n == q.Limit {
				return
			}
		}
	}
}

func has(text, query string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(query))
}

// add appends an event of a step.
func (l *indexed) add(step int, kind session.Kind, payload any) int64 {
	e := session.New(kind, payload).At(1, step)
	e.Seq = int64(len(l.events)) + 1
	l.events = append(l.events, e)
	return e.Seq
}

// drawn is a conversation of few words, and which items of it hold one of them:
// "seq kind" in the order of a listing. Call ids come again and again.
func drawn(t *rapid.T, word string, after, before func(n int64) int64) (l indexed, want []string, a, b int64) {
	words := rapid.SampledFrom([]string{"hay", "Needle", "soup", "ladle"})
	type said struct {
		seq  int64
		kind string
		hit  bool
	}
	var all []said
	for step := 1; step <= rapid.IntRange(1, 12).Draw(t, "steps"); step++ {
		if rapid.IntRange(0, 2).Draw(t, "user") == 0 {
			w := words.Draw(t, "said")
			all = append(all, said{l.add(step, session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, w)}), "user", has(w, word)})
		}
		m := &llm.Message{Role: llm.RoleAssistant}
		text := ""
		if rapid.Bool().Draw(t, "speaks") {
			text = words.Draw(t, "text")
			m = llm.Text(llm.RoleAssistant, text)
		}
		calls := rapid.IntRange(0, 3).Draw(t, "calls")
		var args, results []string
		for i := range calls {
			args, results = append(args, words.Draw(t, "arguments")), append(results, words.Draw(t, "result"))
			m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: fmt.Sprint("c", i), Name: "read", Arguments: args[i]}})
		}
		seq := l.add(step, session.KindMessageAssistant, session.Assistant{Message: m})
		if text != "" {
			all = append(all, said{seq, "assistant", has(text, word)})
		}
		lost := rapid.IntRange(0, 5).Draw(t, "lost")
		for i := range calls {
			all = append(all, said{seq, "call", has(args[i], word) || i != lost && has(results[i], word)})
			if rapid.IntRange(0, 9).Draw(t, "steer") == 0 {
				w := words.Draw(t, "steered")
				all = append(all, said{l.add(step, session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, w)}), "user", has(w, word)})
			}
			if i != lost {
				l.add(step, session.KindToolResult, session.ToolResult{Name: "read", Message: llm.ToolResult(fmt.Sprint("c", i), results[i], false)})
			}
		}
	}
	l.out = rapid.Uint64().Draw(t, "left out")
	head := int64(len(l.events))
	a, b = after(head), before(head)
	slices.SortStableFunc(all, func(x, y said) int { return int(y.seq - x.seq) })
	for _, s := range all {
		if s.hit && s.seq > a && (b == 0 || s.seq < b) {
			want = append(want, fmt.Sprintf("seq=%d %s", s.seq, s.kind))
		}
	}
	return l, want, a, b
}

// The pages of a query concatenate to all items that hold it, whatever an index leaves
// out, wherever a page ends and whatever the bounds.
func TestN9_PagesOfAQueryMissNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, want, after, before := drawn(t, "needle",
			func(n int64) int64 { return rapid.Int64Range(0, n).Draw(t, "after") },
			func(n int64) int64 { return rapid.Int64Range(0, n+1).Draw(t, "before") })
		ask := history.ListAsk{Query: "needle", After: after, Before: before, Limit: rapid.IntRange(1, 4).Draw(t, "limit")}
		var got []string
		for page := 0; ; page++ {
			text, err := history.List(context.Background(), l, ask)
			if err != nil || page > len(l.events) {
				t.Fatalf("page %d: %v", page, err)
			}
			for _, line := range strings.Split(text, "\n")[1:] {
				if f := strings.Fields(line); len(f) > 1 {
					got = append(got, f[0]+" "+f[1])
				}
			}
			next := nextOf.FindStringSubmatch(text)
			if next == nil {
				break
			}
			ask.Before, _ = strconv.ParseInt(next[1], 10, 64)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}
