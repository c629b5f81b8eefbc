package chat

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/command"
)

// builtin are the commands of the chat itself. Those of plugins with the same name
// are not reached.
var builtin = []command.Command{
	{Name: "compact", Usage: "[instructions]", Description: "shorten the conversation now"},
	{Name: "context", Description: "how full the context is, and with what"},
	{Name: "cost", Description: "model calls, tokens and price by kind"},
	{Name: "export", Usage: "[FILE]", Description: "write the session to a file, .md or .jsonl"},
	{Name: "help", Description: "keys and commands"},
	{Name: "model", Usage: "[NAME]", Description: "show the model, or go on with another"},
	{Name: "notes", Usage: "[ADDRESS]", Description: "the notes of this session, or one of them"},
	{Name: "quit", Description: "leave; the session is kept"},
	{Name: "undo", Description: "take the newest compaction back, until the next answer"},
}

// commands are all there are, by name.
func (m *model) commands() []command.Command {
	all := slices.Clone(builtin)
	for _, c := range m.facts.Commands {
		if !slices.ContainsFunc(builtin, func(b command.Command) bool { return b.Name == c.Name }) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b command.Command) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// replyMsg is what a command said.
type replyMsg struct {
	text string
	err  error
}

// slash runs a command that the person typed.
func (m *model) slash(name, arguments string) tea.Cmd {
	m.block(blockUser)
	m.printStyled(m.o.Style.Cyan, indented("› ", strings.TrimSpace("/"+name+" "+clean(arguments)), m.textWidth()))
	switch name {
	case "quit", "exit":
		return m.quit(nil)
	case "help":
		m.help()
		return nil
	case "context":
		return m.work(func(s Session) (string, error) {
			meter, err := s.Access().Meter(m.ctx)
			if err != nil {
				return "", err
			}
			more, err := s.Context(m.ctx)
			return howFull(meter, m.textWidth()) + "\n" + more, err
		})
	case "cost":
		return m.work(m.cost)
	case "compact":
		if m.turn {
			m.warn("a turn is running: /compact shortens the conversation between two turns", "wait for its end, or press Esc first")
			return nil
		}
		m.send(func(s Session) error { return s.Compact(m.ctx, arguments) }, "")
		return nil
	case "undo":
		if arguments != "" {
			m.warn("/undo takes no words: it takes the newest compaction back", "send /undo alone")
			return nil
		}
		if m.busy() || len(m.queue) > 0 || len(m.sends) > 0 {
			m.warn("the agent works: /undo takes a compaction back between two turns", "wait for its end, or press Esc first")
			return nil
		}
		m.send(func(s Session) error { return s.Undo(m.ctx) }, "")
		return nil
	case "notes":
		return m.work(func(s Session) (string, error) { return s.Notes(m.ctx, arguments) })
	case "export":
		return m.work(func(s Session) (string, error) {
			file, err := s.Export(m.ctx, arguments)
			return "written to " + file, err
		})
	case "model":
		return m.changeModel(arguments)
	}
	return m.work(func(s Session) (string, error) {
		text, err := s.Command(m.ctx, name, arguments)
		if errors.Is(err, agent.ErrNoCommand) {
			return "", m.unknown(name)
		}
		if err == nil && strings.TrimSpace(text) == "" {
			text = "done"
		}
		return text, err
	})
}

// unknown names the commands that were probably meant.
func (m *model) unknown(name string) error {
	var names, close []string
	for _, c := range m.commands() {
		names = append(names, c.Name)
		if strings.HasPrefix(c.Name, name) || strings.HasPrefix(name, c.Name) {
			close = append(close, "/"+c.Name)
		}
	}
	if m.o.Nearest != nil {
		if near := m.o.Nearest(name, names); near != "" && !slices.Contains(close, "/"+near) {
			close = append(close, "/"+near)
		}
	}
	if len(close) == 0 {
		return fmt.Errorf("there is no command /%s; /help lists what there is", name)
	}
	return fmt.Errorf("there is no command /%s; did you mean %s?", name, strings.Join(close, " or "))
}

// changeModel shows the model or changes it.
func (m *model) changeModel(name string) tea.Cmd {
	switch {
	case name == "":
		window := "window unknown"
		if m.facts.Window > 0 {
			window = fmt.Sprintf("window %d (%s)", m.facts.Window, m.facts.WindowSource)
		}
		m.reply(fmt.Sprintf("%s, %s, profile %s, strategy %s", m.facts.Model, window, m.facts.Profile, m.facts.Strategy))
		return nil
	case m.busy() || len(m.queue) > 0 || len(m.sends) > 0:
		m.warn("the agent works: the model can be changed between two turns", "wait for its end, or press Esc first")
		return nil
	case len(strings.Fields(name)) != 1:
		m.warn("/model takes one name", "")
		return nil
	}
	m.closing = true
	return guarded(func() tea.Msg {
		facts, err := m.session.SetModel(m.ctx, name)
		return modelMsg{facts, err}
	})
}

// modelMsg tells that the session is open again; the facts count where err is nil.
type modelMsg struct {
	facts Facts
	err   error
}

func (m *model) modelChanged(msg modelMsg) {
	m.closing = false
	if msg.err != nil {
		m.refused(msg.err)
		return
	}
	m.facts, m.meter = msg.facts, msg.facts.Meter
	m.notice(m.o.Style.Cyan, "· ", "the session goes on with model "+m.facts.Model)
}

// cost counts the whole session, from its log.
func (m *model) cost(s Session) (string, error) {
	var all usages
	for e, err := range s.Access().Events(m.ctx, usageQuery) {
		if err != nil {
			return "", err
		}
		all.event(e)
	}
	return all.table(m.facts.Cost), nil
}

// reply prints what a command said; it is for the person alone.
func (m *model) reply(text string) {
	m.block(blockReply)
	for line := range strings.SplitSeq(strings.TrimRight(clean(text), "\n"), "\n") {
		m.print(indented("  ", line, m.textWidth())...)
	}
}
