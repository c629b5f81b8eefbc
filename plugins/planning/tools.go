package planning

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

//go:embed tools.json
var toolSchemas []byte

// schemas are the argument schemas by tool.
var schemas = func() map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(toolSchemas, &all); err != nil {
		panic(fmt.Sprintf("planning: tools.json: %v", err))
	}
	return all
}()

// toolTodo is the tool whose calls alone are no work.
const toolTodo = "todo_write"

// decisionTime is how long the person may look at a plan.
const decisionTime = 24 * time.Hour

// Tools lists the tools; they are the same in every session and every mode (SP8).
func (p *Planner) Tools(context.Context, string) ([]tool.Spec, error) {
	specs := []tool.Spec{
		{Name: toolTodo, GuidanceOrder: 1300,
			Description: "Store the list of what is to be done, whole each time, so that it outlives the conversation above it. Write one item for each concrete step before you begin, " +
				"set what you are at to in_progress, and set each to completed as soon as it is done.",
			Guidance: "For work of several steps keep the list of todo_write up to date; for a single step leave it."},
		{Name: "create_goal", GuidanceOrder: 1310,
			Description: "Set a goal: the session goes on by itself, round after round, until it is reached. For work that takes many turns, when the person asks for such a thing in this turn, in whatever words; not for what one turn can do. Only one goal at a time."},
		{Name: "get_goal", Description: "Show the goal: its objective, phase and rounds, and whether rounds follow by themselves (armed)."},
		{Name: "update_goal",
			Description: "Change the goal. complete: all of it is reached, with the evidence. blocked: it cannot go on, with the reason; from round 3 on. pause: no rounds for now, where the person wants that, or from round 3 on with the reason. edit: another objective, where the person wants it. Only the person resumes a goal."},
		{Name: "exit_plan_mode", Timeout: decisionTime,
			Description: "Only in plan mode: show the person the finished plan and wait until they approve it, which ends plan mode, or want it changed."},
	}
	for i := range specs {
		specs[i].Schema = schemas[specs[i].Name]
	}
	return specs, nil
}

// Call runs one tool.
func (p *Planner) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	switch call.Name {
	case toolTodo:
		return toolcall.Run(ctx, call, p.todoWrite), nil
	case "create_goal":
		return toolcall.Run(ctx, call, p.createGoal), nil
	case "get_goal":
		return toolcall.Run(ctx, call, p.getGoal), nil
	case "update_goal":
		return toolcall.Run(ctx, call, p.updateGoal), nil
	case "exit_plan_mode":
		return p.exitPlanMode(ctx, call)
	}
	return tool.Result{}, fmt.Errorf("plugin %q has no tool %q", Name, call.Name)
}
