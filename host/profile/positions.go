package profile

import (
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Paths inside a document are names after a NUL each; items of a list are "[0]".
func step(path, name string) string  { return path + "\x00" + name }
func item(path string, i int) string { return fmt.Sprintf("%s\x00[%d]", path, i) }

// finder notes the byte offset at which each key first stands.
type finder struct {
	parser unstable.Parser
	at     map[string]int
	rows   map[string]int // rows of each [[list]] so far
}

// positions maps each path of a valid document to a byte offset.
func positions(data []byte) map[string]int {
	f := finder{at: map[string]int{}, rows: map[string]int{}}
	f.parser.Reset(data)
	table := ""
	for f.parser.NextExpression() {
		switch e := f.parser.Expression(); e.Kind {
		case unstable.Table:
			table = f.keys("", e.Key(), false)
		case unstable.ArrayTable:
			table = f.keys("", e.Key(), true)
		case unstable.KeyValue:
			f.keyValue(table, e)
		}
	}
	return f.at
}

// keys follows a dotted key; row starts a new row at its end.
func (f *finder) keys(path string, keys unstable.Iterator, row bool) string {
	for keys.Next() {
		key := keys.Node()
		path = step(path, string(key.Data))
		f.note(path, key)
		last := keys.IsLast()
		if row && last {
			f.rows[path]++
		}
		if n := f.rows[path]; n > 0 {
			path = item(path, n-1)
			f.note(path, key)
		}
	}
	return path
}

func (f *finder) note(path string, n *unstable.Node) {
	if _, ok := f.at[path]; !ok {
		f.at[path] = int(n.Raw.Offset)
	}
}

func (f *finder) keyValue(table string, e *unstable.Node) {
	f.value(f.keys(table, e.Key(), false), e.Value())
}

func (f *finder) value(path string, v *unstable.Node) {
	children := v.Children()
	switch v.Kind {
	case unstable.InlineTable:
		for children.Next() {
			f.keyValue(path, children.Node())
		}
	case unstable.Array:
		for i := 0; children.Next(); i++ {
			f.value(item(path, i), children.Node())
		}
	}
}
