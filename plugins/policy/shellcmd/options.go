package shellcmd

import (
	"regexp"
	"strings"
)

// commandOptions are options whose value is a command for a shell, or the name
// of a program.
var commandOptions = map[string][]string{
	"split": {"--filter"}, "gsplit": {"--filter"}, "sort": {"--compress-program"}, "rg": {"--pre", "--hostname-bin"}, "zip": {"-TT", "--unzip-command"}, "rsync": {"-e", "--rsh", "--rsync-path"},
	"man": {"-P", "--pager", "-H", "--html"}, "tar": tarOptions, "gtar": tarOptions, "bsdtar": tarOptions, "make": {"--eval", "-E"}, "gmake": {"--eval", "-E"},
}

var tarOptions = []string{"--to-command", "-I", "--use-compress-program", "--checkpoint-action", "-F", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"}

// safePrograms may be named as a program that another one uses.
var safePrograms = set("gzip gunzip bzip2 xz zstd lz4 lzop pigz pbzip2 pixz unzip cat less more tar lzma brotli")

// programOption looks at options that name a command.
func (w *walker) programOption(base string, args []word, in feed) {
	if optioned[base] && some(beforeDashes(args), func(a word) bool { return a.hides() && a.tainted }) {
		w.unclear(base, "some of its words are known only when it runs, and may be options")
	}
	switch base {
	case "cmake":
		w.cmake(args, in)
	case "tar", "gtar", "bsdtar":
		if len(args) > 0 && !strings.HasPrefix(args[0].text, "-") && strings.ContainsAny(args[0].text, "IF"+Unknown) {
			w.unclear(base, "its options name another program")
		}
	case "make", "gmake":
		w.makefile(base, args, in)
	}
	for _, option := range commandOptions[base] {
		for i, a := range args {
			value, ok := optionValue(option, args, i)
			if !ok {
				continue
			}
			if value.unknown {
				w.unclear(base+" "+a.text, "it runs a command that is known only when it runs")
				continue
			}
			text := strings.TrimPrefix(value.text, "exec=")
			if option == "--checkpoint-action" && text == value.text || safePrograms[Base(firstWord(text))] && !strings.ContainsAny(text, ";|&$`\n") {
				continue
			}
			w.text(text, feed{})
			if base != "split" && base != "rsync" {
				w.unclear(base+" "+a.text, "it runs another command")
			}
		}
	}
}

// optionValue is the value of an option at a place, attached or in the next word.
func optionValue(option string, args []word, i int) (word, bool) {
	a := args[i]
	if strings.HasPrefix(option, "--") {
		name, value, attached := strings.Cut(a.text, "=")
		if len(name) < 3 || !strings.HasPrefix(option, name) {
			return word{}, false
		}
		if attached {
			return word{text: value, unknown: strings.Contains(value, Unknown)}, true
		}
	} else {
		letters := a.text
		if !strings.HasPrefix(letters, "-") || strings.HasPrefix(letters, "--") {
			return word{}, false
		}
		at := strings.Index(letters, option[1:])
		if at < 1 {
			return word{}, false
		}
		if rest := letters[at+len(option)-1:]; rest != "" {
			return word{text: rest, unknown: a.unknown}, true
		}
	}
	if i+1 < len(args) {
		return args[i+1], true
	}
	return word{}, false
}

// cmake looks at cmake -E, which runs tools and commands.
func (w *walker) cmake(args []word, in feed) {
	if len(args) < 2 || args[0].text != "-E" {
		return
	}
	switch args[1].text {
	case "env", "time":
		w.peel("env", wrappers["env"], args[2:], in)
	case "chdir":
		if len(args) > 3 {
			w.program(args[3:], in)
		}
	case "rm", "remove", "remove_directory":
		w.record(Command{Argv: append([]string{"cmake"}, texts(args)...), Concerns: []Concern{{Destructive, "it removes files"}}})
	}
}

// makefile looks at rules that are given in the line, and at variables that name
// commands.
func (w *walker) makefile(base string, args []word, in feed) {
	given := false
	for i, a := range args {
		name, value, ok := strings.Cut(a.text, "=")
		name = strings.TrimRight(name, ":+?! ")
		cluster := len(a.text) > 2 && a.text[0] == '-' && a.text[1] != '-' && strings.HasSuffix(a.text, "f")
		switch {
		case cluster || strings.HasPrefix(a.text, "-f") || strings.HasPrefix(a.text, "--fil") || a.text == "--file" || a.text == "--makefile" || strings.HasPrefix(a.text, "--file=") || strings.HasPrefix(a.text, "--makefile="):
			file := strings.TrimPrefix(a.text, "-f")
			if _, v, long := strings.Cut(a.text, "="); long {
				file = v
			} else if i+1 < len(args) && (cluster || file == "" || strings.HasPrefix(file, "--")) {
				file = args[i+1].text
			}
			if file == "-" || special(file) || strings.HasPrefix(file, Unknown) {
				w.unclear(base, "it runs rules that it reads")
			}
			given = true
			w.ran[Base(file)] = true
		case ok && (name == "SHELL" || name == ".SHELLFLAGS" || name == "MAKEFLAGS"):
			w.unclear(base+" "+a.text, "it changes what runs the commands")
		case ok && makeFunction.MatchString(a.text):
			w.adopt(base, value)
			w.unclear(base+" "+a.text, "it runs a command to get the value")
		case ok && !strings.HasPrefix(a.text, "-") && strings.ContainsAny(value, " ;|&$`"):
			w.adopt(base, value)
			w.later(plain(strings.ReplaceAll(value, "$(shell ", "$(")))
		case ok && flaggedNames[Base(value)] && len(w.sure(value)) > 0:
			w.adopt(base, value)
		}
	}
	if !given {
		w.ran["makefile"], w.ran["gnumakefile"] = true, true
	}
}

// makeFunction is what runs or evaluates something in the value of a variable.
var makeFunction = regexp.MustCompile(`!=|\$[({](shell|eval|file|guile|call|load)\b`)

// optioned are programs some of whose options run a command.
var optioned = set("split gsplit tar gtar bsdtar make gmake sort zip rsync man")

func beforeDashes(args []word) []word {
	for i, a := range args {
		if a.text == "--" {
			return args[:i]
		}
	}
	return args
}
