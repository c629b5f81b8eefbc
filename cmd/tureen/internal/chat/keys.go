package chat

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/session"
)

const (
	// settle is how long nobody may have typed before a question takes the keys.
	settle = 700 * time.Millisecond
	// twice is how soon the second Ctrl-C must follow to leave.
	twice = 3 * time.Second
)

// press handles a key.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	name, text := k.String(), k.Text
	if k.Code == tea.KeyKpEnter {
		name = strings.TrimSuffix(k.Keystroke(), "kpenter") + "enter"
	}
	armed := m.armed
	m.armed, m.hint = time.Time{}, ""
	switch name {
	case "ctrl+c":
		return m.interrupt(armed)
	case "ctrl+z": // a process that nobody can continue must not stop
		m.hint = "Ctrl-D leaves; tureen chat --resume " + m.facts.ID + " goes on"
		return nil
	case "ctrl+l":
		return tea.ClearScreen
	}
	if len(m.boxes) > 0 {
		if m.boxes[0].focus {
			if answer, done := m.boxes[0].press(name, text); done {
				m.answerFirst(answer)
			}
			return nil
		}
		if name == "tab" && len(m.completions()) == 0 {
			m.boxes[0].focus = true
			return nil
		}
	}
	m.typed = m.o.Now()
	return m.typing(name, text)
}

// typing handles a key of the input.
func (m *model) typing(name, text string) tea.Cmd {
	switch name {
	case "enter":
		return m.enter(false)
	case "alt+enter":
		return m.enter(true)
	case "esc":
		return m.escape()
	case "tab":
		m.complete()
		return nil
	case "ctrl+d":
		if m.edit.empty() {
			return m.quit(nil)
		}
	case "up", "ctrl+p":
		if !m.edit.up() {
			if older, ok := m.history.older(m.edit.value()); ok {
				m.edit.set(older)
			}
		}
		return nil
	case "down", "ctrl+n":
		if !m.edit.down() {
			if newer, ok := m.history.newer(); ok {
				m.edit.set(newer)
			}
		}
		return nil
	}
	if !m.edit.key(name) && text != "" && !m.edit.insert(text) {
		m.hint = tooLong
	}
	return nil
}

const tooLong = "the message has 3 MiB, which is the most: write the rest to a file and name it"

// paste takes pasted text: never a key.
func (m *model) paste(text string) {
	m.hint = ""
	to := &m.edit
	if len(m.boxes) > 0 && m.boxes[0].focus {
		if !m.boxes[0].free() {
			return
		}
		m.boxes[0].writing = true
		to = &m.boxes[0].text
	} else {
		m.typed = m.o.Now()
	}
	if !to.paste(text) {
		m.hint = tooLong
	}
}

// enter sends the input: to the running turn, or, later, to the next one.
func (m *model) enter(later bool) tea.Cmd {
	text := m.edit.value()
	if strings.TrimSpace(text) == "" || m.closing {
		return nil
	}
	m.edit.clear()
	m.typed = time.Time{}
	m.history.add(text)
	if name, arguments, ok := command.Parse(text); ok {
		return m.slash(name, arguments)
	}
	if m.turn && !later {
		m.send(func(s Session) error { return s.Steer(m.ctx, text) }, text)
	} else {
		m.send(func(s Session) error { return s.Prompt(m.ctx, text) }, text)
	}
	return nil
}

// escape ends what runs, or clears the input. A wait ends only where there is
// nothing to clear.
func (m *model) escape() tea.Cmd {
	if m.turn || m.compacting || m.waiting != "" && m.edit.empty() {
		return m.cancel()
	}
	m.edit.clear()
	m.history.at = len(m.history.entries)
	m.focusBox()
	return nil
}

// interrupt is Ctrl-C: once it ends what runs, twice it leaves.
func (m *model) interrupt(armed time.Time) tea.Cmd {
	now := m.o.Now()
	if !armed.IsZero() && now.Sub(armed) < twice {
		return m.quit(nil)
	}
	m.armed, m.hint = now, "Ctrl-C again leaves; the session is kept"
	if m.busy() && !m.closing {
		return m.cancel()
	}
	m.edit.clear()
	return nil
}

func (m *model) cancel() tea.Cmd {
	s := m.session
	return guarded(func() tea.Msg {
		s.Cancel()
		return nil
	})
}

// quit leaves once everything is printed. Questions are declined.
func (m *model) quit(err error) tea.Cmd {
	if m.err == nil {
		m.err = err
	}
	m.quitting = true
	for len(m.boxes) > 0 {
		m.answerFirst(session.Answer{Outcome: session.OutcomeDeclined})
	}
	return nil
}
