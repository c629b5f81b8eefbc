package sqlitelog_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// talk appends n exchanges, each with a number that no other has, and a text that
// fills blocks soon.
func talk(t testing.TB, log session.Log, n int) {
	t.Helper()
	head, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(head), 1))
	var events []session.Event
	for i := range n {
		noise := make([]byte, 600)
		for i := range noise {
			noise[i] = "abcdefghijklmnopqrstuvwxyz0123456789 "[r.IntN(37)]
		}
		id := fmt.Sprintf("number-%d-", int(head)+2*i)
		call := &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: "read", Arguments: `{"path":"Ask-` + id + `"}`}}}}
		events = append(events, session.New(session.KindMessageAssistant, session.Assistant{Message: call}),
			session.New(session.KindToolResult, session.ToolResult{Name: "read", Message: llm.ToolResult(id, "Told-"+id+" "+string(noise), false)}))
	}
	if _, err := log.Append(t.Context(), session.Batch{Head: head, Events: events}); err != nil {
		t.Fatal(err)
	}
}

// look reads for a text. It returns how many events came, and the seqs of those that
// hold it.
func look(t testing.TB, r session.Reader, text string, q session.Query) (came int, hits []int64) {
	t.Helper()
	q.Text = text
	for e, err := range r.Read(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		came++
		if slices.ContainsFunc(session.Texts(e), func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(text)) }) {
			hits = append(hits, e.Seq)
		}
	}
	return came, hits
}

// settled looks until the index has caught up, which shows in how little comes.
func settled(t testing.TB, r session.Reader, text string) (hits []int64) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if came, _ := look(t, r, "what stands nowhere, not here either", session.Query{}); came < 600 {
			_, hits := look(t, r, text, session.Query{})
			return hits
		}
		if time.Now().After(deadline) {
			t.Fatal("most of the log still comes")
		}
	}
}

func index(dir, id string) string { return path(dir, id) + ".index" }

func size(t testing.TB, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

const long = 3000 // exchanges, some segments

func TestN9_AnIndexFindsWhatAReadFinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := create(t, open(t, dir), "a")
	talk(t, log, long)
	if hits := settled(t, log, "told-NUMBER-2001-"); fmt.Sprint(hits) != "[2003]" {
		t.Errorf("hits %v", hits)
	}
	if size(t, index(dir, "a")) == 0 {
		t.Fatal("there is no file of the index")
	}
	view, err := open(t, dir).View(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	for _, c := range []struct {
		text string
		q    session.Query
		want string
	}{
		{"number-2001-", session.Query{}, "[2002 2003]"},
		{"number-2001-", session.Query{Reverse: true}, "[2003 2002]"},
		{"number-2001-", session.Query{Kinds: []session.Kind{session.KindToolResult}}, "[2003]"},
		{"number-2001-", session.Query{After: 2002}, "[2003]"},
		{"number-2001-", session.Query{Before: 2003}, "[2002]"},
		{"number-2001-", session.Query{After: 2003}, "[]"},
		{"number-5999-", session.Query{Reverse: true}, "[6001 6000]"},
		{"number-200", session.Query{Limit: 1, After: 2001}, "[2002]"},
		{"number-9999-", session.Query{}, "[]"},
		{"no such thing", session.Query{Reverse: true}, "[]"},
	} {
		for name, r := range map[string]session.Reader{"owner": log, "view": view} {
			if _, hits := look(t, r, c.text, c.q); fmt.Sprint(hits) != c.want && !(len(hits) == 0 && c.want == "[]") {
				t.Errorf("%s: %q %+v: %v, want %s", name, c.text, c.q, hits, c.want)
			}
		}
	}
}

// What is appended behind the index is found at once, and indexed when it is much.
func TestN9_TheTailIsFoundToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := create(t, open(t, dir), "a")
	for range 4 {
		talk(t, log, long/4)
		head, _ := log.Head(t.Context())
		text := fmt.Sprintf("told-number-%d-", head-2)
		if _, hits := look(t, log, text, session.Query{}); len(hits) != 1 || hits[0] != head {
			t.Fatalf("%q: %v, head %d", text, hits, head)
		}
		settled(t, log, text)
	}
	if size(t, index(dir, "a")) == 0 {
		t.Error("there is no file of the index")
	}
}

