package infer

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// verdict is the outcome of an operation.
type verdict uint8

const (
	works  verdict = iota // or is unknown
	onPath                // fails on some path
	always                // fails whenever it is reached
)

// judge tests for which alternatives an operation fails, and returns the path on which it does.
func (b *body) judge(s *state, v *possible.Value, fails func(a *possible.Alt) bool) (verdict, *possible.Mark) {
	if v == nil || len(v.Alts) == 0 {
		return works, nil
	}
	all := !v.Any
	var on *possible.Mark
	for i := range v.Alts {
		a := &v.Alts[i]
		switch {
		case !fails(a):
			all = false
		case on == nil && s.marked(a.Mark):
			on = a.Mark
		}
	}
	switch {
	case all:
		s.lost = true
		return always, nil
	case on != nil:
		return onPath, on
	}
	return works, nil
}

// settle restricts a name to the alternatives for which an operation succeeds.
func (b *body) settle(s *state, e syntax.Expr, which verdict, fails func(a *possible.Alt) bool) {
	if which == onPath {
		b.refine(s, e, func(v *possible.Value) *possible.Value {
			if rest := v.Without(fails); rest != nil {
				return rest
			}
			return v
		})
	}
}

func (b *body) unary(s *state, x *syntax.UnaryExpr) *possible.Value {
	if x.X == nil {
		return possible.Unknown
	}
	if x.Op == syntax.NOT {
		v := b.plain(s, x.X)
		if t := v.Truth(); t != possible.Maybe {
			return possible.One(possible.Alt{Kind: possible.Boolean, Exact: starlark.Bool(t == possible.NoTruth)})
		}
		return possible.OfKind(possible.Boolean)
	}
	v := b.plain(s, x.X)
	if c := v.Constant(); c != nil && x.Op == syntax.MINUS {
		if n, ok := c.(starlark.Int); ok {
			if _, small := n.Int64(); small {
				return possible.One(possible.Alt{Kind: possible.Integer, Exact: starlark.MakeInt(0).Sub(n)})
			}
		}
	}
	out := possible.Nothing
	fails := func(a *possible.Alt) bool {
		sample := a.Sample()
		if sample == nil {
			out = possible.Unknown
			return false
		}
		r, err := starlark.Unary(x.Op, sample)
		if err == nil {
			out = possible.Unite(out, possible.OfSample(r), 0)
		}
		return err != nil
	}
	which, m := b.judge(s, v, fails)
	b.failure(x, diag.WrongOperand, which, m, func(f *finding) {
		f.says("`%s` takes a number, and `%s` is %s", x.Op, b.in.shown(x.X), v.Words())
		f.help("convert it, or leave `%s` out", x.Op)
	})
	b.settle(s, x.X, which, fails)
	if v.Any || out == possible.Nothing {
		return possible.Unknown
	}
	return out
}

func (b *body) binary(s *state, x *syntax.BinaryExpr) *possible.Value {
	if x.Op == syntax.AND || x.Op == syntax.OR {
		return b.both(s, x)
	}
	var chain []*syntax.BinaryExpr // the chain may be as long as the file, so its left side is not walked recursively
	left := syntax.Expr(x)
	for {
		l, ok := left.(*syntax.BinaryExpr)
		if !ok || l.Op == syntax.AND || l.Op == syntax.OR {
			break
		}
		chain = append(chain, l)
		left = l.X
	}
	v := b.plain(s, left)
	for i := len(chain) - 1; i >= 0; i-- {
		b.in.spend(1)
		v = b.operator(s, chain[i], chain[i].Op, v, b.plain(s, chain[i].Y), chain[i].X, chain[i].Y)
		if i > 0 {
			b.in.note(chain[i], v)
		}
	}
	return v
}

// operator applies an operator to two values.
func (b *body) operator(s *state, at syntax.Node, op syntax.Token, v, w *possible.Value, left, right syntax.Expr) *possible.Value {
	if op == syntax.PERCENT {
		b.percent(s, at, v, w, left, right)
	}
	if op == syntax.EQL || op == syntax.NEQ {
		b.unequal(at, op, v, w, left, right)
	}
	if b.divided(s, at, op, v, w, right) {
		return possible.Unknown
	}
	in := op == syntax.IN || op == syntax.NOT_IN
	if (v.Opaque() || w.Opaque()) && !in {
		switch op {
		case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
			return possible.OfKind(possible.Boolean)
		case syntax.PERCENT:
			if a, ok := v.Certain(); ok && a.Kind == possible.Text {
				return possible.OfKind(possible.Text)
			}
		case syntax.PLUS: // a str can only be added to a str
			for _, side := range []*possible.Value{v, w} {
				if a, ok := side.Certain(); ok && a.Kind == possible.Text {
					return possible.OfKind(possible.Text)
				}
			}
		}
		return possible.Unknown
	}
	out := possible.Nothing
	pair := func(x, y *possible.Alt) bool {
		r, bad := possible.Try(op, x, y)
		if !bad {
			out = possible.Unite(out, b.combined(op, x, y, r), 0)
		}
		return bad
	}
	leftFails := func(a *possible.Alt) bool { return possible.All(w, func(c *possible.Alt) bool { return pair(a, c) }) }
	which, m := b.judge(s, v, leftFails)
	rightFails := func(c *possible.Alt) bool {
		return possible.All(v, func(a *possible.Alt) bool {
			_, bad := possible.Try(op, a, c)
			return bad
		})
	}
	if which == works {
		which, m = b.judge(s, w, rightFails)
	}
	b.failure(at, diag.WrongOperand, which, m, func(f *finding) { b.operands(f, op, v, w, left, right, m) })
	if m != nil {
		b.settle(s, left, which, leftFails)
		b.settle(s, right, which, rightFails)
	}
	if v.Any || w.Any || out == possible.Nothing {
		return possible.CmpOr(in, possible.OfKind(possible.Boolean), possible.Unknown)
	}
	return out
}

