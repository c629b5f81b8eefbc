package chat

import (
	"strings"

	"github.com/tureen-host/tureen/host/command"
)

const maxSuggestions = 6

// completions are the commands that the input may become.
func (m *model) completions() []command.Command {
	text := m.edit.value()
	if !strings.HasPrefix(text, "/") || strings.ContainsAny(text, " \n") {
		return nil
	}
	var found []command.Command
	for _, c := range m.commands() {
		if strings.HasPrefix(c.Name, text[1:]) {
			found = append(found, c)
		}
	}
	return found
}

// complete writes as much of a command as is certain.
func (m *model) complete() {
	found := m.completions()
	if len(found) == 0 {
		return
	}
	common := found[0].Name
	for _, c := range found[1:] {
		for !strings.HasPrefix(c.Name, common) {
			common = common[:len(common)-1]
		}
	}
	text := "/" + common
	if len(found) == 1 {
		text += " "
	}
	m.edit.set(text)
}

// suggestions are the rows under the input while a command is typed.
func (m *model) suggestions() []string {
	found := m.completions()
	var rows []string
	for i, c := range found {
		if i == maxSuggestions {
			rows = append(rows, m.o.Style.Faint("  …"))
			break
		}
		rows = append(rows, m.o.Style.Faint(fit("  /"+c.Name+"  "+oneLine(c.Description, 200), m.textWidth())))
	}
	return rows
}
