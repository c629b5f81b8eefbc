package planning

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// maxPlan bounds a plan, in code points.
const maxPlan = 20_000

// What the person is asked about a plan.
const (
	askPlan     = "Approve this plan and leave plan mode?"
	labelGo     = "Approve"
	labelRevise = "Keep planning"
)

// textPlanMode is guidance: no tool is taken away, so that the request stays the
// same for the model's cache (SP8).
const textPlanMode = "Plan mode is on. Look at whatever you need with tools that only read, and work out a plan; change nothing: no files, no commits, no commands with lasting effects, however small. " +
	"When the plan is ready, hand it over in full with exit_plan_mode, with the files that it touches, the steps in order and how each will be checked; the person approves it or wants it changed. " +
	"If you need to know something first, ask. Plan mode lasts until a message says that it is over."

// What the model is told, at the next step, of a switch by the person.
const (
	noticePlanOn  = "The person switched plan mode on: from now on look and plan, and change nothing."
	noticePlanOff = "The person switched plan mode off: you may change things again."
)

// What the model reads of the person's answer.
const (
	textApproved   = "The person approved the plan, and plan mode is over. Carry it out, beginning with your next step."
	textRevise     = "the person wants the plan changed, and plan mode stays on. Revise it and hand it over again with exit_plan_mode"
	textUndecided  = "Error: the person did not decide about the plan, so plan mode stays on and the turn ends here. Wait for their word."
	textNobody     = "Error: nobody is there who could approve the plan, so plan mode stays on and the turn ends here. The person finds the plan in the session, and goes on with /plan off or with a word about it."
	textNoPlanMode = "plan mode is off, so there is nothing to leave; go on with the work"
)

// planMode is the record of the mode (P2).
type planMode struct {
	On bool `json:"on"`
}

func (d *desk) setPlan(ctx context.Context, on bool) error {
	next := planMode{On: on}
	if err := d.put(ctx, recordPlan, next); err != nil {
		return err
	}
	d.plan = next
	return nil
}

// exitPlanMode shows the person a plan and waits for what they say. The desk is not
// locked meanwhile.
func (p *Planner) exitPlanMode(ctx context.Context, call tool.Call) (tool.Result, error) {
	var answer session.Answer
	result := toolcall.Run(ctx, call, func(ctx context.Context, call tool.Call, args struct {
		Plan string `json:"plan"`
	}) (string, error) {
		plan := strings.TrimSpace(tool.Clean(args.Plan))
		if n := utf8.RuneCountInString(plan); n == 0 || n > maxPlan {
			return "", toolcall.Errorf("BAD_PLAN", "the plan has %d characters; write one of at most %d", n, maxPlan)
		}
		d, unlock, err := p.sit(ctx, call.Session)
		if err != nil {
			return "", err
		}
		on := d.plan.On
		unlock()
		if !on {
			return "", toolcall.Errorf("NOT_PLANNING", textNoPlanMode)
		}
		answer, err = d.access.Ask(ctx, session.Question{CallID: call.ID, Text: askPlan, Detail: plan, Options: []session.Option{
			{Label: labelGo, Description: "the agent carries the plan out"}, {Label: labelRevise, Description: "the agent revises the plan"}}}, 0)
		if errors.Is(err, sdk.ErrDenied) {
			answer, err = session.Answer{Outcome: session.OutcomeUnavailable}, nil
		}
		if err != nil {
			return "", err
		}
		return p.decided(ctx, call.Session, answer)
	})
	if answer.Outcome == session.OutcomePending || answer.Outcome == session.OutcomeUnavailable {
		if err := p.planWaits(ctx, call); err != nil {
			return tool.Result{}, err
		}
	}
	switch answer.Outcome {
	case session.OutcomeDeclined, session.OutcomePending:
		return tool.Result{Text: textUndecided, IsError: true, Code: "NOT_APPROVED", Effects: []tool.Effect{tool.EffectConcludeTurn}}, nil
	case session.OutcomeUnavailable:
		return tool.Result{Text: textNobody, IsError: true, Code: "NO_PERSON", Effects: []tool.Effect{tool.EffectConcludeTurn}}, nil
	}
	return result, nil
}

// planWaits takes note of the turn in which a plan was handed over and not decided
// about.
func (p *Planner) planWaits(ctx context.Context, call tool.Call) error {
	d, unlock, err := p.sit(ctx, call.Session)
	if err != nil {
		return err
	}
	defer unlock()
	d.planned = call.Turn
	return nil
}

// decided leaves plan mode where the answer is yes.
func (p *Planner) decided(ctx context.Context, session string, answer session.Answer) (string, error) {
	said := ""
	if text := strings.TrimSpace(answer.Text); text != "" {
		said = " They said: " + clip(text)
	}
	if !answer.Chose(labelGo) {
		return "", toolcall.Errorf("NOT_APPROVED", "%s.%s", textRevise, said)
	}
	d, unlock, err := p.sit(ctx, session)
	if err != nil {
		return "", err
	}
	defer unlock()
	return textApproved + said, d.setPlan(ctx, false)
}
