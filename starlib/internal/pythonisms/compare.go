package pythonisms

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// A chain is the comparisons that follow each other without `and` or brackets.
type chain struct {
	ops    []int // tokens of the operators; `not in` and `is not` by their first
	loop   bool  // after `for`, before its `in`
	negate bool  // after `not`
}

// comparisonChains finds a < b < c.
func (f *file) comparisonChains() {
	chains := map[int]*chain{} // by enclosing bracket
	finish := func(open int) {
		if c := chains[open]; c != nil && len(c.ops) > 1 {
			f.chained(c)
		}
		delete(chains, open)
	}
	for i := range f.toks {
		t := &f.toks[i]
		switch {
		case t.kind == kNewline || t.kind == kEOF:
			for open := range chains {
				finish(open)
			}
			continue
		case t.closes() && t.match >= 0:
			finish(t.match)
			continue
		case t.kind == kString || t.kind == kNumber:
			continue
		}
		c := chains[t.open]
		if c == nil {
			c = &chain{}
			chains[t.open] = c
		}
		switch {
		case t.is("for"):
			finish(t.open)
			chains[t.open] = &chain{loop: true}
		case t.is("in") && c.loop:
			delete(chains, t.open)
		case t.is("in") && f.before(i).is("not") && len(c.ops) > 0 && c.ops[len(c.ops)-1] == i-1:
		case t.is("not") && f.after(i).is("in") && ends(f.before(i)):
			c.ops = append(c.ops, i)
		case t.is("not") && f.before(i).is("is"):
		case t.is("not"):
			finish(t.open)
			chains[t.open] = &chain{negate: true}
		case binding(t) == pCompare:
			c.ops = append(c.ops, i)
		case t.is(":") && t.lambda, breaks(t), binding(t) > 0 && binding(t) <= pAnd, t.is(":"):
			finish(t.open)
		}
	}
	for open := range chains {
		finish(open)
	}
}

// chained reports a chain at its second operator.
func (f *file) chained(c *chain) {
	second := c.ops[1]
	end := second + 1
	if f.toks[second].is("not") || f.toks[second].is("is") && f.after(second).is("not") {
		end++
	}
	help := "compare twice and join with `and`"
	if fixed, ok := f.unchain(c); ok {
		help = write(fixed)
	}
	f.report(diag.ChainedComparison, second, end, "comparisons do not chain in Starlark", help)
}

// unchain writes a < b < c as a < b and b < c.
func (f *file) unchain(c *chain) (string, bool) {
	var operands, ops []string
	for n, i := range c.ops {
		width := 1
		op := f.toks[i].text
		switch {
		case op == "not":
			width, op = 2, "not in"
		case op == "is" && f.after(i).is("not"):
			width, op = 2, "!="
		case op == "is":
			op = "=="
		case swaps[op] != "":
			op = swaps[op]
		}
		ops = append(ops, op)
		if n == 0 {
			a, ok := f.left(i, pCompare)
			if !ok {
				return "", false
			}
			operands = append(operands, strings.TrimSpace(f.text(a, i)))
		}
		b, ok := f.right(i+width, pCompare)
		if !ok || n+1 < len(c.ops) && b != c.ops[n+1] {
			return "", false
		}
		operands = append(operands, strings.TrimSpace(f.text(i+width, b)))
	}
	var terms []string
	for n, op := range ops {
		terms = append(terms, operands[n]+" "+op+" "+operands[n+1])
	}
	s := strings.Join(terms, " and ")
	if c.negate {
		s = "not (" + s + ")"
	}
	return s, true
}
