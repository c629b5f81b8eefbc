package history_test

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/history"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// told is a session of two windows. It returns the seqs of the request, of the
// answer with two calls, and of the first of their results.
func told(t *testing.T) (s *compactiontest.Session, request, answer, result int64) {
	t.Helper()
	s = compactiontest.New(t, notesoup.Name, "You work.")
	s.Turn()
	request = s.User(session.SourceOwner, "Count the Needles, please.")
	answer = s.Assistant("I look.", llm.ToolCall{ID: "a", Name: "read", Arguments: `{"path":"hay.txt"}`}, llm.ToolCall{ID: "b", Name: "shell", Arguments: `{"cmd":"false"}`})
	result = s.Result("b", "shell", "Error: exit 1", true)
	s.Result("a", "read", "hay\nneedle 17\nhay", false)
	s.Exchange("c", "history_list", `{"query":"needle"}`, "needle needle")
	w := notesoup.NewWindow("s1", 2, compactiontest.Start).WithBoot("<notebook window=\"2\" id=\"w2\">boot</notebook>")
	nodes := s.Messages()
	s.Apply(notesoup.Reset(notesoup.ResetInput{Revision: revision(t, s), Trigger: session.TriggerPressure, Window: w,
		Span: compaction.Span{From: request, To: last(t, s)}}), session.TriggerPressure)
	if len(nodes) == len(s.Messages()) {
		t.Fatal("nothing was reset")
	}
	s.User(session.SourceSteer, "go on")
	return s, request, answer, result
}

func revision(t *testing.T, s *compactiontest.Session) int64 {
	t.Helper()
	o, err := s.Outline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return o.Revision
}

func last(t *testing.T, s *compactiontest.Session) int64 {
	t.Helper()
	o, err := s.Outline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return o.Nodes[len(o.Nodes)-1].Seq
}

func TestN9_AResetThatWasUndoneBeganNoWindow(t *testing.T) {
	t.Parallel()
	s, _, _, _ := told(t)
	var ended int64
	for e := range s.Events(t.Context(), session.Query{Kinds: []session.Kind{session.KindCompactionEnded}}) {
		ended = e.Seq
	}
	s.Append(session.New(session.KindCompactionUndone, session.CompactionUndone{Ordinal: 7, Seq: ended})) // another compaction's
	if got, err := history.Windows(t.Context(), s, 0, 0); err != nil || !strings.HasPrefix(got, "ok history_windows windows=2\n") {
		t.Fatalf("%v: %s", err, got)
	}
	s.Append(session.New(session.KindCompactionUndone, session.CompactionUndone{Ordinal: 1, Seq: ended}))
	got, err := history.Windows(t.Context(), s, 0, 0)
	if err != nil || !strings.HasPrefix(got, "ok history_windows windows=1\nwindow=1 ") || !strings.HasSuffix(got, " ended=no\n") {
		t.Errorf("%v: %s", err, got)
	}
}

func TestN9_WindowsAreTheStretchesBetweenResets(t *testing.T) {
	t.Parallel()
	s, _, _, _ := told(t)
	got, err := history.Windows(t.Context(), s, 0, 0)
	lines := strings.Split(got, "\n")
	if err != nil || lines[0] != "ok history_windows windows=2" || !strings.HasPrefix(lines[1], "window=2 id=w2-") || !strings.HasSuffix(lines[1], " ended=no") ||
		!strings.HasPrefix(lines[2], "window=1 seq=1-") || !strings.HasSuffix(lines[2], " ended=pressure") {
		t.Errorf("%v\n%s", err, got)
	}
	first, err := history.Windows(t.Context(), s, 1, 0)
	if err != nil || !strings.HasPrefix(first, "ok history_windows windows=2 next=2\nwindow=2") {
		t.Fatalf("%v\n%s", err, first)
	}
	if rest, err := history.Windows(t.Context(), s, 1, 2); err != nil || !strings.HasPrefix(rest, "ok history_windows windows=2\nwindow=1") {
		t.Errorf("%v\n%s", err, rest)
	}
}

func TestN9_ListFindsWordsInCallsAndResults(t *testing.T) {
	t.Parallel()
	s, request, answer, _ := told(t)
	for _, c := range []struct {
		name string
		ask  history.ListAsk
		want string
	}{
		{"a word of a result", history.ListAsk{Query: "NEEDLE 17"}, fmt.Sprintf("ok history_list items=1\nseq=%d call cp=41 tool=read %q\n", answer, "read {\"path\":\"hay.txt\"}\nhay\nneedle 17\nhay")},
		{"a word of an argument", history.ListAsk{Query: "false"}, fmt.Sprintf("ok history_list items=1\nseq=%d call cp=35 tool=shell result=error %q\n", answer, "shell {\"cmd\":\"false\"}\nError: exit 1")},
		{"a tool", history.ListAsk{Tool: "shell", Window: 1}, fmt.Sprintf("ok history_list items=1\nseq=%d call cp=35 tool=shell result=error %q\n", answer, "shell {\"cmd\":\"false\"}\nError: exit 1")},
		{"a kind in a window", history.ListAsk{Kind: "user", Window: 1}, fmt.Sprintf("ok history_list items=1\nseq=%d user cp=26 from=owner %q\n", request, "Count the Needles, please.")},
		{"results behind the bound", history.ListAsk{Kind: "call", Before: answer + 1}, fmt.Sprintf("ok history_list items=2\nseq=%d call cp=41 tool=read %q\nseq=%d call cp=35 tool=shell result=error %q\n",
			answer, "read {\"path\":\"hay.txt\"}\nhay\nneedle 17\nhay", answer, "shell {\"cmd\":\"false\"}\nError: exit 1")},
		{"not what a search found before", history.ListAsk{Query: "needle", After: answer}, "ok history_list items=0\n"},
		{"nothing", history.ListAsk{Query: "thread"}, "ok history_list items=0\n"},
	} {
		got, err := history.List(t.Context(), s, c.ask)
		if err != nil || got != c.want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", c.name, err, got, c.want)
		}
	}
	if _, err := history.List(t.Context(), s, history.ListAsk{Window: 3}); notes.CodeOf(err) != notes.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

