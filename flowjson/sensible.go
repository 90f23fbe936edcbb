package flowjson

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
)

// sensible tells of conditions that say nothing about what an agent gives. It reports whether the
// transitions can be followed.
func (c *checker) sensible(a *Agent, cond *Condition, verdict bool, domain Kind) bool {
	if cond.Literal == nil || cond.Operation == "" || cond.variable == nil {
		return false // that is told
	}
	part := cond.part()
	switch {
	case verdict && !slices.Contains(parts, part):
		d := c.report(diag.FlowCondition, cond.variable, cond.variable.Span, "%s gives a verdict, which has no %q", a.label(), part)
		d.Help = []string{`ask "output.success", which is true or false, or "output.feedback", a text`}
		return false
	case !verdict && slices.Contains(parts, part) && a.Type != Transform && a.Type != Parallel && known(a.Type):
		d := c.report(diag.FlowCondition, cond.variable, cond.variable.Span, "%s gives no %s: that is of an agent of the type verify", a.label(), part)
		d.Help = []string{`ask "output", or make it "type": "verify"`}
		return false
	}
	if verdict {
		domain = Bool
		if part == "feedback" {
			domain = String
		}
	}
	l := cond.Literal
	if cond.literal(domain).kind != domain && domain != Null {
		d := c.report(diag.FlowCondition, l, l.Span, "%s gives %s here, and %s is none", a.label(), domain, l.shown())
		d.Help = []string{"one output has one kind: compare with " + domain.String()}
		if domain == String {
			d.Help = []string{"write it in quotes"}
			d.Fixes = []diag.Fix{{Message: "put it in quotes", Span: l.Span, Replacement: `"` + l.Text + `"`}}
		}
		return false
	}
	if l.Kind == String && domain != String && domain != Null {
		d := c.warn(diag.FlowCondition, l, l.Span, "%s is a text, and %s gives %s", l.shown(), a.label(), domain)
		d.Help = []string{"write " + l.Text + " without quotes"}
		d.Fixes = []diag.Fix{{Message: "take the quotes away", Span: l.Span, Replacement: l.Text}}
	}
	switch op := cond.Operation; {
	case domain == Bool && slices.Contains([]string{"more", "less", "more_or_equal", "less_or_equal"}, op):
		d := c.report(diag.FlowCondition, cond.operation, cond.operation.Span, "%s never holds of true or false: they have no order", op)
		d.Help = []string{"use equals or not_equals"}
		return false
	case domain != Bool && slices.Contains([]string{"not", "and", "or"}, op):
		d := c.report(diag.FlowCondition, cond.operation, cond.operation.Span, "%s never holds of %s", op, domain)
		d.Help = []string{"use equals or not_equals; " + op + " is of true and false"}
		return false
	case op == "and" || op == "or":
		if fixed := map[string]string{"and false": "never", "or true": "always"}[op+" "+l.Text]; fixed != "" {
			d := c.warn(diag.FlowConstant, cond.at, cond.operation.Span, "%s %s %s holds, whatever %s gives", op, l.Text, fixed, a.label())
			d.Help = []string{fmt.Sprintf("%s combines what comes with the value beside it, not with another condition: use equals", op)}
		}
	}
	return true
}

func known(kind string) bool { return slices.Contains(agentTypes, kind) }

// constant reports whether a condition was told to be one.
func (c *checker) constant(e *edge) bool {
	return e.t.Condition.Operation == "and" && e.t.Condition.Literal != nil && e.t.Condition.Literal.Text == "false"
}
