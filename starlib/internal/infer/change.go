package infer

import (
	"cmp"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/possible"
)

// change handles a method call: it fails on a frozen receiver, and otherwise may change what is known.
func (b *body) change(s *state, x *syntax.CallExpr, dot *syntax.DotExpr, on *possible.Value, args *arguments) {
	name := dot.Name.Name
	fails := func(a *possible.Alt) bool {
		switch {
		case a.Frozen == "" || !possible.Changing[a.Kind][name]:
			return false
		case name == "setdefault": // changes nothing if the key is present
			return false
		case name == "update":
			return len(args.named) > 0 || len(args.values) == 1 && possible.All(args.values[0], func(arg *possible.Alt) bool { return arg.Some })
		}
		return true
	}
	which, m := b.judge(s, on, fails)
	b.failure(x, diag.FrozenValue, which, m, func(f *finding) { b.frozen(f, dot.X, on) })
	i, own := b.own(s, dot.X)
	if !own {
		return
	}
	v := s.vars[i]
	out := &possible.Value{Any: v.Any}
	for _, a := range v.Alts {
		if a.Frozen == "" && (a.Kind == possible.List || a.Kind == possible.Dict || a.Kind == possible.Set) {
			a = a.Changed(name, args.values, args.spread)
		}
		out.Alts = append(out.Alts, a)
	}
	s.vars[i] = out
}

// own returns the slot of a local name whose possible values are known.
func (b *body) own(s *state, e syntax.Expr) (int, bool) {
	id, ok := startree.Unparen(e).(*syntax.Ident)
	if !ok {
		return 0, false
	}
	i, ok := b.slot(id)
	return i, ok && s.vars[i] != nil
}

// hashed handles the key of an entry of a dict, which must be hashable.
func (b *body) hashed(s *state, e syntax.Expr, key *possible.Value) {
	which, m := b.judge(s, key, (*possible.Alt).Unhashable)
	b.failure(used{e, "key"}, diag.WrongOperand, which, m, func(f *finding) {
		f.says("a key of a dict does not change, and `%s` is %s", b.in.shown(e), failing(key, m, (*possible.Alt).Unhashable).Words())
		if possible.All(key, func(a *possible.Alt) bool {
			return a.Kind == possible.List && !possible.All(possible.OrUnknown(a.Elem), (*possible.Alt).Unhashable)
		}) {
			f.help("make a tuple of it: `tuple(%s)`", b.in.shown(e))
		} else {
			f.help("use a text of it: `str(%s)`", b.in.shown(e))
		}
	})
	b.settle(s, e, which, (*possible.Alt).Unhashable)
}

// setIndex handles x[key] = v.
func (b *body) setIndex(s *state, x *syntax.IndexExpr, on, key, v *possible.Value) {
	if on == nil {
		return
	}
	fails := func(a *possible.Alt) bool {
		switch a.Kind {
		case possible.List, possible.Dict:
			return a.Frozen != ""
		case possible.Thing:
			_, ok := a.Exact.(starlark.HasSetKey)
			_, also := a.Exact.(starlark.HasSetIndex)
			return !ok && !also
		case possible.Unset:
			return false
		}
		return true
	}
	which, m := b.judge(s, on, fails)
	b.failure(x, diag.FrozenValue, which, m, func(f *finding) { b.frozen(f, x.X, on) })
	i, own := b.own(s, x.X)
	if !own {
		return
	}
	item := possible.Unmarked(possible.Forget(v))
	out := &possible.Value{Any: s.vars[i].Any}
	for _, a := range s.vars[i].Alts {
		if a.Frozen == "" && (a.Kind == possible.List || a.Kind == possible.Dict) {
			a.Elem, a.Items = possible.Joined(a.Elem, item), nil
			a.Typ = nil
			if k := possible.KeyOf(key.Exactly()); a.Kind == possible.Dict && a.Shape != nil && k != nil && len(a.Shape.Keys) < possible.MostKeys {
				a.Shape = a.Shape.With(k, item)
			} else {
				a.Shape = nil
			}
			a.Some = true
		}
		out.Alts = append(out.Alts, a)
	}
	s.vars[i] = out
}

// setField handles x.name = v, which no value of a script supports.
func (b *body) setField(s *state, x *syntax.DotExpr, on *possible.Value) {
	if on == nil {
		return
	}
	fails := func(a *possible.Alt) bool {
		if a.Kind == possible.Thing {
			_, ok := a.Exact.(starlark.HasSetField)
			return !ok
		}
		return a.Kind != possible.Unset
	}
	which, m := b.judge(s, on, fails)
	b.failure(x, diag.FrozenValue, which, m, func(f *finding) {
		f.says("the fields of `%s` do not change", b.in.shown(x.X))
		if a := on.Alts[0]; a.Kind == possible.Record {
			f.help("make another one: `%s = replace(%s, %s = ...)`", newName(x.X), b.in.shown(x.X), x.Name.Name)
		} else if a.Kind == possible.Dict {
			f.help("an entry of a dict is `%s[%q] = ...`", b.in.shown(x.X), x.Name.Name)
		} else {
			f.help("keep the value in a separate variable")
		}
	})
}

