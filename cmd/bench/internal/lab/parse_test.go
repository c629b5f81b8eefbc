package lab

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stat        string
		pid, parent int
		ok          bool
	}{
		{"41 (tureen) S 7 41 41 0 -1", 41, 7, true},
		{"42 (a) b) (c) R 8 1", 42, 8, true},
		{"43 (x", 0, 0, false},
		{"", 0, 0, false},
	} {
		pid, parent, ok := parseStat([]byte(c.stat))
		if ok != c.ok || ok && (pid != c.pid || parent != c.parent) {
			t.Errorf("parseStat(%q) = %d, %d, %v", c.stat, pid, parent, ok)
		}
	}
	if got := pluginName([]byte("/proc/self/exe\x00plugin-serve\x00files\x00")); got != "files" {
		t.Errorf("plugin name %q", got)
	}
}

func TestParsePSS(t *testing.T) {
	t.Parallel()
	got, err := parsePSS([]byte("00400000-7fff r--p [rollup]\nRss:   9000 kB\nPss:   5120 kB\nPss_Anon:  7 kB\n"))
	if err != nil || got != 5<<20 {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := parsePSS([]byte("Rss: 1 kB\n")); err == nil {
		t.Error("no Pss, no error")
	}
}

func TestTheTreeHasItsRoot(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/smaps_rollup"); err != nil {
		t.Skip("needs Linux")
	}
	tree, err := Tree(os.Getpid())
	if err != nil || len(tree) == 0 || tree[0].PID != os.Getpid() || tree[0].PSS < 1<<20 {
		t.Errorf("%+v, %v", tree, err)
	}
}

// wal makes a write-ahead log of frames with a page of 512 bytes; 1 is a frame
// that ends a transaction, 0 one that does not, 2 one with an old salt.
func wal(frames ...int) []byte {
	log := make([]byte, walHeader)
	binary.BigEndian.PutUint32(log, 0x377f0682)
	binary.BigEndian.PutUint32(log[8:], 512)
	copy(log[16:], "saltsalt")
	for _, kind := range frames {
		frame := make([]byte, frameHeader+512)
		copy(frame[8:], "saltsalt")
		switch kind {
		case 1:
			binary.BigEndian.PutUint32(frame[4:], 9)
		case 2:
			copy(frame[8:], "old salt")
			binary.BigEndian.PutUint32(frame[4:], 9)
		}
		log = append(log, frame...)
	}
	return log
}

func TestCountCommits(t *testing.T) {
	t.Parallel()
	whole := wal(0, 1, 1, 0, 0, 1)
	for _, c := range []struct {
		what string
		log  []byte
		want int
	}{
		{"no frame", wal(), 0},
		{"an empty file", nil, 0},
		{"three transactions", whole, 3},
		{"the last frame is cut", whole[:len(whole)-1], 2},
		{"frames of the round before", wal(1, 2, 2), 1},
	} {
		if got, err := countCommits(c.log); err != nil || got != c.want {
			t.Errorf("%s: %d, %v; want %d", c.what, got, err, c.want)
		}
	}
	if _, err := countCommits(make([]byte, 100)); err == nil {
		t.Error("zeros pass for a write-ahead log")
	}
}

func TestFillNotesFillsFiveHomes(t *testing.T) {
	t.Parallel()
	box := &Sandbox{dir: t.TempDir()}
	if err := os.MkdirAll(box.Path("work"), 0o700); err != nil {
		t.Fatal(err)
	}
	id := strings.ToLower(ulid.Make().String())
	if err := box.FillNotes(context.Background(), id, 3); err != nil {
		t.Fatal(err)
	}
	found, _ := filepath.Glob(box.Path("notes", "*", "*", "MAP.md"))
	deeper, _ := filepath.Glob(box.Path("notes", "sessions", "*", id, "MAP.md"))
	human, _ := filepath.Glob(box.Path("notes", "human", "MAP.md"))
	if n := len(found) + len(deeper) + len(human); n != Homes {
		t.Errorf("%d homes have a MAP, want %d: %v %v %v", n, Homes, found, deeper, human)
	}
}
