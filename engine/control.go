package engine

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// DefaultLoopMax bounds a loop unless it says otherwise.
const DefaultLoopMax = 1000

// LoopOptions are the options of a loop. Either Next or NextNode gives the input of the next
// turn or None to stop; or Until ends the loop and Repair makes the next input.
type LoopOptions struct {
	Next       Func
	NextNode   *Node
	Until      Func
	Repair     *Node
	Max        int  // turns, default 1000
	LastWins   bool // at Max, give the last output instead of failing
	NextSpan   diag.Span
	RepairSpan diag.Span
}

type loopSpec struct {
	next, until Func
	max         int
	lastWins    bool
	feedback    bool // kids[1] makes the next input
	optional    bool // and may give None to stop
}

// Loop repeats a node X→Y on inputs that next derives from its outputs, until next gives None;
// the last output is the loop's.
func (s *Session) Loop(site Site, body *Node, o LoopOptions) *Node {
	kids := []*Node{body}
	spec := &loopSpec{next: o.Next, until: o.Until, max: o.Max, lastWins: o.LastWins}
	switch {
	case o.Until != nil && o.Repair != nil && o.Next == nil && o.NextNode == nil:
		kids, spec.feedback = append(kids, o.Repair), true
	case o.NextNode != nil && o.Next == nil && o.Until == nil && o.Repair == nil:
		kids, spec.feedback, spec.optional = append(kids, o.NextNode), true, true
	case o.Next != nil && o.NextNode == nil && o.Until == nil && o.Repair == nil:
	default:
		d := s.errorf(diag.MissingArgument, site.Span, "a loop needs what makes the next input")
		help(d, "loop(node, lambda out: None if done(out) else next_input), or loop(check, until = lambda out: ..., repair = node)")
		return s.failedNode(LoopNode, site, nil)
	}
	if spec.max == 0 {
		spec.max = DefaultLoopMax
	}
	return s.structure(LoopNode, site, kids, func(n *Node) bool {
		n.loop = spec
		n.in, n.out = body.in, body.out
		ok := true
		if spec.max < 0 {
			d := s.errorf(diag.LoopBound, site.Span, "max must be at least 1, not %d", spec.max)
			help(d, "the default is %d", DefaultLoopMax)
			ok = false
		}
		if o.Next != nil && !s.arity(spanOr(o.NextSpan, site.Span), o.Next, 1, "loop") {
			ok = false
		}
		if o.Until != nil && !s.arity(site.Span, o.Until, 1, "loop") {
			ok = false
		}
		if spec.feedback && !body.failed && !kids[1].failed {
			ok = s.feedback(site, body, kids[1], spec.optional) && ok
		}
		return ok
	})
}

func spanOr(a, b diag.Span) diag.Span {
	if a.IsValid() {
		return a
	}
	return b
}

// feedback checks the edge from a loop's body back to its input.
func (s *Session) feedback(site Site, body, back *Node, optional bool) bool {
	if !s.join(Site{Span: site.arg(1), What: site.What}, body, back) {
		return false
	}
	want := body.in
	if optional {
		want = generable.OneOf(body.in, generable.NoneT)
	}
	if generable.Assignable(back.out, want) == nil {
		return true
	}
	d := s.errorf(diag.LoopFeedback, site.arg(1), "what goes round the loop must be its input again")
	wants := body.in.String()
	if optional {
		wants += ", or None to stop"
	}
	d.Label = fmt.Sprintf("%s gives %s, %s wants %s", back.Label(), back.out, body.Label(), wants)
	noteDefined(d, body, back)
	help(d, "let %s give %s", back.Label(), want)
	return false
}

// Route is one way out of a branch.
type Route struct {
	Type    *generable.Type  // values of this type, or
	Value   *generable.Value // this very value (of a bool, an enum, None), or
	When    Func             // values for which the predicate holds
	Handler *Node

	Span, HandlerSpan diag.Span // of the key and of the handler
}

