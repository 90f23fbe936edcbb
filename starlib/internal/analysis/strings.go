package analysis

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// inString returns what can stand in the string at the place.
func (v *View) inString(p *Place, at *syntax.Literal) Completion {
	c := Completion{Range: p.Word}
	content, _ := at.Value.(string)
	before, _, _ := strings.Cut(content, placeholder)
	typed := before + p.typed
	if i := strings.LastIndex(typed, "{{"); i >= 0 && !strings.Contains(typed[i:], "}}") {
		c.Items = v.fields(at)
		return c.beginning(p.typed)
	}
	c.From -= len(before) // a string that is completed has no escapes
	for _, one := range v.texts(at, typed) {
		if strings.HasPrefix(strings.ToLower(one.Name), strings.ToLower(typed)) {
			c.Items = append(c.Items, one)
		}
	}
	c.Items = c.Items[:min(len(c.Items), mostOffered)]
	return c
}

// texts lists what the string at the place may be.
func (v *View) texts(at *syntax.Literal, typed string) (out []Candidate) {
	all := func(kind string, list []string) {
		for _, s := range list {
			out = append(out, Candidate{s, s, kind, ""})
		}
	}
	around := v.Query.path[len(v.Query.path)-2]
	if l, ok := around.(*syntax.LoadStmt); ok {
		if l.Module == at {
			return v.files(typed, ".star")
		}
		return out
	}
	switch x := around.(type) {
	case *syntax.BinaryExpr:
		if x.Op == syntax.EQL || x.Op == syntax.NEQ {
			other := x.X
			if other == syntax.Expr(at) {
				other = x.Y
			}
			for _, t := range v.of(other, 0) {
				if t.typ != nil {
					all("value", enumValues(t.typ))
				}
			}
		}
	case *syntax.IndexExpr:
		for _, t := range v.of(x.X, 0) {
			if typ, ok := t.value.(*value.Type); ok {
				all("value", enumValues(typ.T))
			} else if t.typ != nil && t.typ.Deref().Kind == generable.RecordType {
				all("field", t.typ.Deref().FieldNames())
			}
		}
	case *syntax.DictEntry:
		if x.Key == syntax.Expr(at) {
			for _, c := range v.unhandled() {
				if s, ok := strings.CutPrefix(c.Name, `"`); ok {
					all("value", []string{strings.TrimSuffix(s, `"`)})
				}
			}
		}
	}
	call, name := v.argument(at)
	if call == nil {
		return out
	}
	arg := syntax.Expr(at)
	for _, a := range call.Args {
		if startree.ArgOf(a).Value == syntax.Expr(at) {
			arg = a
		}
	}
	all("value", v.expected(call, arg))
	if name != nil && (name.Name == "model" || name.Name == "models") {
		all("model", v.Models)
	}
	for _, c := range v.callees(call) {
		p := c.paramOf(call, arg)
		switch {
		case p == nil:
		case c.name == "file":
			out = append(out, v.files(typed, "")...)
		case c.name == "ref":
			all("type", v.State.TypeNames())
		case c.name == "model" && p.place:
			all("model", v.Models)
		case strings.HasPrefix(c.name, "t.") && (p.name == "agent" || p.name == "name" || p.name == "node"):
			all("agent", v.agents())
		}
	}
	return out
}

// fields lists what a template's placeholder may name: the fields of its input.
func (v *View) fields(at *syntax.Literal) (out []Candidate) {
	out = append(out, Candidate{"input", "input", "field", "the whole input"})
	var types []*generable.Type
	take := func(things []thing) {
		for _, t := range things {
			if typ, ok := t.value.(*value.Type); ok {
				types = append(types, typ.T)
			}
		}
	}
	path := v.Query.path
	for i := len(path) - 2; i > 0; i-- {
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
	for _, t := range types {
		for _, part := range (thing{typ: t}).parts() {
			out = append(out, v.membersOf(part)...)
		}
	}
	return slices.DeleteFunc(out, func(c Candidate) bool { return c.Kind != "field" })
}
