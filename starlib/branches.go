package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

var routesKind = Kind{Word: "dict of handlers or list of when(...)", Stub: "dict[Any, Node] | list[When]",
	accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *starlark.Dict, *starlark.List, starlark.Tuple:
			return v, true
		}
		return v, false
	}}

var branchParams = []Param{
	{Name: "routes", Kind: routesKind, Doc: "{Variant: handler}, with the keys True and False of a bool, the strings of an enum, None of an optional; or [when(predicate, handler), ...]"},
	{Name: "otherwise", Kind: NodeKind, Shape: KeywordOnly, Default: "None", Doc: "takes what no route does"},
	{Name: "output", Kind: TypeKind, Shape: KeywordOnly, Default: "None", Doc: "the declared type of what the handlers give, where it cannot be inferred"},
}

// whenKind takes what a route can ask.
var whenKind = Kind{Word: "condition, type or function", Stub: "Predicate | Type | Callable", accept: condKind.accept,
	hint: func(v starlark.Value) string {
		switch v.(type) {
		case starlark.Bool, starlark.String, starlark.Int, starlark.NoneType:
			return "a value is asked for by a condition: eq(" + v.String() + ")"
		}
		return hintFunction(v)
	}}

// whenValue is a route with a condition.
type whenValue struct {
	route   engine.Route
	handler *nodeValue
}

func (w *whenValue) String() string        { return "when(..., " + w.handler.label() + ")" }
func (w *whenValue) Type() string          { return "when" }
func (w *whenValue) Freeze()               {}
func (w *whenValue) Truth() starlark.Bool  { return true }
func (w *whenValue) Hash() (uint32, error) { return 0, errorf(diag.ScriptError, "when(...) is no key") }

func whenFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	if c.stood {
		return c.standIn(), nil
	}
	w := &whenValue{handler: c.Arg("handler").(*nodeValue)}
	w.route = engine.Route{Handler: w.handler.n, Span: c.spanOf("predicate"), HandlerSpan: c.spanOf("handler")}
	switch p := c.Arg("predicate").(type) {
	case *predicateValue:
		w.route.Pred = p.p
	case *typeValue:
		w.route.Type = p.t
	default:
		w.route.When = c.callback("predicate")
	}
	return w, nil
}

func branchFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	if _, failed := c.Arg("routes").(*failedValue); failed {
		return c.standIn(), nil
	}
	var routes []engine.Route
	if d, ok := c.Arg("routes").(*starlark.Dict); ok {
		routes = c.dictRoutes(d)
	} else {
		routes = c.listRoutes(c.Arg("routes").(starlark.Sequence))
	}
	if len(c.wrong) > 0 || c.stood {
		return c.standIn(), nil
	}
	site := c.nodeSite()
	site.Args = []diag.Span{c.receiverSpan()}
	for i := range routes {
		site.Args = append(site.Args, routes[i].HandlerSpan)
	}
	if c.Has("otherwise") {
		site.Args = append(site.Args, c.spanOf("otherwise"))
	}
	source := c.nodeArg("node")
	for i := range routes {
		if f, ok := routes[i].When.(*callback); ok {
			c.state.checkFields(f.fn, source.Out())
		}
	}
	o := engine.BranchOptions{Otherwise: c.nodeArg("otherwise"), Output: c.typ("output")}
	if c.row.Name == "handoff" {
		return c.state.node(c.state.session.Handoff(site, source, routes, o)), nil
	}
	return c.state.node(c.state.session.Branch(site, source, routes, o)), nil
}

// dictRoutes reads {key: handler}.
func (c *Call) dictRoutes(d *starlark.Dict) []engine.Route {
	ref := c.at[c.param("routes")]
	var routes []engine.Route
	i := 0
	for key, handler := range d.Entries() {
		i++
		r := engine.Route{Span: c.partSpan(ref, piece{n: i, key: key.String(), at: true}), HandlerSpan: c.partSpan(ref, piece{n: i, key: key.String()})}
		if !c.routeKey(&r, key) {
			continue
		}
		if r.Handler = c.handler(handler, r.HandlerSpan); r.Handler != nil {
			routes = append(routes, r)
		}
	}
	return routes
}

// routeKey reads what a route takes.
func (c *Call) routeKey(r *engine.Route, key starlark.Value) bool {
	switch key := key.(type) {
	case *typeValue:
		r.Type = key.t
		if d := key.t.Deref(); d.IsNominal() && d.Name == "" {
			unnamed(c.complain(diag.UnnamedType, r.Span, "a branch key needs a type with a name"))
			return false
		}
		return true
	case *predicateValue:
		r.Pred = key.p
		return true
	case starlark.String, starlark.Bool, starlark.NoneType:
		v, err := toValue(key)
		if err == nil {
			r.Value = &v
			return true
		}
	case *failedValue:
		c.stood = true
		return false
	}
	d := c.complain(diag.BadBranchKey, r.Span, "a branch key is a type, or a value of a bool or an enum, got %s", describe(key))
	switch key.(type) {
	case *starlark.Function, *starlark.Builtin:
		d.Help = []string{"a predicate goes into a list: branch(node, [when(predicate, handler)], otherwise = handler)"}
	default:
		d.Help = []string{"other values are told by a predicate: branch(node, [when(lambda x: x == ..., handler)], otherwise = handler)"}
	}
	return false
}

// handler reads the node of a route.
func (c *Call) handler(v starlark.Value, at diag.Span) *engine.Node {
	switch v := v.(type) {
	case *nodeValue:
		return v.n
	case *failedValue:
		return c.state.session.Failed(engine.FnNode, c.nodeSite())
	}
	d := c.complain(diag.NotANode, at, "the handler of this route is no node, got %s", describe(v))
	if h := hintNode(v); h != "" {
		d.Help = append(d.Help, h)
	}
	return nil
}

// listRoutes reads [when(predicate, handler), ...].
func (c *Call) listRoutes(seq starlark.Sequence) []engine.Route {
	var routes []engine.Route
	for item := range starlark.Elements(seq) {
		switch w := item.(type) {
		case *whenValue:
			routes = append(routes, w.route)
		case *failedValue:
			c.stood = true
		default:
			d := c.complain(diag.WrongArgument, c.spanOf("routes"), "routes: want when(...) in the list, got %s", describe(item))
			d.Help = append(d.Help, "branch(node, [when(lambda x: ..., handler)], otherwise = handler), or {Type: handler}")
		}
	}
	return routes
}

func unnamed(d *diag.Diagnostic) {
	d.Help = append(d.Help, "assign the type to a variable first, or name it with _name = \"Name\"")
}
