package cover

import (
	"slices"
	"strconv"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Insert inserts the probes of a file into its tree. It returns the values that must be predeclared for the file, and a
// function that undoes the change; in between, the tree is resolved and compiled. The tree already holds the guards of
// operands. universal reports whether a name that the file does not bind belongs to the interpreter.
func (f *File) Insert(tree *syntax.File, universal func(name string) bool) (predeclared starlark.StringDict, restore func()) {
	w := &inserter{file: f, universal: universal}
	if len(tree.Stmts) > 0 {
		w.start = syntax.Start(tree.Stmts[0])
	}
	begin := w.start
	w.block(&tree.Stmts, nil, nil, false)
	predeclared = w.store(tree, begin)
	return predeclared, func() {
		for _, e := range slices.Backward(w.exprs) {
			*e.at = e.old
		}
		for _, b := range slices.Backward(w.blocks) {
			*b.at = b.old
		}
	}
}

// inserter is the state of one walk over a tree.
type inserter struct {
	file      *File
	universal func(string) bool
	probes    starlark.Tuple // stored in globals, named by number

	locals bool            // the walk is in a def, which has local variables for bound probes
	loops  int             // number of loops around the current node, within its def
	start  syntax.Position // position of the first instruction of the function, until one was emitted
	bound  []syntax.Stmt   // statements that bind the probes of loops, for the statement that holds the outermost loop

	exprs  []changed[syntax.Expr]
	blocks []changed[[]syntax.Stmt]
}

// changed is a part of the tree that was replaced.
type changed[T any] struct {
	at  *T
	old T
}

func (w *inserter) replace(at *syntax.Expr, by syntax.Expr) {
	w.exprs = append(w.exprs, changed[syntax.Expr]{at, *at})
	*at = by
}

// one returns the chain of a single place.
func (w *inserter) one(place int) *chain { return &chain{count: &w.file.counts[place]} }

// call returns a call of a value that the file stores.
func (w *inserter) call(v starlark.Value, at syntax.Position) *syntax.CallExpr {
	w.probes = append(w.probes, v)
	return called(global+strconv.Itoa(len(w.probes)-1), at)
}

func called(name string, at syntax.Position) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: name}}
}

// probe returns an expression that counts and is false. In a loop of a function it uses a bound probe.
func (w *inserter) probe(places *chain, at syntax.Position) syntax.Expr {
	if !w.locals || w.loops == 0 {
		return w.call(&probe{places: places, steps: probeSteps}, at)
	}
	bind := w.call(&binder{places: places}, syntax.Position{})
	name := local + strconv.Itoa(len(w.probes)-1)
	w.bound = append(w.bound, &syntax.AssignStmt{Op: syntax.EQ, LHS: &syntax.Ident{Name: name}, RHS: bind})
	return &syntax.UnaryExpr{Op: syntax.PLUS, X: &syntax.Ident{NamePos: at, Name: name}}
}

// wrap makes an expression count when it is evaluated, if it is a place.
func (w *inserter) wrap(e *syntax.Expr, at syntax.Position) {
	if place, ok := w.file.at[e]; ok {
		never := &syntax.Literal{Token: syntax.INT, Raw: "0", Value: int64(0)}
		w.replace(e, &syntax.CondExpr{Cond: w.probe(w.one(place), at), True: never, False: *e})
	}
}

// store makes the file store its probes in globals before anything else, at the position where the file begins.
func (w *inserter) store(tree *syntax.File, begin syntax.Position) starlark.StringDict {
	predeclared := starlark.StringDict{}
	var first []syntax.Stmt
	n := 0
	for some := range slices.Chunk(w.probes, chunkSize) {
		name, names := chunks+strconv.Itoa(len(first)), make([]syntax.Expr, len(some))
		for i := range some {
			names[i] = &syntax.Ident{Name: global + strconv.Itoa(n)}
			n++
		}
		predeclared[name] = chunk{some}
		first = append(first, &syntax.AssignStmt{Op: syntax.EQ, LHS: &syntax.ListExpr{Lbrack: begin, List: names}, RHS: &syntax.Ident{Name: name}},
			&syntax.ExprStmt{X: called(name, syntax.Position{})})
	}
	w.setBlock(&tree.Stmts, slices.Concat(first, tree.Stmts))
	return predeclared
}

func (w *inserter) setBlock(at *[]syntax.Stmt, by []syntax.Stmt) {
	w.blocks = append(w.blocks, changed[[]syntax.Stmt]{at, *at})
	*at = by
}

// expr inserts probes into the parts of an expression.
func (w *inserter) expr(e syntax.Expr) {
	switch x := e.(type) {
	case *syntax.ParenExpr:
		w.expr(x.X)
	case *syntax.ListExpr:
		w.each(x.List)
	case *syntax.TupleExpr:
		w.each(x.List)
	case *syntax.DictExpr:
		w.each(x.List)
	case *syntax.DictEntry:
		w.expr(x.Key)
		w.expr(x.Value)
	case *syntax.IndexExpr:
		w.expr(x.X)
		w.expr(x.Y)
	case *syntax.SliceExpr:
		w.expr(x.X)
		w.each([]syntax.Expr{x.Lo, x.Hi, x.Step})
	case *syntax.UnaryExpr:
		w.expr(x.X)
	case *syntax.BinaryExpr:
		w.expr(x.X)
		w.expr(x.Y)
	case *syntax.DotExpr:
		w.expr(x.X)
	case *syntax.CallExpr:
		w.expr(x.Fn)
		w.each(x.Args)
	case *syntax.CondExpr:
		w.each([]syntax.Expr{x.Cond, x.True, x.False})
		w.wrap(&x.True, w.position(x.True))
		w.wrap(&x.False, w.position(x.False))
	case *syntax.LambdaExpr:
		w.each(x.Params)
		locals := w.locals
		w.locals, w.start = false, x.Lambda
		at := w.position(x.Body)
		w.expr(x.Body)
		w.wrap(&x.Body, at)
		w.locals = locals
	case *syntax.Comprehension:
		w.loops++
		for _, c := range x.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				w.expr(c.X)
			case *syntax.IfClause:
				w.expr(c.Cond)
			}
		}
		w.expr(x.Body)
		w.wrap(element(x), w.position(*element(x)))
		w.loops--
	}
}

func (w *inserter) each(list []syntax.Expr) {
	for _, e := range list {
		w.expr(e)
	}
}
