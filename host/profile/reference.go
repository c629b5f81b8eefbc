package profile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// reference is a name, or a path where the text has a slash (or a suffix of its
// own); a path becomes absolute.
type reference struct{ suffix string }

const namePattern = `^[a-z0-9][a-z0-9_-]{0,63}$`

var plainName = regexp.MustCompile(namePattern)

func (r reference) check(c *checker, key string, n *node) {
	s, ok := n.value.(string)
	isPath := strings.Contains(s, "/") || r.suffix != "" && strings.HasSuffix(s, r.suffix)
	switch {
	case ok && isPath:
		c.resolve(key, n, s)
	case ok && plainName.MatchString(s):
	default:
		p := Problem{Origin: n.origin, Key: key, Found: "found " + n.describe(), Allowed: "a name of a-z, 0-9, _ and -, or a path with a /"}
		if strings.Contains(s, ".") {
			p.Hint = fmt.Sprintf("a file beside this one is written %q", "./"+s)
		}
		c.report(p)
	}
}

// resolve makes a path absolute.
func (c *checker) resolve(key string, n *node, path string) {
	if strings.HasPrefix(path, "~/") && c.home == "" {
		c.report(Problem{Origin: n.origin, Key: key, Found: "found " + n.describe() + ", but no home directory is known", Hint: "set HOME or write an absolute path"})
		return
	}
	n.value = absolute(c.home, n.dir, path)
}

// absolute resolves a path that stands in a profile.
func absolute(home, dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// one is a reference that is easily given a list.
type one struct{ reference }

func (r one) check(c *checker, key string, n *node) {
	if n.list == nil {
		r.reference.check(c, key, n)
		return
	}
	var names []string
	for _, item := range n.list {
		names = append(names, item.describe())
	}
	c.report(Problem{
		Origin: n.origin, Key: key,
		Found:   fmt.Sprintf("found a list of %d strategies (%s)", len(names), strings.Join(names, ", ")),
		Allowed: "one strategy",
		Hint:    `keep one here; the tools of another come with [[plugins]] use = "NAME"`,
	})
}

// directory is a path; without a slash too.
type directory struct{}

func (directory) check(c *checker, key string, n *node) {
	s, ok := n.value.(string)
	if !ok || strings.TrimSpace(s) == "" {
		c.report(Problem{Origin: n.origin, Key: key, Found: "found " + n.describe(), Allowed: "the path of a directory"})
		return
	}
	c.resolve(key, n, s)
}
