package render

import (
	"fmt"
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
		return gist(e, func(p session.Created) string { return p.Title })
	case session.KindSessionOpened:
		return gist(e, func(p session.Opened) string { return strings.Join(p.Plugins, " ") })
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
	case session.KindRecord:
		return gist(e, func(p session.Record) string { return p.Plugin + " " + p.Kind + " " + p.Key })
	case session.KindPlugin:
		return gist(e, func(p session.PluginState) string { return p.Plugin + " " + p.State + " " + p.Detail })
	case session.KindWarning:
		return gist(e, func(p session.Warning) string { return p.Message })
	}
	return "", nil
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
