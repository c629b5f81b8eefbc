package shellcmd

import (
	"path/filepath"
	"slices"
	"strings"
)

// touching are programs that write what their words name: all of them, or the
// last alone.
var (
	touchesAll  = set("mv tee touch mkdir rmdir truncate shred unlink")
	touchesLast = set("cp ln install ginstall gcp rsync ditto")
)

// touch notes the paths that a program writes by its words.
func (w *walker) touch(base string, args []word) {
	var plain []word
	options := true
	for i, a := range args {
		switch {
		case options && a.text == "--":
			options = false
		case options && (a.text == "-t" || a.text == "--target-directory" || a.text == "-C" || a.text == "--directory" || a.text == "-d") && i+1 < len(args) && base != "touch" && base != "truncate":
			w.touched(args[i+1])
		case options && strings.HasPrefix(a.text, "--target-directory="), options && strings.HasPrefix(a.text, "--directory="):
			_, value, _ := strings.Cut(a.text, "=")
			w.touched(word{text: value, unknown: a.unknown})
		case options && strings.HasPrefix(a.text, "-") && len(a.text) > 1:
		default:
			plain = append(plain, a)
		}
	}
	switch {
	case touchesAll[base]:
		w.each(plain, w.touched)
	case touchesLast[base] && len(plain) > 0:
		w.touched(plain[len(plain)-1])
	case base == "dd":
		for _, a := range args {
			if of, ok := strings.CutPrefix(a.text, "of="); ok {
				w.touched(word{text: of, unknown: a.unknown})
			}
		}
	case (base == "sed" || base == "gsed") && some(args, func(a word) bool { return strings.HasPrefix(a.text, "-i") || strings.HasPrefix(a.text, "--in") }):
		w.each(plain[min(1, len(plain)):], w.touched)
	case (base == "tar" || base == "gtar" || base == "bsdtar") && len(args) > 0:
		if first := strings.TrimPrefix(args[0].text, "-"); strings.Contains(first, "x") && strings.Contains(first, "P") || mentions(args, "-P", "--absolute-names") {
			w.touched(word{text: "/"})
		}
	}
}

// touched notes one path.
func (w *walker) touched(x word) {
	if w.quiet {
		return
	}
	found := []string{x.text}
	if !x.unknown && !x.glob {
		if places := w.places(x.text); len(places) > 0 {
			found = places
		}
	} else if places := w.places(filepath.Dir(x.text)); x.glob && !x.unknown && len(places) > 0 {
		found = places
	}
	for _, one := range found {
		if !slices.Contains(w.line.Touches, one) {
			w.line.Touches = append(w.line.Touches, one)
		}
	}
}

// elsewhere tells whether a program changes the mode, the owner or the times of
// something outside: the file policy of the system does not cover those.
func (w *walker) elsewhere(base string, args []word) []Concern {
	skip := btoi(base != "touch")
	for _, a := range args {
		switch {
		case strings.HasPrefix(a.text, "--reference"):
			skip = 0
		case strings.HasPrefix(a.text, "-"):
		case skip > 0:
			skip--
		case w.awayFrom(a):
			return []Concern{{Destructive, "it changes rights, owner or times of a file outside of the workspace"}}
		}
	}
	return nil
}

// awayFrom is outside, except that a path which somebody else gave is taken as it
// is meant.
func (w *walker) awayFrom(x word) bool {
	if rest, ok := strings.CutPrefix(x.text, Unknown); ok && x.home && w.o.Home != "" {
		return strings.Contains(rest, Unknown) || !w.inside(filepath.Join(w.o.Home, rest))
	}
	if x.unknown && !x.tainted && strings.HasPrefix(x.text, Unknown) {
		return false
	}
	return w.outside(x)
}
