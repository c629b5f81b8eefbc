package fold

import (
	"slices"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// What stands in place of messages that others need before them, and that are lost.
const (
	textLostUser   = "(The stored session was damaged here; what was said in this place may be lost.)"
	textLostSystem = "(The stored session was damaged here; the instructions that stood in this place are lost until they are written anew.)"
)

// messages are those that units append to the surface.
func messages(units []unit) []session.Event {
	var found []session.Event
	for _, u := range units {
		if e := u.one(); e != nil && appends(*e) {
			found = append(found, *e)
		}
	}
	return found
}

// messages writes, where there is room, a message of a user where none is before an
// answer that may follow, and instructions where none are before the first message.
func (b *bridge) messages(s *State, said []session.Event) {
	nodes := s.Surface.Nodes
	heard := slices.ContainsFunc(said, func(e session.Event) bool { return e.Kind == session.KindMessageUser })
	if n := len(nodes); n > 0 && s.spoken() {
		heard = heard || nodes[n-1].Role != llm.RoleAssistant || len(nodes[n-1].CallIDs) > 0
	}
	if !heard && b.began && len(b.events) < b.room {
		b.add(lostMessage(session.KindMessageUser, llm.RoleUser, textLostUser).At(b.turn.Ordinal, b.turn.Step))
	}
	first := b.began
	if len(said) > 0 {
		first = said[0].Kind != session.KindMessageSystem
	}
	if len(nodes) == 0 && first && len(b.events) < b.room {
		b.events = slices.Insert(b.events, 0, lostMessage(session.KindMessageSystem, llm.RoleSystem, textLostSystem).At(s.Turn.Ordinal, s.Turn.Step))
	}
}

func lostMessage(kind session.Kind, role llm.Role, text string) session.Event {
	p := session.Message{Message: llm.Text(role, text)}
	if role == llm.RoleUser {
		p.Source = session.SourceHost
	}
	return session.New(kind, p).On(session.Op{Kind: session.OpAppend})
}

// claim takes the items out of the inbox whose messages stand among the units, where
// no unit does and there is room.
func (b *bridge) claim(s *State, units []unit) {
	var lost session.InboxClaimed
	for _, e := range messages(units) {
		if p, err := session.Decode[session.Message](e); err == nil && e.Kind == session.KindMessageUser && queued(s, p.Item) {
			lost.Items = append(lost.Items, p.Item)
		}
	}
	for _, u := range units {
		if e := u.one(); e != nil && e.Kind == session.KindInboxClaimed {
			p, _ := session.Decode[session.InboxClaimed](*e)
			lost.Items = slices.DeleteFunc(lost.Items, func(item int64) bool { return slices.Contains(p.Items, item) })
		}
	}
	if len(lost.Items) > 0 && len(b.events) < b.room {
		b.add(session.New(session.KindInboxClaimed, lost).At(b.turn.Ordinal, b.turn.Step))
	}
}