// divided reports whether an operator certainly divides by 0.
func (b *body) divided(s *state, at syntax.Node, op syntax.Token, v, w *possible.Value, right syntax.Expr) bool {
	which := works
	if possible.DividesByZero(op, v, w) {
		which, s.lost = always, true
	}
	b.failure(used{at, "divisor"}, diag.WrongOperand, which, nil, func(f *finding) {
		f.says("a number cannot be divided by 0")
		if !startree.Written(right) {
			f.Label = fmt.Sprintf("`%s` is 0", b.in.shown(right))
		}
		f.help("divide by another number, or write the result that is meant")
	})
	return which == always
}

// unequal warns of a comparison with a literal that the values never equal.
func (b *body) unequal(at syntax.Node, op syntax.Token, v, w *possible.Value, left, right syntax.Expr) {
	which := works
	constant := func(e syntax.Expr, v *possible.Value) bool {
		id, ok := startree.Unparen(e).(*syntax.Ident)
		return startree.Written(e) || ok && universal(id) && v.Constant() != nil
	}
	if (constant(left, v) || constant(right, w)) && possible.All(v, func(a *possible.Alt) bool {
		return possible.All(w, func(c *possible.Alt) bool { return !possible.MayEqual(a, c) })
	}) {
		which = onPath
	}
	b.failure(at, diag.TypeComparison, which, &possible.Mark{}, func(f *finding) {
		f.says("this comparison is always %s", possible.CmpOr(op == syntax.EQL, "False", "True"))
		f.Label = fmt.Sprintf("`%s` is %s, `%s` is %s", b.in.shown(left), v.Words(), b.in.shown(right), w.Words())
		for _, side := range []struct {
			e syntax.Expr
			v *possible.Value
		}{{left, v}, {right, w}} {
			a, certain := side.v.Certain()
			switch {
			case !certain || a.Typ == nil:
			case a.Kind == possible.Record && a.Typ.FieldIndex("approved") >= 0:
				f.help("ask for its field: `%s.approved`", b.in.shown(side.e))
			case a.Kind == possible.Record:
				f.help("compare one of its fields: %s", script.Joined(a.Typ.FieldNames()))
			case a.Typ.Deref().Kind == generable.EnumType:
				f.Label = ""
				f.help("the values of %s are %s", a.Typ, script.Joined(a.Typ.Deref().Values))
			}
		}
		if len(f.Help) == 0 && !b.uncalled(f, left, v) && !b.uncalled(f, right, w) {
			f.help("compare values of one type: `int(s)`, `str(n)`")
		}
	})
}

// combined returns the result of an operator whose items come from its operands.
func (b *body) combined(op syntax.Token, x, y *possible.Alt, r *possible.Value) *possible.Value {
	a, ok := r.Certain()
	if !ok {
		return r
	}
	switch {
	case op == syntax.PLUS && a.Kind == possible.List:
		return possible.One(possible.Alt{Kind: possible.List, Elem: possible.Joined(x.Elem, y.Elem), Some: x.Some || y.Some})
	case op == syntax.STAR && a.Kind == possible.List:
		return possible.One(possible.Alt{Kind: possible.List, Elem: possible.CmpOr(x.Kind == possible.List, x.Elem, y.Elem)})
	case op == syntax.PIPE && a.Kind == possible.Dict:
		return possible.One(possible.Alt{Kind: possible.Dict, Elem: possible.Joined(x.Elem, y.Elem), Some: x.Some || y.Some})
	case op == syntax.PIPE && a.Kind == possible.Set:
		return possible.One(possible.Alt{Kind: possible.Set, Elem: possible.Joined(x.Elem, y.Elem)})
	}
	return r
}

