package files_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
)

// What is no UTF-8 text is refused by what it is and how large, at the cost of a line.
func TestF1_C086_ReadRefusesWhatIsNoText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var picture, packed bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(&packed)
	fmt.Fprint(z, strings.Repeat("packed\n", 500))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	wide := func(order binary.AppendByteOrder) string {
		var text []byte
		for _, unit := range utf16.Encode([]rune("\ufeffGrüße, 漢字\n")) {
			text = order.AppendUint16(text, unit)
		}
		return string(text)
	}
	elf := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00\xff\x41", 21_000)
	for name, c := range map[string]struct{ content, code, says string }{
		"elf":      {elf, "BINARY_FILE", "binary file: an ELF program, library or object file, 63007 bytes; "},
		"png":      {picture.String(), "BINARY_FILE", fmt.Sprintf("binary file: image/png, %d bytes; ", picture.Len())},
		"gzip":     {packed.String(), "BINARY_FILE", fmt.Sprintf("binary file: application/x-gzip, %d bytes; ", packed.Len())},
		"sqlite":   {"SQLite format 3\x00", "BINARY_FILE", "binary file: an SQLite database, 16 bytes; "},
		"utf-16le": {wide(binary.LittleEndian), "BINARY_FILE", "binary file: UTF-16LE text, 22 bytes; convert a copy to UTF-8, for example with iconv"},
		"utf-16be": {wide(binary.BigEndian), "BINARY_FILE", "binary file: UTF-16BE text, 22 bytes; convert a copy to UTF-8, for example with iconv"},
		"zeros":    {strings.Repeat("\x00", 100), "BINARY_FILE", "binary file: data of an unknown kind, with NUL bytes, 100 bytes; "},
		"latin-1":  {"good\nGr\xfc\xdfe\n", "NOT_UTF8", "not UTF-8 text (line 2); convert a copy, for example with iconv"},
	} {
		b.put(name, c.content)
		b.fails("read", args{"file_path": name}, c.code, fmt.Sprintf("cannot read %q: %s", name, c.says))
		if r := b.call("read", args{"file_path": name}); llm.EstimateText(r.Text) > 100 {
			t.Errorf("%s: refused with %d tokens", name, llm.EstimateText(r.Text))
		}
	}
}

// A page is bound in tokens, whatever alphabet it is in: two-byte letters do not make
// it dearer than others.
func TestF1_C086_APageIsBoundInTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const most = 51_200/3 + 200 // the frame and the footer
	for _, text := range []string{"x", "é", "я", "漢", "😀", "\x01", "é漢x", "\u0301"} {
		line := strings.Repeat(text, 300) + "\n"
		b.put("page", strings.Repeat(line, 2000))
		r := b.call("read", args{"file_path": "page"})
		n := llm.EstimateText(r.Text)
		footer := regexp.MustCompile(`\(Output capped\. Showing lines 1-\d+\. Use offset=\d+ to continue\.\)`)
		if r.IsError || n > most || n < most/2 && text != "😀" || !footer.MatchString(r.Text) {
			t.Errorf("%q: a page of %d tokens, at most %d may be: …%s", text, n, most, r.Text[max(0, len(r.Text)-100):])
		}
		if r := b.callIn(t.Context(), "s", 4000, "read", args{"file_path": "page"}); llm.EstimateText(r.Text) > 4200 {
			t.Errorf("%q: %d tokens where there was room for 4000", text, llm.EstimateText(r.Text))
		}
	}
}

// An edit of whatever read showed of a file, with any line ends, changes that region
// and nothing else; a file without carriage returns gets none, one of CRLF keeps them.
func TestF1_C088_AnEditKeepsTheLineEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rapid.Check(t, func(rt *rapid.T) {
		ends := rapid.SampledFrom([][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}}).Draw(rt, "ends")
		count := rapid.IntRange(1, 8).Draw(rt, "lines")
		var lines, raw []string
		for i := range count {
			lines = append(lines, fmt.Sprintf("line %d%s", i, rapid.SampledFrom([]string{"", " ", "\tü", " \\r"}).Draw(rt, "tail")))
			raw = append(raw, lines[i]+rapid.SampledFrom(ends).Draw(rt, "end"))
		}
		if rapid.Bool().Draw(rt, "unterminated") {
			raw[count-1] = lines[count-1]
		}
		content := strings.Join(raw, "")
		b.put("f.txt", content)
		b.ok("read", args{"file_path": "f.txt"})
		from := rapid.IntRange(0, count-1).Draw(rt, "from")
		to := rapid.IntRange(from, count-1).Draw(rt, "to")
		old := strings.Join(lines[from:to+1], "\n")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "given")
		text := "new" + end + "text"
		if r := b.call("edit", args{"file_path": "f.txt", "old_string": old, "new_string": text}); r.IsError {
			rt.Fatalf("%q in %q: %s", old, content, r.Text)
		}
		got := b.get("f.txt")
		before, after := strings.Join(raw[:from], ""), strings.TrimPrefix(raw[to], lines[to])+strings.Join(raw[to+1:], "")
		region, ok := strings.CutPrefix(got, before)
		if region, ok2 := strings.CutSuffix(region, after); !ok || !ok2 || strings.ReplaceAll(region, "\r\n", "\n") != "new\ntext" {
			rt.Errorf("%q became %q", content, got)
		}
		if !strings.Contains(content, "\r") && strings.Contains(got, "\r") {
			rt.Errorf("an LF file got a carriage return: %q", got)
		}
		if !strings.Contains(toLF(content), "\r") && strings.Count(content, "\n") == strings.Count(content, "\r\n") && strings.Contains(content, "\n") &&
			strings.Count(got, "\n") != strings.Count(got, "\r\n") {
			rt.Errorf("a CRLF file lost one: %q", got)
		}
	})
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// A file whose lines end in CR alone is one line to read and edit; its carriage
// returns are matched as they are, and an edit that takes them for line ends is told.
func TestF1_C088_CarriageReturnsAloneAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("mac.txt", "one\rtwo\rthree")
	b.ok("read", args{"file_path": "mac.txt"})
	b.fails("edit", args{"file_path": "mac.txt", "old_string": "one\ntwo", "new_string": "1\n2"}, "NO_MATCH",
		`old_string was not found in "mac.txt", which has carriage returns without a line feed; give each of those as \r`)
	b.ok("edit", args{"file_path": "mac.txt", "old_string": "one\rtwo", "new_string": "1\r2"})
	b.holds("mac.txt", "1\r2\rthree")
	b.ok("edit", args{"file_path": "mac.txt", "old_string": "three", "new_string": "3"})
	b.holds("mac.txt", "1\r2\r3")
}
