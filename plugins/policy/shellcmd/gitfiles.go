package shellcmd

import (
	"path/filepath"
	"slices"
	"strings"
)

// dryClean tells whether git clean only shows what it would remove.
func dryClean(rest []word) bool {
	dry := false
	for i := 0; i < len(rest); i++ {
		text := rest[i].text
		switch {
		case rest[i].hides(), strings.HasPrefix(text, "--no"):
			return false
		case text == "--":
			return dry
		case text == "-e", text == "--exclude":
			i++
		case text == "--dry-run":
			dry = true
		case strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Trim(text[1:], "ndxXqf") == "":
			dry = dry || strings.Contains(text, "n")
		}
	}
	return dry
}

// stagedOnly tells whether git restore leaves the files of the workspace alone.
func stagedOnly(rest []word) bool {
	staged := false
	for _, a := range rest {
		switch {
		case a.text == "--":
			return staged
		case a.hides(), strings.HasPrefix(a.text, "--w"), strings.HasPrefix(a.text, "--no"), strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "W"):
			return false
		case a.text == "-S", a.text == "--staged":
			staged = true
		}
	}
	return staged
}

// checksOutFiles tells whether git checkout overwrites files rather than changing
// the branch: that is so with two words, with a pattern, and with one that exists.
func (w *walker) checksOutFiles(rest []word, in []string) bool {
	var plain []word
	for i, a := range rest {
		if !strings.HasPrefix(a.text, "-") {
			plain = append(plain, a)
		}
		if a.text == "-b" || a.text == "--orphan" || a.text == "-t" || a.text == "--track" || i > 0 && rest[i-1].text == "--conflict" {
			return false
		}
	}
	for _, a := range plain {
		if strings.ContainsAny(a.text, "*?[") || strings.HasPrefix(a.text, ".") || strings.HasPrefix(a.text, "/") || strings.HasSuffix(a.text, "/") || w.exists(append(in, a.text)) {
			return true
		}
	}
	return len(plain) > 1
}

// exists tells whether there is something where a path leads from one of the
// directories that the line may be in.
func (w *walker) exists(parts []string) bool {
	if w.o.Exists == nil {
		return false
	}
	path := ""
	for _, p := range parts {
		if strings.HasPrefix(p, "/") {
			path = ""
		}
		path = filepath.Join(path, p)
	}
	return !strings.Contains(path, Unknown) && slices.ContainsFunc(w.places(path), w.o.Exists)
}
