package spill_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/spill"
)

var onwards = regexp.MustCompile(` Use offset=(\d+)(?: column=(\d+))?(?: with the same search)? to continue\.\)$`)

// onward reads from the last line of a page where to go on.
func onward(page string) (offset, column int, more bool) {
	m := onwards.FindStringSubmatch(page)
	if m == nil {
		return 0, 0, false
	}
	offset, _ = strconv.Atoi(m[1])
	column, _ = strconv.Atoi(m[2])
	return offset, max(1, column), true
}

// all reads a text page by page to its end, as the footers say, and puts it together.
func all(read func(spill.Ask) (string, error), ask spill.Ask) (text string, pages int, err error) {
	var b strings.Builder
	for more := true; more; pages++ {
		page, err := read(ask)
		if err != nil {
			return "", pages, err
		}
		rows := strings.SplitAfter(page, "\n")
		footer := rows[len(rows)-1]
		ask.Offset, ask.Column, more = onward(footer)
		for i, row := range rows[:len(rows)-1] {
			_, line, _ := strings.Cut(row, ": ")
			if i == len(rows)-2 && (ask.Column > 1 || strings.Contains(footer, "no line break")) {
				line = strings.TrimSuffix(line, "\n")
			}
			b.WriteString(line)
		}
		if pages > 10_000 {
			return "", pages, fmt.Errorf("the pages never end")
		}
	}
	return b.String(), pages, nil
}

func TestC16_PagesPutTogetherAreTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := texts(rapid.IntRange(1, 15_000).Draw(t, "size")).Draw(t, "text")
		ask := spill.Ask{Limit: rapid.SampledFrom([]int{0, 100, 1000}).Draw(t, "limit"), Tokens: rapid.SampledFrom([]int{0, 1, 1500, 9000}).Draw(t, "tokens")}
		most := max(spill.Brief, ask.Tokens)
		if ask.Tokens == 0 {
			most = spill.MaxInline
		}
		got, _, err := all(func(a spill.Ask) (string, error) {
			page, err := spill.Page(text, a)
			if n := llm.EstimateText(page); n > most || len(page) > 32<<10 {
				t.Fatalf("a page of %d tokens and %d bytes, want at most %d and 32768", n, len(page), most)
			}
			return page, err
		}, ask)
		if err != nil || got != text {
			t.Fatalf("%v: %d bytes, want %d\ngot  %q\nwant %q", err, len(got), len(text), got, text)
		}
	})
}

func TestC16_APageSaysWhatItShows(t *testing.T) {
	t.Parallel()
	text := "one\n\nthree\r\nfour"
	for _, c := range []struct {
		ask  spill.Ask
		want string
	}{
		{spill.Ask{}, "1: one\n2: \n3: three\r\n4: four\n(End of result - total 4 lines, no line break at the end)"},
		{spill.Ask{Offset: 2, Limit: 2}, "2: \n3: three\r\n(Showing lines 2-3 of 4. Use offset=4 to continue.)"},
		{spill.Ask{Offset: 4, Column: 3}, "4: ur\n(End of result - total 4 lines, no line break at the end)"},
	} {
		if got, err := spill.Page(text, c.ask); err != nil || got != c.want {
			t.Errorf("%+v: %v\ngot  %q\nwant %q", c.ask, err, got, c.want)
		}
	}
	for want, ask := range map[string]spill.Ask{
		"offset 5 is out of range: the result has 4 lines":        {Offset: 5},
		"column 9 is out of range: line 1 has 3 characters":       {Column: 9},
		"a search text with a line break finds nothing: search":   {Search: "one\nthree"},
		"column 999999 is out of range: line 2 has 0 characters":  {Offset: 2, Column: 999_999},
		"offset 9007199254740992 is out of range: the result has": {Offset: 1 << 53, Search: "x"},
	} {
		if got, err := spill.Page(text, ask); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %q, %v; want %q", ask, got, err, want)
		}
	}
	wide := strings.Repeat("é", 3_000_000)
	page, err := spill.Page("first\n"+wide, spill.Ask{Offset: 2, Column: 2_000_001})
	if offset, column, more := onward(page); err != nil || !more || offset != 2 || column < 2_010_000 || !strings.Contains(page, "(Output capped. Showing lines 2-2 of 2. ") {
		t.Errorf("%v: a page in the middle of a line ends %q", err, page[len(page)-120:])
	}
}

func TestC16_SearchFindsALineInTheMiddle(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "line %d of the output\n", i+1)
	}
	text := strings.Replace(b.String(), "line 50000 of", "line 50000 with ERROR (42) .* of", 1)
	got, err := spill.Page(text, spill.Ask{Search: "error (42) .*"})
	if want := "50000: line 50000 with ERROR (42) .* of the output\n(End of result - 1 matches shown, total 100000 lines)"; err != nil || got != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
	if got, err := spill.Page(text, spill.Ask{Search: "error", Offset: 50_001}); err != nil || got != `(Nothing from offset=50001 on holds "error"; the result has 100000 lines.)` {
		t.Errorf("%v: %q", err, got)
	}
}

// Every line that holds the text is shown once, page after page.
func TestC16_SearchPagesMissNothing(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	var want []string
	for i := range 3000 {
		if i%7 == 0 {
			fmt.Fprintf(&b, "%d has the Needle, and the needle again\n", i)
			want = append(want, fmt.Sprintf("%d: %d has the Needle, and the needle again", i+1, i))
			continue
		}
		fmt.Fprintf(&b, "%d is hay\n", i)
	}
	var got []string
	ask := spill.Ask{Search: "NEEDLE", Limit: 50, Tokens: 1000}
	for more := true; more; {
		page, err := spill.Page(b.String(), ask)
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(page, "\n")
		got = append(got, rows[:len(rows)-1]...)
		ask.Offset, ask.Column, more = onward(page)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d rows, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
}

// In a line of megabytes each match is shown with what stands around it, and the
// column leads Page there.
func TestC16_SearchInOneLongLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%sNEEDLE-%d!", strings.Repeat("ü", 5000), i)
	}
	text, seen := b.String(), 0
	ask := spill.Ask{Search: "needle"}
	for more := true; more; {
		page, err := spill.Page(text, ask)
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(page, "\n")
		for _, row := range rows[:len(rows)-1] {
			var column int
			if _, err := fmt.Sscanf(row, "1, column %d: ", &column); err != nil || !strings.Contains(row, fmt.Sprintf("NEEDLE-%d!", seen)) {
				t.Fatalf("row %d: %v %q", seen, err, row)
			}
			_, excerpt, _ := strings.Cut(row, ": ")
			at, err := spill.Page(text, spill.Ask{Column: column, Tokens: 1500})
			if err != nil || !strings.HasPrefix(at, "1: "+excerpt) {
				t.Fatalf("column %d: %v %q", column, err, at[:200])
			}
			seen++
		}
		ask.Offset, ask.Column, more = onward(page)
	}
	if seen != 300 {
		t.Errorf("%d matches are shown", seen)
	}
}
