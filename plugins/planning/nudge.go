package planning

import (
	"context"

	"github.com/tureen-host/tureen/host/hook"
)

// nudgeHead begins each reminder; by it the log is asked how many there were.
const nudgeHead = "Your turn is about to end, and the todo list has open items:"

const nudgeTail = "Go on with the next one now, with tool calls rather than with an announcement. Where something is done already, mark it with todo_write. " +
	"Where something cannot or need not be done, say why, and take it off the list or tell the person what you need."

// TurnStopping keeps a turn open that would end with open todos (P1): only in a turn
// in which the agent worked, once for each list, and only so often in a row; not in
// the turn after one that the person stopped, not while they are asked or a subagent
// works, and not where the goal driver or plan mode has the say.
func (p *Planner) TurnStopping(ctx context.Context, at hook.Where) (hook.StopDecision, error) {
	d, unlock, err := p.sit(ctx, at.Session)
	if err != nil {
		return hook.StopDecision{}, err
	}
	defer unlock()
	left := open(d.todos.Now)
	if len(left) == 0 || d.plan.On || d.driven() {
		return hook.StopDecision{}, nil
	}
	n, err := d.nudged(ctx, at.Turn)
	if err != nil || n.cut || !n.worked || n.again || n.afterCancel || n.row >= p.config.Nudges {
		return hook.StopDecision{}, err
	}
	if asked, err := d.asked(ctx, at.Turn); err != nil || asked != "" {
		return hook.StopDecision{}, err
	}
	if waits, err := d.delegates(ctx); err != nil || waits {
		return hook.StopDecision{}, err
	}
	return hook.StopDecision{Continue: nudgeHead + "\n" + lines(left, maxListed) + "\n" + nudgeTail}, nil
}
