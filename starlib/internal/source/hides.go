package source

import (
	"cmp"
	"fmt"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// Hidden builtins (AS206).
//
// At the top level every name that hides a builtin is an error: the name changes its meaning in the whole file,
// including above the line.
//
// In functions and comprehensions most such names are harmless: a tool has a parameter `file`, `[agent(x) for agent in
// reviewers]` does what it says. So there it is an error only if the same block also means the builtin, which it then
// does not get:
//   - the name is used as a type: list[str], str | None;
//   - a function reads the name before it binds it: list = list(x);
//   - the name is called, but holds a number, a string, a list or a dict.

// hiddenUses are the first uses of a hiding name that mean the builtin.
type hiddenUses struct {
	asType syntax.Expr
	early  *syntax.Ident
	called *syntax.CallExpr
}

// typeUse is called for e[other] and for both orders of e | other.
func (l *linter) typeUse(e, other syntax.Expr, s *scope) {
	id, ok := e.(*syntax.Ident)
	if !ok || !l.types[id.Name] {
		return
	}
	if b, _ := s.lookup(id.Name); b != nil && b.hidden.asType == nil && l.typeLike(other, s) {
		b.hidden.asType = e
	}
}

func (l *linter) typeLike(e syntax.Expr, s *scope) bool {
	switch x := e.(type) {
	case *syntax.Ident:
		if x.Name == "None" || l.types[x.Name] {
			return true
		}
	case *syntax.TupleExpr: // dict[str, int]
		return len(x.List) > 0 && l.typeLike(x.List[0], s)
	case *syntax.BinaryExpr: // the end of a chain says as much as all of it
		return x.Op == syntax.PIPE && l.typeLike(x.Y, s)
	}
	return l.kindOf(e, s).what == aType
}

// hiddenUse is called for every use of a name that hides a builtin.
func (l *linter) hiddenUse(b *binding, id *syntax.Ident, crossed *scope) {
	if _, ok := b.scope.node.(*syntax.Comprehension); ok {
		return // its body precedes its variables
	}
	first := b.sites[0]
	if b.kind == parameter || crossed != nil || b.hidden.early != nil {
		return
	}
	if first == l.assigning || at(id.NamePos).before(at(first.NamePos)) {
		b.hidden.early = id
	}
}

// hidden reports the names that hide a builtin in s, when all uses are known.
func (l *linter) hidden(s *scope) {
	for name, b := range s.names {
		if !l.builtins[name] || name == "_" {
			continue
		}
		var note string
		var where syntax.Node
		switch h := &b.hidden; {
		case h.asType != nil:
			note, where = "`"+name+"` is used as the builtin type", h.asType
		case h.early != nil:
			note, where = "`"+name+"` is used as the builtin", h.early
		case h.called != nil && b.kind == assigned && b.value != nil && plain(b.value):
			note, where = "`"+name+"` is called as the builtin", h.called
		case !s.file():
			continue
		}
		l.hides(b, note, where)
	}
}

// plain reports whether e is certainly not callable.
func plain(e syntax.Expr) bool {
	switch startree.Unparen(e).(type) {
	case *syntax.Literal, *syntax.ListExpr, *syntax.DictExpr, *syntax.TupleExpr, *syntax.Comprehension:
		return true
	}
	return false
}

func (l *linter) hides(b *binding, note string, where syntax.Node) {
	what := [...]string{assigned: "assignment", defined: "function", parameter: "parameter", looped: "loop variable", loaded: "load"}[b.kind]
	block := "function"
	switch b.scope.node.(type) {
	case *syntax.File:
		block = "file"
	case *syntax.LambdaExpr:
		block = "lambda"
	case *syntax.Comprehension:
		block = "comprehension"
	}
	id := b.sites[0]
	d := l.report(diag.HidesBuiltin, l.f.span(id),
		fmt.Sprintf("this %s hides the builtin `%s`", what, b.name),
		fmt.Sprintf("in the whole %s `%s` would mean this", block, b.name))
	if where != nil {
		d.Notes = append(d.Notes, diag.Note{Message: note, Pos: l.f.pos(start(where))})
	}
	other := l.otherName(b)
	help := "choose another name, such as `" + other + "`"
	if b.kind == loaded {
		help = fmt.Sprintf("load it under another name: `%s = %q`", other, b.from)
	}
	d.Help = append(d.Help, help)
}

// otherNames are better suggestions than a name that only avoids the conflict.
var otherNames = map[string]string{"str": "text", "int": "number", "float": "number", "bool": "flag", "list": "items", "dict": "table", "any": "value"}

// otherName suggests a name for b that is not bound there.
func (l *linter) otherName(b *binding) string {
	name := cmp.Or(otherNames[b.name], "my_"+b.name)
	for base, n := name, 2; ; n++ {
		if other, _ := b.scope.lookup(name); other == nil && !l.builtins[name] {
			return name
		}
		name = fmt.Sprintf("%s_%d", base, n)
	}
}
