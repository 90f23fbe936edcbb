package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/doc"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Symbol is a name of a script and its meaning.
type Symbol struct {
	Range
	Name    string
	Kind    string    // as in [Candidate]
	Type    string    // its type or signature; "" if it is not known
	Doc     string    // may have several lines
	Defined diag.Span // where it is bound; without a line if that is not in a file
}

// LineCol returns the line and column of an offset, both counted from 1, columns in runes.
func LineCol(text string, offset int) (line, col int32) {
	before := text[:max(0, min(offset, len(text)))]
	from := strings.LastIndexByte(before, '\n') + 1
	return int32(strings.Count(before, "\n")) + 1, int32(utf8.RuneCountInString(before[from:])) + 1
}

// Symbol returns the meaning of the name of the query. It returns false if there is none.
func (v *View) Symbol(text string, offset int) (Symbol, bool) {
	path := v.Query.path
	if len(path) < 2 {
		return Symbol{}, false
	}
	id, ok := path[len(path)-1].(*syntax.Ident)
	if !ok {
		return Symbol{}, false
	}
	from, to := wordAround(text, max(0, min(offset, len(text))))
	s := Symbol{Range: Range{from, to}, Name: id.Name}
	switch around := path[len(path)-2].(type) {
	case *syntax.DotExpr:
		if around.Name == id {
			return s, v.memberSymbol(&s, around)
		}
	case *syntax.BinaryExpr:
		if call, ok := path[len(path)-3].(*syntax.CallExpr); ok && around.Op == syntax.EQ && around.X == syntax.Expr(id) {
			for _, c := range v.callees(call) {
				if p := c.paramOf(call, around); p != nil {
					s.Kind, s.Type, s.Doc = "argument", p.takes, p.doc
					return s, true
				}
			}
			return s, false
		}
	}
	things := v.of(id, 0)
	if len(things) == 0 {
		s.Kind = "variable"
	}
	s.describe(v, things)
	s.Defined = v.definedAt(id)
	return s, len(things) > 0 || s.Defined.IsValid()
}

// describe describes a symbol that may be one of several things.
func (s *Symbol) describe(v *View, things []thing) {
	var types []string
	for _, t := range things {
		line := t.line(v)
		switch x := t.value.(type) {
		case *starlark.Function:
			c := ofFunction(x)
			line, s.Doc = c.signature(), script.Dedent(x.Doc())
		case *value.Type, *value.Node, *table.ModuleValue, *value.Maker, *starlark.Builtin:
			s.Doc = doc.Help(v.Table, x)
		}
		if t.row != nil {
			line, s.Doc = t.row.Declared(), doc.Help(v.Table, starlark.String(t.row.QualifiedName()))
		} else if t.def != nil {
			c := ofDef(t.def)
			line, s.Doc = c.signature(), c.doc
		} else if typ, ok := t.value.(*value.Type); ok {
			line = typ.String()
		} else if t.typ != nil && s.Doc == "" {
			s.Doc = t.typ.Deref().Doc
		}
		s.Kind = t.category()
		if line != "" && !slices.Contains(types, line) {
			types = append(types, line)
		}
	}
	s.Type = strings.Join(types, " | ")
}

// memberSymbol describes x.name.
func (v *View) memberSymbol(s *Symbol, x *syntax.DotExpr) bool {
	for _, on := range v.of(x.X, 0) {
		for _, t := range on.parts() {
			if t.typ == nil || t.typ.Deref().Kind != generable.RecordType {
				continue
			}
			if d := t.typ.Deref(); d.FieldIndex(s.Name) >= 0 {
				f := &d.Fields[d.FieldIndex(s.Name)]
				s.Kind, s.Type, s.Doc = "field", f.Type.String(), f.Guide
				return true
			}
		}
	}
	things := v.attribute(x, 0)
	s.describe(v, things)
	if len(things) > 0 && things[0].row != nil {
		s.Kind = "method"
	}
	return len(things) > 0
}

// definedAt returns where a name is bound: in this file, or in the file that it is loaded from.
func (v *View) definedAt(id *syntax.Ident) diag.Span {
	b, ok := id.Binding.(*resolve.Binding)
	if !ok {
		b = nil
	}
	for _, u := range v.State.Units {
		if u.File == nil || u.Shown != id.NamePos.Filename() {
			continue
		}
		for to := range u.Loaded {
			if to.Name == id.Name && (b == nil || b.First == to) {
				return v.definedIn(u, to)
			}
		}
	}
	if b != nil && b.First != nil {
		return script.NameSpan(b.First)
	}
	return diag.Span{}
}

// definedIn returns where a name that a file loads is bound.
func (v *View) definedIn(u *script.Unit, to *syntax.Ident) diag.Span {
	for _, l := range u.LoadStmts {
		for i := range l.To {
			if l.To[i] != to {
				continue
			}
			module, _ := l.Module.Value.(string)
			for _, other := range v.State.Units {
				if other.Globals[l.From[i].Name] != nil && strings.HasSuffix(other.Path, strings.TrimLeft(module, "./")) {
					return v.State.GlobalSpan(other, l.From[i].Name)
				}
			}
		}
	}
	return script.NameSpan(to)
}

// Signature describes an unfinished call: what is called, and which parameter the place is an argument of.
type Signature struct {
	Text   string // name(a, b = 1)
	Doc    string
	Params []Parameter
	Active int // the index of the current parameter, -1 for none
}

// Parameter is one parameter of a signature.
type Parameter struct {
	Text string // as written in the signature
	Doc  string
}

// Signatures returns the signatures of what the innermost call around the place may refer to.
func (v *View) Signatures() (out []Signature) {
	path := v.Query.path
	for i := len(path) - 2; i > 0; i-- {
		call, ok := path[i].(*syntax.CallExpr)
		if !ok || path[i+1] == syntax.Node(call.Fn) {
			continue
		}
		arg, _ := path[i+1].(syntax.Expr)
		for _, a := range call.Args { // the argument that was named so that the call parses
			if one := startree.ArgOf(a); one.Name != nil && one.Name.Name != placeholder && one.Value == arg {
				arg = a
			}
		}
		for _, c := range v.callees(call) {
			s := Signature{Text: c.signature() + " -> " + c.returns, Doc: c.doc, Active: -1}
			active := c.paramOf(call, arg)
			for i := range c.params {
				p := &c.params[i]
				s.Params = append(s.Params, Parameter{p.String(), p.line()})
				if p == active {
					s.Active = i
				}
			}
			out = append(out, s)
		}
		return out
	}
	return nil
}

// signature returns the callee written as a call.
func (c *callee) signature() string {
	var parts []string
	keyword := false
	for i := range c.params {
		p := &c.params[i]
		if !p.place && p.keyword && !keyword {
			parts = append(parts, "*")
		}
		keyword = keyword || !p.place && p.spread != "**"
		parts = append(parts, p.String())
	}
	return c.name + "(" + strings.Join(parts, ", ") + ")"
}

// String returns the parameter as written in a signature.
func (p *param) String() string {
	if p.fallback != "" {
		return p.spread + p.name + " = " + p.fallback
	}
	return p.spread + p.name
}
