package starlib

import (
	"context"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Arg returns the argument of the named parameter, nil when it was not given.
func (c *Call) Arg(name string) starlark.Value { return c.vals[c.param(name)] }

// Has reports whether the argument was given.
func (c *Call) Has(name string) bool { return c.Arg(name) != nil }

// passed reports whether the argument was given, also when it was wrong.
func (c *Call) passed(name string) bool { return c.at[c.param(name)].given() }

// Str returns a str argument, "" when it was not given.
func (c *Call) Str(name string) string {
	s, _ := c.Arg(name).(starlark.String)
	return string(s)
}

// Int returns an int argument, or the default when it was not given.
func (c *Call) Int(name string, otherwise int) int {
	i, ok := c.Arg(name).(starlark.Int)
	if !ok {
		return otherwise
	}
	n, _ := i.Int64()
	return int(n)
}

// Float returns a float argument, or nil when it was not given.
func (c *Call) Float(name string) *float64 {
	f, ok := c.Arg(name).(starlark.Float)
	if !ok {
		return nil
	}
	v := float64(f)
	return &v
}

// Bool returns a bool argument, or the default when it was not given.
func (c *Call) Bool(name string, otherwise bool) bool {
	b, ok := c.Arg(name).(starlark.Bool)
	if !ok {
		return otherwise
	}
	return bool(b)
}

// Value returns an argument as a value of the engine, null when it was not given.
func (c *Call) Value(name string) (generable.Value, error) {
	v := c.Arg(name)
	if v == nil {
		return generable.Value{}, nil
	}
	return toValue(v)
}

// Rest returns the arguments of the variadic parameter.
func (c *Call) Rest() []starlark.Value { return c.rest }

// Branch returns the branch of the run on whose behalf the call is made, nil while composing.
func (c *Call) Branch() engine.Branch { return c.env.branch }

// Thread returns the interpreter's thread.
func (c *Call) Thread() *starlark.Thread { return c.thread }

// Context returns the context of loading; it is never nil. Runs have their own, which
// reaches handlers of effects alone.
func (c *Call) Context() context.Context { return c.state.ctx }

// running reports whether the call is made by a function that runs.
func (c *Call) running() bool { return c.env.running() }

// typ returns a type argument, nil when it was not given.
func (c *Call) typ(name string) *generable.Type { return typeOf(c.Arg(name)) }

// typeOf is the type that an argument of kind type stands for.
func typeOf(v starlark.Value) *generable.Type {
	switch v := v.(type) {
	case *typeValue:
		return v.t
	case starlark.NoneType:
		return generable.NoneT
	case *failedValue:
		return generable.ErrorT
	}
	return nil
}

// callback wraps a function argument for the engine, nil when it was not given.
func (c *Call) callback(name string) engine.Func {
	return c.state.funcOf(c.Arg(name))
}

// name is the variable that takes the call's result, or "".
func (c *Call) name() string {
	c.lookup()
	if c.file == nil {
		return ""
	}
	return c.file.NameAt(c.pos)
}

// nodeSite says where a node is made by this call.
func (c *Call) nodeSite() engine.Site {
	name := c.name()
	return engine.Site{Span: c.fnSpan(), What: c.row.Name, Name: name}
}

// failedType is the type's name. An error that speaks of it follows from one that was
// reported, and is not worth a message.
const failedType = "<failed>"

// failedValue stands in for the result of a call that was reported. It takes part in
// everything without a word, so that one mistake yields one message.
type failedValue struct{}

var (
	_ starlark.Callable  = (*failedValue)(nil)
	_ starlark.HasAttrs  = (*failedValue)(nil)
	_ starlark.HasBinary = (*failedValue)(nil)
	_ starlark.Mapping   = (*failedValue)(nil)
	_ starlark.Sequence  = (*failedValue)(nil)
)

func (f *failedValue) String() string        { return failedType }
func (f *failedValue) Type() string          { return failedType }
func (f *failedValue) Len() int              { return 0 }
func (f *failedValue) Freeze()               {}
func (f *failedValue) Truth() starlark.Bool  { return true }
func (f *failedValue) Hash() (uint32, error) { return 0, nil }
func (f *failedValue) Name() string          { return "failed" }
func (f *failedValue) CallInternal(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return f, nil
}
func (f *failedValue) Attr(string) (starlark.Value, error) { return f, nil }
func (f *failedValue) AttrNames() []string                 { return nil }
func (f *failedValue) Get(starlark.Value) (starlark.Value, bool, error) {
	return f, true, nil
}
func (f *failedValue) Iterate() starlark.Iterator { return starlark.Tuple(nil).Iterate() }
func (f *failedValue) Binary(syntax.Token, starlark.Value, starlark.Side) (starlark.Value, error) {
	return f, nil
}

func didYouMean(name string, among []string) string { return diag.DidYouMean(name, among) }

// joined lists words for a message.
func joined(words []string) string { return strings.Join(words, ", ") }

// mostListed is how many names a message lists where there may be any number.
const mostListed = 30

// some lists words for a message, the first of them where there are many.
func some(words []string) string {
	if len(words) <= mostListed {
		return joined(words)
	}
	return fmt.Sprintf("%s and %d more", joined(words[:mostListed]), len(words)-mostListed)
}
