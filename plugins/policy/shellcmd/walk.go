package shellcmd

import (
	"mvdan.cc/sh/v3/syntax"
)

// walker goes through a line, and through the lines in it.
type walker struct {
	o        Options
	line     *Line
	facts    *facts
	nested   int
	depth    int
	looked   int
	full     bool
	seen     map[string]bool
	defining map[string]bool // functions whose body is being walked
	written  map[string]bool // base names of files that the line makes
	ran      map[string]bool // and of those that it runs
	quiet    bool            // adopting: only what is sure counts
}

func newWalker(o Options) *walker {
	return &walker{o: o, line: &Line{}, seen: map[string]bool{}, defining: map[string]bool{}, written: map[string]bool{}, ran: map[string]bool{},
		facts: &facts{values: map[string]*values{}, functions: map[string]bool{}, real: map[string]string{}, dirs: []string{o.Dir}}}
}

// text walks a line within the line.
func (w *walker) text(text string, in feed) {
	if w.nested >= maxNested {
		w.unclear(text, "it is nested too deep to be checked")
		return
	}
	file, err := parse(text)
	if err != nil {
		w.unclear(text, "it cannot be read as bash: "+err.Error())
		return
	}
	w.nested++
	w.stmts(file.Stmts, in)
	w.nested--
}

func (w *walker) stmts(list []*syntax.Stmt, in feed) {
	for _, s := range list {
		w.stmt(s, in)
	}
}

// spent tells whether the bounds are reached; it says so once.
func (w *walker) spent() bool {
	w.looked++
	if w.looked <= maxCommands && w.depth <= maxDepth {
		return false
	}
	if !w.full {
		w.full = true
		w.record(Command{Written: "(the rest of the line)", Concerns: []Concern{{Unclear, "the command line is too large or too deep to be checked"}}})
	}
	return true
}

func (w *walker) stmt(s *syntax.Stmt, in feed) {
	if s == nil || w.spent() {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	in = w.redirects(s, in)
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		w.call(c, in)
	case *syntax.BinaryCmd:
		w.stmt(c.X, in)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			in = w.output(c.X, in)
		}
		w.stmt(c.Y, in)
	case *syntax.Subshell:
		w.stmts(c.Stmts, in)
	case *syntax.Block:
		w.stmts(c.Stmts, in)
	case *syntax.TimeClause:
		w.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		w.stmt(c.Stmt, strange)
	case *syntax.FuncDecl:
		w.function(c)
	case *syntax.DeclClause:
		w.declare(c)
	default:
		w.compound(c, in)
	}
}

// compound walks loops and branches.
func (w *walker) compound(c syntax.Command, in feed) {
	switch c := c.(type) {
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond, in)
			w.stmts(c.Then, in)
		}
	case *syntax.WhileClause:
		w.stmts(c.Cond, in)
		w.stmts(c.Do, in)
	case *syntax.ForClause:
		w.loop(c)
		w.stmts(c.Do, in)
	case *syntax.CaseClause:
		w.scan(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.scan(p)
			}
			w.stmts(item.Stmts, in)
		}
	case *syntax.ArithmCmd:
		w.scan(c)
	case *syntax.TestClause:
		w.scan(c)
	case *syntax.LetClause:
		w.scan(c)
	default:
		w.unclear("a command", "it is of a kind that is not known here")
	}
}

func (w *walker) loop(c *syntax.ForClause) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.scan(c.Loop)
		return
	}
	name := iter.Name.Value
	if c.Select || !iter.InPos.IsValid() {
		w.facts.anything(name)
	}
	for _, item := range iter.Items {
		w.scan(item)
	}
	for _, value := range w.fields(iter.Items, binding{}) {
		w.assigned(name, value)
	}
}

// function walks a body as though it were called with anything.
func (w *walker) function(f *syntax.FuncDecl) {
	if f.Name == nil {
		w.unclear("a function", "it has no name")
		return
	}
	name := f.Name.Value
	w.facts.functions[name] = true
	outer := w.defining[name]
	w.defining[name] = true
	w.stmt(f.Body, strange)
	w.defining[name] = outer
}
