package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scan walks a part of a line that is not a command, for whatever in it runs
// commands: substitutions, arithmetic that evaluates text, prompts.
func (w *walker) scan(node syntax.Node) {
	if node == nil || isNil(node) {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.stmts(n.Stmts, feed{})
			return false
		case *syntax.ProcSubst:
			in := feed{}
			if n.Op == syntax.CmdOut {
				in = strange
			}
			w.stmts(n.Stmts, in)
			return false
		case *syntax.ParamExp:
			w.parameter(n)
			w.quotesWithin(n)
		case *syntax.ArithmExp:
			w.arithmetic(n.X)
		case *syntax.ArithmCmd:
			w.arithmetic(n.X)
		case *syntax.LetClause:
			w.let(n)
		case *syntax.CStyleLoop:
			w.arithmetic(n.Init)
			w.arithmetic(n.Cond)
			w.arithmetic(n.Post)
		case *syntax.TestClause:
			w.test(n.X)
		case *syntax.ExtGlob:
			w.later(plain(n.Pattern.Value))
		case *syntax.Assign:
			w.assign(n)
		}
		return true
	})
}

// quotesWithin looks at single quotes in ${x:-'…'}, which quote nothing where the
// whole stands in double quotes.
func (w *walker) quotesWithin(p *syntax.ParamExp) {
	var words []*syntax.Word
	if p.Exp != nil {
		words = append(words, p.Exp.Word)
	}
	if p.Repl != nil {
		words = append(words, p.Repl.Orig, p.Repl.With)
	}
	for _, wd := range words {
		if wd == nil {
			continue
		}
		syntax.Walk(wd, func(n syntax.Node) bool {
			if q, ok := n.(*syntax.SglQuoted); ok {
				w.later(plain(q.Value))
			}
			return true
		})
	}
}

func isNil(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.Word:
		return n == nil
	case *syntax.CallExpr:
		return n == nil
	}
	return false
}

// parameter looks at what an expansion does besides.
func (w *walker) parameter(p *syntax.ParamExp) {
	if p.Index != nil {
		w.arithmetic(p.Index)
	}
	if p.Slice != nil {
		w.arithmetic(p.Slice.Offset)
		w.arithmetic(p.Slice.Length)
	}
	if p.Excl && p.Names == 0 && (p.Param == nil || w.facts.values[p.Param.Value] != nil) {
		w.unclear("${!…}", "it expands a variable whose name is made in the line")
	}
	if p.Exp == nil || p.Param == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		w.assigned(p.Param.Value, w.one(p.Exp.Word))
	case syntax.OtherParamOps:
		if op := p.Exp.Word.Lit(); op != "Q" && op != "U" && op != "u" && op != "L" {
			w.unclear("${…@"+op+"}", "it evaluates what a variable holds")
		}
	}
}

// later looks at a text that bash may expand once more at some time, as it does
// with what stands in an array index: its substitutions count as commands now.
func (w *walker) later(x word) {
	if !strings.Contains(x.text, "$(") && !strings.Contains(x.text, "`") && !strings.Contains(x.text, "${") {
		return
	}
	if w.nested >= maxNested {
		w.unclear(x.text, "it is nested too deep to be checked")
		return
	}
	doc, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(strings.ReplaceAll(x.text, Unknown, "_")))
	if err != nil {
		if w.looksEvaluated(x.text) {
			w.unclear(x.text, "it may be a part of something that is put together and evaluated")
		}
		return
	}
	w.nested++
	w.scan(doc)
	w.nested--
}

// looksEvaluated tells whether a text that cannot be expanded alone has the shape
// of an array index with a substitution in it.
func (w *walker) looksEvaluated(text string) bool {
	return strings.Contains(text, "[") || strings.Contains(text, "$(")
}
