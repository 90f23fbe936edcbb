package engine

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/generable"
)

// OnError says what becomes of the failures of branches that run at once.
type OnError uint8

// What a parallel or an each does when a branch fails.
const (
	OnErrorRaise OnError = iota // the others are cancelled, and it fails
	OnErrorKeep                 // each branch gives an Attempt, at its place
	OnErrorDrop                 // the list holds what succeeded
)

// Status is how a branch ended, the value of an Attempt's field of that name.
type Status string

// The ways in which a branch ends.
const (
	StatusOK        Status = "ok"
	StatusFailed    Status = "failed"
	StatusSkipped   Status = "skipped"   // a budget around it was used up before its first call
	StatusCancelled Status = "cancelled" // it was stopped in the midst: by a sibling, or a budget around it
)

// FailureType is the schema of what a call failed by. It is a value, so that a failure can be
// the input of an agent, too.
var FailureType = &generable.Type{Kind: generable.RecordType, Name: "Failure", Doc: "What a call failed by", Fields: []generable.Field{
	{Name: "kind", Type: generable.StrT, Guide: "the class of the failure: script, type, schema, tool, budget, refused, rate_limit, ..."},
	{Name: "code", Type: generable.StrT, Guide: "the code of the diagnostic, such as AS706"},
	{Name: "message", Type: generable.StrT, Guide: "what happened"},
	{Name: "path", Type: generable.StrT, Guide: "where in the run it happened"},
	{Name: "raw", Type: generable.StrT, Guide: "the text of a model that could not be used, else empty"},
}}

// AttemptType is the schema of what a call came to whose value may be anything.
var AttemptType = AttemptOf(generable.AnyT)

// statusType holds the words of a [Status].
var statusType = &generable.Type{Kind: generable.EnumType, Name: "Status", Values: []string{string(StatusOK), string(StatusFailed), string(StatusSkipped), string(StatusCancelled)}}

// AttemptOf is the schema of what a call came to that gives a t.
func AttemptOf(t *generable.Type) *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: generic("Attempt", t), Doc: "What a call came to", Fields: []generable.Field{
		{Name: "ok", Type: generable.BoolT, Guide: "whether the call gave a value"},
		{Name: "value", Type: optional(t), Guide: "what it gave; None when it failed"},
		{Name: "error", Type: optional(FailureType), Guide: "what it failed by; None when it gave a value"},
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
func Attempted(t *generable.Type, v generable.Value, failed *Error) generable.Value {
	status, failure := StatusOK, generable.Value{}
	if failed != nil {
		status, v, failure = failed.Status(), generable.Value{}, failed.Value()
	}
	return generable.NewRecord(t, []generable.Value{generable.BoolOf(failed == nil), v, failure, generable.StrOf(string(status))}).Value()
}

// Value is the error as a value of [FailureType].
func (e *Error) Value() generable.Value {
	return generable.NewRecord(FailureType, []generable.Value{
		generable.StrOf(string(e.Kind)), generable.StrOf(string(e.Code)), generable.StrOf(e.Message),
		generable.StrOf(e.Path), generable.StrOf(e.Raw),
	}).Value()
}

// Attempt makes a node's outcome a value: X→Y gives X→Attempt[Y].
func (s *Session) Attempt(site Site, node *Node) *Node {
	n := &Node{kind: AttemptNode, site: site}
	return s.structure(n, []*Node{node}, func(*Node) bool { return s.attempt(n) })
}

func (s *Session) attempt(n *Node) bool {
	n.in, n.out = n.kids[0].in, AttemptOf(n.kids[0].out)
	return true
}

// attempt runs a node and makes what it came to a value.
func (b *branch) attempt(s *step, v generable.Value) (generable.Value, error) {
	defer b.Apart()()
	before := b.talk
	out, err := b.exec(s.kids[0], v)
	if err == nil {
		return Attempted(s.node.Out(), out, nil), nil
	}
	b.talk = before // what failed leaves nothing
	failed := b.Catch(err)
	if failed == nil {
		return out, err
	}
	return Attempted(s.node.Out(), out, failed), nil
}

// gather runs n steps at once and does with the failures what the node says.
func (b *branch) gather(s *step, n int, kid func(i int) (*step, generable.Value)) (generable.Value, error) {
	node := s.node
	if node.OnError() == OnErrorRaise {
		return listed(b.fan("", 0, n, node.Spec().Limit, nil, kid))
	}
	failed := make([]*Error, n)
	out, err := b.fan("", 0, n, node.Spec().Limit, failed, kid)
	if err != nil {
		return generable.Value{}, err
	}
	if node.OnError() == OnErrorKeep {
		for i := range out {
			out[i] = Attempted(node.Spec().Item, out[i], failed[i])
		}
		return listed(out, nil)
	}
	kept := out[:0]
	for i, e := range failed {
		if e == nil {
			kept = append(kept, out[i])
			continue
		}
		if b.Wants(EventDropped) {
			k, _ := kid(i)
			b.emit(Event{Kind: EventDropped, Data: &DroppedData{k.node.Label(), fmt.Sprintf("number %d of %d failed: %s", i+1, n, e.Message), e}})
		}
	}
	return listed(kept, nil)
}

// itemOf is the type of one item of what branches at once give, t each.
func (n *Node) itemOf(t *generable.Type) *generable.Type {
	if n.onError == OnErrorKeep {
		return AttemptOf(t)
	}
	return t
}

// withNotes adds to an error what else was tried and failed.
func withNotes(e *Error, others []*Error) *Error {
	own := *e
	own.Notes = slices.Clone(e.Notes)
	for _, o := range others {
		if o != nil && o != e {
			at := ""
			if o.Path != "" {
				at = o.Path + ": "
			}
			own.Notes = append(own.Notes, at+o.Message)
		}
	}
	return &own
}
