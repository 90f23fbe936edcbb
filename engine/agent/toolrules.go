package agent

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// ToolRules bound when a tool may be called in one call of its agent. A call that breaks them is
// not made: the model is told why.
type ToolRules struct {
	Max           int       // calls, 0 is without a bound
	OnlyAfter     []string  // tools each of which must have succeeded in an answer before
	OnlyAfterSpan diag.Span // where a script says so
	Forbidden     string    // why it may not be called at all; "" when it may
}

// checkToolRules reports rules that name a tool which there is not.
func (c *checker) checkToolRules(tools []*Tool) bool {
	ok := true
	names := text.Each(tools, func(t *Tool) string { return t.Name })
	for _, t := range tools {
		if t.Rules == nil {
			continue
		}
		for _, after := range t.Rules.OnlyAfter {
			if slices.Contains(names, after) && after != t.Name {
				continue
			}
			ok = false
			d := c.Errorf(diag.UnknownRule, t.Rules.OnlyAfterSpan.Or(t.Span.Or(c.at)), "the tool %q may be called only after %q, which is no other tool of its skill", t.Name, after)
			others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == t.Name })
			if near := diag.DidYouMean(after, others); near != "" {
				d.Helpf("%s", near)
			} else if len(others) > 0 {
				d.Helpf("the other tools are %s", strings.Join(others, ", "))
			} else {
				d.Helpf("it is the only tool: list the one that goes before it as well, or leave only_after out")
			}
		}
	}
	return ok
}
