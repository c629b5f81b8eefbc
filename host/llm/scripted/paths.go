package scripted

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// inPath is a character of a path as texts have it: what ends a path in a
// sentence is escaped in a file's label.
const inPath = "[^\\s\"'`<>|,;:()\\[\\]{}*?]"

var special = pattern("[\\s\"'`<>|,;:()\\[\\]{}*?%]")

// escape writes special characters of a path as %XX.
func escape(p string) string {
	return special().ReplaceAllStringFunc(p, func(c string) string {
		var b strings.Builder
		for _, x := range []byte(c) {
			fmt.Fprintf(&b, "%%%02X", x)
		}
		return b.String()
	})
}

// unescape reads a path from a text.
func unescape(p string) string {
	if plain, err := url.PathUnescape(p); err == nil {
		return plain
	}
	return p
}

// path is a file's path in a call.
func (t task) path(name string) string { return path.Join(t.dir, name) }

// label is a file's path in a text, such that named finds it there again. It has
// a slash.
func (t task) label(name string) string { return escape(t.dir) + "/" + escape(name) }

// name returns the file's name where p is a path to a file of the task's directory.
func (t task) name(p string) (string, bool) {
	p = path.Clean(p)
	if t.dir != "." && path.Base(path.Dir(p)) != path.Base(t.dir) {
		return "", false
	}
	return path.Base(p), true
}

// names is the pattern of a label, or of any path to a file of the directory,
// with the escaped name as its group.
func (t task) names() string {
	return `(?:` + inPath + `*/)?` + regexp.QuoteMeta(escape(path.Base(t.dir))) + `/([^/.\s]` + strings.Replace(inPath, "[^", "[^/", 1) + `*)`
}

// mentions returns the names of the files that a line names, in order.
func (v *view) mentions(line string) []string {
	var names []string
	for _, m := range v.named.FindAllStringSubmatch(line, -1) {
		names = append(names, clean(m[1]))
	}
	return names
}

// clean makes a name of what a pattern found: without the full stop of a
// sentence, and unescaped.
func clean(found string) string { return unescape(strings.TrimRight(found, ".…!")) }
