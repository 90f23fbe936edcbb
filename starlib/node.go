package starlib

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// nodeValue is an agent, a step or a composition as a value of the language.
type nodeValue struct {
	n    *engine.Node
	c    *state
	text *engine.TemplateText // of a template
}

var (
	_ starlark.Callable  = (*nodeValue)(nil)
	_ starlark.HasAttrs  = (*nodeValue)(nil)
	_ starlark.HasBinary = (*nodeValue)(nil)
)

// String shows what the node is, what it is called and what it takes and gives.
func (v *nodeValue) String() string {
	if v.n.Failed() {
		return fmt.Sprintf("<%s>", v.n.Kind())
	}
	name := ""
	if v.n.Name() != "" {
		name = " " + v.n.Name()
	}
	return fmt.Sprintf("<%s%s: %s -> %s>", v.n.Kind(), name, v.n.In(), v.n.Out())
}

func (v *nodeValue) Type() string         { return "node" }
func (v *nodeValue) Freeze()              {}
func (v *nodeValue) Truth() starlark.Bool { return true }
func (v *nodeValue) Name() string         { return v.label() }
func (v *nodeValue) label() string        { return v.n.Label() }

func (v *nodeValue) Hash() (uint32, error) {
	p := v.n.Pos()
	return uint32(p.Line*31+p.Col) ^ uint32(len(v.label())), nil
}

func (v *nodeValue) Attr(name string) (starlark.Value, error) {
	if m := v.c.methods.method("node", name, v); m != nil {
		return m, nil
	}
	return nil, noAttr("a node", name, v.AttrNames())
}

func (v *nodeValue) AttrNames() []string { return v.c.methods.methodNames("node") }

// CallInternal runs the node as a step of the running callback.
func (v *nodeValue) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	e := envOf(thread)
	if e == nil {
		return nil, fmt.Errorf("%s was called outside of a script", v.label())
	}
	if e.beside {
		return nil, notBeside("calling " + v.label())
	}
	if !e.running() {
		if v.n.Failed() {
			return &failedValue{}, nil
		}
		d := &diag.Diagnostic{Code: diag.CalledWhileComposing, Span: callSpan(thread, e),
			Message: fmt.Sprintf("the %s %s is called while the file loads", v.n.Kind(), v.label()),
			Help:    []string{"wrap the call in a function: def main(x): return " + v.label() + "(x)"}}
		e.c.session.Report(d)
		return &failedValue{}, nil
	}
	if len(args) != 1 || len(kwargs) > 0 {
		err := errorf(diag.WrongArgument, "%s takes its input as the only argument, got %s", v.label(), text.CountInWords(len(args)+len(kwargs), "argument"))
		if len(args) == 0 && len(kwargs) == 1 && len(kwargs[0]) == 2 {
			err.Message = v.label() + " takes its input by position, not by name"
			err.Help = "write " + v.label() + "(x)"
		}
		if in := v.n.In().Deref(); in.Kind == generable.RecordType {
			err.Help = fmt.Sprintf("write %s(%s)", v.label(), example(in))
		}
		return nil, err
	}
	in, err := e.strand.leave(thread, args[0], v.label())
	if err != nil {
		return nil, err
	}
	if err := e.strand.settle(); err != nil { // the node's own budget is not charged for it
		return nil, err
	}
	out, err := engine.Call(e.branch, v.n, in)
	if err != nil {
		return nil, err
	}
	return fromValue(out), nil
}

// operators that compose, and what they are called in messages.
var operators = map[syntax.Token]string{syntax.GTGT: "`>>`", syntax.SLASH: "`/`", syntax.STAR: "`*`"}

