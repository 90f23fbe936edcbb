package bounds

import (
	"math/big"
	"math/bits"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// A kind is what is known of an expression's value: the bits of a number, 0 for a variable without a value
// yet.
type kind int

const (
	unknown kind = 1 << 20     // any value
	large   kind = unknown - 1 // a number of any size
	widest  kind = 512         // most bits of a small number
	native  kind = 64          // of floats, and of results of len and range
	counted kind = 48          // bits of the number of additions that a run can make

	rounds = 8 // passes after which the kinds of variables must be stable
)

func (k kind) number() bool { return k < unknown }
func (k kind) small() bool  { return k <= widest }

// bitsOf returns the kind of a number with so many bits.
func bitsOf(n kind) kind {
	if n > widest {
		return large
	}
	return max(n, 1)
}

// kinds tracks what the variables of a tree may hold.
type kinds struct {
	trusted func(name string) bool
	stack   []*vars
	few     [4]*vars
	file    vars
}

// vars holds the variables of a file, a function or a comprehension.
type vars struct {
	kinds    map[string]kind
	assigned []assigned
	inner    bool // a comprehension
}

// assigned is a value assigned to a variable, by an expression, an operator or a loop.
type assigned struct {
	name string
	op   syntax.Token // of an augmented assignment, else 0
	e    syntax.Expr  // nil if unknown
	turn bool         // the variable iterates over e
}

// begin starts with the variables of a file.
func (k *kinds) begin(tree *syntax.File, trusted func(string) bool) {
	k.trusted, k.stack = trusted, k.few[:0]
	v := &k.file
	v.kinds, v.assigned = map[string]kind{}, make([]assigned, 0, len(tree.Stmts))
	v.collect(tree.Stmts)
	k.stack = append(k.stack, v)
	k.settle(v)
}

// enter starts a function or a comprehension.
func (k *kinds) enter(n syntax.Node) {
	v := k.next()
	var params []syntax.Expr
	switch n := n.(type) {
	case *syntax.DefStmt:
		v.collect(n.Body)
		params = n.Params
	case *syntax.LambdaExpr:
		params = n.Params
	case *syntax.Comprehension:
		v.inner = true
		for _, c := range n.Clauses {
			if c, ok := c.(*syntax.ForClause); ok {
				v.loop(c.Vars, c.X)
			}
		}
	}
	for _, p := range params {
		if id := startree.ParamName(p); id != nil {
			v.kinds[id.Name] = unknown
		}
	}
	k.stack = append(k.stack, v)
	k.settle(v)
}

// next returns empty variables, reusing those of a finished function if possible.
func (k *kinds) next() *vars {
	if n := len(k.stack); n < cap(k.stack) {
		if v := k.stack[:n+1][n]; v != nil {
			clear(v.kinds)
			v.assigned, v.inner = v.assigned[:0], false
			return v
		}
	}
	return &vars{kinds: map[string]kind{}}
}

// own reports whether a name is a variable of the current function, also inside a comprehension.
func (k *kinds) own(name string) bool {
	for i := len(k.stack) - 1; i > 0; i-- {
		v := k.stack[i]
		if _, bound := v.kinds[name]; bound {
			return !v.inner
		}
		if !v.inner {
			return false
		}
	}
	return false
}

func (k *kinds) leave() { k.stack = k.stack[:len(k.stack)-1] }

// collect records what statements assign, without nested functions.
func (v *vars) collect(list []syntax.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			if s.Op == syntax.EQ {
				v.assign(s.LHS, s.RHS)
			} else if id, ok := startree.Unparen(s.LHS).(*syntax.Ident); ok {
				v.add(assigned{name: id.Name, op: s.Op - syntax.PLUS_EQ + syntax.PLUS, e: s.RHS})
			}
		case *syntax.DefStmt:
			v.add(assigned{name: s.Name.Name})
		case *syntax.ForStmt:
			v.loop(s.Vars, s.X)
		case *syntax.LoadStmt:
			for _, id := range s.To {
				v.add(assigned{name: id.Name})
			}
		}
		startree.Blocks(s, v.collect)
	}
}

func (v *vars) add(a assigned) {
	v.kinds[a.name] = 0
	v.assigned = append(v.assigned, a)
}

// assign records targets = e.
func (v *vars) assign(target, e syntax.Expr) {
	if id, ok := startree.Unparen(target).(*syntax.Ident); ok {
		v.add(assigned{name: id.Name, e: e})
		return
	}
	targets, values := startree.Elements(target), startree.Elements(e)
	for i, t := range targets {
		var value syntax.Expr
		if e != nil && len(values) == len(targets) {
			value = values[i]
		}
		v.assign(t, value)
	}
}

// loop records for vars in e.
func (v *vars) loop(target, e syntax.Expr) {
	if id, ok := startree.Unparen(target).(*syntax.Ident); ok {
		v.add(assigned{name: id.Name, e: e, turn: true})
		return
	}
	v.assign(target, nil)
}

// settle finds the kinds of variables, which may depend on each other. A kind that still grows after the last
// pass may be of any size.
func (k *kinds) settle(v *vars) {
	for round := 0; ; round++ {
		changed := false
		for _, a := range v.assigned {
			old := v.kinds[a.name]
			if old == unknown {
				continue
			}
			now := max(old, k.assigned(a, old))
			if now == old {
				continue
			}
			if round >= rounds && now != unknown {
				now = large
			}
			v.kinds[a.name], changed = now, true
		}
		if !changed {
			return
		}
	}
}

