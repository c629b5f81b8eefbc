package shellcmd

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expansion builds the words that one word becomes.
type expansion struct {
	w       *walker
	binding binding
	cur     word
	text    []byte // of cur
	started bool
	done    []word
	here    bool // in a here-document, where a double quote is nothing special
}

func (e *expansion) end() {
	if e.started {
		e.done = append(e.done, e.word())
	}
	e.cur, e.text, e.started = word{}, e.text[:0], false
}

// word is the one being built.
func (e *expansion) word() word {
	e.cur.text = string(e.text)
	return e.cur
}

func (e *expansion) add(text string) {
	e.text, e.started, e.cur.loose = append(e.text, text...), true, false
}

func (e *expansion) unknown(tainted bool) {
	e.add(Unknown)
	e.cur.unknown, e.cur.expanded = true, true
	e.cur.tainted = e.cur.tainted || tainted
}

func (e *expansion) parts(parts []syntax.WordPart, quoted bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			e.literal(p.Value, quoted)
		case *syntax.SglQuoted:
			e.single(p)
		case *syntax.DblQuoted:
			e.started = true
			e.double(p.Parts)
		case *syntax.ParamExp:
			e.param(p, quoted)
		case *syntax.CmdSubst:
			e.unknown(!e.w.tame(p.Stmts))
		case *syntax.ArithmExp:
			e.unknown(false)
		case *syntax.ProcSubst:
			e.unknown(false)
			e.cur.process = true
		case *syntax.BraceExp:
			e.unknown(!numbers(p.Elems))
		case *syntax.ExtGlob:
			e.unknown(true)
			e.cur.glob, e.cur.loose = true, true
		default:
			e.unknown(true)
		}
	}
}

// numbers tells whether a sequence is one of numbers.
func numbers(elems []*syntax.Word) bool {
	for _, x := range elems {
		if _, err := strconv.Atoi(x.Lit()); err != nil {
			return false
		}
	}
	return len(elems) > 0
}

func (e *expansion) single(p *syntax.SglQuoted) {
	if !p.Dollar {
		e.add(p.Value)
		return
	}
	text, ok := ansi(p.Value)
	if !ok {
		e.unknown(true)
		return
	}
	e.add(text)
}

// literal takes text outside of quotes.
func (e *expansion) literal(s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				e.add(s[i : i+1])
			}
		case strings.IndexByte("*?[", c) >= 0 && !quoted:
			e.add(s[i : i+1])
			e.cur.glob, e.cur.loose = true, true
		default:
			e.add(s[i : i+1])
		}
	}
}

// double takes what stands within double quotes.
func (e *expansion) double(parts []syntax.WordPart) {
	for _, p := range parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			e.parts([]syntax.WordPart{p}, true)
			continue
		}
		s := lit.Value
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 && (!e.here || s[i+1] != '"') {
				i++
				if s[i] == '\n' {
					continue
				}
			}
			e.add(s[i : i+1])
		}
	}
}

// param takes a parameter expansion.
func (e *expansion) param(p *syntax.ParamExp, quoted bool) {
	e.cur.expanded = true
	value, bound := "", false
	if simple(p) {
		value, bound = e.binding[p.Param.Value]
	}
	switch {
	case !bound:
		e.cur.home = e.cur.home || len(e.text) == 0 && simple(p) && p.Param.Value == "HOME" && e.w.facts.values["HOME"] == nil
		e.unknown(e.w.taints(p))
		e.cur.parent = e.cur.parent || p.Param != nil && (p.Param.Value == "PPID" || p.Param.Value == "$")
	case quoted:
		e.add(value)
	default:
		e.split(value)
	}
}

// split puts in a known value that is not quoted.
func (e *expansion) split(value string) {
	for i, f := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }) {
		if i > 0 || (e.started && strings.IndexByte(" \t\n", value[0]) >= 0) {
			e.end()
		}
		e.add(f)
		e.cur.expanded = true
		if strings.ContainsAny(f, "*?[") {
			e.cur.glob, e.cur.loose = true, true
		}
	}
	if n := len(value); n > 0 && e.started && strings.IndexByte(" \t\n", value[n-1]) >= 0 {
		e.end()
		e.cur.expanded = true
	}
}
