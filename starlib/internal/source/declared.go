package source

import (
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// Parameters that declare their type by their default: def look(path = str). Whoever calls the
// function as a tool or as main gives every one; a call in the script that leaves one out would
// get the type itself. In a function that makes types or nodes of its parameter that is meant.

// declaredParams are the parameters of a def that a call in the script must give for that reason.
func (l *linter) declaredParams(b *binding) map[string]bool {
	var names map[string]bool
	for _, p := range b.def.Params {
		p := startree.ArgOf(p)
		if p.Name == nil || !l.describesParam(p.Value, b.scope) || l.usedAsType(b.def, p.Name.Name, b.scope) {
			continue
		}
		if names == nil {
			names = map[string]bool{}
		}
		names[p.Name.Name] = true
	}
	return names
}

// describesParam reports whether a default is surely a type or field(...).
func (l *linter) describesParam(e syntax.Expr, s *scope) bool {
	if l.kindOf(e, s).what == aType {
		return true
	}
	call, ok := startree.Unparen(e).(*syntax.CallExpr)
	if !ok {
		return false
	}
	id, ok := startree.Unparen(call.Fn).(*syntax.Ident)
	if !ok || !l.fields[id.Name] {
		return false
	}
	b, _ := s.lookup(id.Name)
	return b == nil
}

// usedAsType reports whether the body of a def uses a parameter as types are used: in brackets,
// joined by |, called, asked for its methods, or given to what makes types and nodes.
func (l *linter) usedAsType(def *syntax.DefStmt, name string, s *scope) bool {
	found := false
	is := func(e syntax.Expr) bool {
		id, ok := startree.Unparen(e).(*syntax.Ident)
		return ok && id.Name == name
	}
	within := func(e syntax.Expr) bool {
		in := false
		syntax.Walk(e, func(n syntax.Node) bool {
			if e, ok := n.(syntax.Expr); ok && is(e) {
				in = true
			}
			return !in
		})
		return in
	}
	for _, stmt := range def.Body {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.IndexExpr:
				id, ok := startree.Unparen(x.X).(*syntax.Ident)
				found = found || ok && l.types[id.Name] && within(x.Y)
			case *syntax.BinaryExpr:
				found = found || x.Op == syntax.PIPE && (is(x.X) || is(x.Y))
			case *syntax.DotExpr:
				switch x.Name.Name {
				case "decode", "from_llm_output", "json_schema", "llm_description", "partial", "prompt_fragment":
					found = found || is(x.X)
				}
			case *syntax.CallExpr:
				id, ok := startree.Unparen(x.Fn).(*syntax.Ident)
				if !ok {
					break
				}
				found = found || id.Name == name
				if b, _ := s.lookup(id.Name); b != nil {
					break
				}
				makes := l.typeMakers[id.Name] || l.nodeMakers[id.Name] || l.fields[id.Name]
				switch id.Name {
				case "isinstance", "skill", "tool":
					makes = true
				}
				for _, arg := range x.Args {
					found = found || makes && within(arg)
				}
			}
			return !found
		})
	}
	return found
}