func (b *body) attribute(s *state, x *syntax.DotExpr, on *possible.Value) *possible.Value {
	name := x.Name.Name
	out := possible.Nothing
	fails := func(a *possible.Alt) bool {
		r, ok := a.Attribute(name)
		if ok {
			out = possible.Unite(out, r, 0)
		}
		return !ok
	}
	which, m := b.judge(s, on, fails)
	if which == works && !on.Any && b.untested(s, x.X) {
		for i := range on.Alts {
			if a := &on.Alts[i]; a.Kind == possible.Record && a.Mark == nil && fails(a) {
				on = on.Marked(i, &possible.Mark{Region: s.region, Steps: []possible.Step{{At: startOf(x), Says: "when `" + b.in.shown(x.X) + "` is " + a.Word()}}})
				which, m = b.judge(s, on, fails)
				break
			}
		}
	}
	b.failure(x.Name, diag.UnknownAttribute, which, m, func(f *finding) { b.noAttribute(f, x, on, which, fails) })
	b.settle(s, x.X, which, fails)
	if on.Any || out == possible.Nothing || which == always {
		return possible.Unknown
	}
	return out
}

func (b *body) index(s *state, x *syntax.IndexExpr, on, key *possible.Value) *possible.Value {
	out := possible.Nothing
	var missing *possible.Entry
	fails := func(a *possible.Alt) bool {
		r, ok, lacks := a.Item(key)
		if lacks != nil {
			missing = lacks
		}
		if ok {
			out = possible.Unite(out, r, 0)
		}
		return !ok
	}
	which, m := b.judge(s, on, fails)
	if which == works && missing != nil && s.marked(missing.Mark) {
		which, m = onPath, missing.Mark
	}
	b.failure(x, b.in.indexCode(on, key), which, m, func(f *finding) { b.badIndex(f, x, on, key, which) })
	b.settle(s, x.X, which, fails)
	if on.Any || out == possible.Nothing || which == always {
		return possible.Unknown
	}
	return out
}

// indexCode returns the code for a failing x[key]: a missing key, or a value without items.
func (in *Inference) indexCode(on, key *possible.Value) diag.Code {
	for _, a := range on.Alts {
		if possible.KeyOf(key.Exactly()) == nil {
			break
		}
		switch {
		case a.Kind == possible.Dict && a.Shape != nil:
			return diag.NoSuchKey
		case a.Kind == possible.Record:
			return diag.UnknownAttribute
		}
	}
	return diag.WrongOperand
}

func (b *body) slice(s *state, x *syntax.SliceExpr, on *possible.Value) *possible.Value {
	out := possible.Nothing
	fails := func(a *possible.Alt) bool {
		switch a.Kind {
		case possible.List:
			out = possible.Unite(out, possible.One(possible.Alt{Kind: possible.List, Elem: a.Elem}), 0)
		case possible.Text, possible.Bytes, possible.Ranged:
			out = possible.Unite(out, possible.One(possible.Alt{Kind: a.Kind, Elem: a.Elem}), 0)
		case possible.Tuple, possible.Thing, possible.Unset:
			out = possible.Unknown
		default:
			return true
		}
		return false
	}
	which, m := b.judge(s, on, fails)
	b.failure(x, diag.WrongOperand, which, m, func(f *finding) {
		f.says("`%s` is %s, which has no slices", b.in.shown(x.X), on.Words())
		f.help("a list, a tuple and a str have them; `str(%s)` makes a text of it", b.in.shown(x.X))
	})
	if on.Any || out == possible.Nothing {
		return possible.Unknown
	}
	return out
}

// iterate returns the items of the operand of a `for`, and reports whether there is certainly at least one.
func (b *body) iterate(s *state, e syntax.Expr, v *possible.Value) (item *possible.Value, some bool) {
	out, some := possible.Nothing, len(v.Alts) > 0 && !v.Any
	fails := func(a *possible.Alt) bool {
		r, ok := a.Each()
		if ok {
			out = possible.Unite(out, r, 0)
			some = some && a.Filled()
		}
		return !ok
	}
	which, m := b.judge(s, v, fails)
	b.failure(used{e, "items"}, diag.WrongOperand, which, m, func(f *finding) { b.notIterable(f, e, v) })
	b.settle(s, e, which, fails)
	if v.Any || which == always {
		return possible.Unknown, false
	}
	return out, some
}

// unpack returns the parts of a value that is assigned to n names.
func (b *body) unpack(s *state, e syntax.Expr, v *possible.Value, n int) []*possible.Value {
	out := make([]*possible.Value, n)
	fails := func(a *possible.Alt) bool {
		r, ok := a.Each()
		if !ok || (a.Kind == possible.Tuple || a.Items != nil) && len(a.Items) != n || a.Kind == possible.Dict && a.Shape != nil && len(a.Shape.Keys) < n && a.Frozen != "" {
			return true
		}
		for i := range out {
			if len(a.Items) == n {
				r = a.Items[i]
			}
			out[i] = possible.Unite(out[i], r, 0)
		}
		return false
	}
	which, m := b.judge(s, v, fails)
	b.failure(used{e, "parts"}, diag.WrongOperand, which, m, func(f *finding) { b.badUnpack(f, e, v, n) })
	for i := range out {
		if out[i] = possible.OrUnknown(out[i]); v.Any {
			out[i] = possible.Unknown
		}
	}
	return out
}
