package shell

import (
	"context"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// counter counts the messages.
type counter struct {
	session.Refusing
	n int
}

func (c *counter) Steer(context.Context, string, string, bool) error {
	c.n++
	return nil
}

// What happens begins the wait anew.
func TestT9_AStepRenewsTheWait(t *testing.T) {
	t.Parallel()
	told := &counter{}
	b := &board{p: &Provider{config: Config{Wait: time.Hour}}, access: told}
	b.jobs = []*job{{args: shellArgs{Description: "Serve"}, process: &process{}}}
	b.since = time.Now().Add(-2 * time.Hour)
	b.stir()
	if w := b.hold(t.Context(), 1); w != "1 background job (Serve)" || told.n != 0 {
		t.Errorf("waits for %q, told %d times", w, told.n)
	}
	b.since = time.Now().Add(-2 * time.Hour)
	if w := b.hold(t.Context(), 1); w == "" || told.n != 1 {
		t.Errorf("waits for %q, told %d times", w, told.n)
	}
	if w := b.hold(t.Context(), 2); w != "" || told.n != 1 {
		t.Errorf("waits for %q, told %d times", w, told.n)
	}
}
