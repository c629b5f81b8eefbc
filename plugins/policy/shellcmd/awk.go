package shellcmd

import "strings"

// awk looks for programs that an awk text starts.
func (w *walker) awk(args []word, in feed) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.text == "-f" || a.text == "--file" || a.text == "-E":
			if i+1 < len(args) && (special(args[i+1].text) || args[i+1].text == "-" || args[i+1].process) {
				w.unclear("awk", "it runs a text that is known only when it runs")
			}
			return
		case a.text == "-v" || a.text == "-F" || a.text == "--assign" || a.text == "--field-separator":
			i++
		case strings.HasPrefix(a.text, "-") && len(a.text) > 1:
		default:
			w.awkText(a)
			return
		}
	}
}

func (w *walker) awkText(code word) {
	if strings.HasPrefix(code.text, Unknown) && code.tainted {
		w.unclear("awk", "it runs a text that is known only when it runs")
	}
	bare := strings.ReplaceAll(code.text, "||", "")
	if startsPrograms(code.text) || strings.Contains(bare, "|") && (strings.Contains(bare, "getline") || strings.Contains(bare, "print")) || strings.Contains(code.text, "/inet") || strings.Contains(code.text, "@") && strings.Contains(code.text, "(") {
		w.unclear("awk", "its code may start other programs")
	}
}
