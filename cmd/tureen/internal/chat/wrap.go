package chat

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
)

// maxCluster and maxCells are the most bytes and columns of one character as people
// see it; more is somebody who piles up accents.
const (
	maxCluster = 48
	maxCells   = 8
)

// clean is text that can only be read: plain, without what turns the direction of
// the text around, tabs as spaces.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\u061c', r == '\u200e', r == '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		case r == '\u2028', r == '\u2029', r == '\u0085':
			return '\n'
		}
		return r
	}, render.Plain(text))
	return strings.ReplaceAll(text, "\t", "    ")
}

// oneLine is the beginning of anybody's text on one line of at most width columns.
func oneLine(text string, width int) string {
	if most := maxCluster * max(width, 1); len(text) > most { // it may be large
		text = strings.ToValidUTF8(text[:most], "")
	}
	return fit(render.Head(clean(text), 4*max(width, 1)), width)
}

// fit cuts a line to width columns, with an ellipsis where something is cut.
func fit(line string, width int) string {
	if len(line) <= maxCluster*width && cells(line) <= width {
		return line
	}
	var b strings.Builder
	left := width - 1
	for line != "" {
		cluster, rest := next(line)
		if left -= cells(cluster); left < 0 {
			break
		}
		b.WriteString(cluster)
		line = rest
	}
	if width < 1 {
		return ""
	}
	return b.String() + "…"
}

// cells is the number of columns that plain text takes, on the terminal where it
// takes the most.
func cells(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return max(ansi.StringWidth(s), ansi.StringWidthWc(s))
		}
	}
	return len(s)
}

// next splits off the first character as people see it.
func next(s string) (cluster, rest string) {
	if len(s) > 1 && s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf || len(s) == 1 {
		return s[:1], s[1:]
	}
	cluster, rest, _, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	_, n := utf8.DecodeRuneInString(s)
	switch {
	case len(cluster) > maxCluster: // without what was piled up on it
		cluster = s[:n]
	case cells(cluster) > maxCells:
		cluster, rest = s[:n], s[n:]
	}
	return cluster, rest
}

// wrap breaks clean text into rows of at most width columns: at spaces, or within a
// word that is longer than a row. There is at least one row.
func wrap(text string, width int) []string {
	width = max(width, 1)
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		rows = wrapLine(rows, line, width)
	}
	return rows
}

// wrapLine adds the rows of one line.
func wrapLine(rows []string, line string, width int) []string {
	if len(line) <= maxCluster*width && cells(line) <= width {
		return append(rows, line)
	}
	var row strings.Builder
	used, space := 0, -1 // space: behind the last one at which the row may break
	for line != "" {
		cluster, rest := next(line)
		w := cells(cluster)
		if used+w > width && used > 0 {
			full := row.String()
			row.Reset()
			used = 0
			if cluster != " " && space > 0 && strings.TrimSpace(full[:space]) != "" && cells(full[space:])+w <= width {
				row.WriteString(full[space:])
				used = cells(full[space:])
				full = full[:space]
			}
			rows, space = append(rows, strings.TrimRight(full, " ")), -1
			if cluster == " " { // the break itself
				line = rest
				continue
			}
		}
		row.WriteString(cluster)
		used += w
		if cluster == " " {
			space = row.Len()
		}
		line = rest
	}
	return append(rows, row.String())
}

// indented wraps text behind a first prefix; later rows begin with as many spaces.
func indented(prefix, text string, width int) []string {
	n := cells(prefix)
	rows := wrap(text, max(width-n, 8))
	for i := range rows {
		if i == 0 {
			rows[i] = prefix + rows[i]
		} else {
			rows[i] = strings.Repeat(" ", n) + rows[i]
		}
	}
	return rows
}
