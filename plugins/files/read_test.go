package files_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func shown(path string, lines ...string) string {
	return "<path>" + path + "</path>\n<type>file</type>\n<content>\n" + strings.Join(lines, "\n") + "\n</content>"
}

func TestT10_ReadNumbersTheLines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for content, lines := range map[string][]string{
		"one\ntwo\n":             {"1: one", "2: two", "(End of file - total 2 lines)"},
		"one\ntwo":               {"1: one", "2: two", "(End of file - total 2 lines)"},
		"one\r\n\r\nthree\r\n":   {"1: one", "2: ", "3: three", "(End of file - total 3 lines)"},
		"":                       {"(End of file - total 0 lines)"},
		"\n":                     {"1: ", "(End of file - total 1 lines)"},
		"\ufeffmarked\ufeff\n":   {"1: marked\ufeff", "(End of file - total 1 lines)"},
		"äöü 漢字\n\ttab  \n":      {"1: äöü 漢字", "2: \ttab  ", "(End of file - total 2 lines)"},
		"</content>\n<path>\r\r": {"1: </content>", "2: <path>\r", "(End of file - total 2 lines)"},
	} {
		path := b.put("sub/f.txt", content)
		want := shown(path, lines...)
		for _, name := range []string{"sub/f.txt", path} {
			if got := b.ok("read", args{"file_path": name}); got != want {
				t.Errorf("%q as %s:\n%q\nwant\n%q", content, name, got, want)
			}
		}
	}
}

func TestT10_ReadPagesLongFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.put("long.txt", numbered(1, 5300))
	page := func(from, to int, footer string) string {
		var lines []string
		for i := from; i <= to; i++ {
			lines = append(lines, fmt.Sprintf("%d: line %d", i, i))
		}
		return shown(path, append(lines, footer)...)
	}
	for _, c := range []struct {
		a        args
		from, to int
		footer   string
	}{
		{args{}, 1, 2000, "(Showing lines 1-2000 of 5300. Use offset=2001 to continue.)"},
		{args{"limit": 9999}, 1, 2000, "(Showing lines 1-2000 of 5300. Use offset=2001 to continue.)"},
		{args{"offset": 2001}, 2001, 4000, "(Showing lines 2001-4000 of 5300. Use offset=4001 to continue.)"},
		{args{"offset": 4001}, 4001, 5300, "(End of file - total 5300 lines)"},
		{args{"offset": 5300}, 5300, 5300, "(End of file - total 5300 lines)"},
		{args{"offset": 10, "limit": 2}, 10, 11, "(Showing lines 10-11 of 5300. Use offset=12 to continue.)"},
		{args{"offset": 5299, "limit": 2}, 5299, 5300, "(End of file - total 5300 lines)"},
	} {
		c.a["file_path"] = "long.txt"
		if got, want := b.ok("read", c.a), page(c.from, c.to, c.footer); got != want {
			t.Errorf("%v: got …%s", c.a, got[max(0, len(got)-200):])
		}
	}
	b.fails("read", args{"file_path": "long.txt", "offset": 5301}, "OUT_OF_RANGE", `offset 5301 is out of range for "long.txt" (5300 lines)`)
	b.put("empty", "")
	b.fails("read", args{"file_path": "empty", "offset": 2}, "OUT_OF_RANGE", `offset 2 is out of range for "empty" (0 lines)`)
	b.fails("read", args{"file_path": "long.txt", "offset": 0}, "INVALID_ARGUMENTS", "invalid arguments: ")
	b.fails("read", args{"path": "long.txt"}, "INVALID_ARGUMENTS", "invalid arguments: ")
}

