package infer

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// gives checks the results of a function against its caller's contract.
func (b *body) gives(c *script.Contract) {
	if c.Remedy {
		b.remedies(c)
	}
	want := c.Result
	if want == nil {
		return
	}
	if want = want.Deref(); want.Kind == generable.ErrorType {
		return
	}
	for _, r := range b.returns {
		b.returned(c, want, r)
	}
	if b.end == nil || want.AcceptsNone() {
		return
	}
	def, ok := b.node.(*syntax.DefStmt)
	if !ok {
		return
	}
	which, m := always, (*possible.Mark)(nil)
	if len(b.returns) > 0 {
		which, m = onPath, &possible.Mark{Steps: b.end.trail.Steps()}
		if len(m.Steps) == 0 {
			return
		}
	}
	b.failure(def.Name, diag.NoReturn, which, m, func(f *finding) {
		f.Span = script.NameSpan(def.Name)
		f.says("%s returns nothing, and %s must return %s", def.Name.Name, c.Caller(), want)
		if which == onPath {
			f.says("%s may end without a return, and %s must return %s", def.Name.Name, c.Caller(), want)
		}
		f.help("return a value at its end, or make None one of the outputs: %s | None", want)
	})
}

// remedies checks that a function that handles failed tool calls returns remedies.
func (b *body) remedies(c *script.Contract) {
	for _, r := range b.returns {
		fails := func(a *possible.Alt) bool {
			_, builtin := a.Exact.(*starlark.Builtin)
			return builtin || a.Kind != possible.None && a.Kind != possible.Thing && a.Kind != possible.Unset
		}
		which, m := b.judge(&state{region: r.region}, r.value, fails)
		b.failure(b.resultOf(r), diag.WrongTypeAtBoundary, which, m, func(f *finding) {
			f.says("%s decides about a call that failed: it must return a remedy or None, not %s", c.Caller(), failing(r.value, m, fails).Words())
			f.help("return fixed(value), fix(...), again(...), escalate(...) or give_up(...), or None to inform the model")
		})
	}
}

// resultOf returns the result expression of a function, as written.
func (b *body) resultOf(r result) syntax.Node {
	switch {
	case r.at == nil:
		return b.node.(*syntax.LambdaExpr).Body
	case r.at.Result != nil:
		return r.at.Result
	}
	return r.at
}

// returned checks one returned value.
func (b *body) returned(c *script.Contract, want *generable.Type, r result) {
	at := b.resultOf(r)
	misfits := func(a *possible.Alt) bool {
		return !possible.Fits(a, want, 0) || want.Kind == generable.AnyType && a.IsCode()
	}
	which, m := b.judge(&state{region: r.region}, r.value, misfits)
	b.failure(at, diag.WrongTypeAtBoundary, which, m, func(f *finding) {
		got := r.value
		if which == onPath {
			got = failing(got, m, misfits)
		}
		f.says("%s must return %s, got %s", c.Caller(), possible.CmpOr(want.Kind == generable.AnyType, "data", want.String()), got.Words())
		if a, ok := got.Certain(); ok && a.Kind == possible.Dict && a.Shape != nil && want.Kind == generable.RecordType {
			f.misfit(c.Caller()+" must return", a.Shape, want)
			return
		}
		_, written := at.(*syntax.Literal)
		e, isExpr := at.(syntax.Expr)
		switch {
		case r.at != nil && r.at.Result == nil:
			f.help("return a value: `return x`")
		case isExpr && b.uncalled(f, e, got):
		case want.Kind == generable.AnyType:
			f.help("call it, and return its result")
		case want.Kind == generable.BoolType:
			f.help("compare explicitly: `len(x) > 0`, `x != None`")
		case which == onPath && got.Words() == "None":
			f.help("replace None: `x if x != None else ...`, or make None one of the outputs: %s | None", want)
		case got.Words() == "None":
			f.help("return a value of %s, or make None one of the outputs: %s | None", want, want)
		case want.Kind == generable.StrType:
			f.help("write `str(%s)`, or change the output", b.in.shown(at))
		case want.Kind == generable.IntType && got.Words() == "str" && !written:
			f.help("write `int(%s)`, or change the output", b.in.shown(at))
		case want.Kind == generable.RecordType:
			f.help("make one: `%s`, or change the output", value.Example(want))
		default:
			f.help("return a value of %s, or change the output", want)
		}
	})
}

