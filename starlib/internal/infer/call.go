package infer

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// arguments holds the evaluated arguments of a call.
type arguments struct {
	exprs  []syntax.Expr // positional
	values []*possible.Value
	named  []namedArg
	spread bool           // *args or **kwargs passes further arguments
	index  map[string]int // index of named, if there are many

	few struct { // enough for most calls
		exprs  [4]syntax.Expr
		values [4]*possible.Value
		named  [2]namedArg
	}
}

type namedArg struct {
	name  string
	expr  syntax.Expr
	value *possible.Value
}

func (a *arguments) get(name string) (syntax.Expr, *possible.Value) {
	if len(a.named) > 16 {
		if a.index == nil {
			a.index = make(map[string]int, len(a.named))
			for i, n := range a.named {
				a.index[n.name] = i
			}
		}
		if i, ok := a.index[name]; ok {
			return a.named[i].expr, a.named[i].value
		}
		return nil, nil
	}
	for _, n := range a.named {
		if n.name == name {
			return n.expr, n.value
		}
	}
	return nil, nil
}

func (b *body) arguments(s *state, x *syntax.CallExpr) *arguments {
	out := &arguments{}
	out.exprs, out.values, out.named = out.few.exprs[:0], out.few.values[:0], out.few.named[:0]
	for _, e := range x.Args {
		a := startree.ArgOf(e)
		v := possible.Unknown
		if a.Value != nil {
			v = b.plain(s, a.Value)
		}
		switch {
		case a.Spread != 0:
			out.spreads(a.Value, a.Spread, v)
		case a.Name != nil:
			out.named = append(out.named, namedArg{a.Name.Name, a.Value, v})
		default:
			out.exprs, out.values = append(out.exprs, a.Value), append(out.values, v)
		}
	}
	return out
}

// spreads adds the arguments of *args or **kwargs, as far as they are known.
func (out *arguments) spreads(e syntax.Expr, star syntax.Token, v *possible.Value) {
	a, certain := v.Certain()
	switch {
	case star == syntax.STAR && certain && a.Items != nil:
		for _, item := range a.Items {
			out.exprs, out.values = append(out.exprs, e), append(out.values, item)
		}
	case star == syntax.STARSTAR && certain && a.Shape != nil && !slices.ContainsFunc(a.Shape.Keys, func(e possible.Entry) bool { return e.Maybe }):
		for _, entry := range a.Shape.Keys {
			if name, ok := starlark.AsString(entry.Key); ok {
				out.named = append(out.named, namedArg{name, e, entry.Value})
			}
		}
	default:
		out.spread = true
	}
}

func (b *body) call(s *state, x *syntax.CallExpr) *possible.Value {
	if dot, ok := x.Fn.(*syntax.DotExpr); ok {
		on := b.plain(s, dot.X)
		b.called = x
		fn := b.attribute(s, dot, on)
		b.in.note(dot, fn)
		args := b.arguments(s, x)
		if fn.Opaque() {
			return b.method(s, x, dot, on, args)
		}
		return b.apply(s, x, fn, args, dot)
	}
	fn := b.plain(s, x.Fn)
	args := b.arguments(s, x)
	b.in.calledAs(x.Fn, args)
	return b.apply(s, x, fn, args, nil)
}

// apply calls a value.
func (b *body) apply(s *state, x *syntax.CallExpr, fn *possible.Value, args *arguments, dot *syntax.DotExpr) *possible.Value {
	out, ends := possible.Nothing, fn.Any
	fails := func(a *possible.Alt) bool {
		switch a.Kind {
		case possible.Function:
			b.arity(x, a, args)
			if v := b.invoke(s, a, args); v != nil {
				out, ends = possible.Unite(out, v, 0), true
			}
		case possible.Thing:
			v, ok := b.callThing(s, x, a.Exact, args, dot)
			if !ok {
				return true
			}
			if v != nil {
				out, ends = possible.Unite(out, v, 0), true
			}
		case possible.Unset:
			out, ends = possible.Unknown, true
		default:
			return true
		}
		return false
	}
	which, m := b.judge(s, fn, fails)
	b.failure(used{x.Fn, "function"}, diag.WrongOperand, which, m, func(f *finding) { b.notCallable(f, x, fn) })
	if which == always || fn.Any {
		return possible.Unknown
	}
	if !ends {
		return nil
	}
	return out
}

