package possible

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/starlib/internal/value"
)

// A builtin of the interpreter is tried with samples of its arguments. An error that speaks of a sample of
// unknown type proves nothing, nor does one that may depend on more than the types, unless every argument is a
// constant.

// unknownType is the type of a sample that stands for any value.
const unknownType = "value of any type"

// anything stands for a value of which nothing is known.
type anything struct{ value.Plain }

func (anything) String() string        { return unknownType }
func (anything) Type() string          { return unknownType }
func (anything) Hash() (uint32, error) { return 0, nil }

// Anything is the sample of an unknown value.
var Anything starlark.Value = anything{}

// Concerns reports whether an error speaks of a value of which nothing is known.
func Concerns(err error) bool { return strings.Contains(err.Error(), unknownType) }

// callable stands for a function that takes and returns anything.
var callable = starlark.NewBuiltin("function", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return starlark.MakeInt(0), nil
})

// Argument returns a sample of an alternative with n items, as far as its items are known.
func (a *Alt) Argument(n int) starlark.Value {
	switch a.Kind {
	case Function:
		return callable
	case Thing:
		switch a.Exact.(type) {
		case *value.Node, *starlark.Builtin, *value.Type:
			return callable
		}
		return Anything
	case Unset, Record:
		if a.Kind == Record {
			return a.Sample()
		}
		return Anything
	case List:
		if a.Items != nil {
			return starlark.NewList(samplesOf(a.Items))
		}
		if item, ok := a.Elem.Certain(); ok && n > 0 {
			items := make([]*Value, n)
			for i := range items {
				items[i] = One(item)
			}
			return starlark.NewList(samplesOf(items))
		}
	case Tuple:
		return starlark.Tuple(samplesOf(a.Items))
	}
	if c := One(*a).Constant(); c != nil && starlark.Len(c) < mostConstant {
		return c
	}
	return a.Sample()
}

// mostConstant bounds the size of constants that are tried as they are.
const mostConstant = 1000

func samplesOf(items []*Value) []starlark.Value {
	out := make([]starlark.Value, len(items))
	for i, item := range items {
		out[i] = Anything
		if a, ok := item.Certain(); ok {
			out[i] = a.Argument(0)
		}
	}
	return out
}

// IsConstant reports whether the sample of an alternative is the value itself.
func (a *Alt) IsConstant() bool {
	switch a.Kind {
	case List, Tuple:
		if a.Items == nil && a.Kind == List {
			return false
		}
		for _, item := range a.Items {
			if c, ok := item.Certain(); !ok || !c.IsConstant() {
				return false
			}
		}
		return true
	}
	c := One(*a).Constant()
	return c != nil && starlark.Len(c) < mostConstant
}
