package shellcmd

import (
	"strings"
)

// shells read bash's language, near enough; otherShells do not.
var (
	shells      = set("sh bash dash ash rbash ksh mksh lksh ksh93 posh yash hush")
	otherShells = set("zsh fish csh tcsh pwsh powershell nu xonsh elvish rc es cmd")
)

// shell looks at a shell that is run: a text given with -c, a script, or what
// comes in.
func (w *walker) shell(base string, args []word, in feed) bool {
	if !shells[base] && !otherShells[base] {
		return false
	}
	inline, reads, operands, ok := shellOptions(args)
	switch {
	case !ok:
		w.unclear(base, "its options are known only when it runs")
	case inline && len(operands) == 0:
	case inline && otherShells[base]:
		w.unclear(base+" -c", "it runs a text in a language that is not read here")
		w.adopt(base, operands[0].text)
	case inline:
		w.inner(operands[0], in)
	case len(operands) > 0 && !reads && operands[0].text != "-":
		w.source(operands)
	case !in.given:
	case !in.known || otherShells[base]:
		w.unclear(base, "it runs what it reads, and that is known only when it runs")
	default:
		w.text(in.text, feed{})
	}
	return true
}

// inner walks the text that a shell was given. What it takes from its own words
// is not known.
func (w *walker) inner(text word, in feed) {
	w.code([]word{text}, in)
}

// shellOptions reads the options of a shell: is there a -c, is there a -s, and
// what is left. ok is false where that cannot be told.
func shellOptions(args []word) (inline, reads bool, operands []word, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i].text
		switch {
		case args[i].hides() || args[i].unknown && strings.HasPrefix(a, Unknown) && args[i].tainted:
			return inline, reads, nil, false
		case a == "--" || a == "-":
			return inline, reads, args[i+1:], true
		case a == "--rcfile" || a == "--init-file":
			return inline, reads, nil, false
		case strings.HasPrefix(a, "--"):
			if strings.HasPrefix(a, "--rcfile=") || strings.HasPrefix(a, "--init-file=") {
				return inline, reads, nil, false
			}
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			inline = inline || strings.Contains(a[1:], "c") && a[0] == '-'
			reads = reads || strings.Contains(a[1:], "s")
			if strings.HasSuffix(a, "o") || strings.HasSuffix(a, "O") {
				i++
			}
		default:
			return inline, reads, args[i:], true
		}
	}
	return inline, reads, nil, true
}

// adopt records what is sure about a text that a program may run.
func (w *walker) adopt(base, text string) {
	for _, c := range w.sure(text) {
		w.record(Command{Written: base + " " + text, Concerns: []Concern{c}})
	}
}
