package source

import (
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// Names are the builtins that Lint needs to know.
type Names struct {
	Builtins   []string // all names that agentscript predeclares
	Types      []string // the types among them; nil means str int float bool list dict any
	TypeMakers []string // functions that return types: schema, union, enum, …
	NodeMakers []string // functions that return nodes: agent, fn, then, par, …
	Conditions []string // functions that return conditions: eq, ge, …
	Constants  []string // names that are conditions: always, never

	FieldMakers []string // functions that describe a field, and therefore a parameter: field
}

// Lint returns the mistakes that the syntax tree shows, in the order of their positions: hidden builtins, truth values
// of types and nodes, captured loop variables, comparisons with type(x) and of conditions, a number before a node,
// repeated keys in a dict literal, and calls of the file's own functions, inside functions, that do not fit their
// parameters.
//
// It ends early once stop, which may be nil, returns true; the result is then incomplete.
func (f *File) Lint(n Names, stop func() bool) diag.List {
	types := n.Types
	if types == nil {
		types = strings.Fields("str int float bool list dict any")
	}
	l := &linter{
		f:          f,
		stop:       stop,
		builtins:   set(n.Builtins),
		types:      set(types),
		typeMakers: set(n.TypeMakers),
		nodeMakers: set(n.NodeMakers),
		conditions: set(n.Conditions), constants: set(n.Constants),
		fields:    set(n.FieldMakers),
		captures:  map[*scope]*capture{},
		owners:    map[syntax.Expr]*binding{},
		immediate: map[syntax.Expr]bool{},
		tested:    map[syntax.Expr]bool{},
	}
	top := &scope{node: f.tree}
	top.collect(f.tree.Stmts)
	l.stmts(f.tree.Stmts, top)
	l.indents(f.tree.Stmts, "")
	l.hidden(top)
	l.captured()
	l.found.Sum()
	found := l.found.Diagnostics()
	found.Sort()
	return found
}

func set(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, s := range names {
		m[s] = true
	}
	return m
}

// A linter is the state of one walk over a file. It visits every expression once, in the scope where it is evaluated.
type linter struct {
	f                                               *File
	builtins, types, typeMakers, nodeMakers, fields map[string]bool
	conditions, constants                           map[string]bool

	loop      *loop         // the loop around the current statement, in its function
	leaving   bool          // in a return statement
	assigning *syntax.Ident // the left side of the current assignment

	captures  map[*scope]*capture      // by function
	owners    map[syntax.Expr]*binding // the names of lambdas that are the whole right side of an assignment
	immediate map[syntax.Expr]bool     // functions, and names of functions, that are called at once
	tested    map[syntax.Expr]bool     // expressions whose truth value was reported
	found     diag.Reporter

	stop func() bool
	seen int  // expressions and statements visited
	over bool // stop has returned true
}

// more reports whether the walk continues.
func (l *linter) more() bool {
	if l.seen++; l.seen%1024 == 0 && l.stop != nil && !l.over {
		l.over = l.stop()
	}
	return !l.over
}

func (l *linter) report(code diag.Code, at diag.Span, message, label string) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Span: at, Message: message, Label: label}
	l.found.Report(d)
	return d
}

func (l *linter) stmts(list []syntax.Stmt, s *scope) {
	for _, stmt := range list {
		l.stmt(stmt, s)
	}
}

func (l *linter) stmt(stmt syntax.Stmt, s *scope) {
	if !l.more() {
		return
	}
	switch x := stmt.(type) {
	case *syntax.ExprStmt:
		l.expr(x.X, s)
	case *syntax.AssignStmt:
		l.assignment(x, s)
	case *syntax.ReturnStmt:
		if x.Result != nil {
			was := l.leaving
			l.leaving = true
			l.expr(x.Result, s)
			l.leaving = was
		}
	case *syntax.IfStmt:
		l.truth(x.Cond, s, "if")
		l.expr(x.Cond, s)
		l.stmts(x.True, s)
		l.stmts(x.False, s)
	case *syntax.WhileStmt:
		l.enter(x.Body, nil, s)
		l.truth(x.Cond, s, "while")
		l.expr(x.Cond, s)
		l.stmts(x.Body, s)
		l.loop = l.loop.outer
	case *syntax.ForStmt:
		l.expr(x.X, s)
		l.target(x.Vars, s)
		l.enter(x.Body, x.Vars, s)
		l.stmts(x.Body, s)
		l.loop = l.loop.outer
	case *syntax.DefStmt:
		inner := l.open(x, x.Params, s)
		inner.collect(x.Body)
		l.inside(inner, func() { l.stmts(x.Body, inner) })
	}
}

