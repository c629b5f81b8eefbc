package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call walks a simple command of the line.
func (w *walker) call(c *syntax.CallExpr, in feed) {
	for _, a := range c.Assigns {
		if a.Name != nil && a.Name.Value == "IFS" && len(c.Args) > 0 && c.Args[0].Lit() == "read" && !w.facts.functions["read"] {
			w.scan(a.Value) // it is for this read alone
			continue
		}
		w.scan(a)
	}
	for _, a := range c.Args {
		w.scan(a)
	}
	if len(c.Args) == 0 {
		return
	}
	for _, argv := range w.choices(c.Args) {
		w.program(argv, in)
	}
}

// program looks at one program with its words.
func (w *walker) program(argv []word, in feed) {
	if len(argv) == 0 || w.spent() {
		return
	}
	w.depth++
	w.looked += len(argv) / 50 // long commands count for more
	defer func() { w.depth-- }()
	c := Command{Argv: texts(argv)}
	name, args := argv[0], argv[1:]
	if why := w.vague(name); why != "" {
		c.Concerns = append(c.Concerns, Concern{Unclear, why})
	}
	if name.unknown {
		w.record(c)
		w.search(argv)
		return
	}
	base := Base(name.text)
	if base == "." || base == ".." || strings.HasSuffix(name.text, "/") {
		base = name.text
	}
	c.Concerns = append(c.Concerns, w.concerns(base, args)...)
	w.record(c)
	w.runs(name.text)
	if w.builtin(base, args, in) || w.shell(base, args, in) || w.wrapper(base, args, in) {
		return
	}
	w.inline(base, args, in)
	w.runner(base, args, in)
	if !quietPrograms[base] {
		w.search(args)
	}
}

// vague tells why the name of a program is not what it seems.
func (w *walker) vague(name word) string {
	switch {
	case name.expanded, name.process:
		return "which program it runs is known only when it runs"
	case name.glob && name.text != "[":
		return "which program it runs depends on the files that are there"
	case name.text == "":
		return "the name of the program is empty"
	case w.defining[name.text]:
		return "a function calls itself"
	}
	for _, r := range name.text {
		if r < ' ' || r > '~' {
			return "the name of the program has characters that look like others"
		}
	}
	return ""
}

// record adds a command once.
func (w *walker) record(c Command) {
	if w.quiet {
		c.Concerns = slices.DeleteFunc(c.Concerns, func(n Concern) bool { return n.Kind == Unclear })
	}
	key := c.Text()
	for _, n := range c.Concerns {
		key += Unknown + string(n.Kind) + n.Why
	}
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	w.line.Commands = append(w.line.Commands, c)
}

func (w *walker) unclear(written, why string) {
	const most = 200
	if len(written) > most {
		written = written[:most] + "…"
	}
	w.record(Command{Written: written, Concerns: []Concern{{Unclear, why}}})
}
