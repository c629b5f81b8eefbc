package web

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// gaps are the line ends around elements that stand apart.
var gaps = map[atom.Atom]int{
	atom.P: 2, atom.Blockquote: 2, atom.Ul: 2, atom.Ol: 2, atom.Dl: 2, atom.Table: 2, atom.Pre: 2, atom.Hr: 2, atom.Figure: 2, atom.Article: 2, atom.Section: 2,
	atom.H1: 2, atom.H2: 2, atom.H3: 2, atom.H4: 2, atom.H5: 2, atom.H6: 2,
	atom.Div: 1, atom.Li: 1, atom.Dt: 1, atom.Dd: 1, atom.Tr: 1, atom.Header: 1, atom.Footer: 1, atom.Main: 1, atom.Nav: 1, atom.Aside: 1,
	atom.Form: 1, atom.Fieldset: 1, atom.Figcaption: 1, atom.Address: 1, atom.Details: 1, atom.Summary: 1, atom.Caption: 1, atom.Br: 1, atom.Option: 1,
}

// enough is where reading stops, in bytes: more than maxText characters can have.
const enough = 6 * maxText

// readable is an HTML page as text with Markdown's headings, lists, links and code;
// its title comes first. It fails with ctx alone.
func readable(ctx context.Context, page string, at *url.URL) (string, error) {
	t, err := parse(ctx, page)
	if err != nil {
		return "", err
	}
	r := &reader{ctx: ctx, base: at}
	if u, err := at.Parse(t.base); err == nil && t.base != "" {
		r.base = u
	}
	if title := head(t.title, titleHead); title != "" {
		r.line("Title: " + title)
		r.gap(2)
	}
	r.node(t.root)
	return r.b.String(), ctx.Err()
}

// reader writes a page as text.
type reader struct {
	ctx   context.Context
	b     strings.Builder
	base  *url.URL
	gaps  int  // line ends owed before the next word
	space bool // a space owed
	pre   bool
	lists []int // ordinals of the lists around, -1 = without

	looked int // nodes that says has seen
}

func (r *reader) gap(n int) {
	if n > 0 {
		r.gaps, r.space = max(r.gaps, n), false
	}
}

// line writes text as it is, after what is owed.
func (r *reader) line(text string) {
	if r.b.Len() == 0 {
		r.gaps, r.space = 0, false
	}
	if r.gaps > 0 {
		r.b.WriteString(strings.Repeat("\n", r.gaps))
	} else if r.space {
		r.b.WriteByte(' ')
	}
	r.gaps, r.space = 0, false
	r.b.WriteString(text)
}

// text writes words; white space between them is one space.
func (r *reader) text(s string) {
	if r.pre {
		r.line(s)
		return
	}
	words := strings.Fields(s)
	if len(words) == 0 {
		r.space = r.space || s != ""
		return
	}
	r.space = r.space || strings.TrimLeft(s, " \t\r\n\f") != s
	r.line(strings.Join(words, " "))
	r.space = strings.TrimRight(s, " \t\r\n\f") != s
}

func (r *reader) children(n *html.Node) {
	for c := n.FirstChild; c != nil && r.b.Len() < enough && r.ctx.Err() == nil; c = c.NextSibling {
		r.node(c)
	}
}

func (r *reader) node(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		r.text(n.Data)
		return
	case n.Type != html.ElementNode:
		r.children(n)
		return
	}
	gap := gaps[n.DataAtom]
	if len(r.lists) > 0 && gap == 2 {
		gap = 1
	}
	r.gap(gap)
	r.element(n)
	r.gap(gap)
}

// element writes an element without the gaps around it.
func (r *reader) element(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if r.says(n) {
			r.line(strings.Repeat("#", int(n.Data[1]-'0')) + " ")
			r.children(n)
		}
	case atom.A:
		r.link(n)
	case atom.Img:
		if alt := head(attr(n, "alt"), titleHead); alt != "" {
			r.text("[image: " + alt + "]")
		}
	case atom.Pre:
		r.fenced(n)
	case atom.Code:
		if r.pre {
			r.children(n)
		} else if words := inner(n); words != "" {
			r.line("`" + words + "`")
		}
	case atom.Ul, atom.Ol:
		r.list(n)
	case atom.Li:
		r.item(n)
	case atom.Td, atom.Th:
		if n.PrevSibling != nil && previous(n) {
			r.line(" | ")
		}
		r.children(n)
	case atom.Hr:
		r.line("---")
	default:
		r.children(n)
	}
}

func (r *reader) list(n *html.Node) {
	ordinal := -1
	if n.DataAtom == atom.Ol {
		ordinal = 0
	}
	r.lists = append(r.lists, ordinal)
	r.children(n)
	r.lists = r.lists[:len(r.lists)-1]
}

func (r *reader) item(n *html.Node) {
	mark, depth := "- ", len(r.lists)
	if depth > 0 && r.lists[depth-1] >= 0 {
		r.lists[depth-1]++
		mark = fmt.Sprintf("%d. ", r.lists[depth-1])
	}
	if !r.says(n) {
		return
	}
	r.line(strings.Repeat("  ", max(0, min(depth-1, 8))) + mark)
	r.children(n)
}

// link writes a link that leads somewhere else as Markdown, its words on one line.
func (r *reader) link(n *html.Node) {
	words, href := inner(n), strings.TrimSpace(attr(n, "href"))
	if words == "" {
		return
	}
	if href == "" || href[0] == '#' {
		r.text(words)
		return
	}
	to, err := r.base.Parse(href) // its answer is as long as the base, and so is what is written
	if err != nil || to.Scheme != "http" && to.Scheme != "https" && to.Scheme != "mailto" {
		r.text(words)
		return
	}
	r.line("[" + words + "](" + spelled(to) + ")")
}

func (r *reader) fenced(n *html.Node) {
	r.line("```\n")
	at := r.b.Len()
	r.pre = true
	r.children(n)
	r.pre = false
	if r.gaps = 0; r.b.Len() > at && !strings.HasSuffix(r.b.String(), "\n") {
		r.b.WriteByte('\n')
	}
	r.line("```")
}
