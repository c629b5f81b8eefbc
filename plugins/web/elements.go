package web

import "golang.org/x/net/html/atom"

// dropped are elements whose content nobody reads as text.
var dropped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Iframe: true, atom.Object: true,
	atom.Embed: true, atom.Canvas: true, atom.Audio: true, atom.Video: true, atom.Title: true, atom.Select: true, atom.Textarea: true, atom.Button: true,
	atom.Math: true, atom.Datalist: true, atom.Dialog: true,
}

// voids are elements without content and end.
var voids = map[atom.Atom]bool{
	atom.Area: true, atom.Base: true, atom.Basefont: true, atom.Bgsound: true, atom.Br: true, atom.Col: true, atom.Embed: true, atom.Frame: true, atom.Hr: true,
	atom.Img: true, atom.Input: true, atom.Keygen: true, atom.Link: true, atom.Meta: true, atom.Param: true, atom.Source: true, atom.Track: true, atom.Wbr: true,
}

type names map[string]bool

func set(list ...string) names {
	s := names{}
	for _, name := range list {
		s[name] = true
	}
	return s
}

var (
	// tables and cells are where the reach of an end tag is over: of parts of tables,
	// and of all else.
	tables    = set("table")
	cells     = set("table", "td", "th", "caption", "template", "object")
	cellParts = set("table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th")
)

// closing is what a start tag ends, up to the elements where its reach is over.
type closing struct{ names, within names }

// closes are the start tags that end something: what needs no end tag of its own.
var closes = func() map[atom.Atom]closing {
	paragraph := closing{set("p"), set("table", "td", "th", "caption", "template", "object", "button")}
	term, link := closing{set("dt", "dd"), set("dl", "table", "td", "th")}, closing{set("a"), cells}
	part, row, cell := closing{set("caption", "thead", "tbody", "tfoot"), tables}, closing{set("caption", "tr"), tables}, closing{set("caption", "td", "th"), set("table", "tr")}
	all := map[atom.Atom]closing{
		atom.Li: {set("li"), set("ul", "ol", "menu", "table", "td", "th")}, atom.Dt: term, atom.Dd: term, atom.A: link,
		atom.Thead: part, atom.Tbody: part, atom.Tfoot: part, atom.Tr: row, atom.Td: cell, atom.Th: cell,
		atom.Option: {set("option"), set("select", "datalist")}, atom.Optgroup: {set("optgroup"), set("select")},
	}
	for _, a := range []atom.Atom{
		atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Fieldset,
		atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Main,
		atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section, atom.Summary, atom.Table, atom.Ul,
	} {
		all[a] = paragraph
	}
	return all
}()
