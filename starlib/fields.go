package starlib

import (
	"slices"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// checkFields looks into a function that the graph will call with values of known types: a
// field that its schema does not have would only fail in a run, after tokens were spent. What
// is not certain is left to the run.
func (c *composer) checkFields(fn starlark.Value, params ...*generable.Type) {
	f, ok := fn.(*starlark.Function)
	if !ok || c.sealed.Load() {
		return
	}
	u := c.shown[f.Position().Filename()]
	if u == nil || u.file == nil {
		return
	}
	names, body := u.function(f.Position())
	w := fieldWalk{c: c, types: map[string]*generable.Type{}}
	for i, t := range params {
		if i < len(names) && t != nil && names[i] != "" {
			w.types[names[i]] = t
		}
	}
	if len(w.types) == 0 || body == nil {
		return
	}
	for _, n := range body {
		w.unbind(n)
	}
	for _, n := range body {
		w.walk(n)
	}
}

// function finds the parameters and the body of the function at a position.
func (u *unit) function(at syntax.Position) (names []string, body []syntax.Node) {
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
	var params []syntax.Expr
	switch n := u.functions[key(at)].(type) {
	case *syntax.DefStmt:
		params = n.Params
		for _, s := range n.Body {
			body = append(body, s)
		}
	case *syntax.LambdaExpr:
		params, body = n.Params, []syntax.Node{n.Body}
	}
	for _, p := range params {
		switch p := p.(type) {
		case *syntax.Ident:
			names = append(names, p.Name)
		case *syntax.BinaryExpr:
			if id, ok := p.X.(*syntax.Ident); ok {
				names = append(names, id.Name)
			}
		default:
			names = append(names, "") // *args: nothing behind it is by position
		}
	}
	return names, body
}

// fieldWalk is one look into a function.
type fieldWalk struct {
	c     *composer
	types map[string]*generable.Type // of the names that are certain
}

// unbind drops the names that the function assigns itself, or asks about.
func (w *fieldWalk) unbind(n syntax.Node) {
	drop := func(e syntax.Node) {
		syntax.Walk(e, func(n syntax.Node) bool {
			if id, ok := n.(*syntax.Ident); ok {
				delete(w.types, id.Name)
			}
			_, isDot := n.(*syntax.DotExpr)
			return !isDot
		})
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			drop(n.LHS)
		case *syntax.ForStmt:
			drop(n.Vars)
		case *syntax.ForClause:
			drop(n.Vars)
		case *syntax.DefStmt:
			for _, p := range n.Params {
				drop(p)
			}
			delete(w.types, n.Name.Name)
		case *syntax.LambdaExpr:
			for _, p := range n.Params {
				drop(p)
			}
		case *syntax.CallExpr:
			if id, ok := n.Fn.(*syntax.Ident); ok && (id.Name == "hasattr" || id.Name == "isinstance") {
				for _, arg := range n.Args {
					drop(arg)
				}
			}
		}
		return true
	})
}

func (w *fieldWalk) walk(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if dot, ok := n.(*syntax.DotExpr); ok {
			w.attribute(dot)
		}
		return true
	})
}

// attribute reports x.name where the type of x is known and has no such attribute.
func (w *fieldWalk) attribute(dot *syntax.DotExpr) {
	t := w.typeOf(dot.X)
	if t == nil {
		return
	}
	name := dot.Name.Name
	var names []string
	switch t.Kind {
	case generable.RecordType:
		names = t.FieldNames()
	case generable.UnionType:
		for _, v := range t.Variants {
			if v.Deref().Kind != generable.RecordType {
				return
			}
			names = append(names, v.Deref().FieldNames()...)
		}
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
	switch {
	case d.Meant(name, names):
	case t.Kind == generable.RecordType && len(names) > 0:
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

// typeOf is the type of an expression, nil when it is not certain.
func (w *fieldWalk) typeOf(e syntax.Expr) *generable.Type {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return w.typeOf(e.X)
	case *syntax.Ident:
		if t := w.types[e.Name]; t != nil {
			return t.Deref()
		}
	case *syntax.DotExpr:
		if t := w.typeOf(e.X); t != nil && t.Kind == generable.RecordType {
			if i := t.FieldIndex(e.Name.Name); i >= 0 {
				return t.Fields[i].Type.Deref()
			}
		}
	case *syntax.IndexExpr:
		if t := w.typeOf(e.X); t != nil && (t.Kind == generable.ListType || t.Kind == generable.DictType) {
			return t.Elem.Deref()
		}
	}
	return nil
}
