package infer

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/doc"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// builtin returns the result of a call of a builtin, or nil if it never returns, and reports whether it can be called.
func (b *body) builtin(s *state, x *syntax.CallExpr, f *starlark.Builtin, args *arguments) (*possible.Value, bool) {
	name := f.Name()
	row, ours := b.in.table.Lookup(name)
	if own := b.in.c.Predeclared[name]; ours && own != nil && own != starlark.Value(f) {
		t, isType := own.(*value.Type)
		ours = isType && t.Func == f
	}
	if !ours && starlark.Universe[name] == nil {
		return possible.Unknown, true
	}
	if name == "fail" {
		return nil, true
	}
	if own, ok := starlark.Universe[name].(*starlark.Builtin); ok && (!ours || own == f) {
		b.try(s, x, nil, nil, args, func(*possible.Alt) *starlark.Builtin { return own })
	}
	if v := b.ofItems(s, name, args); v != nil {
		return v, true
	}
	if v := possible.Universals[name]; v != nil && !v.Opaque() {
		return v, true
	}
	if ours {
		if v := ofForm(name, args); v != nil {
			return v, true
		}
		if v := b.orchestrated(s, x, name, args); v != nil {
			return v, true
		}
		return b.in.rowGives(row), true
	}
	return possible.Unknown, true
}

// ofForm returns the result of a builtin whose result type depends on an argument, or nil for any other call.
func ofForm(name string, args *arguments) *possible.Value {
	var given *possible.Value
	if len(args.values) > 0 {
		given = args.values[0]
	} else if len(args.named) > 0 {
		given = args.named[0].value
	}
	switch {
	case args.spread:
	case name == "now" && (given == nil || given.Exactly() == starlark.String("text")):
		return possible.OfKind(possible.Text)
	case name == "now" && given.Exactly() != nil, name == "random" && given == nil:
		return possible.OfKind(possible.Float)
	case name == "random":
		return possible.OfKind(possible.Integer)
	}
	return nil
}

// ofItems returns the result of an interpreter function that iterates over its argument, or nil for any other function.
func (b *body) ofItems(s *state, name string, args *arguments) *possible.Value {
	if args.spread || len(args.values) == 0 {
		return nil
	}
	elem, some := itemsOf(args.values[0])
	item := possible.OrUnknown(elem)
	holding := func(k possible.Kind) *possible.Value {
		return possible.One(possible.Alt{Kind: k, Elem: possible.Known(possible.Unmarked(elem)), Some: some})
	}
	switch name {
	case "sorted", "min", "max":
		if key, _ := args.get("key"); key != nil {
			if name != "sorted" && len(args.values) > 1 {
				item = possible.Unknown
				for i, v := range args.values {
					item = possible.CmpOr(i == 0, v, possible.Unite(item, v, 0))
				}
			}
			b.hand(s, key, item)
		}
		if name == "sorted" {
			return holding(possible.List)
		}
		if len(args.values) == 1 {
			return possible.Unmarked(item)
		}
		return possible.Unknown
	case "list", "reversed":
		return holding(possible.List)
	case "set":
		return holding(possible.Set)
	case "enumerate":
		return possible.One(possible.Alt{Kind: possible.List, Elem: possible.One(possible.Alt{Kind: possible.Tuple, Items: []*possible.Value{possible.OfKind(possible.Integer), possible.Unmarked(item)}}), Some: some})
	case "range":
		n, isInt := args.values[0].Exactly().(starlark.Int)
		return possible.One(possible.Alt{Kind: possible.Ranged, Elem: possible.OfKind(possible.Integer), Some: isInt && len(args.values) == 1 && n.Sign() > 0})
	case "dict":
		return possible.OfKind(possible.Dict)
	}
	return nil
}

// itemsOf returns what the items of a value may be, and reports whether there is certainly at least one.
func itemsOf(v *possible.Value) (item *possible.Value, some bool) {
	if v.Any || len(v.Alts) == 0 {
		return possible.Unknown, false
	}
	item, some = possible.Nothing, true
	for i := range v.Alts {
		r, ok := v.Alts[i].Each()
		if !ok {
			r = possible.Unknown
		}
		item, some = possible.Unite(item, r, 0), some && v.Alts[i].Filled()
	}
	return item, some
}

