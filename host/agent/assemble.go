package agent

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// assembled is what a request shows besides the conversation.
type assembled struct {
	system  string
	context string // "" = nothing to say
	own     []ownContext
	header  session.Header
}

// assemble renders the system prompt, the runtime context and the header. The
// sections of host and plugins are asked for once a window, contexts each time.
func (a *Agent) assemble(ctx context.Context) (assembled, error) {
	var p assembled
	sections, err := a.allSections(ctx)
	if err != nil {
		return p, err
	}
	vars := map[string]string{"model": a.Info.Name, "provider": a.Info.Provider}
	if p.system, err = prompt.Assemble(sections, vars, a.Tools.Has); err != nil {
		return p, err
	}
	p.system = tool.Clean(p.system)
	before := false
	var contexts []prompt.Context
	a.rec.view(func(s *fold.State) { contexts, before = facts(s), s.Context != "" })
	offered, err := a.contexts(ctx)
	if err != nil {
		return p, err
	}
	for i, more := range offered {
		for _, c := range more {
			switch {
			case !c.Own:
				contexts = append(contexts, c)
			case c.Text != "" && (c.Tool == "" || a.Tools.Has(c.Tool)):
				p.own = append(p.own, ownContext{a.Prompts[i].Name() + "/" + c.ID, tool.Clean(c.Text)})
			}
		}
	}
	if a.gone != "" {
		p.own = append(p.own, ownContext{"host/directory", fmt.Sprintf(textGone, a.gone, a.Directory())})
	}
	p.context = prompt.RuntimeContext(contexts, a.Tools.Has, before)
	p.header = session.Header{
		Provider: a.Info.Provider, Model: a.Info.Name, ContextWindow: a.Info.ContextWindow, WindowSource: a.Info.WindowSource,
		MaxOutputTokens: a.Info.MaxOutputTokens, Effort: a.Effort, Params: a.Params,
		Tools: a.Tools.Declarations(), ToolsDigest: a.Tools.Digest(),
	}
	return p, nil
}

// contexts asks all plugins side by side; the answers stand in their order.
func (a *Agent) contexts(ctx context.Context) ([][]prompt.Context, error) {
	offered := make([][]prompt.Context, len(a.Prompts))
	group, ctx := errgroup.WithContext(ctx)
	for i, provider := range a.Prompts {
		group.Go(func() (err error) {
			if offered[i], err = provider.Contexts(ctx, a.rec.log.ID()); err != nil {
				err = &pluginError{"contexts", provider.Name(), err}
			}
			return err
		})
	}
	return offered, group.Wait()
}

// ownContext is a runtime context that is a message of its own; from is
// "plugin/id".
type ownContext struct{ from, text string }

// textModelChanged tells a model whose words it finds above (L14).
const textModelChanged = "The model was changed here: the answers above were written by %q, from here on it is %q."

// facts are what the host itself knows of the running environment (SP4).
func facts(s *fold.State) []prompt.Context {
	text := fmt.Sprintf("Working directory: %q.", s.Directory)
	if s.Directory != s.Created.Workspace {
		text += fmt.Sprintf(" The session began in %q, which stays its workspace.", s.Created.Workspace)
	}
	contexts := []prompt.Context{{ID: "host:workspace", Order: prompt.OrderWorkspace, Text: text}}
	if s.Created.Parent != "" {
		contexts = append(contexts, prompt.Context{ID: "host:subagent", Order: prompt.OrderWorkspace + 1, Text: textSubagent})
	}
	return contexts
}

// textGone tells where tools start from instead (SP4).
const textGone = "The working directory %q of earlier steps is unavailable. Tools start from %q."

// textSubagent is a subagent's boundary.
const textSubagent = "You are a subagent: another agent gave you this task and waits for your last answer, which is all that it sees of your work. " +
	"Nobody can be asked and no approval can be had in this session; what you may do was settled when you were started. " +
	"Where the task needs more than that, do not look for a way around it: say in your last answer what is missing, so that the agent above can see to it."

func (a *Agent) allSections(ctx context.Context) ([]prompt.Section, error) {
	a.mu.Lock()
	shared, strategy := a.shared, a.sections
	a.mu.Unlock()
	if shared == nil {
		shared = prompt.Defaults(a.Persona.Prefix, a.Persona.Suffix)
		for _, s := range a.Tools.Specs() {
			if s.Guidance != "" {
				shared = append(shared, prompt.Section{ID: "tool:" + s.Name, Order: prompt.OrderTools + s.GuidanceOrder%prompt.OrderTools, Text: s.Guidance, Raw: true, Tool: s.Name})
			}
		}
		for _, provider := range a.Prompts {
			more, err := provider.Sections(ctx, a.rec.log.ID())
			if err != nil {
				return nil, &pluginError{"sections", provider.Name(), err}
			}
			shared = append(shared, more...)
		}
		a.mu.Lock()
		a.shared = shared
		a.mu.Unlock()
	}
	all := append([]prompt.Section(nil), shared...)
	for _, s := range strategy {
		all = append(all, prompt.Section{ID: s.ID, Order: s.Order, Text: s.Text, Raw: true})
	}
	return all, nil
}

// pluginError is a plugin that did not give what it declared.
type pluginError struct {
	what, plugin string
	err          error
}

func (e *pluginError) Error() string {
	return fmt.Sprintf("%s of plugin %q: %v", e.what, e.plugin, e.err)
}
func (e *pluginError) Unwrap() error       { return e.err }
func (e *pluginError) FailureCode() string { return "PLUGIN_FAILED" }

