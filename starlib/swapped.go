package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
)

// unswapped puts two arguments that stand in each other's place in order, and reports that: each fits
// the parameter of the other, and neither its own. It is one mistake.
func (c *Call) unswapped(args starlark.Tuple) starlark.Tuple {
	params := c.row.Params
	for i := 0; i+1 < len(args) && i+1 < len(params); i++ {
		p, q := &params[i], &params[i+1]
		if q.Shape > Positional || p.Skip || q.Skip {
			return args
		}
		if c.fits(p, args[i]) || c.fits(q, args[i+1]) || !c.fits(p, args[i+1]) || !c.fits(q, args[i]) {
			continue
		}
		d := c.complain(diag.WrongArgument, c.argSpan(argRef{n: i + 1}), "%s: %s and %s stand in each other's place", c.row.shownName(), p.Name, q.Name)
		d.Help = []string{c.row.Signature()}
		out := append(starlark.Tuple(nil), args...)
		out[i], out[i+1] = args[i+1], args[i]
		c.crossed = i + 1
		return out
	}
	return args
}

// shownName is how a script calls the builtin: fs.read, agent, as_tool of a node.
func (b *Builtin) shownName() string {
	if b.member() || b.Of == "memory" {
		return b.QualifiedName()
	}
	return b.Name
}
