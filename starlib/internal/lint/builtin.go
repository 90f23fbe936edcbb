package lint

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/infer"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// builtin binds the arguments of a call as a run would, with stand-ins for unknown ones, and checks the calls that the
// builtin makes.
func (l *callLint) builtin(call *syntax.CallExpr, b *table.Builtin) {
	if l.runs && composes(b) {
		l.composed(call.Fn, b.Name, b.Name)
		return
	}
	if l.runs && l.early(call, b.Name) {
		return
	}
	if l.runs && b.Name == "file" {
		l.readLate(call)
	}
	var wrong diag.List
	if b.InRun == nil || !l.runs {
		composing := l.bound(call, b)
		wrong = composing.Problems
		if b.InRun != nil && len(wrong) == 0 && !composing.Incomplete {
			return // in a factory, which composes known nodes
		}
	}
	if b.InRun != nil && (l.runs || len(wrong) > 0) { // in a factory or in a function that runs
		wrong = l.bound(call, b.InRun).Problems
	}
	l.c.Session.Report(wrong...)
	if len(wrong) == 0 {
		l.orchestration(call, b.Name)
	}
}

// bound binds the arguments of a call, and records what is wrong with them.
func (l *callLint) bound(call *syntax.CallExpr, b *table.Builtin) *table.Call {
	var args starlark.Tuple
	var kwargs []starlark.Tuple
	for _, arg := range call.Args {
		if a := startree.ArgOf(arg); a.Name != nil {
			kwargs = append(kwargs, starlark.Tuple{starlark.String(a.Name.Name), l.value(a.Value)})
		} else {
			args = append(args, l.value(arg))
		}
	}
	c := &table.Call{Row: b, State: l.c, Env: &script.Env{State: l.c}, File: l.u.File, Pos: call.Lparen}
	c.Bind(args, kwargs)
	if b.Look != nil && len(c.Problems) == 0 {
		b.Look(c)
	}
	return c
}

// value returns the value that an expression certainly has, or a stand-in.
func (l *callLint) value(e syntax.Expr) starlark.Value {
	if v, ok := written(l.c, l.u, e); ok {
		return v
	}
	if v := l.Typed(e); v != nil {
		return v
	}
	return &value.Failed{}
}

// node returns the node that an expression certainly is, or nil.
func (l *callLint) node(e syntax.Expr) *value.Node {
	v, _ := written(l.c, l.u, e)
	n, _ := v.(*value.Node)
	return n
}

// orchestration checks what a call of parallel, stream, attempt, retry, fallback or race calls.
func (l *callLint) orchestration(call *syntax.CallExpr, name string) {
	var args []syntax.Expr
	for _, arg := range call.Args {
		if startree.ArgOf(arg).Name == nil {
			args = append(args, arg)
		}
	}
	if len(args) == 0 {
		return
	}
	switch name {
	case "parallel":
		l.parallel(call, args)
	case "stream":
		if len(args) == 1 {
			l.c.Session.Report(table.NoStages(l.u.File.SpanOf(call.Fn)))
		}
		l.stream(args)
	case "attempt", "retry":
		if name == "attempt" && len(args) < len(call.Args) { // keyword arguments
			if n := l.node(args[0]); n != nil {
				d := l.report(diag.WrongArgument, call.Fn, "%s takes its input by position, and attempt passes on arguments by name", n.Label())
				d.Help = []string{"write attempt(" + n.Label() + ", x)"}
			}
			return
		}
		if len(args) > 1 || l.runs { // elsewhere, a call with one argument may compose a node
			l.calls(name, args[0], args[1:])
		}
	case "fallback", "race":
		l.alternatives(name, args)
	case "match":
		l.cases(args)
	}
}

// cases checks the functions of match(v, {T: f}), each of which is called with the value.
func (l *callLint) cases(args []syntax.Expr) {
	if len(args) < 2 {
		return
	}
	cases, ok := startree.Unparen(args[1]).(*syntax.DictExpr)
	if !ok {
		return
	}
	for _, item := range cases.List {
		pair := item.(*syntax.DictEntry)
		if v, ok := literal(pair.Value); ok {
			d := l.report(diag.WrongArgument, pair.Value, "a case of match is a function, got %s", value.Describe(value.FromData(v)))
			d.Help = []string{"write lambda _: " + l.u.File.Shown(pair.Value)}
			continue
		}
		l.calls("match", pair.Value, []syntax.Expr{nil})
	}
}

// alternatives checks race([f, g], x) and race([(f, x), (g, y)]).
func (l *callLint) alternatives(name string, args []syntax.Expr) {
	list, ok := startree.Unparen(args[0]).(*syntax.ListExpr)
	if _, lambda := startree.Unparen(args[0]).(*syntax.LambdaExpr); lambda {
		d := l.report(diag.WrongArgument, args[0], "calls: want list of calls, got a lambda")
		d.Help = []string{fmt.Sprintf("put the calls into a list: %s([f, g], x)", name)}
	}
	if !ok || len(args) == 1 && !l.runs {
		return
	}
	for _, f := range list.List {
		own, ok := startree.Unparen(f).(*syntax.TupleExpr)
		switch {
		case !ok:
			l.calls(name, f, args[1:])
		case len(args) > 1:
			l.c.Session.Report(table.ArgumentsBesideCalls(l.u.File.SpanOf(args[1]), name))
			return
		case len(own.List) > 0:
			l.calls(name, own.List[0], own.List[1:])
		}
	}
}

