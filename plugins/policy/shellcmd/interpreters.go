package shellcmd

import (
	"path/filepath"
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

// interpreters take code on the command line or on their standard input.
var interpreters = map[string]struct{ code, valued string }{
	"python": {"-c", "WXm"}, "python2": {"-c", "WXm"}, "python3": {"-c", "WXm"}, "pypy": {"-c", "WXm"}, "pypy3": {"-c", "WXm"},
	"node": {"-e -p -pe --eval --print", "rC"}, "nodejs": {"-e -p -pe --eval --print", "rC"}, "bun": {"-e --eval", "r"}, "deno": {"", ""},
	"perl": {"-e -E", "IMm"}, "ruby": {"-e", "Ir"}, "php": {"-r -B -R -E", "dcz"}, "lua": {"-e", "l"}, "luajit": {"-e", "l"}, "tclsh": {"", ""}, "wish": {"", ""},
	"julia": {"-e -E --eval", ""}, "rscript": {"-e", ""}, "r": {"-e", ""}, "ghci": {"-e", ""}, "guile": {"-c", ""}, "sbcl": {"--eval", ""}, "clojure": {"-e", ""},
	"osascript": {"-e", ""}, "elixir": {"-e --eval", ""}, "erl": {"-eval", ""}, "groovy": {"-e", ""}, "scala": {"-e", ""}, "swipl": {"-g", ""}, "expect": {"-c", ""},
}

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
			if startsPrograms(a) || strings.Contains(a, `\!`) || strings.Contains(a, ".sh") && base == "sqlite3" || strings.Contains(a, "!") && base == "dc" {
				w.unclear(base, "it may run other programs from the text it is given")
			}
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
		for _, flag := range strings.Fields(how.code) {
			text, attached := strings.CutPrefix(a.text, flag)
			cluster := len(flag) == 2 && len(a.text) > 1 && a.text[0] == '-' && a.text[1] != '-' && strings.HasSuffix(a.text, flag[1:])
			switch {
			case (a.text == flag || cluster) && i+1 < len(args):
				w.codeText(name, args[i+1])
			case attached && text != "":
				w.codeText(name, word{text: text, unknown: a.unknown, tainted: a.tainted})
			default:
				continue
			}
			inline = true
		}
	}
	if name[0] == 'p' && w.codeModule(args, in) {
		return
	}
	file, has := scriptFile(args, how.valued)
	switch {
	case inline || some(args, func(a word) bool { return name[0] == 'p' && strings.HasPrefix(a.text, "-m") }):
	case has && (file.process || special(file.text)):
		w.unclear(name, "it runs a text that is known only when it runs")
	case has:
		w.ran[filepath.Base(file.text)] = true
	case !in.given || name == "deno":
	case !in.known:
		w.unclear(name, "it runs what it reads, and that is known only when it runs")
	default:
		w.codeText(name, plain(in.text))
	}
}

// codeText looks at a text of code.
func (w *walker) codeText(name string, code word) {
	if code.unknown && code.tainted && strings.HasPrefix(code.text, Unknown) {
		w.unclear(name, "it runs a text that is known only when it runs")
	}
	if startsPrograms(code.text) || startsIn(name, code.text) {
		w.unclear(name, "its code may start other programs")
	}
}

// starters are words of many languages that start a program, or load code that
// was made on the way.
var starters = set(`system popen popen2 popen3 popen4 subprocess spawn spawnv spawnve spawnl spawnlp spawnsync spawnvp exec execl execle execlp execlpe execv execve execvp execvpe
	execsync execfile execfilesync posix_spawn child_process shell_exec passthru proc_open pcntl_exec qx getoutput getstatusoutput open3 pty ctypes eval __import__ importlib
	create_subprocess_exec create_subprocess_shell rmtree rmsync rimraf rm_rf syscall io.popen dofile loadstring fork runprogram run-program runpy getattr`)

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
	for i, a := range args {
		module := strings.TrimPrefix(a.text, "-m")
		if a.text == "-m" && i+1 < len(args) {
			module = args[i+1].text
		}
		if !strings.HasPrefix(a.text, "-m") || !codeModules[module] {
			continue
		}
		if in.given && (!in.known || startsPrograms(in.text)) || some(args[i:], func(b word) bool { return b.tainted || special(b.text) || startsPrograms(b.text) }) {
			w.unclear("python -m "+module, "it runs code that may start other programs")
		}
		return true
	}
	return false
}
