package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

var loopParams = []Param{
	{Name: "next", Kind: nextKind, Default: "None", Doc: "a function of the output, or a node, that gives the next input or None"},
	{Name: "max", Kind: boundKind, Shape: KeywordOnly, Default: "1000", Doc: "the most turns"},
	{Name: "until", Kind: condKind, Shape: KeywordOnly, Default: "None", Doc: "ends the loop when it gives True for the output"},
	{Name: "repair", Kind: NodeKind, Shape: KeywordOnly, Default: "None", Doc: "makes the next input of the output, with until"},
	{Name: "on_limit", Kind: oneOf("fail", "last"), Shape: KeywordOnly, Default: `"fail"`, Doc: "what happens after max turns: an error, or the last output"},
}

var nextKind = Kind{Word: "function or node", Stub: "Callable | Node",
	accept: func(v starlark.Value) (starlark.Value, bool) {
		if _, ok := v.(*nodeValue); ok {
			return v, true
		}
		return acceptFunction(v)
	}}

// loopArgs reports arguments of a loop that do not go together.
func (c *Call) loopArgs() {
	how := "either next gives the next input or None, or until = ends the loop and repair = makes the next input"
	next, until, repair := c.Has("next"), c.Has("until"), c.Has("repair")
	switch {
	case next && (until || repair):
		other := "until"
		if !until {
			other = "repair"
		}
		c.complain(diag.WrongArgument, c.spanOf(other), "loop: next and %s exclude each other", other).Help = []string{how}
	case repair && !until:
		c.complain(diag.MissingArgument, c.fnSpan(), "loop needs until with repair").Help =
			[]string{"until = lambda out: ... tells when the loop ends; a node that gives the next input or None is next: loop(a, b)"}
	case until && !repair:
		c.complain(diag.MissingArgument, c.fnSpan(), "loop needs repair with until").Help =
			[]string{"repair = node makes the next input of the output; repair = fn(lambda x: x) sends it round as it is"}
	}
}

func loopFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	o := engine.LoopOptions{Max: c.Int("max", engine.DefaultLoopMax), Repair: c.nodeArg("repair"),
		LastWins: c.Str("on_limit") == "last", NextSpan: c.spanOf("next"), UntilSpan: c.spanOf("until"), RepairSpan: c.spanOf("repair")}
	if p, ok := c.Arg("until").(*predicateValue); ok {
		o.UntilData = p.p
	} else {
		o.Until = c.callback("until")
	}
	if c.Has("next") {
		if o.NextNode = c.nodeArg("next"); o.NextNode == nil {
			o.Next = c.callback("next")
		}
	}
	c.loopArgs()
	if len(c.wrong) > 0 {
		return nil, nil
	}
	body := c.nodeArg("node")
	c.state.checkFields(c.Arg("next"), body.Out())
	c.state.checkFields(c.Arg("until"), body.Out())
	site := c.nodeSite()
	site.Args = []diag.Span{c.receiverSpan(), o.NextSpan}
	if o.Repair != nil {
		site.Args[1] = o.RepairSpan
	}
	return c.state.node(c.state.session.Loop(site, body, o)), nil
}
