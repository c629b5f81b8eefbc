package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// bare is the text of a page without any order.
func bare(page string) string {
	var b strings.Builder
	skip := ""
	for z := html.NewTokenizer(strings.NewReader(page)); b.Len() < enough; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.StartTagToken:
			if name, _ := z.TagName(); skip == "" && (string(name) == "script" || string(name) == "style") {
				skip = string(name)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == skip {
				skip = ""
			}
		case html.TextToken:
			if words := strings.Join(strings.Fields(string(z.Text())), " "); skip == "" && words != "" {
				b.WriteString(html.UnescapeString(words) + "\n")
			}
		}
	}
	return b.String()
}

// previous tells whether a cell has one before it in its row.
func previous(n *html.Node) bool {
	for p := n.PrevSibling; p != nil; p = p.PrevSibling {
		if p.DataAtom == atom.Td || p.DataAtom == atom.Th {
			return true
		}
	}
	return false
}

// hidden tells whether an element is not shown to a person.
func hidden(n *html.Node) bool {
	style := strings.ReplaceAll(strings.ToLower(attr(n, "style")), " ", "")
	if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
		return true
	}
	for _, a := range n.Attr {
		if a.Key == "hidden" {
			return true
		}
	}
	return false
}

// inner is the text of an element on one line.
func inner(n *html.Node) string {
	var words []string
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode && !inDropped(d, n):
			words = append(words, d.Data)
		case d.DataAtom == atom.Img:
			words = append(words, " "+attr(d, "alt")+" ")
		}
	}
	return strings.Join(strings.Fields(strings.Join(words, "")), " ")
}

// looks bounds how many nodes are looked at for words, so that a page cannot make
// that its business.
const looks = 5_000_000

// says tells whether an element has any words, or may have: once a page had its
// looks, everything does.
func (r *reader) says(n *html.Node) bool {
	for d := range n.Descendants() {
		if r.looked++; r.looked > looks {
			return true
		}
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" && !inDropped(d, n) || d.DataAtom == atom.Img && attr(d, "alt") != "" {
			return true
		}
	}
	return false
}

// inDropped tells whether a node stands below something that is not shown, up to
// root.
func inDropped(n, root *html.Node) bool {
	for p := n.Parent; p != nil && p != root; p = p.Parent {
		if dropped[p.DataAtom] || hidden(p) {
			return true
		}
	}
	return false
}

func find(root *html.Node, name atom.Atom) *html.Node {
	for d := range root.Descendants() {
		if d.DataAtom == name && d.Namespace == "" {
			return d
		}
	}
	return nil
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}