// given checks a dict that is passed to a node in place of an instance.
func (b *body) given(s *state, n *value.Node, e syntax.Expr, v *possible.Value) {
	in := n.Node.In().Deref()
	misfits := func(a *possible.Alt) bool {
		return !possible.Fits(a, in, 0) && (a.Kind != possible.Dict || a.Shape == nil)
	}
	which, m := b.judge(s, v, misfits)
	if t := v.Type(); which == always && t != nil && script.Conflict(t, in) { // it is reported with the call
		which = works
	}
	if which != works {
		b.failure(e, diag.WrongTypeAtBoundary, which, m, func(f *finding) {
			got := failing(v, m, misfits)
			f.says("%s takes %s, got %s", n.Label(), in, got.Words())
			if p := n.Node.Pos(); p.IsValid() {
				f.Notes = append(f.Notes, diag.Note{Message: n.Label() + " is defined", Pos: p})
			}
			switch a, certain := got.Certain(); {
			case b.uncalled(f, e, got):
			case certain && a.Kind == possible.None:
				b.testBefore(f, e)
			default:
				f.help("pass it a value of its input type")
			}
		})
		b.settle(s, e, which, misfits)
		return
	}
	fails := func(a *possible.Alt) bool {
		if a.Kind != possible.Dict || a.Shape == nil || in.Kind != generable.RecordType {
			return false
		}
		extra, missing, wrong := possible.Against(a.Shape, in, 0)
		return len(extra)+len(missing) > 0 || wrong != nil
	}
	which, m = b.judge(s, v, fails)
	if startree.Written(e) { // it is checked as a whole elsewhere
		which = works
	}
	b.failure(e, diag.WrongTypeAtBoundary, which, m, func(f *finding) {
		v = failing(v, m, fails)
		if p := n.Node.Pos(); p.IsValid() {
			f.Notes = append(f.Notes, diag.Note{Message: n.Label() + " is defined", Pos: p})
		}
		f.misfit(n.Label()+" takes", v.Alts[0].Shape, in)
	})
}

// misfit explains which keys of a dict do not match a schema.
func (f *finding) misfit(who string, s *possible.Shape, t *generable.Type) {
	extra, missing, wrong := possible.Against(s, t, 0)
	switch {
	case len(extra) > 0:
		f.says("%s %s, which has no field %s", who, t, extra[0])
		if near, ok := diag.Suggest(extra[0], t.FieldNames()); ok {
			f.help("did you mean %q?", near)
		} else if len(extra) == 1 && len(missing) == 1 {
			f.help("did you mean %q?", missing[0])
		} else {
			f.help("its fields are %s", script.Joined(t.FieldNames()))
		}
	case len(missing) > 0:
		f.says("%s %s, and this has no %s", who, t, script.Joined(missing))
		f.help("add it: {%q: ...}", missing[0])
	case wrong != nil:
		name := string(wrong.Key.(starlark.String))
		f.says("%s %s, whose %s is %s, got %s", who, t, name, t.Fields[t.FieldIndex(name)].Type, wrong.Value.Words())
		f.help("give %s a value of its type", name)
	}
}

// fields checks the values that a call passes for the fields of a schema.
func (b *body) fields(s *state, x *syntax.CallExpr, t *generable.Type, named []namedArg) {
	for _, n := range named {
		if t.FieldIndex(n.name) < 0 { // it is reported as another kind of error
			continue
		}
		fails := func(a *possible.Alt) bool { return !possible.FitsField(a, t, n.name) }
		which, m := b.judge(s, n.value, fails)
		b.failure(n.expr, diag.WrongValue, which, m, func(f *finding) { b.badField(f, x, t, n, failing(n.value, m, fails)) })
		b.settle(s, n.expr, which, fails)
	}
}

// badField words the message about a field that does not accept a value, as a run does for a constant.
func (b *body) badField(f *finding, x *syntax.CallExpr, t *generable.Type, n namedArg, got *possible.Value) {
	field := &t.Fields[t.FieldIndex(n.name)]
	a := &got.Alts[0]
	if e := possible.Misfit(a, t, n.name); e != nil && len(got.Alts) == 1 && a.Mark == nil {
		given := generable.NewMap(1)
		v, _ := a.Data()
		given.Set(n.name, v)
		d := value.FieldDiagnostic(t, given, e, source.Call{Fn: b.in.u.File.SpanOf(x.Fn)})
		f.Message, f.Help = d.Message, d.Help
		return
	}
	want, shown := field.Type.Deref(), b.in.shown(n.expr)
	f.says("%s: %s: want %s, got %s", t, n.name, field.Type, got.Words())
	switch {
	case b.uncalled(f, n.expr, got):
	case a.Kind == possible.None:
		b.testBefore(f, n.expr)
	case want.Kind == generable.StrType:
		f.help("write `str(%s)`", shown)
	case want.Kind == generable.IntType && a.Kind == possible.Text:
		f.help("write `int(%s)`", shown)
	case want.Kind == generable.FloatType && a.Kind == possible.Text:
		f.help("write `float(%s)`", shown)
	default:
		f.help("%s is declared as %s in %s: pass one, or change its type there", n.name, field.Type, t)
	}
}

