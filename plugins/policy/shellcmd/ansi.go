package shellcmd

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

var ansiLetters = map[byte]byte{'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11, '\\': '\\', '\'': '\'', '"': '"', '?': '?'}

// ansi decodes what stands within $'…'. ok is false for what bash versions read
// differently.
func ansi(s string) (text string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		if plain, known := ansiLetters[c]; known {
			b.WriteByte(plain)
			continue
		}
		digits, base, most := digitsOf(c)
		if digits == "" {
			return "", false // \c and whatever else
		}
		if base == 16 {
			i++
		}
		n := 0
		for n < most && i+n < len(s) && strings.IndexByte(digits, s[i+n]) >= 0 {
			n++
		}
		if n == 0 {
			return "", false // among others \x{…}
		}
		v, _ := strconv.ParseUint(s[i:i+n], base, 32)
		i += n - 1
		switch {
		case v == 0:
			return "", false // the text ends here, or not
		case c == 'u' || c == 'U':
			b.Write(utf8.AppendRune(nil, rune(v)))
		default:
			b.WriteByte(byte(v))
		}
	}
	return b.String(), true
}

func digitsOf(c byte) (digits string, base, most int) {
	const hex = "0123456789abcdefABCDEF"
	switch {
	case c == 'x':
		return hex, 16, 2
	case c == 'u':
		return hex, 16, 4
	case c == 'U':
		return hex, 16, 8
	case c >= '0' && c <= '7':
		return "01234567", 8, 3
	}
	return "", 0, 0
}
