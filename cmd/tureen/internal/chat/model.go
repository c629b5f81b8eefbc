package chat

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// tickEvery is how often what runs is drawn anew.
const tickEvery = 100 * time.Millisecond

// drawn is how long the first drawing of the live part may take.
const drawn = 60 * time.Millisecond

var usageQuery = session.Query{Kinds: usageKinds}

// model is the chat as it stands. Update alone changes it, in one goroutine; what
// takes time runs as a command of bubbletea and comes back as a message.
type model struct {
	first   tea.Cmd // what the first prompt asks for, where it is a slash command
	o       options
	ctx     context.Context
	session Session
	facts   Facts

	width, height int
	now           time.Time // of the last tick

	// the scrollback
	out      []string
	last     blockKind
	printing bool

	// the agent
	meter      session.Meter
	usage      usages // of this process
	turn       bool
	steps      int
	began      time.Time
	compacting bool
	waiting    string // what is waited for between turns; it is told once and holds until nothing is
	word       string // the last word of a long proposal
	held       string // why a request failed, until it is known whether the step goes on
	stream     stream
	calls      map[string]llm.ToolCall // of the running step
	tools      []running
	queue      []queued
	agents     []subagent
	asked      map[string]session.Question

	// the person
	edit    editor
	history history
	boxes   []*box
	typed   time.Time // the newest key of the input
	armed   time.Time // the first Ctrl-C
	hint    string
	sends   []send // messages on their way, in order
	sending bool

	closing  bool // the session is being opened anew
	ticking  bool
	quitting bool
	err      error
}

// options are Options with what the chat adds.
type options struct {
	Options
	key func() int64 // a number that no other question has
}

// send is one message on its way to the session.
type send struct {
	do   func(Session) error
	text string // what the person typed, to give it back; "" = nothing
}

type (
	tickMsg  time.Time
	sentMsg  struct{ err error }
	idleMsg  struct{}
	failMsg  struct{ err error }
	quitMsg  struct{}
	eventMsg struct {
		e session.Event
		m session.Meter
	}
	deltaMsg struct {
		kind llm.BlockKind
		text string
	}
	progressMsg struct{ source, text string }
	logMsg      struct{ text string }
	askMsg      struct{ box *box }
	withdrawMsg struct{ key int64 }
	batchMsg    []tea.Msg
)

func newModel(ctx context.Context, o options, s Session, f Facts) *model {
	return &model{o: o, ctx: ctx, session: s, facts: f, meter: f.Meter, width: 80, height: 24, now: o.Now(),
		calls: map[string]llm.ToolCall{}, asked: map[string]session.Question{}}
}

// Init holds the scrollback back until the live part was drawn first: what is printed
// is put above it.
func (m *model) Init() tea.Cmd {
	m.printing = true
	return tea.Batch(m.first, tea.Tick(drawn, func(time.Time) tea.Msg { return printedMsg{} }))
}

// Update takes one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg)
	cmds := []tea.Cmd{cmd, m.drain(), m.next(), m.tick()}
	if m.quitting && !m.printing && len(m.out) == 0 && (len(m.sends) == 0 || m.err != nil) {
		cmds = append(cmds, tea.Quit)
	}
	return m, tea.Batch(cmds...)
}

func (m *model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if !m.quitting {
			return m.press(msg)
		}
	case tea.PasteMsg:
		m.paste(msg.Content)
	case batchMsg:
		var cmds []tea.Cmd
		for _, one := range msg {
			cmds = append(cmds, m.take(one))
		}
		return tea.Batch(cmds...)
	case printedMsg:
		m.printing = false
	case tickMsg:
		m.ticking, m.now = false, time.Time(msg)
	case replyMsg:
		m.replied(msg)
	case sentMsg:
		m.sent(msg.err)
	case modelMsg:
		m.modelChanged(msg)
	case failMsg:
		return m.quit(msg.err)
	case quitMsg:
		return m.quit(nil)
	default:
		m.hear(msg)
	}
	return nil
}

// hear takes what the agent says.
func (m *model) hear(msg tea.Msg) {
	switch msg := msg.(type) {
	case eventMsg:
		m.event(msg.e, msg.m)
	case deltaMsg:
		m.delta(msg.kind, msg.text)
	case progressMsg:
		m.progress(msg.source, msg.text)
	case idleMsg:
		m.turn, m.waiting, m.compacting, m.word, m.began = false, "", false, "", time.Time{}
	case logMsg:
		m.block(blockNotice)
		m.printStyled(m.o.Style.Yellow, wrap(clean(msg.text), m.textWidth()))
	case askMsg:
		m.ask(msg.box)
	case withdrawMsg:
		m.withdraw(func(b *box) bool { return b.key == msg.key })
	}
}

// progress takes a word of a long call, of a proposal, or of what is waited for.
func (m *model) progress(source, text string) {
	switch {
	case source == "waiting":
		if m.waiting == "" && !m.turn {
			m.began = m.o.Now()
		}
		m.waiting = oneLine(text, 200)
	case m.toolNote(source, text), m.agentNote(source, text):
	default:
		m.word = oneLine(source+": "+text, 200)
	}
}

// busy tells whether something runs that Esc ends.
func (m *model) busy() bool { return m.turn || m.compacting || m.waiting != "" || m.closing }

// textWidth is how many columns a row may have: one less than the terminal has, so
// that none wraps by itself.
func (m *model) textWidth() int { return max(m.width-1, 10) }

// tick keeps the clock going while something runs.
func (m *model) tick() tea.Cmd {
	if m.ticking || !m.busy() {
		return nil
	}
	m.ticking = true
	return tea.Tick(tickEvery, func(t time.Time) tea.Msg { return tickMsg(t) })
}
