package infer

import (
	"cmp"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// eval returns the possible values of an expression, or nil if its evaluation never completes. It updates the state as
// the expression does.
func (b *body) eval(s *state, e syntax.Expr) *possible.Value {
	b.in.spend(1)
	v := b.value(s, e)
	switch e.(type) {
	case *syntax.CallExpr, *syntax.DotExpr:
		v = b.orNone(s, e, v)
	}
	b.in.note(e, v)
	return v
}

// orNone marks the None that a call or a field may have instead of a value, which is a separate path.
func (b *body) orNone(s *state, e syntax.Expr, v *possible.Value) *possible.Value {
	_, parameter := e.(*syntax.Ident)
	if v == nil || v.Any || len(v.Alts) < 2 || !parameter && !b.untested(s, e) {
		return v
	}
	return v.NoneOnPath(&possible.Mark{Region: s.region, Steps: []possible.Step{{At: startOf(e), Says: "when `" + b.in.shown(e) + "` is None"}}})
}

// untested reports whether no condition so far may depend on what an expression is: on a field of an instance that a
// name has held since then, or on the same call.
func (b *body) untested(s *state, e syntax.Expr) bool {
	switch x := startree.Unparen(e).(type) {
	case *syntax.CallExpr:
		return !b.tested[b.in.shown(x)]
	case *syntax.DotExpr:
		return b.untested(s, x.X)
	case *syntax.Ident:
		if i, ok := b.slot(x); ok {
			return s.vars[i] != nil && possible.All(s.vars[i], func(a *possible.Alt) bool { return a.Kind != possible.Record || a.Region == s.region })
		}
	}
	return false
}

func (b *body) value(s *state, e syntax.Expr) *possible.Value {
	switch x := e.(type) {
	case *syntax.ParenExpr:
		return b.eval(s, x.X)
	case *syntax.Literal:
		return possible.Literal(x)
	case *syntax.Ident:
		return b.name(s, x)
	case *syntax.UnaryExpr:
		return b.unary(s, x)
	case *syntax.BinaryExpr:
		return b.binary(s, x)
	case *syntax.CondExpr:
		return b.conditional(s, x)
	case *syntax.ListExpr:
		return b.list(s, x)
	case *syntax.TupleExpr:
		a := possible.Alt{Kind: possible.Tuple, Items: []*possible.Value{}}
		for _, item := range x.List {
			a.Items = append(a.Items, possible.Forget(b.plain(s, item)))
		}
		return possible.One(a)
	case *syntax.DictExpr:
		return b.dict(s, x)
	case *syntax.Comprehension:
		return b.comprehension(s, x)
	case *syntax.LambdaExpr:
		v := b.closure(s, x)
		if x != b.in.naming {
			b.in.escapes(v)
		}
		return v
	case *syntax.DotExpr:
		on := b.plain(s, x.X)
		if v := b.attribute(s, x, on); !v.Opaque() || !possible.All(on, func(a *possible.Alt) bool { return a.HasMethod(x.Name.Name) }) {
			return v
		}
		return possible.OfKind(possible.Function) // a method that is not called
	case *syntax.IndexExpr:
		on := b.plain(s, x.X)
		return b.index(s, x, on, b.plain(s, x.Y))
	case *syntax.SliceExpr:
		on := b.plain(s, x.X)
		for _, part := range []syntax.Expr{x.Lo, x.Hi, x.Step} {
			if part != nil {
				b.plain(s, part)
			}
		}
		return b.slice(s, x, on)
	case *syntax.CallExpr:
		return b.call(s, x)
	}
	return possible.Unknown
}

// plain returns the value of an operand; one that never completes counts as unknown.
func (b *body) plain(s *state, e syntax.Expr) *possible.Value {
	return cmp.Or(b.eval(s, e), possible.Unknown)
}

// item returns the value of an operand that becomes part of another value.
func (b *body) item(s *state, e syntax.Expr) *possible.Value {
	return possible.Unmarked(possible.Forget(b.plain(s, e)))
}

// list evaluates a list literal. A list or dict among its items may be mutated through it.
func (b *body) list(s *state, x *syntax.ListExpr) *possible.Value {
	a := possible.Alt{Kind: possible.List, Elem: possible.Nothing, Some: len(x.List) > 0, Items: []*possible.Value{}}
	for _, item := range x.List {
		v := b.item(s, item)
		a.Elem, a.Items = possible.Unite(a.Elem, v, 0), append(a.Items, v)
	}
	if a.Elem = possible.Known(a.Elem); len(a.Items) > possible.MostItems {
		a.Items = nil
	}
	return possible.One(a)
}

func (b *body) dict(s *state, x *syntax.DictExpr) *possible.Value {
	a := possible.Alt{Kind: possible.Dict, Elem: possible.Nothing, Shape: possible.NewShape(), Some: len(x.List) > 0}
	for _, item := range x.List {
		pair, ok := item.(*syntax.DictEntry)
		if !ok {
			continue
		}
		k := b.plain(s, pair.Key)
		b.hashed(s, pair.Key, k)
		key := possible.KeyOf(k.Exactly())
		v := b.item(s, pair.Value)
		a.Elem = possible.Unite(a.Elem, v, 0)
		if key == nil || len(x.List) > possible.MostKeys {
			a.Shape = nil
		} else if a.Shape != nil {
			a.Shape.Put(possible.Entry{Key: key, Value: v})
		}
	}
	a.Elem = possible.Known(a.Elem)
	return possible.One(a)
}

// name evaluates a name.
func (b *body) name(s *state, id *syntax.Ident) *possible.Value {
	first, bound := source.Local(id)
	if bound == nil {
		return possible.Unknown
	}
	if first != nil {
		if i, ok := b.slot(id); ok {
			v := b.read(s, id, i)
			b.in.mention(id, v)
			return v
		}
		if v := b.captured[first]; v != nil {
			b.in.escapes(v)
			return v
		}
		if v, ok := b.in.u.Loaded[bound.First]; ok {
			return b.in.global(id.Name, v)
		}
		return possible.Unknown
	}
	switch bound.Scope {
	case resolve.Global:
		v := b.in.global(id.Name, b.in.u.Globals[id.Name])
		b.in.mention(id, v)
		return v
	case resolve.Predeclared:
		return possible.OfValue(b.in.c.Predeclared[id.Name], "", 0)
	case resolve.Universal:
		return possible.OfValue(starlark.Universe[id.Name], "", 0)
	}
	return possible.Unknown
}

// read evaluates a local name, which must have a value.
func (b *body) read(s *state, id *syntax.Ident, i int) *possible.Value {
	v := s.vars[i]
	if v == nil {
		return possible.Unknown
	}
	isUnset := func(a *possible.Alt) bool { return a.Kind == possible.Unset }
	rest := v.Without(isUnset)
	if rest == v {
		b.in.passed(id)
		return v
	}
	which, m := b.judge(s, v, isUnset)
	b.unassigned(id, which, m)
	s.vars[i] = cmp.Or(rest, possible.Unknown)
	return s.vars[i]
}

func (b *body) conditional(s *state, x *syntax.CondExpr) *possible.Value {
	then, otherwise := b.arms(s, x.Cond, x.If)
	v := b.evalOn(&then, x.True)
	return b.join(s, then, otherwise, v, b.evalOn(&otherwise, x.False))
}

// evalOn returns the value of an expression on a path. The path ends if the evaluation does not complete.
func (b *body) evalOn(path *arm, e syntax.Expr) *possible.Value {
	if path.state == nil {
		return nil
	}
	v := b.eval(path.state, e)
	if v == nil {
		path.state = nil
	}
	return v
}

// join merges two paths into s, and returns the value that is v on one and w on the other.
func (b *body) join(s *state, x, y arm, v, w *possible.Value) *possible.Value {
	out := b.meet(s, x, y)
	if out == nil {
		return nil
	}
	*s = *out
	return b.onPaths(v, w, x, y, s.region)
}

// both evaluates `x and y` and `x or y`.
func (b *body) both(s *state, x *syntax.BinaryExpr) *possible.Value {
	yes, no := b.cond(s, x.X)
	on, off := yes, no // the second operand is evaluated, or skipped
	if x.Op == syntax.OR {
		on, off = no, yes
	}
	truth := x.Op == syntax.OR
	left := cmp.Or(b.in.vals[startree.Unparen(x.X)], possible.Unknown).Without(func(a *possible.Alt) bool {
		return a.Truth() != possible.Maybe && (a.Truth() == possible.YesTruth) != truth
	})
	asked, skipped := b.armOf(on, possible.Step{}), b.armOf(off, possible.Step{})
	right := b.evalOn(&asked, x.Y)
	if off == nil {
		left = nil
	}
	return b.join(s, skipped, asked, left, right)
}

func (b *body) comprehension(s *state, x *syntax.Comprehension) *possible.Value {
	in := b.copy(s)
	some := true
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			item, filled := b.iterate(in, c.X, b.plain(in, c.X))
			some = some && filled
			b.hold(in, c.X)
			b.assign(in, c.Vars, possible.OrUnknown(item), c.X, false)
		case *syntax.IfClause:
			yes, _ := b.cond(in, c.Cond)
			some = false
			if yes == nil {
				return possible.OfKind(possible.List)
			}
			in = yes
		}
	}
	a := possible.Alt{Kind: possible.List, Some: some}
	if pair, ok := x.Body.(*syntax.DictEntry); ok {
		a.Kind = possible.Dict
		b.hashed(in, pair.Key, b.plain(in, pair.Key))
		a.Elem = possible.Known(b.item(in, pair.Value))
	} else {
		if x.Curly {
			a.Kind = possible.Set
		}
		a.Elem = possible.Known(b.item(in, x.Body))
	}
	for _, c := range x.Clauses {
		if c, ok := c.(*syntax.ForClause); ok {
			b.release(in, c.X)
		}
	}
	for i, v := range s.vars { // the body may have mutated it
		if in.vars[i] != v && !possible.EqualValues(in.vars[i], v, 0) {
			s.vars[i] = possible.Forget(v)
		}
	}
	return possible.One(a)
}

