package flow

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// join checks one edge of a pipeline and settles the types of steps that follow their input. Where a
// did not fit what stands before it, that is given as well: when b would take that, it is a alone that
// is out of place, and one mistake yields one message.
func (s *Session) join(site Site, a, b, before *Node) bool {
	if a, b = a.last(), b.first(); a.failed || b.failed {
		return true
	}
	if !s.follow(b, a.out) {
		return false
	}
	if why := generable.Assignable(a.out, b.in); why != nil {
		if before != nil && !before.failed && generable.Assignable(before.out, b.in) == nil {
			return false
		}
		d := s.Errorf(diag.CannotJoin, site.Span, "%s cannot join these", site.What)
		d.Label = fmt.Sprintf("%s gives %s, %s wants %s", a.Label(), a.out, b.Label(), b.in)
		if b.kind == EachNode && a.out.Deref().Kind != generable.ListType {
			d.Code, d.Message = diag.NotAList, "each takes a list"
			node.NoteDefined(d, a, b)
			if f := fieldFor(a.out, b.in); f != "" {
				d.Helpf("put pick(%q) between them", f)
			} else {
				d.Helpf("let %s give %s, or drop each", a.Label(), b.in)
			}
			return false
		}
		s.reasons(d, why, a.out)
		node.NoteDefined(d, a, b)
		joinHelp(d, a.out, b.in)
		return false
	}
	s.edge(edgeTo{b, false}, edge{site.Span, a.Label(), a.out, b.in})
	return true
}

// last is the step that gives what a pipeline gives, where that has failed: its last joint may be
// right, and the next one wrong. It is the node itself otherwise.
func (n *Node) last() *Node {
	for n.failed && n.kind == PipelineNode && len(n.kids) > 0 {
		n = n.kids[len(n.kids)-1]
	}
	return n
}

// beforeLast is the step whose output the last step of a failed pipeline does not take, nil where it
// does.
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

// first is the step that takes what a failed pipeline takes.
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

// joinHelp proposes what to put between a giver and a taker.
func joinHelp(d *diag.Diagnostic, from, to *generable.Type) {
	from, to = from.Deref(), to.Deref()
	switch {
	case isAttempt(from):
		d.Helpf("say what becomes of a failure: put fn(lambda a: a.value if a.ok else ..., output = %s) between them", to)
		return
	case from.Kind == generable.ListType && isAttempt(from.Elem.Deref()):
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
		d.Helpf("the second takes one item: wrap it as each(node)")
	case to.Kind == generable.ListType && generable.Assignable(from, to.Elem) == nil:
		d.Helpf("the second takes a list: put fn(lambda x: [x], output = %s) between them", to)
	case from.Kind == generable.UnionType || from.Kind == generable.OneOfType:
		d.Helpf("route the cases: branch(node, {%s})", typing.Routes(from))
	default:
		d.Helpf("put a step between them: fn(lambda x: ..., input = %s, output = %s)", from, to)
	}
}

// fieldFor is the first field of a schema that fits where the whole does not, "" for none.
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

// edge is what a node gets, for the notes of a strict session. A node has one place and so
// one edge into it, and a loop's body another that leads back.
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
	if !s.Strict {
		return
	}
	if s.edges == nil {
		s.edges = map[edgeTo]edge{}
	}
	s.edges[to] = e
}

// noteUnchecked notes the edges that only a run can prove.
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
			d := s.Errorf(diag.UncheckedAny, e.at, "%s gives %s: that it is %s is only checked when it runs", e.giver, e.sent, e.want)
			d.Severity = diag.Info
			d.Helpf("declare the output: fn(f, output = %s)", e.want)
		}
	}
}
