package planning

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// goalTools only look after the goal: to call them is no progress.
var goalTools = []string{"create_goal", "get_goal", "update_goal"}

// minBlockedRounds is the round from which the agent may give up.
const minBlockedRounds = 3

// What the model reads after its own change of a goal.
const (
	textCreated = "Goal %s is set. Begin with it now. When your turn ends and the goal is still open, another round follows by itself, up to %d. " +
		"Close it with update_goal, action complete, once you have evidence that all of it is reached."
	textEdited = "Goal %s is changed. Its objective is now: %s"
	textPaused = "Goal %s is paused, and no round follows until the person resumes it. End your turn: say where the work stands and why you paused."
	textDone   = `Goal %s is complete; no further round follows.
Its objective was: %s
Now write the last message of this work to the person, and call no more tools. Say what came of it, what you checked and how, and where the results are: files, commits, whatever else there is. Name what they should look at or do next. Report only what results in this session show; where something was not looked at, say that instead of guessing. What comes next is for the person to say.`
	textBlocked = `Goal %s is blocked; no further round follows.
Its objective is: %s
Now write to the person, and call no more tools. Say what is done, what exactly stands in the way, what you tried, and what precisely you need from them to go on.`
)

func (p *Planner) createGoal(ctx context.Context, call tool.Call, args struct {
	Objective string `json:"objective"`
}) (string, error) {
	objective, err := goalText("objective", args.Objective)
	if err != nil {
		return "", err
	}
	d, unlock, err := p.sit(ctx, call.Session)
	if err != nil {
		return "", err
	}
	defer unlock()
	if d.parent != "" {
		return "", toolcall.Errorf("NOT_ALLOWED", "a subagent has no goals; work at your task, and say in your last answer what is left of it")
	}
	if err := d.asPersonAsked(ctx, call.Turn); err != nil {
		return "", err
	}
	if g := d.goal.Now; g.unfinished() {
		return "", toolcall.Errorf("GOAL_EXISTS", "goal %s is %s and stands in the way: %s. Complete or edit it with update_goal, or ask the person for /goal clear", g.ID, g.Phase, g.quoted())
	}
	if err := d.setGoal(ctx, d.goal.Now.next(objective, p.config.MaxRounds)); err != nil {
		return "", err
	}
	d.arm()
	d.drive.spoken = call.Turn
	return fmt.Sprintf(textCreated, d.goal.Now.ID, d.goal.Now.MaxRounds), nil
}

// asPersonAsked refuses what only the person may set going.
func (d *desk) asPersonAsked(ctx context.Context, turn int) error {
	spoken, err := d.spokenTo(ctx, turn)
	if err == nil && !spoken {
		err = toolcall.Errorf("NOT_ALLOWED", "the person said nothing in this turn, and only on their word may a goal be set or changed. Go on without, or suggest it in your answer: they can type /goal OBJECTIVE")
	}
	return err
}

func (p *Planner) getGoal(ctx context.Context, call tool.Call, _ struct{}) (string, error) {
	d, unlock, err := p.sit(ctx, call.Session)
	if err != nil {
		return "", err
	}
	defer unlock()
	var out struct {
		Goal  *Goal `json:"goal"`
		Armed bool  `json:"armed"`
	}
	if g := d.goal.Now; g.exists() {
		out.Goal, out.Armed = &g, d.driven()
	}
	b, err := json.Marshal(out)
	return string(b), err
}

type updateArgs struct {
	Action    string `json:"action"`
	Objective string `json:"objective"`
	Evidence  string `json:"evidence"`
	Reason    string `json:"reason"`
}

func (p *Planner) updateGoal(ctx context.Context, call tool.Call, args updateArgs) (string, error) {
	d, unlock, err := p.sit(ctx, call.Session)
	if err != nil {
		return "", err
	}
	defer unlock()
	switch g := d.goal.Now; {
	case !g.exists():
		return "", toolcall.Errorf("NO_GOAL", "this session has no goal; go on with what the person asked for")
	case g.Phase == PhaseComplete:
		return "", toolcall.Errorf("GOAL_COMPLETE", "goal %s is complete already; what comes next is for the person to say", g.ID)
	}
	switch args.Action {
	case "edit":
		return d.edit(ctx, call, args.Objective)
	case "pause":
		return d.pause(ctx, call, args.Reason)
	case "complete":
		return d.complete(ctx, args.Evidence)
	case "blocked":
		return d.block(ctx, args.Reason)
	case "resume":
		return "", toolcall.Errorf("NOT_ALLOWED", "only the person resumes a goal, with /goal resume")
	}
	return "", toolcall.Errorf("BAD_GOAL", "there is no action %q; it is edit, pause, complete or blocked", args.Action)
}

func (d *desk) edit(ctx context.Context, call tool.Call, objective string) (string, error) {
	objective, err := goalText("objective", objective)
	if err == nil {
		err = d.asPersonAsked(ctx, call.Turn)
	}
	if err != nil {
		return "", err
	}
	g := d.goal.Now
	g.Objective = objective
	return fmt.Sprintf(textEdited, g.ID, g.quoted()), d.setGoal(ctx, g)
}

// pause stops the rounds on the person's word; without one it is as late as giving
// up, and needs a reason as that does.
func (d *desk) pause(ctx context.Context, call tool.Call, reason string) (string, error) {
	g := d.goal.Now
	if g.Phase != PhaseActive {
		return "", toolcall.Errorf("NOT_ACTIVE", "goal %s is %s, so there is nothing to pause", g.ID, g.Phase)
	}
	spoken, err := d.spokenTo(ctx, call.Turn)
	switch {
	case err != nil:
		return "", err
	case !spoken && g.RoundsStarted < minBlockedRounds:
		return "", toolcall.Errorf("TOO_EARLY", "the person said nothing in this turn, and without their word a goal can be paused from round %d on; this is round %d. Go on with the work: take the next step with a tool call, and if one way is closed try another", minBlockedRounds, g.RoundsStarted)
	case !spoken || strings.TrimSpace(reason) != "":
		if reason, err = goalText("reason", reason); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf(textPaused, g.ID), d.setGoal(ctx, g.stopped(PhasePaused, ReasonAgent, reason))
}

func (d *desk) complete(ctx context.Context, evidence string) (string, error) {
	evidence, err := goalText("evidence", evidence)
	if err != nil {
		return "", err
	}
	g := d.goal.Now.stopped(PhaseComplete, "", "")
	g.Evidence = evidence
	return fmt.Sprintf(textDone, g.ID, g.quoted()), d.setGoal(ctx, g)
}

func (d *desk) block(ctx context.Context, reason string) (string, error) {
	reason, err := goalText("reason", reason)
	g := d.goal.Now
	switch {
	case err != nil:
		return "", err
	case g.Phase != PhaseActive:
		return "", toolcall.Errorf("NOT_ACTIVE", "goal %s is %s, not active", g.ID, g.Phase)
	case g.RoundsStarted < minBlockedRounds:
		return "", toolcall.Errorf("TOO_EARLY", "a goal can be blocked from round %d on, and this is round %d. Try another way; if the person is needed for a part, do the rest first", minBlockedRounds, g.RoundsStarted)
	}
	return fmt.Sprintf(textBlocked, g.ID, g.quoted()), d.setGoal(ctx, g.stopped(PhaseBlocked, ReasonAgent, reason))
}
