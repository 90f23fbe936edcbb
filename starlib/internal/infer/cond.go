package infer

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// cond returns the states in which a condition holds and does not hold; each is nil if that cannot happen.
func (b *body) cond(s *state, e syntax.Expr) (yes, no *state) {
	b.in.spend(1)
	switch x := e.(type) {
	case *syntax.ParenExpr:
		yes, no = b.cond(s, x.X)
		b.in.note(x, b.in.vals[x.X])
		return yes, no
	case *syntax.UnaryExpr:
		if x.Op == syntax.NOT {
			no, yes = b.cond(s, x.X)
			b.in.note(x, possible.OfKind(possible.Boolean))
			return yes, no
		}
	case *syntax.BinaryExpr:
		switch x.Op {
		case syntax.AND:
			first, not := b.cond(s, x.X)
			if first == nil {
				return nil, not
			}
			yes, no = b.cond(first, x.Y)
			b.in.note(x, possible.Unknown)
			return yes, b.either(not, no)
		case syntax.OR:
			first, not := b.cond(s, x.X)
			if not == nil {
				return first, nil
			}
			yes, no = b.cond(not, x.Y)
			b.in.note(x, possible.Unknown)
			return b.either(first, yes), no
		}
	}
	v := b.eval(s, e)
	if v == nil {
		b.leaves++
		return nil, nil
	}
	b.tests(e)
	yes, no = b.copy(s), b.copy(s)
	if a, certain := v.Certain(); !certain || a.Kind != possible.Record && a.Kind != possible.Function { // a test of these is reported as a different mistake
		switch v.Truth() {
		case possible.YesTruth:
			no = nil
		case possible.NoTruth:
			yes = nil
		}
	}
	if yes != nil && !b.narrow(yes, e, true) {
		yes = nil
	}
	if no != nil && !b.narrow(no, e, false) {
		no = nil
	}
	return yes, no
}

// tests records the calls that a condition makes.
func (b *body) tests(e syntax.Expr) {
	if b.in.quiet > 0 {
		return
	}
	syntax.Walk(e, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			put(&b.tested, b.in.shown(call), true)
		}
		return true
	})
}

// either returns the state after one of two paths through one condition.
func (b *body) either(x, y *state) *state {
	if x == nil {
		return y
	}
	if y == nil {
		return x
	}
	out := b.meet(x, arm{x, possible.Step{}, x.region}, arm{y, possible.Step{}, y.region})
	out.region = b.region()
	return out
}

// narrow restricts a name to the alternatives that a condition allows. It reports whether any remain.
func (b *body) narrow(s *state, e syntax.Expr, holds bool) bool {
	switch x := startree.Unparen(e).(type) {
	case *syntax.Ident, *syntax.DotExpr:
		on := startree.Unparen(e)
		if a, certain := b.in.vals[on].Certain(); certain && (a.Kind == possible.Record || a.Kind == possible.Function) {
			return true
		}
		return b.refine(s, on, func(v *possible.Value) *possible.Value {
			return v.Only(func(a *possible.Alt) bool { return a.Truth() != possible.TruthOf(!holds) }).Exact(possible.Boolean, starlark.Bool(holds))
		})
	case *syntax.BinaryExpr:
		return b.narrowCompared(s, x, holds)
	case *syntax.CallExpr:
		return b.narrowAsked(s, x, holds)
	}
	return true
}

// keep removes the alternatives of a name, or of a field of one, that a condition rules out. It reports whether any
// remain.
func (b *body) keep(s *state, e syntax.Expr, keep func(a *possible.Alt) bool) bool {
	return b.refine(s, e, func(v *possible.Value) *possible.Value { return v.Only(keep) })
}

// refine replaces what is known about a name, or about a field of one; nil means impossible. It reports whether
// anything is possible.
func (b *body) refine(s *state, e syntax.Expr, narrower func(v *possible.Value) *possible.Value) bool {
	switch x := startree.Unparen(e).(type) {
	case *syntax.Ident:
		i, ok := b.own(s, x)
		if !ok {
			return true
		}
		v := narrower(s.vars[i])
		if v == nil {
			return false
		}
		s.vars[i] = v
	case *syntax.DotExpr:
		return b.refine(s, x.X, func(on *possible.Value) *possible.Value { return on.NarrowField(x.Name.Name, narrower) })
	}
	return true
}

