package starlib

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// composeAllRows are the builtins that compose nodes, and those by which functions that run call them.
func composeAllRows() []Builtin {
	return slices.Concat(composeRows(), predicateRows(), graphRows(), algebraRows(), nodeMethodRows(), attemptRows(), orchestrationRows(), approvalRows())
}

// nodesKind takes a node, or one list of nodes in the place of all.
var nodesKind = Kind{Word: "node or list of nodes", Stub: "Node | list[Node]",
	accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *nodeValue, *starlark.List, starlark.Tuple:
			return v, true
		}
		return v, false
	}, hint: hintNode}

func composeRows() []Builtin {
	node := func(doc string) Param { return Param{Name: "node", Kind: NodeKind, Doc: doc} }
	nodes := Param{Name: "nodes", Kind: nodesKind, Shape: Variadic, Doc: "the nodes, or one list of them"}
	output := Param{Name: "output", Kind: TypeKind, Shape: KeywordOnly, Default: "None", Doc: "the declared type of what each branch gives, where it cannot be inferred"}
	return []Builtin{
		{Name: "then", Group: GroupCompose, Returns: "node", Effect: Compose, Func: thenFunc, Params: []Param{nodes},
			Doc: "Runs nodes one after the other, each on the output of the one before. X→Y, Y→Z gives X→Z. The operator is a >> b."},
		{Name: "par", Group: GroupCompose, Aside: "limit", Returns: "node", Effect: Compose, Func: parFunc,
			Params: []Param{nodes, {Name: "limit", Kind: countKind, Shape: KeywordOnly, Default: "0", Doc: "how many run at once; 0 for all"}, output, onNodeError,
				{Name: "merge", Kind: stepNodeKind, Shape: KeywordOnly, Default: "None", Doc: "a node or function that gets the list: X→Z instead of X→list[Y]"}},
			Doc: "Runs nodes at once on the same input and gives the list of their outputs in order. X→Y each gives X→list[Y]. The operator is a / b. The first failure cancels the others, unless on_error says something else."},
		{Name: "forum", Group: GroupCompose, Aside: "rounds", Returns: "node", Effect: Compose, Func: forumFunc,
			Params: []Param{nodes, {Name: "rounds", Kind: boundKind, Shape: KeywordOnly, Default: "1", Doc: "how often every participant speaks"},
				{Name: "captain", Kind: NodeKind, Shape: KeywordOnly, Default: "None", Doc: "who decides; then all nodes before it are participants"},
				{Name: "consensus", Kind: boundKind, Shape: KeywordOnly, Default: "None", Doc: "instead of a captain: how many participants must give the same in the last round"},
				{Name: "otherwise", Kind: NodeKind, Shape: KeywordOnly, Default: "None", Doc: "decides when there is no consensus, as a captain would; left out, that is an error"}},
			Doc: "Lets all nodes but the last discuss the first one's input; the last, the captain, reads the transcript and answers. The operator is a * b. With consensus there is no captain: the answer is what enough participants gave in the last round."},
		{Name: "loop", Group: GroupCompose, Aside: "max", Returns: "node", Effect: Compose, Func: loopFunc, Params: append([]Param{node("the body of the loop")}, loopParams...),
			Doc: "Repeats a node. After each turn next gets the output and gives the input of the following turn, or None to stop; the last output is the loop's. With until and repair, the loop ends when until holds, else repair makes the next input."},
		{Name: "branch", Group: GroupCompose, Returns: "node", Effect: Compose, Func: branchFunc, Params: append([]Param{node("the node whose output is routed")}, branchParams...),
			Doc: "Routes a node's output to the first handler that takes it. Every variant must be handled, or otherwise given."},
		{Name: "when", Group: GroupCompose, Returns: "when", Effect: Compose, Func: whenFunc,
			Params: []Param{{Name: "predicate", Kind: whenKind, Doc: "a condition such as ge(80), a type, or a function that gets the output and gives True or False"}, {Name: "handler", Kind: NodeKind, Doc: "where the output goes when it holds"}},
			Doc:    "A route of branch that is taken when a predicate holds."},
		{Name: "each", Group: GroupCompose, Aside: "limit", Returns: "node", Effect: Compose, Func: eachFunc,
			Params: []Param{node("runs on every item"), {Name: "limit", Kind: boundKind, Shape: KeywordOnly, Default: "16", Doc: "how many items at once"}, onNodeError},
			Doc:    "Runs a node on every item of a list and gives the outputs in order. X→Y gives list[X]→list[Y]."},
		{Name: "fn", Group: GroupCompose, Returns: "node", Effect: Compose, Func: fnFunc,
			Params: []Param{
				{Name: "f", Kind: stepKind, Doc: "a function of one argument, or a type to convert to"},
				{Name: "input", Kind: TypeKind, Default: "any", Doc: "what it takes"},
				{Name: "output", Kind: TypeKind, Default: "any", Doc: "what it gives; of a type, that type"},
			},
			Doc: "Makes a function a step. Types that are not declared are any and checked when they meet a declared one. fn(float) converts."},
		{Name: "pick", Group: GroupCompose, Returns: "node", Effect: Compose, Func: pickFunc,
			Params: []Param{
				{Name: "field", Kind: StrKind, Doc: "the name of a field"},
				{Name: "input", Kind: TypeKind, Default: "any", Doc: "what it takes, where no node before it says so"},
			},
			Doc: "Takes one field of what arrives. Its types follow the node before it, or input when a flow begins with it."},
		{Name: "template", Group: GroupCompose, Returns: "node", Effect: Compose, Func: templateFunc,
			Params: []Param{
				{Name: "text", Kind: StrKind, Doc: "the text; {{field}}, {{a.b}} and {{input}} are filled in"},
				{Name: "input", Kind: TypeKind, Default: "any", Doc: "what it takes; of an agent's prompt, the agent's input"},
			},
			Doc: "Makes a str from its input, as a step or as the prompt of an agent. The text is dedented; its placeholders are checked against the input type."},
	}
}

