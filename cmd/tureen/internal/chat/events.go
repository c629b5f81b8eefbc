package chat

import (
	"fmt"
	"slices"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

// queued is an item of the inbox.
type queued struct {
	seq   int64
	text  string
	steer bool
}

// event shows what an event of the log means to a person. Events that do not decode
// show nothing.
func (m *model) event(e session.Event, meter session.Meter) {
	m.meter = meter
	m.usage.event(e)
	switch e.Kind {
	case session.KindInboxQueued:
		with(e, func(p session.InboxItem) { m.inboxQueued(e.Seq, p) })
	case session.KindInboxClaimed:
		with(e, func(p session.InboxClaimed) {
			m.queue = slices.DeleteFunc(m.queue, func(q queued) bool { return slices.Contains(p.Items, q.seq) })
		})
	case session.KindTurnStarted:
		m.turn, m.steps, m.began = true, 0, e.Time
	case session.KindStepStarted:
		m.steps++
		m.breakOff()
		clear(m.calls)
	case session.KindMessageUser:
		with(e, func(p session.Message) { m.userMessage(e, p) })
	case session.KindMessageAssistant:
		with(e, m.assistant)
	case session.KindAttempt:
		with(e, m.attempt)
	case session.KindToolStarted:
		with(e, func(p session.ToolStarted) { m.toolStarted(p, e.Time) })
	case session.KindToolResult:
		if e.Op == nil || e.Op.Kind == session.OpAppend { // else a trim of an older one
			with(e, m.toolEnded)
		}
	case session.KindTurnEnded:
		with(e, func(p session.TurnEnded) { m.turnEnded(p, e.Time) })
	default:
		m.notable(e)
	}
}

// notable shows the events that are no part of a turn's work.
func (m *model) notable(e session.Event) {
	switch e.Kind {
	case session.KindCompactionAsked:
		m.compacting = true
		if m.began.IsZero() || !m.turn {
			m.began = e.Time
		}
	case session.KindCompactionEnded:
		m.compacting = false
		m.wentOn()
		with(e, func(p session.CompactionEnded) { m.notice(m.o.Style.Cyan, "↻ ", render.Compacted(p)) })
	case session.KindCompactionFailed:
		m.compacting = false
		with(e, func(p session.CompactionFailed) {
			m.notice(m.o.Style.Yellow, "! ", render.Failed(p))
		})
	case session.KindCompactionPostponed:
		m.compacting = false
		with(e, func(p session.CompactionPostponed) { m.notice(m.o.Style.Faint, "· ", render.Postponed(p)) })
	case session.KindCompactionDropped:
		m.compacting = false
		with(e, func(p session.CompactionDropped) { m.notice(m.o.Style.Faint, "· ", "no compaction: "+p.Why) })
	case session.KindCompactionUndone:
		with(e, func(p session.CompactionUndone) { m.notice(m.o.Style.Cyan, "↺ ", render.Undone(p)) })
	case session.KindCompactionRest:
		with(e, func(p session.CompactionRest) { m.notice(m.o.Style.Faint, "· ", render.Rested(p)) })
	case session.KindUndoRefused:
		with(e, func(p session.UndoRefused) { m.warn(p.Sentence(), p.Hint) })
	case session.KindSessionArchived:
		with(e, func(p session.Archived) { m.archived(p.Archived) })
	case session.KindQuestionAsked:
		with(e, func(p session.Question) { m.asked[p.ID] = p })
	case session.KindQuestionAnswered:
		with(e, m.questionAnswered)
	case session.KindChildSpawned:
		with(e, m.childSpawned)
	case session.KindChildSettled:
		with(e, m.childSettled)
	case session.KindDirectoryChanged:
		with(e, func(p session.DirectoryChanged) { m.notice(m.o.Style.Faint, "· ", "tools start from "+p.To+" now") })
	case session.KindPlugin:
		with(e, m.plugin)
	case session.KindWarning:
		with(e, func(p session.Warning) { m.warn(p.Message, p.Hint) })
	}
}

func with[T any](e session.Event, show func(T)) {
	if payload, err := session.Decode[T](e); err == nil {
		show(payload)
	}
}

// inboxQueued shows what a person's words wait for. Those of plugins and the host
// are told once the agent reads them.
func (m *model) inboxQueued(seq int64, p session.InboxItem) {
	if p.Source == session.SourceOwner || p.Source == session.SourceSteer {
		m.queue = append(m.queue, queued{seq, oneLine(p.Text, 300), p.Queue == session.NextStep})
	}
}

// userMessage prints what the agent was told.
func (m *model) userMessage(e session.Event, p session.Message) {
	if p.Message == nil || e.Op != nil && e.Op.Kind != session.OpAppend {
		return
	}
	switch p.Source {
	case session.SourceOwner, session.SourceSteer:
		m.block(blockUser)
		m.printStyled(m.o.Style.Cyan, indented("› ", clean(p.Message.Text()), m.textWidth()))
	case session.SourcePlugin, session.SourceHost:
		from := "host"
		if p.From != "" {
			from = oneLine(p.From, 40)
		}
		m.block(blockNotice)
		m.print(m.o.Style.Faint(fit("· "+from+" to the agent: "+oneLine(p.Message.Text(), m.textWidth()), m.textWidth())))
	}
}

func (m *model) assistant(p session.Assistant) {
	if p.Message == nil {
		return
	}
	m.wentOn()
	for _, c := range p.Message.Calls() {
		m.calls[c.ID] = c
	}
	m.answered(p.Message)
}

func (m *model) attempt(p session.Attempt) {
	m.breakOff()
	text := oneLine(p.Message, 300)
	if p.RetryAfter > 0 {
		m.notice(m.o.Style.Yellow, "! ", fmt.Sprintf("retry %d in %d ms: %s", p.Attempt+1, p.RetryAfter, text))
		return
	}
	m.held = text // the end of the turn says it, unless the step goes on
}

// wentOn tells of a request that failed where the step went on all the same.
func (m *model) wentOn() {
	if m.held != "" {
		m.notice(m.o.Style.Yellow, "! ", m.held)
		m.held = ""
	}
}

func (m *model) turnEnded(p session.TurnEnded, at time.Time) {
	m.breakOff()
	began := m.began
	m.held = ""
	m.turn, m.compacting, m.tools = false, false, nil
	switch {
	case p.Reason == session.ReasonCompleted:
		if m.steps > 1 && !began.IsZero() {
			m.notice(m.o.Style.Faint, "· ", fmt.Sprintf("%s, %s", render.Count(m.steps, "step"), span(at.Sub(began).Round(100*time.Millisecond))))
		}
	case p.Reason == session.ReasonCancelled && p.Error == nil:
		text := "cancelled"
		if p.Repaired {
			text = "the turn before broke off"
		}
		m.notice(m.o.Style.Yellow, "· ", text)
	case p.Error != nil:
		m.failure(string(p.Reason), *p.Error)
	case p.Reason == session.ReasonMaxTokens:
		m.failure(string(p.Reason), session.Failure{Message: "the answer was cut off at the output limit", Hint: "say \"go on\", or start with -c model.max_output_tokens=N"})
	default:
		m.failure(string(p.Reason), session.Failure{Message: "the turn ended"})
	}
	m.began = time.Time{}
	if m.waiting != "" { // still: it is told once
		m.began = at
	}
}
