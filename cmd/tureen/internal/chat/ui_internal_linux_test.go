package chat

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// desk is a terminal with a chat on it, in this process.
type desk struct {
	ui            *UI
	master, slave *os.File
	before        unix.Termios

	mu  sync.Mutex
	raw bytes.Buffer
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatalf("no terminals here: %v", err)
	}
	d := &desk{ui: New(Options{}, slave, slave), master: master, slave: slave}
	d.before = d.settings(t)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			d.mu.Lock()
			d.raw.Write(b[:n])
			d.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { slave.Close(); master.Close() })
	return d
}

func (d *desk) settings(t *testing.T) unix.Termios {
	t.Helper()
	s, err := unix.IoctlGetTermios(int(d.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

func (d *desk) sees(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		d.mu.Lock()
		raw := d.raw.String()
		d.mu.Unlock()
		switch {
		case strings.Contains(raw, text):
			return
		case time.Now().After(deadline):
			t.Fatalf("never came: %q in %q", text, raw)
		}
	}
}

// run runs the chat and returns its end.
func (d *desk) run(ctx context.Context, s Session) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- d.ui.Run(ctx, s, Facts{ID: "01s", Model: "talker"}, "") }()
	return ended
}

func (d *desk) ended(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		if after := d.settings(t); after != d.before {
			t.Errorf("the terminal is %+v, was %+v", after, d.before)
		}
		return err
	case <-time.After(time.Minute):
		t.Fatal("the chat does not end")
		return nil
	}
}

func TestUI_ShowsWhatIsHeardAndAnswersWhatIsAsked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ended := d.run(t.Context(), &fakeSession{})
	d.sees(t, "ask for something")
	d.ui.Delta(llm.BlockText, "one row\nand ")
	d.ui.Event(session.New(session.KindWarning, session.Warning{Message: "look out"}), session.Meter{})
	d.ui.Write([]byte("\x1b[33mwarning:\x1b[0m of the host\n"))
	d.sees(t, "one row")
	d.sees(t, "! look out")
	d.sees(t, "warning: of the host")
	answers := make(chan session.Answer, 1)
	go func() { answers <- d.ui.Ask(t.Context(), approval) }()
	d.sees(t, "1 Once")
	d.master.WriteString("2")
	if a := <-answers; !a.Chose("Always") {
		t.Errorf("answer %+v", a)
	}
	gone, cancel := context.WithCancel(t.Context())
	go func() { answers <- d.ui.Ask(gone, approval) }()
	d.sees(t, "1 Once")
	cancel()
	if a := <-answers; a.Outcome != session.OutcomeDeclined {
		t.Errorf("answer %+v", a)
	}
	go func() { answers <- d.ui.Ask(t.Context(), approval) }()
	d.ui.Fail(errors.New("the log is gone"))
	if err := d.ended(t, ended); err == nil || err.Error() != "the log is gone" {
		t.Errorf("%v", err)
	}
	if a := <-answers; a.Outcome != session.OutcomeDeclined {
		t.Errorf("answer %+v after the end", a)
	}
	if a := d.ui.Ask(t.Context(), approval); a.Outcome != session.OutcomeDeclined {
		t.Errorf("answer %+v after the end", a)
	}
}

// panics is a session whose prompt takes the chat down.
type panics struct{ *fakeSession }

func (panics) Prompt(context.Context, string) error { panic("out of soup") }

func TestUI_APanicLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ended := d.run(t.Context(), panics{&fakeSession{}})
	d.sees(t, "ask for something")
	d.master.WriteString("hello\r")
	if err := d.ended(t, ended); err == nil || !strings.Contains(err.Error(), "the chat failed: out of soup") {
		t.Errorf("%v", err)
	}
}

func TestUI_TheEndOfItsContextEndsIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := d.run(ctx, &fakeSession{})
	d.sees(t, "ask for something")
	cancel()
	if err := d.ended(t, ended); err != nil {
		t.Errorf("%v", err)
	}
}

// A process that leaves in a hurry gives the terminal back.
func TestUI_Restore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := d.run(ctx, &fakeSession{})
	d.sees(t, "ask for something")
	d.ui.Restore()
	d.sees(t, "\x1b[?2004l")
	if after := d.settings(t); after != d.before {
		t.Errorf("the terminal is %+v, was %+v", after, d.before)
	}
	cancel()
	if err := d.ended(t, ended); err != nil {
		t.Error(err)
	}
}
