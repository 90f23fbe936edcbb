package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// conditions checks the transitions that leave an agent: which can never be taken, and what none of them takes.
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
		if e.At == nil { // an edge of a chain without transitions
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
	holds, taken, left := c.follow(a, edges, kinds, always != nil)
	for k, e := range edges {
		if taken[k] || e.Dead || e.Condition == nil || c.constant(e) || c.o.Compat {
			continue
		}
		e.Dead = true
		d := c.report(diag.FlowDead, e.Condition.at, "its condition never holds: compare with something that "+a.label()+" can return", "this transition of %s is never taken", a.label())
		if holds[k] {
			d.Notef(diag.Pos{}, "transitions before it take all that it would")
			d.Help = []string{"the first one that holds is taken: put this one first, or remove it"}
		}
	}
	if len(left) > 0 {
		d := c.report(diag.FlowGap, edges[0].From, "the flow would be stuck there: add a transition without a condition as the last one",
			"no transition of %s takes %s", a.label(), strings.Join(left, ", "))
		if c.o.Compat {
			d.Severity = diag.Warning
		}
	}
}

// follow applies the conditions of an agent to the values it may return. It returns which of them hold for some value,
// which for some value that no earlier one takes, and the values that none of them takes.
func (c *checker) follow(a *Agent, edges []*Edge, kind tree.Kind, open bool) (holds, taken []bool, left []string) {
	holds, taken = make([]bool, len(edges)), make([]bool, len(edges))
	miss := func(text string) {
		if len(left) < mostMissed && !slices.Contains(left, text) {
			left = append(left, text)
		}
	}
	if a.Type == Verify || kind == tree.Bool {
		for _, got := range []bool{true, false} {
			r := newRow([]sample{{}}) // true and false only
			shown := strconv.FormatBool(got)
			if a.Type == Verify {
				feedback := func(c *Condition) bool { return c.Part() == "feedback" }
				r, shown = newRow(append(ask(edges, tree.String, feedback).strings(true), sample{value: textValue("")})), "success = "+shown
			}
			for k, e := range edges {
				h, t := false, false
				switch cond := e.Condition; {
				case e.Dead:
				case cond != nil && a.Type == Verify && cond.Part() == "feedback":
					h, t = r.follow(cond)
				case cond == nil || cond.truth(got):
					h, t = r.follow(nil)
				}
				holds[k], taken[k] = holds[k] || h, taken[k] || t
			}
			if r.left(0) < len(r.samples) {
				miss(shown)
			}
		}
		return holds, taken, left
	}
	named := ask(edges, kind, func(*Condition) bool { return true })
	var of []sample
	switch kind {
	case tree.Number:
		of = named.numerals()
	case tree.String:
		of = named.strings(open || named.rest || a.Type == Transform)
	default:
		of = []sample{{"what it returns", textValue("\x00")}}
	}
	r := newRow(of)
	for k, e := range edges {
		if !e.Dead {
			holds[k], taken[k] = r.follow(e.Condition)
		}
	}
	for i := r.left(0); i < len(r.samples) && len(left) < mostMissed; i = r.left(i + 1) {
		miss(r.samples[i].text)
	}
	return holds, taken, left
}

// mostMissed bounds the values without a transition that a message names.
const mostMissed = 4

// literal returns the literal of the condition. A number in quotes counts as a number where numbers are expected,
// unless the file declares it to be a text.
func (c *Condition) literal(kind tree.Kind) value {
	if c.Literal == nil {
		return value{}
	}
	v := textValue(c.Literal.Text)
	if v.kind = c.Literal.Kind; c.Kind == "string" {
		v.kind = tree.String
		return v
	}
	if n, ok := finite(v.text); ok && (v.kind == tree.Number || kind == tree.Number) {
		return value{kind: tree.Number, num: n}
	}
	if v.kind == tree.Bool {
		v.lower = ""
	}
	if kind == tree.Bool && (v.text == "true" || v.text == "false") {
		v.kind = tree.Bool
	}
	return v
}

// Domain returns the kind of values that an agent returns, tree.Null if unknown. What its transitions compare its
// output with shows what it is asked for.
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
	quoted := true // everything that reads as a number is a word among others
	for _, e := range edges {
		cond := e.Condition
		if cond == nil || cond.Literal == nil {
			continue
		}
		kind := cond.literal(tree.Number).kind // a number in quotes counts
		kinds[kind] = true
		if kind == tree.Number && (cond.Literal.Kind != tree.String || operation.Orders(cond.Operation)) {
			quoted = false
		}
	}
	if quoted && kinds[tree.String] && !kinds[tree.Bool] {
		return tree.String
	}
	for _, kind := range []tree.Kind{tree.Number, tree.Bool, tree.String} {
		if kinds[kind] {
			return kind
		}
	}
	return tree.Null
}