// callThing calls a known value. It reports whether the value can be called; the result is nil if the call
// never returns.
func (b *body) callThing(s *state, x *syntax.CallExpr, fn starlark.Value, args *arguments, dot *syntax.DotExpr) (*possible.Value, bool) {
	switch f := fn.(type) {
	case *value.Node:
		for i, e := range args.exprs {
			b.freeze(s, e, "`"+f.Label()+"` received it")
			if i == 0 {
				b.given(s, f, e, args.values[i])
			}
		}
		if f.Node.Failed() {
			return possible.Unknown, true
		}
		return possible.OfType(f.Node.Out(), "`"+f.Label()+"` returned it"), true
	case *value.Type:
		return b.construct(s, x, f, args), true
	case *value.Maker:
		return b.in.rowGives(b.in.row(f.Name())), true
	case *starlark.Builtin:
		if dot != nil {
			return b.in.memberGives(dot, args), true
		}
		return b.builtin(s, x, f, args)
	case starlark.Callable, *value.Failed, *possible.Part, *value.Tool: // calling a tool has its own diagnostic
		return possible.Unknown, true
	}
	return possible.Unknown, false
}

// construct returns the result of calling a type: str(x), list(xs), Draft(code = x).
func (b *body) construct(s *state, x *syntax.CallExpr, t *value.Type, args *arguments) *possible.Value {
	if t.Func != nil {
		v, _ := b.builtin(s, x, t.Func, args)
		return v
	}
	b.byName(s, x, t.T.Deref(), args)
	if t := t.T.Deref(); t.Kind == generable.RecordType && !args.spread {
		b.fromDict(x, t, args)
		if len(args.exprs) > 0 {
			return possible.OfType(t, "")
		}
		b.fields(s, x, t, args.named)
		given := map[string]*possible.Value{}
		for _, n := range args.named {
			given[n.name] = n.value
		}
		return possible.Constructed(t, given)
	}
	return possible.OfType(t.T, "")
}

// method calls a method of one of the language's built-in types.
func (b *body) method(s *state, x *syntax.CallExpr, dot *syntax.DotExpr, on *possible.Value, args *arguments) *possible.Value {
	name := dot.Name.Name
	if name == "format" {
		b.format(s, x, dot, on, args)
	}
	b.try(s, x, dot.X, on, args, func(on *possible.Alt) *starlark.Builtin {
		recv, _ := on.Argument(0).(starlark.HasAttrs)
		if recv == nil || on.Kind == possible.Record || name == "format" {
			return nil
		}
		m, _ := recv.Attr(name)
		fn, _ := m.(*starlark.Builtin)
		return fn
	})
	b.change(s, x, dot, on, args)
	if on.Any || len(on.Alts) == 0 {
		return possible.Unknown
	}
	out := possible.Nothing
	for i := range on.Alts {
		a := &on.Alts[i]
		v := possible.Results[a.Kind][name]
		if v == nil {
			v = a.Part(name, args.values)
		}
		if _, ok := a.Exact.(*value.Memory); ok && a.Kind == possible.Thing {
			v = b.in.rowGives(b.in.table.Of["memory"][name])
		}
		out = possible.Unite(out, v, 0)
	}
	return out
}

// memberGives returns the result of calling a member of a module or a type.
func (in *Inference) memberGives(dot *syntax.DotExpr, args *arguments) *possible.Value {
	name := dot.Name.Name
	switch m := in.vals[dot.X].Exactly().(type) {
	case *table.ModuleValue:
		if op, ok := capability.Lookup(m.Name + "." + name); ok && m.Name != "env" {
			return possible.OfType(op.Returns, "")
		}
		return in.rowGives(m.Members[name])
	case *value.Maker:
		return in.rowGives(in.table.Of["budget"][name])
	case *value.Type:
		return in.typeGives(m.T.Deref(), name, args)
	case value.Sampled:
		return in.rowGives(in.table.Of[m.Of()][name])
	}
	return possible.Unknown
}

// typeGives returns the result of calling a method of a type.
func (in *Inference) typeGives(t *generable.Type, name string, args *arguments) *possible.Value {
	read := possible.OfType(t, "")
	if read = possible.Unite(read, possible.OfKind(possible.None), 0); t.AcceptsNone() {
		read = possible.Unknown
	}
	switch name {
	case "json_schema":
		if _, v := args.get("as_dict"); v != nil && v.Exactly() != starlark.Value(starlark.False) {
			return possible.CmpOr(v.Exactly() == starlark.Value(starlark.True), possible.OfKind(possible.Dict), possible.Unknown)
		}
		return possible.CmpOr(args.spread || len(args.exprs) > 0, possible.Unknown, possible.OfKind(possible.Text))
	case "from_llm_output":
		return read
	case "decode":
		if out, ok := in.rowGives(in.table.Of["type"][name]).Certain(); ok && out.Kind == possible.Record && !read.Any {
			out.Fields = out.Fields.With("value", read)
			return possible.One(out)
		}
	}
	return in.rowGives(in.table.Of["type"][name])
}

