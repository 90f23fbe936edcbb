package source

import (
	"sort"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// A routes table holds the positions of the functions and loops of a file, and what its variables are assigned.
type routes struct {
	functions, loops []body                          // enclosing ones first
	assigned         map[*syntax.Ident][]syntax.Expr // by the identifier that binds a variable, as written
}

// CrossedFunction reports whether the left operand of the operator at pos came out of a function: a call returned it,
// or it was passed to the function that contains the operator. The operand is the result of the operator at made, in
// the file from. The file must have been resolved.
//
// The interpreter does not report when functions are entered and left, so the answer is based on the text: the operand
// is a call, the name of a variable whose last value was a call, or a parameter, or it was made neither in the function
// that contains the operator nor in the one that its variable belongs to.
func (f *File) CrossedFunction(pos syntax.Position, from *File, made diag.Pos) bool {
	o, ok := f.operatorAt(at(pos))
	if !ok || from == nil {
		return false
	}
	root, here := rootOf(o.left), f.functionAround(at(pos))
	home := here
	switch x := root.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.Ident:
		home = -1
		b, ok := x.Binding.(*resolve.Binding)
		if !ok || b.First == nil { // an earlier entry of a prompt bound it
			break
		}
		home = f.functionAround(at(b.First.NamePos))
		last := f.lastAssigned(b.First, at(pos))
		if _, called := last.(*syntax.CallExpr); called || last == nil && f.isParameter(b.First, home) {
			return true
		}
	}
	madeIn := from.functionAround(spot{int32(made.Line), int32(made.Col)})
	if from != f {
		return home >= 0 || madeIn >= 0
	}
	return madeIn != home && madeIn != here
}

// rootOf returns what an operand is taken from: for flows[0] and flows.first it is flows.
func rootOf(e syntax.Expr) syntax.Expr {
	for {
		switch x := startree.Unparen(e).(type) {
		case *syntax.IndexExpr:
			e = x.X
		case *syntax.SliceExpr:
			e = x.X
		case *syntax.DotExpr:
			e = x.X
		default:
			return x
		}
	}
}

// lastAssigned returns the expression that a variable was assigned last before a position, or after it in a loop. It
// returns nil if there is none, as for a parameter or a loop variable.
func (f *File) lastAssigned(first *syntax.Ident, pos spot) syntax.Expr {
	r := f.routes()
	values := r.assigned[first]
	if before := sort.Search(len(values), func(i int) bool { return pos.before(at(end(values[i]))) }); before > 0 {
		return values[before-1]
	}
	if loop := innermost(r.loops, pos); loop >= 0 && len(values) > 0 {
		for r.loops[loop].within >= 0 {
			loop = r.loops[loop].within
		}
		if at(start(values[0])).before(r.loops[loop].end) {
			return values[0]
		}
	}
	return nil
}

// isParameter reports whether the identifier that binds a variable is a parameter of its function.
func (f *File) isParameter(first *syntax.Ident, function int) bool {
	return function >= 0 && at(first.NamePos).before(f.routes().functions[function].inner)
}

// functionAround returns the index of the innermost def or lambda around a position, or -1.
func (f *File) functionAround(p spot) int { return innermost(f.routes().functions, p) }

// innermost returns the index of the innermost of the bodies around a position, or -1.
func innermost(bodies []body, p spot) int {
	i := sort.Search(len(bodies), func(i int) bool { return p.before(bodies[i].start) }) - 1
	for i >= 0 && !p.before(bodies[i].end) {
		i = bodies[i].within
	}
	return i
}

// routes walks the file on first use. Files are only asked while they load, by one goroutine.
func (f *File) routes() *routes {
	if f.crossed != nil {
		return f.crossed
	}
	r := &routes{assigned: map[*syntax.Ident][]syntax.Expr{}}
	f.crossed = r
	startree.Walk(f.tree, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.DefStmt:
			r.functions = enclosed(r.functions, bodyOf(n, at(start(n.Body[0]))))
		case *syntax.LambdaExpr:
			r.functions = enclosed(r.functions, bodyOf(n, at(start(n.Body))))
		case *syntax.ForStmt, *syntax.WhileStmt:
			r.loops = enclosed(r.loops, bodyOf(n, spot{}))
		case *syntax.AssignStmt:
			id, ok := startree.Unparen(n.LHS).(*syntax.Ident)
			if !ok {
				return
			}
			if b, ok := id.Binding.(*resolve.Binding); ok && b.First != nil {
				r.assigned[b.First] = append(r.assigned[b.First], startree.Unparen(n.RHS))
			}
		}
	})
	return r
}

// bodyOf returns the extent of a function or loop, and where its body begins.
func bodyOf(n syntax.Node, inner spot) body {
	return body{start: at(start(n)), end: at(end(n)), inner: inner}
}

// enclosed adds a body to those before it; enclosing ones come first.
func enclosed(bodies []body, b body) []body {
	b.within = len(bodies) - 1
	for b.within >= 0 && !b.start.before(bodies[b.within].end) {
		b.within = bodies[b.within].within
	}
	return append(bodies, b)
}
