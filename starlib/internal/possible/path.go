package possible

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/sorting"
)

// Mark is the path on which an alternative applies.
type Mark struct {
	Region int
	Steps  []Step
}

// Step is a branch that is taken or not taken.
type Step struct {
	At   syntax.Position
	Says string
}

// Forget returns a value without anything that a mutation could change, for a value that has a second name or was
// passed to a function.
func Forget(v *Value) *Value {
	if v == nil || !slices.ContainsFunc(v.Alts, func(a Alt) bool { return a.changes() }) {
		return v
	}
	out := &Value{Any: v.Any, Alts: slices.Clone(v.Alts)}
	for i := range out.Alts {
		if a := &out.Alts[i]; a.changes() {
			*a = Alt{Kind: a.Kind, Mark: a.Mark}
		}
	}
	return out
}

// Freeze returns a value whose lists and dicts are frozen.
func (v *Value) Freeze(why string) *Value {
	out := &Value{Any: v.Any, Alts: slices.Clone(v.Alts), typ: v.typ}
	for i := range out.Alts {
		if a := &out.Alts[i]; (a.Kind == List || a.Kind == Dict) && a.Frozen == "" {
			a.Frozen = why
		}
	}
	return out
}

// changes reports whether something is known about a mutable container.
func (a *Alt) changes() bool {
	switch a.Kind {
	case List, Dict, Set:
		return a.Frozen == "" && (a.Elem != nil || a.Shape != nil || a.Some || a.Items != nil)
	}
	return false
}

// Widened returns an unknown value that may still be missing.
func Widened(v *Value) *Value {
	if v == nil {
		return nil
	}
	for _, a := range v.Alts {
		if a.Kind == Unset {
			return &Value{Any: true, Alts: []Alt{{Kind: Unset}}}
		}
	}
	return Unknown
}

// Unmarked returns a value without its paths, which are meaningless in another function.
func Unmarked(v *Value) *Value {
	if v == nil || !slices.ContainsFunc(v.Alts, func(a Alt) bool { return a.Mark != nil }) {
		return v
	}
	out := &Value{Any: v.Any, Alts: slices.Clone(v.Alts)}
	for i := range out.Alts {
		out.Alts[i].Mark = nil
	}
	return out
}

// Trail is the path to a place, last step first.
type Trail struct {
	Step
	Before *Trail
}

// mostSteps bounds the steps that a path shows.
const mostSteps = 4

func (t *Trail) Steps() []Step {
	var out []Step
	for ; t != nil && len(out) < mostSteps; t = t.Before {
		out = append(out, t.Step)
	}
	slices.Reverse(out)
	return out
}

// Path returns the steps of a mark and one more, in source order.
func Path(m *Mark, s Step) []Step {
	var steps []Step
	if m != nil {
		steps = slices.Clone(m.Steps)
	}
	if s.Says != "" && !slices.Contains(steps, s) {
		steps = append(steps, s)
	}
	sorting.By(steps, func(a, b Step) int {
		return ComparePos(a.At, b.At)
	})
	return steps[:min(len(steps), mostSteps)]
}

func ComparePos(a, b syntax.Position) int {
	if a.Line != b.Line {
		return int(a.Line - b.Line)
	}
	return int(a.Col - b.Col)
}
