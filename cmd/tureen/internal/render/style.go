package render

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"golang.org/x/term"
)

// Style colours text for one stream. The zero value leaves text as it is.
type Style struct{ on bool }

// Modes of a Style.
const (
	ColorAuto   = "auto" // on a terminal, unless NO_COLOR is set or TERM is "dumb"
	ColorAlways = "always"
	ColorNever  = "never"
)

// NewStyle returns the style for what is written to w.
func NewStyle(mode string, w io.Writer, env func(string) string) (Style, error) {
	switch mode {
	case ColorAlways:
		return Style{true}, nil
	case ColorNever:
		return Style{}, nil
	case ColorAuto:
		return Style{IsTerminal(w) && env("NO_COLOR") == "" && env("TERM") != "dumb"}, nil
	}
	return Style{}, fmt.Errorf("--color %q is not auto, always or never", mode)
}

// IsTerminal tells whether stream is a file that is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Bold is what a line is about.
func (s Style) Bold(text string) string { return s.sgr("1", text) }

// Faint is what may be passed over.
func (s Style) Faint(text string) string { return s.sgr("2", text) }

// Cyan is the colour of compactions and of what the person said.
func (s Style) Cyan(text string) string { return s.sgr("36", text) }

// Green is the colour of room that is left.
func (s Style) Green(text string) string { return s.sgr("32", text) }

// On tells whether text is coloured.
func (s Style) On() bool { return s.on }

// Red is the colour of errors.
func (s Style) Red(text string) string { return s.sgr("31", text) }

// Yellow is the colour of warnings and hints.
func (s Style) Yellow(text string) string { return s.sgr("33", text) }

func (s Style) sgr(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + reset
}

const reset = "\x1b[0m"

// marks are what the style itself has a terminal do.
var marks = regexp.MustCompile(`\x1b\[(?:0|1|2|31|32|33|36)m`)

// tame is text without what Plain takes out, but for the marks of the style. It never
// ends in a mark that is open.
func (s Style) tame(text string) string {
	if !s.on || !strings.Contains(text, "\x1b") {
		return Plain(text)
	}
	var out strings.Builder
	at, open := 0, false
	for _, m := range marks.FindAllStringIndex(text, -1) {
		out.WriteString(Plain(text[at:m[0]]))
		out.WriteString(text[m[0]:m[1]])
		at, open = m[1], text[m[0]:m[1]] != reset
	}
	out.WriteString(Plain(text[at:]))
	if open {
		out.WriteString(reset)
	}
	return out.String()
}
