package render

import (
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

const (
	argumentHead = 60 // characters of a call's arguments
	nameHead     = 80 // of a name
	indent       = "  "
)

// Progress tells a person what a run does: a line a step, a tool call, a retry, a
// compaction; after each step the context meter. It is not safe for concurrent
// use, its Lines are.
type Progress struct {
	*Lines
	// Verbose adds plugin starts and words of long calls, Live the answers as
	// they come.
	Verbose, Live bool

	session   string
	calls     map[string]llm.ToolCall // of the running step
	questions map[string]string       // the texts of those that are open
	children  map[string]string       // labels of subagents
}

// NewProgress makes a progress onto lines.
func NewProgress(lines *Lines) *Progress {
	return &Progress{Lines: lines, calls: map[string]llm.ToolCall{}, questions: map[string]string{}, children: map[string]string{}}
}

// Start names the session.
func (p *Progress) Start(s SessionStarted) {
	p.session = s.Session
	window := "unknown"
	if s.ContextWindow > 0 {
		window = Amount(s.ContextWindow)
	}
	p.Print(fmt.Sprintf("%s %s  %s", p.Bold("session"), s.Session,
		p.Faint(block(fmt.Sprintf("profile %s, strategy %s, model %s, window %s (%s)", s.Profile, s.Strategy, s.Model, window, s.WindowSource)))))
}

// Delta shows a piece of an answer where answers are shown live.
func (p *Progress) Delta(kind llm.BlockKind, text string) {
	if p.Live && kind == llm.BlockText {
		p.Lines.Live(text)
	}
}

// Progress shows a word of a long tool call or proposal.
func (p *Progress) Progress(source, text string) {
	switch {
	case source == "waiting":
		p.Print(indent + p.Faint("waiting for "+Head(text, 120)))
	case p.Verbose:
		p.Print(p.Faint(indent + Head(source, nameHead) + ": " + Head(text, 120)))
	}
}

// Event prints the lines of an event. Events that do not decode print nothing.
func (p *Progress) Event(e session.Event, m session.Meter) {
	switch e.Kind {
	case session.KindStepStarted:
		clear(p.calls)
		p.Print(p.Bold(fmt.Sprintf("step %d", e.Step)) + p.turn(e.Turn))
	case session.KindMessageUser:
		show(e, p.told)
	case session.KindMessageAssistant:
		if a, err := session.Decode[session.Assistant](e); err == nil && a.Message != nil {
			for _, c := range a.Message.Calls() {
				p.calls[c.ID] = c
			}
		}
	case session.KindToolResult:
		show(e, p.result)
	case session.KindStepEnded:
		p.Print(indent + p.Faint(Meter(m)))
	case session.KindAttempt:
		show(e, p.attempt)
	case session.KindCompactionEnded:
		show(e, func(c session.CompactionEnded) { p.Print(p.Cyan(Compacted(c))) })
	case session.KindCompactionFailed:
		show(e, func(c session.CompactionFailed) {
			p.Warning(Failed(c), "")
		})
	case session.KindCompactionPostponed:
		show(e, func(c session.CompactionPostponed) { p.Print(p.Cyan(block(Postponed(c)))) })
	case session.KindCompactionUndone:
		show(e, func(u session.CompactionUndone) { p.Print(p.Cyan(Undone(u))) })
	case session.KindCompactionRest:
		show(e, func(r session.CompactionRest) { p.Print(p.Cyan(block(Rested(r)))) })
	case session.KindUndoRefused:
		show(e, func(u session.UndoRefused) { p.Warning(u.Sentence(), u.Hint) })
	case session.KindSessionArchived:
		show(e, func(a session.Archived) { p.Print(p.Cyan(Archived(a))) })
	case session.KindQuestionAsked:
		show(e, func(q session.Question) { p.questions[q.ID] = q.Text })
	case session.KindQuestionAnswered:
		show(e, p.answered)
	case session.KindDirectoryChanged:
		show(e, func(d session.DirectoryChanged) { p.Print(indent + "working directory " + block(d.To)) })
	case session.KindChildSpawned:
		show(e, p.spawned)
	case session.KindChildSettled:
		show(e, p.settled)
	case session.KindReport:
		show(e, func(r session.Report) { p.Print(indent + "report " + p.Faint(Head(string(r.Data), 120))) })
	case session.KindPlugin:
		show(e, p.plugin)
	case session.KindWarning:
		show(e, func(w session.Warning) { p.Warning(w.Message, w.Hint) })
	}
}

func show[T any](e session.Event, print func(T)) {
	if payload, err := session.Decode[T](e); err == nil {
		print(payload)
	}
}

// told prints what a plugin, the host or a steering person said to the model: why
// the run goes on.
func (p *Progress) told(m session.Message) {
	from := m.From
	switch {
	case m.Message == nil:
		return
	case m.Source == session.SourceSteer:
		from = "you"
	case m.Source == session.SourceHost && from == "":
		from = "the host"
	case m.Source != session.SourceHost && m.Source != session.SourcePlugin:
		return
	}
	p.Print(indent + p.Faint("told by "+Head(from, nameHead)+": "+Head(m.Message.Text(), 100)))
}

// turn is named from the second one on.
func (p *Progress) turn(n int) string {
	if n <= 1 {
		return ""
	}
	return p.Faint(fmt.Sprintf(" of turn %d", n))
}

// result prints a tool call with what came of it.
func (p *Progress) result(r session.ToolResult) {
	if r.Message == nil || r.Name == "" {
		return // a trim of an older result
	}
	text := r.Message.Text()
	line := indent + Head(r.Name, nameHead)
	if c := p.calls[r.Message.CallID]; c.Arguments != "" {
		line += " " + p.Faint(Head(c.Arguments, argumentHead))
	}
	outcome := fmt.Sprintf("%s chars, %d ms", Amount(len([]rune(text))), r.Millis)
	if r.Message.IsError {
		if r.Code != "" {
			outcome = Head(r.Code, nameHead) + ", " + outcome
		}
		p.Print(line + " " + p.Red("✗ "+outcome))
		p.Print(indent + indent + p.Faint(Head(strings.TrimPrefix(text, "Error: "), 120)))
		return
	}
	p.Print(line + " → " + outcome)
	if r.Name == "present" { // it is for the person
		p.Print(indent + indent + block(text))
	}
}

// answered prints a question with what came of it.
func (p *Progress) answered(a session.Answer) {
	line := indent + "question " + a.ID + " " + p.Faint(Head(p.questions[a.ID], argumentHead))
	switch a.Outcome {
	case session.OutcomeUnavailable:
		p.Print(line + " " + p.Yellow("→ "+Answered(a)))
		return
	case session.OutcomePending:
		p.Print(line + " → " + Answered(a) + fmt.Sprintf("; later: tureen answer %s %s TEXT", p.session, a.ID))
		return
	}
	delete(p.questions, a.ID)
	p.Print(line + " → " + Head(Answered(a), 120))
}

func (p *Progress) spawned(c session.ChildSpawned) {
	p.children[c.ID] = c.Label
	p.Print(indent + "subagent " + c.ID + " works " + p.Faint(Head(c.Label, nameHead)))
}

func (p *Progress) settled(c session.ChildSettled) {
	line := indent + "subagent " + c.ID + " " + p.Faint(Head(p.children[c.ID], nameHead))
	text := Head(Settled(c), 120)
	if c.Reason != session.ReasonCompleted {
		text = p.Red(text)
	}
	p.Print(line + " → " + text)
}

func (p *Progress) attempt(a session.Attempt) {
	text := Head(a.Message, 200)
	if a.RetryAfter > 0 {
		text = fmt.Sprintf("retry %d in %d ms: %s", a.Attempt+1, a.RetryAfter, text)
	}
	p.Print(indent + p.Yellow(text))
}

// States of a plugin process that nobody needs to hear of.
var quietStates = map[string]bool{"started": true, "stopped": true}

func (p *Progress) plugin(s session.PluginState) {
	text := fmt.Sprintf("plugin %s %s (generation %d)", s.Plugin, s.State, s.Generation)
	if s.Detail != "" {
		text += ": " + Head(s.Detail, 200)
	}
	switch {
	case !quietStates[s.State] || s.State == "started" && s.Generation > 1:
		p.Warning(text, "")
	case p.Verbose:
		p.Print(p.Faint(block(text)))
	}
}