func (l *linter) assignment(x *syntax.AssignStmt, s *scope) {
	id, _ := startree.Unparen(x.LHS).(*syntax.Ident)
	was := l.assigning
	if id != nil && x.Op == syntax.EQ {
		l.assigning = id
		if fn, ok := startree.Unparen(x.RHS).(*syntax.LambdaExpr); ok {
			l.owners[fn] = s.names[id.Name]
		}
	}
	l.expr(x.RHS, s)
	l.assigning = was
	if x.Op != syntax.EQ {
		l.expr(x.LHS, s)
	} else {
		l.target(x.LHS, s)
	}
}

func (l *linter) enter(body []syntax.Stmt, vars syntax.Expr, s *scope) {
	l.loop = &loop{outer: l.loop, scope: s, start: at(start(body[0])), end: at(end(body[len(body)-1])), vars: vars}
}

// open returns the scope of a function; the defaults of its parameters are evaluated outside of it.
func (l *linter) open(n syntax.Node, params []syntax.Expr, s *scope) *scope {
	for _, p := range params {
		if p := startree.ArgOf(p); p.Name != nil {
			l.expr(p.Value, s)
		}
	}
	inner := &scope{parent: s, node: n, loop: l.loop, leaving: l.leaving}
	inner.params(params)
	return inner
}

// inside walks the body of a function, for which the loops around it do not count.
func (l *linter) inside(inner *scope, body func()) {
	loop, leaving := l.loop, l.leaving
	l.loop, l.leaving = nil, false
	body()
	l.loop, l.leaving = loop, leaving
	l.hidden(inner)
}

// target walks the left side of an assignment, whose names are not uses.
func (l *linter) target(e syntax.Expr, s *scope) {
	startree.Targets(e, func(e syntax.Expr) {
		if _, name := e.(*syntax.Ident); !name {
			l.expr(e, s)
		}
	})
}

func (l *linter) expr(e syntax.Expr, s *scope) {
	if !l.more() {
		return
	}
	switch x := e.(type) {
	case *syntax.Ident:
		l.use(x, s)
	case *syntax.DotExpr: // its name does not belong to the scope
		l.expr(x.X, s)
		return
	case *syntax.CallExpr:
		l.call(x, s)
		return
	case *syntax.LambdaExpr:
		inner := l.open(x, x.Params, s)
		l.inside(inner, func() { l.expr(x.Body, inner) })
		return
	case *syntax.Comprehension:
		l.comprehension(x, s)
		return
	case *syntax.DictExpr:
		l.repeated(x)
	case *syntax.IndexExpr:
		l.typeUse(x.X, x.Y, s)
	case *syntax.UnaryExpr:
		if x.Op == syntax.NOT {
			l.truth(x.X, s, "not")
		}
	case *syntax.CondExpr:
		l.truth(x.Cond, s, "if")
	case *syntax.BinaryExpr:
		l.binary(x, s)
	}
	syntax.Walk(e, func(n syntax.Node) bool {
		if part, ok := n.(syntax.Expr); ok && n != e {
			l.expr(part, s)
		}
		return n == e
	})
}

// binary checks an operator, before its operands.
func (l *linter) binary(x *syntax.BinaryExpr, s *scope) {
	switch x.Op {
	case syntax.AND, syntax.OR:
		l.operand(x, s)
	case syntax.PIPE:
		l.typeUse(x.X, x.Y, s)
		l.typeUse(x.Y, x.X, s)
	case syntax.EQL, syntax.NEQ, syntax.IN, syntax.NOT_IN:
		l.typeComparison(x, s)
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		l.compared(x, s)
	case syntax.GTGT, syntax.SLASH, syntax.STAR:
		l.numberBeforeNode(x, s)
	}
}

