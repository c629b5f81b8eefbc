package chat

import (
	"fmt"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

// recallRows is how much of the last answer is shown again.
const recallRows = 12

// greet prints what the chat is in, and what was said last.
func (m *model) greet() {
	style, f := m.o.Style, m.facts
	window := "window unknown"
	if f.Window > 0 {
		window = "window " + render.Amount(f.Window)
	}
	m.last = blockReply
	m.print(style.Bold(fit("tureen chat", m.textWidth())))
	m.printStyled(style.Faint, wrap(clean(fmt.Sprintf("session %s · profile %s · strategy %s · model %s · %s", f.ID, f.Profile, f.Strategy, f.Model, window)), m.textWidth()))
	m.recall()
	if f.Archived {
		m.archived(true)
	}
	for _, q := range f.Open {
		m.asked[q.ID] = q
		m.ask(m.lateBox(q))
	}
}

// recall shows where a session that is resumed stands: the last words of the person
// and the last answer. What the person said before can be had with Up.
func (m *model) recall() {
	var said, answer string
	turns := 0
	for _, e := range m.facts.Past {
		switch e.Kind {
		case session.KindMessageUser:
			with(e, func(p session.Message) {
				if p.Message != nil && (p.Source == session.SourceOwner || p.Source == session.SourceSteer) {
					said, answer = clean(p.Message.Text()), ""
					m.history.add(p.Message.Text())
					turns++
				}
			})
		case session.KindMessageAssistant:
			with(e, func(p session.Assistant) {
				if p.Message != nil && p.Message.Text() != "" {
					answer = clean(p.Message.Text())
				}
			})
		}
	}
	if turns == 0 {
		return
	}
	if turns > 1 {
		m.notice(m.o.Style.Faint, "· ", fmt.Sprintf("%s before this one; tureen session export --format md %s has all", render.Count(turns-1, "message"), m.facts.ID))
	}
	m.block(blockUser)
	m.printStyled(m.o.Style.Cyan, indented("› ", said, m.textWidth()))
	if answer != "" {
		m.block(blockAnswer)
		rows := wrap(answer, m.textWidth())
		if len(rows) > recallRows {
			m.print(m.o.Style.Faint(fmt.Sprintf("… %d rows before", len(rows)-recallRows)))
			rows = rows[len(rows)-recallRows:]
		}
		m.print(rows...)
	}
}
