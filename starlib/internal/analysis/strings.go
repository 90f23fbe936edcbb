package analysis

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// inString returns what may appear in the string at the place.
func (v *View) inString(p *Place, at *syntax.Literal) Completion {
	c := Completion{Range: p.Word}
	content, _ := at.Value.(string)
	before, _, _ := strings.Cut(content, placeholder)
	typed := before + p.typed
	if i := strings.LastIndex(typed, "{{"); i >= 0 && !strings.Contains(typed[i:], "}}") {
		c.Items = append([]Candidate{{"input", "input", "field", "the whole input"}}, v.fields(at)...)
		return c.beginning(p.typed)
	}
	c.From -= len(before) // a completed string has no escapes
	c.Items = v.texts(at, typed)
	return c.beginning(typed)
}

// texts lists what the string at the place may be.
func (v *View) texts(at *syntax.Literal, typed string) (out []Candidate) {
	values := func(list []choice) {
		for _, s := range list {
			out = append(out, Candidate{s.text, s.text, "value", s.doc})
		}
	}
	switch x := v.Query.path[len(v.Query.path)-2].(type) {
	case *syntax.LoadStmt:
		if x.Module == at {
			return v.files(typed, ".star")
		}
		return nil
	case *syntax.BinaryExpr:
		if x.Op == syntax.EQL || x.Op == syntax.NEQ {
			other := x.X
			if other == syntax.Expr(at) {
				other = x.Y
			}
			for _, t := range v.of(other, 0) {
				if t.typ != nil {
					values(enumValues(t.typ))
				}
			}
		}
	case *syntax.IndexExpr:
		for _, t := range v.of(x.X, 0) {
			if typ, ok := t.value.(*value.Type); ok {
				values(enumValues(typ.T))
			} else if t.typ != nil {
				out = append(out, fieldsOf(t.typ)...)
			}
		}
	case *syntax.DictEntry:
		if x.Key == syntax.Expr(at) {
			for _, c := range v.unhandled() {
				if s, ok := strings.CutPrefix(c.Name, `"`); ok {
					values([]choice{{strings.TrimSuffix(s, `"`), c.Doc}})
				}
			}
		}
	}
	call, arg := v.argument()
	if call == nil {
		return out
	}
	values(v.expected(call, arg))
	for _, c := range v.callees(call) {
		if p := c.paramOf(call, arg); p != nil {
			for _, subject := range p.names {
				out = append(out, v.subjects(subject, typed)...)
			}
		}
	}
	return out
}

// fieldNames lists the field names that a text may be: the fields of the input there or, if that is not known, those of
// all schemas of the script.
func (v *View) fieldNames() (out []Candidate) {
	path := v.Query.path
	types := v.inputs(path[len(path)-1])
	for i := len(path) - 2; i > 0 && types == nil; i-- {
		if call, ok := path[i].(*syntax.CallExpr); ok {
			for _, t := range v.handed(call, 0) {
				types = append(types, t.typ)
			}
		}
	}
	if types == nil {
		types = v.State.Types.All
	}
	for _, t := range types {
		out = append(out, fieldsOf(t)...)
	}
	return out
}

// fields lists the fields that a template's placeholder may name: the fields of its input.
func (v *View) fields(at *syntax.Literal) (out []Candidate) {
	for _, t := range v.inputs(at) {
		out = append(out, fieldsOf(t)...)
	}
	return out
}

// inputs returns the types of the input at a place: those that the argument input declares, or the output types of what
// precedes it.
func (v *View) inputs(at syntax.Node) (types []*generable.Type) {
	take := func(things []thing) {
		for _, t := range things {
			if typ, ok := t.value.(*value.Type); ok {
				types = append(types, typ.T)
			}
		}
	}
	path := v.Query.path
	for i := slices.Index(path, at) - 1; i > 0; i-- {
		switch n := path[i].(type) {
		case *syntax.CallExpr:
			for j, arg := range n.Args {
				a := startree.ArgOf(arg)
				if id, ok := n.Fn.(*syntax.Ident); a.Name != nil && a.Name.Name == "input" || ok && id.Name == "template" && j == 1 && a.Name == nil {
					take(v.of(a.Value, 0))
				}
			}
		case *syntax.BinaryExpr:
			if out := v.returned(n.X, 0); n.Op == syntax.GTGT && out != nil && startree.Unparen(n.Y) == path[i+1] {
				types = append(types, out)
			}
		}
	}
	return types
}
