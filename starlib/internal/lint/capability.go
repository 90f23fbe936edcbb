package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// FindUses finds where a file uses capabilities, including in functions that no run reaches, since reachability is
// undecidable.
func (c *Linter) FindUses(u *script.Unit) {
	l := &useLint{c: c, u: u, seen: map[syntax.Node]bool{}}
	syntax.Walk(u.File.Syntax(), l.visit)
}

// useLint finds the uses in one file.
type useLint struct {
	c    *Linter
	u    *script.Unit
	seen map[syntax.Node]bool // parts of expressions that were handled as a whole
	said map[diag.Pos]bool    // positions with an error, computed on demand
}

func (l *useLint) visit(n syntax.Node) bool {
	if n == nil || l.seen[n] {
		return true
	}
	switch n := n.(type) {
	case syntax.Stmt:
		return !l.c.Ended()
	case *syntax.CallExpr:
		if l.calls(n, "mcp") {
			l.server(n)
			return true
		}
		if l.calls(n, "oauth") {
			l.oauth(n)
			return true
		}
		if dot, ok := startree.Unparen(n.Fn).(*syntax.DotExpr); ok {
			if row := l.member(dot); row != nil {
				l.seen[dot], l.seen[dot.X] = true, true
				l.call(n, dot, row)
			}
		} else {
			l.secret(n)
			l.handedOn(n)
		}
	case *syntax.DotExpr:
		if l.module(n.X) != "" {
			l.seen[n.X] = true // a missing member is reported elsewhere
		}
		if row := l.member(n); row != nil { // passed on: its arguments are unknown
			l.handed(n, row.Of, row.Name)
		}
	case *syntax.Ident:
		if of := l.module(n); of != "" {
			l.handed(n, of, "")
		}
	}
	return true
}

// handed records a module, or a member of one, that is passed on. If it is already reported as misplaced, the missing
// grant is not reported in addition.
func (l *useLint) handed(n syntax.Node, of, op string) {
	var may func(capability.Use) bool
	if l.wrong(n) {
		may = func(capability.Use) bool { return true }
	}
	before := len(l.c.Uses)
	l.use(n, capability.Use{Kind: table.Capabilities[of], Op: op}, may)
	l.classed(before, classOf(of, op, ""))
}

// wrong reports whether an error was reported at an expression: one mistake is enough.
func (l *useLint) wrong(n syntax.Node) bool {
	if l.said == nil {
		l.said = map[diag.Pos]bool{}
		for _, d := range l.c.Session.Diagnostics() {
			if d.Severity == diag.Error {
				l.said[d.Span.Pos] = true
			}
		}
	}
	return l.said[l.u.File.SpanOf(n).Pos]
}

// module returns the module that a name refers to, or "".
func (l *useLint) module(e syntax.Expr) string {
	id, ok := startree.Unparen(e).(*syntax.Ident)
	if !ok || table.Capabilities[id.Name] == "" {
		return ""
	}
	v, _ := written(l.c.State, l.u, id)
	if m, ok := v.(*table.ModuleValue); ok && v == l.c.Predeclared[id.Name] {
		return m.Name
	}
	return ""
}

// member returns the row of fs.read and the like, or nil for anything else.
func (l *useLint) member(dot *syntax.DotExpr) *table.Builtin {
	of := l.module(dot.X)
	if of == "" {
		return nil
	}
	return l.c.Table.Of[of][dot.Name.Name]
}

// call records a call of an operation.
func (l *useLint) call(call *syntax.CallExpr, dot *syntax.DotExpr, row *table.Builtin) {
	before := len(l.c.Uses)
	l.touched(call, dot, row)
	l.classed(before, classOf(row.Of, row.Name, l.method(call, row)))
}

// classed sets the class of the uses found since before.
func (l *useLint) classed(before int, class engine.Class) {
	for i := range l.c.Uses[before:] {
		l.c.Uses[before+i].Class = class
	}
}

// method returns the HTTP method of a request whose method is an argument, or "" if it is not a literal.
func (l *useLint) method(call *syntax.CallExpr, row *table.Builtin) string {
	if row.Of != "http" || row.Name != "request" || spreads(call) {
		return ""
	}
	text, _ := l.str(argument(call, "method", 0))
	return strings.ToUpper(text)
}

