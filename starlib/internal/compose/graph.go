package compose

import (
	"cmp"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func graphRows() []table.Builtin {
	return []table.Builtin{
		{Name: "graph", Group: table.GroupCompose, Aside: "max_steps", Returns: "node", Effect: table.Compose, AtTop: true, Whole: true, Func: graphFunc,
			Params: []table.Param{
				{Name: "start", Kind: startKind, Doc: "the node that takes the input"},
				{Name: "edges", Kind: table.Hinted(table.ListOf(edgeKind), hintEdges), Doc: "[edge(a, b), edge(b, FINISH, when = ...)]: of a node's edges, the first that takes its output is followed"},
				{Name: "on_no_match", Kind: table.AnyOf(table.OneOf("error", "finish"), table.NodeKind), Shape: table.KeywordOnly, Default: "None",
					Doc: `how to handle an output that no edge takes: "error", "finish", or a node that receives it; without it, a graph in which this can happen is an error`},
				table.Opt("max_steps", table.BoundKind, "1000", "the maximum number of node runs"),
				table.Opt("output", table.TypeKind, "None", "the declared output type, if it cannot be inferred"),
			},
			Doc: "Runs nodes along edges, with cycles and joins. It begins with start and ends at FINISH or at a node that no edge leaves. Every node has one place in the graph and any number of edges."},
		{Name: "edge", Group: table.GroupCompose, Returns: "edge", Effect: table.Compose, AtTop: true, Func: edgeFunc,
			Params: []table.Param{
				{Name: "source", Kind: table.NodeKind, Doc: "the node that it leaves"},
				{Name: "target", Kind: targetKind, Doc: "the node that it leads to, or FINISH"},
				table.Opt("when", guardKind, "None", "what it takes: a condition such as ge(80), a type, a value of a bool or enum, or a function; by default everything"),
				table.Opt("map", stepNodeKind, "None", "changes the value on the way: pick(...), fn(...), or a function of it"),
			},
			Doc: "Declares an edge of graph."},
		{Name: "FINISH", Group: table.GroupCompose, Returns: "finish", Effect: table.Compose, Value: true, Doc: "The target of an edge that ends the graph.",
			Make: func(*script.State, *table.Table) starlark.Value { return value.Finish{} }},
	}
}

// startKind takes the node that a graph begins with.
var startKind = table.Hinted(table.NodeKind, func(v starlark.Value) string {
	var nodes []starlark.Value
	switch v := v.(type) {
	case *starlark.List, starlark.Tuple:
		nodes = table.Sequence(v)
	case *starlark.Dict:
		for _, n := range v.Entries() {
			nodes = append(nodes, n)
		}
	default:
		return ""
	}
	first := "the first node"
	if len(nodes) > 0 {
		if n, ok := nodes[0].(*value.Node); ok && n.Node.Name() != "" {
			first = n.Label()
		}
	}
	return "write " + first + ": a graph takes the node that it begins with, and finds the others by their edges"
})

// edgeValue is an edge before it is part of a graph.
type edgeValue struct {
	value.Unkeyed
	e flow.Edge
}

func (e *edgeValue) String() string {
	to := "FINISH"
	if e.e.To != nil {
		to = e.e.To.Label()
	}
	return "edge(" + e.e.From.Label() + ", " + to + ")"
}

func (*edgeValue) Type() string { return "edge" }

// edgeOf returns the call that makes an edge from its ends, and from a condition if there is a third item.
func edgeOf(ends starlark.Tuple) string {
	shown := []string{"a", "b"}
	for i := range shown {
		switch end := ends[i].(type) {
		case *value.Node:
			shown[i] = cmp.Or(end.Node.Name(), shown[i])
		case value.Finish:
			shown[i] = "FINISH"
		case starlark.String:
			if shown[i] = string(end); isFinish(end) {
				shown[i] = "FINISH"
			}
		}
	}
	if len(ends) == 3 {
		shown = append(shown, "when = ...")
	}
	return "edge(" + script.Joined(shown) + ")"
}

// hintEdges says how to write edges that were given as a dict: {a: b}, {a: [b, c]}.
func hintEdges(v starlark.Value) string {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return ""
	}
	var edges []string
	for from, to := range d.Entries() {
		targets := table.Sequence(to)
		if _, list := table.AcceptList(to); !list {
			targets = []starlark.Value{to}
		}
		for i, target := range targets {
			ends := starlark.Tuple{from, target}
			if i+1 < len(targets) { // the first edge that accepts the output is followed
				ends = append(ends, starlark.None)
			}
			edges = append(edges, edgeOf(ends))
		}
	}
	return "write [" + script.Joined(edges) + "]"
}

