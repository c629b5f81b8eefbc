package sdk

import (
	"context"
	"time"

	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// The calls that reach beyond the session: to the person and to its relatives.

func (a *remoteAccess) Ask(ctx context.Context, q session.Question, timeout time.Duration) (session.Answer, error) {
	resp, err := a.h.user.Ask(ctx, &pluginv1.AskRequest{Session: a.id, Question: questionTo(&q), TimeoutMs: timeout.Milliseconds()})
	if err != nil || resp.GetAnswer() == nil {
		return session.Answer{}, hostError("Ask", err)
	}
	return *answerFrom(resp.GetAnswer()), nil
}

func (a *remoteAccess) Spawn(ctx context.Context, s session.Spawn) (session.Child, error) {
	resp, err := a.h.children.Spawn(ctx, &pluginv1.SpawnRequest{Session: a.id, Task: valid(s.Task), Label: valid(s.Label), DataJson: s.Data, Fork: s.Fork})
	return childFrom(resp.GetChild()), familyError("Spawn", resp, err)
}

func (a *remoteAccess) Children(ctx context.Context) ([]session.Child, error) {
	resp, err := a.h.children.ListChildren(ctx, &pluginv1.ListChildrenRequest{Session: a.id})
	return mapSlice(resp.GetChildren(), childFrom), familyError("ListChildren", resp, err)
}

func (a *remoteAccess) Tell(ctx context.Context, to, text string) error {
	resp, err := a.h.children.Tell(ctx, &pluginv1.TellRequest{Session: a.id, To: to, Text: valid(text)})
	return familyError("Tell", resp, err)
}

func (a *remoteAccess) Interrupt(ctx context.Context, child string) error {
	resp, err := a.h.children.Interrupt(ctx, &pluginv1.InterruptRequest{Session: a.id, Child: child})
	return familyError("Interrupt", resp, err)
}

func familyError(method string, resp interface{ GetError() *pluginv1.PluginError }, err error) error {
	if err != nil {
		return hostError(method, err)
	}
	return errorFrom(resp.GetError())
}
