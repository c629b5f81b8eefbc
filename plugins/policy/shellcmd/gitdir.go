package shellcmd

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// readers are programs that change no file, whatever their words say.
var readers = set(`ls cat tac head tail wc grep egrep fgrep rg ag ack file stat du df diff cmp comm cut nl od hexdump strings md5sum sha1sum sha256sum cksum test [ echo printf realpath readlink
	dirname basename tree jq cd pushd popd pwd which type hash true false : tr exit return break continue shift set shopt read export unset declare local id whoami date sleep less more`)

// gitReads are commands of git that change no file and run nothing in it.
var gitReads = set("log show diff status ls-files ls-tree grep check-ignore check-attr rev-parse rev-list cat-file blame describe for-each-ref show-ref branch shortlog count-objects var version help")

// gitPlace asks about a program that may change what git keeps and runs: its
// hooks, its settings.
func (w *walker) gitPlace(base string, args []word) []Concern {
	if w.readsOnly(base, args) {
		return nil
	}
	inGit := slices.ContainsFunc(w.facts.dirs, func(dir string) bool { return gitPath(dir) || gitPath(w.resolve(dir)) })
	if inGit || w.facts.lost && w.facts.gitDir || some(w.operands(base, args), w.leadsToGit) {
		return []Concern{{Unclear, "it may change what git keeps and runs (.git)"}}
	}
	return nil
}

// operands are the words of a program that may name a place which it writes.
func (w *walker) operands(base string, args []word) []word {
	var out []word
	for i, a := range args {
		excluded := strings.HasPrefix(a.text, "--exclude") || strings.HasPrefix(a.text, "--ignore") || strings.HasPrefix(a.text, "--skip")
		if excluded || i > 0 && (args[i-1].text == "--exclude" || args[i-1].text == "--ignore") {
			continue
		}
		if (base == "find" || base == "gfind") && (strings.HasPrefix(a.text, "-") || a.text == "!" || a.text == "(") {
			break // what stands behind is not a place
		}
		out = append(out, a)
	}
	return out
}

// readsOnly tells whether a program is known to change no file, or runs another
// one that is looked at by itself.
func (w *walker) readsOnly(base string, args []word) bool {
	switch base {
	case "git":
		return w.gitReadsOnly(args)
	case "find", "gfind":
		return !mentions(args, "-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fprint0", "-fls")
	case "sort":
		return !some(args, func(a word) bool { return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "o") })
	case "sed", "gsed":
		return !some(args, func(a word) bool {
			return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "i") || !strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "w")
		})
	case "awk", "gawk", "mawk", "nawk":
		return !some(args, func(a word) bool { return strings.Contains(a.text, ">") || strings.HasPrefix(a.text, "-i") })
	case "cmake", "split", "tar", "gtar", "bsdtar", "rg", "zip", "rsync", "make", "gmake", "docker", "script", "ssh":
		return false
	}
	_, runs := wrappers[base]
	return readers[base] || runs || shells[base] && some(args, func(a word) bool { return a.text == "-c" })
}

func (w *walker) gitReadsOnly(args []word) bool {
	named, sub := false, ""
	for i, a := range args {
		option := strings.HasPrefix(a.text, "-")
		if !option && sub == "" && (i == 0 || !gitValued[args[i-1].text]) {
			sub = a.text
		}
		named = named || w.leadsToGit(a) && (option || i > 0 && (args[i-1].text == "-o" || args[i-1].text == "--output" || args[i-1].text == "--git-dir" || args[i-1].text == "--work-tree"))
	}
	return !named && (gitReads[sub] || sub == "") || !some(args, w.leadsToGit) && !slices.ContainsFunc(w.facts.dirs, gitPath)
}

// leadsToGit tells whether a word holds a path that leads into a directory .git.
func (w *walker) leadsToGit(x word) bool {
	if x.unknown && (w.facts.gitDir || strings.Contains(x.text, Unknown+"/hooks/")) {
		return true
	}
	for _, text := range strings.FieldsFunc(x.text, func(r rune) bool { return strings.ContainsRune("=:,;|&<>()\"' \t\n", r) }) {
		if gitPath(text) || strings.HasPrefix(text, "-") && len(text) > 2 && gitPath(text[2:]) {
			return true
		}
		if x.unknown || x.glob || w.o.Resolve == nil || len(text) > 4096 {
			continue
		}
		for _, whole := range w.places(text) {
			if !gitPath(whole) && gitPath(w.resolve(whole)) {
				return true
			}
		}
	}
	return false
}

// places are where a path may lead, absolute; none where that is not known.
func (w *walker) places(text string) []string {
	switch {
	case filepath.IsAbs(text):
		return []string{text}
	case strings.HasPrefix(text, "~/") && w.o.Home != "":
		return []string{filepath.Join(w.o.Home, text[2:])}
	case w.facts.lost, strings.HasPrefix(text, "~"):
		return nil
	}
	var out []string
	for _, dir := range w.facts.dirs {
		out = append(out, filepath.Join(dir, text))
	}
	return out
}

func (w *walker) resolve(whole string) string {
	if w.o.Resolve == nil {
		return whole
	}
	real, known := w.facts.real[whole]
	if !known {
		real = w.o.Resolve(whole)
		w.facts.real[whole] = real
	}
	return real
}

// gitPath tells whether a component of a path is .git, also by a pattern, and in
// letters that some file systems take for the same.
func gitPath(text string) bool {
	for _, part := range strings.Split(text, "/") {
		part = strings.ToLower(part)
		if part == ".git" {
			return true
		}
		if strings.HasPrefix(part, ".") && strings.ContainsAny(part, "*?[") {
			if ok, err := path.Match(part, ".git"); ok && err == nil && part != ".*" {
				return true
			}
		}
	}
	return false
}
