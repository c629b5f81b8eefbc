package sqlitelog

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/gofrs/flock"
)

// Owner implements session.Owned. Of a session that nobody owns it leaves no
// trace; only where a killed owner left its lock file that is tried, for a moment.
func (s *Store) Owner(ctx context.Context, id string) (string, error) {
	if err := s.find(ctx, id); err != nil {
		return "", err
	}
	path := s.path(id) + ".lock"
	text, err := os.ReadFile(path)
	if err != nil {
		return "", nil // an owner's file is there, and the owner's user can read it
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	defer lock.Close()
	free, err := lock.TryRLock()
	if os.IsNotExist(err) {
		return "", nil // released meanwhile
	}
	if err != nil {
		return "", fmt.Errorf("session %s: look who owns it: %w", id, err)
	}
	if free {
		return "", nil
	}
	return cmp.Or(strings.TrimSpace(string(text)), "owner unknown"), nil
}
