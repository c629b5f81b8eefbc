package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// maxAnswer is how much of a subagent's answer its parent is shown, in bytes.
const maxAnswer = 32 << 10

// said is what a subagent said since it began to work.
type said struct {
	text   string
	report json.RawMessage
}

// childObserver listens to a subagent, and lets the person hear what it does.
type childObserver struct {
	m  *member
	up agent.Observer // may be nil
}

func (o *childObserver) Event(e session.Event, _ session.Meter) {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	switch e.Kind {
	case session.KindMessageAssistant:
		if p, err := session.Decode[session.Assistant](e); err == nil && strings.TrimSpace(p.Message.Text()) != "" {
			o.m.said.text = p.Message.Text()
		}
	case session.KindReport:
		if p, err := session.Decode[session.Report](e); err == nil {
			o.m.said.report = p.Data
		}
	case session.KindToolStarted:
		if p, err := session.Decode[session.ToolStarted](e); err == nil {
			o.Progress("", p.Name)
		}
	}
}

func (o *childObserver) Delta(llm.BlockKind, string) {}

func (o *childObserver) Progress(source, text string) {
	if o.up == nil {
		return
	}
	name := o.m.label
	if name == "" {
		name = o.m.id
	}
	if source != "" {
		text = source + ": " + text
	}
	o.up.Progress("subagent "+name, text)
}

// work runs a subagent until nothing is owed, and settles it.
func (m *member) work(ctx context.Context) {
	reason, failure := m.run(ctx)
	m.mu.Lock()
	said := m.said
	m.mu.Unlock()
	c := session.ChildSettled{ID: m.id, Reason: reason, Error: failure, Text: capped(said.text), Report: said.report, Usage: m.agent.Load().Usage()}
	parent := m.parent.agent.Load()
	for _, known := range parent.Children() {
		if known.ID == m.id {
			c.Usage = c.Usage.Sub(known.Usage)
		}
	}
	m.shut()
	if err := parent.ChildSettled(context.Background(), c, settled(m.called(), c), !m.stopped.Load()); err != nil {
		m.family.host.Logger.Error("store what a subagent came to", "session", m.id, "error", err)
	}
	m.left()
}

// run takes turns as long as messages come. After it the subagent takes no more.
func (m *member) run(ctx context.Context) (session.Reason, *session.Failure) {
	a := m.agent.Load()
	for {
		reason, failure, err := a.Run(ctx)
		if ctx.Err() != nil && (reason == "" || errors.Is(err, ctx.Err())) {
			reason, failure, err = session.ReasonCancelled, nil, nil
		}
		if reason == "" {
			reason = session.ReasonCompleted
		}
		m.gate.Lock()
		over := err != nil || reason != session.ReasonCompleted || !a.Owed()
		m.closing.Store(over)
		m.gate.Unlock()
		if over {
			m.Stop() // what it does not wait for: nobody is left to hear of it
			return reason, failure
		}
	}
}

// settled is what the parent's model reads (S3).
func settled(name string, c session.ChildSettled) string {
	if c.Lost {
		return fmt.Sprintf("Subagent %s was at work when the host stopped, so it came to no result. What it did until then is done, files included: "+
			"look at the workspace before you have the work done again. A message to it lets it go on where it stopped.", name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Subagent %s %s. It does nothing more unless you send it a message.\n\n", name, manner(c))
	if c.Report != nil {
		fmt.Fprintf(&b, "Its structured result:\n%s\n\n", c.Report)
	}
	if c.Text == "" {
		b.WriteString("It gave no answer in words.")
	} else {
		b.WriteString("Its last answer:\n" + c.Text)
	}
	return b.String()
}

// manner is how a subagent ended.
func manner(c session.ChildSettled) string {
	why := ""
	if c.Error != nil {
		why = ": " + c.Error.Code + ", " + c.Error.Message
	}
	switch c.Reason {
	case session.ReasonCompleted:
		return "has finished"
	case session.ReasonCancelled:
		return "was stopped before it had finished"
	case session.ReasonMaxTokens:
		return "ran out of room: its answer was cut off at the output limit"
	case session.ReasonLimit:
		return "was ended by a limit before it had finished" + why
	case session.ReasonBlocked:
		return "was blocked before it had finished" + why
	}
	return "failed before it had finished" + why
}

// capped cuts a long answer and says so.
func capped(text string) string {
	if len(text) <= maxAnswer {
		return text
	}
	cut := maxAnswer
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n[the other %d bytes are left out; ask it for them in parts, or have it write them to a file]", text[:cut], len(text)-cut)
}
