package chat

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// printedMsg tells that the rows last printed stand in the scrollback.
type printedMsg struct{}

// kinds of blocks in the scrollback. Blocks of different kinds have a line between
// them, as do answers and what the person said.
type blockKind int

const (
	blockNone blockKind = iota
	blockUser
	blockAnswer
	blockTool
	blockNotice
	blockReply
)

// block begins a block of rows.
func (m *model) block(kind blockKind) {
	if m.last != blockNone && (m.last != kind || kind == blockUser || kind == blockReply) {
		m.out = append(m.out, "")
	}
	m.last = kind
}

// print queues rows for the scrollback: each at most a line of the terminal.
func (m *model) print(rows ...string) { m.out = append(m.out, rows...) }

// printStyled queues plain rows in a style.
func (m *model) printStyled(style func(string) string, rows []string) {
	for _, row := range rows {
		m.print(style(row))
	}
}

// drain prints what is queued, a few rows at a time and one after the other: more
// than fits above the live part would push it off the screen.
func (m *model) drain() tea.Cmd {
	if m.printing || len(m.out) == 0 {
		return nil
	}
	n := min(len(m.out), max(1, m.height-m.maxLive()-1))
	text := strings.Join(m.out[:n], "\n")
	m.out = m.out[n:]
	m.printing = true
	if text == "" {
		text = " " // an empty text is not printed
	}
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printedMsg{} })
}

// maxLive is how many rows the live part may have.
func (m *model) maxLive() int { return max(2, m.height*2/3) }
