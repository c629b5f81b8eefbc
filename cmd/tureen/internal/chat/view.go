package chat

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

const (
	maxInputRows = 8
	maxQueueRows = 3
)

// View draws the live part, from the bottom up as far as there is room: the status,
// the input or a question, what waits, what runs, the end of the answer.
func (m *model) View() tea.View {
	rows, x, y := m.live()
	var v tea.View
	for i, row := range rows {
		if i > 0 {
			v.Content += "\n"
		}
		v.Content += row
	}
	if y >= 0 {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}

// live is the live part in rows, and where the cursor stands, y < 0 for nowhere.
func (m *model) live() (rows []string, x, y int) {
	if m.quitting {
		return nil, 0, -1
	}
	room := m.maxLive()
	below, x, y := m.below(room)
	if len(below) > room {
		cut := len(below) - room
		below, y = below[cut:], y-cut
	}
	above := m.above()
	if n := room - len(below); len(above) > n {
		above = above[len(above)-n:]
	}
	if y >= 0 {
		y += len(above)
	}
	return append(above, below...), x, y
}

// apart puts an empty row before rows, where there are any.
func apart(rows []string) []string {
	if len(rows) == 0 {
		return nil
	}
	return append([]string{""}, rows...)
}

// below is what the person works with.
func (m *model) below(room int) (rows []string, x, y int) {
	y = -1
	if len(m.boxes) > 0 {
		b := m.boxes[0]
		spare := 1 // the status
		if !b.focus {
			spare = 3
		}
		rows, x, y = b.rows(m, max(4, room-spare-1))
		if rows = apart(rows); y >= 0 {
			y++
		}
		if !b.focus {
			y = -1
		}
	}
	if len(m.boxes) == 0 || !m.boxes[0].focus {
		if len(rows) == 0 {
			rows = append(rows, "")
		}
		text, cx, cy := m.edit.rows(m.textWidth()-2, max(1, min(maxInputRows, room-len(rows)-1)))
		for i, row := range text {
			prompt := "  "
			if i == 0 {
				prompt = m.o.Style.Cyan("›") + " "
			}
			if m.edit.empty() {
				row = m.o.Style.Faint(fit(m.placeholder(), m.textWidth()-2))
			}
			rows = append(rows, prompt+row)
		}
		x, y = cx+2, len(rows)-len(text)+cy
		if left := room - len(rows) - 1; left > 0 {
			rows = append(rows, head(m.suggestions(), left)...)
		}
	}
	if m.hint != "" && room-len(rows) > 1 {
		rows = append(rows, m.o.Style.Yellow(fit(m.hint, m.textWidth())))
	}
	return append(rows, m.status()), x, y
}

func (m *model) placeholder() string {
	switch {
	case m.closing:
		return ""
	case m.turn:
		return "Enter: read at the next step · Alt-Enter: next turn · Esc: stop"
	}
	return "ask for something, or /help"
}

// above is what is under way.
func (m *model) above() []string {
	rows := append(m.toolRows(), m.agentRows()...)
	if m.waiting != "" && !m.turn {
		rows = append(rows, m.o.Style.Faint(fit(m.spinner()+" waiting for "+m.waiting, m.textWidth())))
	}
	if m.word != "" && m.busy() && len(m.tools) == 0 && (m.turn || m.waiting == "") {
		rows = append(rows, m.o.Style.Faint(fit("  "+m.word, m.textWidth())))
	}
	for i, q := range m.queue {
		if i == maxQueueRows {
			rows = append(rows, m.o.Style.Faint(fmt.Sprintf("  and %d more", len(m.queue)-i)))
			break
		}
		when := "next turn: "
		if q.steer {
			when = "next step: "
		}
		rows = append(rows, m.o.Style.Yellow(when)+fit(q.text, m.textWidth()-cells(when)))
	}
	return append(m.stream.alive(m), apart(rows)...)
}

func head(rows []string, n int) []string { return rows[:min(len(rows), n)] }