var (
	edgeKind = &table.Kind{Word: "edge", Stub: "Edge", Accept: value.Either(value.As[*edgeValue], value.As[*value.Failed]), Hint: func(v starlark.Value) string {
		ends, _ := v.(starlark.Tuple)
		if len(ends) < 2 || len(ends) > 3 {
			return ""
		}
		return "write " + edgeOf(ends)
	}}
	targetKind = &table.Kind{Word: "node or FINISH", Stub: "Node | Finish", Accept: value.Either(value.As[*value.Node], value.As[value.Finish]), Hint: func(v starlark.Value) string {
		if isFinish(v) {
			return "write FINISH, without quotes"
		}
		return value.HintNode(v)
	}, Guess: func(v starlark.Value) (starlark.Value, bool) { return value.Finish{}, isFinish(v) }}
	guardKind = &table.Kind{Word: "condition, type, value or function", Stub: "Predicate | Type | Callable | bool | str | None",
		Accept: value.Either(value.As[starlark.Bool], value.As[starlark.String], table.CondKind.Accept)}
)

// isFinish reports whether a text must mean the end of a graph.
func isFinish(v starlark.Value) bool {
	s, _ := v.(starlark.String)
	switch strings.ToLower(string(s)) {
	case "finish", "end", "done", "stop", "exit":
		return true
	}
	return false
}

func edgeFunc(c *table.Call) (starlark.Value, error) {
	for _, name := range []string{"when", "map"} {
		if _, failed := c.Arg(name).(*value.Failed); failed {
			return c.Placeholder(), nil
		}
	}
	e := flow.Edge{From: c.Node("source"), To: c.Node("target"), Span: c.FuncSpan()}
	e.Guard.Span = c.ArgSpan("when")
	switch when := c.Arg("when").(type) {
	case nil:
	case *value.Predicate:
		e.Guard.Pred = when.Pred
	case *value.Type:
		if !routeKey(c, &e.Guard, when) {
			return c.Placeholder(), nil
		}
	case starlark.Bool, starlark.String:
		v, err := value.ToData(when)
		if err != nil {
			return nil, err
		}
		e.Guard.Value = &v
	default:
		e.Guard.When = c.FuncArg("when")
		lint.Called(c.State, when, script.Contract{Params: []*generable.Type{e.From.Out()}})
	}
	if c.Has("map") {
		e.Map = step(c, "map")
		to := script.Contract{Params: []*generable.Type{e.From.Out()}, Who: "map of edge"}
		if e.To != nil {
			to.Result = e.To.In()
		}
		lint.Called(c.State, c.Arg("map"), to)
	}
	return &edgeValue{e: e}, nil
}

func graphFunc(c *table.Call) (starlark.Value, error) {
	o := flow.GraphOptions{MaxSteps: c.Int("max_steps", flow.DefaultMaxSteps), Output: c.Type("output")}
	switch v := c.Arg("on_no_match").(type) {
	case starlark.String:
		o.OnNoMatch = flow.NoMatchError
		if v == "finish" {
			o.OnNoMatch = flow.NoMatchFinish
		}
	case *value.Node:
		o.OnNoMatch, o.Otherwise = flow.NoMatchNode, v.Node
	}
	var edges []flow.Edge
	for _, item := range c.List("edges") {
		switch e := item.(type) {
		case *edgeValue:
			edges = append(edges, e.e)
		case *value.Failed:
			return c.Placeholder(), nil
		}
	}
	return value.NewNode(c.State, c.State.Session.Graph(c.Site("start"), c.Node("start"), edges, o)), nil
}

// stepNodeKind takes a node, or what fn can turn into one.
var stepNodeKind = &table.Kind{Word: "node or function", Stub: "Node | Callable | Type", Accept: value.Either(value.As[*value.Node], stepKind.Accept)}

// step reads an argument that is a node, or a function that becomes one. Like those of fn(f), its types are checked
// when they meet declared ones.
func step(c *table.Call, name string) *flow.Node {
	v := c.Arg(name)
	if n, ok := v.(*value.Node); ok {
		return n.Node
	}
	site := flow.Site{Span: c.ArgSpan(name), What: name, Args: []diag.Span{c.ArgSpan(name)}}
	out := generable.AnyT
	if t, ok := v.(*value.Type); ok {
		out = t.T
	}
	return c.State.Session.Fn(site, c.FuncArg(name), generable.AnyT, out)
}
