package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// UI is the chat's end of a session: its observer, the person's asker, and where log
// lines go. All methods may be called from any goroutine, before, while and after Run
// goes on.
type UI struct {
	o       options
	in, out *os.File
	saved   atomic.Pointer[term.State] // the terminal's, while Run goes on
	keys    atomic.Int64

	mu    sync.Mutex
	queue []tea.Msg
	shown bool // Run goes on
	ended bool
	wake  chan struct{}
}

// New makes a UI on a terminal.
func New(o Options, in, out *os.File) *UI {
	if o.Now == nil {
		o.Now = time.Now
	}
	u := &UI{in: in, out: out, wake: make(chan struct{}, 1)}
	u.o = options{Options: o, key: func() int64 { return u.keys.Add(1) }}
	return u
}

// push queues a message for the model; it never waits.
func (u *UI) push(msg tea.Msg) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return
	}
	u.queue = append(u.queue, msg)
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// Event implements agent.Observer.
func (u *UI) Event(e session.Event, m session.Meter) { u.push(eventMsg{e, m}) }

// Delta implements agent.Observer.
func (u *UI) Delta(kind llm.BlockKind, text string) { u.push(deltaMsg{kind, text}) }

// Progress implements agent.Observer.
func (u *UI) Progress(source, text string) { u.push(progressMsg{source, text}) }

// Idle is told that nothing is owed any more.
func (u *UI) Idle(session.Reason, *session.Failure) { u.push(idleMsg{}) }

// Fail ends the chat with an error.
func (u *UI) Fail(err error) { u.push(failMsg{err}) }

// Ask implements agent.Asker. Where the chat has ended, the question is declined.
func (u *UI) Ask(ctx context.Context, q session.Question) session.Answer {
	declined := session.Answer{Outcome: session.OutcomeDeclined}
	u.mu.Lock()
	ended := u.ended
	u.mu.Unlock()
	if ended {
		return declined
	}
	answers := make(chan session.Answer, 1)
	key := u.o.key()
	u.push(askMsg{newBox(key, q, false, func(a session.Answer) { answers <- a })})
	select {
	case a := <-answers:
		return a
	case <-ctx.Done():
		u.push(withdrawMsg{key})
		return declined
	}
}

// Write takes whole lines for the person. While Run does not go on they go to stderr.
func (u *UI) Write(b []byte) (int, error) {
	u.mu.Lock()
	shown := u.shown
	u.mu.Unlock()
	if !shown {
		return os.Stderr.Write(b)
	}
	u.push(logMsg{strings.TrimRight(ansi.Strip(string(b)), "\n")})
	return len(b), nil
}

// Run shows the session until the person leaves, Fail is called or ctx ends. prompt
// is sent at once, "" for none. The terminal is restored whatever happens. The error
// is that of Fail, or of the terminal.
func (u *UI) Run(ctx context.Context, s Session, f Facts, prompt string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what the session still does for the chat
	m := newModel(ctx, u.o, s, f)
	if w, h, err := term.GetSize(u.out.Fd()); err == nil && w > 0 && h > 0 {
		m.width, m.height = w, h
	}
	m.greet()
	for _, row := range m.out { // nothing is drawn yet
		fmt.Fprintln(u.out, row)
	}
	m.out = nil
	if prompt != "" {
		m.history.add(prompt)
		if name, arguments, ok := command.Parse(prompt); ok {
			m.first = m.slash(name, arguments)
		} else {
			m.send(func(s Session) error { return s.Prompt(ctx, prompt) }, prompt)
		}
	}
	profile := colorprofile.ANSI
	if !u.o.Style.On() {
		profile = colorprofile.Ascii
	}
	p := tea.NewProgram(m, tea.WithInput(u.in), tea.WithOutput(u.out), tea.WithoutSignalHandler(), tea.WithColorProfile(profile))
	if saved, err := term.GetState(u.in.Fd()); err == nil {
		u.saved.Store(saved)
		defer u.saved.Store(nil)
	}
	stop := context.AfterFunc(ctx, func() { u.push(quitMsg{}) })
	defer stop()
	done := make(chan struct{})
	u.mu.Lock()
	u.shown = true
	u.mu.Unlock()
	go u.pump(p, done)
	_, err := p.Run()
	close(done)
	u.end(m)
	if errors.Is(err, tea.ErrProgramPanic) {
		return fmt.Errorf("the chat's view failed: %w; the session is kept", err)
	}
	return errors.Join(m.err, err)
}

// pump hands the queued messages to the program, as many at once as there are.
func (u *UI) pump(p *tea.Program, done chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-u.wake:
		}
		u.mu.Lock()
		batch := u.queue
		u.queue = nil
		u.mu.Unlock()
		if len(batch) > 0 {
			p.Send(batchMsg(batch))
		}
	}
}

// end lets go of the session: what is still asked is declined, what is still said
// goes to stderr.
func (u *UI) end(m *model) {
	u.mu.Lock()
	u.shown, u.ended = false, true
	left := u.queue
	u.queue = nil
	u.mu.Unlock()
	for _, b := range m.boxes {
		b.reply(session.Answer{Outcome: session.OutcomeDeclined})
	}
	for _, msg := range left {
		switch msg := msg.(type) {
		case askMsg:
			msg.box.reply(session.Answer{Outcome: session.OutcomeDeclined})
		case logMsg:
			_, _ = io.WriteString(os.Stderr, msg.text+"\n")
		case failMsg:
			m.err = msg.err
		}
	}
}

// reset undoes what bubbletea sets on a terminal: the cursor, pastes, keys.
const reset = "\x1b[?25h\x1b[?2004l\x1b[>4m\x1b[<u\x1b[?2026l\r\n"

// Restore gives the terminal back, for a process that is about to leave without an
// end of Run. It waits for nothing but the terminal.
func (u *UI) Restore() {
	if saved := u.saved.Load(); saved != nil {
		_ = term.Restore(u.in.Fd(), saved)
		_, _ = io.WriteString(u.out, reset)
	}
}
