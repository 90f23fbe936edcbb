package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// Route is one way out of a branch.
type Route struct {
	Type    *generable.Type      // values of this type, or
	Value   *generable.Value     // this very value (of a bool, an enum, None), or
	Pred    *predicate.Predicate // values for which the condition holds, or
	When    engine.Func          // values for which the callback returns True
	Handler *Node

	Span, HandlerSpan diag.Span // of the key and of the handler
}

// Key names the route as the script wrote it.
func (r *Route) Key() string {
	switch {
	case r.Type != nil:
		return r.Type.String()
	case r.Pred != nil:
		return r.Pred.String()
	case r.Value != nil:
		return typing.Literal(*r.Value)
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
	return s.routed(BranchNode, site, source, routes, o)
}

// Handoff is a branch that reports its choice as an event: from whom, to whom, with what. A target receives only what
// its route sends it, without the transcript of a forum.
func (s *Session) Handoff(site Site, source *Node, routes []Route, o BranchOptions) *Node {
	return s.routed(HandoffNode, site, source, routes, o)
}

func (s *Session) routed(kind NodeKind, site Site, source *Node, routes []Route, o BranchOptions) *Node {
	if len(routes) == 0 && o.Otherwise == nil {
		d := s.Errorf(diag.EmptyComposition, site.Span, "a %s needs at least one route", kind)
		d.Helpf("%s(node, {Variant: handler, ...})", kind)
		return s.Failed(kind, site)
	}
	kids := []*Node{source}
	for i := range routes {
		kids = append(kids, routes[i].Handler)
	}
	if o.Otherwise != nil {
		kids = append(kids, o.Otherwise)
	}
	n := &Node{kind: kind, site: site, routes: slices.Clone(routes), declared: o.Output, types: (*Session).branch}
	return s.structure(n, kids, func(*Node) bool {
		ok := true
		if o.Otherwise != nil {
			n.other = n.kids[len(n.kids)-1]
		}
		for i := range n.routes {
			r := &n.routes[i]
			r.Handler = n.kids[i+1] // a handler that was left out is replaced by a failed node
			ok = callback.CheckArity(&s.Reporter, r.Span.Or(site.Span), r.When, 1, "when") && ok
		}
		return s.branch(n) && ok
	})
}

func (s *Session) branch(n *Node) bool {
	source, handlers := n.kids[0], n.kids[1:]
	n.in = source.in
	ok := true
	strange := map[*Node]bool{}
	if !source.failed {
		w := ways(source.out, n.routes)
		n.spec.Sent, n.spec.Rest = w.sent()
		ok = s.sensible(n)
		if ok && !s.reachable(n, w) {
			s.alsoMissing(n, w)
			ok = false
		}
		ok = ok && s.exhaustive(n, w)
		if ok && n.other != nil {
			s.idleOtherwise(n, w)
		}
		for i, h := range handlers {
			sent, at, route := w.rest, n.site.Arg(i+1), "otherwise"
			if i < len(n.routes) {
				r := &n.routes[i]
				sent, at, route = w.Routes[i].sent, r.HandlerSpan.Or(r.Span.Or(n.site.Span)), "the route for "+r.Key()
			}
			if !s.receives(n, at, h, sent, route) {
				ok, strange[h] = false, true
			}
		}
	}
	at := Site{Span: n.site.Span, What: n.site.What}
	if len(n.site.Args) > 1 {
		at.Args = n.site.Args[1:]
	}
	out, ok2 := s.commonOutput(at, n.declared, handlers, n.routes, strange)
	n.out = out
	return ok && ok2
}

// receives checks that a handler accepts what its route sends it.
func (s *Session) receives(n *Node, at diag.Span, h *Node, sent []*generable.Type, route string) bool {
	if h.failed || len(sent) == 0 { // nothing arrives: if that is a mistake, it is reported elsewhere
		return true
	}
	in := generable.OneOf(sent...)
	why, ok := s.hand(at, route, in, h)
	if why == nil {
		return ok
	}
	d := s.cannotJoin(at, route+" cannot reach its handler", fmt.Sprintf("it sends %s, %s wants %s", in, h.Label(), h.in), why, in, h)
	if help := wholeHelp(n, in, h); help != "" {
		d.Helpf("%s", help)
	} else {
		joinHelp(d, in, h.in, h.Label())
	}
	return false
}

// wholeHelp returns help for a handler that gets an enum's value but wants the input of the node that chose the value,
// else "".
func wholeHelp(n *Node, in *generable.Type, h *Node) string {
	source := n.kids[0]
	if in.Deref().Kind != generable.EnumType || source.in.Kind == generable.AnyType || generable.Assignable(source.in, h.in) != nil {
		return ""
	}
	if source.kind == PickNode {
		return "a route by a value sends the value alone: branch the node before by conditions, branch(node, " + conditions(source.field, n.routes) + ")"
	}
	return fmt.Sprintf("a route by a value sends the value alone: let %s return a schema of what %s wants and a field of %s, and choose by that, [when(eq(\"field\", %s), %s), ...]",
		source.Label(), h.Label(), in, n.routes[0].Key(), cmp.Or(n.routes[0].Handler.Name(), "handler"))
}

// sensible checks that the conditions of a branch apply to the source's output.
func (s *Session) sensible(n *Node) bool {
	ok := true
	for i := range n.routes {
		if r := &n.routes[i]; r.Pred != nil {
			ok = s.asks(r.Span.Or(n.site.Span), r.Pred, n.kids[0]) && ok
		}
	}
	return ok
}

// settled says that a condition has the same result for all values of a type.
func settled(p *predicate.Predicate, always bool, t *generable.Type) string {
	switch {
	case p.Op() == predicate.True || p.Op() == predicate.False:
		return fmt.Sprintf("%s is %t for every value", p, always)
	case always:
		return fmt.Sprintf("%s always holds for %s", p, t)
	}
	return fmt.Sprintf("%s never holds for %s", p, t)
}

// asks checks that a condition applies to a node's output.
func (s *Session) asks(at diag.Span, p *predicate.Predicate, from *Node) bool {
	why := p.Mismatches(from.out)
	if len(why) == 0 {
		return true
	}
	d := s.Errorf(diag.BadCondition, at, "this condition cannot be asked of %s", from.out)
	d.Label = why[0]
	for _, more := range why[1:] {
		d.Notef(diag.Pos{}, "%s", more)
	}
	node.NoteDefined(d, from)
	if corrected := p.Corrected(from.out); corrected != nil {
		d.Helpf("write %s", corrected)
		return false
	}
	if v := p.Variant(from.out); v != nil {
		d.Helpf("write %s: a variant is distinguished by its type, not by a field", v)
		return false
	}
	if meant := cmp.Or(p.NearField(from.out), p.NearValue(from.out)); meant != "" {
		d.Helpf("did you mean %q?", meant)
		return false
	}
	d.Helpf("test a field by its name, ge(\"score\", 80), the value itself without one, ge(80)")
	return false
}

// reachable checks that every key is a case of the source that no earlier key takes.
func (s *Session) reachable(n *Node, w *routing) bool {
	source, ok := n.kids[0], true
	if len(n.routes) > 1 && !slices.ContainsFunc(w.Routes, func(y way) bool { return y.fits }) && !w.open {
		d := s.mistake(diag.BadBranchKey, n.site.Span, fmt.Sprintf("no key of this %s is a case of %s", n.kind, source.out), source.outputText(), source)
		keys := typing.Keys(typing.Cases(source.out))
		if _, quoted := quotedKey(&n.routes[0], keys); quoted {
			d.Helpf("write %s without quotes", typing.Listed(keys))
		} else if help := valuesHelp(n.routes, source); help != "" {
			d.Helpf("%s", help)
		} else {
			d.Helpf("the cases are %s", typing.Listed(keys))
		}
		return false
	}
	for i := range n.routes {
		r, way := &n.routes[i], w.Routes[i]
		at := r.Span.Or(n.site.Span)
		switch {
		case r.When != nil || way.Fresh:
		case way.fits:
			ok = false
			d := s.Errorf(diag.BadBranchKey, at, "%s is already taken by an earlier key", r.Key())
			d.Helpf("the first route that takes a value wins; remove this one or put it first")
		case r.Pred != nil: // always false: whether it applies was checked before
			ok = false
			d := s.Errorf(diag.BadBranchKey, at, "%s", settled(r.Pred, false, source.out))
			d.Helpf("remove it, or test something else")
		default:
			ok = false
			d := s.Errorf(diag.BadBranchKey, at, "%s is no case of %s", r.Key(), source.out)
			d.Label = source.outputText()
			if help := valuesHelp(n.routes, source); help != "" {
				d.Helpf("%s", help)
			} else {
				s.keyHelp(d, r, source.out)
			}
		}
	}
	return ok
}

// alsoMissing adds to a mistake in the keys the cases that no route handles, except those that a wrong key may mean.
func (s *Session) alsoMissing(n *Node, w *routing) {
	if n.other != nil || w.vague || w.open || len(w.Missing) == 0 {
		return
	}
	var meant []string
	for i := range n.routes {
		if w.Routes[i].fits {
			continue
		}
		if near, ok := diag.Suggest(n.routes[i].Key(), w.Missing); ok {
			meant = append(meant, near)
		}
	}
	missing := slices.DeleteFunc(slices.Clone(w.Missing), func(key string) bool { return slices.Contains(meant, key) })
	if len(meant) > 0 && len(missing) > 0 {
		d := s.mistake(diag.NotExhaustive, n.site.Span, fmt.Sprintf("%s on %s does not handle %s", n.kind, n.kids[0].out, typing.Listed(missing)), "", n.kids[0])
		d.Helpf("add a route for each, or otherwise = handler")
	}
}

// valuesHelp returns help for routes by values that source does not return, "" if none is known.
func valuesHelp(routes []Route, source *Node) string {
	return cmp.Or(comparedHelp(&routes[0], source.out), enumHelp(routes, source.out, source.Label()), fieldHelp(routes, source.out))
}

// written returns a condition in the syntax of the route's place: when = ... for an edge, a list for a branch.
func (r *Route) written(condition string) string {
	if r.Handler == nil {
		return "when = " + condition
	}
	return "[when(" + condition + ", " + cmp.Or(r.Handler.Name(), "handler") + ")]"
}

// comparedHelp returns help for a route by a comparison in a text, "score > 3", else "".
func comparedHelp(r *Route, t *generable.Type) string {
	if r.Value == nil {
		return ""
	}
	text, _ := r.Value.AsStr()
	p := predicate.OfText(text)
	if p == nil {
		return ""
	}
	field := p.Subjects()[0]
	if len(p.Mismatches(t)) > 0 {
		alone := p.Alone()
		if len(alone.Mismatches(t)) > 0 {
			return fmt.Sprintf("a condition is no text: %s tests the field %s of a schema, output = schema(%s = ...)", r.written(p.String()), field, field)
		}
		p = alone
	}
	return "a condition is no text: write " + r.written(p.String())
}

// enumHelp returns help for routes by texts of a node that returns any text, else "".
func enumHelp(routes []Route, t *generable.Type, label string) string {
	var texts []string
	for i := range routes {
		if v := routes[i].Value; v != nil {
			if text, ok := v.AsStr(); ok {
				texts = append(texts, strconv.Quote(text))
				continue
			}
		}
		return ""
	}
	if t.Deref().Kind != generable.StrType || len(texts) == 0 {
		return ""
	}
	return fmt.Sprintf("make %s return one of these words, output = enum(%s), or choose by a condition: [when(eq(%s), handler)], otherwise = handler",
		label, strings.Join(texts, ", "), texts[0])
}

// fieldHelp returns help for routes by the values of a field of the source's output, else "".
func fieldHelp(routes []Route, t *generable.Type) string {
	t = t.Deref()
	if t.Kind != generable.RecordType {
		return ""
	}
	best, text := "", false
	for i := range t.Fields {
		f := &t.Fields[i]
		takes := func(r Route) bool { return r.Value != nil && f.Type.Conforms(*r.Value) == nil }
		if plain := f.Type.Deref().Kind == generable.StrType; (best == "" || text && !plain) && !slices.ContainsFunc(routes, func(r Route) bool { return !takes(r) }) {
			best, text = f.Name, plain
		}
	}
	if best == "" {
		return ""
	}
	return "a field is tested by a condition: " + conditions(best, routes)
}

// conditions writes routes by the values of a field as conditions.
func conditions(field string, routes []Route) string {
	tests := make([]string, len(routes))
	for i := range routes {
		tests[i] = fmt.Sprintf("when(eq(%q, %s), %s)", field, routes[i].Key(), cmp.Or(routes[i].Handler.Name(), "handler"))
	}
	return "[" + strings.Join(tests, ", ") + "]"
}

// idleOtherwise warns of an otherwise handler when the routes take everything.
func (s *Session) idleOtherwise(n *Node, w *routing) {
	if w.open || w.vague || len(w.Missing) > 0 {
		return
	}
	d := s.Warnf(diag.Unreachable, n.site.Arg(len(n.kids)-1), "otherwise is never reached")
	d.Label = fmt.Sprintf("the routes take all of %s", n.kids[0].out)
	node.NoteDefined(d, n.kids[0])
	d.Helpf("leave it out: a case that the type gets later is then named by the check")
}

// keyHelp lists the keys that a branch can have.
func (s *Session) keyHelp(d *diag.Diagnostic, r *Route, t *generable.Type) {
	keys := typing.Keys(typing.Cases(t))
	if text, ok := quotedKey(r, keys); ok {
		d.Helpf("write %s without quotes", text)
		return
	}
	if help := comparedHelp(r, t); help != "" {
		d.Helpf("%s", help)
		return
	}
	for _, written := range []string{r.Key(), strings.Trim(r.Key(), `"`)} { // for example a type in quotes
		if near, ok := diag.Suggest(written, keys); ok {
			d.Helpf("did you mean %s?", near)
			return
		}
	}
	if r.Value != nil {
		if field, ok := r.Value.AsStr(); ok {
			if of, why := predicate.SubjectType(t, field); why == "" && field != "" && of.Kind != generable.AnyType {
				d.Helpf("that is a field: test it by a condition, eq(%q, ...)", field)
				return
			}
		}
		for _, c := range typing.Cases(t) {
			if c.Conforms(*r.Value) == nil { // for example a str: it has too many values to route by each
				d.Helpf("choose by a condition, %s, or make the node return an enum", r.written("eq("+r.Key()+")"))
				return
			}
		}
	}
	if len(keys) == 1 {
		d.Helpf("the only case is %s", keys[0])
		return
	}
	d.Helpf("the cases are %s", typing.Listed(keys))
}

// quotedKey returns the key that a route has in quotes: True, None, the name of a type.
func quotedKey(r *Route, keys []string) (string, bool) {
	if r.Value == nil {
		return "", false
	}
	text, ok := r.Value.AsStr()
	return text, ok && !strings.HasPrefix(text, `"`) && slices.Contains(keys, text)
}

// exhaustive checks that some route takes every possible value.
func (s *Session) exhaustive(n *Node, w *routing) bool {
	if n.other != nil || len(w.Missing) == 0 {
		return true
	}
	if w.vague || slices.ContainsFunc(n.routes, func(r Route) bool { return r.When != nil }) {
		d := s.mistake(diag.NotExhaustive, n.site.Span, fmt.Sprintf("the conditions of this %s may all be false", n.kind), n.kids[0].outputText())
		d.Helpf("what a function or a regular expression says cannot be followed: say where the rest goes, otherwise = handler")
		return false
	}
	if w.open {
		return true
	}
	if w.told {
		d := s.mistake(diag.NotExhaustive, n.site.Span, typing.Listed(w.Missing)+" is not handled", n.kids[0].outputText(), n.kids[0])
		d.Helpf("widen a condition, add a route, or say where the rest goes: otherwise = handler")
		return false
	}
	d := s.mistake(diag.NotExhaustive, n.site.Span, fmt.Sprintf("%s on %s does not handle %s", n.kind, n.kids[0].out, typing.Listed(w.Missing)), "", n.kids[0])
	d.Helpf("add a route for each, or otherwise = handler")
	return false
}
