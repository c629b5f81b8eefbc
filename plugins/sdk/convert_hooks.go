package sdk

import (
	"encoding/json"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

func pendingTo(p hook.Pending) *pluginv1.Pending {
	return &pluginv1.Pending{Text: valid(p.Text), Source: string(p.Source), From: p.From, Key: p.Key}
}

func pendingFrom(p *pluginv1.Pending) hook.Pending {
	return hook.Pending{Text: p.GetText(), Source: session.Source(p.GetSource()), From: p.GetFrom(), Key: p.GetKey()}
}

func confinementTo(c session.Confinement) *pluginv1.Confinement {
	if c.Free() {
		return nil
	}
	return &pluginv1.Confinement{Files: string(c.Files), Writable: c.Writable, Offline: c.Offline}
}

func confinementFrom(c *pluginv1.Confinement) session.Confinement {
	return session.Confinement{Files: session.FilePolicy(c.GetFiles()), Writable: c.GetWritable(), Offline: c.GetOffline()}
}

func questionTo(q *session.Question) *pluginv1.Question {
	if q == nil {
		return nil
	}
	return &pluginv1.Question{Text: valid(q.Text), Detail: valid(q.Detail), Multiple: q.Multiple, CallId: q.CallID,
		Options: mapSlice(q.Options, func(o session.Option) *pluginv1.Option {
			return &pluginv1.Option{Label: valid(o.Label), Description: valid(o.Description)}
		})}
}

func questionFrom(q *pluginv1.Question) *session.Question {
	if q == nil {
		return nil
	}
	return &session.Question{Kind: session.QuestionOpen, Text: q.GetText(), Detail: q.GetDetail(), Multiple: q.GetMultiple(), CallID: q.GetCallId(),
		Options: mapSlice(q.GetOptions(), func(o *pluginv1.Option) session.Option {
			return session.Option{Label: o.GetLabel(), Description: o.GetDescription()}
		})}
}

func answerTo(a *session.Answer) *pluginv1.Answer {
	if a == nil {
		return nil
	}
	return &pluginv1.Answer{Id: a.ID, Outcome: string(a.Outcome), Choices: mapSlice(a.Choices, valid), Text: valid(a.Text)}
}

func answerFrom(a *pluginv1.Answer) *session.Answer {
	if a == nil {
		return nil
	}
	return &session.Answer{ID: a.GetId(), Outcome: session.Outcome(a.GetOutcome()), Choices: a.GetChoices(), Text: a.GetText()}
}

func stopTo(s *hook.Stop) *pluginv1.Stop {
	if s == nil {
		return nil
	}
	return &pluginv1.Stop{Code: s.Code, Message: valid(s.Message)}
}

func stopFrom(s *pluginv1.Stop) *hook.Stop {
	if s == nil {
		return nil
	}
	return &hook.Stop{Code: s.GetCode(), Message: s.GetMessage()}
}

func childTo(c session.Child) *pluginv1.Child {
	return &pluginv1.Child{Id: c.ID, Label: valid(c.Label), Depth: int32(c.Depth), State: string(c.State), Reason: string(c.Reason)}
}

func childFrom(c *pluginv1.Child) session.Child {
	return session.Child{ID: c.GetId(), Label: c.GetLabel(), Depth: int(c.GetDepth()), State: session.ChildState(c.GetState()), Reason: session.Reason(c.GetReason())}
}

// jsonOrNil keeps an empty value nil, which is what "absent" is in the log.
func jsonOrNil(data []byte) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	return data
}
