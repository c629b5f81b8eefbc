package chat

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestWrap_BreaksAtSpacesElseWithinWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""},
		{"one two three", 8, "one two/three"},
		{"one two three", 7, "one two/three"},
		{"0123456789abc", 5, "01234/56789/abc"},
		{"  indented text here", 10, "  indented/text here"},
		{"汤汤汤 汤汤", 6, "汤汤汤/汤汤"},
		{"汤汤汤汤", 5, "汤汤/汤汤"},
		{"a\n\nb", 5, "a//b"},
		{"汤", 1, "汤"},
	} {
		if got := strings.Join(wrap(c.text, c.width), "/"); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestClean_LeavesNothingThatSteers(t *testing.T) {
	t.Parallel()
	if got := clean("a\x1b[2J\u202eb\u2066\tc\r\n\u009bd\u2028e\x00\xff"); got != "a[2Jb    c\nd\ne\uFFFD" {
		t.Errorf("%q", got)
	}
	if got := oneLine("one\n  two\x1b[2J three", 9); got != "one two[…" {
		t.Errorf("%q", got)
	}
	if rows := wrap("e"+strings.Repeat("\u0301", 100_000)+"x", 20); len(rows) != 1 || rows[0] != "ex" {
		t.Errorf("a pile of accents became %.80q", rows)
	}
	if got := fit("汤汤汤", 4); got != "汤…" {
		t.Errorf("%q", got)
	}
}

// No text makes a row wider than asked, and none of its words is lost.
func TestWrap_AnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := clean(rapid.String().Draw(t, "text"))
		width := rapid.IntRange(maxCells, 30).Draw(t, "width")
		rows := wrap(text, width)
		for _, row := range rows {
			if cells(row) > width {
				t.Fatalf("%q has %d columns, the most is %d", row, cells(row), width)
			}
		}
		bare := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
		if got := bare(strings.Join(rows, "")); got != bare(text) && (len(text) <= maxCluster || !strings.ContainsFunc(text, unicode.IsMark)) {
			t.Fatalf("%q became %q", text, rows)
		}
	})
}
