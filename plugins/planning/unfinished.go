package planning

import (
	"cmp"
	"fmt"
	"strings"
)

// Bounds of what is told of something unfinished, in code points.
const (
	maxHead   = 80  // of the objective
	maxReason = 200 // of why it stopped
	maxCode   = 40  // of how a guard ended a turn
)

// textPlanWaits is told where a plan was handed over and nobody decided.
const textPlanWaits = "the plan waits for the person: /plan off, or a word about it, goes on"

// unfinished names what was begun in this process and has stopped without being
// reached: a goal that was armed here, and the plan of the newest turn; "" for
// nothing. What the person stopped themselves is not told.
func (d *desk) unfinished(turn int) string {
	var left []string
	if d.plan.On && d.planned > 0 && d.planned == turn {
		left = append(left, textPlanWaits)
	}
	if g := d.goal.Now; g.unfinished() && g.ID == d.begun && g.Reason != ReasonPerson {
		if how := d.halted(); how != "" {
			left = append(left, fmt.Sprintf("goal %s %q %s", g.ID, head(g.Objective, maxHead), how))
		}
	}
	return strings.Join(left, "; ")
}

// halted says how the goal came to a halt and how it goes on.
func (d *desk) halted() string {
	const resume = "; /goal resume goes on"
	g := d.goal.Now
	why := head(cmp.Or(g.Detail, g.Reason), maxReason)
	switch {
	case g.Reason == ReasonAgent && g.Detail == "":
		return fmt.Sprintf("is %s after round %d by the agent%s", g.Phase, g.RoundsStarted, resume)
	case g.Reason == ReasonAgent:
		return fmt.Sprintf("is %s after round %d, as the agent says: %s%s", g.Phase, g.RoundsStarted, why, resume)
	case g.Phase != PhaseActive:
		return fmt.Sprintf("is %s after round %d: %s%s", g.Phase, g.RoundsStarted, why, resume)
	case !d.drive.armed:
		return fmt.Sprintf("stopped after round %d: %s%s", g.RoundsStarted, cmp.Or(d.drive.dropped, "no round follows by itself"), resume)
	case d.drive.held:
		return "waits for the answer to a question"
	case d.plan.On:
		return "waits until plan mode is off; /plan off goes on"
	}
	return ""
}
