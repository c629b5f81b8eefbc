package sdk

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Conversions stand in pairs: xTo makes the wire value, xFrom reads it.

func eventTo(e session.Event) *pluginv1.Event {
	out := &pluginv1.Event{
		Seq: e.Seq, Version: int32(e.V), TimeUnixNano: unixNano(e.Time), Kind: string(e.Kind),
		Turn: int32(e.Turn), Step: int32(e.Step), Json: e.Data,
	}
	if e.Op != nil {
		out.OpJson, _ = json.Marshal(e.Op) // plain fields: cannot fail
	}
	return out
}

func eventFrom(e *pluginv1.Event) (session.Event, error) {
	out := session.Event{
		Seq: e.GetSeq(), V: int(e.GetVersion()), Time: fromUnixNano(e.GetTimeUnixNano()), Kind: session.Kind(e.GetKind()),
		Turn: int(e.GetTurn()), Step: int(e.GetStep()), Data: e.GetJson(),
	}
	if len(e.GetOpJson()) > 0 {
		out.Op = new(session.Op)
		if err := json.Unmarshal(e.GetOpJson(), out.Op); err != nil {
			return out, &Error{Code: CodeProtocol, Message: "event with an unreadable op: " + err.Error()}
		}
	}
	return out, nil
}

func nodeTo(n session.Node) *pluginv1.Node {
	return &pluginv1.Node{
		Seq: n.Seq, Kind: string(n.Kind), Role: string(n.Role), Source: string(n.Source), Tokens: int32(n.Tokens),
		CallIds: n.CallIDs, CallId: n.CallID, Chars: int32(n.Chars), From: n.From,
	}
}

func nodeFrom(n *pluginv1.Node) session.Node {
	return session.Node{
		Seq: n.GetSeq(), Kind: session.Kind(n.GetKind()), Role: llm.Role(n.GetRole()), Source: session.Source(n.GetSource()),
		Tokens: int(n.GetTokens()), CallIDs: n.GetCallIds(), CallID: n.GetCallId(), Chars: int(n.GetChars()), From: n.GetFrom(),
	}
}

func meterTo(m session.Meter) *pluginv1.GetMeterResponse {
	return &pluginv1.GetMeterResponse{
		Window: int32(m.Window), Measured: int32(m.Measured), Source: m.Source, ResetAt: int32(m.ResetAt),
		Reserve: int32(m.Reserve), Fixed: int32(m.Fixed), Ordinal: int32(m.Ordinal), Compactions: int32(m.Compactions),
	}
}

func meterFrom(m *pluginv1.GetMeterResponse) session.Meter {
	return session.Meter{
		Window: int(m.GetWindow()), Measured: int(m.GetMeasured()), Source: m.GetSource(), ResetAt: int(m.GetResetAt()),
		Reserve: int(m.GetReserve()), Fixed: int(m.GetFixed()), Ordinal: int(m.GetOrdinal()), Compactions: int(m.GetCompactions()),
	}
}

func budgetTo(b compaction.Budget) *pluginv1.Budget {
	return &pluginv1.Budget{
		Window: int32(b.Window), MaxOutputTokens: int32(b.MaxOutputTokens), ResetAt: int32(b.ResetAt),
		Reserve: int32(b.Reserve), Warning: int32(b.Warning), Reminder: int32(b.Reminder), Source: b.Source,
	}
}

func budgetFrom(b *pluginv1.Budget) compaction.Budget {
	return compaction.Budget{
		Window: int(b.GetWindow()), MaxOutputTokens: int(b.GetMaxOutputTokens()), ResetAt: int(b.GetResetAt()),
		Reserve: int(b.GetReserve()), Warning: int(b.GetWarning()), Reminder: int(b.GetReminder()), Source: b.GetSource(),
	}
}

func sessionTo(s compaction.Session) *pluginv1.SessionInfo {
	return &pluginv1.SessionInfo{
		Id: s.ID, Workspace: s.Workspace, Agent: s.Agent, Provider: s.Provider, Model: s.Model,
		CreatedUnixNano: unixNano(s.Created), Resumed: s.Resumed, Budget: budgetTo(s.Budget), FixedTokens: int32(s.FixedTokens),
		Directory: s.Directory, Parent: s.Parent, Depth: int32(s.Depth), SpawnJson: s.Spawn,
	}
}

func sessionFrom(s *pluginv1.SessionInfo, access session.Access) compaction.Session {
	return compaction.Session{
		ID: s.GetId(), Workspace: s.GetWorkspace(), Agent: s.GetAgent(), Provider: s.GetProvider(), Model: s.GetModel(),
		Created: fromUnixNano(s.GetCreatedUnixNano()), Resumed: s.GetResumed(), Budget: budgetFrom(s.GetBudget()),
		FixedTokens: int(s.GetFixedTokens()), Access: access,
		Directory: cmp.Or(s.GetDirectory(), s.GetWorkspace()), Parent: s.GetParent(), Depth: int(s.GetDepth()), Spawn: jsonOrNil(s.GetSpawnJson()),
	}
}

func usageTo(u llm.Usage) *pluginv1.Usage {
	return &pluginv1.Usage{
		Input: int32(u.Input), CacheRead: int32(u.CacheRead), CacheWrite: int32(u.CacheWrite),
		Output: int32(u.Output), Reasoning: int32(u.Reasoning),
	}
}

func usageFrom(u *pluginv1.Usage) llm.Usage {
	return llm.Usage{
		Input: int(u.GetInput()), CacheRead: int(u.GetCacheRead()), CacheWrite: int(u.GetCacheWrite()),
		Output: int(u.GetOutput()), Reasoning: int(u.GetReasoning()),
	}
}

func messageTo(m *llm.Message) *pluginv1.Message {
	return &pluginv1.Message{Role: string(m.Role), Text: valid(m.Text())}
}

func messageFrom(m *pluginv1.Message) *llm.Message {
	return llm.Text(llm.Role(m.GetRole()), m.GetText())
}

func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromUnixNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// valid makes a text fit for the wire, which carries UTF-8 only.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// mapSlice converts the elements of a slice; nil stays nil.
func mapSlice[From, To any](in []From, f func(From) To) []To {
	if in == nil {
		return nil
	}
	out := make([]To, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}
