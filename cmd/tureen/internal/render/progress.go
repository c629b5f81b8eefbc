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

	calls map[string]llm.ToolCall // of the running step
}

// NewProgress makes a progress onto lines.
func NewProgress(lines *Lines) *Progress {
	return &Progress{Lines: lines, calls: map[string]llm.ToolCall{}}
}

// Start names the session.
func (p *Progress) Start(s SessionStarted) {
	window := "unknown"
	if s.ContextWindow > 0 {
		window = Amount(s.ContextWindow)
	}
	p.Print(fmt.Sprintf("%s %s  %s", p.bold("session"), s.Session,
		p.faint(block(fmt.Sprintf("profile %s, strategy %s, model %s, window %s (%s)", s.Profile, s.Strategy, s.Model, window, s.WindowSource)))))
}

// Delta shows a piece of an answer where answers are shown live.
func (p *Progress) Delta(kind llm.BlockKind, text string) {
	if p.Live && kind == llm.BlockText {
		p.Lines.Live(text)
	}
}

// Progress shows a word of a long tool call or proposal.
func (p *Progress) Progress(source, text string) {
	if p.Verbose {
		p.Print(p.faint(indent + Head(source, nameHead) + ": " + Head(text, 120)))
	}
}

// Event prints the lines of an event. Events that do not decode print nothing.
func (p *Progress) Event(e session.Event, m session.Meter) {
	switch e.Kind {
	case session.KindStepStarted:
		clear(p.calls)
		p.Print(p.bold(fmt.Sprintf("step %d", e.Step)) + p.turn(e.Turn))
	case session.KindMessageAssistant:
		if a, err := session.Decode[session.Assistant](e); err == nil && a.Message != nil {
			for _, c := range a.Message.Calls() {
				p.calls[c.ID] = c
			}
		}
	case session.KindToolResult:
		show(e, p.result)
	case session.KindStepEnded:
		p.Print(indent + p.faint(Meter(m)))
	case session.KindAttempt:
		show(e, p.attempt)
	case session.KindCompactionEnded:
		show(e, func(c session.CompactionEnded) { p.Print(p.cyan(Compacted(c))) })
	case session.KindCompactionFailed:
		show(e, func(c session.CompactionFailed) {
			p.Warning(fmt.Sprintf("%s compaction by %s failed, the conversation stays as it is: %s", c.Trigger, c.Strategy, c.Error), "")
		})
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

// turn is named from the second one on.
func (p *Progress) turn(n int) string {
	if n <= 1 {
		return ""
	}
	return p.faint(fmt.Sprintf(" of turn %d", n))
}

// result prints a tool call with what came of it.
func (p *Progress) result(r session.ToolResult) {
	if r.Message == nil || r.Name == "" {
		return // a trim of an older result
	}
	text := r.Message.Text()
	line := indent + Head(r.Name, nameHead)
	if c := p.calls[r.Message.CallID]; c.Arguments != "" {
		line += " " + p.faint(Head(c.Arguments, argumentHead))
	}
	outcome := fmt.Sprintf("%s chars, %d ms", Amount(len([]rune(text))), r.Millis)
	if r.Message.IsError {
		if r.Code != "" {
			outcome = Head(r.Code, nameHead) + ", " + outcome
		}
		p.Print(line + " " + p.Red("✗ "+outcome))
		p.Print(indent + indent + p.faint(Head(strings.TrimPrefix(text, "Error: "), 120)))
		return
	}
	p.Print(line + " → " + outcome)
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
		p.Print(p.faint(block(text)))
	}
}
