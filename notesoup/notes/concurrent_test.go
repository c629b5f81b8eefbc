package notes_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/notesoup/notes"
)

// writerEnv makes this test binary a writer process.
const writerEnv = "NOTES_TEST_WRITER"

func TestMain(m *testing.M) {
	if job := os.Getenv(writerEnv); job != "" {
		if err := writer(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writer works through its rounds: each appends a line, edits the writer's own number
// in a note of all and replaces another one whole. It goes on where the notes say that an
// earlier process of its name was stopped, and says each change that it has a receipt for.
func writer(job string) error {
	parts := strings.Split(job, "\n") // home, workspace, name, rounds
	rounds, err := strconv.Atoi(parts[3])
	if err != nil {
		return err
	}
	tr, err := notes.Open(parts[0])
	if err != nil {
		return err
	}
	s, err := tr.Store(who(parts[1]))
	if err != nil {
		return err
	}
	w := scribe{s, parts[2]}
	for i, err := w.number("ledger"); i < rounds; i++ {
		if err == nil {
			err = w.round(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scribe is one writer.
type scribe struct {
	*notes.Store
	name string
}

// round makes the changes of a round that are not made yet.
func (w scribe) round(i int) error {
	ctx, line := context.Background(), fmt.Sprintf("%s %d", w.name, i)
	_, log, err := w.Read(ctx, "@project/log")
	if err != nil {
		return err
	}
	if !strings.Contains("\n"+log.Text, "\n"+line+"\n") {
		if err := w.insist(func() error {
			_, err := w.Write(ctx, notes.Write{Path: "@project/log", Text: line + "\n", Mode: notes.Append})
			return err
		}); err != nil {
			return err
		}
	}
	fmt.Println("appended", line)
	if at, err := w.number("board"); err != nil {
		return err
	} else if at == i {
		edit := notes.Edit{Old: line + "\n", New: fmt.Sprintf("%s %d\n", w.name, i+1)}
		if err := w.insist(func() error { _, err := w.Edit(ctx, "@project/board", []notes.Edit{edit}, ""); return err }); err != nil {
			return err
		}
	}
	fmt.Println("edited", line)
	err = w.insist(func() error {
		_, n, err := w.Read(ctx, "@project/ledger")
		if err != nil {
			return err
		}
		text := strings.Replace(n.Text, line+"\n", fmt.Sprintf("%s %d\n", w.name, i+1), 1)
		_, err = w.Write(ctx, notes.Write{Path: "@project/ledger", Text: text, Mode: notes.Replace, IfRev: n.Rev})
		return err
	})
	if err == nil {
		fmt.Println("replaced", line)
	}
	return err
}

// insist tries again while others are in the way.
func (w scribe) insist(change func() error) error {
	for {
		if err := change(); notes.CodeOf(err) != notes.CodeRev && notes.CodeOf(err) != notes.CodeBusy {
			return err
		}
	}
}

// number is the writer's own in a note of numbers.
func (w scribe) number(note string) (int, error) {
	_, n, err := w.Read(context.Background(), "@project/"+note)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(n.Text) {
		if text, ok := strings.CutPrefix(line, w.name+" "); ok {
			return strconv.Atoi(strings.TrimSpace(text))
		}
	}
	return 0, fmt.Errorf("torn note %s: %q", note, n.Text)
}

// TestN8_ProcessesLoseNothing: a thousand changes by four processes, of which one is
// killed every now and then.
func TestN8_ProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	const processes, rounds, killEvery = 4, 84, 40
	home, project := filepath.Join(t.TempDir(), "notes"), filepath.Join(t.TempDir(), "app")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := tree(t, home).Store(who(project))
	if err != nil {
		t.Fatal(err)
	}
	numbers := ""
	for p := range processes {
		numbers += fmt.Sprintf("w%d 0\n", p)
	}
	write(t, s, "@project/log", "begin\n", notes.Create)
	write(t, s, "@project/board", numbers, notes.Create)
	write(t, s, "@project/ledger", numbers, notes.Create)
	said := make(chan string, 16)
	var all sync.WaitGroup
	var kills atomic.Int32
	for p := range processes {
		all.Go(func() {
			for killed := true; killed; {
				killed = process(t, []string{home, project, fmt.Sprint("w", p), fmt.Sprint(rounds)}, said, func(n int) bool {
					return n%killEvery == killEvery-1-p*7 && kills.Add(1) > 0
				})
			}
		})
	}
	go func() { all.Wait(); close(said) }()
	for line := range said { // what has a receipt is there, and no note is torn
		what, line, _ := strings.Cut(line, " ")
		name, number, _ := strings.Cut(line, " ")
		i, err := strconv.Atoi(number)
		if err != nil {
			t.Errorf("a writer said %q", line)
			continue
		}
		w, done := scribe{s, name}, true
		switch what {
		case "appended":
			_, n, err := s.Read(t.Context(), "@project/log")
			done = err == nil && strings.HasPrefix(n.Text, "begin\n") && strings.Contains(n.Text, "\n"+line+"\n")
		case "edited":
			now, err := w.number("board")
			done = err == nil && now > i
		case "replaced":
			now, err := w.number("ledger")
			done = err == nil && now > i
		}
		if !done {
			t.Errorf("%s %s had a receipt and is not there", what, line)
		}
	}
	if kills.Load() < 2*processes {
		t.Errorf("only %d kills", kills.Load())
	}
	_, n, err := s.Read(t.Context(), "@project/log")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(n.Text) {
		seen[strings.TrimSpace(line)]++
	}
	for p := range processes {
		for i := range rounds {
			if line := fmt.Sprintf("w%d %d", p, i); seen[line] != 1 {
				t.Errorf("%q stands %d times", line, seen[line])
			}
		}
		for _, note := range []string{"board", "ledger"} {
			if got, err := (scribe{s, fmt.Sprint("w", p)}).number(note); err != nil || got != rounds {
				t.Errorf("w%d in %s: %d, %v", p, note, got, err)
			}
		}
	}
	if len(seen) != processes*rounds+1 {
		t.Errorf("%d lines", len(seen))
	}
	if slugs, err := s.Projects(); err != nil || len(slugs) != 1 {
		t.Errorf("projects: %v, %v", slugs, err)
	}
}

// process runs a writer to its end, or kills it where kill says so of the number of
// lines that it has said; then it returns true.
func process(t *testing.T, job []string, said chan<- string, kill func(said int) bool) (killed bool) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return false
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), writerEnv+"="+strings.Join(job, "\n"))
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return false
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		said <- lines.Text()
		if kill(n) {
			killed = true
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err != nil && !killed {
		t.Errorf("writer %s: %v: %s", job[2], err, stderr.String())
	}
	return killed
}

// TestN4_RacingStoresMakeOneHome: the first write of each store makes the
// home, or finds the one that another made.
func TestN4_RacingStoresMakeOneHome(t *testing.T) {
	t.Parallel()
	home, project := filepath.Join(t.TempDir(), "notes"), filepath.Join(t.TempDir(), "app")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 8)
	for i := range cap(done) {
		s, err := tree(t, home).Store(who(project))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err := s.Write(context.Background(), notes.Write{Path: "@project/log", Text: fmt.Sprint(i), Mode: notes.Append})
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	s, err := tree(t, home).Store(who(project))
	if err != nil {
		t.Fatal(err)
	}
	if slugs, err := s.Projects(); err != nil || len(slugs) != 1 {
		t.Errorf("projects: %v, %v", slugs, err)
	}
	if _, n, err := s.Read(t.Context(), "@project/log"); err != nil || n.Lines() != cap(done) {
		t.Errorf("%q, %v", n.Text, err)
	}
}

func TestN8_AHeldHomeIsBusy(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "notes")
	tr := tree(t, home)
	tr.SetLockWait(30 * time.Millisecond)
	s, err := tr.Store(who(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, "a", "x", notes.Create)
	f, err := os.OpenFile(filepath.Join(home, ".meta/sessions/2026/s1/lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	_, err = s.Write(t.Context(), notes.Write{Path: "a", Text: "y", Mode: notes.Append})
	want(t, err, notes.CodeBusy)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Write(ctx, notes.Write{Path: "a", Text: "y", Mode: notes.Append})
	want(t, err, notes.CodeAborted)
	if _, n, err := s.Read(t.Context(), "a"); err != nil || n.Text != "x" {
		t.Errorf("reading waits for writers: %q, %v", n.Text, err)
	}
	write(t, s, "@human/a", "another home is free", notes.Create)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, s, "a", "y", notes.Append)
}