func TestT10_ReadCapsBytesAndLines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("wide.txt", strings.Repeat(strings.Repeat("x", 999)+"\n", 500))
	got := b.ok("read", args{"file_path": "wide.txt"})
	body := strings.Split(strings.TrimSuffix(got, "\n</content>"), "\n")[3:]
	// Lines of 1003 and, from line 10, of 1004 bytes: 51 of them are 51 195 bytes.
	if footer := body[len(body)-1]; footer != "(Output capped. Showing lines 1-51. Use offset=52 to continue.)" {
		t.Errorf("footer %q", footer)
	}
	if size := len(strings.Join(body[:len(body)-1], "\n")) + 1; size != 51_195 {
		t.Errorf("the page has %d bytes", size)
	}
	r := b.callIn(t.Context(), "s", 3000, "read", args{"file_path": "wide.txt"})
	if !strings.Contains(r.Text, "(Output capped. Showing lines 1-8. Use offset=9 to continue.)") {
		t.Errorf("a room of 3000 tokens gave %d bytes: …%s", len(r.Text), r.Text[len(r.Text)-90:])
	}

	b.put("long-line.txt", strings.Repeat("é", 2000)+"\n"+strings.Repeat("é", 2001)+"\n"+strings.Repeat("😀", 100_000)+"\nend\n")
	lines := strings.Split(b.ok("read", args{"file_path": "long-line.txt"}), "\n")[3:]
	const cut = "… (line truncated to 2000 chars)"
	for i, want := range []string{"1: " + strings.Repeat("é", 2000), "2: " + strings.Repeat("é", 2000) + cut, "3: " + strings.Repeat("😀", 2000) + cut, "4: end"} {
		if lines[i] != want {
			t.Errorf("line %d has %d characters and ends in %q", i+1, utf8.RuneCountInString(lines[i]), lines[i][max(0, len(lines[i])-40):])
		}
	}
}

func TestT10_ReadSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fails("read", args{"file_path": "none.txt"}, "NOT_FOUND", `cannot read "none.txt": not found (looked for `+b.path("none.txt"))
	b.fails("read", args{"file_path": b.path("none.txt")}, "NOT_FOUND", fmt.Sprintf("cannot read %q: not found", b.path("none.txt")))
	b.fails("read", args{"file_path": "~/x"}, "BAD_PATH", `cannot read "~/x": "~" is not expanded`)
	b.put("dir/f", "x")
	b.fails("read", args{"file_path": "dir"}, "IS_DIRECTORY", `cannot read "dir": it is a directory; list what it holds with glob, pattern "dir/**"`)
	b.fails("read", args{"file_path": "dir/f/g"}, "IO_ERROR", `cannot read "dir/f/g": not a directory`)
	b.put("bin", "text\x00more")
	b.fails("read", args{"file_path": "bin"}, "BINARY_FILE", `cannot read "bin": binary file`)
	b.put("late", strings.Repeat("a", 8192)+"\x00\nb\n")
	if got := b.ok("read", args{"file_path": "late", "offset": 2}); strings.ContainsRune(got, 0) || !strings.Contains(got, "2: b") {
		t.Errorf("a NUL behind the first 8 KiB: %q", got)
	}
	b.put("latin", "good\nGr\xfc\xdfe\n")
	b.fails("read", args{"file_path": "latin"}, "NOT_UTF8", `cannot read "latin": not UTF-8 text (line 2)`)
	b.ok("read", args{"file_path": "latin", "limit": 1})
	if os.Getuid() != 0 {
		if err := os.Chmod(b.put("secret", "x"), 0); err != nil {
			t.Fatal(err)
		}
		b.fails("read", args{"file_path": "secret"}, "PERMISSION_DENIED", `cannot read "secret": permission denied`)
	}
}

