package sqlitelog_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

func TestL17_FullDiskLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	s := open(t, dir)
	log := create(t, s, "a")
	ballast := dir + "/ballast"
	write(t, ballast, make([]byte, 1<<20))
	write(t, dir+"/room", make([]byte, 8<<10)) // for a lock file, not for a session
	var acked int64 = 1
	var full error
	for full == nil {
		var head int64
		events := []session.Event{session.New("x", strings.Repeat("y", 9000)), session.New("x", "z")}
		if head, full = log.Append(t.Context(), session.Batch{Head: acked, Events: events}); full == nil {
			acked = head
		}
	}
	if !errors.Is(full, syscall.ENOSPC) || !strings.Contains(full.Error(), "free some space") {
		t.Errorf("error is %v", full)
	}
	if err := os.Remove(dir + "/room"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), session.Created{ID: "b"}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("create on a full disk: %v", err)
	}
	for _, name := range files(t, dir) {
		if strings.HasPrefix(name, "b.") {
			t.Errorf("%s is left over", name)
		}
	}
	if head, err := log.Head(t.Context()); head != acked || err != nil {
		t.Errorf("head is %d (%v), want %d", head, err, acked)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	appendTo(t, log, 3)
	log.Close()
	view, err := s.View(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	for _, err := range view.Read(t.Context(), session.Query{}) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != acked+3 {
		t.Errorf("%d events, want %d", n, acked+3)
	}
	view.Close()
	s.Close()
}
