package shellcmd

import (
	"regexp"
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

// codeText looks at a text of code.
func (w *walker) codeText(name string, code word) {
	if code.unknown && code.tainted && strings.HasPrefix(code.text, Unknown) {
		w.unclear(name, "it runs a text that is known only when it runs")
	}
	if startsPrograms(code.text) || startsIn(name, code.text) {
		w.unclear(name, "its code may start other programs")
	}
	w.codeWords(name, code)
	for _, m := range quoted.FindAllStringSubmatch(code.text, 64) {
		w.written[Base(m[1])] = true
	}
}

// quoted are the texts within code that may name a file.
var quoted = regexp.MustCompile(`["']([A-Za-z0-9_./-]{1,200})["']`)

// codeWords looks for what code says that it does to files and other machines.
func (w *walker) codeWords(name string, code word) {
	if m := connects.FindString(code.text); m != "" {
		w.record(Command{Written: name + " … " + m, Concerns: []Concern{{Network, "its code may reach other machines"}}})
	}
	if m := removes.FindString(code.text); m != "" {
		w.record(Command{Written: name + " … " + m, Concerns: []Concern{{Destructive, "its code may remove files"}}})
	}
}

// starters are words of many languages that start a program, or load code that
// was made on the way.
var starters = set(`system popen popen2 popen3 popen4 subprocess spawn spawnv spawnve spawnl spawnlp spawnsync spawnvp exec execl execle execlp execlpe execv execve execvp execvpe
	execsync execfile execfilesync posix_spawn child_process shell_exec passthru proc_open pcntl_exec qx getoutput getstatusoutput open3 pty ctypes eval __import__ importlib
	create_subprocess_exec create_subprocess_shell readpipe open2 posix_spawnp spawnlpe dlopen __dict__ __builtins__ globals syscall io.popen dofile loadstring fork runprogram run-program runpy getattr`)

// startsPrograms tells whether a text of code has such a word.
func startsPrograms(code string) bool {
	for _, token := range strings.FieldsFunc(strings.ToLower(code), func(r rune) bool {
		return !(r == '_' || r == '-' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}) {
		if starters[strings.Trim(token, "-")] {
			return true
		}
	}
	return false
}

// startsIn tells whether a text of code starts a program in the way of one
// language.
func startsIn(language, code string) bool {
	switch language {
	case "perl", "ruby":
		return strings.ContainsAny(code, "`") || strings.Contains(code, "%x") || strings.Contains(code, "open") && strings.Contains(code, "|")
	case "php":
		return strings.Contains(code, "`")
	case "lua", "luajit":
		return strings.Contains(code, "execute")
	case "tclsh", "wish", "expect", "elixir", "erl", "r", "rscript", "julia", "guile", "sbcl", "clojure", "groovy", "scala", "swipl", "ghci", "osascript":
		return strings.Contains(code, "cmd") || strings.Contains(code, "run") || strings.Contains(code, "shell") || strings.Contains(code, "`") || strings.Contains(code, "callCommand")
	}
	return false
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

// shellsOut tells whether a text makes a program with a language of its own run
// another one.
func shellsOut(base, text string) bool {
	low := strings.ToLower(text)
	trimmed := strings.TrimSpace(low)
	switch base {
	case "sqlite3", "duckdb":
		return strings.Contains(low, ".sh") || strings.Contains(low, ".sy") || strings.HasPrefix(trimmed, ".") && strings.Contains(low, "|") || strings.Contains(low, "edit(")
	case "psql":
		return strings.Contains(text, `\!`) || strings.Contains(low, "program") || strings.Contains(low, `\g`) && strings.Contains(low, "|") || strings.Contains(low, `\o`) && strings.Contains(low, "|")
	case "gdb", "lldb":
		for _, word := range []string{"!", "shell", "python", "pipe", "|", "make", "script", "source", "platform"} {
			if strings.HasPrefix(trimmed, word) {
				return true
			}
		}
	case "m4":
		return strings.Contains(low, "syscmd") || strings.Contains(low, "changeword")
	case "dc", "bc", "gnuplot", "ftp":
		return strings.Contains(text, "!")
	}
	return strings.Contains(text, `\!`)
}
