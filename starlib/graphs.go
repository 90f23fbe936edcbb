package starlib

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

func graphRows() []Builtin {
	return []Builtin{
		{Name: "graph", Group: GroupCompose, Aside: "max_steps", Returns: "node", Effect: Compose, Func: graphFunc,
			Params: []Param{
				{Name: "start", Kind: NodeKind, Doc: "the node that gets the input"},
				{Name: "edges", Kind: listOf(edgeKind), Doc: "[edge(a, b), edge(b, FINISH, when = ...)]: the first edge of a node that takes its output is followed"},
				{Name: "on_no_match", Kind: anyOf(oneOf("error", "finish"), NodeKind), Shape: KeywordOnly, Default: "None",
					Doc: `what becomes of an output that no edge takes: "error", "finish", or a node that gets it; left out, it is a mistake that there can be one`},
				{Name: "max_steps", Kind: boundKind, Shape: KeywordOnly, Default: "1000", Doc: "how many nodes run at most"},
				{Name: "output", Kind: TypeKind, Shape: KeywordOnly, Default: "None", Doc: "the declared output, where it cannot be inferred"},
			},
			Doc: "Runs nodes along edges, with cycles and joins. It begins with start and ends at FINISH, or at a node that no edge leaves. Every node has its one place in the graph, and any number of edges."},
		{Name: "edge", Group: GroupCompose, Returns: "edge", Effect: Compose, Func: edgeFunc,
			Params: []Param{
				{Name: "source", Kind: NodeKind, Doc: "the node that it leaves"},
				{Name: "target", Kind: targetKind, Doc: "the node that it leads to, or FINISH"},
				{Name: "when", Kind: guardKind, Shape: KeywordOnly, Default: "None", Doc: "what it takes: a condition such as ge(80), a type, a value of a bool or enum, or a function; left out, everything"},
				{Name: "map", Kind: stepNodeKind, Shape: KeywordOnly, Default: "None", Doc: "changes the value on the way: pick(...), fn(...), or a function of it"},
			},
			Doc: "An edge of graph."},
		{Name: "FINISH", Group: GroupCompose, Returns: "finish", Effect: Compose, Doc: "Where an edge of graph leads that ends it.",
			made: func(*state, *Table) starlark.Value { return finishValue{} }},
	}
}

// finishValue is the end of a graph.
type finishValue struct{}

func (finishValue) String() string        { return "FINISH" }
func (finishValue) Type() string          { return "finish" }
func (finishValue) Freeze()               {}
func (finishValue) Truth() starlark.Bool  { return true }
func (finishValue) Hash() (uint32, error) { return 0, errorf(diag.ScriptError, "FINISH is no key") }

// edgeValue is an edge before it is part of a graph.
type edgeValue struct{ e engine.Edge }

func (e *edgeValue) String() string {
	to := "FINISH"
	if e.e.To != nil {
		to = e.e.To.Label()
	}
	return "edge(" + e.e.From.Label() + ", " + to + ")"
}
func (*edgeValue) Type() string          { return "edge" }
func (*edgeValue) Freeze()               {}
func (*edgeValue) Truth() starlark.Bool  { return true }
func (*edgeValue) Hash() (uint32, error) { return 0, errorf(diag.ScriptError, "edge(...) is no key") }

var (
	edgeKind = Kind{Word: "edge", Stub: "Edge", accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *edgeValue, *failedValue:
			return v, true
		}
		return v, false
	}, hint: func(v starlark.Value) string {
		if t, ok := v.(starlark.Tuple); ok && t.Len() >= 2 {
			return "write edge(a, b, when = ...)"
		}
		return ""
	}}
	targetKind = Kind{Word: "node or FINISH", Stub: "Node | Finish", accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *nodeValue, finishValue:
			return v, true
		}
		return v, false
	}, hint: func(v starlark.Value) string {
		if isFinish(v) {
			return "write FINISH, without quotes"
		}
		return hintNode(v)
	}, guess: func(v starlark.Value) (starlark.Value, bool) { return finishValue{}, isFinish(v) }}
	guardKind = Kind{Word: "condition, type, value or function", Stub: "Predicate | Type | Callable | bool | str | None", accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case starlark.Bool, starlark.String:
			return v, true
		}
		return condKind.accept(v)
	}}
)

// isFinish reports whether a text must stand for the end of a graph.
func isFinish(v starlark.Value) bool {
	s, _ := v.(starlark.String)
	switch strings.ToLower(string(s)) {
	case "finish", "end", "done", "stop", "exit":
		return true
	}
	return false
}

func edgeFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	for _, name := range []string{"when", "map"} {
		if _, failed := c.Arg(name).(*failedValue); failed {
			return c.standIn(), nil
		}
	}
	e := engine.Edge{From: c.nodeArg("source"), To: c.nodeArg("target"), Span: c.fnSpan()}
	e.Guard.Span = c.spanOf("when")
	switch when := c.Arg("when").(type) {
	case nil:
	case *predicateValue:
		e.Guard.Pred = when.p
	case *typeValue:
		if !c.routeKey(&e.Guard, when) {
			return c.standIn(), nil
		}
	case starlark.Bool, starlark.String:
		v, err := toValue(when)
		if err != nil {
			return nil, err
		}
		e.Guard.Value = &v
	default:
		e.Guard.When = c.callback("when")
		c.state.checkFields(when, e.From.Out())
	}
	if c.Has("map") {
		e.Map = c.step("map")
	}
	return &edgeValue{e}, nil
}

func graphFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	if c.stood {
		return c.standIn(), nil
	}
	o := engine.GraphOptions{MaxSteps: c.Int("max_steps", engine.DefaultMaxSteps), Output: c.typ("output")}
	switch v := c.Arg("on_no_match").(type) {
	case starlark.String:
		o.OnNoMatch = engine.NoMatchError
		if v == "finish" {
			o.OnNoMatch = engine.NoMatchFinish
		}
	case *nodeValue:
		o.OnNoMatch, o.Otherwise = engine.NoMatchNode, v.n
	}
	var edges []engine.Edge
	for item := range c.items("edges") {
		switch e := item.(type) {
		case *edgeValue:
			edges = append(edges, e.e)
		case *failedValue:
			return c.standIn(), nil
		}
	}
	site := c.nodeSite()
	site.Args = []diag.Span{c.spanOf("start")}
	return c.state.node(c.state.session.Graph(site, c.nodeArg("start"), edges, o)), nil
}

// stepNodeKind takes a node, or what fn makes one of.
var stepNodeKind = Kind{Word: "node or function", Stub: "Node | Callable | Type", accept: func(v starlark.Value) (starlark.Value, bool) {
	if _, ok := v.(*nodeValue); ok {
		return v, true
	}
	return stepKind.accept(v)
}}

// step reads an argument that is a node, or a function that becomes one: its types are checked
// when they meet declared ones, as those of fn(f) are.
func (c *Call) step(name string) *engine.Node {
	v := c.Arg(name)
	if n, ok := v.(*nodeValue); ok {
		return n.n
	}
	site := engine.Site{Span: c.spanOf(name), What: name, Args: []diag.Span{c.spanOf(name)}}
	out := generable.AnyT
	if t, ok := v.(*typeValue); ok {
		out = t.t
	}
	return c.state.session.Fn(site, c.callback(name), generable.AnyT, out)
}
