package chat

import "strings"

// keysHelp is what the keys do.
var keysHelp = [][2]string{
	{"Enter", "sends; while the agent works, it reads your words at its next step"},
	{"Alt-Enter", "sends for the next turn"},
	{"Shift-Enter", "a new line, as Ctrl-J is"},
	{"Esc", "ends the step under way and keeps what waits; else clears the input"},
	{"Up, Down", "what you sent before"},
	{"Tab", "completes a command, or goes to a question"},
	{"Ctrl-C", "ends the step under way; twice it leaves, as Ctrl-D does on an empty input"},
}

// help lists keys and commands.
func (m *model) help() {
	m.block(blockReply)
	m.table(keysHelp)
	m.print("")
	var rows [][2]string
	for _, c := range m.commands() {
		rows = append(rows, [2]string{strings.TrimSpace("/" + c.Name + " " + oneLine(c.Usage, 60)), oneLine(c.Description, 300)})
	}
	m.table(rows)
}

// tableColumn is the most columns of the left side of a table.
const tableColumn = 26

// table prints rows of a name and what it means.
func (m *model) table(rows [][2]string) {
	left := 0
	for _, row := range rows {
		if n := cells(row[0]); n <= tableColumn {
			left = max(left, n)
		}
	}
	if left = min(left, m.textWidth()/2); m.textWidth() < 40 {
		left = 2 // one below the other
	}
	for _, row := range rows {
		name := "  " + row[0]
		if cells(row[0]) > left {
			m.print(wrap(name, m.textWidth())...)
			name = ""
		}
		m.print(indented(name+strings.Repeat(" ", max(0, left+4-cells(name))), row[1], m.textWidth())...)
	}
}