// Key names the route as the script wrote it.
func (r *Route) Key() string {
	switch {
	case r.Type != nil:
		return r.Type.String()
	case r.Value != nil && r.Value.IsNull():
		return "None"
	case r.Value != nil:
		if b, ok := r.Value.AsBool(); ok {
			if b {
				return "True"
			}
			return "False"
		}
		return generable.JSON(*r.Value, nil)
	}
	return "when(...)"
}

// BranchOptions are the options of a branch.
type BranchOptions struct {
	Otherwise *Node
	Output    *generable.Type // declared output of the handlers, nil to infer it
}

// Branch routes a node's output to the first route that takes it. Without Otherwise every
// value must be taken.
func (s *Session) Branch(site Site, source *Node, routes []Route, o BranchOptions) *Node {
	kids := []*Node{source}
	for i := range routes {
		kids = append(kids, routes[i].Handler)
	}
	if o.Otherwise != nil {
		kids = append(kids, o.Otherwise)
	}
	if len(routes) == 0 && o.Otherwise == nil {
		d := s.errorf(diag.EmptyComposition, site.Span, "a branch needs at least one route")
		help(d, "branch(node, {Variant: handler, ...})")
		return s.failedNode(BranchNode, site, nil)
	}
	return s.structure(BranchNode, site, kids, func(n *Node) bool {
		n.routes, n.other = routes, o.Otherwise
		n.in = source.in
		ok := true
		if !source.failed {
			ok = s.coverage(site, source, routes, o.Otherwise != nil)
			for i := range routes {
				ok = s.handles(site, source, &routes[i]) && ok
			}
			if o.Otherwise != nil {
				ok = s.otherwise(site, source, routes, o.Otherwise) && ok
			}
		}
		at := Site{Span: site.Span, What: site.What}
		if len(site.Args) > 1 {
			at.Args = site.Args[1:]
		}
		out, ok2 := s.commonOutput(at, o.Output, kids[1:], routes)
		n.out = out
		return ok && ok2
	})
}

// handles checks that a handler accepts what its route sends it.
func (s *Session) handles(site Site, source *Node, r *Route) bool {
	sent := source.out
	if r.Type != nil {
		sent = r.Type
	} else if r.Value != nil && r.Value.IsNull() {
		sent = generable.NoneT
	}
	return s.receives(spanOr(r.HandlerSpan, spanOr(r.Span, site.Span)), r.Handler, sent, "the route for "+r.Key())
}

func (s *Session) receives(at diag.Span, h *Node, sent *generable.Type, route string) bool {
	if h.failed {
		return true
	}
	if !s.follow(Site{Span: at, What: "branch"}, h, sent) {
		return false
	}
	why := generable.Assignable(sent, h.in)
	if why == nil {
		return true
	}
	d := s.errorf(diag.CannotJoin, at, "%s cannot reach its handler", route)
	d.Label = fmt.Sprintf("it sends %s, %s wants %s", sent, h.Label(), h.in)
	s.reasons(d, why, sent, h.in)
	noteDefined(d, h)
	s.joinHelp(d, sent, h.in)
	return false
}

// otherwise checks the handler of the rest: the variants that no route takes.
func (s *Session) otherwise(site Site, source *Node, routes []Route, h *Node) bool {
	rest := remaining(source.out, routes)
	if len(rest) == 0 {
		return true
	}
	return s.receives(site.arg(len(routes)+1), h, generable.OneOf(rest...), "otherwise")
}

// cases lists the values that a type is divided into for routing: variants, members, None.
func cases(t *generable.Type) []*generable.Type {
	switch t = t.Deref(); t.Kind {
	case generable.UnionType, generable.OneOfType:
		var out []*generable.Type
		for _, v := range t.Variants {
			out = append(out, cases(v)...)
		}
		return out
	}
	return []*generable.Type{t}
}

// remaining lists the cases of t that no type or None route takes.
func remaining(t *generable.Type, routes []Route) []*generable.Type {
	var rest []*generable.Type
	for _, c := range cases(t) {
		taken := false
		for i := range routes {
			taken = taken || takes(&routes[i], c)
		}
		if !taken {
			rest = append(rest, c)
		}
	}
	return rest
}

