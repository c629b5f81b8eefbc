package shellcmd

import (
	"strings"
)

// aside walks something that may be a command, and returns what is sure about
// it. Nothing of it is recorded as a command.
func (w *walker) aside(walk func(*walker)) []Concern {
	if w.quiet || w.nested >= maxNested {
		return nil
	}
	q := newWalker(w.o)
	q.quiet, q.nested, q.looked, q.facts = true, w.nested+1, w.looked, w.facts
	walk(q)
	w.looked = q.looked
	var out []Concern
	for _, c := range q.line.Commands {
		out = append(out, c.Concerns...)
	}
	return out
}

// sure returns the concerns of a text that may be run as a command line.
func (w *walker) sure(text string) []Concern {
	if w.quiet || strings.Contains(text, Unknown) && !strings.Contains(text, " ") {
		return nil
	}
	return w.aside(func(q *walker) { q.text(strings.ReplaceAll(text, Unknown, "_"), feed{}) })
}

// search looks for programs with concerns among the words of a command that may
// run its words, and records them.
func (w *walker) search(args []word) {
	if w.quiet {
		return
	}
	found := 0
	for i, a := range args {
		var c []Concern
		switch {
		case a.unknown:
		case flaggedNames[Base(a.text)] && commandLike(a.text):
			found++
			c = w.aside(func(q *walker) { q.program(args[i:], feed{}) })
		case strings.ContainsAny(a.text, " ;|&\n") && flaggedNames[Base(firstWord(a.text))]:
			found++
			c = w.sure(a.text)
		}
		if len(c) > 0 {
			w.record(Command{Argv: texts(args[i:]), Concerns: c[:min(len(c), 4)]})
		}
		if found > 16 {
			w.unclear("a command", "it names too many programs among its words")
			return
		}
	}
}

func firstWord(text string) string {
	if f := strings.Fields(text); len(f) > 0 {
		return f[0]
	}
	return ""
}

// commandLike tells whether a word is the name of a program rather than a path in
// the workspace.
func commandLike(text string) bool {
	return !strings.Contains(text, "/") || strings.HasPrefix(text, "/") && strings.Contains(text, "bin/")
}
