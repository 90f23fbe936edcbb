package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// join checks one edge of a pipeline and settles the types of steps that follow their input. If a does not fit the step
// before it, before is that step: if b would take its output, only a is out of place, and one mistake yields one
// message.
func (s *Session) join(site Site, a, b, before *Node) bool {
	if a, b = a.last(), b.first(); a.failed || b.failed {
		return true
	}
	why, ok := s.hand(site.Span, a.Label(), a.out, b)
	if why == nil {
		return ok
	}
	if before != nil && !before.failed && generable.Assignable(before.out, b.in) == nil {
		return false
	}
	d := s.Errorf(diag.CannotJoin, site.Span, "%s cannot join these", site.What)
	d.Label = fmt.Sprintf("%s, %s wants %s", a.outputText(), b.Label(), b.in)
	if b.kind == EachNode && a.out.Deref().Kind != generable.ListType {
		d.Code, d.Message = diag.NotAList, "each takes a list"
		node.NoteDefined(d, a, b)
		if f := fieldFor(a.out, b.in); f != "" {
			d.Helpf("put pick(%q) between them", f)
		} else {
			d.Helpf("make %s return %s, or drop each", a.Label(), b.in)
		}
		return false
	}
	s.reasons(d, why, a.out)
	node.NoteDefined(d, a, b)
	joinHelp(d, a.out, b.in, b.Label())
	return false
}

// hand passes a value of type t to a node. It settles the node's types if they are open, and returns the reasons why
// the node does not take the value. If ok is false without reasons, the mistake was already reported.
func (s *Session) hand(at diag.Span, giver string, t *generable.Type, to *Node) (why []generable.Reason, ok bool) {
	if !s.inferOpen(to, t) {
		return nil, false
	}
	if why = generable.Assignable(t, to.in); why == nil {
		if to.kind == FnNode && to.in.Kind == generable.AnyType {
			to.arriving = t
		}
		s.edge(edgeTo{to, false}, edge{at, giver, t, to.in})
	}
	return why, why == nil
}

// mistake reports nodes that do not fit together: what is wrong, and where the nodes were made.
func (s *Session) mistake(code diag.Code, at diag.Span, message, label string, nodes ...*Node) *diag.Diagnostic {
	d := s.Errorf(code, at, "%s", message)
	d.Label = label
	node.NoteDefined(d, nodes...)
	return d
}

// cannotJoin reports that a node does not accept its input, with the reasons.
func (s *Session) cannotJoin(at diag.Span, message, label string, why []generable.Reason, from *generable.Type, nodes ...*Node) *diag.Diagnostic {
	d := s.mistake(diag.CannotJoin, at, message, label)
	s.reasons(d, why, from)
	node.NoteDefined(d, nodes...)
	return d
}

// outputText describes a node's output, for a message.
func (n *Node) outputText() string { return fmt.Sprintf("%s returns %s", n.Label(), n.out) }

// last returns the last step of a failed pipeline, else the node itself: the pipeline's last joint may be right and the
// next one wrong.
func (n *Node) last() *Node {
	for n.failed && n.kind == PipelineNode && len(n.kids) > 0 {
		n = n.kids[len(n.kids)-1]
	}
	return n
}

// beforeLast returns the step whose output the last step of a failed pipeline does not take, else nil.
func (n *Node) beforeLast() *Node {
	for n.failed && n.kind == PipelineNode && len(n.kids) > 1 {
		if last := n.kids[len(n.kids)-1]; last.failed && last.kind == PipelineNode {
			n = last
			continue
		}
		if n.endsWrong {
			return n.kids[len(n.kids)-2].last()
		}
		return nil
	}
	return nil
}

// first returns the first step of a failed pipeline, else the node itself.
func (n *Node) first() *Node {
	for n.failed && n.kind == PipelineNode && len(n.kids) > 0 {
		n = n.kids[0]
	}
	return n
}

// reasons adds the causes that lie deeper than the two types themselves.
func (s *Session) reasons(d *diag.Diagnostic, why []generable.Reason, from *generable.Type) {
	for _, r := range why {
		if r.Path != "" || r.From != from.Deref() || strings.HasPrefix(r.Text, "two different") {
			d.Notef(diag.Pos{}, "%s", r)
		}
	}
}

