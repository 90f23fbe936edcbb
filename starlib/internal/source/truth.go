package source

import (
	"fmt"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// Truth values of types and nodes (AS207), and a number before a node (AS310).

// truth is called for every expression whose truth value decides something; by is the keyword that tests it. The
// operands of `and` and `or` are tested separately: the left ones when the walk reaches them.
func (l *linter) truth(e syntax.Expr, s *scope, by string) {
	switch x := startree.Unparen(e).(type) {
	case *syntax.BinaryExpr:
		if x.Op == syntax.AND || x.Op == syntax.OR {
			l.truth(x.Y, s, by)
			return
		}
	case *syntax.CondExpr:
		l.truth(x.True, s, by)
		l.truth(x.False, s, by)
		return
	}
	k := l.kindOf(e, s)
	if d := l.asked(e, k, by); d != nil {
		d.Help = append(d.Help, l.instead(e, k, s, by))
	}
}

// operand is called for `x and y` and `x or y`, which test the truth of x.
func (l *linter) operand(x *syntax.BinaryExpr, s *scope) {
	left := startree.Unparen(x.X)
	for {
		b, ok := left.(*syntax.BinaryExpr)
		if !ok || b.Op != syntax.AND && b.Op != syntax.OR {
			break
		}
		left = startree.Unparen(b.Y) // the operand next to this operator; the others were handled before
	}
	k := l.kindOf(left, s)
	if k.what == unknown {
		if x.Op == syntax.OR && isNone(left) && l.kindOf(x.Y, s).what == aType {
			l.noneOrType(x)
			return
		}
		l.truth(left, s, x.Op.String())
		return
	}
	right := l.kindOf(x.Y, s)
	d := l.asked(left, k, x.Op.String())
	if d == nil {
		return
	}
	a, b := l.f.short(left), l.f.short(x.Y)
	switch both := k.what == right.what || k.what == aType && isNone(x.Y); {
	case k.what == aType && both:
		d.Help = append(d.Help, fmt.Sprintf("write `%s | %s`", a, b))
		if left == x.X {
			d.Fixes = append(d.Fixes, diag.Fix{
				Message:     "write `|`",
				Span:        l.f.token(x.OpPos, x.Op.String()),
				Replacement: "|",
			})
		}
	case k.what == aType && x.Op == syntax.OR:
		d.Help = append(d.Help, "join types with `|`: `"+a+" | None`")
	case k.what == aNode && both && x.Op == syntax.OR:
		d.Help = append(d.Help, fmt.Sprintf("to choose by a value use `branch`; to continue with the second if the first fails, write in a function: `attempt(%s, x)`, then `%s(x)`", a, b))
	case k.what == aNode && both:
		d.Help = append(d.Help, fmt.Sprintf("to run one after the other write `%s >> %s`, to run both on the same input `%s / %s`", a, b, a, b))
	default:
		d.Help = append(d.Help, l.instead(left, k, s, x.Op.String()))
	}
}

// instead returns what to test instead of the truth of e.
func (l *linter) instead(e syntax.Expr, k known, s *scope, by string) string {
	switch k.what {
	case aCondition:
		return l.testedCondition(e, by)
	case aNode:
		return l.testedNode(e, s)
	case anAttempt:
		return "test whether the call succeeded: `" + l.callee(e) + ".ok`; its value is `.value`, its failure `.error`"
	case anApproval:
		return "test whether the person approved: `" + l.callee(e) + ".approved`"
	}
	return "to test the type of a value write `isinstance(x, " + l.f.short(startree.Unparen(e)) + ")`"
}

// testedCondition explains how conditions combine, and how to test one.
func (l *linter) testedCondition(e syntax.Expr, by string) string {
	switch by {
	case "and":
		return "conditions combine with `&`: `a & b`"
	case "or":
		return "conditions combine with `|`: `a | b`"
	case "not":
		return "the opposite of a condition is `~" + l.f.short(startree.Unparen(e)) + "`"
	}
	return "test a value: `" + l.callee(e) + "(x)`"
}

func (l *linter) testedNode(e syntax.Expr, s *scope) string {
	if call, ok := startree.Unparen(e).(*syntax.CallExpr); ok && l.f.short(call.Fn) == "approval" {
		return "approval is a step between nodes; in a function ask a person with `approve(\"...\").approved`"
	}
	if !s.inFunction() {
		return "a node is always there, so leave the test out; to choose by a value use `branch`"
	}
	return "leave the test out, or call the node and test its output: `" + l.callee(e) + "(x)`"
}

// callee returns the source of e as written before the parenthesis of a call.
func (l *linter) callee(e syntax.Expr) string {
	e = startree.Unparen(e)
	switch e.(type) {
	case *syntax.BinaryExpr, *syntax.CondExpr, *syntax.LambdaExpr, *syntax.UnaryExpr:
		return "(" + l.f.short(e) + ")"
	}
	return l.f.short(e)
}

// noneOrType reports `None or str`, which is meant to be an optional type.
func (l *linter) noneOrType(x *syntax.BinaryExpr) {
	t := l.f.short(x.Y)
	d := l.report(diag.TruthValue, l.f.token(x.OpPos, "or"), "`or` does not make an optional type", "this is just `"+t+"`")
	d.Help = append(d.Help, "write `"+t+" | None`")
}

// asked reports the truth value of e if it has none or, for the results of attempt and approve, always the same one. It
// returns nil if nothing is known about e, or if it was reported before.
func (l *linter) asked(e syntax.Expr, k known, by string) *diag.Diagnostic {
	inner := startree.Unparen(e)
	if k.what == unknown || l.tested[inner] {
		return nil
	}
	l.tested[inner] = true
	message, fact := fmt.Sprintf("a %s has no truth value", k.what), fmt.Sprintf("becomes a %s", k.what)
	maker := map[what]string{anAttempt: "attempt", anApproval: "approve"}[k.what]
	if maker != "" {
		message, fact = "the result of `"+maker+"` is always true", "is the result of `"+maker+"`"
	} else if k.called {
		fact = fmt.Sprintf("always returns a %s", k.what)
	}
	d := l.report(diag.TruthValue, l.f.span(e), message, fmt.Sprintf("`%s` tests whether this is true", by))
	if k.what == anAttempt { // after an approval the flow would continue whatever the person decides
		d.Severity = diag.Warning
	}
	if k.by != nil && !(maker != "" && k.called) {
		d.Notes = append(d.Notes, diag.Note{Message: "`" + k.by.name + "` " + fact, Pos: l.f.pos(k.by.sites[0].NamePos)})
	}
	return d
}

func isNone(e syntax.Expr) bool {
	id, ok := startree.Unparen(e).(*syntax.Ident)
	return ok && id.Name == "None"
}

// short returns the source of e for a help text, or "…" if it is long.
func (f *File) short(e syntax.Node) string {
	const most = 60
	from, to := startIn(e, f.starts), end(e)
	if from.Line != to.Line || to.Col-from.Col > most {
		return "…"
	}
	return f.cut(from, to)
}

// numberBeforeNode finds `3 >> node`, which the interpreter treats as a shift before it asks the node.
func (l *linter) numberBeforeNode(x *syntax.BinaryExpr, s *scope) {
	n := startree.Unparen(x.X)
	if u, ok := n.(*syntax.UnaryExpr); ok && u.Op == syntax.MINUS {
		n = u.X
	}
	lit, ok := n.(*syntax.Literal)
	if !ok || lit.Token != syntax.INT || l.kindOf(x.Y, s).what != aNode {
		return
	}
	number := l.f.short(startree.Unparen(x.X))
	d := l.report(diag.NotANode, l.f.span(x.X), "`>>` cannot join these", "a number is not a node")
	d.Help = append(d.Help,
		fmt.Sprintf("to call the node write `%s(%s)` in `def main`", l.callee(x.Y), number),
		fmt.Sprintf("for a step that always returns this number write `fn(lambda _: %s) >> %s`", number, l.f.short(x.Y)))
}
