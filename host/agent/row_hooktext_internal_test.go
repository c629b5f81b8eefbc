package agent

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What hooks see of a long result is cut between characters, at every offset (C081).
func TestX1_C081_HookTextIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for shift := range 16 {
		got := hookText(strings.Repeat("a", shift) + strings.Repeat("🙂", maxHookText/4+100))
		if !utf8.ValidString(got) || strings.Contains(got, "\uFFFD") || len(got) > maxHookText+100 || len(got) < maxHookText-100 {
			t.Errorf("shifted by %d: %d bytes, valid %v", shift, len(got), utf8.ValidString(got))
		}
		if rest := strings.ReplaceAll(strings.Replace(strings.TrimLeft(got, "a"), "\n[...]\n", "", 1), "🙂", ""); rest != "" {
			t.Errorf("shifted by %d: half a character is left: %+q", shift, rest)
		}
	}
}