// invoke returns the result of calling a function of the script, or nil if it never returns.
func (b *body) invoke(s *state, a *possible.Alt, args *arguments) *possible.Value {
	for _, e := range args.exprs {
		b.escape(s, e)
	}
	for _, n := range args.named {
		b.escape(s, n.expr)
	}
	if args.spread {
		return possible.Unknown
	}
	return b.in.result(b, a, args)
}

// escape forgets everything that a function may change in an argument.
func (b *body) escape(s *state, e syntax.Expr) {
	if i, ok := b.own(s, e); ok {
		s.vars[i] = possible.Forget(s.vars[i])
	}
}

// freeze records that a value is passed to a node, which freezes it.
func (b *body) freeze(s *state, e syntax.Expr, why string) {
	if i, ok := b.own(s, e); ok {
		s.vars[i] = s.vars[i].Freeze(why)
	}
}

// byDefault returns the value of a parameter that a call leaves out.
func (in *Inference) byDefault(e syntax.Expr, loaded bool) *possible.Value {
	kind := possible.List
	switch e := e.(type) {
	case *syntax.Literal:
		return memo(&in.defaults, e, func() *possible.Value { return possible.Literal(e) })
	case *syntax.ListExpr:
	case *syntax.DictExpr:
		kind = possible.Dict
	default:
		loaded = false
	}
	if !loaded {
		return possible.Unknown
	}
	return possible.One(possible.Alt{Kind: kind, Frozen: asDefault})
}

// others returns the dict of the named arguments that have no matching parameter.
func (a *arguments) others(params []syntax.Expr) *possible.Value {
	rest := possible.Alt{Kind: possible.Dict, Elem: possible.Nothing, Shape: possible.NewShape()}
	for _, n := range a.named {
		if slices.ContainsFunc(params, func(p syntax.Expr) bool {
			id := startree.ParamName(p)
			return id != nil && id.Name == n.name && startree.ArgOf(p).Spread == 0
		}) {
			continue
		}
		v := possible.Unmarked(possible.Forget(n.value))
		rest.Elem, rest.Some = possible.Unite(rest.Elem, v, 0), true
		rest.Shape.Put(possible.Entry{Key: starlark.String(n.name), Value: v})
	}
	rest.Elem = possible.Known(rest.Elem)
	return possible.One(rest)
}

// asDefault says why a list or dict is frozen that is the default of a parameter and that calls leave out.
const asDefault = "it is the default of a parameter, made while the file loads"

// bind assigns the arguments of a call to the function's parameters. It reports whether they fit. loaded means that the
// defaults were made while the file loaded.
func (in *Inference) bind(params []syntax.Expr, loaded bool, args *arguments, set func(id *syntax.Ident, v *possible.Value)) bool {
	in.spend(4 * len(params))
	next := 0
	variadic, named := false, false
	taken := 0
	for _, p := range params {
		a := startree.ArgOf(p)
		id := startree.ParamName(p)
		switch {
		case a.Spread == syntax.STAR:
			variadic, named = a.Value != nil, true
			if id != nil {
				rest := possible.Alt{Kind: possible.Tuple, Items: []*possible.Value{}}
				for _, v := range args.values[min(next, len(args.values)):] {
					rest.Items = append(rest.Items, possible.Unmarked(possible.Forget(v)))
				}
				set(id, possible.One(rest))
				next = len(args.values)
			}
			continue
		case a.Spread == syntax.STARSTAR:
			if id != nil {
				set(id, args.others(params))
			}
			taken = len(args.named)
			continue
		}
		_, v := args.get(id.Name)
		switch {
		case !named && next < len(args.values):
			v = args.values[next]
			next++
		case v != nil:
			taken++
		case a.Name != nil:
			v = in.byDefault(a.Value, loaded)
		default:
			return false
		}
		set(id, possible.Unmarked(possible.Forget(v)))
	}
	return (variadic || next == len(args.values)) && taken >= len(args.named)
}
