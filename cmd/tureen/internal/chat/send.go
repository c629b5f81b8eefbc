package chat

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tureen-host/tureen/host/session"
)

// send queues a message to the session. Messages arrive in the order in which they
// were sent.
func (m *model) send(do func(Session) error, text string) { m.sends = append(m.sends, send{do, text}) }

// next sends the first message that waits.
func (m *model) next() tea.Cmd {
	if m.sending || len(m.sends) == 0 || m.closing {
		return nil
	}
	m.sending = true
	do, s := m.sends[0].do, m.session
	return guarded(func() tea.Msg { return sentMsg{do(s)} })
}

// sent takes how the first message fared. What could not be sent is given back.
func (m *model) sent(err error) {
	text := m.sends[0].text
	m.sends, m.sending = m.sends[1:], false
	if err == nil || m.quitting {
		return
	}
	m.refused(err)
	if text != "" && m.edit.empty() {
		m.edit.set(text)
	}
}

// work has the session do something and prints what it says.
func (m *model) work(do func(Session) (string, error)) tea.Cmd {
	s := m.session
	return guarded(func() tea.Msg {
		text, err := do(s)
		return replyMsg{text: text, err: err}
	})
}

// guarded is a command whose panic ends the chat in good order.
func guarded(do func() tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = failMsg{fmt.Errorf("the chat failed: %v\n%s", r, debug.Stack())}
			}
		}()
		return do()
	}
}

func (m *model) replied(r replyMsg) {
	if r.err != nil {
		m.refused(r.err)
		return
	}
	m.reply(r.text)
}

// failureOf puts an error into the form in which failures are shown.
func failureOf(err error) session.Failure {
	var own interface{ ChatFailure() session.Failure }
	if errors.As(err, &own) {
		return own.ChatFailure()
	}
	message, hint := err.Error(), ""
	if at := strings.LastIndex(message, "; "); at >= 0 && !strings.Contains(message, "\n") {
		message, hint = message[:at], message[at+2:]
	}
	return session.Failure{Message: message, Hint: hint}
}
