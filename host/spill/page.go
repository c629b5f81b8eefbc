package spill

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
)

// Bounds of a page.
const (
	maxLines  = 2000
	maxBytes  = 32 << 10
	maxTokens = 12_000 // so that no page has more than MaxInline, its footer included
	minTokens = Brief  // a page shows that much however little room is left
)

// Ask selects a page. The zero value begins at the start.
type Ask struct {
	Offset int    // first line, from 1
	Column int    // first character of that line, from 1
	Limit  int    // lines, or with Search matches
	Search string // literal, upper and lower case alike; only what holds it is shown
	Tokens int    // bound of the page; 0 = the most
}

// view is a text at a place in it: a line and the byte where reading goes on.
type view struct {
	text  string
	total int // lines
	line  int // from 1
	at    int // a byte within the line
}

// open finds the place that is asked for.
func open(text string, ask Ask) (*view, error) {
	v := &view{text: text, total: lines(text), line: 1}
	offset := max(1, ask.Offset)
	if offset > max(1, v.total) {
		return nil, fmt.Errorf("offset %d is out of range: the result has %d lines", offset, v.total)
	}
	for ; v.line < offset; v.line++ {
		v.at += strings.IndexByte(text[v.at:], '\n') + 1
	}
	line := text[v.at:v.end()]
	for i := 1; i < ask.Column; i++ {
		if line == "" {
			return nil, fmt.Errorf("column %d is out of range: line %d has %d characters", ask.Column, v.line, i-1)
		}
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
		v.at += size
	}
	return v, nil
}

// end is where the line ends, before its line break.
func (v *view) end() int {
	if i := strings.IndexByte(v.text[v.at:], '\n'); i >= 0 {
		return v.at + i
	}
	return len(v.text)
}

// column is the number of the next character of the line, from 1.
func (v *view) column() int {
	return 1 + utf8.RuneCountInString(v.text[strings.LastIndexByte(v.text[:v.at], '\n')+1:v.at])
}

// next moves to the start of the next line; behind the last one v is done.
func (v *view) next() { v.at, v.line = min(len(v.text), v.end()+1), v.line+1 }

func (v *view) done() bool { return v.line > v.total }

// place names where v stands as arguments of the next call.
func (v *view) place() string {
	if column := v.column(); column > 1 {
		return fmt.Sprintf("offset=%d column=%d", v.line, column)
	}
	return fmt.Sprintf("offset=%d", v.line)
}

// budget counts what a page may still hold.
type budget struct{ bytes, tokens int }

func newBudget(most int) *budget {
	b := &budget{maxBytes, maxTokens}
	if most > 0 {
		b.tokens = max(minTokens, min(b.tokens, most))
	}
	b.bytes -= noticeTokens * asciiPerToken
	b.tokens -= noticeTokens
	return b
}

// take books a row where it fits.
func (b *budget) take(row string) bool {
	if len(row) > b.bytes {
		return false
	}
	cost := tokens(row)
	if cost > b.tokens {
		return false
	}
	b.bytes -= len(row)
	b.tokens -= cost
	return true
}

// Page shows lines of a text with their numbers and says where to go on. All pages
// put together are the text: a line that is too long for one is shown in pieces, by
// column. The error says what is wrong with the place that was asked for.
func Page(text string, ask Ask) (string, error) {
	v, err := open(text, ask)
	if err != nil {
		return "", err
	}
	if ask.Search != "" {
		return v.search(ask)
	}
	first, most, left := v.line, bound(ask.Limit, maxLines), newBudget(ask.Tokens)
	var b strings.Builder
	capped := false
	for shown := 0; shown < most && !v.done() && !capped; shown++ {
		prefix := fmt.Sprintf("%d: ", v.line)
		switch line := v.text[v.at:v.end()]; {
		case left.take(prefix + line + "\n"):
			b.WriteString(prefix + line + "\n")
			v.next()
		case shown == 0:
			piece := line[:fitting(line, left.bytes-len(prefix), left.tokens-tokens(prefix)-1)]
			b.WriteString(prefix + piece + "\n")
			v.at += len(piece)
			capped = true
		default:
			capped = true
		}
	}
	return b.String() + v.footer(first, capped), nil
}

func bound(asked, most int) int {
	if asked <= 0 {
		return most
	}
	return min(asked, most)
}

// fitting is how much of a line fits, at least one character.
func fitting(line string, bytes, tokens int) int {
	cut := min(len(line), bytes)
	for cut < len(line) && !utf8.RuneStart(line[cut]) {
		cut--
	}
	if cut = whole(line, min(cut, headEnd(line[:cut], tokens))); cut > 0 {
		return cut
	}
	_, size := utf8.DecodeRuneInString(line)
	return size
}

func (v *view) footer(first int, capped bool) string {
	switch {
	case v.done() && strings.HasSuffix(v.text, "\n"):
		return fmt.Sprintf("(End of result - total %d lines)", v.total)
	case v.done():
		return fmt.Sprintf("(End of result - total %d lines, no line break at the end)", v.total)
	case v.column() > 1:
		return tool.Capped(first, v.line, v.total, v.place())
	case capped:
		return tool.Capped(first, v.line-1, v.total, v.place())
	}
	return tool.Showing(first, v.line-1, v.total, v.place())
}
