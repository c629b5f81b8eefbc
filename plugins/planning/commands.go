package planning

import (
	"context"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/command"
)

// usageGoal is what may follow /goal.
const usageGoal = "[OBJECTIVE | clear | edit OBJECTIVE | pause | resume]"

// Commands lists what the person may type (P6).
func (p *Planner) Commands(context.Context, string) ([]command.Command, error) {
	return []command.Command{
		{Name: "goal", Usage: usageGoal, Description: "set a goal that the session works at round after round, or show or change it"},
		{Name: "todo", Description: "show the todo list"},
		{Name: "plan", Usage: "[on | off | show]", Description: "plan mode: look and plan, change nothing until you approve the plan"},
	}, nil
}

// Run runs a command.
func (p *Planner) Run(ctx context.Context, session, name, arguments string) (string, error) {
	d, unlock, err := p.sit(ctx, session)
	if err != nil {
		return "", err
	}
	defer unlock()
	arguments = strings.TrimSpace(arguments)
	switch {
	case name == "goal":
		return p.goalCommand(ctx, d, arguments)
	case name == "plan":
		return d.planCommand(ctx, arguments)
	case name != "todo":
		return "", fmt.Errorf("plugin %q has no command /%s", Name, name)
	case arguments != "":
		return "", fmt.Errorf("/todo takes nothing after it, and there is %q; the agent writes the list", arguments)
	case len(d.todos.Now) == 0:
		return "The todo list is empty.", nil
	}
	return lines(d.todos.Now, maxTodos), nil
}

func (d *desk) planCommand(ctx context.Context, arguments string) (string, error) {
	on := arguments == "" || arguments == "on"
	state := map[bool]string{true: "Plan mode is on. The agent looks and plans; /plan off ends it.", false: "Plan mode is off. /plan on begins it."}
	switch {
	case arguments == "show" || on == d.plan.On && (on || arguments == "off"):
		return state[d.plan.On], nil
	case !on && arguments != "off":
		return "", fmt.Errorf("/plan %s: there is no such thing; write /plan on, /plan off or /plan show", arguments)
	}
	if err := d.setPlan(ctx, on); err != nil {
		return "", err
	}
	notice := noticePlanOff
	if on {
		notice = noticePlanOn
	}
	if err := d.access.Steer(ctx, notice, "", false); err != nil {
		return "", err
	}
	text := state[on]
	if !on && d.driven() {
		note, err := d.startRound(ctx)
		return text + " " + note, err
	}
	return text, nil
}