var nextOf = regexp.MustCompile(`^[^\n]* next(?:_offset_chars)?=(\d+)`)

func TestN9_ListPagesMissNothing(t *testing.T) {
	t.Parallel()
	s := compactiontest.New(t, notesoup.Name, "You work.")
	for i := range 50 {
		s.User(session.SourceOwner, fmt.Sprintf("item %02d", i))
	}
	seen, before := 0, int64(0)
	for range 20 {
		got, err := history.List(t.Context(), s, history.ListAsk{Limit: 7, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		seen += strings.Count(got, "\nseq=")
		next := nextOf.FindStringSubmatch(got)
		if next == nil {
			break
		}
		before, _ = strconv.ParseInt(next[1], 10, 64)
	}
	if seen != 50 {
		t.Errorf("%d of 50 items are listed", seen)
	}
}

func TestN9_ReadIsVerbatimAndPairsAtTheCall(t *testing.T) {
	t.Parallel()
	s, request, answer, result := told(t)
	got, err := history.Read(t.Context(), s, history.ReadAsk{From: answer})
	want := fmt.Sprintf("ok history_read seq=%d\nI look.\n[call a read]\n{\"path\":\"hay.txt\"}\n[result]\nhay\nneedle 17\nhay\n[call b shell]\n{\"cmd\":\"false\"}\n[result, an error]\nError: exit 1\n", answer)
	if err != nil || got != want {
		t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
	}
	got, err = history.Read(t.Context(), s, history.ReadAsk{From: result})
	if want := fmt.Sprintf("ok history_read seq=%d\n[result of shell, call b]\nError: exit 1\n", result); err != nil || got != want {
		t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
	}
	got, err = history.Read(t.Context(), s, history.ReadAsk{From: request, To: result})
	if want := fmt.Sprintf("ok history_read seq=%d-%d\n--- seq=%d user owner\nCount the Needles, please.\n--- seq=%d assistant\nI look.\n", request, result, request, answer); err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("%v\ngot  %q\nwant %q…", err, got, want)
	}
	for _, ask := range []history.ReadAsk{{From: 0}, {From: 5, To: 4}, {From: 9999}, {From: request, Offset: 9999}} {
		if _, err := history.Read(t.Context(), s, ask); notes.CodeOf(err) != notes.CodeNotFound {
			t.Errorf("%+v: got %v", ask, err)
		}
	}
}

func TestN9_ReadPagesMissNothing(t *testing.T) {
	t.Parallel()
	s := compactiontest.New(t, notesoup.Name, "You work.")
	text := strings.Repeat("aé漢🙂\n", 9000)
	from := s.User(session.SourceOwner, text)
	to := s.User(session.SourceOwner, "the end")
	var b strings.Builder
	offset := 0
	for range 100 {
		got, err := history.Read(t.Context(), s, history.ReadAsk{From: from, To: to, Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > history.MaxBytes {
			t.Fatalf("a page of %d bytes", len(got))
		}
		line, page, _ := strings.Cut(got, "\n")
		b.WriteString(page)
		next := nextOf.FindStringSubmatch(line)
		if next == nil {
			break
		}
		offset, _ = strconv.Atoi(next[1])
	}
	want := fmt.Sprintf("--- seq=%d user owner\n%s--- seq=%d user owner\nthe end\n", from, text, to)
	if b.String() != want {
		t.Errorf("%d bytes, want %d", b.Len(), len(want))
	}
}

// lookedAt counts what is read of a log.
type lookedAt struct {
	history.Log
	events int
}

func (l *lookedAt) Events(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range l.Log.Events(ctx, q) {
			l.events++
			if !yield(e, err) {
				return
			}
		}
	}
}

// A text that was said once, long ago: each page looks at a bounded stretch, says so and
// how to go on, and in the end it is found.
func TestN9_C015_AListLooksAtABoundedStretch(t *testing.T) {
	t.Parallel()
	s := compactiontest.New(t, notesoup.Name, "You work.")
	at := s.User(session.SourceOwner, "the needle")
	for i := range 3 * history.MaxLooked {
		s.User(session.SourceOwner, fmt.Sprintf("item %02d", i))
	}
	before := int64(0)
	for page := 1; ; page++ {
		log := &lookedAt{Log: s}
		got, err := history.List(t.Context(), log, history.ListAsk{Query: "needle", Before: before})
		if err != nil || log.events > history.MaxLooked+1 {
			t.Fatalf("page %d looks at %d entries, %v", page, log.events, err)
		}
		next := nextOf.FindStringSubmatch(got)
		if next == nil {
			if page != 4 || !strings.Contains(got, fmt.Sprintf("items=1\nseq=%d user", at)) {
				t.Errorf("page %d: %q", page, got)
			}
			return
		}
		if !strings.Contains(got, fmt.Sprintf("items=0 looked=%d next=%s\nOnly entries down to seq %[2]s were looked at", history.MaxLooked, next[1])) {
			t.Fatalf("page %d: %q", page, got)
		}
		before, _ = strconv.ParseInt(next[1], 10, 64)
	}
}
