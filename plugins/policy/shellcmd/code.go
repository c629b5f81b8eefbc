package shellcmd

import (
	"regexp"
	"strings"
)

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
	create_subprocess_exec create_subprocess_shell readpipe spawn_sync open2 posix_spawnp spawnlpe dlopen __dict__ __builtins__ globals syscall io.popen dofile loadstring fork runprogram run-program runpy getattr`)

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