func TestT10_ReadRefusesSpecialFilesWithoutWaiting(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := syscall.Mkfifo(b.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(b.path("pipe"), b.path("link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "link"} {
		b.fails("read", args{"file_path": name}, "NOT_REGULAR", fmt.Sprintf("cannot read %q: it is a named pipe", name))
		b.fails("write", args{"file_path": name, "content": "x"}, "NOT_REGULAR", fmt.Sprintf("cannot write %q: it is a named pipe", name))
		b.fails("edit", args{"file_path": name, "old_string": "x", "new_string": "y"}, "NOT_REGULAR", fmt.Sprintf("cannot edit %q: it is a named pipe", name))
	}
	b.fails("read", args{"file_path": "/dev/zero"}, "NOT_REGULAR", `cannot read "/dev/zero": it is a device`)
}

func TestT10_ReadFollowsSymlinks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("real.txt", "content\n")
	if err := os.Symlink("real.txt", b.path("link.txt")); err != nil {
		t.Fatal(err)
	}
	if got := b.ok("read", args{"file_path": "link.txt"}); got != shown(b.path("link.txt"), "1: content", "(End of file - total 1 lines)") {
		t.Errorf("got %q", got)
	}
	// The link and the file are one file to the observations.
	b.ok("edit", args{"file_path": "real.txt", "old_string": "content", "new_string": "changed"})
	b.holds("link.txt", "changed\n")
}

func TestT10_ReadOfAHugeFileCountsOnlySoFar(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.put("huge", numbered(1, 3000))
	if err := os.Truncate(path, 1<<30); err != nil { // the rest is a hole
		t.Fatal(err)
	}
	got := b.ok("read", args{"file_path": "huge", "limit": 10})
	if !strings.Contains(got, "10: line 10\n(Showing lines 1-10 of more than 3000. Use offset=11 to continue.)") {
		t.Errorf("got …%s", got[len(got)-120:])
	}
	// No hash of the whole: size and time tell a stale file.
	b.ok("write", args{"file_path": "huge", "content": "small"})
	b.holds("huge", "small")
}

func TestT10_ReadOfHundredThousandLines(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("big.txt", numbered(1, 100_000))
	offset, pages, next := 1, 0, 0
	for {
		pages++
		got := b.ok("read", args{"file_path": "big.txt", "offset": offset})
		if !strings.Contains(got, fmt.Sprintf("\n%d: line %d\n", offset, offset)) {
			t.Fatalf("page %d does not begin with line %d", pages, offset)
		}
		footer := got[strings.LastIndex(got, "\n("):]
		if strings.HasPrefix(footer, "\n(End of file - total 100000 lines)") {
			break
		}
		if _, err := fmt.Sscanf(footer[strings.Index(footer, "offset="):], "offset=%d", &next); err != nil || next <= offset {
			t.Fatalf("footer %q: %v", footer, err)
		}
		offset = next
	}
	if pages != 50 {
		t.Errorf("%d pages", pages)
	}
}

func TestT5_ReadStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.put("huge", numbered(1, 3000))
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	var r tool.Result
	for delay := 20 * time.Millisecond; ; delay *= 4 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(delay, cancel)
		// Without the cancel this reads a terabyte.
		r = b.callIn(ctx, "s", -1, "read", args{"file_path": "huge", "offset": 9999})
		if r.Text != "Error: tool call aborted before dispatch" || delay > 5*time.Second {
			break // else the cancel came before the call, on a busy machine
		}
	}
	if r.Text != "Error: tool call aborted" || !r.IsError {
		t.Errorf("got %+v", r)
	}
	r = b.callIn(ctx, "s", -1, "read", args{"file_path": "huge"})
	if r.Text != "Error: tool call aborted before dispatch" {
		t.Errorf("got %+v", r)
	}
}

func TestT10_ReadIsParallelSafe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	specs := b.tools.Specs()
	for _, s := range specs {
		if read := s.Name == "read"; s.Parallel != read || s.NoSpill != read {
			t.Errorf("%s: parallel %v, exempt from spill %v", s.Name, s.Parallel, s.NoSpill)
		}
	}
	if err := b.services.Sessions.Open(t.Context(), sessionAt("other", b.dir)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		name := fmt.Sprintf("f%d.txt", i%4)
		if i < 4 {
			b.put(name, numbered(1, 3000))
		}
		session := []string{"s", "other"}[i%2]
		wg.Go(func() {
			if r := b.callIn(t.Context(), session, -1, "read", args{"file_path": name, "offset": i + 1}); r.IsError {
				t.Errorf("read %d: %s", i, r.Text)
			}
		})
		wg.Go(func() {
			r := b.callIn(t.Context(), session, -1, "write", args{"file_path": fmt.Sprintf("new/%d.txt", i), "content": "x"})
			if r.IsError {
				t.Errorf("write %d: %s", i, r.Text)
			}
		})
	}
	wg.Wait()
	if entries, err := os.ReadDir(filepath.Join(b.dir, "new")); err != nil || len(entries) != 20 {
		t.Errorf("%d new files, %v", len(entries), err)
	}
}

func BenchmarkReadPage(b *testing.B) {
	text := bytes.Repeat([]byte("a line of ordinary length, as code has them\n"), 2000)
	benchRead(b, text)
}

func BenchmarkReadPageOfLongFile(b *testing.B) {
	text := bytes.Repeat([]byte("a line of ordinary length, as code has them\n"), 100_000)
	benchRead(b, text)
}
