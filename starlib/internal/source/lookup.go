package source

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// A Call is a call expression. The spans of parts that have several lines cover only the first line.
type Call struct {
	Fn   diag.Span // the expression before the parenthesis
	Args []Arg     // in source order
}

// An Arg is an argument of a call.
type Arg struct {
	Name     string       // name of a keyword argument, or ""
	NameSpan diag.Span    // span of Name; zero without one
	Span     diag.Span    // the value, with its stars if it has any
	Spread   syntax.Token // syntax.STAR or syntax.STARSTAR for *args and **kwargs, otherwise 0
}

// An Op is a binary operator with its operands. Parentheses around an operand
// belong to its span.
type Op struct {
	Span        diag.Span // the operator alone
	Left, Right diag.Span
	// The operator of a left operand that is itself a binary expression, with or without parentheses; 0 for any other
	// operand.
	LeftOp    syntax.Token
	LeftParen bool
}

// NameAt returns the variable that is assigned the value of the call whose opening parenthesis is at pos, or of the
// binary operator at pos. The call or operator must be the whole right side of `name = …`, except for parentheses;
// otherwise the result is "". An augmented assignment `name >>= …` names its operator.
func (f *File) NameAt(pos syntax.Position) string {
	return f.names[at(pos)]
}

// FuncAt returns the name of the innermost def around pos, or "". The default of a parameter is outside of its def.
func (f *File) FuncAt(pos syntax.Position) string {
	if i := innermost(f.bodies, at(pos)); i >= 0 {
		return f.bodies[i].name
	}
	return ""
}

// LoopsOver reports whether a for statement or a comprehension iterates over the value of the call whose opening
// parenthesis is at lparen, and nothing else holds that value.
func (f *File) LoopsOver(lparen syntax.Position) bool { return f.loops[at(lparen)] }

// CallAt returns the call whose opening parenthesis is at lparen.
func (f *File) CallAt(lparen syntax.Position) (Call, bool) {
	call, ok := f.callAt(at(lparen))
	if !ok {
		return Call{}, false
	}
	c := Call{Fn: f.span(call.Fn)}
	for _, arg := range call.Args {
		part := startree.ArgOf(arg)
		a := Arg{Span: f.span(arg), Spread: part.Spread}
		if part.Name != nil {
			a.Name, a.NameSpan, a.Span = part.Name.Name, f.span(part.Name), f.span(part.Value)
		}
		c.Args = append(c.Args, a)
	}
	return c, true
}

// OperatorAt returns the binary operator at pos.
func (f *File) OperatorAt(pos syntax.Position) (Op, bool) {
	o, ok := f.operatorAt(at(pos))
	if !ok {
		return Op{}, false
	}
	written := o.op.String()
	switch {
	case o.augmented:
		written += "="
	case o.op == syntax.NOT_IN:
		written = "in" // the position is that of the second word
	}
	op := Op{Span: f.token(pos, written), Left: f.span(o.left), Right: f.span(o.right)}
	_, op.LeftParen = o.left.(*syntax.ParenExpr)
	if x, ok := startree.Unparen(o.left).(*syntax.BinaryExpr); ok {
		op.LeftOp = x.Op
	}
	return op, true
}

// longestShown bounds the part of an expression that a remedy repeats, in bytes.
const longestShown = 40

// ExprAt returns a part of the expression whose operator, bracket, parenthesis or dot is at pos, as Shown does: "left",
// "right" and "op" of an operator, "of" (what is called, indexed, or has the attribute; for a method call, what has the
// method), "arg" (a call's first argument), "rest" (all of them, after a comma) and "key" (the index). It returns "" if
// the part does not exist.
func (f *File) ExprAt(pos syntax.Position, part string) string {
	p := at(pos)
	o, operates := f.operatorAt(p)
	switch part {
	case "left":
		return f.Shown(o.left)
	case "right":
		return f.Shown(o.right)
	case "op":
		if operates {
			return o.op.String()
		}
		return ""
	case "arg":
		return f.Shown(firstArg(f.callOf(p)))
	case "rest":
		return f.shownArgs(f.callOf(p))
	}
	e := f.owner(p, part)
	switch e.(type) {
	case *syntax.BinaryExpr, *syntax.UnaryExpr, *syntax.CondExpr, *syntax.LambdaExpr:
		if shown := f.Shown(e); shown != "" {
			return "(" + shown + ")"
		}
	}
	return f.Shown(e)
}

// shownArgs returns all arguments of a call, with a comma before each. It returns "" if one is too long.
func (f *File) shownArgs(call *syntax.CallExpr) (all string) {
	if call == nil {
		return ""
	}
	for _, a := range call.Args {
		shown := f.Shown(a)
		if shown == "" {
			return ""
		}
		all += ", " + shown
	}
	return all
}

