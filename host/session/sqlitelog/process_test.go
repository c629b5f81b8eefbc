package sqlitelog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

const batch = 3

func TestL17_KilledWriterLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 4 {
		c := start(t, "append", dir, 0)
		for range 15 + 7*round {
			c.line(t)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		acked := c.lines.Text()
		for c.lines.Scan() {
			acked = c.lines.Text()
		}
		c.Wait()
		last, err := strconv.ParseInt(acked, 10, 64)
		if err != nil {
			t.Fatal(err)
		}

		s := open(t, dir)
		list, err := s.List(t.Context())
		if err != nil || len(list) != 1 || list[0].Events < last {
			t.Errorf("list is %+v (%v), want %d events", list, err, last)
		}
		log, err := s.Open(t.Context(), "a")
		if err != nil {
			t.Fatalf("the lock outlived its owner: %v", err)
		}
		var head int64
		for e, err := range log.Read(t.Context(), session.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			if head++; e.Seq != head || head > 1 && string(e.Data) != fmt.Sprint(head) {
				t.Fatalf("event %d is %d with %s", head, e.Seq, e.Data)
			}
		}
		if head < last || head > last+batch || (head-1)%batch != 0 {
			t.Errorf("round %d: head is %d, acknowledged were %d", round, head, last)
		}
		data, at, err := log.Snapshot(t.Context())
		if err != nil || at != head || string(data) != fmt.Sprint(head) {
			t.Errorf("snapshot is %s at %d (%v), want that of %d", data, at, err, head)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		s.Close()
		if got := fmt.Sprint(files(t, dir)); got != "[catalogue-2.db a.db]" {
			t.Errorf("files left are %s", got)
		}
	}
}

func TestSecondProcessIsToldTheOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	create(t, s, "a").Close()
	c := start(t, "hold", dir, 0)
	c.line(t)

	_, err := s.Open(t.Context(), "a")
	var locked *session.LockedError
	host, _ := os.Hostname()
	if want := fmt.Sprintf("pid %d on %s", c.Process.Pid, host); !errors.As(err, &locked) || locked.Owner != want {
		t.Errorf("error is %v, want the owner %s", err, want)
	}
	if _, err := s.Create(t.Context(), session.Created{ID: "a"}); !errors.Is(err, os.ErrExist) {
		t.Errorf("create: %v", err)
	}
	view, err := s.View(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()

	c.stdin.Close()
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	log, err := s.Open(t.Context(), "a")
	if err != nil {
		t.Fatalf("the owner is gone: %v", err)
	}
	log.Close()
	noLocks(t, dir)
}

func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "sqlitelog")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error { return os.Chmod(path, 0o700) })
		os.RemoveAll(dir)
	})
	log := create(t, open(t, dir), "a")
	appendTo(t, log, 9)
	log.Close()
	var uid uint32
	if os.Getuid() == 0 {
		uid = 65534 // root may write everywhere
	}
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(path, 0o444|e.Type().Perm()), chmodDir(path, e))
	})
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)

	c := start(t, "readonly", dir, uid)
	for _, want := range []string{"permission denied", "permission denied", "permission", "permission denied", "1", "10"} {
		if got := c.line(t); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if after := files(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("files were %v and are %v", before, after)
	}
}

func chmodDir(path string, e os.DirEntry) error {
	if e.IsDir() {
		return os.Chmod(path, 0o555)
	}
	return nil
}
