package source

import (
	"fmt"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
)

// Calls that do not fit their function (AS202, AS203, AS204, AS205). Top-level code runs while the file loads, which
// finds such a call; the body of a function may run for the first time after an hour of paid work.

// A Signature is the parameters of a function that a call must fit.
type Signature struct {
	Name       string // the name it is called by
	Positional int    // how many of Named may be passed by position
	Varargs    bool
	Kwargs     bool
	Note       diag.Note // where the function is defined
	Help       []string  // help on arguments without a parameter, if the note does not show the parameters

	named []string
	needs []Need
	index map[string]int // indexes in Named
	must  []int          // indexes of the required ones
}

// Need says whether a call must pass a parameter.
type Need uint8

const (
	Optional Need = iota
	Required
	Typed // its default is the type that declares it
)

// Add adds a parameter that may be passed by keyword.
//
//go:noinline
func (g *Signature) Add(name string, need Need) {
	if g.index == nil {
		g.index = map[string]int{}
	}
	g.index[name] = len(g.named)
	if need != Optional {
		g.must = append(g.must, len(g.named))
	}
	g.named, g.needs = append(g.named, name), append(g.needs, need)
}

// arity is called for a call of a def of the file in the body of a function.
func (l *linter) arity(x *syntax.CallExpr, b *binding) {
	if b.signature == nil {
		b.signature = l.signature(b)
	}
	l.f.CheckArguments(x, b.signature, &l.found)
}

func (l *linter) signature(b *binding) *Signature {
	g := &Signature{Name: b.name, Note: diag.Note{Message: "the function is " + l.head(b.def), Pos: l.f.pos(b.def.Name.NamePos)}}
	typed := l.declaredParams(b)
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
			g.Add(id.Name, Required)
		case typed[id.Name]:
			g.Add(id.Name, Typed)
		default:
			g.Add(id.Name, Optional)
		}
		if !star {
			g.Positional++
		}
	}
	return g
}

// mostMissing bounds the missing arguments that a message names.
const mostMissing = 10

// CheckArguments reports what in a call does not fit the parameters of its function. Its work is bounded by the length
// of the call: a function with many parameters may have many calls.
func (f *File) CheckArguments(x *syntax.CallExpr, g *Signature, to *diag.Reporter) {
	given := make(map[int]bool, len(x.Args)) // parameters, including those that an unknown keyword may mean
	count, spread := 0, false
	add := func(code diag.Code, at syntax.Node, label, format string, args ...any) *diag.Diagnostic {
		d := &diag.Diagnostic{Code: code, Span: f.span(at), Message: fmt.Sprintf(format, args...), Label: label, Notes: []diag.Note{g.Note}}
		to.Report(d)
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
			switch i, known := g.index[name]; {
			case known && i < min(count, g.Positional):
				add(diag.WrongArgument, a.Name, "already passed by position", "`%s` gets `%s` twice", g.Name, name)
			case known:
				given[i] = true
			case !g.Kwargs:
				d := add(diag.UnknownArgument, a.Name, "", "`%s` has no parameter `%s`", g.Name, name)
				if to.Full(d) {
					break
				}
				d.Label = diag.DidYouMean(name, g.named)
				if s, ok := diag.Suggest(name, g.named); ok {
					given[g.index[s]] = true
					d.Fixes = append(d.Fixes, diag.Fix{Message: "write `" + s + "`", Span: f.span(a.Name), Replacement: s})
				} else {
					d.Help = []string{"leave it out, or add the parameter"}
				}
			}
			continue
		}
		if count == g.Positional && !g.Varargs {
			add(diag.TooManyArguments, arg, "no parameter is left for this", "`%s` takes %s by position, not %d", g.Name, text.CountInWords(g.Positional, "argument"), positional(x)).Help = g.Help
		} else if count < g.Positional {
			given[count] = true
		}
		count++
	}
	if !spread {
		f.missing(x, g, given, add)
	}
}

