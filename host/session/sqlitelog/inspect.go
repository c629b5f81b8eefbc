package sqlitelog

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tureen-host/tureen/host/session"
)

// inspect looks for the damage that SQLite passes over in silence, before it gets
// the file. From a spoilt write-ahead log it would take what lies before the first
// bad byte and throw away the rest, though an Append had returned for it. Only what a
// killed owner left is read, not the log of an owner at work.
func (s *Store) inspect(ctx context.Context, id string, mine bool) error {
	path := s.path(id)
	owned := func() bool {
		owner, err := s.Owner(ctx, id)
		return !mine && (owner != "" || err != nil)
	}
	err := inspectHead(path)
	if err == nil && leftover(path, "-wal") && !owned() {
		err = inspectWAL(path)
	}
	if err == nil || owned() { // then it changed while it was read
		return nil
	}
	return fmt.Errorf("session %s: open: %w", id, err)
}

// inspectHead finds a number that would make SQLite take the file for one that must
// not be written.
func inspectHead(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // SQLite will say why
	}
	defer f.Close()
	var head [walMarkAt + 1]byte
	if _, err := io.ReadFull(f, head[:]); err == nil && head[walMarkAt] > walMark[0] {
		return damaged(path, fmt.Errorf("its head is wrong (%w)", session.ErrDamaged))
	}
	return nil
}

func inspectWAL(path string) error {
	f, err := os.Open(path + "-wal")
	if err != nil {
		return nil
	}
	defer f.Close()
	n, err := size(f)
	if err != nil {
		return nil
	}
	frames, whole, err := readFrames(f, n)
	if err == nil && torn(frames, whole) {
		return damaged(path, fmt.Errorf("its write-ahead log is spoilt (%w)", session.ErrDamaged))
	}
	return nil
}
