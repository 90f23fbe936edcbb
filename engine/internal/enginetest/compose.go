// Package enginetest contains helpers that the tests of the engine's packages share: a Composer that makes nodes with
// distinct positions, models with known answers, and runs on every scheduler.
package enginetest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
)

// Composer is a session that numbers the places where it composes, so that diagnostics have distinct positions.
type Composer struct {
	*flow.Session
	line int
}

// Compose begins a session.
func Compose() *Composer { return &Composer{Session: flow.NewSession()} }

// Site returns the next place.
func (c *Composer) Site(what, name string) flow.Site {
	c.line++
	return flow.Site{What: what, Name: name, Span: diag.Span{Pos: diag.Pos{File: "t.star", Line: c.line, Col: 1}, Len: 2}}
}

// Op returns the next place, as that of an operator.
func (c *Composer) Op(what string) flow.Site {
	s := c.Site(what, "")
	s.ByOp = true
	return s
}

// Step makes a typed pure step of a Go function.
func (c *Composer) Step(name string, in, out *generable.Type, f func(generable.Value) generable.Value) *flow.Node {
	return c.Fn(c.Site("fn", name), engine.GoFunc(name, 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		return f(args[0]), nil
	}), in, out)
}

// CodeAgent makes a deterministic agent.
func (c *Composer) CodeAgent(name string, in, out *generable.Type, f func(generable.Value) generable.Value) *flow.Node {
	return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, In: in, Out: out,
		Run: engine.GoFunc(name, 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) { return f(args[0]), nil })})
}

// Prompted makes an agent that calls a model, with a prompt that names it.
func (c *Composer) Prompted(name string, in, out *generable.Type) *flow.Node {
	return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, In: in, Out: out, Prompt: "You are " + name + "."})
}

// TextAgents makes n agents from text to text that call a model: a0, a1, ….
func (c *Composer) TextAgents(n int) []*flow.Node {
	nodes := make([]*flow.Node, n)
	for i := range nodes {
		nodes[i] = c.Prompted(fmt.Sprint("a", i), generable.StrT, generable.StrT)
	}
	return nodes
}

// Sound ends composing. It fails the test if there are errors.
func (c *Composer) Sound(t *testing.T) {
	t.Helper()
	if l := c.Diagnostics(); l.HasErrors() {
		t.Fatalf("composing failed:\n%v", l.Error())
	}
	c.Seal()
}

// Codes lists the codes of the reported diagnostics.
func (c *Composer) Codes() []string {
	var out []string
	for _, d := range c.Diagnostics() {
		out = append(out, string(d.Code))
	}
	return out
}

// Fresh returns a name that no other node has.
func (c *Composer) Fresh() string {
	c.line++
	return fmt.Sprint("n", c.line)
}

// Text makes an agent of code that returns the text it is given.
func (c *Composer) Text() *flow.Node {
	return c.CodeAgent(c.Fresh(), generable.StrT, generable.StrT, Identity)
}

// Stop is a callback that returns None.
var Stop = engine.GoFunc("stop", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.Value{}, nil })

// Identity returns its argument.
func Identity(v generable.Value) generable.Value { return v }

// Add returns a function that adds n.
func Add(n int64) func(generable.Value) generable.Value {
	return func(v generable.Value) generable.Value { return generable.IntOf(Int(v) + n) }
}

// Schema declares a record type.
func Schema(t *testing.T, name string, fields ...generable.Field) *generable.Type {
	t.Helper()
	s, errs := generable.NewSchema(name, "", fields)
	if errs != nil {
		t.Fatal(errs)
	}
	return s
}

// On makes a route for a type, a condition, or a value: a bool, a string or, with nil, None.
func On(key any, h *flow.Node) flow.Route {
	switch key := key.(type) {
	case *generable.Type:
		return flow.Route{Type: key, Handler: h}
	case engine.Func:
		return flow.Route{When: key, Handler: h}
	case bool:
		return flow.Route{Value: new(generable.BoolOf(key)), Handler: h}
	case string:
		return flow.Route{Value: new(generable.StrOf(key)), Handler: h}
	}
	return flow.Route{Value: new(generable.Value{}), Handler: h}
}

// Int returns the integer that a value holds, or 0.
func Int(v generable.Value) int64 { i, _ := v.AsInt(); return i }

// Str returns the text that a value holds, or "".
func Str(v generable.Value) string { s, _ := v.AsStr(); return s }

// TotalCalls sums the model calls of bounds. The sum saturates.
func TotalCalls(bounds []flow.Bound) (sum int64) {
	for _, b := range bounds {
		if b.Calls > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += b.Calls
	}
	return sum
}

// Said writes a list of diagnostics with all labels, notes and help.
func Said(l diag.List) string {
	var b strings.Builder
	for _, d := range l {
		fmt.Fprintf(&b, "%v\n  label: %s\n", d, d.Label)
		for _, n := range d.Notes {
			fmt.Fprintf(&b, "  note: %s\n", n.Message)
		}
		for _, h := range d.Help {
			fmt.Fprintf(&b, "  help: %s\n", h)
		}
	}
	return b.String()
}
