package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/chat"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

// errStopped is the cause of what a person ended with Esc or Ctrl-C.
var errStopped = errors.New("stopped by the person")

// chatSession is the session that a chat shows: chat.Session.
type chatSession struct {
	*work
	ui *chat.UI

	switching sync.RWMutex // held for writing while the model is changed
	mu        sync.Mutex   // guards what follows; it changes with the model
	host      *host.Host
	stop      context.CancelFunc
	done      chan struct{} // closed when the agent is not served any more
}

func (c *chatSession) current() *host.Host {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host
}

var errClosed = errors.New("the session is closed")

// use does something with the open session.
func (c *chatSession) use(do func(*host.Host) error) error {
	c.switching.RLock()
	defer c.switching.RUnlock()
	h := c.current()
	if h == nil {
		return errClosed
	}
	return shown(do(h))
}

// serve lets the agent take turns as input comes.
func (c *chatSession) serve(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	c.mu.Lock()
	h := c.host
	c.stop, c.done = stop, done
	c.mu.Unlock()
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				c.ui.Restore()
				panic(r)
			}
		}()
		if err := h.Agent.Serve(ctx, c.ui.Idle); err != nil {
			c.ui.Fail(stateFault(h.ID(), err))
		}
	}()
}

// stopServing ends the step under way and waits until the agent rests, within
// bounds.
func (c *chatSession) stopServing() {
	c.mu.Lock()
	stop, done := c.stop, c.done
	c.mu.Unlock()
	if stop == nil {
		return
	}
	stop()
	select {
	case <-done:
	case <-time.After(hurried):
	}
}

// settle waits, within bounds, until nothing is done with the session any more, and
// lets nothing begin.
func (c *chatSession) settle() {
	settled := make(chan struct{})
	go func() {
		c.switching.Lock()
		close(settled)
	}()
	select {
	case <-settled:
	case <-time.After(hurried):
	}
}

// close closes the session; it may be called where it is closed.
func (c *chatSession) close(ctx context.Context) {
	c.mu.Lock()
	h := c.host
	c.host = nil
	c.mu.Unlock()
	if h == nil {
		return
	}
	limit := closing
	if ctx.Err() != nil {
		limit = hurried
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if err := h.Close(ctx); err != nil {
		c.logger().Warn("the session did not close in good order", "error", err)
	}
}

func (c *chatSession) Prompt(ctx context.Context, text string) error {
	return c.use(func(h *host.Host) error { return h.Agent.Prompt(ctx, text) })
}

func (c *chatSession) Steer(ctx context.Context, text string) error {
	return c.use(func(h *host.Host) error { return h.Agent.Steer(ctx, text) })
}

func (c *chatSession) Cancel() bool {
	h := c.current()
	return h != nil && h.Agent.Cancel(errStopped)
}

// Compact leaves the request as mail, which the agent takes between two steps: it
// must not begin beside a turn.
func (c *chatSession) Compact(ctx context.Context, instructions string) error {
	return c.use(func(h *host.Host) error {
		if c.profile.Compaction.Strategy == host.StrategyNone {
			return usagef("choose one with -c compaction.strategy=NAME", "the session runs with no compaction strategy")
		}
		box, ok := c.store.Store.(session.Mailbox)
		if !ok {
			return faultf(exitState, "SESSION_STORE", "", "this store takes no requests for a compaction")
		}
		return box.Post(ctx, h.ID(), session.Mail{Command: session.CommandCompact, Text: instructions})
	})
}

// Undo leaves the request as mail, as Compact does.
func (c *chatSession) Undo(ctx context.Context) error {
	return c.use(func(h *host.Host) error {
		box, ok := c.store.Store.(session.Mailbox)
		if !ok {
			return faultf(exitState, "SESSION_STORE", "", "this store takes no requests for an undo")
		}
		return box.Post(ctx, h.ID(), session.Mail{Command: session.CommandUndo})
	})
}

// Context reads beside the agent what the log says of the context.
func (c *chatSession) Context(ctx context.Context) (text string, err error) {
	err = c.use(func(h *host.Host) error {
		quiet := *c.app
		quiet.quiet = true
		v, err := quiet.viewContext(ctx, c.store, h.ID(), 0)
		if err == nil {
			text = v.inChat()
		}
		return err
	})
	return text, err
}

func (c *chatSession) Command(ctx context.Context, name, arguments string) (text string, err error) {
	err = c.use(func(h *host.Host) (err error) { text, err = h.Agent.Command(ctx, name, arguments); return err })
	return text, err
}

func (c *chatSession) Answer(ctx context.Context, answer session.Answer) error {
	return c.use(func(h *host.Host) error { return h.Agent.Answer(ctx, answer) })
}

func (c *chatSession) Access() session.Access {
	if h := c.current(); h != nil {
		return h.Agent.Access("chat")
	}
	return session.Refusing{}
}

func (c *chatSession) Notes(ctx context.Context, address string) (string, error) {
	var out bytes.Buffer
	err := c.use(func(h *host.Host) error {
		quiet := *c.app
		quiet.out, quiet.quiet = &out, true
		return quiet.printNotes(ctx, h.ID(), address)
	})
	return out.String(), err
}

func (c *chatSession) Export(ctx context.Context, file string) (string, error) {
	file = strings.TrimSpace(file)
	err := c.use(func(h *host.Host) error {
		if file == "" {
			file = fmt.Sprintf("tureen-%s-%s.md", h.ID(), time.Now().Format("150405"))
		}
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return usagef("name another file", "%s is there already", plain(file))
		}
		write := exporters["md"]
		if strings.HasSuffix(file, ".jsonl") {
			write = exporters["jsonl"]
		}
		return c.withSession(ctx, h.ID(), func(row session.Summary, r session.Reader) error {
			return c.writeTo(file, func(w io.Writer) error { return write(ctx, w, row, r) })
		})
	})
	return file, err
}

// SetModel opens the session anew with another model, or, where that cannot be,
// with the old one.
func (c *chatSession) SetModel(ctx context.Context, name string) (chat.Facts, error) {
	c.switching.Lock()
	defer c.switching.Unlock()
	h := c.current()
	if h == nil {
		return chat.Facts{}, errClosed
	}
	id, old := h.ID(), c.app.model
	c.stopServing()
	c.close(ctx)
	c.app.model = name
	err := c.reopen(ctx, id)
	if err == nil {
		return c.facts(ctx, false)
	}
	c.app.model = old
	if again := c.reopen(ctx, id); again != nil {
		c.ui.Fail(again)
	}
	return chat.Facts{}, shown(err)
}

func (c *chatSession) reopen(ctx context.Context, id string) error {
	h, err := c.resume(ctx, id)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.host = h
	c.mu.Unlock()
	c.serve(ctx)
	return nil
}

// shownFault is an error in the words of the program.
type shownFault struct {
	error
	*fault
}

func (f shownFault) Error() string { return f.Message }

// ChatFailure tells a chat what to show.
func (f shownFault) ChatFailure() session.Failure { return f.Failure }

func (f shownFault) Unwrap() error { return f.error }

// shown puts an error into the program's words, nil for nil.
func shown(err error) error {
	if err == nil {
		return nil
	}
	return shownFault{err, faultOf(err)}
}
