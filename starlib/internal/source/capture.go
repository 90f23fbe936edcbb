package source

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// Captured loop variables (AS208).
//
// A function made in an iteration of a loop sees the variables of the loop as they are when it is called: after the
// last iteration. That applies to the loop's own variables and to those that only its body assigns. It does no harm,
// and is not reported, if the function cannot be called in a later iteration: it is called in place, or passed to a
// builtin that calls it at once; it is part of a `return`; or it has a name that is only used in these ways.

// mostCaptured bounds the variables that are reported for one function. The others are reported once these are fixed.
const mostCaptured = 20

// A capture is the loop variables that a function captures.
type capture struct {
	fn    *scope
	owner *binding // the function's name, if it has one
	names []string
	first *syntax.Ident
	of    *binding // the binding of first
	own   bool     // first is a variable of the loop itself
}

// capture is called for a use of b inside the function fn, if b is bound outside of fn.
func (l *linter) capture(b *binding, id *syntax.Ident, fn *scope) {
	if b.def != nil && b.def == fn.node {
		return // the function itself
	}
	own, found := false, false
	if _, ok := b.scope.node.(*syntax.Comprehension); ok {
		own, found = true, true
	} else if !fn.leaving {
		for turn := fn.loop; turn != nil && !found; turn = turn.outer {
			if turn.scope != b.scope {
				continue
			}
			own = turn.vars != nil && binds(turn.vars, b.name)
			found = own || turn.holds(b)
		}
	}
	if e, ok := fn.node.(syntax.Expr); !found || ok && l.immediate[e] {
		return
	}
	c := l.captures[fn]
	if c == nil {
		c = &capture{fn: fn, first: id, of: b, own: own}
		if def, ok := fn.node.(*syntax.DefStmt); ok {
			c.owner = fn.parent.names[def.Name.Name]
		} else if e, ok := fn.node.(syntax.Expr); ok {
			c.owner = l.owners[e]
		}
		l.captures[fn] = c
	}
	if len(c.names) < mostCaptured && !slices.Contains(c.names, b.name) {
		c.names = append(c.names, b.name)
	}
}

// holds reports whether everything that binds b is in the body of the loop, and may bind it to another value in the
// next iteration.
func (t *loop) holds(b *binding) bool {
	if _, constant := b.value.(*syntax.Literal); constant {
		return false
	}
	first, last := at(b.sites[0].NamePos), at(b.sites[len(b.sites)-1].NamePos)
	return !first.before(t.start) && last.before(t.end)
}

// captured reports the captures, when all uses of the functions are known.
func (l *linter) captured() {
	for _, c := range l.captures {
		if o := c.owner; o != nil && len(o.sites) == 1 && o.calls == o.uses {
			continue
		}
		l.reportCapture(c)
	}
}

func (l *linter) reportCapture(c *capture) {
	what, params, node := "lambda", []syntax.Expr(nil), c.fn.node
	var insert syntax.Position // just before the new parameters, if there are no others
	switch x := node.(type) {
	case *syntax.LambdaExpr:
		params, insert = x.Params, after(x.Lambda, len("lambda"))
	case *syntax.DefStmt:
		what, params, insert = "function", x.Params, after(x.Lparen, 1)
	}
	variable := "the loop variable "
	switch {
	case len(c.names) > 1:
		variable = "variables of the loop: "
	case !c.own:
		variable = "a variable of the loop: "
	}
	d := l.report(diag.CapturedLoopVariable, l.f.span(c.first),
		fmt.Sprintf("this %s captures %s%s", what, variable, quoted(c.names)),
		"when it is called, this is the value of the last turn")
	d.Notes = append(d.Notes, diag.Note{
		Message: fmt.Sprintf("`%s` gets a new value in each turn", c.first.Name),
		Pos:     l.f.pos(c.of.sites[0].NamePos),
	})

	var defaults []string
	for _, name := range c.names {
		defaults = append(defaults, name+" = "+name)
	}
	added := strings.Join(defaults, ", ")
	switch n := len(params); {
	case n == 0 && what == "lambda":
		added = " " + added
	case n == 0:
	case startree.ArgOf(params[n-1]).Spread == syntax.STARSTAR:
		insert = start(params[n-1])
		added += ", "
	default:
		insert = end(params[n-1])
		added = ", " + added
	}
	d.Help = append(d.Help, "keep the value of the turn in a default: `"+l.rewritten(node, insert, added)+"`")
	d.Fixes = append(d.Fixes, diag.Fix{
		Message:     "keep the value in a default",
		Span:        diag.Span{Pos: l.f.pos(insert)},
		Replacement: added,
	})
}

// rewritten returns the function with added inserted at insert. For a def, and for a lambda with a long body, it
// returns only the head.
func (l *linter) rewritten(n syntax.Node, insert syntax.Position, added string) string {
	const most = 100
	var to syntax.Position
	rest := ""
	switch x := n.(type) {
	case *syntax.LambdaExpr:
		to = end(x)
		if from := start(x); from.Line != to.Line || to.Col-from.Col > most {
			to, rest = start(x.Body), "…"
		}
	case *syntax.DefStmt:
		to, rest = after(x.Rparen, 1), ":"
	}
	return l.f.cut(start(n), insert) + added + l.f.cut(insert, to) + rest
}
