package agent

import (
	"context"
	"errors"

	"github.com/tureen-host/tureen/host/session"
)

// Archive puts the session away, or takes it out again (L18). It tells whether that
// changed anything.
func (a *Agent) Archive(ctx context.Context, p session.Archived) (bool, error) {
	return false, errors.New("not built yet")
}
