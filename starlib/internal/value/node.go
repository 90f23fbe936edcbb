package value

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// Node is an agent, a step or a composition as a value of the language.
type Node struct {
	Plain
	Node     *flow.Node
	State    *script.State
	Template *agent.TemplateText // for a template
}

var (
	_ starlark.Callable  = (*Node)(nil)
	_ starlark.HasAttrs  = (*Node)(nil)
	_ starlark.HasBinary = (*Node)(nil)
)

// String shows what the node is, its name, and its input and output.
func (v *Node) String() string {
	if v.Node.Failed() {
		return fmt.Sprintf("<%s>", v.Node.Kind())
	}
	name := ""
	if v.Node.Name() != "" {
		name = " " + v.Node.Name()
	}
	return fmt.Sprintf("<%s%s: %s -> %s>", v.Node.Kind(), name, v.Node.In(), v.Node.Out())
}

func (v *Node) Type() string { return "node" }

func (v *Node) Name() string { return v.Label() }

// Label returns the name of the node in messages.
func (v *Node) Label() string { return v.Node.Label() }

func (v *Node) Hash() (uint32, error) {
	p := v.Node.Pos()
	return uint32(p.Line*31+p.Col) ^ uint32(len(v.Label())), nil
}

func (v *Node) Attr(name string) (starlark.Value, error) {
	return Method(v.State, "node", "a node", name, v)
}

func (v *Node) AttrNames() []string { return v.State.Methods.MethodNames("node") }

// CallInternal runs the node as a step of the running callback.
func (v *Node) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	e := script.EnvOf(thread)
	if e == nil {
		return nil, fmt.Errorf("%s was called outside of a script", v.Label())
	}
	if e.Concurrent {
		return nil, script.NotConcurrent("calling " + v.Label())
	}
	if !e.Running() {
		if v.Node.Failed() {
			return &Failed{}, nil
		}
		d := &diag.Diagnostic{Code: diag.CalledWhileComposing, Span: callSite(thread, e).Fn,
			Message: fmt.Sprintf("the %s %s is called while the file loads", v.Node.Kind(), v.Label()),
			Help:    []string{"wrap the call in a function: def main(x): return " + v.Label() + "(x)"}}
		e.State.Session.Report(d)
		return &Failed{}, nil
	}
	if len(args) != 1 || len(kwargs) > 0 {
		err := script.Errorf(diag.WrongArgument, "%s takes its input as the only argument, got %s", v.Label(), text.CountInWords(len(args)+len(kwargs), "argument"))
		if len(args) == 0 && len(kwargs) == 1 && len(kwargs[0]) == 2 {
			err.Message = v.Label() + " takes its input by position, not by name"
			err.Help = "write " + v.Label() + "(x)"
		}
		if in := v.Node.In().Deref(); in.Kind == generable.RecordType {
			err.Help = fmt.Sprintf("write %s(%s)", v.Label(), Example(in))
		}
		return nil, err
	}
	in, err := e.Thread.Leave(thread, args[0], v.Label())
	if err != nil {
		return nil, err
	}
	if err := e.Thread.Settle(); err != nil { // the node's own budget is not charged for it
		return nil, err
	}
	out, err := run.Call(e.Branch, v.Node, in)
	if err != nil {
		return nil, err
	}
	return FromData(out), nil
}

// Operators are the operators that compose, with their names in messages.
var Operators = map[syntax.Token]string{syntax.GTGT: "`>>`", syntax.SLASH: "`/`", syntax.STAR: "`*`"}