// byName checks that a schema is called with its fields by name, and any other type with one value to convert.
func (b *body) byName(s *state, x *syntax.CallExpr, t *generable.Type, args *arguments) {
	record := t.Kind == generable.RecordType
	which, m := works, (*possible.Mark)(nil)
	switch {
	case args.spread || len(args.exprs) == 0 && record || t.Kind == generable.ErrorType:
		return
	case len(args.exprs) != 1 || len(args.named) > 0:
		which = always
	case record:
		which, m = b.judge(s, args.values[0], func(a *possible.Alt) bool { return a.Kind >= possible.None && a.Kind <= possible.Text })
	}
	b.failure(x, diag.TooManyArguments, which, m, func(f *finding) {
		f.Span = b.in.u.File.SpanOf(x.Fn)
		f.says("%s takes one value to convert", t)
		if record {
			f.says("%s takes its fields by name", t)
			f.help("write %s", value.Example(t))
		} else if t.Kind == generable.UnionType {
			f.help("make one of its variants: %s", value.Example(t.Variants[0].Deref()))
		}
	})
}

// replaced checks the fields that replace changes.
func (b *body) replaced(s *state, x *syntax.CallExpr, args *arguments) {
	on := args.values[0]
	for _, n := range args.named {
		fails := func(a *possible.Alt) bool { return a.Kind == possible.Record && a.Typ.FieldIndex(n.name) < 0 }
		which, m := b.judge(s, on, fails)
		b.failure(n.expr, diag.UnknownField, which, m, func(f *finding) {
			t := failing(on, m, fails).Alts[0].Typ
			f.says("%s has no field %s", t, n.name)
			for _, e := range x.Args {
				if a := startree.ArgOf(e); a.Name != nil && a.Name.Name == n.name {
					f.Span = script.NameSpan(a.Name)
				}
			}
			if !b.in.c.Meant(&f.Diagnostic, n.name, t.FieldNames()) {
				f.help("its fields are %s", script.Joined(t.FieldNames()))
			}
		})
	}
	if a, ok := on.Certain(); ok && a.Kind == possible.Record {
		b.fields(s, x, a.Typ, args.named)
	}
}

// unmatched checks that match has a case for a value.
func (b *body) unmatched(s *state, x *syntax.CallExpr, cases *syntax.DictExpr, args *arguments) {
	var keys []starlark.Value
	for _, item := range cases.List {
		pair, ok := item.(*syntax.DictEntry)
		if !ok {
			return
		}
		key := b.in.vals[pair.Key].Exactly()
		if t, isType := key.(*value.Type); key == nil || isType && t.Bare {
			return
		}
		keys = append(keys, key)
	}
	if _, otherwise := args.get("otherwise"); otherwise != nil || len(args.exprs) > 2 || args.spread {
		return
	}
	lacks := func(a *possible.Alt) bool {
		if a.Kind != possible.Record {
			return false
		}
		_, missing := value.Unmatched(b.in.c, a.Typ, keys)
		return len(missing) > 0
	}
	which, m := b.judge(s, args.values[0], lacks)
	b.failure(x.Fn, diag.NotExhaustive, which, m, func(f *finding) {
		of, missing := value.Unmatched(b.in.c, failing(args.values[0], m, lacks).Alts[0].Typ, keys)
		f.says("match does not handle %s of %s", script.Joined(missing), of)
		f.Label = "the variants of " + of.String() + " are " + script.Joined(text.Each(of.Variants, (*generable.Type).String))
		f.help("add %s: function, or otherwise = function", strings.Join(missing, ": function, "))
	})
	if which != works {
		return
	}
	none := func(a *possible.Alt) bool {
		return !slices.ContainsFunc(keys, func(key starlark.Value) bool {
			if t, ok := key.(*value.Type); ok {
				return a.Is(t.T) != possible.NoTruth
			}
			return possible.MayEqual(a, &possible.OfValue(key, "", 0).Alts[0])
		})
	}
	which, m = b.judge(s, args.values[0], none)
	b.failure(x.Fn, diag.NoRoute, which, m, func(f *finding) {
		f.says("match has no case for %s", failing(args.values[0], m, none).Words())
		f.help("add one, or otherwise = function")
	})
}

// fromDict checks the keys of a dict from which a schema is made, passed as a dict or as **kwargs. Literal names are
// checked by their syntax.
func (b *body) fromDict(x *syntax.CallExpr, t *generable.Type, args *arguments) {
	var shape *possible.Shape
	at := syntax.Node(x)
	switch {
	case len(args.exprs) == 1 && len(args.named) == 0:
		if a, ok := args.values[0].Certain(); ok && a.Kind == possible.Dict {
			shape, at = a.Shape, args.exprs[0]
		}
	case slices.ContainsFunc(x.Args, func(arg syntax.Expr) bool { return startree.ArgOf(arg).Spread != 0 }):
		shape = possible.NewShape()
		for _, n := range args.named { // their values are checked one by one
			shape.Put(possible.Entry{Key: starlark.String(n.name), Value: possible.Unknown})
		}
	}
	which := works
	if shape != nil {
		if extra, missing, wrong := possible.Against(shape, t, 0); len(extra)+len(missing) > 0 || wrong != nil {
			which = always
		}
	}
	b.failure(at, diag.WrongValue, which, nil, func(f *finding) { f.misfit("this makes", shape, t) })
}
