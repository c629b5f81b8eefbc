package policy

import (
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/host/hook"
)

// Tools that the policy knows the arguments of.
const (
	toolShell  = "shell"
	toolWrite  = "write"
	toolEdit   = "edit"
	toolFetch  = "web_fetch"
	toolSearch = "web_search"
)

// arguments are those that the policy looks at, of any tool.
type arguments struct {
	Command       string   `json:"command"`
	Workdir       string   `json:"workdir"`
	FilePolicy    string   `json:"file_policy"`
	Justification string   `json:"justification"`
	FilePath      string   `json:"file_path"`
	Path          string   `json:"path"`
	URL           string   `json:"url"`
	Queries       []string `json:"queries"`
	Query         string   `json:"query"`
}

// judge finds out what is to be said about a call.
func (p *Provider) judge(at place, call hook.ToolCall) finding {
	f := finding{bound: p.standing(), subject: fmt.Sprintf("call the tool %s", call.Name)}
	if rule, ok := wholeRule(p.config.Deny, call.Name); ok {
		f.deny = textRule(rule.Written, call.Name)
		return f
	}
	var args arguments
	err := json.Unmarshal(call.Arguments, &args)
	switch call.Name {
	case toolShell, toolWrite, toolEdit, toolFetch, toolSearch:
		if err != nil {
			f.deny = fmt.Sprintf("the arguments of %s cannot be read, so that it cannot be decided about: %v. Write each argument in the form that the tool describes.", call.Name, err)
			return f
		}
	}
	switch call.Name {
	case toolShell:
		p.shell(&f, at, args)
	case toolWrite, toolEdit:
		p.file(&f, at, call.Name, args.FilePath)
	case toolFetch:
		p.fetch(&f, args.URL)
	case toolSearch:
		p.search(&f, args)
	default:
		p.other(&f, at, call, args)
	}
	if rule, ok := wholeRule(p.config.Ask, call.Name); ok && f.deny == "" {
		f.ask(fmt.Sprintf("the rule %q asks about it", rule.Written), call.Name+"\x00"+string(call.Arguments))
		if f.detail == "" {
			f.detail = string(call.Arguments)
		}
	}
	return f
}

// wholeRule is the first rule about every call of a tool.
func wholeRule(rules []Rule, tool string) (Rule, bool) {
	for _, r := range rules {
		if r.covers(tool) && r.whole() {
			return r, true
		}
	}
	return Rule{}, false
}

// firstRule is the first rule with a pattern about a tool that fits.
func firstRule(rules []Rule, tool string, fits func(Rule) bool) (Rule, bool) {
	for _, r := range rules {
		if r.covers(tool) && !r.whole() && fits(r) {
			return r, true
		}
	}
	return Rule{}, false
}

// allowed tells whether a rule allows what fits, or the whole tool.
func (p *Provider) allowed(tool string, fits func(Rule) bool) bool {
	if _, ok := wholeRule(p.config.Allow, tool); ok {
		return true
	}
	_, ok := firstRule(p.config.Allow, tool, fits)
	return ok
}

// ruled applies the rules that deny and that ask. It tells whether one did.
func (p *Provider) ruled(f *finding, tool, key string, fits func(Rule) bool) bool {
	if rule, ok := firstRule(p.config.Deny, tool, fits); ok {
		f.deny = textRule(rule.Written, tool)
		return true
	}
	if rule, ok := firstRule(p.config.Ask, tool, fits); ok {
		f.ask(fmt.Sprintf("the rule %q asks about it", rule.Written), key)
		return true
	}
	return false
}

// other judges a tool of another plugin: rules alone speak.
func (p *Provider) other(f *finding, at place, call hook.ToolCall, args arguments) {
	f.detail = string(call.Arguments)
	key := call.Name + "\x00" + string(call.Arguments)
	path := args.FilePath
	if path == "" {
		path = args.Path
	}
	forms := p.forms(at, path)
	p.ruled(f, call.Name, key, func(r Rule) bool {
		return r.command(string(call.Arguments)) || path != "" && r.path(forms.all()...) || args.URL != "" && r.command(args.URL)
	})
}
