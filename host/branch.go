package host

import (
	"context"
	"fmt"
	"iter"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// codeNothing says that a session has no past yet that a subagent could begin with.
const codeNothing = "FORK_NOTHING"

// textForked stands before the task of a subagent that begins with its parent's past.
const textForked = "From here on you are a subagent. What stands above is a copy of the conversation of the agent that gives you this task; it goes on with that conversation, and you do not. " +
	"Use what you know from it, but leave alone what else was asked there or is still open. Your task is this alone:\n\n"

// branch makes the session of a subagent that begins with the turns that ended in
// its parent's (S2). What waits in the parent's inbox, and who works for it, stays
// with the parent.
func (m *member) branch(ctx context.Context, created session.Created) (session.Log, error) {
	from, store := m.parent.log, m.family.host.Store
	at, err := fold.LastTurnEnd(ctx, from)
	if err != nil {
		return nil, err
	}
	if at == 0 {
		return nil, &sdk.Error{Code: codeNothing, Message: "no turn of this conversation has ended yet, so a fork would know nothing of it; " +
			"use subagent, and put into the task what it has to know"}
	}
	events, state, err := branched(ctx, from, &created, at)
	if err != nil {
		return nil, err
	}
	if err := bring(ctx, store, m.id, emptied(events, state), state.Snapshot); err != nil {
		return nil, err
	}
	return store.Open(ctx, m.id)
}

// branched is the log of a branch of another, whose origin it fills in.
func branched(ctx context.Context, from session.Reader, created *session.Created, at int64) (iter.Seq2[session.Event, error], *fold.State, error) {
	used, children, err := past(ctx, from, at)
	if err != nil {
		return nil, nil, err
	}
	created.Origin = &session.Origin{Session: from.ID(), Seq: at, How: session.HowFork, Used: used, Children: children}
	return fold.Fork(ctx, from, *created, at)
}

// past is what a session had used up to an event, without its subagents, and how many
// of those it had had.
func past(ctx context.Context, log session.Reader, at int64) (used llm.Usage, children int, err error) {
	seen := map[string]bool{}
	kinds := []session.Kind{session.KindMessageAssistant, session.KindAttempt, session.KindModelCall, session.KindChildSpawned}
	for e, err := range log.Read(ctx, session.Query{Before: at + 1, Kinds: kinds}) {
		if err != nil {
			return used, 0, err
		}
		p, err := session.Decode[struct {
			ID    string    `json:"id"`
			Usage llm.Usage `json:"usage"`
		}](e)
		if err != nil {
			return used, 0, fmt.Errorf("add up what was used: %w", err)
		}
		if used = used.Add(p.Usage); e.Kind == session.KindChildSpawned {
			seen[p.ID] = true
		}
	}
	return used, len(seen), nil
}

// emptied takes what is left in the inbox out of a log, at its end. state is the
// fold of what was yielded.
func emptied(events iter.Seq2[session.Event, error], state *fold.State) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range events {
			if !yield(e, err) || err != nil {
				return
			}
		}
		var left session.InboxClaimed
		for _, item := range state.Inbox {
			left.Items = append(left.Items, item.Seq)
		}
		if left.Items == nil {
			return
		}
		e := session.New(session.KindInboxClaimed, left)
		e.Seq, e.Time = state.Head+1, state.Created.Time
		yield(e, state.Apply(e))
	}
}
