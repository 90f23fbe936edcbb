// Package prompt transforms a statement of a prompt into the form in which it is compiled.
package prompt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// Form is how a statement is compiled: unchanged, except that the value of an expression gets a name, or inside a
// function that a run calls.
type Form struct {
	Bound map[string]bool        // the names that this statement and later ones bind
	Known func(name string) bool // reports whether a name is bound
	Runs  bool                   // compile it inside a function

	Runnable bool // the statement can be put into a function
	MayLeave bool // it may leave names unbound
}

// Names that scripts cannot write.
const (
	Value = "value of an entry"
	Run   = "run of an entry"
	body  = "the entry"
	node  = "node of an entry "

	earlier = "earlier "
)

// IsOwn reports whether scripts cannot write a name.
func IsOwn(name string) bool { return strings.Contains(name, " ") }

// Earlier returns the name of the value that a name had before the statement.
func Earlier(name string) string { return earlier + name }

// Means reports whether a name that the statement does not bind is bound, or will be.
func (f *Form) Means(name string) bool { return f.Bound[strings.TrimPrefix(name, earlier)] }

// Shape returns the tree to compile, and a function that undoes the changes to the given tree.
func (f *Form) Shape(tree *syntax.File) (_ *syntax.File, restore func()) {
	restore = func() {}
	out := *tree
	out.Stmts = slices.Clone(tree.Stmts)
	options := *tree.Options
	options.GlobalReassign = true
	out.Options = &options
	last := len(out.Stmts) - 1
	if last < 0 {
		return &out, restore
	}
	f.Runnable = true
	for _, stmt := range out.Stmts {
		switch stmt.(type) {
		case *syntax.DefStmt, *syntax.LoadStmt:
			f.Runnable = false
		case *syntax.IfStmt, *syntax.ForStmt, *syntax.WhileStmt:
			f.MayLeave = true
		}
	}
	e, isExpr := out.Stmts[last].(*syntax.ExprStmt)
	at, _ := out.Stmts[0].Span()
	id := func(name string) *syntax.Ident { return &syntax.Ident{NamePos: at, Name: name} }
	assign := func(name string, e syntax.Expr) syntax.Stmt {
		return &syntax.AssignStmt{OpPos: at, Op: syntax.EQ, LHS: id(name), RHS: e}
	}
	names := Bound(out.Stmts)
	if !f.Runs {
		if isExpr {
			out.Stmts[last] = assign(Value, e.X)
		}
		if f.Runnable {
			for _, name := range names { // the statement may read what it changes
				if f.Known(name) {
					out.Stmts = slices.Insert(out.Stmts, 0, assign(name, id(Earlier(name))))
				}
			}
		}
		return &out, restore
	}
	def := &syntax.DefStmt{Def: at, Name: id(body), Body: out.Stmts}
	out.Stmts = nil
	for i, call := range calledInPlace(def.Body) { // a node is composed before the run
		name := fmt.Sprint(node, i)
		out.Stmts = append(out.Stmts, assign(name, call.Fn))
		before, made := restore, call.Fn
		restore = func() { before(); call.Fn = made }
		call.Fn = id(name)
	}
	for _, name := range names {
		before := "None"
		if f.Known(name) {
			before = name
		}
		def.Params = append(def.Params, &syntax.BinaryExpr{X: id(name), OpPos: at, Op: syntax.EQ, Y: id(before)})
	}
	if isExpr {
		def.Body[last] = &syntax.ReturnStmt{Return: at, Result: e.X}
	} else {
		result := &syntax.DictExpr{Lbrace: at, Rbrace: at}
		for _, name := range names {
			result.List = append(result.List, &syntax.DictEntry{Key: &syntax.Literal{Token: syntax.STRING, TokenPos: at, Raw: strconv.Quote(name), Value: name}, Colon: at, Value: id(name)})
		}
		def.Body = append(def.Body, &syntax.ReturnStmt{Return: at, Result: result})
	}
	run := &syntax.DefStmt{Def: at, Name: id(Run), Body: []syntax.Stmt{
		&syntax.ReturnStmt{Return: at, Result: &syntax.CallExpr{Fn: id(body), Lparen: at, Rparen: at}}}}
	out.Stmts = append(out.Stmts, def, run)
	return &out, restore
}

// calledInPlace returns the calls of the results of operators, outside of functions: (a >> b)(x).
func calledInPlace(stmts []syntax.Stmt) (calls []*syntax.CallExpr) {
	for _, stmt := range stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt, *syntax.LambdaExpr, *syntax.Comprehension:
				return false
			case *syntax.CallExpr:
				if _, made := startree.Unparen(n.Fn).(*syntax.BinaryExpr); made {
					calls = append(calls, n)
					return false
				}
			}
			return true
		})
	}
	return calls
}

// Bound lists the names that statements bind, each once.
func Bound(stmts []syntax.Stmt) (names []string) {
	add := func(e syntax.Expr) {
		if id, ok := e.(*syntax.Ident); ok && !slices.Contains(names, id.Name) {
			names = append(names, id.Name)
		}
	}
	var within func(stmts []syntax.Stmt)
	within = func(stmts []syntax.Stmt) {
		for _, stmt := range stmts {
			switch stmt := stmt.(type) {
			case *syntax.AssignStmt:
				startree.Targets(stmt.LHS, add)
			case *syntax.DefStmt:
				add(stmt.Name)
				continue // it has its own scope
			case *syntax.ForStmt:
				startree.Targets(stmt.Vars, add)
			case *syntax.LoadStmt:
				for _, id := range stmt.To {
					add(id)
				}
			}
			startree.Blocks(stmt, within)
		}
	}
	within(stmts)
	return names
}
