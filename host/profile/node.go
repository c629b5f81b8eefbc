package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// node is one value and the place that named it. Exactly one of value, table
// and list is set.
type node struct {
	origin Origin
	dir    string // what a relative path in it is relative to
	value  any    // string, int64, float64, bool, or a date or time
	table  map[string]*node
	list   []*node
}

// get follows names through tables; nil where there is nothing.
func (n *node) get(names ...string) *node {
	for _, name := range names {
		if n == nil {
			return nil
		}
		n = n.table[name]
	}
	return n
}

func (n *node) text() string {
	if n == nil {
		return ""
	}
	s, _ := n.value.(string)
	return s
}

func (n *node) whole() (int64, bool) {
	if n == nil {
		return 0, false
	}
	i, ok := n.value.(int64)
	return i, ok
}

func (n *node) float() (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float(n.value)
}

// describe names the value for an error message.
func (n *node) describe() string {
	switch v := n.value.(type) {
	case string:
		if r := []rune(v); len(r) > 60 {
			v = string(r[:60]) + "…"
		}
		return fmt.Sprintf("text %q", v)
	case int64, float64:
		return "number " + number(v)
	case bool:
		return strconv.FormatBool(v)
	}
	switch {
	case n.table != nil:
		return "a table"
	case n.list != nil:
		return "a list"
	}
	return "a date or time"
}

// merge lays upper over lower: tables key by key, all else whole.
func merge(lower, upper *node) *node {
	switch {
	case lower == nil:
		return upper
	case upper == nil:
		return lower
	case lower.table == nil || upper.table == nil:
		return upper
	}
	both := *upper
	both.table = maps.Clone(lower.table)
	for name, n := range upper.table {
		both.table[name] = merge(lower.table[name], n)
	}
	return &both
}

// walk visits n and all below it with dotted keys; the root has the key "".
func (n *node) walk(key string, visit func(key string, n *node)) {
	visit(key, n)
	for _, name := range slices.Sorted(maps.Keys(n.table)) {
		n.table[name].walk(join(key, name), visit)
	}
	for i, item := range n.list {
		item.walk(fmt.Sprintf("%s[%d]", key, i), visit)
	}
}

// plain is the value without its places.
func (n *node) plain() any {
	switch {
	case n.table != nil:
		m := make(map[string]any, len(n.table))
		for name, c := range n.table {
			m[name] = c.plain()
		}
		return m
	case n.list != nil:
		l := make([]any, len(n.list))
		for i, c := range n.list {
			l[i] = c.plain()
		}
		return l
	}
	return n.value
}

// json writes the value with sorted keys; 1 stays 1 and 1.0 stays 1.0. It must
// have passed a free rule, so that JSON can hold it.
func (n *node) json() json.RawMessage {
	data, err := marshal(exact(n.plain()))
	if err != nil {
		panic(fmt.Sprintf("profile: checked value is not JSON: %v", err))
	}
	return data
}

func exact(v any) any {
	switch v := v.(type) {
	case float64:
		return json.Number(number(v))
	case map[string]any:
		for name, c := range v {
			v[name] = exact(c)
		}
	case []any:
		for i, c := range v {
			v[i] = exact(c)
		}
	}
	return v
}

// marshal is JSON without HTML escapes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// quote writes a TOML basic string.
func quote(s string) string {
	data, err := marshal(s)
	if err != nil {
		panic(fmt.Sprintf("profile: quoting text: %v", err)) // a string is always JSON
	}
	return strings.ReplaceAll(string(data), "\x7f", `\u007f`)
}

// number prints an int64 or a float64 so that TOML and JSON read the same kind.
func number(v any) string {
	f, ok := v.(float64)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(fmt.Sprintf("%+f", f))
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// join appends a name to a dotted key, quoted where TOML asks for it.
func join(key, name string) string {
	if !bare.MatchString(name) {
		name = quote(name)
	}
	if key == "" {
		return name
	}
	return key + "." + name
}