// A short session, and a text that is too short, cost no file.
func TestN9_AShortSessionHasNoIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := create(t, open(t, dir), "a")
	talk(t, log, 100)
	if _, hits := look(t, log, "number-7-", session.Query{}); len(hits) != 2 {
		t.Errorf("hits %v", hits)
	}
	talk(t, log, long)
	if came, _ := look(t, log, "7-", session.Query{}); came != 2*(100+long)+1 {
		t.Errorf("%d events come", came)
	}
	if slices.ContainsFunc(files(t, dir), func(name string) bool { return strings.Contains(name, "index") }) {
		t.Errorf("files %v", files(t, dir))
	}
}

// Whatever happened to the file, nothing is missed, and in the end it is whole again.
func TestN9_ASpoiltIndexMissesNothing(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, file string, whole []byte) []byte{
		"cut in the middle": func(_ *testing.T, _ string, b []byte) []byte { return b[:len(b)*2/3] },
		"a head":            func(_ *testing.T, _ string, b []byte) []byte { b[20] ^= 1; return b },
		"zeros": func(_ *testing.T, _ string, b []byte) []byte {
			clear(b[len(b)/2:])
			return b
		},
		"every byte":      func(_ *testing.T, _ string, b []byte) []byte { return []byte(strings.Repeat("x", len(b))) },
		"torn at the end": func(_ *testing.T, _ string, b []byte) []byte { return append(b, b[:len(b)/5]...) },
		"nothing":         func(*testing.T, string, []byte) []byte { return nil },
		"of another log": func(t *testing.T, _ string, _ []byte) []byte {
			dir := t.TempDir()
			log := create(t, open(t, dir), "b")
			talk(t, log, 2*long)
			settled(t, log, "told-number-1-")
			b, err := os.ReadFile(index(dir, "b"))
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			store := open(t, dir)
			log := create(t, store, "a")
			talk(t, log, long)
			settled(t, log, "told-number-1-")
			whole, err := os.ReadFile(index(dir, "a"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(index(dir, "a"), spoil(t, index(dir, "a"), slices.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			view, err := store.View(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			defer view.Close()
			for _, r := range []session.Reader{view, log} {
				for _, n := range []int{1, 1001, 2001, 3001, 4001, 5001, 5999} {
					if _, hits := look(t, r, fmt.Sprintf("told-number-%d-", n), session.Query{}); len(hits) != 1 {
						t.Errorf("number %d: %v", n, hits)
					}
				}
				settled(t, r, "told-number-1-")
			}
			again, err := os.ReadFile(index(dir, "a"))
			if err != nil || !strings.HasPrefix(string(again), string(whole)) {
				t.Errorf("%d bytes, they were %d, %v", len(again), len(whole), err)
			}
		})
	}
}

// A directory that cannot be written, and a file of the index that cannot be made.
func TestN9_WithoutAPlaceForTheIndexItIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, dir)
	log := create(t, store, "a")
	talk(t, log, long)
	if err := os.MkdirAll(index(dir, "a")+"/in the way", 0o700); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for _, n := range []int{1, 3001, 5999} {
			if _, hits := look(t, log, fmt.Sprintf("told-number-%d-", n), session.Query{}); len(hits) != 1 {
				t.Errorf("number %d: %v", n, hits)
			}
		}
	}
}

// Several that index one session at once, and an owner that appends meanwhile.
func TestN9_ManyIndexAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := create(t, open(t, dir), "a")
	talk(t, log, long)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			store, err := sqlitelog.Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer store.Close()
			for n := range 10 {
				view, err := store.View(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				want := 2*(100*(7*n+i)%long) + 1
				if _, hits := look(t, view, fmt.Sprintf("told-number-%d-", want), session.Query{}); len(hits) != 1 {
					t.Errorf("number %d: %v", want, hits)
				}
				view.Close()
			}
		})
	}
	for range 5 {
		talk(t, log, 200)
	}
	all.Wait()
	if hits := settled(t, log, "told-number-7777-"); len(hits) != 1 {
		t.Errorf("hits %v", hits)
	}
	if _, err := os.Stat(index(dir, "a") + ".lock"); err == nil {
		t.Error("the lock of the index is left over")
	}
}

