package source

import (
	"fmt"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// A callSite is a call and the variable that takes its value.
type callSite struct {
	call *syntax.CallExpr
	name string
}

// An operatorAt is an operator with its operands and the variable that takes its
// value. x >>= y counts as one, with x as its left operand and its name.
type operatorAt struct {
	left, right syntax.Expr
	op          syntax.Token
	augmented   bool
	name        string
}

// A body is the part of a def in which its name is the enclosing function:
// defaults of parameters belong to the outside.
type body struct {
	name       string
	start, end spot
	within     int // the index of the body around it, -1 for none
}

// index fills the tables; false and the reason when the tree is too deep.
func (f *File) index() (*diag.Diagnostic, bool) {
	f.calls = map[spot]callSite{}
	f.ops = map[spot]operatorAt{}
	f.loops = map[spot]bool{}
	deep := startree.Walk(f.tree, func(n syntax.Node) {
		switch n := n.(type) {
		case *syntax.CallExpr:
			f.addCall(n, "")
		case *syntax.BinaryExpr:
			if n.Op != syntax.EQ { // a keyword argument or a default
				f.addOperator(n, "")
			}
		case *syntax.AssignStmt:
			f.assignment(n)
		case *syntax.ForStmt:
			f.addLoop(n.X)
		case *syntax.ForClause:
			f.addLoop(n.X)
		case *syntax.DefStmt:
			f.addBody(body{name: n.Name.Name, start: at(start(n.Body[0])), end: at(end(n))})
		}
	})
	if deep != nil {
		return &diag.Diagnostic{
			Code:    diag.SyntaxError,
			Message: "this is nested too deeply",
			Label:   fmt.Sprintf("more than %d operators, calls or elifs hang on each other", startree.Deepest),
			Span:    f.span(deep),
			Help:    []string{"give parts of it names of their own"},
		}, false
	}
	return nil, true
}

// addBody is told of an enclosing body first.
func (f *File) addBody(b body) {
	b.within = len(f.bodies) - 1
	for b.within >= 0 && !b.start.before(f.bodies[b.within].end) {
		b.within = f.bodies[b.within].within
	}
	f.bodies = append(f.bodies, b)
}

// assignment is seen before the walk reaches the parts of the statement.
func (f *File) assignment(n *syntax.AssignStmt) {
	name := ""
	if id, ok := startree.Unparen(n.LHS).(*syntax.Ident); ok {
		name = id.Name
	}
	if n.Op != syntax.EQ {
		f.ops[at(n.OpPos)] = operatorAt{n.LHS, n.RHS, n.Op - syntax.PLUS_EQ + syntax.PLUS, true, name}
		return
	}
	switch rhs := startree.Unparen(n.RHS).(type) {
	case *syntax.CallExpr:
		f.addCall(rhs, name)
	case *syntax.BinaryExpr:
		f.addOperator(rhs, name)
	}
}

func (f *File) addLoop(over syntax.Expr) {
	if call, ok := startree.Unparen(over).(*syntax.CallExpr); ok {
		f.loops[at(call.Lparen)] = true
	}
}

func (f *File) addCall(n *syntax.CallExpr, name string) {
	if _, ok := f.calls[at(n.Lparen)]; !ok {
		f.calls[at(n.Lparen)] = callSite{n, name}
	}
}

func (f *File) addOperator(n *syntax.BinaryExpr, name string) {
	if _, ok := f.ops[at(n.OpPos)]; !ok {
		f.ops[at(n.OpPos)] = operatorAt{n.X, n.Y, n.Op, false, name}
	}
}
