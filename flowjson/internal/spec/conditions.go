package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// sample is a value that an agent may return, one for all that the conditions do not distinguish.
type sample struct {
	text     string // as a message names it
	success  value  // of a verdict, else the value itself is in whole
	feedback value
	whole    value
}

// value is what a condition compares.
type value struct {
	kind tree.Kind
	num  float64
	text string // of a text, else true or false
}

// conditions looks at the transitions that leave an agent: which can never be taken, and what none
// of them takes.
func (c *checker) conditions(i int) {
	a, edges := c.spec.Agents[i], c.spec.Leaves[i]
	verdict := a.Type == Verify
	kinds := Domain(a, edges)
	sound := c.known[i]
	var always *Edge
	for _, e := range edges {
		if always != nil {
			e.Dead = true
			c.report(diag.FlowDead, e.At, "the first one that holds is taken: put those with a condition first", "this transition of %s is never taken", a.label()).
				Notef(always.At.Span.Pos, "this one takes all before it")
			continue
		}
		if e.At == nil { // one after the other
			return
		}
		if e.Condition == nil {
			if cond := e.At.Get("condition"); cond == nil || cond.Kind == tree.Null {
				always = e
			} else {
				sound = false
			}
			continue
		}
		sound = c.sensible(a, e.Condition, verdict, kinds) && sound
	}
	if !sound || len(edges) == 0 {
		return
	}
	samples := c.samples(a, edges, kinds, always != nil)
	taken := make([]bool, len(edges))
	holds := make([]bool, len(edges))
	var left []string
	for _, s := range samples {
		gone := false
		for k, e := range edges {
			if e.Dead || !e.Condition.holds(s, verdict) {
				continue
			}
			holds[k] = true
			if !gone {
				taken[k], gone = true, true
			}
		}
		if !gone && !slices.Contains(left, s.text) {
			left = append(left, s.text)
		}
	}
	for k, e := range edges {
		if taken[k] || e.Dead || e.Condition == nil || c.constant(e) || c.o.Compat {
			continue
		}
		e.Dead = true
		d := c.report(diag.FlowDead, e.Condition.at, "its condition never holds: compare with something that "+a.label()+" can give", "this transition of %s is never taken", a.label())
		if holds[k] {
			d.Notef(diag.Pos{}, "transitions before it take all that it would")
			d.Help = []string{"the first one that holds is taken: put this one first, or remove it"}
		}
	}
	if len(left) > 0 {
		d := c.report(diag.FlowGap, edges[0].From, "the flow would be stuck there: add a transition without a condition as the last one",
			"no transition of %s takes %s", a.label(), strings.Join(left[:min(len(left), 4)], ", "))
		if c.o.Compat {
			d.Severity = diag.Warning
		}
	}
}

// holds evaluates a condition; none holds always.
func (c *Condition) holds(s sample, verdict bool) bool {
	if c == nil {
		return true
	}
	got := s.whole
	if verdict {
		got = s.success
		if c.Part() == "feedback" {
			got = s.feedback
		}
	}
	want := c.literal(got.kind)
	switch c.Operation {
	case "and":
		return got.text == "true" && want.text == "true"
	case "or":
		return got.text == "true" || want.text == "true"
	case "equals":
		return got == want
	case "not_equals", "not":
		return got != want
	}
	if got.kind != want.kind || got.kind == tree.Bool {
		return false
	}
	order := strings.Compare(strings.ToLower(got.text), strings.ToLower(want.text))
	if got.kind == tree.Number {
		order = cmp.Compare(got.num, want.num)
	}
	switch c.Operation {
	case "more":
		return order > 0
	case "less":
		return order < 0
	case "more_or_equal":
		return order >= 0
	}
	return order <= 0
}

