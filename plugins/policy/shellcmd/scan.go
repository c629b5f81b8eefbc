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

// let looks at the builtin let. Its operators are read here as arithmetic; to bash
// they end the command or redirect, unless they are quoted.
func (w *walker) let(n *syntax.LetClause) {
	for _, x := range n.Exprs {
		w.arithmetic(x)
		syntax.Walk(x, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.BinaryArithm:
				if strings.ContainsAny(n.Op.String(), "|&<>") {
					w.unclear("let", "its operators end the command unless they are quoted")
				}
			case *syntax.ParenArithm, *syntax.FlagsArithm:
				w.unclear("let", "its operators end the command unless they are quoted")
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

// arithmetic looks at the variables in an expression, whose text bash evaluates,
// substitutions in array indices included.
func (w *walker) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			if !w.tame(n.Stmts) {
				w.unclear("$((…))", "it computes with what a command prints")
			}
			return false
		case *syntax.BinaryArithm:
			if name, ok := n.X.(*syntax.Word); ok && strings.HasSuffix(n.Op.String(), "=") && n.Op != syntax.Eql && n.Op != syntax.Neq && n.Op != syntax.Leq && n.Op != syntax.Geq {
				w.assigned(name.Lit(), word{unknown: true})
			}
		case *syntax.ParamExp:
			if w.taints(n) && !w.numeric(n.Param) {
				w.unclear("$((…))", "it computes with a variable that may hold more than a number")
			}
		case *syntax.Lit:
			if (w.facts.values[n.Value] != nil || filled[n.Value] || strings.HasPrefix(n.Value, "BASH_")) && !w.numeric(n) {
				w.unclear("$((…))", "it computes with a variable that may hold more than a number")
			}
		case *syntax.SglQuoted, *syntax.DblQuoted:
			if wd := w.one(&syntax.Word{Parts: []syntax.WordPart{n.(syntax.WordPart)}}); !strings.Contains(wd.text, Unknown) {
				w.later(wd)
			}
		}
		return true
	})
}

// filled are variables that bash puts input into.
var filled = set("REPLY MAPFILE OPTARG COPROC _")

// numeric tells whether a variable has only numbers that the line gives it.
func (w *walker) numeric(name *syntax.Lit) bool {
	if name == nil {
		return false
	}
	v := w.facts.values[name.Value]
	if v == nil {
		return name.Value == "#"
	}
	for _, text := range v.known {
		if strings.Trim(text, "0123456789-+ ") != "" {
			return false
		}
	}
	return !v.tainted
}

// test looks at the comparisons of [[ ]] that are arithmetic.
func (w *walker) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.ParenTest:
		w.test(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot || x.Op == syntax.TsParen {
			w.test(x.X)
		} else if wd, ok := x.X.(*syntax.Word); ok && x.Op == syntax.TsVarSet {
			name := w.one(wd)
			if w.later(name); name.tainted {
				w.unclear("[[ -v … ]]", "it evaluates what is known only when it runs")
			}
		}
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			w.test(x.X)
			w.test(x.Y)
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if wd, ok := side.(*syntax.Word); ok {
					w.later(w.one(wd))
					w.arithmetic(wd)
				}
			}
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