// fixedTokens estimates the prompt without the strategy's sections.
func (a *Agent) fixedTokens(ctx context.Context) (int, error) {
	p, err := a.assemble(ctx)
	if err != nil {
		return 0, err
	}
	return llm.Estimate(llm.Text(llm.RoleSystem, p.system)) + llm.EstimateTools(p.header.Tools), nil
}

// events returns what the assembled prompt adds to a surface: node 0, a header
// and a runtime context, each only where it changed (L11, L12, L13).
func (p assembled) events(s *fold.State, inHistory bool) []session.Event {
	events := p.head(s, inHistory)
	if s.Header != nil && (s.Header.Provider != p.header.Provider || s.Header.Model != p.header.Model) {
		events = append(events, userMessage(fmt.Sprintf(textModelChanged, s.Header.Model, p.header.Model), session.SourceHost, "", 0))
	}
	if text := p.toolsChanged(s); text != "" {
		events = append(events, userMessage(text, session.SourceHost, "", 0))
	}
	if s.Header == nil || !sameHeader(*s.Header, p.header) {
		events = append(events, session.New(session.KindRequestHeader, p.header))
	}
	if p.context != "" && p.context != s.Context {
		events = append(events, userMessage(p.context, session.SourceContext, "", 0))
	}
	for _, c := range p.own {
		if s.Standing(c.from) != c.text {
			events = append(events, userMessage(c.text, session.SourceContext, c.from, 0))
		}
	}
	return events
}

// textToolsChanged tells a model that its tools are others than those of the calls
// above (SP8).
const textToolsChanged = "The tools were changed here.%s Call only what is declared now; the calls above were made with the tools of their time."

// toolsChanged says by name which tools came, went or are declared otherwise since
// the header before, "" where none did (SP8).
func (p assembled) toolsChanged(s *fold.State) string {
	if s.Header == nil || s.Header.ToolsDigest == p.header.ToolsDigest {
		return ""
	}
	before := map[string]llm.Tool{}
	for _, t := range s.Header.Tools {
		before[t.Name] = t
	}
	var added, changed, removed []string
	for _, t := range p.header.Tools {
		old, known := before[t.Name]
		delete(before, t.Name)
		switch {
		case !known:
			added = append(added, t.Name)
		case old.Description != t.Description || !bytes.Equal(old.Schema, t.Schema):
			changed = append(changed, t.Name)
		}
	}
	for _, t := range s.Header.Tools { // in the order in which the model knew them
		if _, gone := before[t.Name]; gone {
			removed = append(removed, t.Name)
		}
	}
	text := ""
	for _, list := range []struct {
		what  string
		names []string
	}{{"Added", added}, {"Removed", removed}, {"With another declaration", changed}} {
		if len(list.names) > 0 {
			text += fmt.Sprintf(" %s: %s.", list.what, strings.Join(list.names, ", "))
		}
	}
	if text == "" { // only the order is another
		return ""
	}
	return fmt.Sprintf(textToolsChanged, text)
}

// head returns the event that brings the system prompt up to date, if any.
func (p assembled) head(s *fold.State, inHistory bool) []session.Event {
	op := session.Op{Kind: session.OpAppend}
	if len(s.Surface.Nodes) == 0 {
		return []session.Event{p.systemMessage(op)}
	}
	node := s.Surface.Nodes[0]
	for _, n := range s.Surface.Nodes {
		if n.Kind == session.KindMessageSystem {
			node = n // the newest one speaks
		}
	}
	if node.Message.Text() == p.system {
		return nil
	}
	if !inHistory {
		first := s.Surface.Nodes[0].Seq
		op = session.Op{Kind: session.OpReplace, From: first, To: first}
	}
	return []session.Event{p.systemMessage(op)}
}

func (p assembled) systemMessage(op session.Op) session.Event {
	return session.New(session.KindMessageSystem, session.Message{Message: llm.Text(llm.RoleSystem, p.system)}).On(op)
}

// pendingTokens estimates what events add to the surface.
func (p assembled) pendingTokens(s *fold.State, messages []session.Event, inHistory bool) int {
	tokens := 0
	for _, e := range append(p.events(s, inHistory), messages...) {
		if e.Op == nil {
			continue
		}
		if m, err := session.Decode[session.Message](e); err == nil {
			tokens += estimate(m)
		}
		if e.Op.Kind == session.OpReplace { // which only the system prompt does, of node 0
			tokens -= s.Surface.Nodes[0].Tokens
		}
	}
	if s.Header == nil || s.Header.ToolsDigest != p.header.ToolsDigest {
		tokens += llm.EstimateTools(p.header.Tools) - s.ToolTokens()
	}
	return tokens
}

func sameHeader(a, b session.Header) bool {
	if a.ToolsDigest != b.ToolsDigest {
		return false
	}
	a.Tools, b.Tools = nil, nil
	if len(a.Params) == 0 && len(b.Params) == 0 {
		a.Params, b.Params = nil, nil
	} else {
		a.Params, b.Params = jsonLike(a.Params), jsonLike(b.Params)
	}
	return reflect.DeepEqual(a, b)
}

// jsonLike makes integers compare equal to what they are after a decode.
func jsonLike(m map[string]any) map[string]any {
	out := maps.Clone(m)
	for k, v := range out {
		switch n := v.(type) {
		case int:
			out[k] = float64(n)
		case int64:
			out[k] = float64(n)
		}
	}
	return out
}
