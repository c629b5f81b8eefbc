package sqlitelog_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// step is what a small step appends: two batches.
func step(n int) [2][]session.Event {
	call := fmt.Sprintf("call_%08d", n)
	at := func(kind session.Kind, payload any) session.Event { return session.New(kind, payload).At(1, n) }
	node := session.Op{Kind: session.OpAppend}
	answer := &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
		{Kind: llm.BlockText, Text: "I look at the next file."},
		{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: call, Name: "read", Arguments: `{"path":"notes/part-0001.md"}`}},
	}}
	result := &llm.Message{Role: llm.RoleTool, CallID: call, Blocks: []llm.Block{
		{Kind: llm.BlockText, Text: strings.Repeat("a line of the file\n", 20)},
	}}
	return [2][]session.Event{
		{
			at(session.KindStepStarted, session.StepStarted{}),
			at(session.KindMessageAssistant, session.Assistant{Message: answer, Stop: "tool_calls", Model: "m"}).On(node),
			at(session.KindToolStarted, session.ToolStarted{CallID: call, Name: "read", Plugin: "files"}),
		}, {
			at(session.KindToolResult, session.ToolResult{Message: result, Name: "read", Millis: 3}).On(node),
			at(session.KindStepEnded, session.StepEnded{}),
		},
	}
}

// BenchmarkStep appends small steps, durably. It reports the growth of the file.
func BenchmarkStep(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir)
	log := create(b, s, "a")
	head, n := int64(1), 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		for _, events := range step(n) {
			var err error
			if head, err = log.Append(b.Context(), session.Batch{Head: head, Events: events}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
	log.Close()
	info, err := os.Stat(path(dir, "a"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(n), "B/step")
}

// BenchmarkSync is one write and sync of a page: what a durable append cannot
// undercut.
func BenchmarkSync(b *testing.B) {
	f, err := os.Create(b.TempDir() + "/f")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTurn is the two appends of a turn, which touch the catalogue.
func BenchmarkTurn(b *testing.B) {
	log := create(b, open(b, b.TempDir()), "a")
	head := int64(1)
	for b.Loop() {
		for _, e := range []session.Event{session.New(session.KindTurnStarted, nil), session.New(session.KindTurnEnded, nil)} {
			var err error
			if head, err = log.Append(b.Context(), session.Batch{Head: head, Events: []session.Event{e}}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkLong reads from a log of 200,000 events.
func BenchmarkLong(b *testing.B) {
	const events = 200_000
	dir := b.TempDir()
	s := open(b, dir)
	log := create(b, s, "a")
	head := int64(1)
	for n := 1; head < events; {
		var batch []session.Event
		for range 500 {
			two := step(n)
			batch = append(append(batch, two[0]...), two[1]...)
			n++
		}
		batch = append(batch, session.New(session.KindRecord, n), session.New(session.KindTurnStarted, nil), session.New(session.KindTurnEnded, nil))
		var err error
		if head, err = log.Append(b.Context(), session.Batch{Head: head, Events: batch}); err != nil {
			b.Fatal(err)
		}
	}
	read := func(q session.Query) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				n := 0
				for _, err := range log.Read(b.Context(), q) {
					if n++; err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	}
	b.Run("page of 50 in the middle", read(session.Query{Before: events / 2, Limit: 50, Reverse: true}))
	b.Run("last event", read(session.Query{Limit: 1, Reverse: true}))
	b.Run("10000 events", read(session.Query{Limit: 10_000}))
	b.Run("records", read(session.Query{Kinds: []session.Kind{session.KindRecord}}))
	b.Run("a kind that is not there", read(session.Query{Kinds: []session.Kind{"none"}}))
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			r, err := s.View(b.Context(), "a")
			if err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
	log.Close()
	b.Run("open and close", func(b *testing.B) {
		for b.Loop() {
			l, err := s.Open(b.Context(), "a")
			if err != nil {
				b.Fatal(err)
			}
			l.Close()
		}
	})
}

// BenchmarkStore has 500 sessions.
func BenchmarkStore(b *testing.B) {
	s := open(b, b.TempDir())
	for i := range 500 {
		create(b, s, fmt.Sprintf("s%04d", i)).Close()
	}
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if list, err := s.List(b.Context()); err != nil || len(list) < 500 {
				b.Fatal(len(list), err)
			}
		}
	})
	b.Run("create and close", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			create(b, s, fmt.Sprintf("n%06d", n)).Close()
		}
	})
}

// BenchmarkMail is a look for mail where there is none, as an owner does it
// several times a second, and a post with the append that takes it.
func BenchmarkMail(b *testing.B) {
	s := open(b, b.TempDir())
	log := create(b, s, "a").(session.MailLog)
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			if mail, err := log.Mail(b.Context()); err != nil || len(mail) > 0 {
				b.Fatal(mail, err)
			}
		}
	})
	b.Run("post", func(b *testing.B) {
		for b.Loop() {
			if err := s.Post(b.Context(), "a", session.Mail{Command: session.CommandSteer, Text: "look at the tests"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("post and take", func(b *testing.B) {
		var taken []int64
		waiting, err := log.Mail(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for _, m := range waiting {
			taken = append(taken, m.ID)
		}
		for b.Loop() {
			if err := s.Post(b.Context(), "a", session.Mail{Command: session.CommandCancel}); err != nil {
				b.Fatal(err)
			}
			mail, err := log.Mail(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			taken = append(taken, mail[len(mail)-1].ID)
			if _, err := log.Append(b.Context(), session.Batch{Head: 1, Taken: taken}); err != nil {
				b.Fatal(err)
			}
			taken = taken[:0]
		}
	})
}
