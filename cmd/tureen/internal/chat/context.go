package chat

import (
	"fmt"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// breakdown is what /context says: the meter, and what the context is made of. The
// parts are estimates; the meter may be the endpoint's own count.
func breakdown(meter session.Meter, outline session.Outline, width int) string {
	text := render.Meter(meter) + fmt.Sprintf(", %s; window %d, %s", source(meter.Source), meter.Ordinal, render.Count(meter.Compactions, "compaction"))
	if drawn := render.Bar(meter, min(40, width), render.Style{}); drawn != "" {
		text = drawn + "\n" + text
	}
	if meter.ResetAt > 0 {
		text += fmt.Sprintf("\n%s left before the line", render.Amount(max(0, meter.ResetAt-meter.Measured)))
	}
	type group struct{ count, tokens int }
	groups := map[string]*group{}
	system := 0
	for i, n := range outline.Nodes {
		name := groupOf(n)
		if i == 0 && n.Role == llm.RoleSystem {
			system = n.Tokens
		}
		if groups[name] == nil {
			groups[name] = &group{}
		}
		groups[name].count++
		groups[name].tokens += n.Tokens
	}
	table := [][]string{{"part (estimated)", "messages", "tokens"}}
	if tools := meter.Fixed - system; tools > 0 {
		table = append(table, []string{"tool declarations", "", render.Amount(tools)})
	}
	for _, name := range groupNames {
		if g := groups[name]; g != nil {
			table = append(table, []string{name, fmt.Sprint(g.count), render.Amount(g.tokens)})
		}
	}
	return text + "\n" + columns(table)
}

func source(name string) string {
	if name == "usage" {
		return "counted by the endpoint"
	}
	return "estimated"
}

// groupNames are the parts of a context in the order in which they are told.
var groupNames = []string{"system prompt", "checkpoint", "your messages", "host and plugins", "answers", "tool results"}

func groupOf(n session.Node) string {
	switch {
	case n.Role == llm.RoleSystem:
		return "system prompt"
	case n.Role == llm.RoleAssistant:
		return "answers"
	case n.Role == llm.RoleTool:
		return "tool results"
	case n.Source == session.SourceCheckpoint:
		return "checkpoint"
	case n.Source == session.SourceOwner, n.Source == session.SourceSteer:
		return "your messages"
	}
	return "host and plugins"
}
