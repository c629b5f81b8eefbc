package shellcmd

import (
	"strings"
)

// wrapper tells how to find the command among the words of a program that runs
// another: its options with a value, and how many words stand before it.
type wrapper struct {
	short   string // letters of options with a value
	long    string // long options with a value, if not after =
	skip    int
	assigns bool // NAME=VALUE may stand before the command
	reads   bool // its words are joined and read by a shell
}

var wrappers = map[string]wrapper{
	"command": {}, "builtin": {}, "exec": {short: "a"}, "nohup": {}, "setsid": {}, "busybox": {}, "toybox": {}, "unbuffer": {}, "fakeroot": {short: "lisb"},
	"time": {short: "fo", long: "--format --output"}, "gtime": {short: "fo", long: "--format --output"},
	"timeout": {short: "ks", long: "--kill-after --signal", skip: 1}, "gtimeout": {short: "ks", long: "--kill-after --signal", skip: 1},
	"nice": {short: "n", long: "--adjustment"}, "ionice": {short: "cnpPu", long: "--class --classdata"}, "stdbuf": {short: "ioe", long: "--input --output --error"},
	"chrt": {short: "TPDp", skip: 1}, "taskset": {short: "", skip: 1}, "env": {short: "uCSP", long: "--unset --chdir --split-string", assigns: true},
	"sudo": {short: "ugpCchrtTDRU", long: "--user --group --prompt --chdir --host --role --type --close-from --chroot", assigns: true},
	"doas": {short: "uCa"}, "pkexec": {short: "u", long: "--user"}, "runuser": {short: "ugGs", long: "--user --group --shell"}, "gosu": {skip: 1}, "su-exec": {skip: 1}, "setpriv": {},
	"chroot": {skip: 1}, "unshare": {short: "SG"}, "nsenter": {short: "tSG"}, "systemd-run": {short: "pEtuHM"}, "systemd-inhibit": {}, "firejail": {}, "bwrap": {}, "prlimit": {},
	"strace": {short: "abeEoOpPsSuXU"}, "ltrace": {short: "aAbeDlnopsuxX"}, "rlwrap": {}, "numactl": {}, "caffeinate": {short: "tw"}, "proxychains": {short: "f"}, "proxychains4": {short: "f"}, "torsocks": {}, "torify": {},
	"xvfb-run": {}, "dbus-run-session": {}, "catchsegv": {}, "setarch": {skip: 1}, "linux32": {}, "linux64": {}, "ld.so": {}, "coproc": {},
	"watch": {short: "n", long: "--interval", reads: true}, "flock": {short: "wE", long: "--timeout --wait --conflict-exit-code", skip: 1}, "sem": {short: "j", reads: true},
	"entr": {}, "ts": {}, "sg": {skip: 1}, "newgrp": {}, "trickle": {short: "du"}, "cpulimit": {short: "lpe"}, "parallel": {short: "jIaSLnNDP", long: "--jobs --arg-file --max-args --max-procs --colsep --sshlogin", reads: true},
	"script": {}, "su": {}, "xargs": {}, "find": {}, "gfind": {}, "fd": {}, "fdfind": {}, "cmake": {}, "split": {}, "tar": {}, "gtar": {}, "bsdtar": {}, "sort": {}, "rg": {}, "zip": {}, "rsync": {}, "man": {}, "make": {}, "gmake": {},
	"docker": {}, "at": {}, "batch": {}, "ssh": {},
}

// wrapper looks at a program that runs another, and walks that.
func (w *walker) wrapper(base string, args []word, in feed) bool {
	if strings.HasPrefix(base, "ld-linux") {
		base = "ld.so"
	}
	how, ok := wrappers[base]
	if !ok {
		return false
	}
	switch base {
	case "xargs":
		w.xargs(args, in)
	case "find", "gfind":
		w.find(args)
	case "fd", "fdfind":
		w.fdCommand(args, in)
	case "at", "batch":
		w.unclear(base, "it runs commands at another time")
	case "su", "script":
		w.commandOption(base, args, in)
	case "command":
		if len(args) > 0 && (strings.HasPrefix(args[0].text, "-v") || strings.HasPrefix(args[0].text, "-V") || strings.HasPrefix(args[0].text, "-pv")) {
			return true
		}
		w.peel(base, how, args, in)
	case "cmake", "split", "tar", "gtar", "bsdtar", "sort", "rg", "zip", "rsync", "man", "make", "gmake", "docker":
		w.programOption(base, args, in)
		w.runner(base, args, in)
	case "ssh":
	default:
		w.peel(base, how, args, in)
	}
	return true
}

