package llm

import (
	"strconv"
	"strings"
)

// mend replaces the \u escapes of JSON text that are half a surrogate pair: servers
// and tools whose strings are UTF-8 refuse them. text is valid JSON.
func mend(text string) string {
	if !strings.Contains(text, `\ud`) && !strings.Contains(text, `\uD`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		n := 1
		if text[i] == '\\' {
			n = 2
		}
		switch code := escape(text[i:]); {
		case isHigh(code) && isLow(escape(text[i+6:])):
			n = 12
		case isHigh(code) || isLow(code):
			b.WriteString(`\ufffd`)
			i += 6
			continue
		}
		b.WriteString(text[i : i+n])
		i += n
	}
	return b.String()
}

// escape is the code unit of a \u escape that text begins with, 0 where there is none.
func escape(text string) uint64 {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	code, _ := strconv.ParseUint(text[2:6], 16, 16)
	return code
}

func isHigh(code uint64) bool { return code >= 0xd800 && code < 0xdc00 }
func isLow(code uint64) bool  { return code >= 0xdc00 && code < 0xe000 }