// literal is what the condition compares with. A number in quotes counts as one where numbers come.
func (c *Condition) literal(kind tree.Kind) value {
	if c.Literal == nil {
		return value{}
	}
	v := value{kind: c.Literal.Kind, text: c.Literal.Text}
	if n, err := strconv.ParseFloat(v.text, 64); err == nil && (v.kind == tree.Number || kind == tree.Number) {
		return value{kind: tree.Number, num: n}
	}
	if kind == tree.Bool && (v.text == "true" || v.text == "false") {
		v.kind = tree.Bool
	}
	return v
}

// Domain is the kind of values that an agent returns, tree.Null when unknown: what its transitions
// compare it with says what it is asked for.
func Domain(a *Agent, edges []*Edge) tree.Kind {
	switch {
	case a.Type == Transform && a.Projection == "success":
		return tree.Bool
	case a.Type == Transform && a.Projection == "feedback":
		return tree.String
	case a.Type == Verify:
		return tree.Null
	}
	kinds := map[tree.Kind]bool{}
	for _, e := range edges {
		cond := e.Condition
		if cond == nil || cond.Literal == nil {
			continue
		}
		kinds[cond.literal(tree.Number).kind] = true // one in quotes counts
	}
	for _, kind := range []tree.Kind{tree.Number, tree.Bool, tree.String} {
		if kinds[kind] {
			return kind
		}
	}
	return tree.Null
}

// samples are values of an agent, as many as its conditions distinguish.
func (c *checker) samples(a *Agent, edges []*Edge, kind tree.Kind, open bool) []sample {
	var texts []string
	var numbers []float64
	whole, rest := true, open
	for _, e := range edges {
		cond := e.Condition
		if cond == nil || cond.Literal == nil || a.Type == Verify && cond.Part() != "feedback" {
			continue
		}
		if v := cond.literal(kind); v.kind == tree.Number {
			numbers = append(numbers, v.num)
			whole = whole && v.num == float64(int64(v.num))
		} else {
			texts = append(texts, v.text)
		}
		rest = rest || cond.Operation != "equals" // then it may say something else
	}
	var of []sample
	add := func(text string, v value) { of = append(of, sample{text: text, whole: v}) }
	texts = slices.Compact(slices.Sorted(slices.Values(texts)))
	strs := func() []value {
		var out []value
		for _, t := range texts {
			out = append(out, value{kind: tree.String, text: t})
		}
		for _, t := range append([]string{""}, texts...) { // before the first, and after each
			out = append(out, value{kind: tree.String, text: t + "\x00"})
		}
		return out
	}
	switch {
	case a.Type == Verify:
		feedbacks := append([]value{{kind: tree.String}}, strs()...)
		for _, ok := range []string{"true", "false"} {
			for _, f := range feedbacks {
				of = append(of, sample{text: "success = " + ok, success: value{kind: tree.Bool, text: ok}, feedback: f})
			}
		}
		return of
	case kind == tree.Bool:
		add("true", value{kind: tree.Bool, text: "true"})
		add("false", value{kind: tree.Bool, text: "false"})
	case kind == tree.Number:
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		shown := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
		for i, n := range numbers {
			switch {
			case i == 0:
				add("less than "+shown(n), value{kind: tree.Number, num: n - 1})
			case !whole || n-numbers[i-1] > 1: // between two whole numbers there may be none
				add(fmt.Sprintf("%s to %s", shown(numbers[i-1]), shown(n)), value{kind: tree.Number, num: between(numbers[i-1], n, whole)})
			}
			add(shown(n), value{kind: tree.Number, num: n})
		}
		if len(numbers) > 0 {
			last := numbers[len(numbers)-1]
			add("more than "+shown(last), value{kind: tree.Number, num: last + 1})
		}
	case kind == tree.String:
		for _, t := range texts {
			add(strconv.Quote(t), value{kind: tree.String, text: t})
		}
		if rest || a.Type == Transform {
			for _, v := range strs()[len(texts):] {
				add("any other text", v)
			}
		}
	default:
		add("what it gives", value{kind: tree.String, text: "\x00"})
	}
	return of
}

func between(a, b float64, whole bool) float64 {
	if whole {
		return a + 1
	}
	return a + (b-a)/2
}
