package fold_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

var everyKind = []session.Kind{
	session.KindSessionCreated, session.KindSessionOpened, session.KindInboxQueued, session.KindInboxClaimed, session.KindTurnStarted, session.KindTurnEnded,
	session.KindStepStarted, session.KindStepEnded, session.KindMessageSystem, session.KindMessageUser, session.KindMessageAssistant, session.KindAttempt,
	session.KindToolStarted, session.KindToolResult, session.KindToolSpilled, session.KindRequestHeader, session.KindModelCall, session.KindCompactionStarted,
	session.KindCompactionEnded, session.KindCompactionFailed, session.KindCompactionArmed, session.KindCompactionPostponed, session.KindCompactionDropped, session.KindNodesDropped,
	session.KindMarkShown, session.KindBreaker, session.KindCompactionAsked, session.KindCompactionUndone, session.KindCompactionRest, session.KindUndoAsked,
	session.KindUndoRefused, session.KindCancelAsked, session.KindSessionArchived, session.KindQuestionAsked, session.KindQuestionAnswered, session.KindCommandRun,
	session.KindDirectoryChanged, session.KindChildSpawned, session.KindChildSettled, session.KindReport, session.KindRecord, session.KindPlugin,
	session.KindWarning, session.KindLost, session.KindWindowLearned, "unknown",
}

var everyOp = []session.OpKind{"", session.OpAppend, session.OpReplace, session.OpInsert, session.OpDrop, "?"}

// FuzzEventDecode puts any bytes, as the payload of each kind with each effect,
// behind a log: the fold takes them or leaves the state as it was, the rules are held
// against them, and a salvage makes a good log of it.
func FuzzEventDecode(f *testing.F) {
	texts := []string{"", "null", "{}", "[]", `{"message":null}`, `{"message":{}}`, `{"message":{"role":"tool","blocks":[{"kind":"tool_call"}]}}`, "\xff", strings.Repeat("[", 10001)}
	for _, e := range append(compacted()[9:], session.New(session.KindCompactionUndone, session.CompactionUndone{Ordinal: 1, Seq: 15}),
		assistant("x", llm.Usage{}, "a"), result("a", "r"), session.New(session.KindInboxClaimed, session.InboxClaimed{Items: []int64{3}})) {
		texts = append(texts, string(e.Data))
	}
	for kind := range everyKind {
		for i, text := range texts {
			f.Add(uint8(kind), uint8(i%len(everyOp)), []byte(text), int64(14), int64(18))
		}
	}
	whole := append(compacted(), turn(2, user("v"), assistant("w", llm.Usage{}, "a"), result("a", "r"))...)
	for i := range whole {
		whole[i].Seq = int64(i + 1)
	}
	f.Fuzz(func(t *testing.T, kind, op uint8, data []byte, from, to int64) {
		e := session.Event{Seq: int64(len(whole) + 1), V: 1, Kind: everyKind[int(kind)%len(everyKind)], Data: json.RawMessage(data), Turn: int(from), Step: int(to)}
		if o := everyOp[int(op)%len(everyOp)]; o != "" {
			e.Op = &session.Op{Kind: o, From: from, To: to, After: from}
		}
		s := state(t, whole...)
		before := string(s.Snapshot())
		if err := s.Apply(e); err != nil {
			if s.Head--; string(s.Snapshot()) != before {
				t.Fatalf("%s is refused (%v) and changes the state", e.Kind, err)
			}
		} else {
			_, _ = s.Snapshot(), fold.Repair(s)
		}
		_ = checkAll(append(whole[:len(whole):len(whole)], e))
		e.Seq = 17
		out, _, _ := salvage(t, torn(append(append(whole[:16:16], e), whole[17:]...), nil))
		if v := checkAll(out); len(v) > 0 {
			t.Fatalf("%s: the salvaged log breaks rules: %+v", e.Kind, v)
		}
	})
}
