package shellcmd

import "strings"

// codeOptions are options by which many programs take code.
var codeOptions = set("-e -E -c -x -ex -eval --eval --execute --command --expression")

// foreignCode looks at code that is given to a program of which nothing is known.
func (w *walker) foreignCode(base string, args []word) {
	for i, a := range args {
		text := a.text
		if i > 0 && codeOptions[args[i-1].text] || strings.HasPrefix(text, "-e") || strings.HasPrefix(text, "--eval=") || strings.Contains(text, `\write18`) {
			if startsPrograms(text) || strings.ContainsAny(text, "`!") || strings.Contains(text, "write18") || strings.Contains(text, "sh ") || strings.Contains(text, "shell") {
				w.unclear(base, "its code may start other programs")
			}
			w.codeWords(base, a)
		}
		if strings.Contains(text, "shell-escape") || strings.Contains(text, "%pipe%") {
			w.unclear(base, "it lets what it reads start other programs")
		}
	}
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
