package spill_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/spill"
)

// texts draws texts of more than so many tokens, made of what tools really print.
func texts(atLeast int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "word ", "\n", "\n\n", "\r\n", "\t", "漢", "é", "e\u0301", "🙂", "👩‍💻", "👍🏽", "\x1b[31mred\x1b[0m", "12: ", "(End of result - total 3 lines)\n",
			"<b>&amp;</b>", "\u2028", "\ufeff", "\uFFFD", strings.Repeat("x", 900), strings.Repeat("long line ", 400),
		}), 1, 60).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		for llm.EstimateText(text) <= atLeast {
			text += text
		}
		return text
	})
}

func TestC14_APreviewKeepsToItsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{spill.Brief, 3000, spill.MaxInline}).Draw(t, "limit")
		text := texts(limit).Draw(t, "text")
		got := spill.Preview(text, "spill-123456789", limit, 0)
		if n := llm.EstimateText(got); n > limit {
			t.Fatalf("the preview has %d tokens, want at most %d", n, limit)
		}
		head, rest, marked := strings.Cut(got, "[... ")
		_, rest, _ = strings.Cut(rest, " ...]\n")
		i := strings.LastIndex(rest, "(Omitted ")
		if !marked || i < 0 || !strings.Contains(rest[i:], `read_spill with id "spill-123456789"`) {
			t.Fatalf("no mark or notice in %q", got)
		}
		tail := strings.TrimSuffix(rest[:i], "\n")
		if !utf8.ValidString(got) || !strings.HasPrefix(text, strings.TrimSuffix(head, "\n")) || !strings.HasSuffix(strings.TrimSuffix(text, "\n"), tail) {
			t.Fatalf("head or tail are not the text's:\n%q", got)
		}
		if len(head) < limit/8 || len(tail) < limit/8 {
			t.Fatalf("%d bytes of head and %d of tail for %d tokens", len(head), len(tail), limit)
		}
	})
}

// A cut behind any byte leaves families of emoji, skin tones and accents whole (C081).
func TestC14_NoLetterIsCutInTwo(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"👩‍👩‍👧‍👦", "👍🏽", "e\u0301\u0327", "🏳️‍🌈", "漢"} {
		for shift := range 16 {
			text := strings.Repeat("a", shift) + strings.Repeat(letter, 20_000)
			got := spill.Preview(text, "spill-1", spill.MaxInline, 0)
			head, rest, _ := strings.Cut(got, "\n[... ")
			_, rest, _ = strings.Cut(rest, " ...]\n")
			tail, _, _ := strings.Cut(rest, "\n(Omitted ")
			if strings.ReplaceAll(strings.TrimLeft(head, "a"), letter, "") != "" || strings.ReplaceAll(tail, letter, "") != "" {
				t.Errorf("%q shifted by %d: the head ends in %+q, the tail begins with %+q", letter, shift, head[len(head)-12:], tail[:12])
			}
		}
	}
}

func TestC14_TheMiddleOfLongLinesAndOfManyLinesIsCut(t *testing.T) {
	t.Parallel()
	one := spill.Preview(strings.Repeat("x", 3_000_000), "spill-7", spill.MaxInline, 0)
	if !strings.Contains(one, "\n[... a part of line 1 of 1 omitted ...]\nxxx") {
		t.Errorf("mark of one line: %q", one[18_400:18_700])
	}
	if want := fmt.Sprintf(`id "spill-7" and offset=1 column=%d goes on`, strings.IndexByte(one, '\n')+1); !strings.Contains(one, want) {
		t.Errorf("the notice does not say %q: %q", want, one[len(one)-300:])
	}
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	many := spill.Preview(b.String(), "spill-7", spill.MaxInline, 0)
	head, rest, _ := strings.Cut(many, "[... lines ")
	var first, last int
	if _, err := fmt.Sscanf(rest, "%d-%d of 100000 omitted ...]\n", &first, &last); err != nil {
		t.Fatalf("%v in %q", err, rest[:80])
	}
	_, rest, _ = strings.Cut(rest, "\n")
	if !strings.HasSuffix(head, fmt.Sprintf("\nline %d\n", first-1)) || !strings.HasPrefix(rest, fmt.Sprintf("line %d\n", last+1)) || !strings.Contains(rest, "line 100000\n(Omitted ") {
		t.Errorf("lines %d to %d are said to be left out between %q and %q", first, last, head[len(head)-30:], rest[:30])
	}
}