// hand records that a builtin calls a function or node with these values, and returns the result of that call.
func (b *body) hand(s *state, f syntax.Expr, values ...*possible.Value) *possible.Value {
	if lambda, ok := startree.Unparen(f).(*syntax.LambdaExpr); ok && b.in.quiet == 0 {
		put(&b.in.handed, lambda, values)
	}
	fn := b.in.vals[f]
	out := possible.Nothing
	b.in.calledAs(f, &arguments{values: values})
	if fn == nil || fn.Any {
		return possible.Unknown
	}
	for i := range fn.Alts {
		a := &fn.Alts[i]
		var v *possible.Value
		switch x := a.Exact.(type) {
		case *value.Node:
			if x.Node.Failed() {
				return possible.Unknown
			}
			v = possible.OfType(x.Node.Out(), "`"+x.Label()+"` returned it")
		case *value.Type:
			if v = possible.Universals[x.T.String()]; x.Func == nil {
				v = possible.OfType(x.T, "")
			}
		}
		if a.Kind == possible.Function {
			v = b.in.result(b, a, &arguments{values: values})
		}
		out = possible.Unite(out, possible.OrUnknown(v), 0)
	}
	return possible.OrUnknown(out)
}

// orchestrated returns the result of a builtin that calls its arguments, or nil for any other builtin.
func (b *body) orchestrated(s *state, x *syntax.CallExpr, name string, args *arguments) *possible.Value {
	if args.spread || len(args.exprs) == 0 {
		return nil
	}
	policy, raises := args.get("on_error")
	word, known := raises.Exactly().(starlark.String)
	keeps := policy != nil && (!known || word == "keep")
	sure := policy == nil || raises.Exactly() == starlark.String("raise")
	listOf := func(v *possible.Value, some bool) *possible.Value {
		if keeps {
			t := v.Type()
			if t == nil || raises.Exactly() != starlark.String("keep") {
				return possible.One(possible.Alt{Kind: possible.List, Some: some})
			}
			v = possible.OfType(flow.AttemptOf(t), "")
		}
		return possible.One(possible.Alt{Kind: possible.List, Elem: possible.Known(possible.Unmarked(v)), Some: some && (sure || keeps)})
	}
	itemOf := func(v *possible.Value) (*possible.Value, bool) {
		item, some := itemsOf(v)
		return possible.Unmarked(possible.OrUnknown(item)), some
	}
	switch name {
	case "parallel", "stream", "race":
		b.captures(name, args.exprs)
	}
	switch name {
	case "parallel":
		if len(args.exprs) == 2 {
			item, some := itemOf(args.values[1])
			return listOf(b.hand(s, args.exprs[0], item), some)
		}
		if each, ok := startree.Unparen(args.exprs[0]).(*syntax.Comprehension); ok && !each.Curly {
			return listOf(b.handCall(s, each.Body), false)
		}
		calls, ok := startree.Unparen(args.exprs[0]).(*syntax.ListExpr)
		if !ok {
			return possible.OfKind(possible.List)
		}
		out := possible.Nothing
		for _, item := range calls.List {
			out = possible.Unite(out, b.handCall(s, item), 0)
		}
		return listOf(out, len(calls.List) > 0)
	case "stream":
		item, some := itemOf(args.values[0])
		for _, stage := range args.exprs[1:] {
			item = b.hand(s, stage, item)
		}
		return listOf(item, some)
	case "attempt":
		if t := b.hand(s, args.exprs[0], args.values[1:]...).Type(); t != nil {
			return possible.OfType(flow.AttemptOf(t), "`attempt` returned it")
		}
		return possible.OfType(flow.AttemptOf(anyType), "`attempt` returned it")
	case "retry":
		return b.hand(s, args.exprs[0], args.values[1:]...)
	case "fallback", "race":
		calls, ok := startree.Unparen(args.exprs[0]).(*syntax.ListExpr)
		if !ok || len(args.exprs) > 2 {
			return possible.Unknown
		}
		out := possible.Nothing
		for _, item := range calls.List {
			if len(args.exprs) == 2 {
				out = possible.Unite(out, b.hand(s, item, args.values[1]), 0)
			} else {
				out = possible.Unite(out, b.handCall(s, item), 0)
			}
		}
		return possible.OrUnknown(out)
	case "match":
		return b.match(s, x, args)
	case "approve":
		return possible.OfType(engine.ApprovalType, "`approve` returned it")
	case "replace":
		b.replaced(s, x, args)
		noInstance := func(a *possible.Alt) bool {
			return a.Kind != possible.Record && a.Kind != possible.Thing && a.Kind != possible.Unset
		}
		which, m := b.judge(s, args.values[0], noInstance)
		if a, ok := args.values[0].Certain(); ok && a.Exact != nil { // it is reported with the call
			which = works
		}
		b.failure(args.exprs[0], diag.WrongArgument, which, m, func(f *finding) {
			f.says("replace changes a copy of an instance, and `%s` is %s", b.in.shown(args.exprs[0]), failing(args.values[0], m, noInstance).Words())
			f.help("of a dict it is `dict(d, key = value)`; a text has `s.replace(old, new)`")
		})
		if a, ok := args.values[0].Certain(); ok && a.Kind == possible.Record {
			given := map[string]*possible.Value{}
			for name, v := range a.Fields {
				given[name] = v
			}
			for _, n := range args.named {
				given[n.name] = n.value
			}
			return possible.Constructed(a.Typ, given)
		}
	case "sum":
		b.summed(s, x, args)
		if a, ok := args.values[0].Certain(); ok && a.Elem != nil {
			if e, ok := a.Elem.Certain(); ok && e.Kind == possible.Integer && len(args.values) == 1 {
				return possible.OfKind(possible.Integer)
			}
		}
		return possible.Unknown
	}
	return nil
}