// takes reports whether a route alone takes every value of a case.
func takes(r *Route, c *generable.Type) bool {
	switch {
	case r.Type != nil:
		return generable.Assignable(c, r.Type) == nil && c.Kind != generable.AnyType
	case r.Value != nil && r.Value.IsNull():
		return c.Kind == generable.NoneType
	}
	return false
}

// coverage checks that the routes' keys are possible, distinct and, without otherwise,
// exhaustive.
func (s *Session) coverage(site Site, source *Node, routes []Route, otherwise bool) bool {
	ok := true
	all := cases(source.out)
	open := false // any or predicates: what is left is only known at run time
	taken := make([]bool, len(all))
	values := map[string]bool{}
	for i := range routes {
		r := &routes[i]
		at := spanOr(r.Span, site.Span)
		if r.When != nil {
			open = true
			ok = s.arity(at, r.When, 1, "when") && ok
			continue
		}
		fits, fresh := false, false
		for j, c := range all {
			switch {
			case c.Kind == generable.AnyType || c.Kind == generable.ErrorType:
				open, fits, fresh = true, true, true
			case takes(r, c):
				fits, fresh = true, fresh || !taken[j]
				taken[j] = true
				for _, k := range valuesOf(c) {
					values[k] = true
				}
			case r.Value != nil && !r.Value.IsNull() && c.Conforms(*r.Value) == nil && (c.Kind == generable.BoolType || c.Kind == generable.EnumType):
				fits, fresh = true, fresh || !values[r.Key()]
				values[r.Key()] = true
				taken[j] = taken[j] || allValues(c, values)
			}
		}
		if !fits {
			ok = false
			d := s.errorf(diag.BadBranchKey, at, "%s is no case of %s", r.Key(), source.out)
			d.Label = fmt.Sprintf("%s gives %s", source.Label(), source.out)
			if near, ok := diag.Suggest(r.Key(), keysOf(all)); ok {
				help(d, "did you mean %s?", near)
			} else {
				help(d, "the cases are %s", strings.Join(keysOf(all), ", "))
			}
		} else if !fresh {
			ok = false
			d := s.errorf(diag.BadBranchKey, at, "%s is already taken by an earlier key", r.Key())
			help(d, "the first route that takes a value wins; remove this one or put it first")
		}
	}
	if otherwise || open {
		return ok
	}
	var missing []string
	for j, c := range all {
		if !taken[j] {
			missing = append(missing, missingOf(c, values)...)
		}
	}
	if len(missing) > 0 && ok {
		ok = false
		d := s.errorf(diag.NotExhaustive, site.Span, "branch on %s does not handle %s", source.out, strings.Join(missing, ", "))
		noteDefined(d, source)
		help(d, "add a route for each, or otherwise = handler")
	}
	return ok
}

// allValues reports whether the value keys seen cover a bool or an enum.
func allValues(c *generable.Type, seen map[string]bool) bool {
	return len(missingOf(c, seen)) == 0
}

// missingOf lists the keys of one case that are not among the value keys seen.
func missingOf(c *generable.Type, seen map[string]bool) []string {
	all := valuesOf(c)
	if all == nil {
		return []string{c.String()}
	}
	var out []string
	for _, k := range all {
		if !seen[k] {
			out = append(out, k)
		}
	}
	return out
}

// valuesOf lists the values of a case as keys, none when it has too many to list.
func valuesOf(c *generable.Type) []string {
	switch c.Kind {
	case generable.BoolType:
		return []string{"True", "False"}
	case generable.EnumType:
		keys := make([]string, len(c.Values))
		for i, v := range c.Values {
			keys[i] = string(generable.AppendQuoted(nil, v))
		}
		return keys
	}
	return nil
}

// keysOf lists the branch keys that the given cases can have.
func keysOf(cases []*generable.Type) []string {
	var keys []string
	for _, c := range cases {
		if values := valuesOf(c); values != nil {
			keys = append(keys, values...)
		} else {
			keys = append(keys, c.String())
		}
	}
	return keys
}