// joinHelp proposes what to put between two nodes that do not fit.
func joinHelp(d *diag.Diagnostic, from, to *generable.Type, taker string) {
	from, to = from.Deref(), to.Deref()
	switch {
	case IsAttempt(from):
		d.Helpf("say what becomes of a failure: put fn(lambda a: a.value if a.ok else ..., output = %s) between them", to)
		return
	case from.Kind == generable.ListType && IsAttempt(from.Elem.Deref()):
		d.Helpf("look at each outcome, or leave failures out: on_error = \"drop\"")
		return
	}
	if f := fieldFor(from, to); f != "" {
		d.Helpf("put pick(%q) between them", f)
		return
	}
	switch {
	case from.Kind == generable.IntType && to.Kind == generable.FloatType:
		d.Helpf("an edge does not widen numbers: put fn(float) between them")
	case from.Kind == generable.FloatType && to.Kind == generable.IntType:
		d.Helpf("put fn(int) between them; it drops the fraction")
	case from.Kind == generable.ListType && generable.Assignable(from.Elem, to) == nil:
		d.Helpf("put what makes one value of the list between them: fn(lambda xs: ..., input = %s, output = %s), or let %s take the list, input = %s", from, to, taker, from)
		d.Helpf("to run %s on every item write each(%s)", taker, taker)
	case to.Kind == generable.ListType && generable.Assignable(from, to.Elem) == nil:
		d.Helpf("the second takes a list: put fn(lambda x: [x], output = %s) between them", to)
	case from.Kind == generable.UnionType || from.Kind == generable.OneOfType:
		d.Helpf("route the cases: branch(node, {%s})", typing.Routes(from))
	default:
		d.Helpf("put a step between them: fn(lambda x: ..., input = %s, output = %s)", from, to)
	}
}

// fieldFor returns the first field of a schema that fits where the whole schema does not, else "".
func fieldFor(from, to *generable.Type) string {
	if from = from.Deref(); from.Kind != generable.RecordType {
		return ""
	}
	for i := range from.Fields {
		if f := &from.Fields[i]; generable.Assignable(f.Type, to) == nil && f.Type.Deref().Kind != generable.AnyType {
			return f.Name
		}
	}
	return ""
}

// edge is the value that a node receives, for the notes of a strict session. A node has one place and so one edge into
// it. The body of a loop has a second one that leads back.
type edge struct {
	at         diag.Span
	giver      string
	sent, want *generable.Type
}

type edgeTo struct {
	node *Node
	back bool
}

func (s *Session) edge(to edgeTo, e edge) {
	if s.Strict {
		s.edges[to] = e
	}
}

// noteUnchecked notes the edges that are proven only at run time.
func (s *Session) noteUnchecked() {
	if !s.Strict {
		return
	}
	for _, n := range s.Nodes() {
		for _, back := range []bool{false, true} {
			e, ok := s.edges[edgeTo{n, back}]
			if !ok || n.failed || !generable.Unchecked(e.sent, e.want) {
				continue
			}
			d := s.Errorf(diag.UncheckedAny, e.at, "%s returns %s: that it is %s is only checked when it runs", e.giver, e.sent, e.want)
			d.Severity = diag.Info
			d.Helpf("declare the output: fn(f, output = %s)", e.want)
		}
	}
}

// The types of a pick, and of a template or an approval that declares no input, follow the node before it. So do the
// types of a structure that passes its input to such a step. They are open until they are placed behind a node whose
// output is known.

// isOpen reports whether the types of a structure still depend on what comes before it.
func isOpen(n *Node) bool {
	if n.failed {
		return false
	}
	if n.kind == PickNode || n.kind == TemplateNode || n.kind == ApprovalNode {
		return typing.Untyped(n.in)
	}
	return slices.ContainsFunc(n.takers(), func(k *Node) bool { return k.open })
}

// takers returns the kids to which a structure passes its input.
func (n *Node) takers() []*Node {
	switch n.kind {
	case AgentNode, FixNode:
		return nil
	case ParallelNode, ForumNode, FallbackNode, RaceNode, WrapNode:
		return n.branches()
	}
	return n.kids[:min(len(n.kids), 1)]
}

