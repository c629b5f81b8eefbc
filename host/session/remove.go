package session

import "context"

// Remover is a Store that deletes sessions.
type Remover interface {
	// Remove deletes a session that nobody owns, its mail included, for good;
	// ErrLocked where somebody owns it, ErrNotFound where there is none. A crash
	// leaves the session as it was or no session. What is open for reading may
	// read on or fail.
	Remove(ctx context.Context, id string) error
}
