package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Plain is text that can only be read: without the control characters that steer
// a terminal (C0 but for newline and tab, DEL, C1), and without those that turn the
// direction of what stands around them. Bytes that are no UTF-8 become U+FFFD.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if steers(r) || turns(r) {
			return -1
		}
		return r
	}, text)
}

// steers tells whether a terminal obeys r instead of showing it.
func steers(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }

// turns tells whether r embeds, overrides or isolates a direction.
func turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// JSONFor is where JSON for stream goes: to a terminal, with what Plain takes out
// written as its number. It is the same JSON.
func JSONFor(stream io.Writer) io.Writer {
	if IsTerminal(stream) {
		return &numbering{w: stream}
	}
	return stream
}

type numbering struct {
	w    io.Writer
	part []byte // of a character whose end is still to come
}

func (n *numbering) Write(text []byte) (int, error) {
	var out bytes.Buffer
	rest := append(n.part, text...)
	for n.part = nil; len(rest) > 0; {
		if !utf8.FullRune(rest) {
			n.part = bytes.Clone(rest)
			break
		}
		r, size := utf8.DecodeRune(rest)
		if r != '\n' && r != '\t' && (steers(r) || turns(r)) {
			fmt.Fprintf(&out, "\\u%04x", r)
		} else {
			out.Write(rest[:size])
		}
		rest = rest[size:]
	}
	if _, err := n.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// PlainFor is Plain where stream is a terminal; elsewhere the text stays as it is.
func PlainFor(stream any, text string) string {
	if IsTerminal(stream) {
		return Plain(text)
	}
	return text
}

// block is plain text whose later lines are indented, so that none of them looks
// like a line of the host's.
func block(text string) string {
	lines := strings.Split(strings.TrimRight(Plain(text), "\n"), "\n")
	for i, line := range lines {
		if i > 0 && !strings.HasPrefix(line, indent) {
			lines[i] = indent + line
		}
	}
	return strings.Join(lines, "\n")
}