// Binary implements a >> b, a / b and a * b. Operators get no thread: their position is that of the composing thread.
func (v *Node) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	y = Unwrapped(y)
	c := v.State
	what, known := Operators[op]
	if c.Sealed.Load() {
		if !known {
			return nil, nil
		}
		return nil, ComposedWhileRunning(what)
	}
	pos := c.Here()
	site := flow.Site{Span: diag.Span{Pos: script.Position(pos)}, What: what, ByOp: true}
	left, right := starlark.Value(v), y
	if side == starlark.Right {
		left, right = y, v
	}
	file := c.SourceAt(pos)
	mixed := false
	if file != nil {
		if o, ok := file.OperatorAt(pos); ok {
			site.Span, site.Name = o.Span, file.NameAt(pos)
			site.Args = []diag.Span{o.Left, o.Right}
			site.Whole = crossedFunction(c, file, pos, left)
			site.Written = func() string { return file.ExprAt(pos, "right") }
			mixed = !o.LeftParen && (op == syntax.SLASH && o.LeftOp == syntax.STAR || op == syntax.STAR && o.LeftOp == syntax.SLASH)
		}
	}
	if _, failed := y.(*Failed); failed {
		return NewNode(c, c.Session.Failed(flow.PipelineNode, site)), nil
	}
	if !known {
		return misused(c, op, site, y)
	}
	if mixed {
		d := &diag.Diagnostic{Code: diag.MixedOperators, Span: site.Span, Message: "`*` and `/` are mixed without parentheses",
			Label: "groups from the left: (... " + other(op) + " ...) " + op.String() + " ...",
			Help:  []string{"put parentheses around what belongs together, or use forum(...) and par(...)"}}
		c.Session.Report(d)
		return NewNode(c, c.Session.Failed(flow.ForumNode, site)), nil
	}
	a, aOK := left.(*Node)
	b, bOK := right.(*Node)
	if !aOK || !bOK {
		return notANode(c, site, left, right), nil
	}
	switch op {
	case syntax.GTGT:
		return NewNode(c, c.Session.Then(site, a.Node, b.Node)), nil
	case syntax.SLASH:
		return NewNode(c, c.Session.Par(site, flow.ParOptions{}, a.Node, b.Node)), nil
	}
	return NewNode(c, c.Session.Forum(site, flow.ForumOptions{}, a.Node, b.Node)), nil
}

// crossedFunction reports whether the left operand of an operator came out of a function, if that determines the
// operator's result.
func crossedFunction(c *script.State, file *source.File, pos syntax.Position, left starlark.Value) bool {
	n, ok := left.(*Node)
	if !ok || n.Node.Kind() != flow.ParallelNode && n.Node.Kind() != flow.ForumNode {
		return false
	}
	made := n.Node.Pos()
	u := c.ByName[made.File]
	return u != nil && file.CrossedFunction(pos, u.File, made)
}

func other(op syntax.Token) string {
	if op == syntax.SLASH {
		return "*"
	}
	return "/"
}

// notANode reports an operand that cannot be composed.
func notANode(c *script.State, site flow.Site, left, right starlark.Value) starlark.Value {
	at, operand := 0, left
	if _, ok := left.(*Node); ok {
		at, operand = 1, right
	}
	d := &diag.Diagnostic{Code: diag.NotANode, Span: site.Span, Message: site.What + " composes nodes, got " + Describe(operand)}
	if at < len(site.Args) && site.Args[at].IsValid() {
		d.Span = site.Args[at]
	}
	switch operand.(type) {
	case *starlark.List, starlark.Tuple:
		d.Help = []string{"to run the nodes at once write par([...]) or a / b; one after the other, then([...]) or a >> b"}
	default:
		d.Advise(HintNode(operand))
	}
	c.Session.Report(d)
	return NewNode(c, c.Session.Failed(flow.PipelineNode, site))
}

// misused reports operators that nodes do not have.
func misused(c *script.State, op syntax.Token, site flow.Site, y starlark.Value) (starlark.Value, error) {
	if op != syntax.PIPE {
		return nil, nil // the interpreter reports that there is no such operator
	}
	d := &diag.Diagnostic{Code: diag.UnionOfNodes, Span: site.Span, Message: "`|` joins types, not nodes",
		Help: []string{"use >> for one after the other, / for all at once; node.branch({...}) chooses by the output's type"}}
	if site.Span.Len == 0 {
		d.Span.Len = 1
	}
	c.Session.Report(d)
	return NewNode(c, c.Session.Failed(flow.ParallelNode, site)), nil
}

// ComposedWhileRunning returns the error for composing in a running function.
func ComposedWhileRunning(what string) *engine.Error {
	return script.Errorf(diag.ComposedWhileRunning, "%s composes while the flow runs", what).
		WithHelp("compose at the top level, and call the nodes here one after the other: y = a(x), z = b(y)")
}

// NewNode makes a node a value of the language.
func NewNode(c *script.State, n *flow.Node) *Node { return &Node{Node: n, State: c} }