// summed reports a sum whose items cannot be added to its start.
func (b *body) summed(s *state, x *syntax.CallExpr, args *arguments) {
	if len(args.values) != 1 || len(args.named) > 0 {
		return
	}
	item, some := possible.Nothing, true
	for i := range args.values[0].Alts {
		r, ok := args.values[0].Alts[i].Each()
		if !ok {
			return
		}
		item, some = possible.Unite(item, r, 0), some && args.values[0].Alts[i].Filled()
	}
	which := works
	var m *possible.Mark
	if !args.values[0].Any && possible.All(item, func(a *possible.Alt) bool {
		return a.Kind != possible.Integer && a.Kind != possible.Float && a.Kind != possible.Boolean && a.Kind != possible.Thing
	}) {
		if which = always; !some {
			which, m = onPath, &possible.Mark{Steps: []possible.Step{{At: startOf(x), Says: "when `" + b.in.shown(args.exprs[0]) + "` is not empty"}}}
		}
	}
	b.failure(used{args.exprs[0], "items"}, diag.WrongOperand, which, m, func(f *finding) {
		f.says("sum adds numbers, and an item of `%s` is %s", b.in.shown(args.exprs[0]), item.Words())
		switch a, _ := item.Certain(); a.Kind {
		case possible.Text:
			f.help("texts are joined: `\"\".join(%s)`", b.in.shown(args.exprs[0]))
		case possible.List:
			f.help("lists are added with a list to begin with: `sum(%s, [])`", b.in.shown(args.exprs[0]))
		default:
			f.help("add one of their fields: `sum([x.n for x in %s])`", b.in.shown(args.exprs[0]))
		}
	})
}

// captures handles functions that a builtin runs in branches of the run: what they capture is frozen. A named function
// counts only if its name is read nowhere else.
func (b *body) captures(by string, fs []syntax.Expr) {
	for _, f := range fs {
		switch x := startree.Unparen(f).(type) {
		case *syntax.ListExpr:
			b.captures(by, x.List)
			continue
		case *syntax.TupleExpr:
			b.captures(by, x.List[:min(1, len(x.List))])
			continue
		}
		a, ok := b.in.vals[startree.Unparen(f)].Certain()
		if !ok || a.Code == nil || !a.Code.Nested || len(a.Code.Env) == 0 || !b.readOnce(f) {
			continue
		}
		env := map[*syntax.Ident]*possible.Value{}
		for name, v := range a.Code.Env {
			env[name] = v.Freeze("`" + by + "` freezes what its functions use of the code around them")
		}
		b.in.nest(&possible.Closure{Node: a.Code.Node, Nested: true, Env: env})
	}
}

