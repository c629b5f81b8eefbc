package render

import "strings"

// Plain is text that can only be read: without the control characters that steer
// a terminal (C0 but for newline and tab, DEL, C1). Bytes that are no UTF-8 become
// U+FFFD.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, text)
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
