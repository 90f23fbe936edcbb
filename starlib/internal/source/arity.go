package source

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// Calls that do not fit (AS202, AS203, AS204, AS205). Code at the top level runs
// while the file loads and finds such a call itself; the body of a function may
// run for the first time after an hour of paid work.

// A signature is the parameters of a def.
type signature struct {
	positional []string // may be given by position
	named      []string // all that may be given by keyword
	required   []string
	varargs    bool
	kwargs     bool
}

func signatureOf(def *syntax.DefStmt) signature {
	var g signature
	star := false
	for _, p := range def.Params {
		id := paramIdent(p)
		switch x := p.(type) {
		case *syntax.UnaryExpr:
			if x.Op == syntax.STARSTAR {
				g.kwargs = true
			} else {
				star, g.varargs = true, g.varargs || id != nil
			}
			continue
		case *syntax.Ident:
			g.required = append(g.required, x.Name)
		}
		if id == nil {
			continue
		}
		g.named = append(g.named, id.Name)
		if !star {
			g.positional = append(g.positional, id.Name)
		}
	}
	return g
}

// arity is met for the call of a def of the file in the body of a function.
func (l *linter) arity(x *syntax.CallExpr, b *binding) {
	g := signatureOf(b.def)
	declared := l.declaredParams(b)
	byPosition, byKeyword := map[string]bool{}, map[string]bool{}
	count, spread := 0, false
	meant := map[string]bool{} // parameters that an unknown keyword may stand for
	noted := func(d *diag.Diagnostic) *diag.Diagnostic {
		d.Notes = append(d.Notes, diag.Note{Message: "the function is " + l.head(b.def), Pos: l.f.pos(b.def.Name.NamePos)})
		return d
	}
	for _, arg := range x.Args {
		switch a := arg.(type) {
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				spread = true
				continue
			}
		case *syntax.BinaryExpr:
			if a.Op != syntax.EQ {
				break
			}
			name := keyword(a)
			switch known := slices.Contains(g.named, name); {
			case known && byPosition[name]:
				noted(l.report(diag.WrongArgument, l.f.span(a.X),
					fmt.Sprintf("`%s` gets `%s` twice", b.name, name), "already given by position"))
			case known:
				byKeyword[name] = true
			case !g.kwargs:
				d := noted(l.report(diag.UnknownArgument, l.f.span(a.X),
					fmt.Sprintf("`%s` has no parameter `%s`", b.name, name), diag.DidYouMean(name, g.named)))
				if s, ok := diag.Suggest(name, g.named); ok {
					meant[s] = true
					d.Fixes = append(d.Fixes, diag.Fix{Message: "write `" + s + "`", Span: l.f.span(a.X), Replacement: s})
				} else {
					d.Help = []string{"leave it out, or add the parameter"}
				}
			}
			continue
		}
		if count == len(g.positional) && !g.varargs {
			noted(l.report(diag.TooManyArguments, l.f.span(arg),
				fmt.Sprintf("`%s` takes %s by position, not %d", b.name, text.CountInWords(len(g.positional), "argument"), positional(x)),
				"no parameter is left for this"))
		} else if count < len(g.positional) {
			byPosition[g.positional[count]] = true
		}
		count++
	}
	if spread {
		return
	}
	var missing []string
	label := "not given here"
	for _, name := range g.named {
		if byPosition[name] || byKeyword[name] || meant[name] {
			continue
		}
		if declared[name] {
			label = "not given here: it would be the type that declares it"
			missing = append(missing, name)
		} else if slices.Contains(g.required, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	d := noted(l.report(diag.MissingArgument, l.f.span(x.Fn),
		fmt.Sprintf("`%s` wants %s", b.name, quoted(missing)), label))
	parts := make([]string, 0, len(x.Args)+len(missing))
	for _, arg := range x.Args {
		parts = append(parts, l.short(arg))
	}
	for _, name := range missing {
		parts = append(parts, name+" = …")
	}
	d.Help = append(d.Help, fmt.Sprintf("write `%s(%s)`", b.name, strings.Join(parts, ", ")))
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
		switch a := arg.(type) {
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				continue
			}
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				continue
			}
		}
		n++
	}
	return n
}

// quoted gives `a`, `b` and `c`.
func quoted(names []string) string {
	var s strings.Builder
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			s.WriteString(" and ")
		default:
			s.WriteString(", ")
		}
		s.WriteString("`" + name + "`")
	}
	return s.String()
}