// frozen words the message about a change to a frozen value.
func (b *body) frozen(f *finding, e syntax.Expr, on *possible.Value) {
	shown := b.in.shown(e)
	why, k := "", possible.Kind(0)
	for _, a := range on.Alts {
		if why == "" {
			why, k = a.Frozen, a.Kind
		}
	}
	if why == "" {
		f.says("`%s` is %s, whose parts cannot be changed", shown, on.Words())
		if a := on.Alts[0]; a.Kind == possible.Record {
			f.help("make another one: `%s = replace(%s, field = ...)`", newName(e), shown)
		} else {
			f.help("make a new value")
		}
		return
	}
	if why == iterated {
		f.says("`%s` cannot change here: %s", shown, why)
		f.help("iterate over a copy: `for x in list(%s)`", shown)
		return
	}
	f.says("`%s` is frozen: %s", shown, why)
	id, named := startree.Unparen(e).(*syntax.Ident)
	local := false
	if named {
		_, local = b.slot(id)
	}
	if strings.HasPrefix(why, "`") && !local { // a change would not reach the surrounding code
		f.help("return the new value: the caller gets what each branch returned")
		return
	}
	if name := b.helper(); name != "" && named && !local && b.in.u.Globals[id.Name] != nil {
		f.help("make it where `%s` is called, `%s = %s`, and pass it to `%s` as an argument of that name: the caller sees the changes", name, id.Name, b.in.start(id.Name), name)
		return
	}
	if named && !local && b.in.u.Globals[id.Name] != nil && b.in.start(id.Name) != "..." {
		f.help("write `%s = %s` before any loop in this function, and return the new value", id.Name, b.in.start(id.Name))
		return
	}
	maker := map[possible.Kind]string{possible.List: "list", possible.Dict: "dict", possible.Set: "set"}[k]
	f.help("before any loop, make a copy, `copy = %s(%s)`, and change and use that", maker, shown)
}

// helper returns the name of the function if other functions of the file call it and the flow does not, or "".
func (b *body) helper() string {
	def, ok := b.node.(*syntax.DefStmt)
	if !ok || b.in.calls[def] == nil || b.in.u.Called[def] != nil {
		return ""
	}
	return def.Name.Name
}

// newName returns a name for a value that replaces another one.
func newName(e syntax.Expr) string {
	if id, ok := startree.Unparen(e).(*syntax.Ident); ok {
		return id.Name
	}
	return "changed"
}

// augmented handles x += y and the like. It reports whether the code after it is reachable.
func (b *body) augmented(s *state, x *syntax.AssignStmt) bool {
	op := x.Op - syntax.PLUS_EQ + syntax.PLUS
	b.changed = x
	old := b.plain(s, x.LHS)
	v := b.eval(s, x.RHS)
	if v == nil {
		return false
	}
	inPlace := func(a *possible.Alt) bool {
		return op == syntax.PLUS && a.Kind == possible.List && hasItems(v) || op == syntax.PIPE && a.Kind == possible.Dict
	}
	fails := func(a *possible.Alt) bool { return a.Frozen != "" && inPlace(a) }
	which, m := b.judge(s, old, fails)
	b.failure(x.LHS, diag.FrozenValue, which, m, func(f *finding) { b.frozen(f, x.LHS, old) })
	var out *possible.Value
	if possible.All(old, func(a *possible.Alt) bool { return a.Kind == possible.List }) && op == syntax.PLUS {
		item, _ := b.iterate(s, x.RHS, v)
		a, _ := old.Certain()
		out = possible.One(possible.Alt{Kind: possible.List, Elem: possible.Joined(a.Elem, possible.Known(item)), Some: a.Some, Frozen: a.Frozen})
	} else {
		out = b.operator(s, x, op, old, v, x.LHS, x.RHS)
	}
	if which == always {
		out = old
	}
	switch lhs := startree.Unparen(x.LHS).(type) {
	case *syntax.Ident:
		b.assignName(s, lhs, out, true)
	case *syntax.IndexExpr:
		on, key := b.in.vals[startree.Unparen(lhs.X)], b.in.vals[startree.Unparen(lhs.Y)]
		b.setIndex(s, lhs, cmp.Or(on, possible.Unknown), cmp.Or(key, possible.Unknown), out)
	case *syntax.DotExpr:
		if on := b.in.vals[startree.Unparen(lhs.X)]; on != nil {
			b.setField(s, lhs, on)
		}
	}
	return true
}

// hasItems reports whether a value is certainly a container.
func hasItems(v *possible.Value) bool {
	return possible.All(v, func(a *possible.Alt) bool {
		_, ok := a.Each()
		return ok && a.Kind != possible.Unset && a.Kind != possible.Thing
	})
}
