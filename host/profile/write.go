package profile

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WriteResolved prints the resolved profile as TOML, each value with its origin
// in a comment. What it prints loads as a profile with the same values. Tables
// of strategies that are not selected are left out.
func (p *Profile) WriteResolved(w io.Writer) error {
	out := &printer{Writer: bufio.NewWriter(w), profile: p}
	fmt.Fprintf(out, "# profile %s from %s\nschema = %d\n", oneLine(p.Name), oneLine(p.Path), schemaVersion)
	out.table("", p.tree, root)
	return out.Flush()
}

type printer struct {
	*bufio.Writer
	profile *Profile
}

// table prints the keys of a table in the order of its shape, values first.
func (out *printer) table(key string, n *node, s *shape) {
	names := out.order(n, s)
	for _, name := range names {
		if c := n.table[name]; c.table == nil && !isRows(c) {
			out.value(join("", name), c)
		}
	}
	for _, name := range names {
		c, full := n.table[name], join(key, name)
		switch {
		case isRows(c):
			for _, row := range c.list {
				fmt.Fprintf(out, "\n[[%s]]\n", full)
				for _, name := range out.order(row, pluginRow) {
					out.value(join("", name), row.table[name])
				}
			}
		case c.table != nil:
			var below *shape
			if f := s.find(name); f != nil {
				below, _ = f.rule.(*shape)
			}
			out.section(full, c, below)
		}
	}
}

// section prints one [table]; free ones, without a shape, hold inline values.
func (out *printer) section(key string, n *node, s *shape) {
	heading := s == nil
	if s != nil {
		heading = slices.ContainsFunc(out.order(n, s), func(name string) bool { return n.table[name].table == nil })
	}
	if heading {
		fmt.Fprintf(out, "\n[%s]\n", key)
	}
	if s != nil {
		out.table(key, n, s)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.table)) {
		out.value(join("", name), n.table[name])
	}
}

// order is the names to print: known ones first, as the shape has them.
func (out *printer) order(n *node, s *shape) []string {
	var known, further []string
	for _, f := range s.fields {
		if n.table[f.name] != nil && f.name != "schema" && f.name != "extends" && f.name != "default_profile" {
			known = append(known, f.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.table)) {
		if s.find(name) != nil {
			continue
		}
		isStrategy := s == root.find("compaction").rule
		if !isStrategy || join("compaction", name) == out.profile.Compaction.Table {
			further = append(further, name)
		}
	}
	return append(known, further...)
}

func (out *printer) value(name string, n *node) {
	fmt.Fprintf(out, "%s = %s  # %s\n", name, inline(n), oneLine(n.origin.String()))
}

// isRows tells a list of tables that is printed as [[rows]].
func isRows(n *node) bool {
	return len(n.list) > 0 && !slices.ContainsFunc(n.list, func(c *node) bool { return c.table == nil })
}

// inline prints a value on one line.
func inline(n *node) string {
	var parts []string
	switch v := n.value.(type) {
	case string:
		return quote(v)
	case int64, float64:
		return number(v)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case fmt.Stringer: // a local date or time
		return v.String()
	}
	if n.list != nil {
		for _, c := range n.list {
			parts = append(parts, inline(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for _, name := range slices.Sorted(maps.Keys(n.table)) {
		parts = append(parts, join("", name)+" = "+inline(n.table[name]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
