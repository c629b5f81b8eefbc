package search

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Matcher finds a text, letter for letter but without regard to case.
type Matcher struct {
	needle folded
	probe  folded // the longest piece of it that JSON holds as it is
}

// NewMatcher returns the matcher of a text that is not empty.
func NewMatcher(text string) *Matcher {
	text = string([]rune(text)) // valid UTF-8, as all text that JSON holds
	m := &Matcher{needle: fold(text)}
	from := 0
	for at, r := range text + "\"" {
		if !escaped(r) {
			continue
		}
		if piece := fold(text[from:min(at, len(text))]); len(piece.runes) > len(m.probe.runes) {
			m.probe = piece
		}
		from = at + utf8.RuneLen(r)
	}
	return m
}

// escaped tells whether a rune may stand in JSON in another form although a writer
// leaves all others alone.
func escaped(r rune) bool {
	switch r {
	case '"', '\\', '/', '<', '>', '&', 0x7f, '\u2028', '\u2029', utf8.RuneError:
		return true
	}
	return r < ' '
}

// Find returns where the text stands first, -1 where it does not, and where it ends.
func (m *Matcher) Find(text []byte) (from, to int) { return m.needle.find(text) }

// May tells whether JSON may hold the text in one of its strings: false is certain.
// It is much cheaper than to decode.
func (m *Matcher) May(raw []byte) bool {
	if len(m.probe.runes) == 0 {
		return true
	}
	from, _ := m.probe.find(raw)
	return from >= 0 || unusual(raw)
}

// unusual tells whether JSON has an escape that stands for a rune which most writers
// leave as it is.
func unusual(raw []byte) bool {
	for {
		at := bytes.Index(raw, []byte(`\u`))
		if at < 0 {
			return false
		}
		if raw = raw[at+2:]; len(raw) < 4 {
			return true
		}
		switch string(raw[:4]) {
		case "003c", "003C", "003e", "003E", "0026", "2028", "2029", "007f", "007F", "fffd", "FFFD":
		default:
			if raw[0] != '0' || raw[1] != '0' || raw[2] != '0' && raw[2] != '1' {
				return true
			}
		}
	}
}

// folded is a text of which each rune stands for all of its cases.
type folded struct {
	runes []rune
	leads [256]bool // bytes that the first rune may begin with
}

func fold(text string) folded {
	var f folded
	for _, r := range text {
		f.runes = append(f.runes, lowest(r))
	}
	if len(f.runes) == 0 {
		return f
	}
	first := f.runes[0]
	for r := first; ; {
		f.leads[utf8.AppendRune(nil, r)[0]] = true
		if r = unicode.SimpleFold(r); r == first {
			break
		}
	}
	if first == utf8.RuneError { // what is no UTF-8 reads as this one
		for b := utf8.RuneSelf; b < len(f.leads); b++ {
			f.leads[b] = true
		}
	}
	return f
}

// lowest is the one rune that stands for all cases of r.
func lowest(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return least
}

func (f *folded) find(text []byte) (from, to int) {
	for at := 0; at < len(text); at++ {
		if !f.leads[text[at]] {
			continue
		}
		if n := f.begins(text[at:]); n > 0 {
			return at, at + n
		}
	}
	return -1, -1
}

// begins is how many bytes of the text's beginning match, 0 for none.
func (f *folded) begins(text []byte) int {
	at := 0
	for _, want := range f.runes {
		if at == len(text) {
			return 0
		}
		r, n := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[at:])
		}
		if lowest(r) != want {
			return 0
		}
		at += n
	}
	return at
}
