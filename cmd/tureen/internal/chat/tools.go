package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// maxTools is how many running calls are shown; the others are counted.
const maxTools = 5

// running is a tool call under way.
type running struct {
	id, name, gist string
	note           string // the tool's last word
	began          time.Time
}

// speaking are the arguments that say what a call is about, the first that is there.
var speaking = []string{"command", "file_path", "path", "pattern", "query", "url", "address", "task", "question", "text", "name", "id"}

// gistOf says on one line what a call is about.
func gistOf(c llm.ToolCall, width int) string {
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &args) == nil {
		for _, key := range speaking {
			var text string
			if json.Unmarshal(args[key], &text) == nil && strings.TrimSpace(text) != "" {
				return oneLine(text, width)
			}
		}
		if len(args) == 0 {
			return ""
		}
	}
	return oneLine(c.Arguments, width)
}

func (m *model) toolStarted(p session.ToolStarted, at time.Time) {
	m.tools = append(m.tools, running{id: p.CallID, name: p.Name, gist: gistOf(m.calls[p.CallID], 200), began: at})
}

// toolNote takes a word of a running call and tells whether there is one of that name.
func (m *model) toolNote(name, text string) bool {
	for i := len(m.tools) - 1; i >= 0; i-- {
		if m.tools[i].name == name {
			m.tools[i].note = oneLine(text, 200)
			return true
		}
	}
	return false
}

// toolEnded prints a call with what came of it.
func (m *model) toolEnded(r session.ToolResult) {
	if r.Message == nil || r.Name == "" {
		return
	}
	for i := range m.tools {
		if m.tools[i].id == r.Message.CallID {
			m.tools = append(m.tools[:i], m.tools[i+1:]...)
			break
		}
	}
	m.block(blockTool)
	text := r.Message.Text()
	outcome := fmt.Sprintf("%s chars, %s", render.Amount(len([]rune(text))), span(time.Duration(r.Millis)*time.Millisecond))
	name := oneLine(r.Name, 40)
	mark, paint := "→ ", func(s string) string { return s }
	if r.Message.IsError {
		mark, paint = "✗ ", m.o.Style.Red
		if r.Code != "" {
			outcome = oneLine(r.Code, 40) + ", " + outcome
		}
	}
	width := m.textWidth()
	if cells(name)+cells(outcome)+8 > width { // a narrow terminal: two lines
		m.print(fit("• "+name+" "+gistOf(m.calls[r.Message.CallID], width), width))
		m.print(paint(fit("  "+mark+outcome, width)))
	} else {
		gist := gistOf(m.calls[r.Message.CallID], width-cells(name)-cells(outcome)-6)
		line := "• " + name
		if gist != "" {
			line += " " + m.o.Style.Faint(gist)
		}
		m.print(line + " " + paint(mark+outcome))
	}
	if r.Message.IsError {
		m.print(m.o.Style.Faint(fit("  "+oneLine(strings.TrimPrefix(text, "Error: "), width-2), width)))
	}
}

// alive are the rows of the calls under way.
func (m *model) toolRows() []string {
	var rows []string
	for i, t := range m.tools {
		if i == maxTools {
			rows = append(rows, m.o.Style.Faint(fmt.Sprintf("  and %s more", render.Count(len(m.tools)-i, "call"))))
			break
		}
		text := oneLine(t.name, 40) + " " + t.gist
		if m.now.After(t.began) {
			text += " " + span(m.now.Sub(t.began))
		}
		if t.note != "" {
			text += " · " + t.note
		}
		rows = append(rows, fit(m.spinner()+" "+text, m.textWidth()))
	}
	return rows
}

// span is a duration as people read it: 340 ms, 4.2 s, 3 min 5 s.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}
