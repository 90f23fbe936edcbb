package compose

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

var routesKind = &table.Kind{Word: "dict of handlers or list of when(...)", Stub: "dict[Any, Node] | list[When]",
	Accept: value.Either(value.As[*starlark.Dict], value.As[*starlark.List], value.As[starlark.Tuple])}

var branchParams = []table.Param{
	{Name: "routes", Kind: routesKind, Doc: "{Variant: handler}, with the keys True and False for a bool, the strings of an enum, None for an optional; or [when(predicate, handler), ...]"},
	table.Opt("otherwise", table.NodeKind, "None", "the handler of outputs that no route takes"),
	table.Opt("output", table.TypeKind, "None", "the declared output type of the handlers, if it cannot be inferred"),
}

// whenKind takes what a route can test.
var whenKind = &table.Kind{Word: "condition, type or function", Stub: "Predicate | Type | Callable", Accept: table.CondKind.Accept,
	Hint: func(v starlark.Value) string {
		switch v.(type) {
		case starlark.Bool, starlark.Int, starlark.NoneType:
			return "test a value with a condition: eq(" + v.String() + ")"
		}
		return table.HintCondition(v)
	}}

// whenValue is a route with a condition.
type whenValue struct {
	value.Unkeyed
	route   flow.Route
	handler *value.Node
}

func (w *whenValue) String() string { return "when(..., " + w.handler.Label() + ")" }

func (w *whenValue) Type() string { return "when" }

func whenFunc(c *table.Call) (starlark.Value, error) {
	w := &whenValue{handler: c.Arg("handler").(*value.Node)}
	w.route = flow.Route{Handler: w.handler.Node, Span: c.ArgSpan("predicate"), HandlerSpan: c.ArgSpan("handler")}
	switch p := c.Arg("predicate").(type) {
	case *value.Predicate:
		w.route.Pred = p.Pred
	case *value.Type:
		w.route.Type = p.T
	default:
		w.route.When = c.FuncArg("predicate")
	}
	return w, nil
}

func branchFunc(c *table.Call) (starlark.Value, error) {
	if _, failed := c.Arg("routes").(*value.Failed); failed {
		return c.Placeholder(), nil
	}
	var routes []flow.Route
	if d, ok := c.Arg("routes").(*starlark.Dict); ok {
		routes = dictRoutes(c, d)
	} else {
		routes = listRoutes(c, c.Arg("routes").(starlark.Sequence))
	}
	if len(c.Problems) > 0 || c.Incomplete {
		return c.Placeholder(), nil
	}
	site := c.Site("node")
	for i := range routes {
		site.Args = append(site.Args, routes[i].HandlerSpan)
	}
	if c.Has("otherwise") {
		site.Args = append(site.Args, c.ArgSpan("otherwise"))
	}
	source := c.Node("node")
	for i := range routes {
		if f, ok := routes[i].When.(*thread.Callback); ok {
			lint.Called(c.State, f.Func, script.Contract{Params: []*generable.Type{source.Out()}})
		}
	}
	o := flow.BranchOptions{Otherwise: c.Node("otherwise"), Output: c.Type("output")}
	if c.Row.Name == "handoff" {
		return value.NewNode(c.State, c.State.Session.Handoff(site, source, routes, o)), nil
	}
	return value.NewNode(c.State, c.State.Session.Branch(site, source, routes, o)), nil
}

// dictRoutes reads {key: handler}.
func dictRoutes(c *table.Call, d *starlark.Dict) []flow.Route {
	ref := c.Refs[c.ParamIndex("routes")]
	var routes []flow.Route
	i := 0
	for key, target := range d.Entries() {
		i++
		r := flow.Route{Span: c.PartSpan(ref, table.Piece{N: i, Key: key.String(), At: true}), HandlerSpan: c.PartSpan(ref, table.Piece{N: i, Key: key.String()})}
		if !routeKey(c, &r, key) {
			continue
		}
		if r.Handler = handler(c, target, r.HandlerSpan); r.Handler != nil {
			routes = append(routes, r)
		}
	}
	return routes
}

// routeKey reads what a route accepts.
func routeKey(c *table.Call, r *flow.Route, key starlark.Value) bool {
	switch key := key.(type) {
	case *value.Type:
		r.Type = key.T
		if d := key.T.Deref(); d.IsNominal() && d.Name == "" {
			table.Unnamed(c.Problemf(diag.UnnamedType, r.Span, "a branch key needs a type with a name"))
			return false
		}
		return true
	case *value.Predicate:
		r.Pred = key.Pred
		return true
	case starlark.String, starlark.Bool, starlark.NoneType:
		v, err := value.ToData(key)
		if err == nil {
			r.Value = &v
			return true
		}
	case *value.Failed:
		c.Incomplete = true
		return false
	}
	d := c.Problemf(diag.BadBranchKey, r.Span, "a branch key is a type, or a value of a bool or an enum, got %s", value.Describe(key))
	switch key.(type) {
	case *starlark.Function, *starlark.Builtin:
		d.Help = []string{"a predicate goes into a list: branch(node, [when(predicate, handler)], otherwise = handler)"}
	default:
		d.Help = []string{"other values need a predicate: branch(node, [when(lambda x: x == ..., handler)], otherwise = handler)"}
	}
	return false
}

// handler reads the node of a route.
func handler(c *table.Call, v starlark.Value, at diag.Span) *flow.Node {
	switch v := v.(type) {
	case *value.Node:
		return v.Node
	case *value.Failed:
		return c.State.Session.Failed(flow.FnNode, c.Site())
	}
	c.Problemf(diag.NotANode, at, "the handler of this route is not a node, got %s", value.Describe(v)).Advise(value.HintNode(v))
	return nil
}

// listRoutes reads [when(predicate, handler), ...].
func listRoutes(c *table.Call, seq starlark.Sequence) []flow.Route {
	var routes []flow.Route
	for item := range starlark.Elements(seq) {
		switch w := item.(type) {
		case *whenValue:
			routes = append(routes, w.route)
		case *value.Failed:
			c.Incomplete = true
		default:
			c.Problemf(diag.WrongArgument, c.ArgSpan("routes"), "routes: want when(...) in the list, got %s", value.Describe(item)).
				Helpf("branch(node, [when(lambda x: ..., handler)], otherwise = handler), or {Type: handler}")
		}
	}
	return routes
}
