package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

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
	return hasAttr(n, "hidden")
}

// inner is the text of an element on one line.
func inner(n *html.Node) string {
	var words []string
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
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
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" || d.DataAtom == atom.Img && attr(d, "alt") != "" {
			return true
		}
	}
	return false
}

func hasAttr(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
