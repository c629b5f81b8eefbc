package planning

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// What the model is told, at its next step, of what the person did with the goal.
const (
	noticePaused  = "The person paused goal %s. Bring what is under way into a safe state and end your turn; no round follows."
	noticeCleared = "The person took goal %s away. Bring what is under way into a safe state and do not go on with it, unless they ask for it."
	noticeEdited  = "The person changed the objective of goal %s. It is now: %s"
)

var errNoGoal = errors.New("there is no goal; set one with /goal OBJECTIVE")

// goalCommand shows the goal, or does with it what the person says.
func (p *Planner) goalCommand(ctx context.Context, d *desk, arguments string) (string, error) {
	if d.parent != "" {
		return "", errors.New("a subagent has no goal; set one in the session that it belongs to")
	}
	switch arguments {
	case "":
		return d.showGoal(), nil
	case "clear":
		return d.clearGoal(ctx)
	case "pause":
		return d.pauseGoal(ctx)
	case "resume":
		return p.resumeGoal(ctx, d)
	}
	if word, objective, _ := strings.Cut(arguments, " "); word == "edit" {
		return d.editGoal(ctx, objective)
	}
	return p.setGoal(ctx, d, arguments)
}

func (d *desk) showGoal() string {
	g := d.goal.Now
	if !g.exists() {
		return "There is no goal. /goal OBJECTIVE sets one."
	}
	text := g.String()
	switch {
	case d.driven():
		text += "\nIt is armed: rounds follow by themselves."
	case g.Phase != PhaseComplete:
		text += "\nIt is not armed: /goal resume lets rounds follow."
	}
	return text
}

// setGoal sets a new goal, arms it and begins its first round (P6).
func (p *Planner) setGoal(ctx context.Context, d *desk, objective string) (string, error) {
	objective, err := goalText("objective", objective)
	if err != nil {
		return "", err
	}
	if g := d.goal.Now; g.unfinished() {
		return "", fmt.Errorf("goal %s is %s already: %s. /goal edit OBJECTIVE changes it, /goal resume goes on with it, /goal clear takes it away", g.ID, g.Phase, g.quoted())
	}
	if err := d.setGoal(ctx, d.goal.Now.next(objective, p.config.MaxRounds)); err != nil {
		return "", err
	}
	d.arm()
	note, err := d.startRound(ctx)
	return fmt.Sprintf("Goal %s is set. %s", d.goal.Now.ID, note), err
}

// resumeGoal arms the goal again. One that had all of its rounds gets as many anew.
func (p *Planner) resumeGoal(ctx context.Context, d *desk) (string, error) {
	g := d.goal.Now
	switch {
	case !g.exists():
		return "", errNoGoal
	case g.Phase == PhaseComplete:
		return "", fmt.Errorf("goal %s is complete; set another with /goal OBJECTIVE", g.ID)
	case d.driven():
		return fmt.Sprintf("Goal %s is armed already: rounds follow by themselves.", g.ID), nil
	}
	if g.RoundsStarted >= g.MaxRounds {
		g.MaxRounds = g.RoundsStarted + p.config.MaxRounds
	}
	if next := g.stopped(PhaseActive, "", ""); next != d.goal.Now {
		if err := d.setGoal(ctx, next); err != nil {
			return "", err
		}
	}
	d.arm()
	note, err := d.startRound(ctx)
	return fmt.Sprintf("Goal %s goes on. %s", g.ID, note), err
}

func (d *desk) pauseGoal(ctx context.Context) (string, error) {
	g := d.goal.Now
	switch {
	case !g.exists():
		return "", errNoGoal
	case g.Phase != PhaseActive:
		return fmt.Sprintf("Goal %s is %s, so there is nothing to pause.", g.ID, g.Phase), nil
	}
	if err := d.setGoal(ctx, g.stopped(PhasePaused, ReasonPerson, "")); err != nil {
		return "", err
	}
	return fmt.Sprintf("Goal %s is paused. /goal resume goes on with it.", g.ID), d.access.Steer(ctx, fmt.Sprintf(noticePaused, g.ID), "", false)
}

func (d *desk) clearGoal(ctx context.Context) (string, error) {
	g := d.goal.Now
	if !g.exists() {
		return "", errNoGoal
	}
	if err := d.setGoal(ctx, Goal{ID: g.ID, Revision: g.Revision, Phase: PhaseCleared}); err != nil {
		return "", err
	}
	text := fmt.Sprintf("Goal %s is gone.", g.ID)
	if g.Phase == PhaseComplete {
		return text, nil
	}
	return text, d.access.Steer(ctx, fmt.Sprintf(noticeCleared, g.ID), "", false)
}

func (d *desk) editGoal(ctx context.Context, objective string) (string, error) {
	g := d.goal.Now
	switch {
	case !g.exists():
		return "", errNoGoal
	case g.Phase == PhaseComplete:
		return "", fmt.Errorf("goal %s is complete; set another with /goal OBJECTIVE", g.ID)
	}
	var err error
	if g.Objective, err = goalText("objective", objective); err != nil {
		return "", err
	}
	if err := d.setGoal(ctx, g); err != nil {
		return "", err
	}
	return fmt.Sprintf("Goal %s is changed; it is %s.", g.ID, g.Phase), d.access.Steer(ctx, fmt.Sprintf(noticeEdited, g.ID, g.quoted()), "", false)
}
