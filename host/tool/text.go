package tool

import "strings"

// Clean makes text valid UTF-8 without NUL, once, where it enters.
func Clean(text string) string {
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "")
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