// A compaction that trims the preview must not take away how to read the rest (C154).
func TestC15_TheHandleOutlivesATrim(t *testing.T) {
	t.Parallel()
	preview := spill.Preview(strings.Repeat("many words\n", 100_000), "spill-4711", spill.MaxInline, 0)
	if trimmed := compaction.TrimText(preview, 4096, 1024); len(trimmed) > 6000 || !strings.Contains(trimmed, `read_spill with id "spill-4711"`) {
		t.Errorf("after the trim: …%q", trimmed[len(trimmed)-300:])
	}
}

func TestC17_TheNoticeSaysWhatIsLeftOutAndWhereItIs(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789\n", 5000)
	got := spill.Preview(text, "spill-9", spill.Brief, 0)
	mark := "[... lines 116-4885 of 5000 omitted ...]\n"
	notice := `(Omitted 52470 of 55000 bytes. Nothing is lost: read_spill with id "spill-9" and offset=116 goes on where this breaks off, and with search it finds a text in the whole result.)`
	if want := text[:115*11] + mark + text[4885*11:] + notice; got != want {
		t.Errorf("got …%q", got[len(got)-400:])
	}
}

func TestT14_TheLongestResultsMakeRoomForTheOthers(t *testing.T) {
	t.Parallel()
	ten := slices.Repeat([]int{12_000}, 10)
	for _, c := range []struct {
		name    string
		resetAt int
		waves   [][]int
		want    [][]int
	}{
		{"all fit", 0, [][]int{{20_000, 300, 13_000, 12_500}}, [][]int{{12_500, 300, 12_500, 12_500}}},
		{"of equals the first", 0, [][]int{ten}, [][]int{{1000, 1000, 1000, 1000, 1000, 1000, 1000, 12_000, 12_000, 12_000}}},
		{"the longest first", 0, [][]int{{12_000, 40_000, 12_000, 100_000, 12_000, 12_000}}, [][]int{{12_000, 1000, 12_000, 1000, 12_000, 12_000}}},
		{"what is brief stays", 0, [][]int{slices.Repeat([]int{1000}, 60)}, [][]int{slices.Repeat([]int{1000}, 60)}},
		{"wave by wave", 0, [][]int{{30_000, 12_000, 12_000, 12_000}, {2000}, {12_500}, {700}}, [][]int{{12_500, 12_000, 12_000, 12_000}, {1000}, {1000}, {700}}},
		{"a near line", 30_000, [][]int{{5000, 12_000}}, [][]int{{5000, 1000}}},
		{"a very near line", 2_000, [][]int{{12_500}}, [][]int{{12_500}}},
		{"nothing", 0, [][]int{{}}, [][]int{{}}},
	} {
		b := spill.NewBatch(c.resetAt)
		for i, wave := range c.waves {
			if got := b.Fit(wave); !slices.Equal(got, c.want[i]) {
				t.Errorf("%s, wave %d: %v, want %v", c.name, i+1, got, c.want[i])
			}
		}
	}
}

// A text that was cut before it came is not passed off as all there was (C154).
func TestW1_C154_APartialTextIsCalledPartial(t *testing.T) {
	t.Parallel()
	got := spill.Preview(strings.Repeat("many words\n", 100_000), "spill-4711", spill.Brief, 1<<40)
	if n := llm.EstimateText(got); n > spill.Brief {
		t.Errorf("%d tokens", n)
	}
	if strings.Contains(got, "Nothing is lost") || !strings.Contains(got, "The stored text is partial: the tool left out 1099511627776 more bytes") || !strings.Contains(got, `read_spill with id "spill-4711"`) {
		t.Errorf("the notice: %q", got[max(0, len(got)-400):])
	}
}