// closure evaluates a nested function. A captured name has a known value if it is bound only once.
func (b *body) closure(s *state, fn syntax.Node) *possible.Value {
	c := &possible.Closure{Node: fn, Nested: true, Env: map[*syntax.Ident]*possible.Value{}}
	params, f := parts(fn)
	for _, p := range params {
		if a := startree.ArgOf(p); a.Name != nil {
			b.plain(s, a.Value)
		}
	}
	if f == nil {
		return possible.OfKind(possible.Function)
	}
	for _, bound := range f.FreeVars {
		first := bound.First
		put(&b.in.shared, first, true)
		if bound.Scope != resolve.Free && bound.Index < len(s.vars) && b.fn.Locals[bound.Index].First == first {
			b.in.escapes(s.vars[bound.Index]) // it may be called from there
		}
		if b.in.names.Binds[first] != 1 {
			continue
		}
		if v := b.captured[first]; v != nil {
			c.Env[first] = v
		} else if bound.Index < len(b.fn.Locals) && bound.Scope != resolve.Free && b.fn.Locals[bound.Index].First == first {
			v := s.vars[bound.Index]
			if rest := v.Without(func(a *possible.Alt) bool { return a.Kind == possible.Unset }); rest != nil && rest == v {
				c.Env[first] = possible.Unmarked(possible.Forget(v))
			}
		}
	}
	b.in.nest(c)
	return possible.One(possible.Alt{Kind: possible.Function, Code: c})
}
