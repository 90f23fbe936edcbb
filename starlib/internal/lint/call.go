package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/infer"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Linter checks the functions of files. A file must be parsed and resolved. The values of its names are known if the
// file was executed; otherwise nothing is certain about them.
type Linter struct {
	*script.State
	Table *table.Table
	Heard map[*flow.Node]bool // nodes that functions call, each checked once

	Grants    capability.Grants         // nil grants nothing
	ServerMay func(capability.Use) bool // decides about MCP servers; nil asks the grants
	Ungranted bool                      // do not report uses that are not granted
	Seen      func(*infer.Inference)    // receives each outermost function after its analysis; may be nil

	signatures map[*starlark.Function]*source.Signature // signatures of functions of other files, under the name of the last call
}

// callLint checks the calls in one outermost function of a file.
type callLint struct {
	*infer.Inference
	c    *script.State
	u    *script.Unit
	lint *Linter
	runs bool // the function certainly runs; otherwise it may be a factory too, which composes

	called *syntax.CallExpr // the call of the last method visited
}

// CheckCalls checks the calls of nodes, schemas, builtins and loaded functions in the functions of a file, which would
// otherwise fail for the first time in a run: the number of arguments, their names, literal values, and types that are
// certain. The run checks the rest.
func (c *Linter) CheckCalls(u *script.Unit, entry bool) {
	looks := infer.New(c.State, u, c.Table)
	c.eachFunction(u, entry, func(fn syntax.Node, runs, called bool) {
		if c.Ended() {
			return
		}
		looks.Function(fn, runs, called)
		if c.Seen != nil {
			c.Seen(looks)
		}
		c.checkBody(u, fn, looks, runs)
	})
}

// checkBody checks an outermost function.
func (c *Linter) checkBody(u *script.Unit, fn syntax.Node, looks *infer.Inference, runs bool) {
	l := &callLint{Inference: looks, c: c.State, u: u, lint: c, runs: runs}
	syntax.Walk(fn, func(n syntax.Node) bool {
		switch n := n.(type) {
		case syntax.Stmt:
			return !c.Ended()
		case *syntax.CallExpr:
			l.call(n)
		case *syntax.DotExpr:
			if l.Vague(n.X) {
				l.member(n)
			}
		case *syntax.BinaryExpr:
			l.operator(n)
		case *syntax.IndexExpr:
			l.index(n)
		}
		return true
	})
}

func (l *callLint) call(call *syntax.CallExpr) {
	if dot, ok := call.Fn.(*syntax.DotExpr); ok {
		l.called = call
		l.method(dot)
		if !spreads(call) {
			l.memberCall(call, dot)
		}
	}
	if spreads(call) {
		return
	}
	id, isName := call.Fn.(*syntax.Ident)
	var fn starlark.Value
	if isName {
		fn, _ = written(l.c, l.u, id)
	}
	if fn == nil { // the known value of a name of the function, or of an entry of a dict
		switch v := l.Exactly(call.Fn).(type) {
		case *value.Node:
			l.hear(v.Node)
			l.nodeCall(call.Fn, l.u.File.Brief(call.Fn), v.Node, call.Args)
		case *starlark.Builtin:
			if of, ok := v.Receiver().(value.Sampled); ok {
				l.builtin(call, l.lint.Table.Of[of.Of()][v.Name()])
			}
		}
		return
	}
	switch v := fn.(type) {
	case *value.Node:
		l.hear(v.Node)
		l.nodeCall(id, id.Name, v.Node, call.Args)
	case *value.Type:
		if t := v.T.Deref(); t.Kind == generable.RecordType {
			l.lint.checkConstruction(call, id, t)
		}
	case *starlark.Builtin:
		if b, ok := l.lint.Table.Lookup(v.Name()); ok && l.c.Predeclared[id.Name] == fn {
			l.builtin(call, b)
		}
	case *starlark.Function:
		if l.u.Globals[id.Name] != fn { // functions of the file itself are checked by its syntax
			l.loadedCall(call, id.Name, v)
		}
	case *value.Tool:
		d := l.report(diag.WrongArgument, call.Fn, "%s is a tool, which a model calls, not the script", id.Name)
		d.Help = []string{"call the function that it is made of, " + v.Tool.Name + "(...)"}
	}
}

