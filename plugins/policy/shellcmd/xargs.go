package shellcmd

import (
	"strings"
)

// xargs runs a command with words that it reads.
func (w *walker) xargs(args []word) {
	how := wrapper{short: "aEIiLlnPsdJR", long: "--arg-file --delimiter --max-args --max-lines --max-procs --max-chars --process-slot-var"}
	replace := ""
	for len(args) > 0 {
		a := args[0].text
		if a == "--" {
			args = args[1:]
			break
		}
		if len(a) < 2 || a[0] != '-' {
			break
		}
		n := optionWidth(how, args[0])
		if text, ok := strings.CutPrefix(a, "-I"); ok {
			replace = text
			if text == "" && len(args) > 1 {
				replace = args[1].text
			}
		} else if strings.HasPrefix(a, "-i") || strings.HasPrefix(a, "--replace") {
			n, replace = 1, "{}"
		} else if strings.HasPrefix(a, "-l") || strings.HasPrefix(a, "-e") {
			n = 1 // their value is attached
		}
		if args[0].hides() {
			w.unclear("xargs", "its options are known only when it runs")
		}
		args = args[min(n, len(args)):]
	}
	if len(args) > 0 {
		w.program(fill(args, replace), feed{given: true, known: true})
	}
}

// fill puts what is not known in place of a marker, or at the end where there is
// none.
func fill(args []word, marker string) []word {
	more := word{text: Unknown, unknown: true, tainted: true}
	if marker == "" {
		return append(append([]word{}, args...), more)
	}
	out := append([]word{}, args...)
	for i, a := range out {
		if strings.Contains(a.text, marker) {
			a.text = strings.ReplaceAll(a.text, marker, Unknown)
			a.unknown, a.tainted = true, true
			a.expanded = true
			out[i] = a
		}
	}
	return out
}

// find runs commands on what it finds.
func (w *walker) find(args []word) {
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && (args[end].text != "+" || args[end-1].text != "{}") {
				end++
			}
			if found := args[i+1 : end]; len(found) > 0 {
				w.program(fill(found, "{}"), feed{})
			}
			i = end
		}
	}
}

// after walks the command behind an option.
func (w *walker) after(args []word, in feed, flags ...string) {
	for i, a := range args {
		for _, flag := range flags {
			if a.text == flag && i+1 < len(args) {
				w.program(fill(args[i+1:], "{}"), in)
				return
			}
			if text, ok := strings.CutPrefix(a.text, flag+"="); ok && strings.HasPrefix(flag, "--") || ok && len(flag) == 2 {
				w.code([]word{{text: text, unknown: a.unknown, tainted: a.tainted}}, in)
			}
		}
	}
}

// commandOption walks the text behind -c.
func (w *walker) commandOption(base string, args []word, in feed) {
	for i, a := range args {
		text, attached := strings.CutPrefix(a.text, "--command=")
		switch {
		case attached:
			w.inner(word{text: text, unknown: a.unknown, tainted: a.tainted}, in)
		case strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.HasSuffix(a.text, "c"), a.text == "--command":
			if i+1 < len(args) {
				w.inner(args[i+1], in)
			}
			return
		}
	}
	if base == "script" && in.given {
		w.unclear(base, "it runs what it reads")
	}
}
