package sqlitelog_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

func TestOwnerIsWhoHasTheSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log, err := s.Create(t.Context(), session.Created{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = open(t, dir).Open(t.Context(), "a")
	var locked *session.LockedError
	if !errors.As(err, &locked) {
		t.Fatal(err)
	}
	if who, err := s.Owner(t.Context(), "a"); err != nil || who != locked.Owner {
		t.Errorf("owner %q, %v; want %q", who, err, locked.Owner)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if who, err := s.Owner(t.Context(), "a"); err != nil || who != "" {
		t.Errorf("after its end: owner %q, %v", who, err)
	}
	// What a killed owner leaves says nothing.
	if err := os.WriteFile(filepath.Join(dir, "sessions", "a.db.lock"), []byte("pid 1 on gone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if who, err := s.Owner(t.Context(), "a"); err != nil || who != "" {
		t.Errorf("after its death: owner %q, %v", who, err)
	}
	if log, err = s.Open(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	log.Close()
	if _, err := s.Owner(t.Context(), "b"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("of no session: %v", err)
	}
}
