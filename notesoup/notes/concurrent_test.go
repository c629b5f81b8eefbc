package notes_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

// writer appends lines and counts up a shared number by edits, each kind as
// often as the job says.
func writer(job string) error {
	parts := strings.Split(job, "\n") // home, workspace, name, times
	times, err := strconv.Atoi(parts[3])
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
	ctx := context.Background()
	for i := range times {
		if _, err := s.Write(ctx, notes.Write{Path: "@project/log", Text: fmt.Sprintf("%s %d", parts[2], i), Mode: notes.Append}); err != nil {
			return err
		}
		if err := count(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// count adds one to the number in a note; another writer's change makes it read again.
func count(ctx context.Context, s *notes.Store) error {
	for {
		_, n, err := s.Read(ctx, "@project/count")
		if err != nil {
			return err
		}
		number, err := strconv.Atoi(strings.TrimSpace(n.Text))
		if err != nil {
			return fmt.Errorf("torn note %q: %w", n.Text, err)
		}
		_, err = s.Write(ctx, notes.Write{Path: "@project/count", Text: fmt.Sprintln(number + 1), Mode: notes.Replace, IfRev: n.Rev})
		if notes.CodeOf(err) != notes.CodeRev {
			return err
		}
	}
}

func TestN8_ProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	const processes, times = 3, 25
	home, project := filepath.Join(t.TempDir(), "notes"), filepath.Join(t.TempDir(), "app")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := tree(t, home).Store(who(project))
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, "@project/count", "0\n", notes.Create)
	var writers []*exec.Cmd
	var outputs []*bytes.Buffer
	for p := range processes {
		cmd, out := exec.CommandContext(t.Context(), self), &bytes.Buffer{}
		cmd.Env = append(os.Environ(), writerEnv+"="+strings.Join([]string{home, project, fmt.Sprint("w", p), fmt.Sprint(times)}, "\n"))
		cmd.Stderr = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writers, outputs = append(writers, cmd), append(outputs, out)
	}
	for i, cmd := range writers {
		if err := cmd.Wait(); err != nil {
			t.Errorf("writer %d: %v: %s", i, err, outputs[i])
		}
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
		for i := range times {
			if line := fmt.Sprintf("w%d %d", p, i); seen[line] != 1 {
				t.Errorf("%q stands %d times", line, seen[line])
			}
		}
	}
	if _, n, err := s.Read(t.Context(), "@project/count"); err != nil || n.Text != fmt.Sprintln(processes*times) {
		t.Errorf("counted %q, %v; want %d", n.Text, err, processes*times)
	}
	if slugs, err := s.Projects(); err != nil || len(slugs) != 1 {
		t.Errorf("projects: %v, %v", slugs, err)
	}
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
