package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// joint is where a script joined a step to what stands before it or around it.
type joint struct {
	at    diag.Span
	other *Node // what gives the input; what declares the output
}

// misfit tells of an input that the step does not take, where the script joined the two.
func (s *step) misfit(v generable.Value, errs error) error {
	gave := "it got"
	if s.input.other != nil {
		gave = s.input.other.Label() + " gave"
	}
	e := Errorf(KindType, diag.WrongTypeAtBoundary, "%s takes %s: %w; %s %s", s.node.Label(), s.node.In(), errs, gave, shown(v))
	return s.input.tell(e, s.input.other, s.node)
}

// misfit tells of an input that a callback calls a node with. The host language knows where.
func (b *branch) misfit(n *Node, v generable.Value, errs error) error {
	e := Errorf(KindType, diag.WrongTypeAtBoundary, "%s takes %s: %w; it got %s", n.Label(), n.In(), errs, shown(v))
	d := &diag.Diagnostic{Code: e.Code, Message: e.Message, Cause: e.Cause}
	NoteDefined(d, n)
	e.Cause = d
	return b.locate(e, nil)
}

// given checks an output against the type that the structure around the step declares, as
// converted does.
func (s *step) given(v generable.Value) (generable.Value, error) {
	out, err := converted(v, s.gives, s.node.Label())
	if e, ok := err.(*Error); ok {
		return out, s.output.tell(e, s.node)
	}
	return out, err
}

// tell puts an error where the joint is, and says where the nodes on its sides are.
func (j joint) tell(e *Error, sides ...*Node) error {
	if !j.at.IsValid() {
		return e
	}
	e.Pos = j.at.Pos
	d := &diag.Diagnostic{Code: e.Code, Message: e.Message, Span: j.at, Cause: e.Cause}
	for _, n := range sides {
		if n != nil {
			NoteDefined(d, n)
		}
	}
	e.Cause = d
	return e
}

// converted checks a callback's result against its declared type; like a constructor it
// widens int to float and makes instances of dicts.
func converted(v generable.Value, t *generable.Type, who string) (generable.Value, error) {
	if t.Kind == generable.AnyType || isOf(v, t) {
		return v, nil
	}
	out, errs := t.Convert(v)
	if errs != nil {
		return v, Errorf(KindType, diag.WrongTypeAtBoundary, "%s is to give %s: %w; it gave %s", who, t, errs, shown(v))
	}
	return out, nil
}

// mostShown bounds how much of a value an error shows, in runes.
const mostShown = 60

// shown is a value as an error shows it.
func shown(v generable.Value) string { return text.Clip(generable.JSON(v, nil), mostShown) }
