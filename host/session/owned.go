package session

import "context"

// Owned is a Store that can tell who works in a session.
type Owned interface {
	// Owner names the process that owns a session as LockedError does, "" for
	// none. It may be out of date when it returns. ErrNotFound where there is no
	// such session.
	Owner(ctx context.Context, id string) (string, error)
}
