package planning

import (
	"context"

	"github.com/tureen-host/tureen/host/hook"
)

// nudgeHead begins each reminder; by it the log is asked how many there were.
const nudgeHead = "Your turn is about to end, and the todo list has open items:"

const nudgeTail = "Go on with the next one now, with tool calls rather than with an announcement. Where something is done already, mark it with todo_write. " +
	"Where something cannot or need not be done, say why, and take it off the list or tell the person what you need."

// TurnStopping keeps a turn open that would end with open todos (P1): not while
// the person is being asked or a subagent works, not where the goal driver or plan
// mode has the say, and only so often in a row.
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
	said, cut, err := d.nudged(ctx)
	if err != nil || cut || said >= p.config.Nudges {
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
