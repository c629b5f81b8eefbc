package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
		} else if wd, ok := x.X.(*syntax.Word); ok && x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
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
