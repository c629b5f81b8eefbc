package policy

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
)

// The answers on offer.
const (
	optionOnce    = "Allow once"
	optionSession = "Allow for this session"
	optionDeny    = "Deny"
)

// reason is one thing to ask about. Key names exactly what an answer for the
// session is about.
type reason struct {
	why string
	key string
}

// finding is what the policy makes of a call before anybody is asked.
type finding struct {
	deny    string // the whole text
	reasons []reason
	subject string // what the question is about: "run this command"
	detail  string
	scope   string              // what an answer for the session is about, where it is more than this
	bound   session.Confinement // once it is allowed
}

// ask adds a reason. What is allowed for the session is the key for this reason.
func (f *finding) ask(why, key string) {
	f.reasons = append(f.reasons, reason{why, key + "\x00\x00" + why})
}

// BeforeTool decides about a call. With an Answer it decides afresh, so that an
// answer never lets through what has become forbidden meanwhile.
func (p *Provider) BeforeTool(_ context.Context, where hook.Where, call hook.ToolCall) (hook.ToolDecision, error) {
	at, ok := p.place(where.Session)
	if !ok {
		return hook.ToolDecision{}, fmt.Errorf("plugin %q: session %q was not opened", Name, where.Session)
	}
	f := p.judge(at, call)
	if f.deny != "" {
		return hook.ToolDecision{Deny: f.deny}, nil
	}
	var open []reason
	for _, r := range f.reasons {
		if !p.remembered(where.Session, r.key) {
			open = append(open, r)
		}
	}
	shown, was := p.take(where.Session, call.CallID)
	switch {
	case len(open) == 0:
		return hook.ToolDecision{Confinement: f.bound}, nil
	case p.never(at):
		return hook.ToolDecision{Deny: textNever(open, at.child)}, nil
	case call.Answer == nil:
		p.put(where.Session, call.CallID, shownBy(f, open))
		return hook.ToolDecision{Ask: question(f, open)}, nil
	case allows(*call.Answer) && (!was || !shown.covers(f, open)):
		return hook.ToolDecision{Deny: textChanged(f.subject)}, nil
	}
	return p.answered(where.Session, *call.Answer, f, open), nil
}

// allows tells whether a person's answer lets the call run.
func allows(a session.Answer) bool {
	return a.Outcome == session.OutcomeAnswered && !a.Chose(optionDeny) && (a.Chose(optionOnce) || a.Chose(optionSession))
}

// answered makes the decision of what the person said.
func (p *Provider) answered(id string, answer session.Answer, f finding, open []reason) hook.ToolDecision {
	switch {
	case answer.Outcome != session.OutcomeAnswered && answer.Outcome != session.OutcomeDeclined:
		return hook.ToolDecision{Deny: textNobody(open)}
	case answer.Chose(optionDeny):
	case answer.Chose(optionSession):
		var keys []string
		for _, r := range open {
			keys = append(keys, r.key)
		}
		p.remember(id, keys)
		return hook.ToolDecision{Confinement: f.bound}
	case answer.Chose(optionOnce):
		return hook.ToolDecision{Confinement: f.bound}
	}
	return hook.ToolDecision{Deny: textRefused(f.subject, answer.Text)}
}

// question puts a finding to the person.
func question(f finding, open []reason) *session.Question {
	scope := f.scope
	if scope == "" {
		scope = "exactly this"
	}
	return &session.Question{
		Kind:   session.QuestionApproval,
		Text:   textQuestion(f.subject, open),
		Detail: visible(cut(f.detail, maxDetail)),
		Options: []session.Option{
			{Label: optionOnce, Description: "this call and no other"},
			{Label: optionSession, Description: "and do not ask about " + scope + " again before the session ends; a compaction does not end it"},
			{Label: optionDeny, Description: "the call does not run, and the agent is told so"},
		},
	}
}
