package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

const gistLength = 90

// Gist says on one line what an event holds, "" where its kind says it all.
func Gist(e session.Event) string {
	gist, err := gistOf(e)
	if err != nil {
		return "does not decode: " + err.Error()
	}
	return Head(gist, gistLength)
}

func gistOf(e session.Event) (string, error) {
	switch e.Kind {
	case session.KindSessionCreated:
		return gist(e, func(p session.Created) string { return strings.TrimSpace(Made(p.Origin) + " " + p.Title) })
	case session.KindSessionOpened:
		return gist(e, opened)
	case session.KindInboxQueued:
		return gist(e, func(p session.InboxItem) string { return string(p.Source) + ": " + p.Text })
	case session.KindTurnEnded:
		return gist(e, func(p session.TurnEnded) string {
			if p.Error != nil {
				return string(p.Reason) + ": " + p.Error.Message
			}
			return string(p.Reason)
		})
	case session.KindMessageSystem, session.KindMessageUser:
		return gist(e, func(p session.Message) string { return text(p.Message) })
	case session.KindMessageAssistant:
		return gist(e, func(p session.Assistant) string { return spoken(p.Message) })
	case session.KindAttempt:
		return gist(e, func(p session.Attempt) string { return p.Code + ": " + p.Message })
	case session.KindToolStarted:
		return gist(e, func(p session.ToolStarted) string { return p.Name })
	case session.KindToolResult:
		return gist(e, func(p session.ToolResult) string { return p.Name + ": " + text(p.Message) })
	case session.KindToolSpilled:
		return gist(e, func(p session.Spilled) string {
			return fmt.Sprintf("%s: %d bytes, %s", p.Name, p.Bytes, Count(p.Lines, "line"))
		})
	case session.KindRequestHeader:
		return gist(e, func(p session.Header) string {
			return fmt.Sprintf("%s, window %d, %s", p.Model, p.ContextWindow, Count(len(p.Tools), "tool"))
		})
	case session.KindModelCall:
		return gist(e, func(p session.ModelCall) string { return string(p.Purpose) + " " + p.Error })
	case session.KindCompactionEnded:
		return gist(e, Compacted)
	case session.KindCompactionFailed:
		return gist(e, func(p session.CompactionFailed) string { return p.Strategy + ": " + p.Error })
	case session.KindCompactionArmed, session.KindCompactionAsked, session.KindCompactionDropped, session.KindCompactionUndone,
		session.KindCompactionRest, session.KindBreaker, session.KindWindowLearned, session.KindCompactionPostponed, session.KindMarkShown, session.KindUndoAsked, session.KindUndoRefused:
		return gistOfRoom(e)
	case session.KindSessionArchived:
		return gist(e, Archived)
	case session.KindLost:
		return gist(e, Lost)
	case session.KindQuestionAsked:
		return gist(e, func(p session.Question) string { return p.ID + ": " + p.Text })
	case session.KindQuestionAnswered:
		return gist(e, func(p session.Answer) string { return p.ID + ": " + Answered(p) })
	case session.KindCommandRun:
		return gist(e, func(p session.CommandRun) string {
			return "/" + p.Name + " " + p.Arguments + ": " + cmp.Or(p.Error, p.Text)
		})
	case session.KindDirectoryChanged:
		return gist(e, func(p session.DirectoryChanged) string { return p.To })
	case session.KindChildSpawned:
		return gist(e, func(p session.ChildSpawned) string { return p.ID + " " + p.Label })
	case session.KindChildSettled:
		return gist(e, func(p session.ChildSettled) string { return p.ID + " " + Settled(p) })
	case session.KindReport:
		return gist(e, func(p session.Report) string { return string(p.Data) })
	case session.KindRecord:
		return gist(e, func(p session.Record) string { return p.Plugin + " " + p.Kind + " " + p.Key })
	case session.KindPlugin:
		return gist(e, func(p session.PluginState) string { return p.Plugin + " " + p.State + " " + p.Detail })
	case session.KindWarning:
		return gist(e, func(p session.Warning) string { return p.Message })
	}
	return "", nil
}

// gistOfRoom is gistOf for what is said of compactions beside them.
func gistOfRoom(e session.Event) (string, error) {
	switch e.Kind {
	case session.KindCompactionArmed:
		return gist(e, func(p session.CompactionArmed) string { return p.CallID + " " + p.Note })
	case session.KindCompactionAsked:
		return gist(e, func(p session.CompactionAsked) string { return p.From + " " + p.Instructions })
	case session.KindCompactionPostponed:
		return gist(e, Postponed)
	case session.KindCompactionDropped:
		return gist(e, func(p session.CompactionDropped) string { return p.Why })
	case session.KindCompactionUndone:
		return gist(e, Undone)
	case session.KindCompactionRest:
		return gist(e, Rested)
	case session.KindBreaker:
		return gist(e, func(p session.Breaker) string { return p.Why })
	case session.KindWindowLearned:
		return gist(e, Learned)
	case session.KindMarkShown:
		return gist(e, func(p session.MarkShown) string { return p.ID })
	case session.KindUndoAsked:
		return gist(e, func(p session.UndoAsked) string { return p.From })
	}
	return gist(e, func(p session.UndoRefused) string { return p.Why })
}

// opened is what a process runs.
func opened(p session.Opened) string {
	text := strings.Join(p.Plugins, " ")
	if p.Profile != "" || p.Strategy != "" {
		text = fmt.Sprintf("profile %s, strategy %s: %s", p.Profile, p.Strategy, text)
	}
	return text
}

// Learned says which window is in force from here on.
func Learned(l session.WindowLearned) string {
	return fmt.Sprintf("%s: %d tokens, not %d", l.Model, l.Window, l.Before)
}

// Lost says what an event stands in for.
func Lost(l session.Lost) string {
	if l.Event != nil {
		return fmt.Sprintf("%s, set aside: %s", l.Event.Kind, l.Why)
	}
	return l.Why
}

func gist[T any](e session.Event, say func(T) string) (string, error) {
	p, err := session.Decode[T](e)
	if err != nil {
		return "", err
	}
	return say(p), nil
}

func text(m *llm.Message) string {
	if m == nil {
		return ""
	}
	return m.Text()
}

// spoken is an answer's text and the names of its calls.
func spoken(m *llm.Message) string {
	if m == nil {
		return ""
	}
	words := strings.TrimSpace(m.Text())
	for _, c := range m.Calls() {
		words += fmt.Sprintf(" [%s %s]", c.Name, c.Arguments)
	}
	return strings.TrimSpace(words)
}

// Answered is what a question came to, in a few words.
func Answered(a session.Answer) string {
	if a.Outcome == session.OutcomeAnswered {
		return strings.Join(append(slices.Clone(a.Choices), strings.Fields(a.Text)...), " ")
	}
	return map[session.Outcome]string{session.OutcomeDeclined: "declined", session.OutcomePending: "no answer yet",
		session.OutcomeUnavailable: "nobody is there to answer"}[a.Outcome]
}

// Settled is how a subagent's work ended, in a few words.
func Settled(c session.ChildSettled) string {
	switch {
	case c.Lost:
		return "lost: the host stopped"
	case c.Error != nil:
		return string(c.Reason) + ": " + c.Error.Message
	}
	return string(c.Reason) + ": " + c.Text
}
