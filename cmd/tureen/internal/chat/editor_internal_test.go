package chat

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEditor_MovesByCharactersAsPeopleSeeThem(t *testing.T) {
	t.Parallel()
	var e editor
	for _, typed := range []string{"a", "e", "\u0301", "汤", "👩‍🍳", "z"} { // the accent comes on its own
		e.insert(typed)
	}
	if e.value() != "ae\u0301汤👩‍🍳z" || len(e.pieces) != 5 {
		t.Fatalf("%q in %d pieces", e.value(), len(e.pieces))
	}
	for _, k := range []string{"left", "backspace", "backspace", "backspace"} {
		e.key(k)
	}
	if e.value() != "az" {
		t.Errorf("left %q", e.value())
	}
}

func TestEditor_KeysOfALineEditor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys string
		want string // | is the cursor
	}{
		{"home", "one two\n|three four"},
		{"ctrl+a ctrl+k", "one two\n|"},
		{"ctrl+u", "one two\n|"},
		{"ctrl+w", "one two\nthree |"},
		{"alt+b alt+b alt+d", "one two\n| four"},
		{"up", "one two|\nthree four"}, // the line above is shorter
		{"home up", "|one two\nthree four"},
		{"home up down", "one two\n|three four"},
		{"home backspace", "one two|three four"},
		{"home up end delete", "one two|three four"},
		{"home ctrl+right", "one two\nthree| four"},
		{"ctrl+j", "one two\nthree four\n|"},
		{"shift+enter", "one two\nthree four\n|"},
		{"left left delete", "one two\nthree fo|r"},
	} {
		var e editor
		e.insert("one two\nthree four")
		for k := range strings.FieldsSeq(c.keys) {
			switch k {
			case "up":
				e.up()
			case "down":
				e.down()
			default:
				if !e.key(k) {
					t.Errorf("%s is no key", k)
				}
			}
		}
		var got strings.Builder
		for i, p := range e.pieces {
			if i == e.at {
				got.WriteByte('|')
			}
			got.WriteString(p.text)
		}
		if e.at == len(e.pieces) {
			got.WriteByte('|')
		}
		if got.String() != c.want {
			t.Errorf("%s: %q, want %q", c.keys, got.String(), c.want)
		}
	}
}

func TestEditor_PastesAreOnePieceWhenLong(t *testing.T) {
	t.Parallel()
	var e editor
	e.insert("see ")
	e.paste("two\r\nlines\r")
	if e.value() != "see two\nlines\n" {
		t.Errorf("%q", e.value())
	}
	long := strings.Repeat("x\x1b[31m\n", 40)
	e.paste(long)
	rows, _, _ := e.rows(60, 10)
	if shown := strings.Join(rows, "/"); shown != "see two/lines/[pasted 41 lines, 280 bytes]" {
		t.Errorf("shown %q", shown)
	}
	if !strings.HasSuffix(e.value(), long) {
		t.Error("the paste was changed")
	}
	e.key("backspace")
	if e.value() != "see two\nlines\n" {
		t.Errorf("after a backspace %q", e.value())
	}
	if e.paste(strings.Repeat("y", maxInput)) || e.size != len(e.value()) {
		t.Errorf("more than the most was taken: %d bytes, counted %d", len(e.value()), e.size)
	}
}

func TestEditor_RowsBreakAtWordsAroundTheCursor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text          string
		width, height int
		want          string
		x, y          int
	}{
		{"", 10, 3, "", 0, 0},
		{"hello", 10, 3, "hello", 5, 0},
		{"hello wide world", 11, 3, "hello wide /world", 5, 1},
		{"0123456789", 10, 3, "0123456789", 10, 0},
		{"汤汤汤汤汤汤", 10, 3, "汤汤汤汤汤/汤", 2, 1},
		{"a\nb\nc\nd", 10, 2, "c/d", 1, 1},
		{"a\n\n", 10, 5, "a//", 0, 2},
	} {
		var e editor
		e.insert(c.text)
		rows, x, y := e.rows(c.width, c.height)
		if got := strings.Join(rows, "/"); got != c.want || x != c.x || y != c.y {
			t.Errorf("%q in %d: %q cursor %d,%d, want %q cursor %d,%d", c.text, c.width, got, x, y, c.want, c.x, c.y)
		}
	}
}

// Whatever is typed: nothing is lost, no row is too wide, the cursor stands in one.
func TestEditor_AnyInput(t *testing.T) {
	t.Parallel()
	keys := []string{"left", "right", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+k", "ctrl+u", "ctrl+j", "alt+d", "up", "down"}
	rapid.Check(t, func(t *rapid.T) {
		var e editor
		for i := range rapid.IntRange(0, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, fmt.Sprint("types", i)) {
				before := e.size
				text := rapid.SampledFrom([]string{"a", " ", "word ", "汤", "\u0301", "👩‍🍳", "\x1b[2J", "\n", "\r", strings.Repeat("l\n", 20), "\u202e", "é"}).Draw(t, "text")
				e.paste(text)
				if e.size < before {
					t.Fatalf("a paste of %q took something away", text)
				}
				continue
			}
			switch k := rapid.SampledFrom(keys).Draw(t, "key"); k {
			case "up":
				e.up()
			case "down":
				e.down()
			default:
				e.key(k)
			}
		}
		if e.at < 0 || e.at > len(e.pieces) || e.size != len(e.value()) {
			t.Fatalf("cursor %d of %d, size %d of %d", e.at, len(e.pieces), e.size, len(e.value()))
		}
		width, height := rapid.IntRange(maxCells, 40).Draw(t, "width"), rapid.IntRange(1, 6).Draw(t, "height")
		rows, x, y := e.rows(width, height)
		if y < 0 || y >= len(rows) || x < 0 || x > width || len(rows) > height {
			t.Fatalf("cursor %d,%d in %d rows of %d", x, y, len(rows), width)
		}
		if i := slices.IndexFunc(rows, func(r string) bool { return cells(r) > width || strings.ContainsAny(r, "\x1b\n\u202e") }); i >= 0 {
			t.Fatalf("row %q of width %d", rows[i], width)
		}
	})
}

func TestHistory_GoesBackAndReturnsToTheDraft(t *testing.T) {
	t.Parallel()
	var h history
	for _, s := range []string{"one", "two", "two", "three"} {
		h.add(s)
	}
	var seen []string
	for {
		s, ok := h.older("draft")
		if !ok {
			break
		}
		seen = append(seen, s)
	}
	for {
		s, ok := h.newer()
		if !ok {
			break
		}
		seen = append(seen, s)
	}
	if got := strings.Join(seen, " "); got != "three two one two three draft" {
		t.Error(got)
	}
	for i := range 2 * maxHistory {
		h.add(fmt.Sprint(i))
	}
	if len(h.entries) != maxHistory {
		t.Errorf("%d entries", len(h.entries))
	}
}
