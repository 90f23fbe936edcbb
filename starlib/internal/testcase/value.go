package testcase

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// T is a test as a value of the language. It cannot leave the script or its test.
type T struct {
	value.Unkeyed
	Test  double.Test
	State *script.State
}

var _ value.Sampled = (*T)(nil)

// Of implements [value.Sampled]: a test without an implementation is a sample for the check.
func (t *T) Of() string { return "t" }

func (t *T) String() string { return fmt.Sprintf("<test %s>", t.name()) }

func (t *T) Type() string { return "test" }

func (t *T) name() string {
	if t.Test == nil {
		return "t"
	}
	return t.Test.Name()
}

// fields are the attributes of a test that are not methods.
var fields = []string{"cost", "name", "tokens"}

func (t *T) Attr(name string) (starlark.Value, error) {
	if t.Test == nil { // a sample for the check
		switch name {
		case "name":
			return starlark.String(""), nil
		case "cost":
			return starlark.Float(0), nil
		case "tokens":
			return starlark.MakeInt(0), nil
		}
	} else {
		switch name {
		case "name":
			return starlark.String(t.Test.Name()), nil
		case "cost":
			return starlark.Float(t.Test.Spent().CostUSD), nil
		case "tokens":
			u := t.Test.Spent()
			return starlark.MakeInt(u.In + u.Out), nil
		}
	}
	return value.Method(t.State, "t", "a test", name, t)
}

func (t *T) AttrNames() []string { return append(t.State.Methods.MethodNames("t"), fields...) }

// Call is a model's call of a tool, as t.call makes it.
type Call = value.Opaque[double.ToolCall]

// Pieces is a text as it is streamed, as t.pieces makes it.
type Pieces = value.Opaque[[]string]