func (b *body) narrowCompared(s *state, x *syntax.BinaryExpr, holds bool) bool {
	switch x.Op {
	case syntax.NEQ:
		holds = !holds
	case syntax.EQL:
	case syntax.IN, syntax.NOT_IN:
		return b.narrowMember(s, x, holds == (x.Op == syntax.IN))
	default:
		return true
	}
	on, other := x.X, x.Y
	if b.in.vals[other].Constant() == nil {
		on, other = other, on
	}
	c := b.in.vals[other].Constant()
	if c == nil {
		return true
	}
	if asked := b.typeOf(on); asked != nil {
		name, ok := c.(starlark.String)
		return !ok || b.keep(s, asked, func(a *possible.Alt) bool {
			sample := a.Sample()
			return sample == nil || (sample.Type() == string(name)) == holds
		})
	}
	if dot, ok := startree.Unparen(on).(*syntax.DotExpr); ok && dot.Name.Name == "status" && c == starlark.Value(starlark.String("ok")) {
		b.refine(s, dot.X, func(v *possible.Value) *possible.Value {
			return v.NarrowField("ok", func(ok *possible.Value) *possible.Value { return ok.Exact(possible.Boolean, starlark.Bool(holds)) })
		})
	}
	return b.keep(s, on, func(a *possible.Alt) bool {
		if a.Exact != nil && a.Kind != possible.Thing {
			eq, err := starlark.Equal(a.Exact, c)
			return err != nil || eq == holds
		}
		if !holds || a.Kind == possible.Thing {
			return true
		}
		switch c.(type) {
		case starlark.NoneType:
			return a.Kind == possible.None
		case starlark.String:
			return a.Kind == possible.Text
		case starlark.Bool:
			return a.Kind == possible.Boolean
		case starlark.Int:
			return a.Kind == possible.Integer || a.Kind == possible.Float
		}
		return true
	})
}

// typeOf returns x for type(x).
func (b *body) typeOf(e syntax.Expr) syntax.Expr {
	call, ok := startree.Unparen(e).(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	if id, ok := call.Fn.(*syntax.Ident); ok && id.Name == "type" && universal(id) {
		return call.Args[0]
	}
	return nil
}

func universal(id *syntax.Ident) bool {
	bound, ok := id.Binding.(*resolve.Binding)
	return ok && (bound.Scope == resolve.Universal || bound.Scope == resolve.Predeclared)
}

// narrowMember handles `key in d` and `x in` a literal container.
func (b *body) narrowMember(s *state, x *syntax.BinaryExpr, holds bool) bool {
	key := possible.KeyOf(b.in.vals[x.X].Exactly())
	i, ok := b.own(s, x.Y)
	if !ok || key == nil || !slices.ContainsFunc(s.vars[i].Alts, func(a possible.Alt) bool { return a.Shape != nil }) {
		return true
	}
	out := &possible.Value{Any: s.vars[i].Any}
	for _, a := range s.vars[i].Alts {
		e := a.Shape.Find(key)
		switch {
		case a.Shape == nil:
		case holds && e == nil, !holds && e != nil && !e.Maybe:
			continue
		case holds && e.Maybe:
			a.Shape = a.Shape.With(key, e.Value)
		case !holds && e != nil:
			a.Shape = nil // one of its keys is missing
		}
		out.Alts = append(out.Alts, a)
	}
	if !out.Any && len(out.Alts) == 0 {
		return false
	}
	s.vars[i] = out
	return true
}

// narrowAsked handles isinstance(x, T) and hasattr(x, "name").
func (b *body) narrowAsked(s *state, x *syntax.CallExpr, holds bool) bool {
	id, ok := x.Fn.(*syntax.Ident)
	if !ok || !universal(id) || len(x.Args) != 2 {
		return true
	}
	switch id.Name {
	case "hasattr":
		name, ok := starlark.AsString(b.in.vals[x.Args[1]].Exactly())
		if !ok {
			return true
		}
		return b.keep(s, x.Args[0], func(a *possible.Alt) bool {
			names, known := a.Attributes()
			return !known || slices.Contains(names, name) == holds
		})
	case "isinstance":
		t, ok := b.in.vals[x.Args[1]].Exactly().(*value.Type)
		return b.refine(s, x.Args[0], func(v *possible.Value) *possible.Value {
			switch {
			case !ok || t.Bare:
				return possible.Unknown
			case holds && v.Any:
				return possible.OfType(t.T, "")
			}
			return v.Only(func(a *possible.Alt) bool {
				is := a.Is(t.T)
				return is == possible.Maybe || (is == possible.YesTruth) == holds
			})
		})
	}
	return true
}
