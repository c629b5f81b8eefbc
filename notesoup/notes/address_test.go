package notes_test

import (
	"strings"
	"testing"

	"github.com/tureen-host/tureen/notesoup/notes"
)

func TestN3_N8_AddressesAreCanonical(t *testing.T) {
	t.Parallel()
	for in, out := range map[string]string{
		"progress":                    "progress.md",
		"progress.md":                 "progress.md",
		"progress.MD":                 "progress.md",
		"log.txt":                     "log.txt",
		"release 1.2":                 "release 1.2.md",
		"data.json":                   "data.json.md",
		"map":                         "MAP.md",
		"Map.md":                      "MAP.md",
		"plans/map":                   "plans/map.md",
		"a/b/c/d/e/f":                 "a/b/c/d/e/f.md",
		"@project/MAP":                "@project/MAP.md",
		"@human/likes":                "@human/likes.md",
		"@self/how-to":                "@self/how-to.md",
		"@model/quirks":               "@model/quirks.md",
		"@projects/acme.api-2/deploy": "@projects/acme.api-2/deploy.md",
		"caf\u0065\u0301":             "caf\u00e9.md", // NFC
		"漢字/メモ":                       "漢字/メモ.md",
		"हिन्दी":                      "हिन्दी.md", // combining marks inside
	} {
		a, err := notes.Parse(in)
		if err != nil || a.String() != out {
			t.Errorf("%q: got %q, %v; want %q", in, a, err, out)
		}
		if again, err := notes.Parse(out); err != nil || again != a {
			t.Errorf("%q is not its own canonical form: %v, %v", out, again, err)
		}
	}
}

func TestN8_AddressRefusalsNameTheRule(t *testing.T) {
	t.Parallel()
	for in, rule := range map[string]string{
		"":                               "not a note",
		"@project":                       "not a note",
		"plans/":                         "not a note",
		"/etc/passwd":                    "absolute",
		"@human//etc":                    "absolute",
		"..":                             "not a name",
		"../x":                           "not a name",
		"a/../b":                         "not a name",
		"./a":                            "not a name",
		"@project/../human/x":            "not a name",
		"~/x":                            "~",
		"~root":                          "~",
		`a\b`:                            "back-slash",
		`..\x`:                           "dot",
		"c:x":                            "colon",
		"a\x00b":                         "control",
		"a\nb":                           "control",
		".hidden":                        "dot",
		"a/.git/x":                       "dot",
		".trash/x":                       "dot",
		"a//b":                           "empty part",
		"a/b/c/d/e/f/g":                  "7 parts",
		"name.":                          "dot or a space",
		"name ":                          "dot or a space",
		"con":                            "device",
		"LPT1.txt":                       "device",
		"-rf":                            "letter or a digit",
		"_x":                             "letter or a digit",
		"a*":                             "holds *",
		"a?b":                            "holds ?",
		"a%2e%2e":                        "holds %",
		"a\u202eb":                       "holds",
		"a\xff":                          "UTF-8",
		strings.Repeat("a", 81):          "80 bytes",
		strings.Repeat("abcdefghi/", 21): "bytes",
		"@projects/Bad_Slug!/x":          "project's name",
	} {
		_, err := notes.Parse(in)
		if notes.CodeOf(err) != notes.CodeAddress || !strings.Contains(err.Error(), rule) || !strings.Contains(err.Error(), "; next: ") {
			t.Errorf("%q: got %v, want %s with %q", in, err, notes.CodeAddress, rule)
		}
	}
	for _, in := range []string{"@x/y", "@", "@Project/x", "@session/x", "@human:x"} {
		if _, err := notes.Parse(in); notes.CodeOf(err) != notes.CodeHome {
			t.Errorf("%q: got %v, want %s", in, err, notes.CodeHome)
		}
	}
}

func FuzzN8_ParseYieldsOnlyPlainPaths(f *testing.F) {
	for _, s := range []string{"a", "../a", "@project/x", "@projects/a/b", "a/b.txt", "MAP", "\xff", "a\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		a, err := notes.Parse(in)
		if err != nil {
			if c := notes.CodeOf(err); c != notes.CodeAddress && c != notes.CodeHome {
				t.Fatalf("%q: %v", in, err)
			}
			return
		}
		for _, part := range strings.Split(a.Path, "/") {
			if part == "" || strings.HasPrefix(part, ".") || strings.ContainsAny(part, "\\:\x00\n~") {
				t.Fatalf("%q became %q", in, a.Path)
			}
		}
		again, err := notes.Parse(a.String())
		if err != nil || again != a {
			t.Fatalf("%q is not its own canonical form: %+v, %v", a, again, err)
		}
	})
}
