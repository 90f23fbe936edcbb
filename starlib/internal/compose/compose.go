package compose

import (
	"cmp"
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/agents"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Rows returns the builtins that compose nodes, and those by which running functions call them.
func Rows() []table.Builtin {
	return slices.Concat(composeRows(), predicateRows(), graphRows(), algebraRows(), nodeMethodRows(), attemptRows(), orchestrationRows(), approvalRows(), clockRows(), chanceRows())
}

func composeRows() []table.Builtin {
	node := func(doc string) table.Param { return table.Param{Name: "node", Kind: table.NodeKind, Doc: doc} }
	nodes := table.Param{Name: "nodes", Kind: table.NodesKind, Shape: table.Variadic, Doc: "the nodes, or one list of them"}
	output := table.Opt("output", table.TypeKind, "None", "the declared output type of each branch, if it cannot be inferred")
	return []table.Builtin{
		{Name: "then", Group: table.GroupCompose, Returns: "node", Effect: table.Compose, AtTop: true, Func: thenFunc, Params: []table.Param{nodes},
			Doc: "Runs nodes one after the other, each on the output of the one before it. X→Y, Y→Z become X→Z. The operator is a >> b."},
		{Name: "par", Group: table.GroupCompose, Aside: "limit", Returns: "node", Effect: table.Compose, AtTop: true, Whole: true, Func: parFunc,
			Params: []table.Param{nodes, table.Opt("limit", table.CountKind, "0", "how many run at once; 0 for all"), output, onNodeError,
				table.Opt("merge", stepNodeKind, "None", "a node or function that takes the list: X→Z instead of X→list[Y]")},
			Doc: "Runs nodes concurrently on the same input and returns the list of their outputs in order. Nodes X→Y become X→list[Y]. The operator is a / b. The first failure cancels the others, unless on_error says otherwise."},
		{Name: "forum", Group: table.GroupCompose, Aside: "rounds", Returns: "node", Effect: table.Compose, AtTop: true, Func: forumFunc,
			Params: []table.Param{nodes, table.Opt("rounds", table.BoundKind, "1", "how often each participant speaks"),
				table.Opt("captain", table.NodeKind, "None", "the node that decides; with it, all other nodes are participants"),
				table.Opt("consensus", table.BoundKind, "None", "instead of a captain: how many participants must return the same value in the last round"),
				table.Opt("otherwise", table.NodeKind, "None", "decides, as a captain would, if the participants do not agree; without it, that is an error")},
			Doc: "Lets all nodes but the last discuss the input of the first. The last node, the captain, reads the transcript and answers. The operator is a * b. With consensus there is no captain: the answer is what enough participants agree on in the last round."},
		{Name: "loop", Group: table.GroupCompose, Aside: "max", Returns: "node", Effect: table.Compose, AtTop: true, Func: loopFunc, Params: append([]table.Param{node("the body of the loop")}, loopParams...),
			Doc: "Repeats a node. After each turn, next takes the output and returns the input of the following turn, or None to stop; the loop returns the last output. With until and repair, the loop ends when until holds; otherwise repair makes the next input."},
		{Name: "branch", Group: table.GroupCompose, Returns: "node", Effect: table.Compose, AtTop: true, Func: branchFunc, Params: append([]table.Param{node("the node whose output is routed")}, branchParams...),
			Doc: "Routes a node's output to the first handler that takes it. Every variant must be handled, unless otherwise is set."},
		{Name: "when", Group: table.GroupCompose, Returns: "when", Effect: table.Compose, AtTop: true, Whole: true, Func: whenFunc,
			Params: []table.Param{{Name: "predicate", Kind: whenKind, Doc: "a condition such as ge(80), a type, or a function that takes the output and returns True or False"}, {Name: "handler", Kind: table.NodeKind, Doc: "the node that receives the output when the predicate holds"}},
			Doc:    "Declares a route of branch that is taken when a predicate holds."},
		{Name: "each", Group: table.GroupCompose, Aside: "limit", Returns: "node", Effect: table.Compose, AtTop: true, Func: eachFunc,
			Params: []table.Param{node("the node to run on every item"), table.Opt("limit", table.BoundKind, "16", "how many items run at once"), onNodeError},
			Doc:    "Runs a node on every item of a list and returns the outputs in order. X→Y becomes list[X]→list[Y]."},
		{Name: "fn", Group: table.GroupCompose, Returns: "node", Effect: table.Compose, Whole: true, Func: fnFunc,
			Params: []table.Param{
				{Name: "f", Kind: stepKind, Doc: "a function of one argument, or a type to convert to"},
				{Name: "input", Kind: table.TypeKind, Default: "any", Doc: "what it takes"},
				{Name: "output", Kind: table.TypeKind, Default: "any", Doc: "what it returns; for a type, that type"},
			},
			Doc: "Turns a function into a step. Types that are not declared are any, and are checked where they meet a declared one. fn(float) converts."},
		{Name: "pick", Group: table.GroupCompose, Returns: "node", Effect: table.Compose, Whole: true, Func: pickFunc,
			Params: []table.Param{
				{Name: "field", Kind: table.Naming(table.StrKind, table.FieldName), Doc: "the name of a field"},
				{Name: "input", Kind: table.TypeKind, Default: "any", Doc: "what it takes, if no node before it determines that"},
			},
			Doc: "Returns one field of its input. Its types follow from the node before it, or from input if a flow begins with it."},
		{Name: "template", Group: table.GroupCompose, Returns: "node", Effect: table.Compose, Whole: true, Func: templateFunc,
			Params: []table.Param{
				{Name: "text", Kind: table.StrKind, Doc: "the text, in which {{field}}, {{a.b}} and {{input}} are filled in"},
				{Name: "input", Kind: table.TypeKind, Default: "any", Doc: "what it takes; in an agent's prompt, the agent's input"},
			},
			Doc: "Makes a str from its input, as a step or as the prompt of an agent. The text is dedented; its placeholders are checked against the input type."},
	}
}

// stepKind takes what fn can turn into a step.
var stepKind = table.Hinted(table.CallKind, func(v starlark.Value) string {
	if n, ok := v.(*value.Node); ok {
		return "a node is a step already: write " + n.Label() + " without fn"
	}
	return ""
})

// nodes lists the nodes of a composition, which are given as arguments or as one list.
func nodes(c *table.Call) ([]*flow.Node, flow.Site, bool) {
	site := c.Site()
	items, spans := c.Rest(), text.Each(c.RestRefs, c.RefSpan)
	if len(items) == 1 {
		if _, ok := items[0].(starlark.Sequence); ok {
			items = table.Sequence(items[0])
			spans = slices.Repeat(spans, len(items))
			if written := c.Parts(c.RestRefs[0]); len(written.Items) == len(items) {
				spans = written.Items
			}
		}
	}
	var nodes []*flow.Node
	for i, item := range items {
		switch item := item.(type) {
		case *value.Node:
			nodes = append(nodes, item.Node)
		case *value.Failed:
			nodes = append(nodes, c.State.Session.Failed(flow.FnNode, site))
		default:
			c.Problemf(diag.NotANode, spans[i], "%s composes nodes, got %s", c.Row.Name, value.Describe(item)).Advise(value.HintNode(item))
		}
	}
	site.Args = spans
	return nodes, site, len(c.Problems) == 0
}

// composed finishes a call that composes several nodes.
func composed(c *table.Call, make func(nodes []*flow.Node, site flow.Site) *flow.Node) (starlark.Value, error) {
	nodes, site, ok := nodes(c)
	if !ok {
		return nil, nil
	}
	return value.NewNode(c.State, make(nodes, site)), nil
}

func thenFunc(c *table.Call) (starlark.Value, error) {
	return composed(c, func(nodes []*flow.Node, site flow.Site) *flow.Node {
		return c.State.Session.Then(site, nodes...)
	})
}

func parFunc(c *table.Call) (starlark.Value, error) {
	o := flow.ParOptions{Limit: c.Int("limit", 0), Output: c.Type("output"), OnError: onError(c)}
	return composed(c, func(nodes []*flow.Node, site flow.Site) *flow.Node {
		if c.Has("merge") {
			o.Merge = step(c, "merge")
			site.Args = append(site.Args, c.ArgSpan("merge"))
		}
		n := c.State.Session.Par(site, o, nodes...)
		if merge, ok := c.Arg("merge").(*starlark.Function); ok && o.OnError != flow.OnErrorKeep {
			if one := oneOutput(nodes); one != nil {
				lint.Called(c.State, merge, script.Contract{Params: []*generable.Type{generable.ListOfType(one)}})
			}
		}
		return n
	})
}

// oneOutput returns the output type that all of some nodes have, or nil if they differ.
func oneOutput(nodes []*flow.Node) *generable.Type {
	for _, n := range nodes {
		if n.Failed() || !generable.Same(n.Out(), nodes[0].Out()) {
			return nil
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0].Out()
}

func forumFunc(c *table.Call) (starlark.Value, error) {
	o := flow.ForumOptions{Rounds: c.Int("rounds", 1), Consensus: c.Int("consensus", 0), ConsensusSpan: c.ArgSpan("consensus")}
	return composed(c, func(nodes []*flow.Node, site flow.Site) *flow.Node {
		o.Captain, o.Otherwise = c.Node("captain"), c.Node("otherwise")
		for _, name := range []string{"captain", "otherwise"} {
			if c.Has(name) {
				site.Args = append(site.Args, c.ArgSpan(name))
			}
		}
		return c.State.Session.Forum(site, o, nodes...)
	})
}

func eachFunc(c *table.Call) (starlark.Value, error) {
	limit := c.Int("limit", flow.DefaultEachLimit)
	if len(c.Problems) > 0 {
		return nil, nil
	}
	return value.NewNode(c.State, c.State.Session.Each(c.Site("node"), flow.EachOptions{Limit: limit, OnError: onError(c)}, c.Node("node"))), nil
}

func fnFunc(c *table.Call) (starlark.Value, error) {
	in, out := c.Type("input"), c.Type("output")
	if t, ok := c.Arg("f").(*value.Type); ok {
		if out == nil {
			out = t.T
		}
		if out.Kind == generable.ErrorType {
			return c.Placeholder(), nil
		}
	}
	return c.NodeMade(func(s *flow.Session, site flow.Site) *flow.Node {
		site.Args = []diag.Span{c.ArgSpan("f")}
		n := s.Fn(site, c.FuncArg("f"), in, out)
		called := func() {
			lint.Called(c.State, c.Arg("f"), script.Contract{Params: []*generable.Type{cmp.Or(in, n.Arriving())}, Result: out, Who: "fn"})
		}
		if in != nil || n.Name() != "" || c.Running() {
			called()
		} else {
			c.State.Composed = append(c.State.Composed, called)
		}
		return n
	})
}

func pickFunc(c *table.Call) (starlark.Value, error) {
	return c.NodeMade(func(s *flow.Session, site flow.Site) *flow.Node {
		return s.Pick(site, c.Str("field"), c.Type("input"))
	})
}

func templateFunc(c *table.Call) (starlark.Value, error) {
	parsed, err := agent.ParseTemplate(script.Dedent(c.Str("text")))
	if err != nil {
		c.Problemf(diag.UnknownPlaceholder, c.ArgSpan("text"), "%s", err).Help = []string{"text that keeps its braces is a plain str"}
		return nil, nil
	}
	v, err := c.NodeMade(func(s *flow.Session, site flow.Site) *flow.Node { return s.Template(site, parsed, c.Type("input")) })
	if n, ok := v.(*value.Node); ok {
		n.Template = parsed
	}
	return v, err
}

// thenMethod implements a.then(b).
func thenMethod(c *table.Call) (starlark.Value, error) {
	return value.NewNode(c.State, c.State.Session.Then(c.Site("node", "next"), c.Node("node"), c.Node("next"))), nil
}

// nodeMethodRows returns the methods of nodes: the functions that take a node first.
func nodeMethodRows() []table.Builtin {
	method := func(b table.Builtin) table.Builtin {
		b.Of, b.Group, b.Returns, b.Effect, b.AtTop = "node", table.GroupCompose, "node", table.Compose, true
		return b
	}
	next := table.Param{Name: "next", Kind: table.NodeKind, Shape: table.Positional, Doc: "the node that follows"}
	return []table.Builtin{
		method(table.Builtin{Name: "then", Params: []table.Param{next}, Func: thenMethod, Doc: "a.then(b) is then(a, b)."}),
		method(table.Builtin{Name: "loop", Params: loopParams, Func: loopFunc, Doc: "a.loop(next) is loop(a, next)."}),
		method(table.Builtin{Name: "branch", Params: branchParams, Func: branchFunc, Doc: "a.branch({...}) is branch(a, {...})."}),
		method(table.Builtin{Name: "each", Params: []table.Param{table.Opt("limit", table.BoundKind, "16", "how many items run at once"), onNodeError},
			Func: eachFunc, Doc: "a.each() is each(a)."}),
	}
}

func boundedFunc(c *table.Call) (starlark.Value, error) {
	body := c.Node("node")
	l := agents.GivenBudget(c, c.Arg("budget").(*value.Budget))
	for _, word := range agents.OfOneAgent(l) {
		c.Problemf(diag.WrongArgument, c.ArgSpan("budget"), "bounded: %s is about the conversation of one agent", word).Help =
			[]string{"pass it to the agent: agent(budget = budget(" + word + " = ...))"}
	}
	if len(c.Problems) > 0 {
		return nil, nil
	}
	return value.NewNode(c.State, c.State.Session.Bounded(c.Site("node"), body, l)), nil
}
