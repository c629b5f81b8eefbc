package shellcmd

import (
	"regexp"
	"strings"
)

// awk looks for programs that an awk text starts.
func (w *walker) awk(args []word, in feed) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		file, fileAttached := awkValue(a.text, "f", "--file")
		source, sourceAttached := awkValue(a.text, "e", "--source")
		switch {
		case file || a.text == "-E" || a.text == "--exec":
			value := word{text: fileAttached}
			if fileAttached == "" && i+1 < len(args) {
				i++
				value = args[i]
			}
			if special(value.text) || value.text == "-" || value.process || value.unknown {
				w.unclear("awk", "it runs a text that is known only when it runs")
			}
			w.ran[Base(value.text)] = true
			return
		case source:
			value := word{text: sourceAttached, unknown: a.unknown, tainted: a.tainted}
			if sourceAttached == "" && i+1 < len(args) {
				i++
				value = args[i]
			}
			w.awkText(value)
		case a.text == "-v" || a.text == "-F" || a.text == "--assign" || a.text == "--field-separator":
			i++
		case strings.HasPrefix(a.text, "-i"), strings.HasPrefix(a.text, "-l"), strings.HasPrefix(a.text, "--in"), strings.HasPrefix(a.text, "--lo"):
			w.unclear("awk", "it loads other code")
			return
		case strings.HasPrefix(a.text, "-") && len(a.text) > 1:
		default:
			w.awkText(a)
			return
		}
	}
}

// awkValue tells whether a word is an option, by letter or in long, and gives the
// value that is attached.
func awkValue(text, letter, long string) (is bool, value string) {
	if value, ok := strings.CutPrefix(text, "-"+letter); ok {
		return true, value
	}
	name, value, _ := strings.Cut(text, "=")
	return len(name) > 3 && strings.HasPrefix(long, name), value
}

var (
	awkString = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	awkFile   = regexp.MustCompile(`>\s*"([^"]+)"`)
)

func (w *walker) awkText(code word) {
	if strings.HasPrefix(code.text, Unknown) && code.tainted {
		w.unclear("awk", "it runs a text that is known only when it runs")
	}
	for _, m := range awkFile.FindAllStringSubmatch(code.text, 64) {
		w.written[Base(m[1])] = true
	}
	bare := strings.ReplaceAll(code.text, "||", "")
	if !strings.ContainsAny(bare, "/#") { // else it cannot be told where a string begins
		bare = awkString.ReplaceAllString(bare, "")
	}
	if startsPrograms(code.text) || strings.Contains(bare, "|") && (strings.Contains(bare, "getline") || strings.Contains(bare, "print")) || strings.Contains(code.text, "/inet") || strings.Contains(code.text, "@") && strings.Contains(code.text, "(") {
		w.unclear("awk", "its code may start other programs")
	}
}