// inferOpen settles the types of an open node by its input. It reports false if that reveals a mistake; the node has
// then failed.
func (s *Session) inferOpen(n *Node, in *generable.Type) bool {
	if n.failed {
		return false
	}
	if !n.open || typing.Untyped(in) {
		return true
	}
	if !s.settle(n, in) {
		n.failed = true
	}
	n.open = isOpen(n)
	placeholder(n)
	return !n.failed
}

func (s *Session) settle(n *Node, in *generable.Type) bool {
	switch n.kind {
	case PickNode:
		out, ok := s.project(n, in)
		n.in, n.out = in, out
		return ok
	case ApprovalNode:
		n.in, n.out = in, in
		return true
	case TemplateNode:
		n.in = in
		return n.spec.Text.Check(&s.Reporter, n.site.Span, in)
	case EachNode:
		if in = in.Deref(); in.Kind != generable.ListType {
			return true
		}
		in = in.Elem
	}
	return s.inferAll(n.takers(), in) && n.types(s, n)
}

func (s *Session) inferAll(kids []*Node, in *generable.Type) bool {
	ok := true
	for _, k := range kids {
		ok = s.inferOpen(k, in) && ok
	}
	return ok
}

// project returns the type of the field that a pick takes from in.
func (s *Session) project(n *Node, in *generable.Type) (*generable.Type, bool) {
	typ, lacks := typing.FieldType(in, n.field)
	if lacks == nil {
		return typ, true
	}
	in = in.Deref()
	switch {
	case lacks != in:
		d := s.mistake(diag.UnknownPick, n.site.Span, fmt.Sprintf("not every %s has a field %q", in, n.field), lacks.String()+" has none")
		d.Helpf("route the cases first: branch(node, {%s})", typing.Routes(in))
	case in.Kind == generable.RecordType:
		d := s.Errorf(diag.UnknownPick, n.site.Span, "%s has no field %q", in, n.field)
		if path := strings.Split(n.field, "."); len(path) > 1 && in.FieldIndex(path[0]) >= 0 {
			d.Helpf("a pick takes one field: `%s`", strings.Join(text.Each(path, func(name string) string { return fmt.Sprintf("pick(%q)", name) }), " >> "))
			break
		}
		typing.FieldHelp(d, n.field, in, "")
	default:
		d := s.mistake(diag.UnknownPick, n.site.Span, fmt.Sprintf("pick(%q) needs a schema or a dict in front of it", n.field), in.String()+" has no fields")
		d.Helpf("leave it out, or make the node before it return a schema with the field %s", n.field)
	}
	return generable.ErrorT, false
}

// sound leaves out failed nodes, about which nothing more is reported.
func sound(nodes []*Node) []*Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *Node) bool { return n.failed })
}

// commonInput finds the input that all nodes accept: the most specific one. It reports and returns the nodes that do
// not accept it.
func (s *Session) commonInput(site Site, nodes []*Node) (in *generable.Type, strange map[*Node]bool) {
	pick := nodes[0]
	for _, n := range nodes {
		if n.failed || typing.Untyped(n.in) {
			continue
		}
		if pick.failed || typing.Untyped(pick.in) || !generable.Same(n.in, pick.in) && typing.Proven(n.in, pick.in) {
			pick = n
		}
	}
	for i, n := range nodes {
		if n.failed || pick.failed || generable.Assignable(pick.in, n.in) == nil {
			continue
		}
		if strange == nil {
			strange = map[*Node]bool{}
		}
		strange[n] = true
		d := s.Errorf(diag.InputsDiffer, site.Arg(i), "%s wants one input type", site.What)
		d.Label = fmt.Sprintf("%s takes %s, %s takes %s", pick.Label(), pick.in, n.Label(), n.in)
		if generable.Assignable(n.out, pick.out) != nil && generable.Assignable(pick.out, n.out) != nil {
			d.Notef(diag.Pos{}, "their outputs differ too: %s, %s", pick.outputText(), n.outputText())
		}
		node.NoteDefined(d, pick, n)
		d.Helpf("all branches run on the same input: convert it in front of one, then(fn(..., input = %s, output = %s), %s)", pick.in, n.in, n.Label())
	}
	return pick.in, strange
}

