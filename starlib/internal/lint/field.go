package lint

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/thread"
)

// CheckFields remembers the types of the values that the graph will call a function with, and looks
// into it: a field that its schema does not have would only fail in a run, after tokens were
// spent. What is not certain is left to the run.
func CheckFields(c *script.State, fn starlark.Value, params ...*generable.Type) {
	f, ok := fn.(*starlark.Function)
	if !ok || c.Sealed.Load() {
		return
	}
	u := c.ByName[f.Position().Filename()]
	if u == nil || u.File == nil || !slices.ContainsFunc(params, func(t *generable.Type) bool { return t != nil }) {
		return
	}
	body := u.Function(f.Position())
	if body == nil {
		return
	}
	if !u.Typed(body, params) {
		return
	}
	w := fieldWalk{c: c, typeOf: infer(c, u, body, params).typeOf}
	syntax.Walk(body, func(n syntax.Node) bool {
		if dot, ok := n.(*syntax.DotExpr); ok {
			w.attribute(dot)
		}
		return true
	})
}

// fieldWalk is one look into a function.
type fieldWalk struct {
	c      *script.State
	typeOf func(syntax.Expr) *generable.Type // nil when it is not certain
}

// attribute reports x.name where the type of x is known and has no such attribute, and whether it did.
func (w *fieldWalk) attribute(dot *syntax.DotExpr) bool {
	t := w.typeOf(dot.X)
	if t == nil {
		return false
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
				return false
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
		return false
	}
	if slices.Contains(names, name) {
		return false
	}
	d := &diag.Diagnostic{Code: diag.UnknownAttribute, Message: t.String() + " has no ." + name,
		Span: script.NameSpan(dot.Name)}
	switch help := thread.Foreign()[t.String()][name]; {
	case help != "":
		d.Help = []string{"write " + help}
	case d.Meant(name, names):
	case (t.Kind == generable.RecordType || single) && len(names) > 0:
		d.Help = []string{"its fields are " + script.Joined(names)}
	case t.Kind == generable.UnionType || t.Kind == generable.OneOfType:
		d.Help = []string{"not every variant has it: match(v, {Variant: f, ...}) tells them apart"}
	case len(names) == 0:
		d.Help = []string{"a value of this type has no fields and no methods"}
	case t.Kind != generable.DictType:
		d.Help = []string{"its methods are " + script.Joined(names)}
	default:
		d.Help = []string{`an entry of a dict is d["` + name + `"]`}
	}
	w.c.Session.Report(d)
	return true
}