// member checks x.name if x is certainly a node, a type or another value of the file.
func (l *callLint) member(dot *syntax.DotExpr) {
	v, ok := written(l.c, l.u, dot.X)
	if !ok {
		l.opaque(dot)
	}
	if _, failed := v.(*value.Failed); !ok || failed {
		return
	}
	x, ok := v.(starlark.HasAttrs)
	if !ok {
		if _, is := v.(interface{ Opaque() }); is {
			d := l.report(diag.UnknownAttribute, dot.Name, "the result of %s has no .%s", v, dot.Name.Name)
			if _, server := v.(*value.Server); server {
				d.Help = []string{"its tools are called by models: agent(tools = [" + l.shown(dot.X) + "])"}
			}
		}
		return
	}
	if n, isNode := v.(*value.Node); isNode && n.Node.Failed() {
		return
	}
	got, err := x.Attr(dot.Name.Name)
	if got != nil || err != nil && script.EngineError(err) == nil {
		return
	}
	message := v.Type() + " has no ." + dot.Name.Name
	if e := script.EngineError(err); e != nil {
		message = e.Message
	}
	d := l.report(diag.UnknownAttribute, dot.Name, "%s", message)
	if help := thread.Instead(v.Type(), dot.Name.Name, infer.Own(l.u.File, dot, l.called)); help != "" {
		d.Help = []string{help}
		return
	}
	if names := x.AttrNames(); len(names) == 0 && err != nil {
		d.Help = []string{script.EngineError(err).Help}
	} else if !d.Meant(dot.Name.Name, names) && len(names) > 0 {
		d.Help = []string{"it has " + script.Joined(names)}
	}
}

// shown returns a name as the script writes it.
func (l *callLint) shown(e syntax.Expr) string {
	if id, ok := e.(*syntax.Ident); ok {
		return id.Name
	}
	return "..."
}

// index checks x[y] if x is certainly a part of an agent, a memory or a module, which have no items.
func (l *callLint) index(x *syntax.IndexExpr) {
	v, _ := written(l.c, l.u, x.X)
	what, help := "", ""
	switch v := v.(type) {
	case *table.ModuleValue:
		what = v.Name
		if v.Name == "env" {
			help = `write env.get("NAME"), or env.secret("NAME") for a secret`
		}
	case *value.Memory:
		what, help = v.String(), "write "+l.shown(x.X)+".read()"
	case interface{ Opaque() }:
		what = fmt.Sprint(v)
	default:
		return
	}
	d := l.report(diag.ScriptError, x, "%s has no items", what)
	if help != "" {
		d.Help = []string{help}
	}
}

// opaque checks x.name if x is a name of the function for a part of an agent.
func (l *callLint) opaque(dot *syntax.DotExpr) {
	part, ok := l.Exactly(dot.X).(*infer.Part)
	if !ok {
		return
	}
	row := part.Row
	e := script.Errorf(diag.UnknownAttribute, "the result of %s(...) has no .%s", row.Name, dot.Name.Name)
	if row.Name == "budget" {
		e = script.EngineError(value.NoBudgetAttribute(dot.Name.Name))
	}
	l.c.Session.Report(script.Problem(e, script.NameSpan(dot.Name)))
}

// spreads reports whether a call passes *args or **kwargs.
func spreads(call *syntax.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(arg syntax.Expr) bool {
		return startree.ArgOf(arg).Spread != 0
	})
}

// hear checks a node that functions call, once.
func (l *callLint) hear(n *flow.Node) {
	if !n.Failed() && !l.lint.Heard[n] {
		l.lint.Heard[n] = true
		l.c.Session.CheckTranscripts(n)
	}
}

// report reports a diagnostic at an expression.
func (l *callLint) report(code diag.Code, at syntax.Node, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Span: l.u.File.SpanOf(at), Message: fmt.Sprintf(format, args...)}
	l.c.Session.Report(d)
	return d
}