func (k *kinds) assigned(a assigned, old kind) kind {
	switch {
	case a.e == nil:
		return unknown
	case a.turn:
		return k.turn(a.e)
	case a.op != 0:
		return k.again(a.op, old, a.e)
	}
	if x, ok := plain(a.e).(*syntax.BinaryExpr); ok {
		if id, ok := plain(x.X).(*syntax.Ident); ok && id.Name == a.name {
			return k.again(x.Op, old, x.Y)
		}
	}
	return k.of(a.e)
}

// again returns the kind of a variable after any number of `x op= e`. A sum of small numbers stays small.
func (k *kinds) again(op syntax.Token, old kind, e syntax.Expr) kind {
	b := k.of(e)
	if (op == syntax.PLUS || op == syntax.MINUS) && old != 0 && old.number() && b != 0 && b.small() {
		return max(old, bitsOf(b+counted))
	}
	return operated(op, old, b)
}

// turn returns the kind of the items of e.
func (k *kinds) turn(e syntax.Expr) kind {
	if call, ok := startree.Unparen(e).(*syntax.CallExpr); ok && k.calls(call, "range") {
		return native
	}
	return unknown
}

// calls reports whether a call is a call of the interpreter's builtin of that name.
func (k *kinds) calls(call *syntax.CallExpr, name string) bool {
	id, ok := call.Fn.(*syntax.Ident)
	return ok && id.Name == name && k.trusts(name)
}

func (k *kinds) trusts(name string) bool {
	for _, v := range k.stack {
		if _, bound := v.kinds[name]; bound {
			return false
		}
	}
	return k.trusted(name)
}

// of returns the kind of an expression, with or without guards in it.
func (k *kinds) of(e syntax.Expr) kind {
	// A chain of operators may be as long as the file, so left operands are handled in a loop.
	var chain [deepest]*syntax.BinaryExpr
	n := 0
	for {
		x, ok := plain(e).(*syntax.BinaryExpr)
		if !ok {
			break
		}
		if n == deepest {
			return unknown
		}
		chain[n], e = x, x.X
		n++
	}
	result := k.operand(plain(e))
	for n--; n >= 0; n-- {
		result = operated(chain[n].Op, result, k.operand(plain(chain[n].Y)))
	}
	return result
}

// deepest bounds how many operators in a row are inspected: each inspects those before it.
const deepest = 16

// plain returns an expression without parentheses and guards.
func plain(e syntax.Expr) syntax.Expr {
	for {
		switch x := e.(type) {
		case *syntax.ParenExpr:
			e = x.X
			continue
		case *syntax.IndexExpr:
			if id, ok := x.X.(*syntax.Ident); ok && strings.HasPrefix(id.Name, "kept ") {
				e = x.Y
				continue
			}
		}
		return e
	}
}

func (k *kinds) operand(e syntax.Expr) kind {
	switch x := e.(type) {
	case *syntax.Literal:
		switch v := x.Value.(type) {
		case int64:
			return bitsOf(kind(bits.Len64(uint64(max(v, -v)))))
		case *big.Int:
			return bitsOf(kind(min(v.BitLen(), int(widest)+1)))
		case float64:
			return native
		}
	case *syntax.Ident:
		for i := len(k.stack) - 1; i >= 0; i-- {
			if found, ok := k.stack[i].kinds[x.Name]; ok {
				return found
			}
		}
	case *syntax.UnaryExpr:
		if x.Op == syntax.MINUS || x.Op == syntax.PLUS || x.Op == syntax.TILDE {
			if inner := k.shallow(x.X); inner.number() {
				return bitsOf(inner + 1)
			}
		}
	case *syntax.CallExpr:
		if k.calls(x, "len") {
			return native
		}
	case *syntax.BinaryExpr:
		return k.shallow(x)
	}
	return unknown
}

// shallow returns the kind of an operand that may itself be an operation, without going deeper.
func (k *kinds) shallow(e syntax.Expr) kind {
	x, ok := plain(e).(*syntax.BinaryExpr)
	if !ok {
		if u, ok := plain(e).(*syntax.UnaryExpr); ok {
			e = u.X
		}
		if _, nested := plain(e).(*syntax.UnaryExpr); nested {
			return unknown
		}
		return k.operand(plain(e))
	}
	a, b := plain(x.X), plain(x.Y)
	for _, part := range []syntax.Expr{a, b} {
		switch part.(type) {
		case *syntax.Literal, *syntax.Ident, *syntax.CallExpr:
		default:
			return unknown
		}
	}
	return operated(x.Op, k.operand(a), k.operand(b))
}

// operated returns the kind of a op b, if that does not fail.
func operated(op syntax.Token, a, b kind) kind {
	if a == 0 || b == 0 {
		return 0 // a variable without a value yet
	}
	if !a.number() || !b.number() {
		if (op == syntax.PLUS || op == syntax.MINUS) && (a.number() || b.number()) {
			return large
		}
		return unknown
	}
	switch op {
	case syntax.PLUS, syntax.MINUS, syntax.AMP, syntax.PIPE, syntax.CIRCUMFLEX:
		return bitsOf(max(a, b) + 1)
	case syntax.STAR:
		return bitsOf(min(a+b, large))
	case syntax.SLASHSLASH:
		return bitsOf(a + 1)
	case syntax.SLASH:
		return native
	case syntax.PERCENT:
		return bitsOf(b + 1)
	case syntax.LTLT:
		return large
	case syntax.GTGT:
		return bitsOf(a)
	}
	return unknown
}