// stepKind takes what fn makes a step of.
var stepKind = Kind{Word: CallKind.Word, Stub: CallKind.Stub, accept: CallKind.accept,
	hint: func(v starlark.Value) string {
		if n, ok := v.(*nodeValue); ok {
			return "a node is a step already: write " + n.label() + " without fn"
		}
		return hintFunction(v)
	}}

// nodes lists the nodes of a composition, given one by one or as one list.
func (c *Call) nodes() ([]*engine.Node, engine.Site, bool) {
	site := c.nodeSite()
	items, spans := c.Rest(), make([]diag.Span, 0, len(c.Rest()))
	for _, ref := range c.refs {
		spans = append(spans, c.argSpan(ref))
	}
	if len(items) == 1 {
		if seq, ok := items[0].(starlark.Sequence); ok {
			span := spans[0]
			items, spans = nil, nil
			for item := range starlark.Elements(seq) {
				items = append(items, item)
				spans = append(spans, span)
			}
			if written := c.written(c.refs[0]); len(written.Items) == len(items) {
				spans = written.Items
			}
		}
	}
	var nodes []*engine.Node
	for i, item := range items {
		switch item := item.(type) {
		case *nodeValue:
			nodes = append(nodes, item.n)
		case *failedValue:
			nodes = append(nodes, c.state.session.Failed(engine.FnNode, site))
		default:
			d := c.complain(diag.NotANode, spans[i], "%s composes nodes, got %s", c.row.Name, describe(item))
			if h := hintNode(item); h != "" {
				d.Help = append(d.Help, h)
			}
		}
	}
	site.Args = spans
	return nodes, site, len(c.wrong) == 0
}

// composing refuses to compose in a run; ok is false when there is nothing more to do.
func (c *Call) composing() error {
	if c.running() || c.state.sealed.Load() {
		return composedWhileRunning(c.row.Name)
	}
	return nil
}

// composed finishes a call that composes several nodes.
func (c *Call) composed(make func(nodes []*engine.Node, site engine.Site) *engine.Node) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	nodes, site, ok := c.nodes()
	if !ok {
		return nil, nil
	}
	return c.state.node(make(nodes, site)), nil
}

func thenFunc(c *Call) (starlark.Value, error) {
	return c.composed(func(nodes []*engine.Node, site engine.Site) *engine.Node {
		return c.state.session.Then(site, nodes...)
	})
}

func parFunc(c *Call) (starlark.Value, error) {
	o := engine.ParOptions{Limit: c.Int("limit", 0), Output: c.typ("output"), OnError: c.onError()}
	if c.stood {
		return c.standIn(), nil
	}
	return c.composed(func(nodes []*engine.Node, site engine.Site) *engine.Node {
		if c.Has("merge") {
			o.Merge = c.step("merge")
			site.Args = append(site.Args, c.spanOf("merge"))
		}
		return c.state.session.Par(site, o, nodes...)
	})
}

