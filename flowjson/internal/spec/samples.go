package spec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/internal/sorting"
)

// sample is a value that an agent may return, one for all that its conditions do not distinguish.
type sample struct {
	text string // as messages show it
	value
}

// value is what a condition compares.
type value struct {
	kind  tree.Kind
	num   float64
	text  string // the text, or true or false
	lower string // lower case, for texts: orders ignore case
}

func textValue(s string) value { return value{kind: tree.String, text: s, lower: strings.ToLower(s)} }

func (v value) compare(w value) int {
	if v.kind == tree.Number {
		return cmp.Compare(v.num, w.num)
	}
	return cmp.Or(strings.Compare(v.lower, w.lower), strings.Compare(v.text, w.text))
}

// row holds sorted samples. Each condition holds for all samples between two of them, or for all others, so the number
// of steps to evaluate many conditions is about their number.
type row struct {
	samples []sample
	next    []int // by sample: the first one from there on that nothing has taken, as far as known
}

func newRow(samples []sample) *row {
	sorting.By(samples, func(a, b sample) int { return a.compare(b.value) })
	samples = slices.CompactFunc(samples, func(a, b sample) bool { return a.value == b.value })
	r := &row{samples: samples, next: make([]int, len(samples)+1)}
	for i := range r.next {
		r.next[i] = i
	}
	return r
}

// left returns the first sample from i on that nothing has taken.
func (r *row) left(i int) int {
	end := i
	for r.next[end] != end {
		end = r.next[end]
	}
	for r.next[i] != end {
		i, r.next[i] = r.next[i], end
	}
	return end
}

// take takes the samples in [from, to), and reports whether there are any, and any that nothing has taken before.
func (r *row) take(from, to int) (holds, taken bool) {
	if from >= to {
		return false, false
	}
	for i := r.left(from); i < to; i = r.left(i) {
		r.next[i], taken = i+1, true
	}
	return true, taken
}

// follow takes the samples for which a condition holds; a nil condition holds for all.
func (r *row) follow(c *Condition) (holds, taken bool) {
	all := len(r.samples)
	if c == nil || all == 0 {
		return r.take(0, all)
	}
	want := c.literal(r.samples[0].kind)
	same := want.kind == r.samples[0].kind
	from := sort.Search(all, func(i int) bool { return r.samples[i].compare(want) >= 0 })
	to := from
	if same && from < all && r.samples[from].value == want {
		to++
	}
	switch c.Operation {
	case operation.Equals:
		return r.take(from, to)
	case operation.NotEquals, operation.Not:
		holds, taken = r.take(0, from)
		more, too := r.take(to, all)
		return holds || more, taken || too
	}
	if !same {
		return false, false
	}
	if want.kind == tree.String { // without upper and lower case
		from = sort.Search(all, func(i int) bool { return r.samples[i].lower >= want.lower })
		to = sort.Search(all, func(i int) bool { return r.samples[i].lower > want.lower })
	}
	switch c.Operation {
	case operation.More:
		return r.take(to, all)
	case operation.Less:
		return r.take(0, from)
	case operation.MoreOrEqual:
		return r.take(from, all)
	}
	return r.take(0, to)
}

// truth reports whether a condition holds for true or for false.
func (c *Condition) truth(got bool) bool {
	want := c.literal(tree.Bool)
	same := want.kind == tree.Bool && (want.text == "true") == got
	switch c.Operation {
	case operation.And:
		return got && want.text == "true"
	case operation.Or:
		return got || want.text == "true"
	case operation.Equals:
		return same
	case operation.NotEquals, operation.Not:
		return !same
	}
	return false
}

// asked holds the literals that conditions compare with.
type asked struct {
	texts   []string
	numbers []float64
	whole   bool // all numbers are whole
	rest    bool // values that equal none of them are possible
}

func ask(edges []*Edge, kind tree.Kind, of func(*Condition) bool) asked {
	a := asked{whole: true}
	for _, e := range edges {
		c := e.Condition
		if c == nil || c.Literal == nil || !of(c) {
			continue
		}
		if v := c.literal(kind); v.kind == tree.Number {
			a.numbers = append(a.numbers, v.num)
			a.whole = a.whole && v.num == math.Trunc(v.num)
		} else {
			a.texts = append(a.texts, v.text)
		}
		a.rest = a.rest || c.Operation != operation.Equals // then other values are possible
	}
	slices.Sort(a.texts)
	slices.Sort(a.numbers)
	a.texts, a.numbers = slices.Compact(a.texts), slices.Compact(a.numbers)
	return a
}

// strings returns as many texts as the conditions distinguish: those that they name and, if others are possible, one
// before the first and one after each.
func (a asked) strings(rest bool) []sample {
	var out []sample
	for _, t := range a.texts {
		out = append(out, sample{strconv.Quote(t), textValue(t)})
	}
	if rest {
		for _, t := range append([]string{""}, a.texts...) {
			out = append(out, sample{"any other text", textValue(t + "\x00")})
		}
	}
	return out
}

// numerals returns the numbers that the conditions name, one between each two, and one beyond each end.
func (a asked) numerals() []sample {
	var out []sample
	add := func(text string, n float64) {
		out = append(out, sample{text, value{kind: tree.Number, num: n}})
	}
	shown := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	for i, n := range a.numbers {
		switch {
		case i == 0:
			add("less than "+shown(n), min(n-1, math.Nextafter(n, math.Inf(-1))))
		case !a.whole || n-a.numbers[i-1] > 1: // between two whole numbers there may be none
			add(fmt.Sprintf("%s to %s", shown(a.numbers[i-1]), shown(n)), between(a.numbers[i-1], n, a.whole))
		}
		add(shown(n), n)
	}
	if len(a.numbers) > 0 {
		last := a.numbers[len(a.numbers)-1]
		add("more than "+shown(last), max(last+1, math.Nextafter(last, math.Inf(1))))
	}
	return out
}

func between(a, b float64, whole bool) float64 {
	if whole && a+1 > a {
		return a + 1
	}
	return a/2 + b/2
}
