package planning

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
)

// drive is what the goal driver keeps in mind between two hooks. It is lost with
// the process, and with it that the goal is armed: nothing but a word of the person
// arms it again (P3).
type drive struct {
	armed   bool
	stalls  []string // what was wrong with each of the newest rounds that came to nothing
	round   int      // the turn of the newest round
	spoken  int      // the newest turn in which the person said something
	held    bool     // a question to the person is open, which a round would pass over
	advice  string   // for the next round, after a turn that was cut short
	dropped string   // why rounds do not follow any more, of an active goal
}

// arm lets rounds follow.
func (d *desk) arm() {
	d.drive = drive{armed: true}
	d.begun = d.goal.Now.ID
}

// driven tells whether rounds follow by themselves.
func (d *desk) driven() bool { return d.goal.Now.Phase == PhaseActive && d.drive.armed }

// BeforeStep takes note of what the next step shows: words of the person, which
// count as progress, and the message of a round, with which the round begins.
func (p *Planner) BeforeStep(ctx context.Context, at hook.Where, pending []hook.Pending) (hook.StepDecision, error) {
	if len(pending) == 0 {
		return hook.StepDecision{}, nil
	}
	d, unlock, err := p.sit(ctx, at.Session)
	if err != nil {
		return hook.StepDecision{}, err
	}
	defer unlock()
	var out hook.StepDecision
	for _, message := range pending {
		switch {
		case message.Source == session.SourceOwner || message.Source == session.SourceSteer:
			d.drive.spoken, d.drive.stalls, d.drive.held = at.Turn, nil, false
		case isRound(message.Text, message.Source, message.From):
			overdue, err := d.begin(ctx, at.Turn, message.Text)
			if err != nil {
				return hook.StepDecision{}, err
			}
			if overdue != "" {
				out.Inject = append(out.Inject, overdue)
			}
		}
	}
	return out, nil
}

// begin counts the round whose message is admitted. A message that was queued
// before the goal was stopped begins none; what the model is told then is returned.
func (d *desk) begin(ctx context.Context, turn int, text string) (overdue string, err error) {
	g := d.goal.Now
	id, round := roundOf(text)
	why := ""
	switch {
	case id != g.ID:
		why = "another goal took its place"
	case g.Phase != PhaseActive:
		why = "the goal is " + string(g.Phase)
	case !d.drive.armed:
		why = "the run was interrupted, and only the person lets rounds go on, with /goal resume"
	}
	if why != "" {
		return fmt.Sprintf(textOverdue, id, why), nil
	}
	d.drive.round = turn
	if round != g.RoundsStarted+1 {
		return "", nil // counted before a crash
	}
	g.RoundsStarted = round
	return "", d.setGoal(ctx, g)
}

// Idle begins the next round of an armed goal (P4), or names what has stopped
// without being reached. It is asked only while nothing else is owed, and asked again
// as long as something is waited for, so that it changes nothing but at the limit of
// rounds.
func (p *Planner) Idle(ctx context.Context, at hook.Where) (hook.IdleDecision, error) {
	d, unlock, err := p.sit(ctx, at.Session)
	if err != nil {
		return hook.IdleDecision{}, err
	}
	defer unlock()
	if g := d.goal.Now; d.driven() && !d.drive.held && !d.plan.On {
		if g.RoundsStarted < g.MaxRounds {
			return hook.IdleDecision{FollowUp: g.roundText(d.drive.advice)}, nil
		}
		if err := d.setGoal(ctx, g.stopped(PhaseBlocked, ReasonRoundLimit, fmt.Sprintf("its rounds are used up, all %d", g.MaxRounds))); err != nil {
			return hook.IdleDecision{}, err
		}
	}
	return hook.IdleDecision{Unfinished: d.unfinished(at.Turn)}, nil
}

// startRound queues the next round where the driver was armed by a command, which
// may come while nobody asks the idle hook.
func (d *desk) startRound(ctx context.Context) (note string, err error) {
	if d.plan.On {
		return "Plan mode is on: rounds begin once it is off (/plan off).", nil
	}
	if waits, err := d.roundWaits(ctx); err != nil || waits {
		return "A round waits in the inbox already.", err
	}
	g := d.goal.Now
	return fmt.Sprintf("Round %d of %d begins as soon as the agent is free.", g.RoundsStarted+1, g.MaxRounds), d.access.FollowUp(ctx, g.roundText(d.drive.advice), "goal-round")
}
