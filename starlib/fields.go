package starlib

import (
	"slices"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// checkFields remembers the types of the values that the graph will call a function with, and looks
// into it: a field that its schema does not have would only fail in a run, after tokens were
// spent. What is not certain is left to the run.
func (c *state) checkFields(fn starlark.Value, params ...*generable.Type) {
	f, ok := fn.(*starlark.Function)
	if !ok || c.sealed.Load() {
		return
	}
	u := c.shown[f.Position().Filename()]
	if u == nil || u.file == nil || !slices.ContainsFunc(params, func(t *generable.Type) bool { return t != nil }) {
		return
	}
	body := u.function(f.Position())
	if body == nil {
		return
	}
	if !u.typed(body, params) {
		return
	}
	w := fieldWalk{c: c, typeOf: c.infer(u, body, params).typeOf}
	syntax.Walk(body, func(n syntax.Node) bool {
		if dot, ok := n.(*syntax.DotExpr); ok {
			w.attribute(dot)
		}
		return true
	})
}

// typed keeps what a function is called with, for [state.checkCalls]. One that is called with
// values of several types, as that of a factory may be, has none that is certain. It reports whether
// this is new: a factory may make many nodes of one function.
func (u *unit) typed(fn syntax.Node, params []*generable.Type) bool {
	if u.params == nil {
		u.params = map[syntax.Node][]*generable.Type{}
	}
	old, twice := u.params[fn]
	if !twice {
		u.params[fn] = slices.Clone(params)
		return true
	}
	differs := len(old) != len(params)
	for i := range old {
		if i >= len(params) || old[i] != params[i] {
			old[i], differs = nil, true
		}
	}
	return differs
}

// function finds the function at a position.
func (u *unit) function(at syntax.Position) syntax.Node {
	if u.functions == nil {
		u.functions = map[syntax.Position]syntax.Node{}
		syntax.Walk(u.file.Syntax(), func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt:
				u.functions[key(n.Def)] = n
				u.functions[key(n.Name.NamePos)] = n
			case *syntax.LambdaExpr:
				u.functions[key(n.Lambda)] = n
			}
			return true
		})
	}
	return u.functions[key(at)]
}

// indexFunctions has runs find functions, and change nothing.
func (c *state) indexFunctions() {
	for _, u := range c.units {
		if u.file != nil {
			u.function(syntax.Position{})
		}
	}
}

// fieldWalk is one look into a function.
type fieldWalk struct {
	c      *state
	typeOf func(syntax.Expr) *generable.Type // nil when it is not certain
}

// attribute reports x.name where the type of x is known and has no such attribute.
func (w *fieldWalk) attribute(dot *syntax.DotExpr) {
	t := w.typeOf(dot.X)
	if t == nil {
		return
	}
	name := dot.Name.Name
	var names []string
	single := false // a schema or None
	switch t.Kind {
	case generable.RecordType:
		names = t.FieldNames()
	case generable.UnionType, generable.OneOfType: // None has no attributes, whatever else there is
		records := 0
		for _, v := range t.Variants {
			if v.Deref().Kind == generable.NoneType {
				continue
			}
			if v.Deref().Kind != generable.RecordType {
				return
			}
			names = append(names, v.Deref().FieldNames()...)
			records++
		}
		single = records == 1
	case generable.StrType, generable.EnumType:
		names = starlark.String("").AttrNames()
	case generable.ListType:
		names = (*starlark.List)(nil).AttrNames()
	case generable.DictType:
		names = (*starlark.Dict)(nil).AttrNames()
	case generable.IntType, generable.FloatType, generable.BoolType:
	default:
		return
	}
	if slices.Contains(names, name) {
		return
	}
	d := &diag.Diagnostic{Code: diag.UnknownAttribute, Message: t.String() + " has no ." + name,
		Span: diag.Span{Pos: position(dot.Name.NamePos), Len: utf8.RuneCountInString(name)}}
	switch help := foreignFields[t.String()][name]; {
	case help != "":
		d.Help = []string{"write " + help}
	case d.Meant(name, names):
	case (t.Kind == generable.RecordType || single) && len(names) > 0:
		d.Help = []string{"its fields are " + joined(names)}
	case t.Kind == generable.UnionType || t.Kind == generable.OneOfType:
		d.Help = []string{"not every variant has it: match(v, {Variant: f, ...}) tells them apart"}
	case len(names) == 0:
		d.Help = []string{"a value of this type has no fields and no methods"}
	case t.Kind != generable.DictType:
		d.Help = []string{"its methods are " + joined(names)}
	default:
		d.Help = []string{`an entry of a dict is d["` + name + `"]`}
	}
	w.c.session.Report(d)
}
