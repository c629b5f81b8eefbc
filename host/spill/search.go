package spill

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	maxMatches = 200
	// A line over wideLine bytes is shown around the match, so many characters
	// before and behind.
	wideLine = 600
	around   = 120
)

// search lists from v on what holds the text: short lines whole, long ones around
// each match, with the column at which the excerpt begins.
func (v *view) search(ask Ask) (string, error) {
	if strings.Contains(ask.Search, "\n") {
		return "", fmt.Errorf("a search text with a line break finds nothing: search for one line of it")
	}
	pattern := regexp.MustCompile("(?i)" + regexp.QuoteMeta(ask.Search))
	from, most, left := v.place(), bound(ask.Limit, maxMatches), newBudget(ask.Tokens)
	var b strings.Builder
	shown := 0
	for shown < most {
		hit := pattern.FindStringIndex(v.text[v.at:])
		if hit == nil {
			v.line = v.total + 1
			break
		}
		start, end := v.at+hit[0], v.at+hit[1]
		v.line += strings.Count(v.text[v.at:start], "\n")
		v.at = start
		row, behind := v.excerpt(end)
		if !left.take(row) && shown > 0 {
			break
		}
		b.WriteString(row)
		shown++
		if v.at = behind; v.at == v.end() {
			v.next()
		}
		if v.done() {
			break
		}
	}
	switch {
	case shown == 0:
		return fmt.Sprintf("(Nothing from %s on holds %q; the result has %d lines.)", from, ask.Search, v.total), nil
	case v.done():
		return b.String() + fmt.Sprintf("(End of result - %d matches shown, total %d lines)", shown, v.total), nil
	}
	return b.String() + fmt.Sprintf("(Showing %d matches in %d lines. Use %s with the same search to continue.)", shown, v.total, v.place()), nil
}

// excerpt is the row for the match from v to end, and where the search goes on.
func (v *view) excerpt(end int) (row string, behind int) {
	lineStart, lineEnd := strings.LastIndexByte(v.text[:v.at], '\n')+1, v.end()
	if lineEnd-lineStart <= wideLine {
		return fmt.Sprintf("%d: %s\n", v.line, v.text[lineStart:lineEnd]), lineEnd
	}
	from, to := v.at, end
	for range around {
		_, size := utf8.DecodeLastRuneInString(v.text[lineStart:from])
		from -= size
		_, size = utf8.DecodeRuneInString(v.text[to:lineEnd])
		to += size
	}
	column := 1 + utf8.RuneCountInString(v.text[lineStart:from])
	return fmt.Sprintf("%d, column %d: %s\n", v.line, column, v.text[from:to]), to
}