// commonOutput finds the output type of several nodes: the declared one, the one that they share, or the declared union
// whose variants they all are. Routes, if any, identify the nodes in messages. Nodes in reported are not reported
// again: they may be the wrong nodes altogether.
func (s *Session) commonOutput(site Site, declared *generable.Type, nodes []*Node, routes []Route, reported map[*Node]bool) (*generable.Type, bool) {
	types := make([]*generable.Type, 0, len(nodes))
	var at []int // the index in nodes of each type
	for i, n := range nodes {
		if n.failed {
			return generable.ErrorT, true
		}
		if !reported[n] {
			types, at = append(types, n.out), append(at, i)
		}
	}
	switch {
	case declared != nil:
		return declared, s.declaredOutput(site, declared, nodes, at, routes)
	case len(reported) > 0 && len(types) == 0:
		return generable.ErrorT, true
	}
	if t, ok := s.joined(types); ok {
		return t, true
	}
	s.outputsDiffer(site, nodes, at, routes)
	return generable.ErrorT, false
}

// joined finds the common type of several types. If any of them is any, the result is any.
func (s *Session) joined(types []*generable.Type) (*generable.Type, bool) {
	if t, ok := generable.Join(types, s.unions); ok {
		return t, true
	}
	return generable.AnyT, slices.ContainsFunc(types, func(t *generable.Type) bool { return t.Deref().Kind == generable.AnyType })
}

// declaredOutput checks that the nodes' outputs have the type that the script declares.
func (s *Session) declaredOutput(site Site, declared *generable.Type, nodes []*Node, at []int, routes []Route) bool {
	var strange []int
	wide := []*generable.Type{declared}
	for _, i := range at {
		if generable.Assignable(nodes[i].out, declared) != nil {
			strange, wide = append(strange, i), append(wide, nodes[i].out)
		}
	}
	for _, i := range strange {
		n := nodes[i]
		d := s.mistake(diag.OutputsDiffer, site.Arg(i), site.What+" declares output = "+declared.String(), fmt.Sprintf("%s returns %s", giver(nodes, routes, i), n.out), n)
		d.Helpf("widen it: output = %s", generable.OneOf(wide...))
	}
	return len(strange) == 0
}

// maxGivers is how many different outputs a message names.
const maxGivers = 4

// outputsDiffer reports nodes whose outputs have no type in common: the first node of each type.
func (s *Session) outputsDiffer(site Site, nodes []*Node, at []int, routes []Route) {
	var differ []int
	types := make([]*generable.Type, 0, len(at))
	for _, i := range at {
		types = append(types, nodes[i].out)
		if !slices.ContainsFunc(differ, func(j int) bool { return generable.Same(nodes[j].out, nodes[i].out) }) {
			differ = append(differ, i)
		}
	}
	d := s.Errorf(diag.OutputsDiffer, site.at(differ[1]).Span, "%s returns different types", site.What)
	said := make([]string, 0, maxGivers+1)
	for n, i := range differ {
		if n == maxGivers {
			said = append(said, "...")
			break
		}
		said = append(said, fmt.Sprintf("%s returns %s", giver(nodes, routes, i), nodes[i].out))
		node.NoteDefined(d, nodes[i])
	}
	d.Label = strings.Join(said, ", ")
	if site.ByOp {
		d.Helpf("declare it: par(%s, output = %s)", asArguments(nodes), generable.OneOf(types...))
	} else {
		d.Helpf("declare it: output = %s", generable.OneOf(types...))
	}
}

// giver names a node by its route, if it has one.
func giver(nodes []*Node, routes []Route, i int) string {
	switch {
	case routes == nil:
		return nodes[i].Label()
	case i >= len(routes):
		return "otherwise"
	case routes[i].When != nil: // all conditions are named alike
		return fmt.Sprintf("route %d, when(...),", i+1)
	}
	return "the route for " + routes[i].Key()
}

// asArguments writes nodes as arguments, or "..." if one has no name.
func asArguments(nodes []*Node) string {
	var names []string
	for _, n := range nodes {
		if n.name == "" {
			return "..."
		}
		names = append(names, n.name)
	}
	return strings.Join(names, ", ")
}
