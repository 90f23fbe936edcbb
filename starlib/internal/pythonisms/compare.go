package pythonisms

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// comparison returns the comparison operator at token i as Starlark spells it, and its number of tokens, which is 0 if
// there is none.
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

// unchained returns the text of tokens [a, b). If they are a chain of comparisons, it expands the chain, and the chain
// is not reported again.
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

// chain reports a chain of comparisons from token i on at its second operator, and rewrites it as a < b and b < c.
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
		return // there is a lambda between them
	}
	help := "compare twice and join with `and`"
	if fixed := strings.Join(terms, " and "); known && f.before(a).is("not") {
		help = write("not (" + fixed + ")")
	} else if known {
		help = write(fixed)
	}
	f.report(diag.ChainedComparison, second[0], second[1], "comparisons do not chain in Starlark", help)
}

// links splits a chain of comparisons that starts at token i: each comparison, the tokens of the second operator, and
// the end. It is not complete if an operand is not understood.
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