func (l *useLint) touched(call *syntax.CallExpr, dot *syntax.DotExpr, row *table.Builtin) {
	arg, known := targetOf(call, row)
	if !known {
		l.handed(dot, row.Of, row.Name)
		return
	}
	if row.Of == "sh" && l.commandLine(arg) {
		return
	}
	target, written := l.text(arg, row)
	if !written {
		l.handed(dot, row.Of, row.Name)
		return
	}
	if row.Of == "http" {
		host, err := capability.HostOfPrefix(target), error(nil)
		if host == "" {
			host, err = capability.Host(target)
		}
		if err != nil {
			d := &diag.Diagnostic{Code: diag.WrongArgument, Span: l.u.File.SpanOf(arg), Message: fmt.Sprintf("%s: the URL is wrong: %s", row.QualifiedName(), err)}
			d.Help = []string{"write http:// or https:// and a host; secrets go into headers with env.secret"}
			l.c.Session.Report(d)
			return
		}
		target = host
	}
	at := syntax.Node(dot)
	if arg != nil {
		at = arg
	}
	if l.wrong(dot) { // for example, it cannot be called there
		l.handed(dot, row.Of, row.Name)
		return
	}
	l.use(at, capability.Use{Kind: table.Capabilities[row.Of], Op: row.Name, Target: target}, nil)
}

// secret records a secret of the host that is named on its own. Whether it is granted is checked where it is used: in a
// request, or in the settings of an MCP server.
func (l *useLint) secret(call *syntax.CallExpr) {
	if len(call.Args) == 0 || !l.calls(call, "secret") {
		return
	}
	name, _ := l.str(call.Args[0])
	l.c.Uses = append(l.c.Uses, script.Use{Use: capability.Use{Kind: engine.EffectEnv, Op: "secret", Target: name}, Span: l.u.File.SpanOf(call)})
}

// targetOf returns the argument that names the target, or nil if the default applies. It returns false if the target is
// unknown because the call passes *args or **kwargs.
func targetOf(call *syntax.CallExpr, row *table.Builtin) (syntax.Expr, bool) {
	if spreads(call) {
		return nil, false
	}
	at := slices.IndexFunc(row.Params, func(p table.Param) bool {
		return p.Name == "command" || p.Name == "url" || p.Name == "path" || p.Name == "name"
	})
	arg := argument(call, row.Params[at].Name, at)
	return arg, arg != nil || !row.Params[at].Required()
}

// argument returns the argument with a name or, counted from 0, at a position; nil if there is none.
func argument(call *syntax.CallExpr, name string, at int) syntax.Expr {
	n := 0
	for _, arg := range call.Args {
		switch a := startree.ArgOf(arg); {
		case a.Name != nil && a.Name.Name == name:
			return a.Value
		case a.Name != nil:
		case n == at:
			return arg
		default:
			n++
		}
	}
	return nil
}

// commandLine reports a command that is one text: no shell splits it.
func (l *useLint) commandLine(arg syntax.Expr) bool {
	arg = startree.Unparen(arg)
	first := beginning(arg)
	v, _ := written(l.c.State, l.u, first)
	line, ok := v.(starlark.String)
	if !ok || first == arg || l.wrong(arg) {
		return false
	}
	words := text.Each(strings.Fields(string(line)), strconv.Quote)
	if sum, ok := arg.(*syntax.BinaryExpr); ok && sum.Op == syntax.PLUS && startree.Unparen(sum.X) == first && strings.HasSuffix(string(line), " ") {
		words = append(words, l.u.File.Shown(sum.Y))
	} else {
		words = append(words[:min(len(words), 1)], "...")
	}
	l.c.Session.Report(&diag.Diagnostic{Code: diag.WrongArgument, Span: l.u.File.SpanOf(arg), Message: "command: want list of str, got str",
		Help: []string{"no shell splits it: write [" + script.Joined(words) + "]"}})
	return true
}

// text returns the target as written: the first word of a command, the beginning of a URL whose host is certain, or a
// text.
func (l *useLint) text(arg syntax.Expr, row *table.Builtin) (string, bool) {
	if arg == nil {
		return ".", true // fs.list only
	}
	e := startree.Unparen(arg)
	switch row.Of {
	case "sh":
		for {
			sum, ok := e.(*syntax.BinaryExpr)
			if !ok || sum.Op != syntax.PLUS {
				break
			}
			e = startree.Unparen(sum.X)
		}
		if list, ok := e.(*syntax.ListExpr); ok && len(list.List) > 0 {
			return l.str(list.List[0])
		}
		s, ok := l.str(e)
		if words := strings.Fields(s); len(words) > 0 {
			s = words[0] // a command line, which is reported
		}
		return s, ok
	case "http":
		if beginning(e) != e {
			s, _ := l.prefix(e)
			return s, capability.HostOfPrefix(s) != ""
		}
	}
	return l.str(e)
}