// nodeCall checks that a node is called with one positional argument that it accepts as its input.
func (l *callLint) nodeCall(at syntax.Expr, name string, n *flow.Node, args []syntax.Expr) {
	switch {
	case n.Failed():
	case len(args) != 1:
		callHelp(l.report(diag.WrongArgument, at, "%s takes its input as the only argument, got %s", n.Label(), text.CountInWords(len(args), "argument")), name, n, l.calledWith(name, args))
	case startree.ArgOf(args[0]).Name != nil:
		callHelp(l.report(diag.WrongArgument, at, "%s takes its input by position, not by name", n.Label()), name, n, l.calledWith(name, args))
	default:
		l.input(name, n, args[0])
	}
}

// calledWith returns the call of a node with only the first of its arguments.
func (l *callLint) calledWith(name string, args []syntax.Expr) string {
	shown := ""
	if len(args) > 0 {
		if shown = l.u.File.Shown(args[0]); startree.ArgOf(args[0]).Name != nil {
			shown = l.u.File.Shown(startree.ArgOf(args[0]).Value)
		}
	}
	return "write " + name + "(" + cmp.Or(shown, "x") + ")"
}

// callHelp adds how to call a node whose input is a schema; otherwise is the help for any other node.
func callHelp(d *diag.Diagnostic, name string, n *flow.Node, otherwise string) {
	d.Help = []string{otherwise}
	if in := n.In().Deref(); in.Kind == generable.RecordType {
		d.Help = []string{fmt.Sprintf("write %s(%s)", name, value.Example(in))}
	}
}

// input checks that a node accepts a value: a literal, or one of a certain type. It returns the diagnostic that it
// reports, if any.
func (l *callLint) input(name string, n *flow.Node, arg syntax.Expr) *diag.Diagnostic {
	got := ""
	if v, ok := literal(arg); ok {
		_, errs := n.In().Convert(v)
		switch {
		case errs == nil, l.Reported(arg, diag.WrongTypeAtBoundary):
			return nil
		case len(errs) == 1 && errs[0].Path == "":
			got = fmt.Sprintf(", got %s", errs[0].Got)
		default:
			got = fmt.Sprintf(": %s", errs)
		}
	} else if t := l.TypeOf(arg); t != nil && script.Conflict(t, n.In()) {
		got = fmt.Sprintf(", got %s", t)
	} else {
		return nil
	}
	d := l.report(diag.WrongTypeAtBoundary, arg, "%s takes %s%s", n.Label(), n.In(), got)
	callHelp(d, name, n, "pass it a value of its input type")
	defined(d, n)
	return d
}

// defined adds a note that says where a node is defined.
func defined(d *diag.Diagnostic, n *flow.Node) {
	if p := n.Pos(); p.IsValid() {
		d.Notes = []diag.Note{{Message: n.Label() + " is defined", Pos: p}}
	}
}

// checkConstruction checks the names of the fields that a call passes to a schema.
func (c *Linter) checkConstruction(call *syntax.CallExpr, id *syntax.Ident, t *generable.Type) {
	given := generable.NewMap(len(call.Args))
	var unknown []*syntax.Ident
	for _, arg := range call.Args {
		name := startree.ArgOf(arg).Name
		if name == nil {
			return // for example, it converts a dict
		}
		given.Set(name.Name, generable.Value{})
		if t.FieldIndex(name.Name) < 0 {
			unknown = append(unknown, name)
		}
	}
	meant := map[string]bool{}
	missing := slices.DeleteFunc(value.NotGiven(t, given), func(name string) bool {
		f := &t.Fields[t.FieldIndex(name)]
		return f.Optional || f.Type.AcceptsNone()
	})
	for _, name := range unknown {
		d := &diag.Diagnostic{Code: diag.UnknownField, Message: t.String() + " has no field " + name.Name,
			Span: script.NameSpan(name)}
		if near, ok := diag.Suggest(name.Name, value.NotGiven(t, given)); ok {
			d.Means(near)
			meant[near] = true
		} else if len(unknown) == 1 && len(missing) == 1 { // the unknown one must be the missing one
			d.Means(missing[0])
			meant[missing[0]] = true
		} else {
			d.Help = []string{"its fields are " + script.Joined(t.FieldNames())}
		}
		c.Session.Report(d)
	}
	if missing = slices.DeleteFunc(missing, func(name string) bool { return meant[name] }); len(missing) > 0 {
		c.Session.Report(value.MissingFields(t, missing, source.Call{Fn: script.NameSpan(id)}))
	}
}