func forumFunc(c *Call) (starlark.Value, error) {
	o := engine.ForumOptions{Rounds: c.Int("rounds", 1), ConsensusSpan: c.spanOf("consensus")}
	if c.Has("consensus") {
		o.Consensus = c.Int("consensus", 1)
	}
	return c.composed(func(nodes []*engine.Node, site engine.Site) *engine.Node {
		o.Captain, o.Otherwise = c.nodeArg("captain"), c.nodeArg("otherwise")
		for _, name := range []string{"captain", "otherwise"} {
			if c.Has(name) {
				site.Args = append(site.Args, c.spanOf(name))
			}
		}
		return c.state.session.Forum(site, o, nodes...)
	})
}

// nodeArg is the node of an argument, or of the receiver of a method.
func (c *Call) nodeArg(name string) *engine.Node {
	if name == "node" && c.recv != nil {
		return c.recv.(*nodeValue).n
	}
	switch v := c.Arg(name).(type) {
	case *nodeValue:
		return v.n
	case *failedValue:
		return c.state.session.Failed(engine.FnNode, c.nodeSite())
	}
	return nil
}

// receiverSpan is the place of the node that a function or method is about.
func (c *Call) receiverSpan() diag.Span {
	if c.recv == nil {
		return c.spanOf("node")
	}
	return c.fnSpan()
}

func eachFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	limit := c.Int("limit", engine.DefaultEachLimit)
	if len(c.wrong) > 0 {
		return nil, nil
	}
	site := c.nodeSite()
	site.Args = []diag.Span{c.receiverSpan()}
	return c.state.node(c.state.session.Each(site, engine.EachOptions{Limit: limit, OnError: c.onError()}, c.nodeArg("node"))), nil
}

func fnFunc(c *Call) (starlark.Value, error) {
	in, out := c.typ("input"), c.typ("output")
	if t, ok := c.Arg("f").(*typeValue); ok {
		if out == nil {
			out = t.t
		}
		if out.Kind == generable.ErrorType {
			return c.standIn(), nil
		}
	}
	if c.stood {
		return c.standIn(), nil
	}
	c.state.checkFields(c.Arg("f"), in)
	return c.made(func(s *engine.Session, site engine.Site) *engine.Node {
		site.Args = []diag.Span{c.spanOf("f")}
		return s.Fn(site, c.callback("f"), in, out)
	})
}

func pickFunc(c *Call) (starlark.Value, error) {
	if c.stood {
		return c.standIn(), nil
	}
	return c.made(func(s *engine.Session, site engine.Site) *engine.Node {
		return s.Pick(site, c.Str("field"), c.typ("input"))
	})
}

func templateFunc(c *Call) (starlark.Value, error) {
	if c.stood {
		return c.standIn(), nil
	}
	text, err := engine.ParseTemplate(dedent(c.Str("text")))
	if err != nil {
		c.complain(diag.UnknownPlaceholder, c.spanOf("text"), "%s", err).Help = []string{"text that keeps its braces is a plain str"}
		return nil, nil
	}
	v, err := c.made(func(s *engine.Session, site engine.Site) *engine.Node { return s.Template(site, text, c.typ("input")) })
	if n, ok := v.(*nodeValue); ok {
		n.text = text
	}
	return v, err
}

// made makes a single node: in the session while composing, in one of its own in a run,
// where a node may be made and called, though not composed.
func (c *Call) made(make func(s *engine.Session, site engine.Site) *engine.Node) (starlark.Value, error) {
	if !c.running() {
		return c.state.node(make(c.state.session, c.nodeSite())), nil
	}
	s := engine.NewSession()
	n := make(s, c.nodeSite())
	if found := s.Diagnostics(); found.HasErrors() {
		return nil, raised(found...)
	}
	s.Seal()
	return c.state.node(n), nil
}

// thenMethod is a.then(b).
func thenMethod(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	site := c.nodeSite()
	site.Args = []diag.Span{site.Span, c.spanOf("next")}
	return c.state.node(c.state.session.Then(site, c.nodeArg("node"), c.nodeArg("next"))), nil
}
