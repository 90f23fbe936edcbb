package source

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
)

// Calls that do not fit (AS202, AS203, AS204, AS205). Code at the top level runs
// while the file loads and finds such a call itself; the body of a function may
// run for the first time after an hour of paid work.

// A Signature is the parameters of a function, as a call of it must fit them.
type Signature struct {
	Name       string   // by which it is called
	Positional []string // may be given by position
	Named      []string // all that may be given by keyword
	Required   []string
	Varargs    bool
	Kwargs     bool
	Typed      map[string]bool // those whose default is the type that declares them
	Note       diag.Note       // where the function is
	Help       []string        // of arguments that find no parameter, where the note does not show them
}

// arity is met for the call of a def of the file in the body of a function.
func (l *linter) arity(x *syntax.CallExpr, b *binding) {
	g := Signature{Name: b.name, Typed: l.declaredParams(b), Note: diag.Note{Message: "the function is " + l.head(b.def), Pos: l.f.pos(b.def.Name.NamePos)}}
	star := false
	for _, p := range b.def.Params {
		a, id := startree.ArgOf(p), startree.ParamName(p)
		switch {
		case a.Spread == syntax.STARSTAR:
			g.Kwargs = true
			continue
		case a.Spread == syntax.STAR:
			star, g.Varargs = true, g.Varargs || id != nil
			continue
		case a.Name == nil:
			g.Required = append(g.Required, id.Name)
		}
		g.Named = append(g.Named, id.Name)
		if !star {
			g.Positional = append(g.Positional, id.Name)
		}
	}
	l.f.CheckArguments(x, &g, l.found.Report)
}

// CheckArguments reports what in a call does not fit the parameters of its function.
func (f *File) CheckArguments(x *syntax.CallExpr, g *Signature, report func(...*diag.Diagnostic)) {
	byPosition, byKeyword := map[string]bool{}, map[string]bool{}
	count, spread := 0, false
	meant := map[string]bool{} // parameters that an unknown keyword may stand for
	add := func(code diag.Code, at syntax.Node, label, format string, args ...any) *diag.Diagnostic {
		d := &diag.Diagnostic{Code: code, Span: f.span(at), Message: fmt.Sprintf(format, args...), Label: label, Notes: []diag.Note{g.Note}}
		report(d)
		return d
	}
	for _, arg := range x.Args {
		a := startree.ArgOf(arg)
		if a.Spread != 0 {
			spread = true
			continue
		}
		if a.Name != nil {
			name := a.Name.Name
			switch known := slices.Contains(g.Named, name); {
			case known && byPosition[name]:
				add(diag.WrongArgument, a.Name, "already given by position", "`%s` gets `%s` twice", g.Name, name)
			case known:
				byKeyword[name] = true
			case !g.Kwargs:
				d := add(diag.UnknownArgument, a.Name, diag.DidYouMean(name, g.Named), "`%s` has no parameter `%s`", g.Name, name)
				if s, ok := diag.Suggest(name, g.Named); ok {
					meant[s] = true
					d.Fixes = append(d.Fixes, diag.Fix{Message: "write `" + s + "`", Span: f.span(a.Name), Replacement: s})
				} else {
					d.Help = []string{"leave it out, or add the parameter"}
				}
			}
			continue
		}
		if count == len(g.Positional) && !g.Varargs {
			add(diag.TooManyArguments, arg, "no parameter is left for this", "`%s` takes %s by position, not %d", g.Name, text.CountInWords(len(g.Positional), "argument"), positional(x)).Help = g.Help
		} else if count < len(g.Positional) {
			byPosition[g.Positional[count]] = true
		}
		count++
	}
	if spread {
		return
	}
	var missing []string
	label := "not given here"
	for _, name := range g.Named {
		if byPosition[name] || byKeyword[name] || meant[name] {
			continue
		}
		if g.Typed[name] {
			label = "not given here: it would be the type that declares it"
			missing = append(missing, name)
		} else if slices.Contains(g.Required, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	parts := make([]string, 0, len(x.Args)+len(missing))
	for _, arg := range x.Args {
		parts = append(parts, f.short(arg))
	}
	for _, name := range missing {
		parts = append(parts, name+" = …")
	}
	add(diag.MissingArgument, x.Fn, label, "`%s` wants %s", g.Name, quoted(missing)).Help = []string{fmt.Sprintf("write `%s(%s)`", g.Name, strings.Join(parts, ", "))}
}

// head gives the first line of a def up to its parameters' end.
func (l *linter) head(def *syntax.DefStmt) string {
	if def.Lparen.Line != def.Rparen.Line {
		return "`" + def.Name.Name + "(…)`"
	}
	return "`" + l.f.cut(def.Name.NamePos, after(def.Rparen, 1)) + "`"
}

func positional(x *syntax.CallExpr) int {
	n := 0
	for _, arg := range x.Args {
		if startree.ArgOf(arg).Positional() {
			n++
		}
	}
	return n
}

// quoted gives `a`, `b` and `c`.
func quoted(names []string) string {
	s := "`" + strings.Join(names, "`, `") + "`"
	if i := strings.LastIndex(s, ", "); i >= 0 {
		s = s[:i] + " and " + s[i+len(", "):]
	}
	return s
}

// Parameters that declare their type by their default: def look(path = str). Whoever calls the
// function as a tool or as main gives every one; a call in the script that leaves one out would
// get the type itself. In a function that makes types or nodes of its parameter that is meant.

// declaredParams are the parameters of a def that a call in the script must give for that reason.
func (l *linter) declaredParams(b *binding) map[string]bool {
	names := map[string]bool{}
	for _, p := range b.def.Params {
		p := startree.ArgOf(p)
		if p.Name == nil || !l.describesParam(p.Value, b.scope) || l.usedAsType(b.def, p.Name.Name, b.scope) {
			continue
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