// beginning returns the expression that provides the beginning of a text: the first one of a sum, of text % x and of
// text.format(x).
func beginning(e syntax.Expr) syntax.Expr {
	for {
		switch x := startree.Unparen(e).(type) {
		case *syntax.BinaryExpr:
			if x.Op != syntax.PLUS && x.Op != syntax.PERCENT {
				return e
			}
			e = x.X
		case *syntax.CallExpr:
			dot, ok := x.Fn.(*syntax.DotExpr)
			if !ok || dot.Name.Name != "format" {
				return e
			}
			e = dot.X
		default:
			return e
		}
	}
}

// prefix returns the text that an expression certainly begins with, and whether that is all of it.
func (l *useLint) prefix(e syntax.Expr) (string, bool) {
	e = startree.Unparen(e)
	if sum, ok := e.(*syntax.BinaryExpr); ok && sum.Op == syntax.PLUS {
		before, whole := l.prefix(sum.X)
		if !whole {
			return before, false
		}
		after, whole := l.prefix(sum.Y)
		return before + after, whole
	}
	if first := beginning(e); first != e {
		s, _ := l.str(first)
		return s, false
	}
	return l.str(e)
}

// str returns the text that an expression certainly is.
func (l *useLint) str(e syntax.Expr) (string, bool) {
	v, _ := written(l.c.State, l.u, e)
	switch v := v.(type) {
	case starlark.String:
		return string(v), true
	case *starlark.List:
		if v.Len() > 0 {
			s, ok := v.Index(0).(starlark.String)
			return string(s), ok
		}
	}
	return "", false
}

// use records a use, and reports it if it is not granted by may or, if may is nil, by the grants of the script.
func (l *useLint) use(at syntax.Node, use capability.Use, may func(capability.Use) bool) {
	span := l.u.File.SpanOf(at)
	l.c.Uses = append(l.c.Uses, script.Use{Use: use, Span: span})
	if may == nil && l.c.Grants != nil {
		may = l.c.Grants.Allows
	}
	if l.c.Ungranted || may != nil && may(use) {
		return
	}
	for i := range l.c.Uses { // one mistake is reported once, wherever it is made
		if was := &l.c.Uses[i]; use.Target != "" && was.Refused != nil && was.Use == use {
			was.Refused.Notes = append(was.Refused.Notes, diag.Note{Message: "it is used as well", Pos: span.Pos})
			return
		}
	}
	d := &diag.Diagnostic{Code: diag.NotGranted, Span: span, Message: fmt.Sprintf("%s is not granted", use)}
	d.Help = []string{"run or check it with " + use.Flag()}
	if use.SecretAsText() {
		d.Code, d.Message = diag.SecretAsText, fmt.Sprintf("the environment variable %q is a secret, and env.get makes a text of it", use.Target)
		d.Help = []string{fmt.Sprintf("read it with env.secret(%q), which only requests can use; if it is not a secret, grant it with %s", use.Target, use.Flag())}
	}
	l.c.Session.Report(d)
	l.c.Uses[len(l.c.Uses)-1].Refused = d
}

// SortUses sorts uses by file and line.
func SortUses(uses []script.Use) {
	sorting.By(uses, func(a, b script.Use) int {
		return cmp.Or(cmp.Compare(a.Span.File, b.Span.File), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Col, b.Span.Col))
	})
}

// memberCall checks the arguments of a call of a module's function, such as fs.read(path).
func (l *callLint) memberCall(call *syntax.CallExpr, dot *syntax.DotExpr) {
	v, _ := written(l.c, l.u, dot.X)
	var row *table.Builtin
	switch v := v.(type) {
	case *table.ModuleValue:
		row = v.Members[dot.Name.Name]
	case *value.Memory:
		row = l.lint.Table.Of["memory"][dot.Name.Name]
	case *value.Type:
		if got, _ := v.Attr(dot.Name.Name); got != nil && got.Type() == "builtin_function_or_method" {
			row = l.lint.Table.Of["type"][dot.Name.Name]
		}
	}
	if row == nil {
		return
	}
	l.c.Session.Report(l.bound(call, row).Problems...)
}
