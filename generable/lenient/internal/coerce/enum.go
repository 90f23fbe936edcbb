package coerce

import (
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/internal/naming"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

func (c *Coercer) enumAt(at int, n *tape.Node, t *generable.Type) bool {
	s := c.text(at, n)
	if in.HasValue(t, s) && (n.IsText() || c.O.Level != generable.Strict) {
		if !n.IsText() {
			c.Repair(tape.RepToString, at, s, text.Quote(s))
		}
		return c.done(generable.StrOf(s))
	}
	names := in.Names(t)
	pick := func(rep tape.RepairKind, i int) bool {
		c.Repair(rep, at, c.show(at), t.Values[i])
		return c.done(generable.StrOf(t.Values[i]))
	}
	if i := names.Aliased(s); i >= 0 {
		return pick(tape.RepAlias, i)
	}
	if c.O.Level != generable.Strict {
		if i := c.enumNamed(s, t); i >= 0 {
			return pick(tape.RepEnumFold, i)
		}
	}
	if c.O.Level == generable.Loose {
		i, ties := names.Mentioned(s)
		switch {
		case i >= 0:
			return pick(tape.RepEnumFind, i)
		case len(ties) > 1:
			all := make([]string, len(ties))
			for k, i := range ties {
				all[k] = t.Values[i]
			}
			hint := "it names " + strings.Join(all, " and ")
			if len(all) > 4 {
				hint = "it names " + message.List(all)
			}
			return c.failAt(at, message.OneOf(t.Values), c.show(at), hint)
		}
	}
	return c.failAt(at, message.OneOf(t.Values), c.show(at), c.nearest(s, t.Values))
}

// enumNamed finds the value of an enum that a text names by itself: by name or alias, with the
// name of the type before it, with its description, or by the description alone. It returns -1
// when there is none.
func (c *Coercer) enumNamed(s string, t *generable.Type) int {
	names := in.Names(t)
	if i := names.Find(s); i >= 0 {
		return i
	}
	if i := names.Describes(s); i >= 0 {
		return i
	}
	if cut := strings.LastIndexAny(s, ".:"); cut > 0 && len(s) <= naming.MaxName && naming.Same(s[:cut], t.Name) {
		return names.Find(s[cut+1:])
	}
	return -1
}
