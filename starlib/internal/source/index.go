package source

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// A nodeAt is a call, an operator or an augmented assignment, with its position.
type nodeAt struct {
	at   spot
	node syntax.Node
}

// find returns the node at a position of sorted nodes, or nil.
func find(nodes []nodeAt, p spot) syntax.Node {
	i, found := slices.BinarySearchFunc(nodes, p, func(n nodeAt, s spot) int { return n.at.compare(s) })
	if !found {
		return nil
	}
	return nodes[i].node
}

func (f *File) callAt(p spot) (*syntax.CallExpr, bool) {
	call, ok := find(f.calls, p).(*syntax.CallExpr)
	return call, ok
}

func (f *File) operatorAt(p spot) (operatorAt, bool) {
	switch n := find(f.ops, p).(type) {
	case *syntax.BinaryExpr:
		return operatorAt{n.X, n.Y, n.Op, false}, true
	case *syntax.AssignStmt:
		return operatorAt{n.LHS, n.RHS, n.Op - syntax.PLUS_EQ + syntax.PLUS, true}, true
	}
	return operatorAt{}, false
}

// An operatorAt is an operator with its operands. x >>= y counts as one, with x as its left operand and as the variable
// that takes its value.
type operatorAt struct {
	left, right syntax.Expr
	op          syntax.Token
	augmented   bool
}

// A body is the part of a def whose enclosing function is that def: defaults of parameters belong to the function
// outside.
type body struct {
	name       string
	start, end spot
	inner      spot // for a whole function, where its body begins
	within     int  // the index of the body around it, -1 for none
}

// index fills the tables. It returns false and the reason if the tree is too deep.
func (f *File) index(stop func() bool) (*diag.Diagnostic, bool) {
	f.names = map[spot]string{}
	f.calls = make([]nodeAt, 0, 16)
	var links [8]syntax.Node
	chain := spine{links: links[:0]}
	seen, over := 0, false
	deep := startree.Walk(f.tree, func(n syntax.Node) {
		if seen++; seen%1024 == 0 && stop != nil && !over {
			over = stop()
		}
		if over {
			return
		}
		chain.meet(n, &f.starts)
		switch n := n.(type) {
		case *syntax.CallExpr:
			f.calls = append(f.calls, nodeAt{at(n.Lparen), n})
		case *syntax.BinaryExpr:
			if n.Op != syntax.EQ { // a keyword argument or a default
				f.ops = append(f.ops, nodeAt{at(n.OpPos), n})
			}
		case *syntax.AssignStmt:
			f.assignment(n)
		case *syntax.ForStmt:
			f.addLoop(n.X)
		case *syntax.ForClause:
			f.addLoop(n.X)
		case *syntax.DefStmt:
			f.bodies = enclosed(f.bodies, body{name: n.Name.Name, start: at(start(n.Body[0])), end: at(end(n))})
		}
	})
	if deep != nil {
		return tooDeep(f.span(deep), startree.Linked), false
	}
	f.calls, f.ops = sorted(f.calls), sorted(f.ops)
	return nil, true
}

// sorted sorts nodes by their positions, and drops spare capacity.
func sorted(nodes []nodeAt) []nodeAt {
	slices.SortFunc(nodes, func(a, b nodeAt) int { return a.at.compare(b.at) })
	return slices.Clone(nodes)
}

// tooDeep returns the diagnostic for a source that is nested too deeply to be read.
func tooDeep(at diag.Span, why startree.Excess) *diag.Diagnostic {
	d := &diag.Diagnostic{
		Code:    diag.SyntaxError,
		Message: "this is nested too deeply",
		Label:   "too many brackets, blocks or prefixes are open here",
		Span:    at,
		Help:    []string{"assign parts of it to names"},
	}
	switch why {
	case startree.Linked:
		d.Label = fmt.Sprintf("more than %d operators, calls or elifs are chained", startree.Deepest)
	case startree.Branched:
		d.Message, d.Label = "this file has too many branches", fmt.Sprintf("more than %d and, or, if, elif, for and while", startree.MostBranches)
		d.Help = []string{"move parts of it into other files: load(\"part.star\", \"name\")"}
	case startree.Digits:
		d.Message, d.Label = fmt.Sprintf("this number has more than %d digits", startree.MostDigits), ""
		d.Help = []string{"compute it from smaller ones, or write it as text"}
	}
	return d
}

// assignment is seen before the walk reaches the parts of the statement.
func (f *File) assignment(n *syntax.AssignStmt) {
	name := ""
	if id, ok := startree.Unparen(n.LHS).(*syntax.Ident); ok {
		name = id.Name
	}
	if n.Op != syntax.EQ {
		f.ops = append(f.ops, nodeAt{at(n.OpPos), n})
		f.names[at(n.OpPos)] = name
		return
	}
	switch rhs := startree.Unparen(n.RHS).(type) {
	case *syntax.CallExpr:
		f.names[at(rhs.Lparen)] = name
	case *syntax.BinaryExpr:
		f.names[at(rhs.OpPos)] = name
	}
}

func (f *File) addLoop(over syntax.Expr) {
	if call, ok := startree.Unparen(over).(*syntax.CallExpr); ok {
		if f.loops == nil {
			f.loops = map[spot]bool{}
		}
		f.loops[at(call.Lparen)] = true
	}
}