func (l *linter) call(x *syntax.CallExpr, s *scope) {
	fn := startree.Unparen(x.Fn)
	if _, ok := fn.(*syntax.LambdaExpr); ok {
		l.immediate[fn] = true
	}
	if id, ok := fn.(*syntax.Ident); ok {
		b, _ := s.lookup(id.Name)
		if b != nil {
			l.immediate[fn] = true
			if b.hidden.called == nil {
				b.hidden.called = x
			}
		}
		switch {
		case b == nil && callsAtOnce(id.Name, s):
			for _, arg := range x.Args {
				if a := startree.ArgOf(arg); a.Spread == 0 {
					l.markImmediate(a.Value)
				}
			}
		case b != nil && b.def != nil && b.scope.file() && s.inFunction():
			l.arity(x, b)
		}
	}
	l.expr(x.Fn, s)
	for _, arg := range x.Args {
		if a := startree.ArgOf(arg); a.Name != nil {
			arg = a.Value
		}
		l.expr(arg, s)
	}
}

func (l *linter) comprehension(x *syntax.Comprehension, s *scope) {
	inner := &scope{parent: s, node: x}
	for i, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			// Its sequence is evaluated before its variables are bound; that of the first clause outside of the
			// comprehension.
			if i == 0 {
				l.expr(c.X, s)
				inner.targets(c.Vars, looped)
			} else {
				inner.targets(c.Vars, looped)
				l.expr(c.X, inner)
			}
			l.target(c.Vars, inner)
		case *syntax.IfClause:
			l.truth(c.Cond, inner, "if")
			l.expr(c.Cond, inner)
		}
	}
	l.expr(x.Body, inner)
	l.hidden(inner)
}

// use is called for every name that is read.
func (l *linter) use(id *syntax.Ident, s *scope) {
	b, crossed := s.lookup(id.Name)
	if b == nil {
		return
	}
	b.uses++
	if l.immediate[id] {
		b.calls++
	}
	if l.builtins[id.Name] {
		l.hiddenUse(b, id, crossed)
	}
	if crossed != nil {
		l.capture(b, id, crossed)
	}
}

// indents finds blocks whose lines are indented with different characters. A tab reaches to the next multiple of eight
// columns, and looks different in most editors, so the apparent structure would depend on the reader's editor.
func (l *linter) indents(block []syntax.Stmt, outer string) {
	first, line := "", int32(0)
	for _, stmt := range block {
		lead, ok := "", false
		if at := start(stmt); at.Line != line { // the first statement on its line
			lead, ok = l.lead(stmt)
			line = at.Line
		}
		switch {
		case !ok: // after another statement, or an elif
		case first == "" && !strings.HasPrefix(lead, outer), first != "" && lead != first:
			l.mixed(stmt, lead)
			return
		default:
			first = lead
		}
		inside := func(block []syntax.Stmt) { l.indents(block, first) }
		if def, ok := stmt.(*syntax.DefStmt); ok {
			inside(def.Body)
		}
		startree.Blocks(stmt, inside)
	}
}

// lead returns the text before a statement on its line. It returns false if that is not only blanks.
func (l *linter) lead(stmt syntax.Stmt) (string, bool) {
	at := start(stmt)
	line := l.f.lines[at.Line-1]
	rest := strings.TrimLeft(line, " \t")
	lead := line[:len(line)-len(rest)]
	return lead, len(lead) == int(at.Col)-1 && !strings.HasPrefix(rest, "elif")
}

func (l *linter) mixed(stmt syntax.Stmt, lead string) {
	at := start(stmt)
	has := map[bool]string{true: "tabs", false: "spaces"}[strings.Contains(lead, "\t")]
	d := l.report(diag.SyntaxError, diag.Span{Pos: diag.Pos{File: l.f.pos(at).File, Line: int(at.Line), Col: 1}, Len: max(1, len(lead))},
		"tabs and spaces are mixed in the indentation", "this line has "+has+" where those around it have the other")
	d.Help = append(d.Help, "indent with spaces only, four for each block; `agentscript fmt` does it")
}
