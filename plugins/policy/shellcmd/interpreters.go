package shellcmd

import (
	"strings"
)

// scriptFile is the file among the words of an interpreter, "" where there is none.
func scriptFile(args []word, valued string) (word, bool) {
	for i := 0; i < len(args); i++ {
		a := args[i].text
		switch {
		case a == "-":
			return word{}, false
		case strings.HasPrefix(a, "-") && len(a) > 1:
			if len(a) == 2 && strings.Contains(valued, a[1:]) {
				i++
			}
		default:
			return args[i], true
		}
	}
	return word{}, false
}

// language tells how an interpreter takes code on its command line: letters of
// options with code, with another value, and with a value that is attached.
type language struct {
	code, valued, attached string
	long                   string // options with code, in whole words
}

// interpreters take code on the command line or on their standard input.
var interpreters = map[string]language{
	"python": python, "python2": python, "python3": python, "pypy": python, "pypy3": python,
	"node": node, "nodejs": node, "bun": node, "deno": {},
	"perl": {code: "eE", valued: "I", attached: "iMmFDCVx0d"}, "ruby": {code: "e", valued: "IrCE", attached: "iFKTWx0"}, "php": {code: "rBRE", valued: "dczfFS"}, "lua": {code: "e", valued: "l"}, "luajit": {code: "e", valued: "l"}, "tclsh": {}, "wish": {},
	"julia": {code: "eE", long: "--eval"}, "rscript": {code: "e"}, "r": {code: "e"}, "ghci": {code: "e"}, "guile": {code: "c"}, "sbcl": {long: "--eval"}, "clojure": {code: "e"},
	"osascript": {code: "e"}, "elixir": {code: "e", long: "--eval"}, "erl": {long: "-eval"}, "groovy": {code: "e"}, "scala": {code: "e"}, "swipl": {code: "g"}, "expect": {code: "c"},
}

var (
	python = language{code: "c", valued: "WXQm"}
	node   = language{code: "ep", valued: "rC", long: "--eval --print"}
)

// versioned names such as python3.12 stand for their program.
func interpreter(base string) (string, bool) {
	if _, ok := interpreters[base]; ok {
		return base, true
	}
	name := strings.TrimRight(base, "0123456789.")
	_, ok := interpreters[name]
	return name, ok && name != "r"
}

// inline looks at programs with code in their words or input.
func (w *walker) inline(base string, args []word, in feed) {
	switch base {
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		w.awk(args, in)
	case "sed", "gsed":
		w.sed(args)
	case "sqlite3", "duckdb", "psql", "mysql", "mariadb", "gnuplot", "gdb", "lldb", "m4", "octave", "bc", "dc", "ftp":
		for _, a := range append(texts(args), in.text) {
			if startsPrograms(a) || shellsOut(base, a) {
				w.unclear(base, "it may run other programs from the text it is given")
			}
		}
		if in.given && !in.known && (base == "m4" || base == "gdb" || base == "dc") {
			w.unclear(base, "it runs what it reads, and that is known only when it runs")
		}
	case "rpm", "rpmbuild", "rpmspec":
		if some(args, func(a word) bool { return strings.Contains(a.text, "%(") || strings.Contains(a.text, "%{lua") }) {
			w.unclear(base, "it may run other programs from the text it is given")
		}
	case "gcc", "g++", "cc", "c++", "clang", "clang++":
		if some(args, func(a word) bool {
			return a.text == "-wrapper" || strings.HasPrefix(a.text, "-B") || strings.HasPrefix(a.text, "-fplugin") || a.text == "-load" || strings.HasPrefix(a.text, "@")
		}) {
			w.unclear(base, "its options name other programs")
		}
	case "ag", "ack":
		if flag(args, "", "--pager") {
			w.unclear(base, "its options name another program")
		}
	default:
		if name, ok := interpreter(base); ok {
			w.interpreter(name, args, in)
		} else if !quietPrograms[base] {
			w.foreignCode(base, args)
		}
	}
}

// interpreter looks for calls of other programs in code; what code does itself
// cannot be told, and is bound by the file policy.
func (w *walker) interpreter(name string, args []word, in feed) {
	how := interpreters[name]
	inline := false
	for i, a := range args {
		if code, ok := how.codeIn(args, i); ok {
			w.codeText(name, code)
			inline = true
		} else if strings.HasPrefix(a.text, "-") {
			w.codeWords(name, a)
		}
	}
	if name[0] == 'p' && w.codeModule(args, in) {
		return
	}
	file, has := scriptFile(args, how.valued)
	switch {
	case inline || name[0] == 'p' && runsModule(args):
	case has && (file.process || special(file.text)):
		w.unclear(name, "it runs a text that is known only when it runs")
	case has:
		w.ran[Base(file.text)] = true
	case !in.given || name == "deno":
	case !in.known:
		w.unclear(name, "it runs what it reads, and that is known only when it runs")
	default:
		w.codeText(name, plain(in.text))
	}
}

// codeIn is the code that an option takes, attached or in the next word. Letters
// may stand together, as in -pe; what may be code is taken as code.
func (l language) codeIn(args []word, i int) (word, bool) {
	a := args[i]
	if set(l.long)[a.text] && i+1 < len(args) {
		return args[i+1], true
	}
	if name, value, ok := strings.Cut(a.text, "="); ok && set(l.long)[name] {
		return word{text: value, unknown: a.unknown, tainted: a.tainted}, true
	}
	if len(a.text) < 2 || a.text[0] != '-' || a.text[1] == '-' || set(l.long)[a.text] {
		return word{}, false
	}
	for at := 1; at < len(a.text); at++ {
		letter := a.text[at : at+1]
		rest := a.text[at+1:]
		switch {
		case strings.Contains(l.code, letter) && strings.Trim(rest, l.code) == "" && i+1 < len(args):
			return args[i+1], true
		case strings.Contains(l.code, letter) && rest != "":
			return word{text: rest, unknown: a.unknown, tainted: a.tainted}, true
		case strings.Contains(l.code, letter), strings.Contains(l.valued, letter), strings.Contains(l.attached, letter) && strings.Trim(rest, "0123456789") != "":
			return word{}, false
		}
	}
	return word{}, false
}

// codeModules of python run code that they are given.
var codeModules = set("timeit trace code pdb profile cProfile runpy asyncio idlelib cgitb bdb this codeop")

// codeModule looks at python -m with such a module; it tells whether it is one.
func (w *walker) codeModule(args []word, in feed) bool {
	module, rest, ok := pythonModule(args)
	if !ok || !codeModules[module] {
		return false
	}
	if in.given && (!in.known || startsPrograms(in.text)) || some(rest, func(b word) bool { return b.tainted || special(b.text) || startsPrograms(b.text) }) {
		w.unclear("python -m "+module, "it runs code that may start other programs")
	}
	return true
}

// pythonModule is the module that python runs, and the words behind it.
func pythonModule(args []word) (name string, rest []word, ok bool) {
	for i, a := range args {
		if len(a.text) < 2 || a.text[0] != '-' || a.text[1] == '-' {
			continue
		}
		at := strings.IndexAny(a.text, python.code+python.valued)
		switch {
		case at < 0 || a.text[at] != 'm':
		case at+1 < len(a.text):
			return a.text[at+1:], args[i+1:], true
		case i+1 < len(args):
			return args[i+1].text, args[i+2:], true
		}
	}
	return "", nil, false
}

func runsModule(args []word) bool {
	_, _, ok := pythonModule(args)
	return ok
}
