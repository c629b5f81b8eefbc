package shell

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Whatever is written in whatever parts: all of it is there up to the limit, of more
// start and end, whole characters, with the number of bytes that are not.
func TestW1_C153_StartAndEndAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(8, 200).Draw(t, "limit")
		k := newKept(limit)
		defer k.stop()
		var all bytes.Buffer
		for _, part := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "word\n", "漢字", "🙂", strings.Repeat("long ", 30), "é"}), 0, 60).Draw(t, "parts") {
			_, _ = k.Write([]byte(part))
			all.WriteString(part)
		}
		text := strings.TrimRight(all.String(), "\n")
		got := k.all()
		if int64(all.Len()) <= limit {
			if got.text != text || got.lost != 0 {
				t.Fatalf("%q of %q, %d lost", got.text, text, got.lost)
			}
			return
		}
		head, tail, cut := strings.Cut(got.text, fmt.Sprintf("\n[... %d bytes dropped here ...]\n", got.lost))
		tail += all.String()[len(text):]
		if !cut || !utf8.ValidString(got.text) || !strings.HasPrefix(text, head) || !strings.HasSuffix(all.String(), tail) || int64(len(head)+len(tail))+got.lost != int64(all.Len()) {
			t.Fatalf("limit %d: %q of %q, %d lost", limit, got.text, text, got.lost)
		}
		if n := int64(len(head) + len(tail)); n > limit || n < limit-6 {
			t.Fatalf("limit %d: %d bytes are kept", limit, n)
		}
	})
}

// Reading part by part, while it is written and afterwards, comes to the end, and what
// was read and what is said to be lost is all.
func TestW1_C153_PartsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := newKept(0)
		defer k.stop()
		_, _ = k.Write([]byte(strings.Repeat("before ", rapid.IntRange(0, 20).Draw(t, "before"))))
		at := k.begin(rapid.Int64Range(8, 200).Draw(t, "limit"))
		k.end.keep = rapid.IntRange(1, 8).Draw(t, "memory")
		begin, written, read, lost := at, int64(0), int64(0), int64(0)
		take := func(ended bool) {
			p := k.from(at, rapid.IntRange(4, 100).Draw(t, "page"), ended)
			if !utf8.ValidString(p.text) || strings.ContainsRune(p.text, utf8.RuneError) {
				t.Fatalf("half a character in %q", p.text)
			}
			if p.next < at || p.left != k.size()-p.next {
				t.Fatalf("from %d to %d, %d left of %d", at, p.next, p.left, k.size())
			}
			lost += p.lost
			read += p.next - at - p.lost
			at = p.next
		}
		for _, part := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "漢字", "🙂", strings.Repeat("long ", 30), ""}), 0, 60).Draw(t, "parts") {
			_, _ = k.Write([]byte(part))
			if written += int64(len(part)); part == "" {
				take(false)
			}
		}
		for range 200 {
			take(true)
		}
		if at != begin+written || read+lost != written {
			t.Fatalf("%d read and %d lost of %d, at %d of %d", read, lost, written, at-begin, written)
		}
	})
}

// A disk that fills up meanwhile costs what no longer fits, and nobody the command.
func TestW1_C153_AFullDiskLeavesStartAndEnd(t *testing.T) {
	t.Parallel()
	for _, before := range []int{1, 20, 60} { // thousand lines until then; the last is more than half of the limit
		k := newKept(2_000_000)
		line := []byte(strings.Repeat("before ", 4) + "\n")
		for range before * 1000 {
			_, _ = k.Write(line)
		}
		if k.file != nil {
			whole := k.file
			full, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", whole.Fd())) // takes no more
			if err != nil {
				t.Fatal(err)
			}
			k.file = full
			whole.Close()
		} else {
			k.broken = os.ErrPermission
		}
		for range 100_000 {
			_, _ = k.Write([]byte("afterwards\n"))
		}
		_, _ = k.Write([]byte("the end\n"))
		got := k.all()
		total := int64(before*1000*len(line) + 100_000*11 + 8)
		if got.lost < total-int64(before*1000*len(line))-memoryBytes || got.lost >= total || got.why == nil || !strings.HasSuffix(got.text, "afterwards\nthe end") {
			t.Errorf("%d: %d lost of %d (%v), end %q", before, got.lost, total, got.why, got.text[max(0, len(got.text)-40):])
		}
		if k.file != nil && !strings.HasPrefix(got.text, strings.Repeat(string(line), 1000)) {
			t.Errorf("%d: the start is %.40q", before, got.text)
		}
		if n := got.notice("output"); !strings.Contains(n, "no file could keep them: ") {
			t.Errorf("%d: %q", before, n)
		}
		k.stop()
	}
}
