package profile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// place is the kind of text that a key stands in.
type place uint8

const (
	inShipped place = 1 << iota
	inUser
	inProject
	inSettings
	inOverride

	inProfile = inShipped | inUser | inProject
	anywhere  = inProfile | inSettings | inOverride
)

var placeNames = []struct {
	place place
	name  string
}{
	{inProfile, "a profile"},
	{inShipped | inUser, "a profile of the user's own"},
	{inProject, "a project's profile"},
	{inSettings, "settings.toml"},
	{inOverride, "-c"},
}

// String lists the places.
func (p place) String() string {
	var names []string
	for _, row := range placeNames {
		if p&row.place == row.place {
			names, p = append(names, row.name), p&^row.place
		}
	}
	if len(names) == 0 {
		return "a profile"
	}
	return strings.Join(names, ", ")
}

// field is a known key of a table.
type field struct {
	name string
	rule rule
	in   place // 0 = anywhere
}

func (f field) may(p place) bool { return f.in == 0 || f.in&p != 0 }

// shape is a table of known keys. Tables of any other name follow other, where
// it is set.
type shape struct {
	fields []field
	other  rule
}

func (s *shape) find(name string) *field {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

func (s *shape) check(c *checker, key string, n *node) {
	if n.table == nil {
		c.report(Problem{Origin: n.origin, Key: key, Found: "found " + n.describe(), Allowed: "a table"})
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.table)) {
		child, full := n.table[name], join(key, name)
		switch f := s.find(name); {
		case f != nil && f.may(c.place):
			f.rule.check(c, full, child)
		case f != nil:
			c.report(Problem{
				Origin: child.origin, Key: full,
				Found:   fmt.Sprintf("this key may not stand in %v", c.place),
				Allowed: f.in.String(),
			})
		case s.other != nil && child.table != nil:
			s.other.check(c, full, child)
		default:
			c.report(Problem{Origin: child.origin, Key: full, Found: "unknown key", Hint: s.suggest(key, name, c.place)})
		}
	}
}

// suggest names the key that was meant: a near one of this table, the same name
// in another table, else all that may stand here.
func (s *shape) suggest(key, name string, p place) string {
	var known, meant []string
	for _, f := range s.fields {
		if f.may(p) {
			known = append(known, f.name)
		}
	}
	if near := nearest(name, known); near != "" {
		meant = append(meant, strconv.Quote(near))
	}
	if inList := strings.Contains(key, "["); !inList {
		if full := root.locate("", name, p); full != "" {
			meant = append(meant, strconv.Quote(full))
		}
	}
	switch {
	case len(meant) > 0:
		return "did you mean " + strings.Join(meant, " or ") + "?"
	case len(known) > 0:
		return "known here: " + strings.Join(known, ", ")
	}
	return ""
}

// locate finds the dotted key of a name anywhere below.
func (s *shape) locate(key, name string, p place) string {
	for _, f := range s.fields {
		full := join(key, f.name)
		if !f.may(p) {
			continue
		}
		if f.name == name {
			return full
		}
		if below, ok := f.rule.(*shape); ok {
			if found := below.locate(full, name, p); found != "" {
				return found
			}
		}
	}
	return ""
}

// checker gathers the problems of one layer.
type checker struct {
	place    place
	home     string
	problems []Problem
}

func (c *checker) report(p Problem) { c.problems = append(c.problems, p) }

// check checks a whole layer.
func (c *checker) check(n *node) {
	version := n.get("schema")
	if version == nil && c.place&inProfile != 0 {
		at := n.origin
		at.Line, at.Column = 1, 1
		c.report(Problem{Origin: at, Key: "schema", Found: "missing", Hint: "write schema = 1 in the first line"})
	}
	if v, ok := version.whole(); ok && v != schemaVersion {
		c.report(Problem{
			Origin: version.origin, Key: "schema", Found: fmt.Sprintf("found version %d", v), Allowed: fmt.Sprint(schemaVersion),
			Hint: "a newer version needs a newer tureen; nothing else was checked",
		})
		return
	}
	root.check(c, "", n)
}