// parallel checks parallel(f, items) and parallel([(f, x), ...]).
func (l *callLint) parallel(call *syntax.CallExpr, args []syntax.Expr) {
	var list []syntax.Expr
	switch f := startree.Unparen(args[0]).(type) {
	case *syntax.ListExpr:
		list = f.List
	case *syntax.Comprehension:
		if !f.Curly {
			list = []syntax.Expr{f.Body}
		}
	default:
		v, known := written(l.c, l.u, args[0])
		if len(args) > 1 {
			l.items("parallel", args[0], args[1])
		} else if _, isList := table.AcceptList(v); known && !isList {
			l.c.Session.Report(table.NoItems(l.u.File.SpanOf(call.Fn), value.NameOf(v)))
		}
		return
	}
	if len(args) > 1 {
		l.c.Session.Report(table.ItemsBesideCalls(l.u.File.SpanOf(args[1])))
	}
	for _, item := range list {
		l.branch(item)
	}
}

// branch checks one call of a list: (f, x), or f alone.
func (l *callLint) branch(item syntax.Expr) {
	switch x := startree.Unparen(item).(type) {
	case *syntax.TupleExpr:
		if len(x.List) > 0 {
			l.calls("parallel", x.List[0], x.List[1:])
		}
	case *syntax.CallExpr:
		if n := l.node(x.Fn); n != nil {
			d := l.report(diag.WrongArgument, item, "%s is called before parallel begins", n.Label())
			d.Help = []string{"write " + l.apart(x) + ", or lambda: " + l.u.File.Brief(x)}
		}
	default:
		if n := l.node(item); n != nil {
			d := l.report(diag.WrongArgument, item, "this call is the %s %s without its input", n.Node.Kind(), n.Label())
			d.Help = []string{"write (" + n.Label() + ", x); to run all on one input compose them: par(...)"}
			return
		}
		l.calls("parallel", item, nil)
	}
}

// items checks a function or node that is called with each item of a list.
func (l *callLint) items(what string, f, items syntax.Expr) {
	switch list := startree.Unparen(items).(type) {
	case *syntax.LambdaExpr:
		l.report(diag.WrongArgument, items, "items: want list, got a lambda").Help = []string{table.CallsInList}
		return
	case *syntax.ListExpr:
		for _, item := range list.List {
			l.calls(what, f, []syntax.Expr{item})
		}
		if len(list.List) > 0 {
			return
		}
	default:
		t := l.TypeOf(items)
		switch {
		case t == nil:
		case t.Kind == generable.ListType && t.Elem != nil:
			l.step(what, f, items, t.Elem.Deref())
			return
		case !mayBeList(t):
			d := l.report(diag.WrongArgument, items, "items: want list, got %s", t)
			d.Help = []string{"put it into a list: [...]"}
			for i := range t.Fields {
				if t.Fields[i].Type.Deref().Kind == generable.ListType {
					d.Help = []string{"iterate over one of its fields: ." + t.Fields[i].Name}
					break
				}
			}
			return
		}
	}
	l.calls(what, f, []syntax.Expr{nil})
}

// mayBeList reports whether some values of a type are lists.
func mayBeList(t *generable.Type) bool {
	switch t.Kind {
	case generable.BoolType, generable.IntType, generable.FloatType, generable.StrType, generable.EnumType, generable.DictType, generable.RecordType:
		return false
	}
	return true
}

// stream checks each stage, and what it passes to the next.
func (l *callLint) stream(args []syntax.Expr) {
	for i, stage := range args[1:] {
		if i == 0 {
			l.items("stream", stage, args[0])
			continue
		}
		before, _ := written(l.c, l.u, args[i])
		if t := infer.Given(before); t != nil {
			l.step("stream", stage, stage, t)
		} else {
			l.calls("stream", stage, []syntax.Expr{nil})
		}
	}
}

// step checks a function or node that is called with one value of a type.
func (l *callLint) step(what string, f, at syntax.Expr, t *generable.Type) {
	n := l.node(f)
	if n == nil || n.Node.Failed() {
		l.calls(what, f, []syntax.Expr{nil})
		return
	}
	l.hear(n.Node)
	if !script.Conflict(t, n.Node.In()) {
		return
	}
	d := l.report(diag.WrongTypeAtBoundary, at, "%s takes %s, and %s passes it %s", n.Label(), n.Node.In(), what, t)
	d.Help = []string{"put a function between them that converts one to the other, or change the input of " + n.Label()}
	defined(d, n.Node)
}

// calls checks a function or node that is called with arguments; nil arguments are unknown.
func (l *callLint) calls(what string, f syntax.Expr, args []syntax.Expr) {
	if fn, ok := startree.Unparen(f).(*syntax.LambdaExpr); ok {
		l.arity(what, f, "the lambda", lambdaInfo(fn), len(args))
		return
	}
	if call, ok := startree.Unparen(f).(*syntax.CallExpr); ok {
		if t := l.TypeOf(call); t != nil {
			d := l.report(diag.WrongArgument, f, "%s calls a function or a node, and this call returns %s", what, t)
			d.Help = []string{"pass the function itself, and its arguments separately"}
		}
		return
	}
	v, _ := written(l.c, l.u, f)
	switch v := v.(type) {
	case *value.Node:
		l.hear(v.Node)
		switch {
		case v.Node.Failed():
		case len(args) != 1:
			l.c.Session.Report(table.WithoutInput(what, v, len(args), l.u.File.SpanOf(f)))
		case args[0] != nil:
			if d := l.input(v.Label(), v.Node, args[0]); d != nil && what == "retry" {
				d.Help = append(d.Help, "the number of calls is passed by name: retry("+v.Label()+", x, max = 3)")
			}
		}
	case *starlark.Function:
		info := thread.FuncInfoOf(v)
		l.arity(what, f, v.Name(), arity{info.Needs, info.Params}, len(args))
	}
}
