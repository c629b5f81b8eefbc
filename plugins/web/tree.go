package web

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxDepth is how deep elements are nested; what lies deeper hangs on the last.
	maxDepth = 256
	// looksAtCtx is how many tags and texts come between two looks at a context.
	looksAtCtx = 256
)

// tree is a page on the way to being one: what is read of it, without what is not
// shown. HTML's own rules for broken pages can take a time that grows with the square
// of the page; these few take one that grows with the page, whatever it holds.
type tree struct {
	root  *html.Node
	title string
	base  string // href of the first base element

	open    []open
	names   map[string]int // open elements by name
	deeper  int            // elements that are open below maxDepth
	mute    string         // an element below maxDepth whose text is not shown, "" = none
	heading bool           // in the first title
	fresh   bool           // a pre has just begun
}

// open is an element without its end yet.
type open struct {
	name string
	node *html.Node // nil where it is not shown
}

// parse reads a page. It ends early only with ctx.
func parse(ctx context.Context, page string) (*tree, error) {
	t := &tree{root: &html.Node{Type: html.DocumentNode}, names: map[string]int{}}
	t.open = []open{{node: t.root}}
	z := html.NewTokenizer(strings.NewReader(page))
	for n := 0; ; n++ {
		if n%looksAtCtx == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch z.Next() {
		case html.ErrorToken:
			return t, nil // the end of the page
		case html.TextToken:
			t.text(z)
		case html.StartTagToken:
			t.start(newElement(z), false)
		case html.SelfClosingTagToken:
			t.start(newElement(z), true)
		case html.EndTagToken:
			name, _ := z.TagName()
			t.end(string(name))
		}
	}
}

// newElement is the element of a start tag with those attributes that are read.
func newElement(z *html.Tokenizer) *html.Node {
	tag, more := z.TagName()
	n := &html.Node{Type: html.ElementNode, DataAtom: atom.Lookup(tag), Data: string(tag)}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch k := string(key); k {
		case "href", "alt", "style", "hidden":
			if len(n.Attr) < 4 && !hasAttr(n, k) {
				n.Attr = append(n.Attr, html.Attribute{Key: k, Val: string(value)})
			}
		}
	}
	return n
}

func (t *tree) top() open { return t.open[len(t.open)-1] }

// text hangs a text on the element that is open.
func (t *tree) text(z *html.Tokenizer) {
	switch {
	case t.heading:
		t.title += string(z.Text()) // the one text of the one title
	case t.mute == "" && t.top().node != nil:
		data := string(z.Text())
		if t.fresh {
			data = strings.TrimPrefix(data, "\n")
		}
		t.top().node.AppendChild(&html.Node{Type: html.TextNode, Data: data})
	}
	t.heading, t.fresh = false, false
}

// start opens an element after it has closed those that end where it begins.
func (t *tree) start(n *html.Node, closed bool) {
	t.fresh = n.DataAtom == atom.Pre
	switch n.DataAtom {
	case atom.Html, atom.Head, atom.Body: // every page has them, whatever it says
		return
	case atom.Title:
		t.heading = t.title == "" && t.mute == "" && t.top().node != nil
	case atom.Base:
		if t.base == "" {
			t.base = attr(n, "href")
		}
	}
	if c, ok := closes[n.DataAtom]; ok && t.deeper == 0 {
		t.closeAny(c)
	}
	parent := t.top().node
	void := voids[n.DataAtom] || closed && (parent == nil || n.DataAtom == atom.Svg || n.DataAtom == atom.Math)
	if len(t.open) > maxDepth && !void {
		t.deeper++
		if t.mute == "" && dropped[n.DataAtom] {
			t.mute = n.Data
		}
		return
	}
	o := open{name: n.Data}
	if parent != nil && t.mute == "" && !dropped[n.DataAtom] && !hidden(n) {
		parent.AppendChild(n)
		o.node = n
	}
	if !void {
		t.names[o.name]++
		t.open = append(t.open, o)
	}
}

// end closes an element with all that is open in it. One that nothing has opened, or
// that lies outside of the table's cell that is open, closes nothing.
func (t *tree) end(name string) {
	t.heading, t.fresh = false, false
	if t.deeper > 0 {
		t.deeper--
		if t.mute == name {
			t.mute = ""
		}
		return
	}
	if t.names[name] == 0 {
		return
	}
	limits := cells
	if cellParts[name] {
		limits = tables
	}
	for i := len(t.open) - 1; i > 0; i-- {
		if t.open[i].name == name {
			t.closeTo(i)
			return
		}
		if limits[t.open[i].name] {
			return
		}
	}
}

// closeAny closes the outermost of some elements up to those where their reach ends.
func (t *tree) closeAny(c closing) {
	some := false
	for name := range c.names {
		some = some || t.names[name] > 0
	}
	if !some {
		return
	}
	found := 0
	for i := len(t.open) - 1; i > 0 && !c.within[t.open[i].name]; i-- {
		if c.names[t.open[i].name] {
			found = i
		}
	}
	if found > 0 {
		t.closeTo(found)
	}
}

func (t *tree) closeTo(i int) {
	for _, o := range t.open[i:] {
		t.names[o.name]--
	}
	t.open = t.open[:i]
}
