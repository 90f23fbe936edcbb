package spec

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// sensible reports conditions that do not fit what an agent returns. It reports whether the transitions can be
// followed.
func (c *checker) sensible(a *Agent, cond *Condition, verdict bool, domain tree.Kind) bool {
	if cond.Literal == nil || cond.Operation == "" || cond.variable == nil {
		return false // already reported
	}
	part := cond.Part()
	switch {
	case c.o.Compat && !verdict:
		return true // a value of any kind matches any literal, whatever the variable is called
	case verdict && !slices.Contains(parts, part):
		c.report(diag.FlowCondition, cond.variable, `ask "output.success", which is true or false, or "output.feedback", a text`, "%s returns a verdict, which has no %q", a.label(), part)
		return false
	case !verdict && slices.Contains(parts, part) && a.Models() && slices.Contains(agentTypes, a.Type):
		c.report(diag.FlowCondition, cond.variable, `ask "output", or make it "type": "verify"`, "%s does not return %s: only an agent of the type verify does", a.label(), part)
		return false
	}
	if first, _, _ := strings.Cut(cond.Variable, "."); !verdict && a.Models() && !slices.Contains([]string{"input", "output", "data", ""}, first) {
		c.warn(diag.FlowCondition, cond.variable, `write "output"`, "%q is read as what %s returns", cond.Variable, a.label())
	}
	if verdict {
		domain = tree.Bool
		if part == "feedback" {
			domain = tree.String
		}
	}
	l := cond.Literal
	if cond.literal(domain).kind != domain && domain != tree.Null {
		d := c.report(diag.FlowCondition, l, "one output has one kind: compare with "+domain.String(), "%s returns %s here, and %s is something else", a.label(), domain, l.Shown())
		if domain == tree.String {
			quote(d, l)
		}
		return false
	}
	if l.Kind == tree.String && domain != tree.String && domain != tree.Null {
		d := c.warn(diag.FlowCondition, l, "write "+l.Text+" without quotes", "%s is a text, and %s returns %s", l.Shown(), a.label(), domain)
		d.Fixes = []diag.Fix{{Message: "take the quotes away", Span: l.Span, Replacement: l.Text}}
	}
	switch op := cond.Operation; {
	case domain == tree.Bool && operation.Orders(op):
		c.report(diag.FlowCondition, cond.operation, "use equals or not_equals", "%s never holds of true or false: they have no order", op)
		return false
	case domain != tree.Bool && slices.Contains([]string{operation.Not, operation.And, operation.Or}, op):
		c.report(diag.FlowCondition, cond.operation, "use equals or not_equals; "+op+" is of true and false", "%s never holds of %s", op, domain)
		return false
	case op == operation.And || op == operation.Or:
		if fixed := map[string]string{"and false": "never", "or true": "always"}[op+" "+l.Text]; fixed != "" {
			help := op + " combines the output with the value next to it, not with another condition: use equals"
			c.warn(diag.FlowConstant, cond.at, help, "%s %s %s holds, no matter what %s returns", op, l.Text, fixed, a.label()).Span = cond.operation.Span
		}
	}
	return true
}

// constant reports whether a condition was reported as constant.
func (c *checker) constant(e *Edge) bool {
	return e.Condition.Operation == operation.And && e.Condition.Literal != nil && e.Condition.Literal.Text == "false"
}