// Removal takes the index along, and a session of the same id has nothing of it.
func TestN9_RemovalTakesTheIndexAlong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, dir)
	log := create(t, store, "a")
	talk(t, log, long)
	settled(t, log, "told-number-1-")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(files(t, dir), func(name string) bool { return strings.HasPrefix(name, "a.db") }) {
		t.Errorf("files %v", files(t, dir))
	}
	log = create(t, store, "a")
	talk(t, log, 10)
	if _, hits := look(t, log, "told-number-9-", session.Query{}); len(hits) != 1 {
		t.Errorf("hits %v", hits)
	}
}

// Any pieces of any texts: what comes holds all that a plain read finds.
func TestN9_SameAsAPlainRead(t *testing.T) {
	t.Parallel()
	log := create(t, open(t, t.TempDir()), "a")
	runes := rapid.SampledFrom([]rune("abkKsSſ\u212aİi<\"\\\né漢👋{} 01"))
	rapid.Check(t, func(t2 *rapid.T) {
		head, err := log.Head(t.Context())
		if err != nil {
			t2.Fatal(err)
		}
		words := rapid.SliceOfN(rapid.StringOfN(runes, 1, 40, -1), 1, 5).Draw(t2, "words")
		var events []session.Event
		for _, w := range words {
			events = append(events, session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, w)}),
				session.New(session.KindToolResult, session.ToolResult{Name: "x", Message: llm.ToolResult("c", strings.Repeat(w+" ", 200), false)}),
				session.New(session.KindStepEnded, session.StepEnded{}))
		}
		for range 40 {
			events = append(events, session.New(session.KindToolResult, session.ToolResult{Name: "x", Message: llm.ToolResult("c", words[0], false)}))
		}
		if _, err := log.Append(t.Context(), session.Batch{Head: head, Events: events}); err != nil {
			t2.Fatal(err)
		}
		text := []rune(words[rapid.IntRange(0, len(words)-1).Draw(t2, "word")])
		from := rapid.IntRange(0, len(text)-1).Draw(t2, "from")
		needle := string(text[from:rapid.IntRange(from+1, len(text)).Draw(t2, "to")])
		q := session.Query{Reverse: rapid.Bool().Draw(t2, "reverse"), After: rapid.Int64Range(0, head).Draw(t2, "after"), Before: rapid.Int64Range(0, head+200).Draw(t2, "before")}
		var want []int64
		for e, err := range log.Read(t.Context(), q) {
			if err != nil {
				t2.Fatal(err)
			}
			if slices.ContainsFunc(session.Texts(e), func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(needle)) }) {
				want = append(want, e.Seq)
			}
		}
		if _, got := look(t, log, needle, q); !slices.Equal(got, want) {
			t2.Fatalf("%q %+v: %v, want %v", needle, q, got, want)
		}
	})
}

// childSearch searches session a for ever, as one reader. It prints what came of each
// search.
func childSearch(dir string) error {
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	view, err := store.View(context.Background(), "a")
	for err == nil {
		came := 0
		for _, readErr := range view.Read(context.Background(), session.Query{Text: "told-number-1-"}) {
			came, err = came+1, cmp.Or(err, readErr)
		}
		fmt.Println(came)
	}
	return err
}

// A process that is killed while it indexes leaves an index from which others go on.
func TestN9_AKilledIndexerCostsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := open(t, dir)
	log := create(t, store, "a")
	for round := range 5 {
		talk(t, log, long/2)
		c := start(t, "search", dir, 0)
		for range round {
			c.line(t)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.Wait()
		view, err := store.View(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= (round+1)*long; n += 500 {
			if _, hits := look(t, view, fmt.Sprintf("told-number-%d-", n), session.Query{Reverse: true}); len(hits) != 1 {
				t.Errorf("round %d, number %d: %v", round, n, hits)
			}
		}
		if round%2 == 1 {
			settled(t, view, "told-number-1-")
		}
		view.Close()
	}
	if settled(t, log, "told-number-1-"); size(t, index(dir, "a")) == 0 {
		t.Error("there is no file of the index")
	}
}
