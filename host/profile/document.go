package profile

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// bare matches a key that TOML takes without quotes.
var bare = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// document is one TOML text: a file, an override, the defaults.
type document struct {
	origin Origin // without a line
	dir    string
	data   []byte
}

// parse returns the text as a tree, each value with its line and column. A byte
// order mark and CRLF are accepted.
func (d document) parse() (*node, []Problem) {
	data, found := readable(d.data)
	if found != "" {
		return nil, []Problem{{Origin: d.origin, Found: found, Hint: "save it as UTF-8"}}
	}
	var values map[string]any
	if err := toml.Unmarshal(data, &values); err != nil {
		return nil, []Problem{d.syntax(data, err)}
	}
	b := builder{document: d, data: data, at: positions(data)}
	return b.build("", values, d.origin), nil
}

// readable strips a byte order mark; found says why the text cannot be read.
func readable(data []byte) (text []byte, found string) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, "the text is UTF-16"
	case !utf8.Valid(data):
		line := 1
		for rest := data; len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			if r == utf8.RuneError && size == 1 {
				break
			}
			if r == '\n' {
				line++
			}
			rest = rest[size:]
		}
		return nil, fmt.Sprintf("the text is not UTF-8 in line %d", line)
	}
	return data, ""
}

func (d document) syntax(data []byte, err error) Problem {
	p := Problem{Origin: d.origin, Found: "not valid TOML: " + strings.TrimPrefix(err.Error(), "toml: ")}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, column := decode.Position()
		p.Origin.Line, p.Origin.Column = line, characters(data, line, column)
	}
	return p
}

// characters turns a column in bytes into one in characters.
func characters(data []byte, line, column int) int {
	for range line - 1 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return utf8.RuneCount(data[:min(max(column-1, 0), len(data))]) + 1
}

// builder joins the decoded values with the positions of their keys.
type builder struct {
	document
	data []byte
	at   map[string]int
}

func (b builder) build(path string, v any, around Origin) *node {
	n := &node{origin: around, dir: b.dir}
	if offset, ok := b.at[path]; ok && b.origin.File != "" {
		before := b.data[:offset]
		start := bytes.LastIndexByte(before, '\n') + 1
		n.origin.Line = bytes.Count(before, []byte("\n")) + 1
		n.origin.Column = utf8.RuneCount(before[start:]) + 1
	}
	switch v := v.(type) {
	case map[string]any:
		n.table = make(map[string]*node, len(v))
		for name, c := range v {
			n.table[name] = b.build(step(path, name), c, n.origin)
		}
	case []any:
		n.list = make([]*node, 0, len(v))
		for i, c := range v {
			n.list = append(n.list, b.build(item(path, i), c, n.origin))
		}
	default:
		n.value = v
	}
	return n
}
