package value

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// FailedType is the type's name. An error that speaks of it follows from one that was
// reported, and is not worth a message.
const FailedType = "<failed>"

// Failed stands in for the result of a call that was reported. It takes part in
// everything without a word, so that one mistake yields one message.
type Failed struct{}

func (f *Failed) String() string { return FailedType }

func (f *Failed) Type() string { return FailedType }

func (f *Failed) Len() int { return 0 }

func (f *Failed) Freeze() {}

func (f *Failed) Truth() starlark.Bool { return true }

func (f *Failed) Hash() (uint32, error) { return 0, nil }

func (f *Failed) Name() string { return "failed" }

func (f *Failed) CallInternal(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return f, nil
}

func (f *Failed) Attr(string) (starlark.Value, error) { return f, nil }

func (f *Failed) AttrNames() []string { return nil }

func (f *Failed) Get(starlark.Value) (starlark.Value, bool, error) {
	return f, true, nil
}

func (f *Failed) Iterate() starlark.Iterator { return starlark.Tuple(nil).Iterate() }

func (f *Failed) Binary(syntax.Token, starlark.Value, starlark.Side) (starlark.Value, error) {
	return f, nil
}