// codeOption names wrappers whose -c takes a text for a shell.
var codeOption = set("flock runuser sg newgrp")

// peel takes options away and walks the command behind them.
func (w *walker) peel(base string, how wrapper, args []word, in feed) {
	all, skip, dashes := args, how.skip, false
	for len(args) > 0 {
		a := args[0].text
		switch {
		case codeOption[base] && (a == "-c" || a == "--command") && len(args) > 1:
			w.inner(args[1], in)
			return
		case base == "env" && !dashes && splits(a):
			w.splitString(args)
			return
		case a == "--":
			args, dashes = args[1:], true
			continue
		case !dashes && len(a) > 1 && a[0] == '-':
			args = args[min(optionWidth(how, args[0]), len(args)):]
			continue
		case how.assigns && strings.Contains(a, "=") && !strings.HasPrefix(a, "="):
			w.value(args[0])
			args = args[1:]
			continue
		case skip > 0:
			skip--
			args = args[1:]
			continue
		}
		break
	}
	w.wrapped(base, how, args, all, in)
}

// splits tells whether an option of env is -S, alone or among others.
func splits(option string) bool {
	return strings.HasPrefix(option, "--s") || strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.Contains(option, "S")
}

func optionWidth(how wrapper, a word) int {
	text := a.text
	long := set(how.long)
	if strings.HasPrefix(text, "--") {
		if long[text] {
			return 2
		}
		return 1
	}
	if strings.Contains(how.short, text[len(text)-1:]) && (len(text) == 2 || !strings.Contains(how.short, text[1:2])) {
		return 2
	}
	return 1
}

// wrapped walks what stands behind the options, and looks among all words too,
// since versions of a program differ in their options.
func (w *walker) wrapped(base string, how wrapper, args, all []word, in feed) {
	switch {
	case len(args) == 0 && base == "parallel":
		w.unclear(base, "it runs the lines that it reads")
	case len(args) == 0:
	case how.reads:
		if base == "parallel" || base == "sem" {
			for i, a := range args {
				if strings.HasPrefix(a.text, ":::") {
					args = args[:i]
					break
				}
			}
		}
		if len(args) == 0 {
			w.unclear(base, "it runs the lines that it is given")
			return
		}
		w.code(append([]word{}, args...), feed{})
		if base == "parallel" {
			w.program(append(append([]word{}, splitFirst(args)...), word{text: Unknown, unknown: true, tainted: true}), feed{})
		}
	default:
		w.program(args, in)
	}
	w.search(all)
}

// splitFirst splits a command that is given in one word.
func splitFirst(args []word) []word {
	var out []word
	for _, f := range strings.Fields(args[0].text) {
		out = append(out, plain(f))
	}
	return append(out, args[1:]...)
}

// splitString is env -S, which splits a text into words.
func (w *walker) splitString(args []word) {
	_, text, _ := strings.Cut(args[0].text, "S")
	if strings.HasPrefix(args[0].text, "--") {
		_, text, _ = strings.Cut(args[0].text, "=")
	}
	rest := args[1:]
	if text == "" && len(rest) > 0 {
		text, rest = rest[0].text, rest[1:]
	}
	if strings.Contains(text, Unknown) || strings.ContainsAny(text, `\$"'`) {
		w.unclear("env -S", "it splits a text that is known only when it runs")
		return
	}
	var argv []word
	for _, f := range strings.Fields(text) {
		argv = append(argv, plain(f))
	}
	w.wrapper("env", append(argv, rest...), feed{})
}
