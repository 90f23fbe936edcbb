package table

import (
	"context"
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Arg returns the argument of the named parameter, or nil if it was not given.
func (c *Call) Arg(name string) starlark.Value { return c.Values[c.ParamIndex(name)] }

// Has reports whether the argument was given.
func (c *Call) Has(name string) bool { return c.Arg(name) != nil }

// Passed reports whether the argument was given, even if it was wrong.
func (c *Call) Passed(name string) bool { return c.Refs[c.ParamIndex(name)].Given() }

// Str returns a str argument, or "" if it was not given.
func (c *Call) Str(name string) string {
	s, _ := c.Arg(name).(starlark.String)
	return string(s)
}

// StrOr returns a str argument, or the default if it was not given.
func (c *Call) StrOr(name, otherwise string) string {
	if c.Has(name) {
		return c.Str(name)
	}
	return otherwise
}

// Texts returns an argument that is a text or a list of texts. It returns none if it was not given.
func (c *Call) Texts(name string) []string {
	switch v := c.Arg(name).(type) {
	case starlark.String:
		return []string{string(v)}
	case starlark.Iterable:
		return StringsOf(slices.Collect(starlark.Elements(v)))
	}
	return nil
}

// StringsOf returns values as strings, with "" for a value that is not a text.
func StringsOf(values []starlark.Value) []string {
	return text.Each(values, func(v starlark.Value) string {
		s, _ := v.(starlark.String)
		return string(s)
	})
}

// OptInt returns an int argument, or nil if it was not given.
func (c *Call) OptInt(name string) *int {
	if !c.Has(name) {
		return nil
	}
	n := c.Int(name, 0)
	return &n
}

// Int returns an int argument, or the default if it was not given.
func (c *Call) Int(name string, otherwise int) int {
	i, ok := c.Arg(name).(starlark.Int)
	if !ok {
		return otherwise
	}
	n, _ := i.Int64()
	return int(n)
}

// Float returns a float argument, or nil if it was not given.
func (c *Call) Float(name string) *float64 {
	f, ok := c.Arg(name).(starlark.Float)
	if !ok {
		return nil
	}
	v := float64(f)
	return &v
}

// Bool returns a bool argument, or the default if it was not given.
func (c *Call) Bool(name string, otherwise bool) bool {
	b, ok := c.Arg(name).(starlark.Bool)
	if !ok {
		return otherwise
	}
	return bool(b)
}

// Value returns an argument as a value of the engine, or null if it was not given.
func (c *Call) Value(name string) (generable.Value, error) {
	v := c.Arg(name)
	if v == nil {
		return generable.Value{}, nil
	}
	return value.ToData(v)
}

// Rest returns the arguments of the variadic parameter.
func (c *Call) Rest() []starlark.Value { return c.rest }

// Branch returns the branch of the run that makes the call, or nil while composing.
func (c *Call) Branch() engine.Branch { return c.Env.Branch }

// Thread returns the interpreter's thread.
func (c *Call) Thread() *starlark.Thread { return c.thread }

// Context returns the context of loading; it is never nil. Runs have their own context, which only handlers of effects
// receive.
func (c *Call) Context() context.Context { return c.State.Context }

// Running reports whether a running function makes the call.
func (c *Call) Running() bool { return c.Env.Running() }

// Type returns a type argument, or nil if it was not given.
func (c *Call) Type(name string) *generable.Type { return value.TypeOf(c.Arg(name)) }

// FuncArg wraps a function argument for the engine. It returns nil if it was not given.
func (c *Call) FuncArg(name string) engine.Func {
	return thread.FuncOf(c.State, c.Arg(name))
}

// Variable returns the variable that takes the call's result, or "".
func (c *Call) Variable() string {
	c.Locate()
	if c.File == nil {
		return ""
	}
	return c.File.NameAt(c.Pos)
}

// Site returns where this call makes a node from nodes that are the arguments of the named parameters.
func (c *Call) Site(params ...string) flow.Site {
	site := flow.Site{Span: c.FuncSpan(), What: c.Row.Name, Name: c.Variable()}
	for _, name := range params {
		if name == "node" && c.Receiver != nil {
			site.Args = append(site.Args, site.Span)
		} else {
			site.Args = append(site.Args, c.ArgSpan(name))
		}
	}
	return site
}

// List returns the items of a list argument.
func (c *Call) List(name string) []starlark.Value {
	return Sequence(c.Arg(name))
}
