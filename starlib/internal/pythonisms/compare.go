package pythonisms

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// comparison returns the operator of a comparison at token i as Starlark spells it, and how many
// tokens it has; none where no operator begins.
func (f *file) comparison(i int) (op string, width int) {
	t := &f.toks[i]
	switch {
	case t.is("not") && f.after(i).is("in") && ends(f.before(i)):
		return "not in", 2
	case binding(t) != pCompare, t.is("in") && f.before(i).is("not"):
		return "", 0
	case t.is("is") && f.after(i).is("not"):
		return "!=", 2
	case t.is("is"):
		return "==", 1
	}
	return cmp.Or(swaps[t.text], t.text), 1
}

// unchained is the text of tokens [a, b), with the chain of comparisons that they are written out; then nothing more is
// said about it.
func (f *file) unchained(a, b int) string {
	for i := a; i < b; i++ {
		if _, width := f.comparison(i); width == 0 || f.toks[i].open != f.toks[a].open {
			continue
		}
		from, known := f.left(i, pCompare)
		told := map[int]bool{}
		if terms, _, _, complete := f.links(i, told); known && complete && from == a && len(terms) > 1 {
			maps.Copy(f.chained, told)
			return strings.Join(terms, " and ")
		}
		break
	}
	return f.text(a, b)
}

// comparisonChains finds a < b < c.
func (f *file) comparisonChains() {
	told := f.chained // the operators of a chain, and the `in` of a loop
	for i := range f.toks {
		if !f.more() {
			return
		}
		t := &f.toks[i]
		if t.is("for") {
			in := i + 1
			for in < len(f.toks)-1 && in-i < longest && !(f.toks[in].is("in") && f.toks[in].open == t.open) {
				in++
			}
			told[in] = true
		} else if !told[i] {
			f.chain(i, told)
		}
	}
}

// chain reports comparisons that follow each other from token i on, at the second operator, and
// writes them as a < b and b < c.
func (f *file) chain(i int, told map[int]bool) {
	_, width := f.comparison(i)
	if width == 0 {
		return
	}
	next, _ := f.right(i+width, pCompare)
	if _, more := f.comparison(next); more == 0 {
		return
	}
	a, known := f.left(i, pCompare)
	terms, second, _, complete := f.links(i, told)
	known = known && complete
	if len(terms) < 2 {
		return // a lambda is between the two
	}
	help := "compare twice and join with `and`"
	if fixed := strings.Join(terms, " and "); known && f.before(a).is("not") {
		help = write("not (" + fixed + ")")
	} else if known {
		help = write(fixed)
	}
	f.report(diag.ChainedComparison, second[0], second[1], "comparisons do not chain in Starlark", help)
}

// links takes a chain of comparisons from the one at token i on apart: each comparison, the tokens of the second operator,
// and the end. It is not complete where an operand is not understood.
func (f *file) links(i int, told map[int]bool) (terms []string, second [2]int, end int, complete bool) {
	a, known := f.left(i, pCompare)
	left := strings.TrimSpace(f.text(a, i))
	op, width := f.comparison(i)
	for known && width > 0 {
		b, ok := f.right(i+width, pCompare)
		if slices.ContainsFunc(f.toks[i+width:b], func(t token) bool { return t.lambda && t.open == f.toks[i].open }) {
			break // its parameters end here
		}
		if len(terms) == 1 {
			second = [2]int{i, i + width}
		}
		right := strings.TrimSpace(f.text(i+width, b))
		terms = append(terms, left+" "+op+" "+right)
		told[i], known = true, ok
		left, i = right, b
		op, width = f.comparison(i)
	}
	return terms, second, i, known
}
