package lint

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// running finds the functions of a file that certainly run and compose nothing: def main of the entry script, the
// functions that the flow calls, and those that these refer to. Functions that code refers to which runs while the file
// loads are excluded.
func (c *Linter) running(u *script.Unit, entry bool) map[*syntax.DefStmt]bool {
	out := map[*syntax.DefStmt]bool{}
	defs, loading, given := map[string]*syntax.DefStmt{}, map[string]bool{}, map[*syntax.Ident]bool{}
	var names []string
	for _, stmt := range u.File.Syntax().Stmts {
		if def, ok := stmt.(*syntax.DefStmt); ok {
			defs[def.Name.Name] = def
			if u.Called[def] != nil {
				names = append(names, def.Name.Name)
			}
			continue
		}
		c.mentions(stmt, given, loading)
	}
	if entry {
		names = append(names, "main")
	}
	inside := map[string]bool{}
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		def := defs[name]
		if def == nil || out[def] || loading[name] {
			continue
		}
		out[def] = true
		clear(inside)
		for _, stmt := range def.Body {
			script.Named(stmt, inside)
		}
		for name := range inside {
			if defs[name] != nil {
				names = append(names, name)
			}
		}
	}
	return out
}

// mentions collects the globals that code may call: all that it refers to, except those that it passes to a builtin
// that composes.
func (c *Linter) mentions(code syntax.Node, given map[*syntax.Ident]bool, into map[string]bool) {
	syntax.Walk(code, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			given[n.Name] = true
		case *syntax.CallExpr:
			id, ok := n.Fn.(*syntax.Ident)
			if !ok {
				break
			}
			if b, ok := id.Binding.(*resolve.Binding); !ok || b.Scope != resolve.Predeclared {
				break
			}
			if row, ok := c.Table.Lookup(id.Name); !ok || row.Effect != table.Compose {
				break
			}
			for _, arg := range n.Args {
				value := startree.Unparen(startree.ArgOf(arg).Value)
				if id, ok := value.(*syntax.Ident); ok {
					given[id] = true
				}
				for _, e := range startree.Elements(value) {
					if id, ok := startree.Unparen(e).(*syntax.Ident); ok {
						given[id] = true
					}
				}
			}
		case *syntax.Ident:
			if b, ok := n.Binding.(*resolve.Binding); ok && b.Scope == resolve.Global && !given[n] {
				into[n.Name] = true
			}
		}
		return true
	})
}

// order visits the outermost functions of a file, callers before the functions they call.
type order struct {
	c       *Linter
	u       *script.Unit
	running map[*syntax.DefStmt]bool
	callers map[string][]syntax.Node // the functions that refer to a name
	loaded  map[starlark.Value]bool  // functions that another file loads
	state   map[syntax.Node]uint8    // 1 while its callers are visited, 2 afterwards
	visit   func(fn syntax.Node, runs, called bool)
}

// eachFunction calls visit with the outermost functions of a file. runs means that the function certainly runs, and
// only after the file has loaded; called means that all its callers, except the flow, were visited before.
func (c *Linter) eachFunction(u *script.Unit, entry bool, visit func(fn syntax.Node, runs, called bool)) {
	o := &order{c: c, u: u, running: c.running(u, entry), callers: map[string][]syntax.Node{}, state: map[syntax.Node]uint8{}, visit: visit}
	var all []syntax.Node
	names := map[string]bool{}
	syntax.Walk(u.File.Syntax(), func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.DefStmt, *syntax.LambdaExpr:
			all = append(all, n)
			o.speaks(n, names)
			return false
		}
		return true
	})
	for _, other := range c.Units {
		for _, v := range other.Loaded {
			if fn, ok := v.(*starlark.Function); ok {
				if o.loaded == nil {
					o.loaded = map[starlark.Value]bool{}
				}
				o.loaded[fn] = true
			}
		}
	}
	for _, fn := range all {
		o.function(fn)
	}
}

// speaks records which functions another function refers to.
func (o *order) speaks(fn syntax.Node, names map[string]bool) {
	clear(names)
	if def, ok := fn.(*syntax.DefStmt); ok { // its own name is in its header
		for _, p := range def.Params {
			script.Named(p, names)
		}
		for _, stmt := range def.Body {
			script.Named(stmt, names)
		}
	} else {
		script.Named(fn, names)
	}
	for name := range names {
		if _, isFunction := o.u.Globals[name].(*starlark.Function); isFunction {
			o.callers[name] = append(o.callers[name], fn)
		}
	}
}

// function visits the callers of a function, and then itself.
func (o *order) function(fn syntax.Node) {
	if o.state[fn] != 0 {
		return
	}
	o.state[fn] = 1
	def, ok := fn.(*syntax.DefStmt)
	runs, called := o.u.Called[fn] != nil, false
	if ok {
		runs = o.running[def]
		fn, _ := o.u.Globals[def.Name.Name].(*starlark.Function)
		called = runs && !o.loaded[fn]
		for _, caller := range o.callers[def.Name.Name] {
			o.function(caller)
			by, isDef := caller.(*syntax.DefStmt)
			if o.state[caller] != 2 || isDef && !o.running[by] || !isDef && o.u.Called[caller] == nil {
				called = false
			}
		}
	}
	o.state[fn] = 2
	o.visit(fn, runs, called)
}

// composes reports whether a builtin can only compose. Some builtins compose while the file loads and call when a
// function runs, and when and edge are parts of what is reported.
func composes(b *table.Builtin) bool {
	return b.AtTop && b.InRun == nil && b.Name != "when" && b.Name != "edge"
}

