package planning

import (
	"context"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/prompt"
)

// restateHead begins what a new window is told (K4).
const restateHead = "The todo list and the goal as they stood when this stretch of the conversation began; what was said about them before is no longer in view. " +
	"Where you or the person change them below, that counts instead."

const restateTail = "Keep the list up to date with todo_write."

// Bounds of a restated list.
const (
	maxRestated = 8000 // bytes of one that is restated word for word
	maxBrief    = 160  // code points of each item in one that is not
)

// Sections has none: nothing here may change within a window.
func (p *Planner) Sections(context.Context, string) ([]prompt.Section, error) { return nil, nil }

// Contexts restates, after a compaction, what the old window knew: the open todos
// and the goal, frozen as they were when the compaction was over, and plan mode
// while it is on (K4, P2).
func (p *Planner) Contexts(ctx context.Context, session string) ([]prompt.Context, error) {
	d, unlock, err := p.sit(ctx, session)
	if err != nil {
		return nil, err
	}
	defer unlock()
	m, err := d.access.Meter(ctx)
	if err != nil {
		return nil, err
	}
	contexts := []prompt.Context{{ID: "todo", Order: prompt.OrderWorkspace + 10, Own: true, Text: d.restated(m.Compactions)}}
	if d.plan.On {
		contexts = append(contexts, prompt.Context{ID: "plan", Order: prompt.OrderWorkspace + 20, Own: true, Text: textPlanMode})
	}
	return contexts, nil
}

// restated is the text for the window after so many compactions, "" for nothing to
// say. It stays the same, byte for byte, until the next one.
func (d *desk) restated(compactions int) string {
	todos, goal := d.todos.standing(compactions), d.goal.standing(compactions)
	var parts []string
	if goal.unfinished() {
		line := "Goal " + goal.ID + " (" + string(goal.Phase) + "): " + goal.quoted()
		if goal.Reason != "" {
			line += " (" + goal.Reason + ")"
		}
		parts = append(parts, line)
	}
	if len(open(todos)) > 0 {
		parts = append(parts, "Todo list:\n"+brief(todos), restateTail)
	}
	if len(parts) == 0 {
		return ""
	}
	return restateHead + "\n\n" + strings.Join(parts, "\n\n")
}

// brief lists todos in few enough words for a small window: where the list is long,
// without those that are completed and with the beginning of each.
func brief(todos []Todo) string {
	text := lines(todos, maxTodos)
	if len(text) <= maxRestated {
		return text
	}
	left := open(todos)
	for i, t := range left {
		if r := []rune(t.Content); len(r) > maxBrief {
			left[i].Content = string(r[:maxBrief-1]) + "…"
		}
	}
	text = lines(left, maxTodos)
	if n := len(todos) - len(left); n > 0 {
		text += fmt.Sprintf("\n(%d completed ones are left out)", n)
	}
	return text
}
