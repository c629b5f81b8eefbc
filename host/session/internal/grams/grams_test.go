package grams_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/session/internal/grams"
)

// Runes that any way of comparing without case takes for equal have one rune in common.
func TestN9_CaselessIsCoarserThanEveryOther(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		c := grams.Caseless(r)
		for _, same := range []rune{unicode.ToLower(r), unicode.SimpleFold(r), unicode.ToLower(unicode.ToUpper(unicode.ToLower(r)))} {
			if unicode.ToLower(same) == unicode.ToLower(r) || strings.EqualFold(string(same), string(r)) {
				if got := grams.Caseless(same); got != c {
					t.Fatalf("%U stands for %U, and its equal %U for %U", c, r, got, same)
				}
			}
		}
	}
}

// Whatever piece of a text is looked for, in whatever case, its block is found, in
// memory and in a segment.
func TestN9_NoBlockThatHoldsTheTextIsPassedOver(t *testing.T) {
	t.Parallel()
	runes := rapid.SampledFrom([]rune("abkKsSſ\u212aİi<\"\\\n\x00é漢👋{}: 0123"))
	rapid.Check(t, func(t *rapid.T) {
		blocks := make([]grams.Block, grams.Blocks)
		texts := rapid.SliceOfN(rapid.SliceOfN(runes, 1, 30), 1, 4).Draw(t, "texts")
		at := rapid.IntRange(0, grams.Blocks-1).Draw(t, "block")
		for i := range blocks {
			blocks[i].Last = int64(i + 1)
		}
		for _, text := range texts {
			blocks[at].Add(string(text))
		}
		text := texts[rapid.IntRange(0, len(texts)-1).Draw(t, "text")]
		from := rapid.IntRange(0, len(text)-1).Draw(t, "from")
		needle := string(text[from:rapid.IntRange(from+1, len(text)).Draw(t, "to")])
		if rapid.Bool().Draw(t, "upper") {
			needle = strings.ToLower(needle)
		}
		rows := grams.RowsOf(needle)
		if !blocks[at].Has(rows) {
			t.Fatalf("%q is not found in %q", needle, text)
		}
		found, err := grams.Find(bytes.NewReader(grams.Segment{}.Encode(blocks)), 0, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range blocks {
			if want := blocks[i].Has(rows); want != contains(found, i) {
				t.Fatalf("block %d: %t in memory, segment names %v", i, want, found)
			}
		}
	})
}

func contains(all []int, n int) bool {
	for _, i := range all {
		if i == n {
			return true
		}
	}
	return false
}

func TestN9_ShortTextsSayNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "ab": false, "é": false, "abc": true, "漢": true} {
		if got := len(grams.RowsOf(text)) > 0; got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	if n := len(grams.RowsOf(strings.Repeat("any text that is long enough, with 0123456789; ", 500))); n > 64 {
		t.Errorf("%d rows of a long text", n)
	}
}

// A text that is nowhere is found in few blocks of ordinary fill.
func TestN9_FewBlocksAreNamedInVain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	named := 0
	for range 200 {
		var b grams.Block
		for bytes := 0; !b.Full(bytes); {
			line := make([]byte, 60)
			for i := range line {
				line[i] = "abcdefghijklmnopqrstuvwxyz 0123456789_(){}"[r.IntN(42)]
			}
			b.Add(string(line))
			bytes += len(line)
		}
		if b.Has(grams.RowsOf("bittern-77,")) {
			named++
		}
	}
	if named > 10 {
		t.Errorf("%d of 200 blocks are named", named)
	}
}

// A byte that changed anywhere is found out where it matters.
func TestN9_AChangedByteIsNoticed(t *testing.T) {
	t.Parallel()
	blocks := make([]grams.Block, grams.Blocks)
	for i := range blocks {
		blocks[i].Last = int64(i + 1)
		blocks[i].Add("the needle")
	}
	whole := grams.Segment{Born: 7, After: 0, Sum: 9}.Encode(blocks)
	if len(whole) != grams.SegmentLen {
		t.Fatalf("a segment of %d bytes", len(whole))
	}
	rows := grams.RowsOf("needle")
	for range 300 {
		at := rand.IntN(len(whole))
		bad := bytes.Clone(whole)
		bad[at] ^= 1 << rand.IntN(8)
		s, err := grams.ReadHead(bytes.NewReader(bad), 0)
		if err == nil && (s.Born != 7 || s.Sum != 9 || s.Last() != grams.Blocks) {
			t.Fatalf("byte %d: the head reads %+v", at, s)
		}
		found, err := grams.Find(bytes.NewReader(bad), 0, rows)
		if err == nil && len(found) != grams.Blocks || err != nil && !errors.Is(err, grams.ErrBad) {
			t.Fatalf("byte %d: %v, %v", at, found, err)
		}
	}
	if _, err := grams.Find(bytes.NewReader(whole[:grams.SegmentLen/2]), 0, rows); err == nil {
		t.Error("half a segment reads")
	}
}
