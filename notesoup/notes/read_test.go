package notes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/notesoup/notes"
)

var next = regexp.MustCompile(`^[^\n]* next=(\S+)`)

func TestN8_PagesCoverANoteExactly(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	file := filepath.Join(home, "sessions/2026/s1/n.md")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé漢🙂\n\n")), 0, 300, -1).Draw(rt, "text")
		put(t, file, text)
		ask := notes.Ask{Path: "n", Bytes: rapid.IntRange(1, 80).Draw(rt, "bytes"), Lines: rapid.IntRange(0, 5).Draw(rt, "lines")}
		var got strings.Builder
		for range 400 {
			p, err := s.Page(t.Context(), ask)
			if err != nil {
				rt.Fatal(err)
			}
			if len(p.Text) > ask.Bytes && utf8.RuneCountInString(p.Text) > 1 {
				rt.Fatalf("a page of %d bytes, %d allowed", len(p.Text), ask.Bytes)
			}
			if !utf8.ValidString(p.Text) {
				rt.Fatalf("a code point is cut: %q", p.Text)
			}
			got.WriteString(p.Text)
			if ask.Cursor = p.Next; ask.Cursor == "" {
				break
			}
		}
		if got.String() != text {
			rt.Fatalf("got %q, want %q", got.String(), text)
		}
	})
}

func TestN8_ReadFromALine(t *testing.T) {
	t.Parallel()
	s, _, _ := store(t)
	r := write(t, s, "n", "1\n2\n3\n4\n5\n", notes.Create)
	for _, c := range []struct {
		from, lines int
		want        string
	}{
		{0, 0, "lines=1-5 of=5\n1\n2\n3\n4\n5\n"},
		{2, 2, "lines=2-3 of=5 next=" + r.After.Rev + ".4.0\n2\n3\n"},
		{-2, 0, "lines=4-5 of=5\n4\n5\n"},
		{-9, 1, "lines=1-1 of=5 next=" + r.After.Rev + ".2.0\n1\n"},
	} {
		p, err := s.Page(t.Context(), notes.Ask{Path: "n", From: c.from, Lines: c.lines, Bytes: 1000})
		if want := "ok notes_read n.md rev=" + r.After.Rev + " cp=10 " + c.want; err != nil || p.String() != want {
			t.Errorf("from %d: %v\ngot  %q\nwant %q", c.from, err, p.String(), want)
		}
	}
	_, err := s.Page(t.Context(), notes.Ask{Path: "n", From: 6, Bytes: 10})
	want(t, err, notes.CodeCursor, "5 lines")
	_, err = s.Page(t.Context(), notes.Ask{Path: "n", Cursor: "x", Bytes: 10})
	want(t, err, notes.CodeCursor)
	write(t, s, "n", "6\n", notes.Append)
	_, err = s.Page(t.Context(), notes.Ask{Path: "n", Cursor: r.After.Rev + ".3.0", Bytes: 10})
	want(t, err, notes.CodeCursor, "changed", "from=3")
}

func TestN8_ListShowsMapsFirstThenTheNewest(t *testing.T) {
	t.Parallel()
	s, home, project := store(t)
	dir := filepath.Join(home, "sessions/2026/s1")
	for i, name := range []string{"MAP.md", "old.md", "mid.txt", "new.md"} {
		put(t, filepath.Join(dir, name), "# Title of "+name+"\nbody\n")
		at := created.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "image.png"), "x")
	put(t, filepath.Join(dir, ".hidden", "x.md"), "x")
	write(t, s, "@project/MAP", "way", notes.Create)
	got, err := s.List(t.Context(), notes.ListAsk{Limit: 4})
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if err != nil || len(lines) != 6 {
		t.Fatalf("%v\n%s", err, got)
	}
	for i, start := range []string{"ok notes_list notes=5 sort=recent skipped=1 next=4.", "@project/MAP.md rev=", "MAP.md rev=", "new.md rev=", "mid.txt rev=",
		"not shown: image.png (not a .md or .txt file)"} {
		if !strings.HasPrefix(lines[i], start) {
			t.Errorf("line %d: got %q, want %q…", i, lines[i], start)
		}
	}
	if want := "new.md rev=" + notes.Rev("# Title of new.md\nbody\n") + " cp=23 written=2026-03-01T12:00:00Z # Title of new.md"; lines[3] != want {
		t.Errorf("got  %q\nwant %q", lines[3], want)
	}
	cursor := next.FindStringSubmatch(got)[1]
	if rest, err := s.List(t.Context(), notes.ListAsk{Limit: 4, Cursor: cursor}); err != nil || !strings.Contains(rest, "\nold.md rev=") || strings.Contains(rest, "new.md") {
		t.Errorf("%v\n%s", err, rest)
	}
	_, err = s.List(t.Context(), notes.ListAsk{Path: "@project", Cursor: cursor})
	want(t, err, notes.CodeCursor)
	if only, err := s.List(t.Context(), notes.ListAsk{Path: "@project"}); err != nil || !strings.HasPrefix(only, "ok notes_list @project notes=1 ") {
		t.Errorf("%v\n%s", err, only)
	}
	if all, err := s.List(t.Context(), notes.ListAsk{Path: "@projects"}); err != nil || all != "ok notes_list @projects projects=1\n@projects/demo-app (this one: @project)\n" {
		t.Errorf("%v\n%s", err, all)
	}
	_ = project
}

func TestN8_SearchIsLiteralAndCentred(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	long := strings.Repeat("é", 300) + "The Needle (v1.*)" + strings.Repeat("漢", 300)
	write(t, s, "a", "x\n"+long+"\n", notes.Create)
	write(t, s, "@project/b", "NEEDLE (V1.*) here\nneedle v1x\n", notes.Create)
	put(t, filepath.Join(home, "sessions/2026/s1/bad.md"), "needle \xff")
	got, err := s.Search(t.Context(), notes.SearchAsk{Query: "needle (v1.*)"})
	if err != nil {
		t.Fatal(err)
	}
	want := "ok notes_search query=\"needle (v1.*)\" matches=2 notes=3 skipped=1\n" +
		"a.md:2 rev=" + notes.Rev("x\n"+long+"\n") + " …" + strings.Repeat("é", 96) + "The Needle (v1.*)" + strings.Repeat("漢", 100) + "…\n" +
		"@project/b.md:1 rev=" + notes.Rev("NEEDLE (V1.*) here\nneedle v1x\n") + " NEEDLE (V1.*) here\n" +
		"not searched: bad.md (E_BINARY)\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for i := range 15 {
		write(t, s, fmt.Sprintf("many/%02d", i), "needle", notes.Create)
	}
	first, err := s.Search(t.Context(), notes.SearchAsk{Query: "needle", In: "many"})
	if err != nil || strings.Count(first, "\n") != 11 {
		t.Fatalf("%v\n%s", err, first)
	}
	second, err := s.Search(t.Context(), notes.SearchAsk{Query: "needle", In: "many", Cursor: next.FindStringSubmatch(first)[1]})
	if err != nil || strings.Count(second, "\n") != 6 || next.MatchString(second) || !strings.Contains(second, "many/14.md:1") {
		t.Errorf("%v\n%s", err, second)
	}
}
