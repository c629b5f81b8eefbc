package shellcmd

import (
	"strings"
)

// xargs runs a command with words that it reads.
func (w *walker) xargs(args []word, in feed) {
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
	if len(args) > 0 && !in.paths && takesOptions[Base(args[0].text)] && !some(args, func(a word) bool { return a.text == "--" }) && replace == "" {
		w.unclear("xargs "+args[0].text, "what it reads may be options of "+args[0].text)
	}
	if len(args) > 0 && in.known && replace == "" {
		read := append([]word{}, args...)
		for _, f := range strings.Fields(in.text) {
			read = append(read, plain(f))
		}
		w.program(read, feed{given: true, known: true})
	}
	if len(args) > 0 {
		w.program(fill(args, replace), feed{given: true, known: true})
	}
}

// takesOptions are programs that run something by an option, wherever it stands.
var takesOptions = set("sed gsed tar gtar bsdtar make gmake go split gsplit sort zip rsync man awk gawk perl python python3 node ruby gcc clang")

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

// commandOption walks the text behind -c.
func (w *walker) commandOption(base string, args []word, in feed) {
	for i, a := range args {
		text, attached := strings.CutPrefix(a.text, "--command=")
		switch {
		case attached:
			w.inner(word{text: text, unknown: a.unknown, tainted: a.tainted}, in)
		case base == "script" && strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c") && !strings.HasSuffix(a.text, "c"):
			w.inner(word{text: a.text[strings.Index(a.text, "c")+1:], unknown: a.unknown, tainted: a.tainted}, in)
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
