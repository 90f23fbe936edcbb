package analysis

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/infer"
	"github.com/agentscript/agentscript/starlib/internal/possible"
)

// Query is what an analysis asks of the load of the entry script. Its methods accept a nil Query, which asks for
// nothing.
type Query struct {
	Names []string // names that blanked statements bind: stand-ins replace them
	Guess bool     // stand-ins replace all unbound names: the findings do not matter

	find   func(*syntax.File) []syntax.Node // finds the path to the node in question
	wrap   bool                             // the statement there is not executed
	tree   *syntax.File
	path   []syntax.Node                   // from the file to the node in question; nil if there is none
	wanted []syntax.Expr                   // the expressions of the statement there
	values map[syntax.Expr]*possible.Value // their values, as far as they are known
}

// ForPlace returns a query for what may appear at a place.
func ForPlace(p *Place) *Query {
	return &Query{Names: p.Lost, Guess: true, find: marked, wrap: true}
}

// ForSymbol returns a query for what is at a line and column of a file, both counted from 1, columns in runes.
func ForSymbol(lost []string, line, col int32) *Query {
	return &Query{Names: lost, Guess: true, find: func(tree *syntax.File) []syntax.Node { return covering(tree, line, col) }}
}

// Lost reports whether a blanked statement binds a name.
func (q *Query) Lost(name string) bool { return q != nil && slices.Contains(q.Names, name) }

// Guesses reports whether stand-ins replace all unbound names.
func (q *Query) Guesses() bool { return q != nil && q.Guess }

// Read receives the tree of the script before it is checked. If the statement in question is at the top level, Read
// moves it into the body of a function that nothing calls.
func (q *Query) Read(tree *syntax.File) {
	q.tree = tree
	if q.find == nil {
		return
	}
	q.path, q.values = q.find(tree), map[syntax.Expr]*possible.Value{}
	if len(q.path) < 2 {
		return
	}
	stmt, ok := q.path[1].(syntax.Stmt)
	if !ok {
		return
	}
	syntax.Walk(stmt, func(n syntax.Node) bool {
		if e, ok := n.(syntax.Expr); ok {
			q.wanted = append(q.wanted, e)
		}
		return true
	})
	q.nameArgument()
	_, loads := stmt.(*syntax.LoadStmt)
	if i := slices.Index(tree.Stmts, stmt); q.wrap && i >= 0 && !loads && !slices.ContainsFunc(q.path, isFunction) {
		at, _ := stmt.Span()
		tree.Stmts[i] = &syntax.DefStmt{Def: at, Name: &syntax.Ident{NamePos: at, Name: wrapper}, Body: []syntax.Stmt{stmt}}
	}
}

// nameArgument turns the node in question into a named argument if a positional one is not allowed there because named
// ones precede it.
func (q *Query) nameArgument() {
	at, ok := q.path[len(q.path)-1].(*syntax.Ident)
	call, called := q.path[len(q.path)-2].(*syntax.CallExpr)
	if !ok || !called || !q.wrap {
		return
	}
	named := false
	for i, arg := range call.Args {
		if named && arg == syntax.Expr(at) {
			call.Args[i] = &syntax.BinaryExpr{X: &syntax.Ident{NamePos: at.NamePos, Name: placeholder}, OpPos: at.NamePos, Op: syntax.EQ, Y: at}
		}
		named = named || !startree.ArgOf(arg).Positional()
	}
}

// wrapper is the name of the function that holds a statement that must not be executed.
const wrapper = "_around_the_cursor_"

func isFunction(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.DefStmt, *syntax.LambdaExpr:
		return true
	}
	return false
}

// Seen receives the results of the analysis of a function.
func (q *Query) Seen(in *infer.Inference) {
	for _, e := range q.wanted {
		if v := in.Possible(e); v != nil {
			q.values[startree.Unparen(e)] = v
		}
	}
}

// marked finds the path to the placeholder.
func marked(tree *syntax.File) []syntax.Node {
	return way(tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Ident:
			return n.Name == placeholder
		case *syntax.Literal:
			s, ok := n.Value.(string)
			return ok && strings.Contains(s, placeholder)
		}
		return false
	})
}

// covering finds the path to the name or literal at a line and column.
func covering(tree *syntax.File, line, col int32) []syntax.Node {
	return way(tree, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.Ident, *syntax.Literal:
			from, to := n.Span()
			return !(line < from.Line || line == from.Line && col < from.Col || line > to.Line || line == to.Line && col > to.Col)
		}
		return false
	})
}

// way returns the path from the file to the first node of a kind, or nil.
func way(tree *syntax.File, is func(syntax.Node) bool) (path []syntax.Node) {
	var open []syntax.Node
	syntax.Walk(tree, func(n syntax.Node) bool {
		if n == nil {
			open = open[:len(open)-1]
			return true
		}
		open = append(open, n)
		if path == nil && is(n) {
			path = slices.Clone(open)
		}
		return path == nil
	})
	return path
}
