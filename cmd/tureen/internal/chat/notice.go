package chat

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

// failure prints why a turn did not complete; the session goes on.
func (m *model) failure(reason string, f session.Failure) {
	code, text := cmp.Or(f.Code, reason), f.Message
	if !strings.Contains(text, code) {
		text = code + ": " + text
	}
	m.notice(m.o.Style.Red, "✗ ", text)
	hint := f.Hint
	if f.Code == "INTERRUPTED" && hint == "" {
		hint = "say how to go on"
	}
	if hint == "" && m.o.Hint != nil {
		hint = m.o.Hint(f.Code)
	}
	if hint != "" {
		m.printStyled(m.o.Style.Yellow, indented("  ", "hint: "+clean(hint), m.textWidth()))
	}
}

// refused prints why something that the person asked for did not come about.
func (m *model) refused(err error) {
	f := failureOf(err)
	m.notice(m.o.Style.Red, "✗ ", f.Message)
	if f.Hint != "" {
		m.printStyled(m.o.Style.Yellow, indented("  ", "hint: "+clean(f.Hint), m.textWidth()))
	}
}

func (m *model) plugin(p session.PluginState) {
	if p.State == "stopped" || p.State == "started" && p.Generation <= 1 {
		return
	}
	text := fmt.Sprintf("plugin %s %s (generation %d)", p.Plugin, p.State, p.Generation)
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	m.warn(text, "")
}

// archived tells that the session takes no step, or takes steps again.
func (m *model) archived(is bool) {
	if is {
		m.warn(render.Archived(session.Archived{Archived: true}), "tureen session archive --undo "+m.facts.ID+" takes it out again")
		return
	}
	m.notice(m.o.Style.Cyan, "· ", render.Archived(session.Archived{}))
}

// notice prints a line of the host's; text may be anybody's.
func (m *model) notice(style func(string) string, prefix, text string) {
	m.block(blockNotice)
	m.printStyled(style, indented(prefix, clean(text), m.textWidth()))
}

func (m *model) warn(message, hint string) {
	m.notice(m.o.Style.Yellow, "! ", message)
	if hint != "" {
		m.printStyled(m.o.Style.Yellow, indented("  ", "hint: "+clean(hint), m.textWidth()))
	}
}