// readOnce reports whether a function has no name, or one that is read only here.
func (b *body) readOnce(f syntax.Expr) bool {
	id, named := startree.Unparen(f).(*syntax.Ident)
	if !named {
		return true
	}
	first, _ := source.Local(id)
	reads := 0
	syntax.Walk(b.node, func(n syntax.Node) bool {
		if other, ok := n.(*syntax.Ident); ok && other.Name == id.Name {
			if of, _ := source.Local(other); of == first && other != first {
				reads++
			}
		}
		return true
	})
	b.in.spend(b.in.names.Size)
	return first != nil && reads == 1 && b.in.names.Binds[first] == 1
}

// handCall handles (f, x), or f alone, in a list of calls.
func (b *body) handCall(s *state, item syntax.Expr) *possible.Value {
	item = startree.Unparen(item)
	call, ok := item.(*syntax.TupleExpr)
	if !ok {
		return b.hand(s, item)
	}
	if len(call.List) == 0 {
		return possible.Unknown
	}
	var values []*possible.Value
	for _, e := range call.List[1:] {
		values = append(values, possible.Unmarked(possible.Forget(possible.OrUnknown(b.in.vals[e]))))
	}
	return b.hand(s, call.List[0], values...)
}

// match handles match(v, {T: f}).
func (b *body) match(s *state, x *syntax.CallExpr, args *arguments) *possible.Value {
	if len(args.exprs) < 2 {
		return possible.Unknown
	}
	cases, ok := startree.Unparen(args.exprs[1]).(*syntax.DictExpr)
	if !ok {
		return possible.Unknown
	}
	b.unmatched(s, x, cases, args)
	out := possible.Nothing
	for _, item := range cases.List {
		pair, ok := item.(*syntax.DictEntry)
		if !ok {
			return possible.Unknown
		}
		v := possible.Unknown
		if t, ok := b.in.vals[pair.Key].Exactly().(*value.Type); ok && !t.Bare {
			v = possible.OfType(t.T, "")
		}
		if lambda, ok := startree.Unparen(pair.Value).(*syntax.LambdaExpr); ok && len(lambda.Params) == 0 {
			out = possible.Unite(out, possible.Unknown, 0)
			continue
		}
		out = possible.Unite(out, b.hand(s, pair.Value, v), 0)
	}
	if len(args.exprs) > 2 || len(args.named) > 0 {
		return possible.Unknown
	}
	return possible.OrUnknown(out)
}

// row returns the row of a builtin in the table, or nil if it has none.
func (in *Inference) row(name string) *table.Builtin {
	row, _ := in.table.Lookup(name)
	return row
}

// rowGives returns the result that a row of the table declares for a call.
func (in *Inference) rowGives(row *table.Builtin) *possible.Value {
	if row == nil {
		return possible.Unknown
	}
	if possible.OpaqueParts[row.Returns] {
		return in.partOf(row)
	}
	out := possible.Nothing
	for word := range strings.SplitSeq(row.Returns, " | ") {
		v := possible.Scalar(word)
		if t, ok := in.c.Predeclared[word].(*value.Type); ok && v == possible.Unknown && !t.Bare {
			v = possible.OfType(t.T, "")
		} else if t, ok := doc.Result(word); ok && v == possible.Unknown {
			v = possible.OfType(t, "a builtin returned it")
		}
		out = possible.Unite(out, v, 0)
	}
	return out
}

// Part is a value that becomes part of an agent.
type Part = possible.Part

func (in *Inference) partOf(row *table.Builtin) *possible.Value {
	return memo(&in.parts, row, func() *possible.Value {
		return possible.One(possible.Alt{Kind: possible.Thing, Exact: &possible.Part{Row: row}})
	})
}
