package sdk

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// MaxText is the most that the host takes of a result's text: of a longer one start
	// and end, with a line between them that says how much is missing.
	MaxText = 64 << 20
	// halfText is each of the two, so that they fit with the line.
	halfText = MaxText/2 - 128
	// endlessText is what a plugin may send before its result; one that sends more never
	// comes to it.
	endlessText = 2 * MaxText
	// pieceBytes is how much of a text stands in one message.
	pieceBytes = 1 << 20
)

// pieces hands out a text in pieces of whole characters.
func pieces(text string, send func(string) error) error {
	for text != "" {
		cut := len(text)
		if cut > pieceBytes {
			cut = runeAt(text, pieceBytes)
		}
		if err := send(text[:cut]); err != nil {
			return err
		}
		text = text[cut:]
	}
	return nil
}

// runeAt is where the character that goes through that byte begins.
func runeAt(text string, at int) int {
	for back := range utf8.UTFMax {
		if at-back > 0 && utf8.RuneStart(text[at-back]) {
			return at - back
		}
	}
	return at
}

// bounded is a text within MaxText, and how many bytes of it are missing.
func bounded(text string) (string, int64) {
	if len(text) <= MaxText {
		return text, 0
	}
	head, tail := runeAt(text, halfText), runeAt(text, len(text)-halfText)
	return text[:head] + missing(int64(tail-head)) + text[tail:], int64(tail - head)
}

func missing(n int64) string {
	return fmt.Sprintf("\n[... %d bytes left out here: a result holds at most %d MiB ...]\n", n, MaxText>>20)
}

// gathered puts a text together from its pieces. What it holds is bounded, however many
// and however small they are.
type gathered struct {
	head, tail blocks
	total      int64
}

// add takes a piece; false says that there is no end of them.
func (g *gathered) add(piece string) bool {
	g.total += int64(len(piece))
	if room := halfText - g.head.size; room > 0 {
		first := piece[:min(room, len(piece))]
		g.head.add(first)
		piece = piece[len(first):]
	}
	g.tail.add(piece)
	g.tail.keep(MaxText - halfText)
	return g.total <= endlessText
}

// text is the whole with what is said last, and how many bytes of it are missing.
func (g *gathered) text(last string) (string, int64) {
	if g.total == 0 {
		return bounded(last)
	}
	g.add(last)
	var b strings.Builder
	if g.total <= MaxText {
		b.Grow(int(g.total))
		g.head.move(&b)
		g.tail.move(&b)
		return b.String(), 0
	}
	g.head.wholeEnd()
	g.tail.last(halfText)
	g.tail.wholeStart()
	lost := g.total - int64(g.head.size) - int64(g.tail.size)
	line := missing(lost)
	b.Grow(MaxText + len(line))
	g.head.move(&b)
	b.WriteString(line)
	g.tail.move(&b)
	return b.String(), lost
}

// blocks are bytes in blocks of one size, so that nothing is copied as they grow.
type blocks struct {
	list [][]byte
	size int
}

func (b *blocks) add(text string) {
	for text != "" {
		if n := len(b.list); n == 0 || len(b.list[n-1]) == cap(b.list[n-1]) {
			b.list = append(b.list, make([]byte, 0, pieceBytes))
		}
		last := &b.list[len(b.list)-1]
		n := min(len(text), cap(*last)-len(*last))
		*last = append(*last, text[:n]...)
		b.size += n
		text = text[n:]
	}
}

// keep drops the oldest blocks that are not among the last n bytes.
func (b *blocks) keep(n int) {
	for len(b.list) > 1 && b.size-len(b.list[0]) >= n {
		b.size -= len(b.list[0])
		b.list[0] = nil
		b.list = b.list[1:]
	}
}

// last drops all but the last n bytes.
func (b *blocks) last(n int) {
	b.keep(n)
	b.skip(max(0, b.size-n))
}

// skip drops n bytes of the first block.
func (b *blocks) skip(n int) {
	b.list[0] = b.list[0][n:]
	b.size -= n
}

// wholeEnd drops what is there of a last character that is not whole.
func (b *blocks) wholeEnd() {
	last := &b.list[len(b.list)-1]
	for back := 1; back < utf8.UTFMax && back <= len(*last); back++ {
		if part := (*last)[len(*last)-back:]; utf8.RuneStart(part[0]) {
			if !utf8.FullRune(part) {
				*last = (*last)[:len(*last)-back]
				b.size -= back
			}
			return
		}
	}
}

// wholeStart drops what is left of a character that began before.
func (b *blocks) wholeStart() {
	for range utf8.UTFMax - 1 {
		if len(b.list[0]) == 0 || utf8.RuneStart(b.list[0][0]) {
			return
		}
		b.skip(1)
	}
}

// move writes what it holds and lets go of it.
func (b *blocks) move(to *strings.Builder) {
	for i, block := range b.list {
		to.Write(block)
		b.list[i] = nil
	}
	b.list, b.size = nil, 0
}