// missing reports required parameters that a call does not pass.
func (f *File) missing(x *syntax.CallExpr, g *Signature, given map[int]bool, add func(code diag.Code, at syntax.Node, label, format string, args ...any) *diag.Diagnostic) {
	left := len(g.must)
	for i := range given {
		if g.needs[i] != Optional {
			left--
		}
	}
	if left <= 0 {
		return
	}
	var names, parts []string
	for _, arg := range x.Args[:min(len(x.Args), mostMissing)] {
		parts = append(parts, f.short(arg))
	}
	if len(x.Args) > mostMissing {
		parts = append(parts, "…")
	}
	label := "missing here"
	for _, i := range g.must {
		if given[i] {
			continue
		}
		if len(names) == mostMissing {
			break
		}
		if g.needs[i] == Typed {
			label = "missing here: it would be the type that declares it"
		}
		names, parts = append(names, g.named[i]), append(parts, g.named[i]+" = …")
	}
	wants := quoted(names)
	if more := left - len(names); more > 0 {
		wants = fmt.Sprintf("`%s` and %d more", strings.Join(names, "`, `"), more)
		parts = append(parts, "…")
	}
	add(diag.MissingArgument, x.Fn, label, "`%s` wants %s", g.Name, wants).Help = []string{fmt.Sprintf("write `%s(%s)`", g.Name, strings.Join(parts, ", "))}
}

// head returns the first line of a def up to the end of its parameters, if that is not long.
func (l *linter) head(def *syntax.DefStmt) string {
	const most = 200
	if def.Lparen.Line != def.Rparen.Line || def.Rparen.Col-def.Name.NamePos.Col > most {
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

// quoted returns `a`, `b` and `c`.
func quoted(names []string) string {
	s := "`" + strings.Join(names, "`, `") + "`"
	if i := strings.LastIndex(s, ", "); i >= 0 {
		s = s[:i] + " and " + s[i+len(", "):]
	}
	return s
}

// Parameters that declare their type by their default: def look(path = str). A caller that uses the function as a tool
// or as main passes every one; a call in the script that leaves one out would get the type itself. In a function that
// makes types or nodes from its parameter, that is intended.

// declaredParams returns the parameters of a def that a call in the script must pass for that reason.
func (l *linter) declaredParams(b *binding) map[string]bool {
	names := map[string]bool{}
	for _, p := range b.def.Params {
		if p := startree.ArgOf(p); p.Name != nil && l.describesParam(p.Value, b.scope) {
			names[p.Name.Name] = true
		}
	}
	if len(names) > 0 {
		l.withoutTypes(names, b.def, b.scope)
	}
	return names
}

// describesParam reports whether a default is certainly a type or field(...).
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

// withoutTypes removes from names the parameters that the body of a def uses as types: in brackets, joined by |,
// called, asked for their methods, or passed to what makes types and nodes.
func (l *linter) withoutTypes(names map[string]bool, def *syntax.DefStmt, s *scope) {
	is := func(e syntax.Expr) {
		if id, ok := startree.Unparen(e).(*syntax.Ident); ok {
			delete(names, id.Name)
		}
	}
	within := func(e syntax.Expr) {
		syntax.Walk(e, func(n syntax.Node) bool {
			if id, ok := n.(*syntax.Ident); ok {
				delete(names, id.Name)
			}
			return len(names) > 0
		})
	}
	for _, stmt := range def.Body {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.IndexExpr:
				if id, ok := startree.Unparen(x.X).(*syntax.Ident); ok && l.types[id.Name] {
					within(x.Y)
				}
			case *syntax.BinaryExpr:
				if x.Op == syntax.PIPE {
					is(x.X)
					is(x.Y)
				}
			case *syntax.DotExpr:
				switch x.Name.Name {
				case "decode", "from_llm_output", "json_schema", "llm_description", "partial", "prompt_fragment":
					is(x.X)
				}
			case *syntax.CallExpr:
				id, ok := startree.Unparen(x.Fn).(*syntax.Ident)
				if !ok {
					break
				}
				delete(names, id.Name)
				if b, _ := s.lookup(id.Name); b != nil {
					break
				}
				makes := l.typeMakers[id.Name] || l.nodeMakers[id.Name] || l.fields[id.Name]
				switch id.Name {
				case "isinstance", "skill", "tool":
					makes = true
				}
				for _, arg := range x.Args {
					if makes {
						within(arg)
					}
				}
			}
			return len(names) > 0
		})
	}
}
