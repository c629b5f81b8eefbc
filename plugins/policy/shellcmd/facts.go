package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// facts are what a pass over a line learns and the next one starts from.
type facts struct {
	values    map[string]*values
	functions map[string]bool
	dirs      []string          // where commands may run; nil where it cannot be told
	lost      bool              // the directory cannot be told
	input     bool              // exec moved the standard input
	real      map[string]string // paths whose symlinks were followed
	gitDir    bool              // the line asks git where it keeps its things
	proxy     bool              // some variable may lead connections elsewhere
	integer   bool              // some variable takes its value by arithmetic
}

// values are what a line gives a variable.
type values struct {
	known   []string
	tainted bool // something else too, that can be anything
}

func (f *facts) set(name string, value word) {
	v := f.values[name]
	if v == nil {
		v = &values{}
		f.values[name] = v
	}
	switch {
	case value.unknown && !value.tainted:
	case value.tainted, len(v.known) >= maxChoices, value.glob:
		v.tainted = v.tainted || value.tainted || !value.glob || value.loose && strings.IndexAny(value.text, "*?[") == 0
	case !slices.Contains(v.known, value.text):
		v.known = append(v.known, value.text)
	}
}

// anything says that a variable gets what nobody can tell.
func (f *facts) anything(name string) { f.set(name, word{unknown: true, tainted: true}) }

// taints tells whether an expansion can be anything: a variable of the line that
// has no known value, a parameter of a function, a text put together on the way.
// Variables from outside are taken as they are meant.
func (w *walker) taints(p *syntax.ParamExp) bool {
	if p.Length {
		return false
	}
	if p.Param == nil || p.Excl || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return true
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
			if v := w.facts.values[p.Param.Value]; v != nil && len(v.known) > 0 {
				return true
			}
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		default:
			return true
		}
	}
	name := p.Param.Value
	if v := w.facts.values[name]; v != nil {
		return v.tainted || len(v.known) > 0
	}
	switch name {
	case "#", "?", "$", "!", "UID", "EUID", "PPID", "RANDOM", "SECONDS", "LINENO", "PWD", "OLDPWD":
		return false
	case "@", "*", "-", "_", "REPLY":
		return true
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return true
	}
	return strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "FUNC")
}

// tamePrograms print a path, a number, a date or a name that looks like none else.
var tamePrograms = set("date wc nproc id uname hostname pwd mktemp dirname basename realpath seq")

// tame tells whether a command substitution is known to print nothing that could
// be taken for an option or for code.
func (w *walker) tame(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 {
		return false
	}
	call, ok := last(stmts[0]).(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return false
	}
	argv := w.fields(call.Args, binding{})
	if len(argv) == 0 || argv[0].expanded || w.facts.functions[argv[0].text] {
		return false
	}
	for _, a := range argv[1:] {
		text := strings.TrimPrefix(a.text, "+") // a format of date
		if a.tainted || strings.ContainsAny(text, "$`[") || strings.Contains(a.text, "/-") || text != a.text && !strings.HasPrefix(text, "%") || len(text) > 2 && text[0] == '-' && argv[0].text != "git" {
			return false
		}
	}
	if argv[0].text == "git" && len(argv) > 1 {
		return argv[1].text == "rev-parse" || argv[1].text == "describe" || argv[1].text == "merge-base"
	}
	return tamePrograms[argv[0].text]
}

// last is the command that makes the output of a statement.
func last(s *syntax.Stmt) syntax.Command {
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe {
			return s.Cmd
		}
		s = b.Y
	}
}

// set makes a lookup of words.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(words) {
		m[f] = true
	}
	return m
}
