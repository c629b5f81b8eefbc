package shellcmd

import (
	"path/filepath"
	"slices"
	"strings"
)

// builtin looks at builtins of bash that run, define or evaluate something. It
// tells whether nothing is left to look at.
func (w *walker) builtin(base string, args []word, in feed) bool {
	switch base {
	case "eval":
		w.code(args, in)
	case "trap":
		w.trap(args)
	case "source", ".":
		w.source(args)
	case "cd", "pushd", "popd":
		w.cd(base, args)
	case "alias":
		if len(args) > 0 && strings.Contains(args[len(args)-1].text+args[0].text, "=") || hidesAny(args) {
			w.unclear("alias", "it gives a command another name")
		}
	case "enable", "bind":
		if len(args) > 0 {
			w.unclear(base, "it changes what the shell's own commands do")
		}
	case "hash":
		if some(args, func(a word) bool { return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "p") || a.hides() }) {
			w.unclear(base, "it changes which program a name stands for")
		}
	case "fc", "history":
		if len(args) > 0 {
			w.unclear(base, "it runs or changes commands of before")
		}
	case "compgen", "complete":
		if len(args) > 0 {
			w.unclear(base, "it may run commands for a completion")
		}
	case "set", "shopt":
		w.options(base, args)
	default:
		return w.evaluates(base, args, in)
	}
	return true
}

// evaluates looks at builtins that take names of variables, which bash evaluates.
func (w *walker) evaluates(base string, args []word, in feed) bool {
	switch base {
	case "export", "declare", "typeset", "local", "readonly":
		w.facts.integer = w.facts.integer || base != "export" && flag(args, "i", "")
		if base != "export" && base != "readonly" && some(args, func(a word) bool { return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "n") || a.hides() }) {
			w.unclear(base, "it makes names stand for other variables")
		}
		w.each(args, w.value)
	case "let", "test", "[", "unset", "wait":
		w.each(args, w.later)
		names := base == "let" || base == "unset" || mentions(args, "-v", "-R", "-p")
		if names && some(args, func(a word) bool { return a.tainted }) {
			w.unclear(base, "it evaluates what is known only when it runs")
		}
	case "read", "mapfile", "readarray", "getopts":
		w.reads(base, args, in)
	case "printf":
		w.each(args, w.later)
		if len(args) > 1 && strings.HasPrefix(args[0].text, "-v") {
			name := args[1]
			if args[0].text != "-v" {
				name = plain(args[0].text[2:])
			}
			w.value(word{text: name.text + "=" + Unknown, unknown: true, tainted: true})
		}
	default:
		return false
	}
	return true
}

func (w *walker) each(args []word, do func(word)) {
	for _, a := range args {
		do(a)
	}
}

// reads takes builtins that put input into variables.
func (w *walker) reads(base string, args []word, in feed) {
	if in.known {
		w.later(plain(in.text))
	}
	for i, a := range args {
		w.later(a)
		if strings.HasPrefix(a.text, "-") {
			if base != "read" && base != "getopts" && strings.Contains(a.text, "C") {
				if text := a.text[strings.Index(a.text, "C")+1:]; text != "" {
					w.code([]word{{text: text, unknown: a.unknown}}, feed{})
				} else if i+1 < len(args) {
					w.code(args[i+1:i+2], feed{})
				}
			}
			continue
		}
		w.value(word{text: a.text + "=" + Unknown, unknown: true, tainted: true})
	}
}

// code takes words that are joined and read as a command line.
func (w *walker) code(args []word, in feed) {
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	text := strings.Join(texts(args), " ")
	if some(args, func(a word) bool { return a.unknown || a.glob && a.loose }) {
		w.unclear(text, "it runs a text that is known only when it runs")
		text = strings.ReplaceAll(text, Unknown, "_")
		for _, c := range w.sure(text) {
			w.record(Command{Written: text, Concerns: []Concern{c}})
		}
		return
	}
	w.text(text, in)
}

func (w *walker) trap(args []word) {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") && len(args[0].text) > 1 {
		args = args[1:]
	}
	if len(args) > 1 {
		w.code(args[:1], strange)
	}
}

func (w *walker) source(args []word) {
	if len(args) == 0 {
		return
	}
	file := args[0]
	if file.text == "--" && len(args) > 1 {
		file = args[1]
	}
	if file.process || special(file.text) || file.unknown && strings.HasPrefix(file.text, Unknown) && file.tainted {
		w.unclear("source "+file.text, "it runs a text that is known only when it runs")
	}
	w.ran[Base(file.text)] = true
}

// cd notes where the commands after it may run.
func (w *walker) cd(base string, args []word) {
	args = slices.DeleteFunc(slices.Clone(args), func(a word) bool { return strings.HasPrefix(a.text, "-") && len(a.text) > 1 })
	if base == "popd" || len(args) == 0 && base == "pushd" {
		return
	}
	to := word{text: w.o.Home, unknown: w.o.Home == ""}
	if len(args) > 0 {
		to = args[0]
	}
	if to.text == "-" {
		return // one that was there before
	}
	if rest, ok := strings.CutPrefix(to.text, "~/"); ok && w.o.Home != "" {
		to.text = filepath.Join(w.o.Home, rest)
	}
	if to.unknown || to.glob || strings.HasPrefix(to.text, "~") || len(w.facts.dirs) > 32 {
		w.facts.lost = true
		return
	}
	for _, dir := range slices.Clone(w.facts.dirs) {
		next := to.text
		if !filepath.IsAbs(next) {
			next = filepath.Join(dir, next)
		}
		if !slices.Contains(w.facts.dirs, next) {
			w.facts.dirs = append(w.facts.dirs, next)
		}
	}
}

// options looks for options of the shell that change how the rest is read.
func (w *walker) options(base string, args []word) {
	w.each(args, w.later)
	for i, a := range args {
		switch {
		case a.text == "--":
			return
		case a.hides(), base == "shopt" && a.text == "expand_aliases",
			base == "set" && strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "k"),
			base == "set" && i > 0 && (a.text == "keyword" || a.text == "posix"):
			w.unclear(base+" "+a.text, "it changes how the rest of the line is read")
		}
	}
}

func some(args []word, is func(word) bool) bool { return slices.ContainsFunc(args, is) }

func hidesAny(args []word) bool { return some(args, word.hides) }
