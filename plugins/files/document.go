package files

import (
	"sort"
	"strings"
)

const bom = "\ufeff"

// document is a text file as edit sees it: every CRLF is an LF in text, and raw
// remembers what really stands there.
type document struct {
	bom  string
	raw  string
	text string
	crlf []int // where in text a line feed stands for a CRLF, ascending
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func parse(content string) document {
	d := document{raw: content}
	if rest, ok := strings.CutPrefix(content, bom); ok {
		d.bom, d.raw = bom, rest
	}
	d.text = d.raw
	if n := strings.Count(d.raw, "\r\n"); n > 0 {
		d.text = toLF(d.raw)
		d.crlf = make([]int, 0, n)
		for at := 0; ; at += 2 {
			i := strings.Index(d.raw[at:], "\r\n")
			if i < 0 {
				break
			}
			at += i
			d.crlf = append(d.crlf, at-len(d.crlf))
		}
	}
	return d
}

// find returns where old begins in the text. Matches that overlap an earlier one
// count only where overlap is true.
func (d document) find(old string, overlap bool) []int {
	step := len(old)
	if overlap {
		step = 1
	}
	var at []int
	for from := 0; from <= len(d.text); {
		i := strings.Index(d.text[from:], old)
		if i < 0 {
			break
		}
		at = append(at, from+i)
		from += i + step
	}
	return at
}

// replace puts s in place of the length bytes at each position. Everything else
// keeps its bytes; s takes on the line ends that most lines of the file have.
func (d document) replace(at []int, length int, s string) string {
	if 2*len(d.crlf) > strings.Count(d.text, "\n") {
		s = strings.ReplaceAll(s, "\n", "\r\n")
	}
	var b strings.Builder
	b.Grow(len(d.bom) + len(d.raw) + len(at)*len(s))
	b.WriteString(d.bom)
	from := 0
	for _, start := range at {
		b.WriteString(d.raw[from:d.original(start)])
		b.WriteString(s)
		from = d.original(start + length)
	}
	b.WriteString(d.raw[from:])
	return b.String()
}

// original turns a position in text into the one in raw; a CRLF's is its CR's.
func (d document) original(i int) int { return i + sort.SearchInts(d.crlf, i) }
