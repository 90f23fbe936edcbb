package flow

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
)

// Fn makes a pure step of a callback. Types that are not declared are any and checked when
// they meet a declared one.
func (s *Session) Fn(site Site, f engine.Func, in, out *generable.Type) *Node {
	if f == nil {
		d := s.Errorf(diag.MissingArgument, site.Span, "fn needs a function")
		d.Helpf("fn(lambda x: ..., input = T, output = U)")
		return s.Failed(FnNode, site)
	}
	n := &Node{kind: FnNode, name: site.Name, site: site, in: cmp.Or(in, generable.AnyT), out: cmp.Or(out, generable.AnyT), spec: node.Spec{Func: f}}
	n.failed = !callback.CheckArity(&s.Reporter, site.Arg(0), f, 1, cmp.Or(site.What, "fn"))
	return s.add(n)
}

// Pick makes a projection of one field. Its types follow the declared input, or else the node
// before it.
func (s *Session) Pick(site Site, field string, in *generable.Type) *Node {
	n := s.add(&Node{kind: PickNode, name: site.Name, site: site, field: field,
		in: generable.AnyT, out: generable.AnyT, open: true})
	if in != nil {
		s.inferOpen(n, in)
	}
	return n
}

// Template makes a step that renders a text from its input. Its placeholders are checked
// against the input, declared or given by the node before it.
func (s *Session) Template(site Site, t *agent.TemplateText, in *generable.Type) *Node {
	n := &Node{kind: TemplateNode, name: site.Name, site: site, in: cmp.Or(in, generable.AnyT), out: generable.StrT, spec: node.Spec{Text: t}}
	if in != nil {
		n.failed = !t.Check(&s.Reporter, site.Span, in)
	}
	n.open = isOpen(n)
	return s.add(n)
}

// Bounded bounds what a node uses, each time that it runs or, where the limits have a name,
// together with all else that has it.
func (s *Session) Bounded(site Site, node *Node, l engine.Limits) *Node {
	return s.structure(&Node{kind: BoundedNode, site: site, bound: &l, types: (*Session).bounded}, []*Node{node}, nil)
}

func (s *Session) bounded(n *Node) bool {
	n.in, n.out = n.kids[0].in, n.kids[0].out
	return true
}

// Then composes nodes in sequence: X→Y, Y→Z gives X→Z.
func (s *Session) Then(site Site, nodes ...*Node) *Node {
	if !s.some(PipelineNode, site, nodes) {
		return s.Failed(PipelineNode, site)
	}
	n := &Node{kind: PipelineNode, site: site, flat: site.ByOp, types: func(s *Session, n *Node) bool { return s.pipeline(n, 1) }}
	return s.structure(n, nodes, func(left *Node) bool {
		return s.pipeline(n, left.held()) // the edges inside were proven when it was made
	})
}

// pipeline checks the edges that lead to the kids from the given one on.
func (s *Session) pipeline(n *Node, from int) bool {
	ok := true
	n.endsWrong = false
	for i := from; i < len(n.kids); i++ {
		before := n.kids[i-1].beforeLast()
		if n.endsWrong {
			before = n.kids[i-2].last()
		}
		n.endsWrong = !s.join(n.site.at(i), n.kids[i-1], n.kids[i], before)
		ok = ok && !n.endsWrong
	}
	n.in, n.out = n.kids[0].in, n.kids[len(n.kids)-1].out
	return ok
}

// AttemptType is the schema of what a call came to whose value may be anything.
var AttemptType = AttemptOf(generable.AnyT)

// statusType holds the words of a [engine.Status].
var statusType = &generable.Type{Kind: generable.EnumType, Name: "Status", Values: []string{string(engine.StatusOK), string(engine.StatusFailed), string(engine.StatusSkipped), string(engine.StatusCancelled)}}

// AttemptOf is the schema of what a call came to that gives a t.
func AttemptOf(t *generable.Type) *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: generic("Attempt", t), Doc: "What a call came to", Fields: []generable.Field{
		{Name: "ok", Type: generable.BoolT, Guide: "whether the call gave a value"},
		{Name: "value", Type: optional(t), Guide: "what it gave; None when it failed"},
		{Name: "error", Type: optional(engine.FailureType), Guide: "what it failed by; None when it gave a value"},
		{Name: "status", Type: statusType, Guide: "how it ended: ok, failed, skipped (never begun) or cancelled (stopped from outside)"},
	}}
}

// isAttempt reports whether a type is an [AttemptOf] one.
func isAttempt(t *generable.Type) bool {
	return t.Kind == generable.RecordType && len(t.Fields) == 4 && t.Fields[3].Type == statusType
}

// VerdictType is the schema that a model answers with when it verifies.
var VerdictType = &generable.Type{Kind: generable.RecordType, Name: "Verdict", Doc: "Whether the work does what was asked", Fields: []generable.Field{
	{Name: "success", Type: generable.BoolT, Guide: "True when it does, False when something must change"},
	{Name: "feedback", Type: generable.StrT, Guide: "what must change, precisely enough to act on; empty when nothing must"},
}}

// CritiqueOf is the schema of what verifying a t gives: the verdict, and what it is about.
func CritiqueOf(t *generable.Type) *generable.Type {
	fields := append(slices.Clone(VerdictType.Fields), generable.Field{Name: "input", Type: t, Guide: "what was verified"})
	return &generable.Type{Kind: generable.RecordType, Name: generic("Critique", t), Doc: "A verdict and what it is about", Fields: fields}
}

// generic names a schema by the type it was made for; of any it has no brackets.
func generic(name string, t *generable.Type) string {
	if t.Deref().Kind == generable.AnyType {
		return name
	}
	return fmt.Sprintf("%s[%s]", name, t)
}

// optional is t | None. What may be anything may be None already.
func optional(t *generable.Type) *generable.Type {
	if t.Deref().Kind == generable.AnyType {
		return t
	}
	return generable.OneOf(t, generable.NoneT)
}

// Attempted makes a value of an [AttemptOf] type: of what a call gave, or what it failed by.
func Attempted(t *generable.Type, v generable.Value, failed *engine.Error) generable.Value {
	status, failure := engine.StatusOK, generable.Value{}
	if failed != nil {
		status, v, failure = failed.Status(), generable.Value{}, failed.Value()
	}
	return generable.NewRecord(t, []generable.Value{generable.BoolOf(failed == nil), v, failure, generable.StrOf(string(status))}).Value()
}

// Attempt makes a node's outcome a value: X→Y gives X→Attempt[Y].
func (s *Session) Attempt(site Site, node *Node) *Node {
	return s.structure(&Node{kind: AttemptNode, site: site, types: (*Session).attempt}, []*Node{node}, nil)
}

func (s *Session) attempt(n *Node) bool {
	n.in, n.out = n.kids[0].in, AttemptOf(n.kids[0].out)
	return true
}

// Verify makes of an agent X→Verdict a node that gives the verdict and what it is about:
// X→Critique[X].
func (s *Session) Verify(site Site, judge *Node) *Node {
	return s.structure(&Node{kind: VerifyNode, site: site, types: (*Session).verify}, []*Node{judge}, nil)
}

func (s *Session) verify(n *Node) bool {
	judge := n.kids[0]
	n.in, n.out = judge.in, CritiqueOf(judge.in)
	if judge.failed || generable.Assignable(judge.out, VerdictType) == nil {
		return true
	}
	s.mistake(diag.CannotJoin, n.site.Arg(0), "verify wants a verdict", fmt.Sprintf("%s, want %s", judge.outputText(), VerdictType), judge)
	return false
}
