package notes

import "time"

// SetLockWait shortens the wait for a home that somebody else holds.
func (t *Tree) SetLockWait(d time.Duration) { t.lockWait = d }