// instead says how a running function does what a composition does.
var instead = map[string]string{
	"then": "call one with the other's output: b(a(x))", "`>>`": "call one with the other's output: b(a(x))",
	"par": "make the calls at once: parallel([(a, x), (b, x)])", "`/`": "make the calls at once: parallel([(a, x), (b, x)])",
	"each":   "call it with each item: parallel(a, items)",
	"loop":   "write while or for, and call the node in it",
	"branch": "look at the node's output: if, or match(y, {T: f})", "handoff": "look at the node's output: if, or match(y, {T: f})",
	"vote": "make the calls at once, parallel([(a, x), (b, x)]), and count their outputs",
}

// composed reports a composition in a running function.
func (l *callLint) composed(at syntax.Node, what, name string) {
	d := l.report(diag.ComposedWhileRunning, at, "%s composes while the flow runs", what)
	d.Help = []string{"compose at the top level, and call the result here"}
	if name == "memory" {
		d.Help = []string{table.MemoryAtTop}
	}
	if of := instead[name]; of != "" {
		d.Help = append(d.Help, of)
	}
}

// readLate checks file(path) in a running function, which can only read what the load has read.
func (l *callLint) readLate(call *syntax.CallExpr) {
	if len(call.Args) != 1 || startree.ArgOf(call.Args[0]).Spread != 0 {
		return
	}
	path := startree.ArgOf(call.Args[0]).Value
	name, known := starlark.AsString(orNone(l.Exactly(path)))
	if known {
		p, bad := l.c.Resolve(l.u, name, l.u.File.SpanOf(path))
		if _, read := l.c.Files[p]; read || bad != nil {
			return
		}
	} else if len(l.c.Files) > 0 { // it may be one of them
		return
	}
	shown := l.u.File.Brief(path)
	l.report(diag.FileMissing, call.Fn, "file(%s) is read for the first time while the flow runs", shown).Help =
		[]string{"read it at the top level, so that it belongs to the script: text = file(\"...\"); files that a run finds are read with fs.read(" + shown + ")"}
}

func orNone(v starlark.Value) starlark.Value {
	if v == nil {
		return starlark.None
	}
	return v
}

// operator checks a >> b, a / b and a * b of nodes.
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

// method checks a.then(b), a.loop(...) and the like.
func (l *callLint) method(dot *syntax.DotExpr) {
	if !l.runs {
		return
	}
	if n := l.node(dot.X); n != nil && !n.Node.Failed() && slices.Contains(n.AttrNames(), dot.Name.Name) {
		l.composed(dot.Name, "."+dot.Name.Name, dot.Name.Name)
	}
}

// early reports calls that are made before the builtin that should make them begins: retry(a(x)).
func (l *callLint) early(call *syntax.CallExpr, name string) bool {
	if name == "parallel" {
		return len(call.Args) > 1 && l.calledBefore(call.Args)
	}
	if name != "retry" && name != "attempt" && name != "race" && name != "fallback" || len(call.Args) == 0 {
		return false
	}
	several := name == "race" || name == "fallback"
	made := call.Args[:1] // the following arguments may be results of calls
	if list, ok := startree.Unparen(made[0]).(*syntax.ListExpr); ok && several {
		made = list.List
	} else if several {
		made = call.Args
	}
	found, apart := false, make([]string, len(made))
	for i, item := range made {
		if apart[i] = l.u.File.Brief(item); l.calledNode(item) != nil {
			apart[i] = l.apart(startree.Unparen(item).(*syntax.CallExpr))
		}
	}
	for i, item := range made {
		if n := l.calledNode(item); n != nil {
			found = true
			shown := name + apart[i]
			if several {
				shown = fmt.Sprintf("%s([%s])", name, strings.Join(apart, ", "))
			}
			d := l.report(diag.WrongArgument, item, "%s is called before %s begins", n.Label(), name)
			d.Help = []string{"pass the node and its input separately: " + shown}
		}
	}
	return found
}

// calledNode returns the node that an expression calls, or nil.
func (l *callLint) calledNode(e syntax.Expr) *value.Node {
	x, ok := startree.Unparen(e).(*syntax.CallExpr)
	if !ok {
		return nil
	}
	return l.node(x.Fn)
}

// calledBefore reports calls that parallel should make itself: parallel(a(x), b(y)).
func (l *callLint) calledBefore(args []syntax.Expr) bool {
	calls := make([]string, len(args))
	for i, arg := range args {
		x, ok := startree.Unparen(arg).(*syntax.CallExpr)
		if !ok || l.node(x.Fn) == nil && l.TypeOf(x) == nil {
			return false
		}
		calls[i] = l.apart(x)
	}
	d := l.report(diag.WrongArgument, args[0], "%s is called before parallel begins", l.u.File.Brief(startree.Unparen(args[0]).(*syntax.CallExpr).Fn))
	d.Help = []string{"pass each function and its arguments separately: parallel([" + strings.Join(calls, ", ") + "])"}
	return true
}

// apart returns a call as the tuple of its function and its arguments, "(f, x)", with the names of the script.
func (l *callLint) apart(call *syntax.CallExpr) string {
	parts := []string{l.u.File.Brief(call.Fn)}
	for _, arg := range call.Args {
		if startree.ArgOf(arg).Name != nil || l.u.File.Shown(arg) == "" {
			return "(" + parts[0] + ", x)"
		}
		parts = append(parts, l.u.File.Shown(arg))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
