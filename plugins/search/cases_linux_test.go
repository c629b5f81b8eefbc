package search_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Places that cannot be read do not take the others away: all twenty files are found,
// and what was passed by is told, by name and reason.
func TestF1_C090_WhatCannotBeReadIsPassedBy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []string
	for i := range 20 {
		name := fmt.Sprintf("d%d/f%02d.txt", i%3, i)
		b.put(name, "hit\n")
		want = append(want, name)
	}
	b.put("locked/in.txt", "hit\n", "shut.txt", "hit\n")
	slices.Sort(want)
	for link, to := range map[string]string{"dead.txt": "nowhere", "loop.txt": "loop.txt", "d1/link.txt": "f01.txt"} {
		if err := os.Symlink(to, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(b.dir, "s.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, name := range []string{"locked", "shut.txt"} {
		path := filepath.Join(b.dir, name)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(path, 0o700)
	}
	asNobody(t, b.dir, func() {
		r := b.call(t.Context(), "grep", args{"pattern": "hit"})
		const grep = `(Passed by, for they could not be read: "dead.txt" (a symlink to nothing), "locked" (permission denied), "loop.txt" (a symlink to itself), "shut.txt" (permission denied). What is in them is not in this answer.)`
		var hits []string
		for _, f := range want {
			hits = append(hits, f+":1: hit")
		}
		if lines := strings.Split(r.Text, "\n"); r.IsError || !slices.Equal(lines, append(hits, grep)) {
			t.Errorf("grep:\n%s", r.Text)
		}
		r = b.call(t.Context(), "glob", args{"pattern": "**/*.txt"})
		const glob = `(Passed by, for they could not be read: "dead.txt" (a symlink to nothing), "locked" (permission denied), "loop.txt" (a symlink to itself). What is in them is not in this answer.)`
		lines := strings.Split(r.Text, "\n")
		found := slices.Sorted(slices.Values(lines[:len(lines)-1]))
		if all := append(slices.Clone(want), "d1/link.txt", "shut.txt"); r.IsError || lines[len(lines)-1] != glob || !slices.Equal(found, slices.Sorted(slices.Values(all))) {
			t.Errorf("glob:\n%s", r.Text)
		}
		// A pattern that has nothing to do with them is answered without a word.
		b.gives("glob", args{"pattern": "d0/*0.txt"}, "d0/f00.txt")
	})
}

// Many such places are counted, not listed.
func TestF1_C090_ManyPlacesAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("a.txt", "hit\n")
	for i := range 300 {
		if err := os.Symlink("nowhere", filepath.Join(b.dir, fmt.Sprintf("dead%03d.txt", i))); err != nil {
			t.Fatal(err)
		}
	}
	for name, a := range map[string]args{"glob": {"pattern": "*.txt"}, "grep": {"pattern": "hit"}} {
		r := b.call(t.Context(), name, a)
		if r.IsError || !strings.HasPrefix(r.Text, "a.txt") || !strings.Contains(r.Text, `"dead004.txt" (a symlink to nothing), and 295 more. `) || len(r.Text) > 500 {
			t.Errorf("%s:\n%s", name, r.Text)
		}
	}
}

// asNobody runs a function as a user to whom modes mean something. As root it gives
// up its rights to files in a thread that ends with it.
func asNobody(t *testing.T, dir string, run func()) {
	t.Helper()
	if os.Getuid() != 0 {
		run()
		return
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is thrown away
		_, err := unix.SetfsuidRetUid(65534)
		if err == nil {
			run()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