// Binary is a >> b, a / b and a * b. Operators have no thread: they stand where the
// composing thread does.
func (v *nodeValue) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	c := v.c
	what, known := operators[op]
	if c.sealed.Load() {
		if !known {
			return nil, nil
		}
		return nil, composedWhileRunning(what)
	}
	pos := c.here()
	site := engine.Site{Span: diag.Span{Pos: position(pos)}, What: what, ByOp: true}
	left, right := starlark.Value(v), y
	if side == starlark.Right {
		left, right = y, v
	}
	file := c.source(pos)
	mixed := false
	if file != nil {
		if o, ok := file.OperatorAt(pos); ok {
			site.Span, site.Name = o.Span, file.NameAt(pos)
			site.Args = []diag.Span{o.Left, o.Right}
			mixed = !o.LeftParen && (op == syntax.SLASH && o.LeftOp == syntax.STAR || op == syntax.STAR && o.LeftOp == syntax.SLASH)
		}
	}
	if _, failed := y.(*failedValue); failed {
		return c.node(c.session.Failed(engine.PipelineNode, site)), nil
	}
	if !known {
		return c.misused(op, site, y)
	}
	if mixed {
		d := &diag.Diagnostic{Code: diag.MixedOperators, Span: site.Span, Message: "`*` and `/` are mixed without parentheses",
			Label: "groups from the left: (... " + other(op) + " ...) " + op.String() + " ...",
			Help:  []string{"put parentheses around what belongs together, or use forum(...) and par(...)"}}
		c.session.Report(d)
		return c.node(c.session.Failed(engine.ForumNode, site)), nil
	}
	a, aOK := left.(*nodeValue)
	b, bOK := right.(*nodeValue)
	if !aOK || !bOK {
		return c.notANode(site, left, right), nil
	}
	switch op {
	case syntax.GTGT:
		return c.node(c.session.Then(site, a.n, b.n)), nil
	case syntax.SLASH:
		return c.node(c.session.Par(site, engine.ParOptions{}, a.n, b.n)), nil
	}
	return c.node(c.session.Forum(site, engine.ForumOptions{}, a.n, b.n)), nil
}

func other(op syntax.Token) string {
	if op == syntax.SLASH {
		return "*"
	}
	return "/"
}

// notANode reports an operand that no composition takes.
func (c *state) notANode(site engine.Site, left, right starlark.Value) starlark.Value {
	at, operand := 0, left
	if _, ok := left.(*nodeValue); ok {
		at, operand = 1, right
	}
	d := &diag.Diagnostic{Code: diag.NotANode, Span: site.Span, Message: site.What + " composes nodes, got " + describe(operand)}
	if at < len(site.Args) && site.Args[at].IsValid() {
		d.Span = site.Args[at]
	}
	switch operand.(type) {
	case *starlark.List, starlark.Tuple:
		d.Help = []string{"to run the nodes at once write par([...]) or a / b; one after the other, then([...]) or a >> b"}
	default:
		if h := hintNode(operand); h != "" {
			d.Help = []string{h}
		}
	}
	c.session.Report(d)
	return c.node(c.session.Failed(engine.PipelineNode, site))
}

// misused reports operators that nodes do not have.
func (c *state) misused(op syntax.Token, site engine.Site, y starlark.Value) (starlark.Value, error) {
	if op != syntax.PIPE {
		return nil, nil // the interpreter says that there is no such operator
	}
	d := &diag.Diagnostic{Code: diag.UnionOfNodes, Span: site.Span, Message: "`|` joins types, not nodes",
		Help: []string{"use >> for one after the other, / for all at once; node.branch({...}) chooses by the output's type"}}
	if site.Span.Len == 0 {
		d.Span.Len = 1
	}
	c.session.Report(d)
	return c.node(c.session.Failed(engine.ParallelNode, site)), nil
}

func composedWhileRunning(what string) error {
	return errorf(diag.ComposedWhileRunning, "%s composes while the flow runs", what).
		WithHelp("compose at the top level, and call the nodes here one after the other: y = a(x), z = b(y)")
}

// unwrapped lets a failure through that is already the engine's own.
func unwrapped(err error) error {
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		if cause := eval.Unwrap(); cause != nil {
			return cause
		}
	}
	return err
}
