package shellcmd

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// feed is what a command reads from its standard input.
type feed struct {
	given bool // there is something
	known bool // and it is text
	text  string
	paths bool // names of files, one by one, that a program found
}

var strange = feed{given: true}

// redirects walks the redirections of a statement and tells what it reads.
func (w *walker) redirects(s *syntax.Stmt, in feed) feed {
	if !in.given && w.facts.input {
		in = strange
	}
	for _, r := range s.Redirs {
		w.scan(r.Word)
		if r.Hdoc != nil {
			w.scan(r.Hdoc)
		}
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			w.facts.anything(strings.Trim(r.N.Value, "{}"))
		}
		input := r.N == nil || r.N.Value == "0"
		for _, target := range w.targets(r.Word) {
			in = w.redirect(r, target, input, in)
		}
	}
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(s.Redirs) > 0 && len(c.Args) > 0 && in.given {
		if argv := w.fields(c.Args, binding{}); len(argv) > 0 && argv[len(argv)-1].text == "exec" {
			w.facts.input = true
		}
	}
	return in
}

// targets are what the word of a redirection may turn out to be.
func (w *walker) targets(wd *syntax.Word) []word {
	if wd == nil {
		return []word{{}}
	}
	var out []word
	for _, choice := range w.choices([]*syntax.Word{wd}) {
		out = append(out, choice...)
	}
	if len(out) == 0 {
		return []word{{}}
	}
	return out
}

// redirect takes one redirection and tells what the command reads after it.
func (w *walker) redirect(r *syntax.Redirect, target word, input bool, in feed) feed {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		if input {
			in = hereText(w, r)
		}
	case syntax.RdrIn, syntax.DplIn:
		w.device(target, "<")
		if input {
			in = fileFeed(r.Op, target)
		}
	case syntax.RdrInOut:
		w.writes(target)
		if input {
			in = strange
		}
	case syntax.DplOut:
		if _, number := fd(target.text); !number {
			w.writes(target)
		}
	default:
		w.writes(target)
	}
	return in
}

func hereText(w *walker, r *syntax.Redirect) feed {
	var target word
	if r.Op != syntax.WordHdoc {
		if r.Hdoc != nil {
			e := &expansion{w: w, binding: binding{}}
			if quotedDelimiter(r.Word) {
				e.parts(r.Hdoc.Parts, true)
				if len(r.Hdoc.Parts) == 1 {
					if lit, ok := r.Hdoc.Parts[0].(*syntax.Lit); ok {
						return feed{given: true, known: true, text: lit.Value}
					}
				}
			} else {
				e.here = true
				e.double(r.Hdoc.Parts)
			}
			target = e.word()
		}
	} else {
		target = w.one(r.Word)
		w.later(target)
	}
	return feed{given: true, known: !target.unknown, text: target.text + "\n"}
}

func quotedDelimiter(wd *syntax.Word) bool {
	for _, p := range wd.Parts {
		if lit, ok := p.(*syntax.Lit); !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

// fileFeed is what < reads: a file of the workspace is nobody's surprise, as a
// script given by name; whatever is not a plain file is.
func fileFeed(op syntax.RedirOperator, target word) feed {
	if op == syntax.DplIn || target.unknown || special(target.text) {
		return strange
	}
	if target.text == "/dev/null" {
		return feed{given: true, known: true}
	}
	return feed{}
}

// special tells whether a path is none of a plain file.
func special(path string) bool {
	path = filepath.Clean(path)
	return path != "/dev/null" && (strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/"))
}

func fd(text string) (string, bool) {
	text = strings.TrimSuffix(text, "-")
	for _, c := range text {
		if c < '0' || c > '9' {
			return text, false
		}
	}
	return text, true
}

// output is what the next command of a pipe reads.
func (w *walker) output(s *syntax.Stmt, in feed) feed {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return strange
	}
	argv := w.fields(c.Args, binding{})
	for _, a := range argv {
		if a.unknown || a.glob {
			return strange
		}
	}
	if len(argv) == 0 || w.facts.functions[argv[0].text] || argv[0].expanded {
		return strange
	}
	name, args := argv[0].text, texts(argv[1:])
	switch text, ok := printed(name, args); {
	case ok && len(s.Redirs) == 0:
		return feed{given: true, known: true, text: text}
	case listers[name] && !(name == "grep" || name == "rg" || name == "git") || (name == "grep" || name == "rg") && some(argv[1:], func(a word) bool { return flag([]word{a}, "lL", "--files") }) || name == "git" && (strings.Contains(strings.Join(args, " "), "ls-files") || strings.Contains(strings.Join(args, " "), "--name-only")):
		return feed{given: true, paths: true}
	case name == "cat" && len(args) == 0:
		if in = w.redirects(s, in); in.known {
			return in
		}
	}
	return strange
}

// listers print names of files; those that begin with a dash are nobody's surprise.
var listers = set("find fd fdfind ls grep rg git")

// printed is what echo and printf print, where that is plain.
func printed(name string, args []string) (string, bool) {
	text := strings.Join(args, " ")
	if name == "echo" && len(args) > 0 && args[0] == "-n" {
		text = strings.Join(args[1:], " ")
		args = args[1:]
	}
	switch {
	case name == "echo" && len(args) > 0 && strings.HasPrefix(args[0], "-"), strings.Contains(text, `\`) && name == "echo":
		return "", false
	case name == "echo":
		return text + "\n", true
	case name != "printf" || len(args) == 0:
		return "", false
	}
	format := strings.ReplaceAll(args[0], `\n`, "\n")
	if len(args) == 2 && strings.TrimRight(format, "\n") == "%s" {
		return args[1] + "\n", true
	}
	return format, len(args) == 1 && !strings.ContainsAny(format, `%\`)
}
