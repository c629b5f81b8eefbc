package search

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// literal returns a text that every match of the expression contains, "" where
// none is sure. To look for it first is many times faster than to match.
func literal(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 || strings.ContainsRune(text, utf8.RuneError) {
			return ""
		}
		return text
	case syntax.OpCapture, syntax.OpPlus:
		return literal(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literal(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if text := literal(sub); len(text) > len(longest) {
				longest = text
			}
		}
		return longest
	}
	return ""
}
