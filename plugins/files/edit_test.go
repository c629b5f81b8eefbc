package files_test

import (
	"strings"
	"testing"
)

func TestT11_EditReplacesLiterally(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, old, new string
		all              bool
		after, says      string
	}{
		"one place":             {"a\nb\nc\n", "b", "B", false, "a\nB\nc\n", ": replaced in line 2"},
		"no expression":         {"a.*b $1\n", ".*", "$0", false, "a$0b $1\n", ": replaced in line 1"},
		"deletion":              {"a\nb\nc\n", "b\n", "", false, "a\nc\n", ": replaced in line 2"},
		"all":                   {"x y x\nx", "x", "zz", true, "zz y zz\nzz", ": 3 places replaced, the first in line 1"},
		"all, one place":        {"a\nx", "x", "y", true, "a\ny", ": 1 places replaced, the first in line 2"},
		"crlf":                  {"a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3", false, "1\r\n2\r\n3\r\nc\r\n", ": replaced in line 1"},
		"crlf given":            {"a\r\nb\r\n", "a\r\nb", "x\r\ny", false, "x\r\ny\r\n", ": replaced in line 1"},
		"crlf begins the match": {"a\r\nb\r\nc", "\nb", "\nB", false, "a\r\nB\r\nc", ": replaced in line 1"},
		"crlf ends the match":   {"a\r\nb\r\nc", "b\n", "", false, "a\r\nc", ": replaced in line 2"},
		"crlf stays behind":     {"a\r\nb\r\n", "a", "x", false, "x\r\nb\r\n", ": replaced in line 1"},
		"mixed ends":            {"a\nb\r\nc\nd\n", "c", "C\nC", false, "a\nb\r\nC\nC\nd\n", ": replaced in line 3"},
		"crlf for an lf file":   {"a\nb\n", "a\r\nb", "x\r\ny", false, "x\ny\n", ": replaced in line 1"},
		"lone cr":               {"a\rb\n", "a\rb", "x\ry", false, "x\ry\n", ": replaced in line 1"},
		"bom":                   {"\ufeffa\nb\n", "a\nb", "x", false, "\ufeffx\n", ": replaced in line 1"},
		"bom given":             {"\ufeffa\nb\n", "\ufeffa", "\ufeffx", false, "\ufeffx\nb\n", ": replaced in line 1"},
		"to nothing":            {"all", "all", "", false, "", ": replaced in line 1"},
		"unicode":               {"größe 漢字\n", "ß", "ss", false, "grösse 漢字\n", ": replaced in line 1"},
		"all in crlf":           {"x\r\nx\r\nx", "x\n", "yy\n", true, "yy\r\nyy\r\nx", ": 2 places replaced, the first in line 1"},
	} {
		b := setup(t)
		b.put("f.txt", c.before)
		b.ok("read", args{"file_path": "f.txt"})
		a := args{"file_path": "f.txt", "old_string": c.old, "new_string": c.new}
		if c.all {
			a["replace_all"] = true
		}
		if got, want := b.ok("edit", a), "Updated file "+b.path("f.txt")+c.says; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if got := b.get("f.txt"); got != c.after {
			t.Errorf("%s: the file holds %q, want %q", name, got, c.after)
		}
	}
}

func TestT11_EditSaysWhyNot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("f.txt", "aaa\nb\nb\n")
	edit := func(old, new string, all bool) args {
		return args{"file_path": "f.txt", "old_string": old, "new_string": new, "replace_all": all}
	}
	b.ok("read", args{"file_path": "f.txt"})
	b.fails("edit", edit("c", "d", false), "NO_MATCH", `old_string was not found in "f.txt"`)
	b.fails("edit", edit("c", "d", true), "NO_MATCH", `old_string was not found in "f.txt"`)
	b.fails("edit", edit("b", "d", false), "AMBIGUOUS_MATCH", `old_string matched 2 times in "f.txt"; `)
	b.fails("edit", edit("aa", "d", false), "AMBIGUOUS_MATCH", `old_string matched 2 times in "f.txt"; `) // they overlap
	b.fails("edit", edit("b", "b", false), "SAME_STRINGS", "old_string and new_string must differ")
	b.fails("edit", edit("b\r\n", "b\n", false), "SAME_STRINGS", "old_string and new_string must differ")
	b.fails("edit", edit("", "b", false), "INVALID_ARGUMENTS", "invalid arguments: ")
	b.fails("edit", args{"file_path": "none", "old_string": "a", "new_string": "b"}, "NOT_FOUND", `cannot edit "none": not found`)
	b.fails("edit", args{"file_path": ".", "old_string": "a", "new_string": "b"}, "IS_DIRECTORY", `cannot edit ".": it is a directory`)
	b.holds("f.txt", "aaa\nb\nb\n")

	b.put("latin", "one\n"+strings.Repeat("x\n", 3000)+"\xfc\n")
	b.ok("read", args{"file_path": "latin", "limit": 1})
	b.fails("edit", args{"file_path": "latin", "old_string": "one", "new_string": "two"}, "NOT_UTF8", `cannot edit "latin": not UTF-8 text`)
}