// callOf finds the call whose parenthesis, or whose method's dot, is at p. It returns nil if there is none.
func (f *File) callOf(p spot) (call *syntax.CallExpr) {
	if call, ok := f.callAt(p); ok {
		return call
	}
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			if dot, ok := c.Fn.(*syntax.DotExpr); ok && at(dot.Dot) == p {
				call = c
			}
		}
		return call == nil
	})
	return call
}

// firstArg returns the value of the first argument of a call, or nil.
func firstArg(call *syntax.CallExpr) syntax.Expr {
	if call == nil || len(call.Args) == 0 {
		return nil
	}
	a := startree.ArgOf(call.Args[0])
	switch {
	case a.Spread != 0:
		return nil
	case a.Name != nil:
		return a.Value
	}
	return call.Args[0]
}

// Shown returns an expression as written in the source, or "" if it is nil or long.
func (f *File) Shown(e syntax.Expr) string {
	if e == nil {
		return ""
	}
	from, to := startIn(e, f.starts), end(e)
	if from.Line != to.Line || to.Col-from.Col > longestShown {
		return ""
	}
	shown := f.cut(from, to)
	if len(shown) > longestShown {
		return ""
	}
	return shown
}

// owner finds the parts "of" and "key" of ExprAt.
func (f *File) owner(p spot, part string) (e syntax.Expr) {
	if call, ok := f.callAt(p); ok {
		if dot, ok := call.Fn.(*syntax.DotExpr); ok {
			return dot.X
		}
		return call.Fn
	}
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DotExpr:
			if at(n.Dot) == p || at(n.NamePos) == p {
				e = n.X
			}
		case *syntax.IndexExpr:
			if at(n.Lbrack) == p && part == "key" {
				e = n.Y
			} else if at(n.Lbrack) == p {
				e = n.X
			}
		}
		return e == nil
	})
	return e
}

// Keys lists the strings that are keys in the dict literals of the file.
func (f *File) Keys() []string {
	var keys []string
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.DictEntry); ok {
			if lit, ok := e.Key.(*syntax.Literal); ok {
				if s, ok := lit.Value.(string); ok {
					keys = append(keys, s)
				}
			}
		}
		return true
	})
	return keys
}

// Parts holds the spans of the parts of an argument that is a list, tuple or dict literal.
type Parts struct {
	Keys  []diag.Span // keys of a dict
	Items []diag.Span // items of a list or tuple; values of a dict
}

// PartsAt returns the parts of an argument of the call whose opening parenthesis is at lparen: of the argument with the
// given name or, if that is "", of the n-th positional one, counted from 1. The result is empty if the argument is not
// a literal.
func (f *File) PartsAt(lparen syntax.Position, n int, name string) (p Parts) {
	e := startree.Unparen(f.argument(lparen, n, name))
	for _, item := range startree.Elements(e) {
		p.Items = append(p.Items, f.span(item))
	}
	if d, ok := e.(*syntax.DictExpr); ok {
		for _, item := range d.List {
			if entry, ok := item.(*syntax.DictEntry); ok {
				p.Keys, p.Items = append(p.Keys, f.span(entry.Key)), append(p.Items, f.span(entry.Value))
			}
		}
	}
	return p
}

// argument finds an argument of a call, or nil if it is not written there.
func (f *File) argument(lparen syntax.Position, n int, name string) syntax.Expr {
	call, ok := f.callAt(at(lparen))
	if !ok {
		return nil
	}
	for _, arg := range call.Args {
		switch a := startree.ArgOf(arg); {
		case a.Name != nil && a.Name.Name == name:
			return a.Value
		case a.Name != nil:
		case a.Spread != 0 && name == "":
			return nil
		default:
			if n--; n == 0 && name == "" {
				return arg
			}
		}
	}
	return nil
}

// Predeclared finds where a resolved tree reads one of the given predeclared names, in the order
// of the source: each place at the top level, and the first one in each function and
// comprehension there.
func (f *File) Predeclared(names map[string]bool) []*syntax.Ident {
	var found []*syntax.Ident
	var walk func(root syntax.Node, told map[string]bool) // names found within a function or comprehension, otherwise nil
	walk = func(root syntax.Node, told map[string]bool) {
		syntax.Walk(root, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt, *syntax.LambdaExpr, *syntax.Comprehension:
				if told == nil {
					walk(n, map[string]bool{})
					return false
				}
			case *syntax.Ident:
				b, _ := n.Binding.(*resolve.Binding)
				if b != nil && b.Scope == resolve.Predeclared && names[n.Name] && !told[n.Name] {
					found = append(found, n)
					if told != nil {
						told[n.Name] = true
					}
				}
			}
			return true
		})
	}
	walk(f.tree, nil)
	return found
}
