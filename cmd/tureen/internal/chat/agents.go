package chat

import (
	"fmt"
	"slices"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

// maxAgents is how many running subagents are shown; the others are counted.
const maxAgents = 4

// subagent is one that works.
type subagent struct {
	id, label string
	word      string // what it did last
}

func (m *model) childSpawned(p session.ChildSpawned) {
	a := subagent{id: p.ID, label: oneLine(p.Label, 60)}
	if a.label == "" {
		a.label = oneLine(p.ID, 30)
	}
	m.agents = append(m.forget(p.ID), a)
	m.notice(m.o.Style.Faint, "· ", "agent "+a.label+" works on its task")
}

func (m *model) childSettled(p session.ChildSettled) {
	name := oneLine(p.ID, 30)
	if i := slices.IndexFunc(m.agents, func(a subagent) bool { return a.id == p.ID }); i >= 0 {
		name = m.agents[i].label
	}
	m.agents = m.forget(p.ID)
	text := fmt.Sprintf("agent %s: %s", name, p.Reason)
	if p.Text != "" {
		text += ": " + oneLine(p.Text, 160)
	}
	m.notice(m.o.Style.Faint, "· ", text)
}

func (m *model) forget(id string) []subagent {
	return slices.DeleteFunc(m.agents, func(a subagent) bool { return a.id == id })
}

// agentNote takes a word of a subagent and tells whether it is one's.
func (m *model) agentNote(source, text string) bool {
	for i, a := range m.agents {
		if name := oneLine(source, 80); name == "subagent "+a.label || name == "subagent "+a.id {
			m.agents[i].word = oneLine(text, 200)
			return true
		}
	}
	return false
}

// agentRows are the rows of the subagents that work.
func (m *model) agentRows() []string {
	var rows []string
	for i, a := range m.agents {
		if i == maxAgents {
			return append(rows, m.o.Style.Faint("  and "+render.Count(len(m.agents)-i, "more agent")))
		}
		text := "agent " + a.label
		if a.word != "" {
			text += " · " + a.word
		}
		rows = append(rows, m.o.Style.Faint(fit(m.spinner()+" "+text, m.textWidth())))
	}
	return rows
}
