package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// Result reads the variable of a merge: results.<index>.<output, input or name>.
func (c *Condition) Result() (index int, part string, ok bool) {
	fields := strings.Split(c.Variable, ".")
	if len(fields) != 3 || fields[0] != "results" {
		return 0, "", false
	}
	n, err := strconv.Atoi(fields[1])
	return n, fields[2], err == nil && n >= 0 && slices.Contains(resultParts, fields[2])
}

// resultParts are the parts of a result that a merge can test.
var resultParts = []string{"output", "input", "name"}

// merge reports a merge that names something its parallel does not return, or that never holds.
func (c *checker) merge(a *Agent) {
	m := a.Merge
	if m == nil || m.Literal == nil || m.Operation == "" || m.variable == nil || len(a.Children) == 0 {
		return // already reported
	}
	index, part, ok := m.Result()
	switch {
	case !ok:
		c.report(diag.FlowCondition, m.variable, `write "results.0.output": the place of an agent, and output, input or name`,
			"the merge of %s asks for %s, which no result has", a.label(), m.variable.Shown())
		return
	case index >= len(a.Children):
		c.report(diag.FlowCondition, m.variable, "write a number from 0 to "+strconv.Itoa(len(a.Children)-1)+": the first result is 0",
			"the merge of %s asks for result %d, and it runs %d", a.label(), index, len(a.Children))
		return
	case c.o.Compat:
		return // conditions are evaluated literally
	}
	want := m.literal(tree.Null)
	switch op := m.Operation; {
	case (op == operation.Not || op == operation.And || op == operation.Or) && want.kind != tree.Bool:
		c.report(diag.FlowCondition, m.operation, "use equals or not_equals; "+op+" is of true and false", "%s never holds of %s", op, want.kind)
	case want.kind == tree.Bool && operation.Orders(op):
		c.report(diag.FlowCondition, m.operation, "use equals or not_equals", "%s never holds of true or false: they have no order", op)
	case part == "name":
		if r := newRow([]sample{{value: textValue(a.Children[index].Text)}}); len(r.samples) > 0 {
			if holds, _ := r.follow(m); !holds {
				c.warn(diag.FlowConstant, m.at, "compare with the name of an agent that may be returned", "the merge of %s never holds: result %d is of %s", a.label(), index, a.Children[index].Text)
			}
		}
	}
}
