package render

import (
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

const (
	detailLines = 200 // shown of what a question is about
	detailChars = 20_000
)

// Question writes a question for people: who asks, what, what it is about in full,
// and the options by number.
func (s Style) Question(q session.Question) string {
	var b strings.Builder
	who := string(q.Kind) + " " + q.ID
	if q.Plugin != "" {
		who += " (" + q.Plugin + ")"
	}
	fmt.Fprintf(&b, "%s %s\n", s.Yellow(visible(who)), s.Bold(block(visible(q.Text))))
	if q.Detail != "" {
		fmt.Fprintln(&b, indented(bounded(visible(q.Detail))))
	}
	for i, o := range q.Options {
		line := fmt.Sprintf("%s%d) %s", indent, i+1, Head(visible(o.Label), nameHead*2))
		if o.Description != "" {
			line += s.Faint(" - " + Head(visible(o.Description), 300))
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// visible is plain text in which characters that reorder what stands around them,
// or are nothing to see, stand as their number: an approval is for what is read.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case steers(r):
		case r == 0x061c, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
			fmt.Fprintf(&b, "\\u{%x}", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// bounded cuts a long text and says how much is missing.
func bounded(text string) string {
	text = strings.TrimRight(text, "\n")
	shown := text
	if len([]rune(shown)) > detailChars {
		shown = firstRunes(shown, detailChars)
	}
	if lines := strings.SplitN(shown, "\n", detailLines+1); len(lines) > detailLines {
		shown = strings.Join(lines[:detailLines], "\n")
	}
	if missing := len([]rune(text)) - len([]rune(shown)); missing > 0 {
		shown += fmt.Sprintf("\n[%d more characters are NOT shown: tureen session export has them]", missing)
	}
	return shown
}

// indented is a text each of whose lines stands under the question.
func indented(text string) string {
	return indent + indent + strings.ReplaceAll(text, "\n", "\n"+indent+indent)
}
