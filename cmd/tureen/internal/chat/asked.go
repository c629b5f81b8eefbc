package chat

import (
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// ask takes a question. It gets the keys at once only where the person is not
// typing: a key that was meant for the input must not approve anything.
func (m *model) ask(b *box) {
	m.boxes = append(m.boxes, b)
	if c := m.calls[b.q.CallID]; b.q.Kind == session.QuestionApproval && b.q.Detail == "" && c.Name != "" {
		b.q.Detail = c.Name + " " + c.Arguments
	}
	if b.q.Detail != "" {
		if rows := wrap(clean(b.q.Detail), m.textWidth()-2); len(rows) > detailRows {
			m.block(blockReply)
			m.printStyled(m.o.Style.Bold, indented("? ", clean(b.q.Text), m.textWidth()))
			for _, row := range rows {
				m.print("  " + row)
			}
		}
	}
	m.focusBox()
}

// focusBox gives the first question the keys where nobody is typing.
func (m *model) focusBox() {
	if len(m.boxes) > 0 && m.edit.empty() && m.o.Now().Sub(m.typed) >= settle {
		m.boxes[0].focus = true
	}
}

// answer ends the first question.
func (m *model) answerFirst(answer session.Answer) {
	b := m.boxes[0]
	m.boxes = m.boxes[1:]
	answer.ID = b.q.ID
	b.reply(answer)
	if len(m.boxes) > 0 { // the person is answering
		m.boxes[0].focus = b.focus
	}
}

// withdraw takes a question away that nobody waits for any more.
func (m *model) withdraw(gone func(*box) bool) {
	m.boxes = slices.DeleteFunc(m.boxes, gone)
	m.focusBox()
}

// questionAnswered tells what a question came to. One whose asker has gone on stays.
func (m *model) questionAnswered(a session.Answer) {
	q, known := m.asked[a.ID]
	if a.Outcome == session.OutcomePending {
		if known {
			m.ask(m.lateBox(q))
		}
		return
	}
	delete(m.asked, a.ID)
	m.withdraw(func(b *box) bool { return b.late && b.q.ID == a.ID })
	if !known {
		return
	}
	said := strings.Join(append(slices.Clone(a.Choices), a.Text), "; ")
	if said = strings.Trim(said, "; "); a.Outcome != session.OutcomeAnswered {
		said = string(a.Outcome)
	}
	text, _, _ := strings.Cut(strings.TrimSpace(q.Text), "\n")
	m.notice(m.o.Style.Faint, "? ", oneLine(text, 160)+" → "+oneLine(said, 160))
}

// lateBox is a question whose answer becomes a message.
func (m *model) lateBox(q session.Question) *box {
	return newBox(m.o.key(), q, true, func(a session.Answer) { m.send(func(s Session) error { return s.Answer(m.ctx, a) }, "") })
}
