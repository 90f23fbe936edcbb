package flow

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// AttemptType is the schema of the outcome of a call whose value may be anything.
var AttemptType = AttemptOf(generable.AnyT)

// statusType lists the words of an [engine.Status].
var statusType = &generable.Type{Kind: generable.EnumType, Name: "Status", Values: []string{string(engine.StatusOK), string(engine.StatusFailed), string(engine.StatusSkipped), string(engine.StatusCancelled)}}

// AttemptOf returns the schema of the outcome of a call that returns a t.
func AttemptOf(t *generable.Type) *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: generic("Attempt", t), Doc: "The outcome of a call", Fields: []generable.Field{
		{Name: "ok", Type: generable.BoolT, Guide: "whether the call returned a value"},
		{Name: "value", Type: optional(t), Guide: "what it returned; None when it failed"},
		{Name: "error", Type: optional(engine.FailureType), Guide: "why it failed; None when it returned a value"},
		{Name: "status", Type: statusType, Guide: "how it ended: ok, failed, skipped (never begun) or cancelled (stopped from outside)"},
	}}
}

// IsAttempt reports whether a type was made by [AttemptOf].
func IsAttempt(t *generable.Type) bool {
	return t.Kind == generable.RecordType && len(t.Fields) == 4 && t.Fields[3].Type == statusType
}

// VerdictType is the schema of a model's answer when it verifies.
var VerdictType = &generable.Type{Kind: generable.RecordType, Name: "Verdict", Doc: "Whether the work does what was asked", Fields: []generable.Field{
	{Name: "success", Type: generable.BoolT, Guide: "True when it does, False when something must change"},
	{Name: "feedback", Type: generable.StrT, Guide: "what must change, precisely enough to act on; empty when nothing must"},
}}

// CritiqueOf returns the schema of the result of verifying a t: the verdict and the value that was verified.
func CritiqueOf(t *generable.Type) *generable.Type {
	fields := append(slices.Clone(VerdictType.Fields), generable.Field{Name: "input", Type: t, Guide: "what was verified"})
	return &generable.Type{Kind: generable.RecordType, Name: generic("Critique", t), Doc: "A verdict and what it is about", Fields: fields}
}

// generic names a schema by the type it was made for, without brackets for any.
func generic(name string, t *generable.Type) string {
	if t.Deref().Kind == generable.AnyType {
		return name
	}
	return fmt.Sprintf("%s[%s]", name, t)
}

// optional returns t | None. A type that may be anything includes None already.
func optional(t *generable.Type) *generable.Type {
	if t.Deref().Kind == generable.AnyType {
		return t
	}
	return generable.OneOf(t, generable.NoneT)
}

// Attempted makes a value of an [AttemptOf] type from a call's result or from its failure.
func Attempted(t *generable.Type, v generable.Value, failed *engine.Error) generable.Value {
	status, failure := engine.StatusOK, generable.Value{}
	if failed != nil {
		status, v, failure = failed.Status(), generable.Value{}, failed.Value()
	}
	return generable.NewRecord(t, []generable.Value{generable.BoolOf(failed == nil), v, failure, generable.StrOf(string(status))}).Value()
}

// Attempt makes a node's outcome a value: X→Y becomes X→Attempt[Y].
func (s *Session) Attempt(site Site, node *Node) *Node {
	return s.structure(&Node{kind: AttemptNode, site: site, types: (*Session).attempt}, []*Node{node}, nil)
}

func (s *Session) attempt(n *Node) bool {
	n.in, n.out = n.kids[0].in, AttemptOf(n.kids[0].out)
	return true
}

// Verify turns an agent X→Verdict into a node that returns the verdict and the value it is about: X→Critique[X].
func (s *Session) Verify(site Site, judge *Node) *Node {
	return s.structure(&Node{kind: VerifyNode, site: site, types: (*Session).verify}, []*Node{judge}, nil)
}

// Judging is the system text of a verifying agent without a prompt.
const Judging = "Verify the work that you are given. Judge it by the task alone, and be precise about what must change."

// JudgeText returns the system text of a verifying agent: its prompt, or [Judging], followed by the task that the work
// was done for.
func JudgeText(prompt, task string) string {
	prompt = cmp.Or(prompt, Judging)
	if task == "" {
		return prompt
	}
	return prompt + "\n\n## Task\n\n" + task
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
