package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
)

// boundary is where a script joined a step to the step before it or to the structure around it.
type boundary struct {
	at    diag.Span
	other *flow.Node // the node that returns the input, or that declares the output
}

// inputMismatch returns the error for an input that the step rejects, at the place where the script joined the two.
func (s *step) inputMismatch(v generable.Value, errs error) error {
	gave := "it got"
	if s.input.other != nil {
		gave = s.input.other.Label() + " returned"
	}
	e := engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "%s takes %s: %w; %s %s", s.node.Label(), s.node.In(), errs, gave, exec.Shown(v))
	return s.input.report(e, s.input.other, s.node)
}

// callMismatch returns the error for a bad input in a callback's call of a node. The host language knows the place.
func callMismatch(b *exec.Branch, n *flow.Node, v generable.Value, errs error) error {
	e := engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "%s takes %s: %w; it got %s", n.Label(), n.In(), errs, exec.Shown(v))
	d := &diag.Diagnostic{Code: e.Code, Message: e.Message, Cause: e.Cause}
	node.NoteDefined(d, n)
	e.Cause = d
	return b.Locate(e, nil)
}

// given checks an output against the type that the structure around the step declares, as [exec.Converted] does.
func (s *step) given(v generable.Value) (generable.Value, error) {
	out, err := exec.Converted(v, s.gives, s.node.Label())
	if e, ok := err.(*engine.Error); ok {
		return out, s.output.report(e, s.node)
	}
	return out, err
}

// report places an error at the joint, and notes where the nodes on its sides are defined.
func (j boundary) report(e *engine.Error, sides ...*flow.Node) error {
	if !j.at.IsValid() {
		return e
	}
	e.Pos = j.at.Pos
	d := &diag.Diagnostic{Code: e.Code, Message: e.Message, Span: j.at, Cause: e.Cause}
	for _, n := range sides {
		if n != nil {
			node.NoteDefined(d, n)
		}
	}
	e.Cause = d
	return e
}
