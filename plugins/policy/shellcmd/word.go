package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is a word of a command after the shell's expansions, as far as they can be
// told.
type word struct {
	text     string // quotes gone; Unknown for each part that is not known
	unknown  bool   // text has an Unknown
	tainted  bool   // an unknown part was made by the line itself and can be anything
	expanded bool   // something was expanded, even where the result is known
	glob     bool   // has a pattern character that the shell would expand
	loose    bool   // glob without anything fixed at its end: it fits an option too
	process  bool   // has a process substitution
	parent   bool   // has the number of the process that runs the line
	home     bool   // begins with $HOME as it was before the line
}

func plain(text string) word { return word{text: text} }

func texts(argv []word) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = a.text
	}
	return out
}

// hides tells whether the word may turn out to be an option or another word than
// it looks like.
func (x word) hides() bool {
	switch {
	case x.unknown && strings.HasPrefix(x.text, "-"):
		return true
	case x.unknown && strings.HasPrefix(x.text, Unknown):
		return x.tainted
	}
	return x.glob && x.loose && strings.IndexAny(x.text, "*?[") == 0
}

// binding gives variables one of the values that the line gives them.
type binding map[string]string

// choices are the ways that the words of a command may turn out; at least one.
func (w *walker) choices(words []*syntax.Word) [][]word {
	bindings := []binding{{}}
	for _, name := range w.usedIn(words) {
		values := w.facts.values[name].known
		if len(bindings)*(len(values)+1) > maxChoices {
			continue // stays unknown, and tainted
		}
		var more []binding
		for _, b := range bindings {
			if w.facts.values[name].tainted {
				more = append(more, b)
			}
			for _, v := range values {
				c := binding{name: v}
				for n, x := range b {
					c[n] = x
				}
				more = append(more, c)
			}
		}
		bindings = more
	}
	out := make([][]word, len(bindings))
	for i, b := range bindings {
		out[i] = w.fields(words, b)
	}
	return out
}

// usedIn names the variables of the words that the line gives known values.
func (w *walker) usedIn(words []*syntax.Word) []string {
	var names []string
	for _, wd := range words {
		for _, p := range flat(wd.Parts) {
			if x, ok := p.(*syntax.ParamExp); ok && simple(x) {
				name := x.Param.Value
				if v, ok := w.facts.values[name]; ok && len(v.known) > 0 && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

func flat(parts []syntax.WordPart) []syntax.WordPart {
	var out []syntax.WordPart
	for _, p := range parts {
		if q, ok := p.(*syntax.DblQuoted); ok {
			out = append(out, q.Parts...)
			continue
		}
		out = append(out, p)
	}
	return out
}

// simple tells whether an expansion is $name or ${name}.
func simple(x *syntax.ParamExp) bool {
	return x.Param != nil && x.NestedParam == nil && !x.Excl && !x.Length && !x.Width && x.Index == nil && x.Slice == nil && x.Repl == nil && x.Exp == nil && x.Names == 0
}

// fields expands words as bash does: braces, parameters, splitting, quotes.
func (w *walker) fields(words []*syntax.Word, b binding) []word {
	var out []word
	size := 0
	for _, wd := range words {
		for _, parts := range w.braces(wd) {
			e := &expansion{w: w, binding: b}
			e.parts(parts, false)
			size += len(e.text)
			e.end()
			out = append(out, e.done...)
			if len(out) > maxWords || size > 4*MaxBytes {
				w.unclear("a command", "it has too many words to be checked")
				return out[:min(maxWords, len(out))]
			}
		}
	}
	return out
}

// one expands a word that the shell does not split, such as an assigned value.
func (w *walker) one(wd *syntax.Word) word {
	if wd == nil {
		return word{}
	}
	e := &expansion{w: w, binding: binding{}}
	e.parts(wd.Parts, true)
	return e.word()
}

// braces are the words that a word's braces stand for. Sequences stay unknown.
func (w *walker) braces(wd *syntax.Word) [][]syntax.WordPart {
	copied := &syntax.Word{Parts: slices.Clone(wd.Parts)}
	if !syntax.SplitBraces(copied) {
		return [][]syntax.WordPart{wd.Parts}
	}
	out := product(copied.Parts, 0)
	if out == nil {
		return [][]syntax.WordPart{{&syntax.BraceExp{Sequence: true}}}
	}
	return out
}

// product multiplies alternatives out; nil where there are too many.
func product(parts []syntax.WordPart, depth int) [][]syntax.WordPart {
	const most = 512
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		alternatives := [][]syntax.WordPart{{p}}
		if x, ok := p.(*syntax.BraceExp); ok && !x.Sequence {
			alternatives = nil
			for _, elem := range x.Elems {
				inner := product(elem.Parts, depth+1)
				if inner == nil || depth > 20 {
					return nil
				}
				alternatives = append(alternatives, inner...)
			}
		}
		if len(out)*len(alternatives) > most {
			return nil
		}
		var more [][]syntax.WordPart
		for _, head := range out {
			for _, tail := range alternatives {
				more = append(more, append(slices.Clone(head), tail...))
			}
		}
		out = more
	}
	return out
}
