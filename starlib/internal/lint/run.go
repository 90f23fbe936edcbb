package lint

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// running finds the functions of a file that surely run, and compose nothing: def main of the entry
// script, and those that it speaks of while no code does that runs when the file loads.
func running(u *script.Unit, entry bool) map[*syntax.DefStmt]bool {
	out := map[*syntax.DefStmt]bool{}
	if !entry {
		return out
	}
	defs, loading := map[string]*syntax.DefStmt{}, map[string]bool{}
	for _, stmt := range u.File.Syntax().Stmts {
		if def, ok := stmt.(*syntax.DefStmt); ok {
			defs[def.Name.Name] = def
			continue
		}
		script.Named(stmt, loading)
	}
	names := []string{"main"}
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		def := defs[name]
		if def == nil || out[def] || loading[name] {
			continue
		}
		out[def] = true
		inside := map[string]bool{}
		for _, stmt := range def.Body {
			script.Named(stmt, inside)
		}
		for name := range inside {
			names = append(names, name)
		}
	}
	return out
}

// composes reports whether a builtin can but compose. Some compose while the file loads and call when it
// runs, and when and edge are parts of what is reported.
func composes(b *table.Builtin) bool {
	return b.AtTop && b.InRun == nil && b.Name != "when" && b.Name != "edge"
}

// instead says how a function that runs does what a composition does.
var instead = map[string]string{
	"then": "call one with what the other gives: b(a(x))", "`>>`": "call one with what the other gives: b(a(x))",
	"par": "make the calls at once: parallel([(a, x), (b, x)])", "`/`": "make the calls at once: parallel([(a, x), (b, x)])",
	"each":   "call it with each item: parallel(a, items)",
	"loop":   "write while or for, and call the node in it",
	"branch": "look at what the node gives: if, or match(y, {T: f})", "handoff": "look at what the node gives: if, or match(y, {T: f})",
	"vote": "make the calls at once, parallel([(a, x), (b, x)]), and count what they give",
}

// composed reports what composes in a function that runs.
func (l *callLint) composed(at syntax.Node, what, name string) {
	d := l.report(diag.ComposedWhileRunning, at, "%s composes while the flow runs", what)
	d.Help = []string{"compose at the top level, and call what that gives here"}
	if name == "memory" {
		d.Help = []string{table.MemoryAtTop}
	}
	if of := instead[name]; of != "" {
		d.Help = append(d.Help, of)
	}
}

// operator looks at a >> b, a / b and a * b of nodes.
func (l *callLint) operator(x *syntax.BinaryExpr) {
	what, known := value.Operators[x.Op]
	if !l.runs || !known {
		return
	}
	for _, side := range []syntax.Expr{x.X, x.Y} {
		if l.node(side) != nil {
			l.composed(x, what, what)
			return
		}
	}
}

// method looks at a.then(b), a.loop(...) and the like.
func (l *callLint) method(dot *syntax.DotExpr) {
	if !l.runs {
		return
	}
	if n := l.node(dot.X); n != nil && !n.Node.Failed() && slices.Contains(n.AttrNames(), dot.Name.Name) {
		l.composed(dot.Name, "."+dot.Name.Name, dot.Name.Name)
	}
}

// early reports calls that are made before what was to make them begins: retry(a(x)).
func (l *callLint) early(call *syntax.CallExpr, name string) bool {
	if name != "retry" && name != "attempt" && name != "race" && name != "fallback" || len(call.Args) == 0 {
		return false
	}
	several := name == "race" || name == "fallback"
	made := call.Args[:1] // what follows may come from calls
	if list, ok := startree.Unparen(made[0]).(*syntax.ListExpr); ok && several {
		made = list.List
	} else if several {
		made = call.Args
	}
	found := false
	for _, item := range made {
		x, ok := startree.Unparen(item).(*syntax.CallExpr)
		if !ok {
			continue
		}
		if n := l.node(x.Fn); n != nil {
			found = true
			shown := fmt.Sprintf("%s(%s, x)", name, n.Label())
			if several {
				shown = fmt.Sprintf("%s([(%s, x), ...])", name, n.Label())
			}
			d := l.report(diag.WrongArgument, item, "%s is called before %s begins", n.Label(), name)
			d.Help = []string{"give the node and its input apart: " + shown}
		}
	}
	return found
}
