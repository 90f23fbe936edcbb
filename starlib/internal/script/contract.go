package script

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
)

// Contract is how the flow calls a function.
type Contract struct {
	Params []*generable.Type // nil for unknown types
	Values []starlark.Value  // values of parameters that have a known one, nil for others
	Result *generable.Type   // the type it must return; nil if that is not known
	Remedy bool              // it must return a remedy or None
	Role   string            // what the function is, as in "run of "
	Who    string            // the name of its owner
}

// Caller names the caller of the function: "run of coder".
func (c *Contract) Caller() string { return c.Role + c.Who }

// CalledBy records how the flow calls a function. It keeps c and the slice of its parameters. If the flow calls the
// function in several ways, as it may call one from a factory, what differs becomes unknown.
func (u *Unit) CalledBy(fn syntax.Node, c Contract) {
	if u.Called == nil {
		u.Called = map[syntax.Node]*Contract{}
	}
	old, twice := u.Called[fn]
	if !twice {
		u.Called[fn] = &c
		return
	}
	for i := range old.Params {
		if i >= len(c.Params) || old.Params[i] != c.Params[i] {
			old.Params[i] = nil
		}
	}
	if old.Result != c.Result {
		old.Result = nil
	}
}

// Conflict reports whether no value of one type can be passed where the other is expected, even with the conversions
// that a call makes: int and float, a dict for an instance.
func Conflict(from, to *generable.Type) bool {
	if generable.Assignable(from, to) == nil {
		return false
	}
	from, to = from.Deref(), to.Deref()
	for _, parts := range []struct {
		of  *generable.Type
		try func(part *generable.Type) bool
	}{
		{from, func(part *generable.Type) bool { return Conflict(part, to) }},
		{to, func(part *generable.Type) bool { return Conflict(from, part) }},
	} {
		if parts.of.Kind != generable.UnionType && parts.of.Kind != generable.OneOfType {
			continue
		}
		for _, v := range parts.of.Variants {
			if v = v.Deref(); v == parts.of || !parts.try(v) {
				return false
			}
		}
		return true
	}
	switch to.Kind {
	case generable.AnyType, generable.ErrorType, generable.RefType, generable.LimitType:
		return false
	}
	switch from.Kind {
	case generable.AnyType, generable.ErrorType, generable.RefType, generable.LimitType:
		return false
	case generable.IntType, generable.FloatType:
		return to.Kind != generable.IntType && to.Kind != generable.FloatType
	case generable.StrType, generable.EnumType:
		return to.Kind != generable.StrType && to.Kind != generable.EnumType
	case generable.ListType:
		return to.Kind != generable.ListType || Conflict(from.Elem, to.Elem)
	case generable.DictType:
		return to.Kind != generable.DictType && to.Kind != generable.RecordType
	}
	return true
}
