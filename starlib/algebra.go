package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// algebraRows are the operators that choose among several nodes or run one more than once. Their
// names are those that scripts give to agents as well: a script may.
func algebraRows() []Builtin {
	node := func(doc string) Param { return Param{Name: "node", Kind: NodeKind, Doc: doc} }
	nodes := Param{Name: "nodes", Kind: nodesKind, Shape: Variadic, Doc: "the nodes, or one list of them"}
	opt := func(name string, kind Kind, def, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: def, Doc: doc}
	}
	output := opt("output", TypeKind, "None", "the declared output, where it cannot be inferred")
	row := func(name string, f func(*Call) (starlark.Value, error), doc string, params ...Param) Builtin {
		return Builtin{Name: name, Group: GroupCompose, Returns: "node", Effect: Compose, Func: f, May: true, Doc: doc, Params: params}
	}
	return []Builtin{
		row("fallback", fallbackFunc, "Runs nodes on the same input, one after the other, until one succeeds. When all fail, the last error is given, with notes of the others. X→Y each gives X→Y.", nodes, output),
		row("race", raceFunc, "Runs nodes on the same input at once. The first success wins, and the others are cancelled. When all fail, the error of the first node is given, with notes of the others. X→Y each gives X→Y.", nodes, output),
		row("retry", retryFunc, "Runs a node again on the same input when it fails, and while its output is not what until asks for. What ends a run, its budget or a cancellation, is not tried again.",
			node("what is run"),
			Param{Name: "max", Kind: boundKind, Default: "3", Doc: "the most attempts"},
			opt("until", condKind, "None", "what the output must be like: a condition such as ge(80), or a function that gives True for one that will do"),
			opt("on_limit", oneOf("fail", "last"), `"fail"`, "what happens after max attempts: an error, or the last output that was given"),
			opt("feedback", CallKind, "None", "of an agent that a model carries out: a function of the output, or of the Failure, that gives what to say to the model; the next attempt goes on with the conversation"),
		),
		row("vote", voteFunc, `Runs nodes on the same input at once and gives one of their outputs: the one that most gave, the one with the greatest key, or what a judge makes of all. Ties go to the first in the order written. X→Y each gives X→Y. One node that gives a list, such as par(...) or each(...), holds all voters.`,
			nodes,
			opt("by", oneOf("majority", "max"), `"majority"`, "how the votes are counted: the value that most gave, or the one with the greatest key"),
			opt("weights", listOf(FloatKind), "None", "of a majority: how much each voter counts, in their order"),
			opt("key", anyOf(StrKind, CallKind), "None", "what is compared: the name of a field, or a function of the output; left out, the output itself"),
			opt("judge", NodeKind, "None", "a node that gets the list of outputs and gives one, instead of counting"),
			opt("quorum", boundKind, "None", "how many voters must succeed; the others may fail. Left out, all must"),
			opt("output", TypeKind, "None", "the declared type of what each voter gives, where it cannot be inferred"),
		),
		row("bounded", boundedFunc, "Bounds what a node uses each time that it runs, with all that goes on inside: around an each it is a budget of all branches together, inside of each branch. X→Y gives X→Y.",
			node("what is run"), Param{Name: "budget", Kind: budgetKind, Doc: "budget(...): its turns and tool_calls count those of all agents inside"}),
		row("wrap", wrapFunc, "Has a teacher write the system text of a student for each call. Both get the input: the teacher X→str, the student X→Y, which a model carries out. Gives X→Y. The student's own prompt is for calls without a teacher.",
			Param{Name: "teacher", Kind: NodeKind, Doc: "gives the system text"}, Param{Name: "student", Kind: NodeKind, Doc: "an agent that a model carries out"}),
		row("handoff", branchFunc, "Hands a node's output over to the first target whose key takes it: a branch of which an event tells from whom, to whom and what. A target gets its typed input alone, no transcript of a forum.",
			append([]Param{node("the node whose output is handed over")}, branchParams...)...),
	}
}

// onNodeError says what a structure does with failures.
var onNodeError = Param{Name: "on_error", Kind: oneOf("raise", "keep", "drop"), Shape: KeywordOnly, Default: `"raise"`,
	Doc: `what becomes of failures: "raise" cancels the others and fails; "keep" gives list[Attempt[Y]], an outcome for each, in order; "drop" leaves failures out and tells of them in an event`}

func (c *Call) onError() engine.OnError {
	return map[string]engine.OnError{"keep": engine.OnErrorKeep, "drop": engine.OnErrorDrop}[c.Str("on_error")]
}

func fallbackFunc(c *Call) (starlark.Value, error) {
	return c.composed(func(nodes []*engine.Node, site engine.Site) *engine.Node {
		return c.state.session.Fallback(site, engine.FirstOptions{Output: c.typ("output")}, nodes...)
	})
}

func raceFunc(c *Call) (starlark.Value, error) {
	return c.composed(func(nodes []*engine.Node, site engine.Site) *engine.Node {
		return c.state.session.Race(site, engine.FirstOptions{Output: c.typ("output")}, nodes...)
	})
}

func retryFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	if c.stood {
		return c.standIn(), nil
	}
	body := c.nodeArg("node")
	o := engine.RetryOptions{Max: c.Int("max", engine.DefaultRetryMax), LastWins: c.Str("on_limit") == "last",
		Feedback: c.callback("feedback"), UntilSpan: c.spanOf("until"), FeedbackSpan: c.spanOf("feedback")}
	if p, ok := c.Arg("until").(*predicateValue); ok {
		o.Until = p.p
	} else {
		o.UntilFunc = c.callback("until")
		c.state.checkFields(c.Arg("until"), body.Out())
	}
	if len(c.wrong) > 0 {
		return nil, nil
	}
	site := c.nodeSite()
	site.Args = []diag.Span{c.spanOf("node")}
	return c.state.node(c.state.session.Retry(site, body, o)), nil
}

func voteFunc(c *Call) (starlark.Value, error) {
	o := engine.VoteOptions{Output: c.typ("output"), KeySpan: c.spanOf("key"), WeightsSpan: c.spanOf("weights"), QuorumSpan: c.spanOf("quorum")}
	if c.Str("by") == "max" {
		o.By = engine.VoteMax
	}
	for w := range c.items("weights") {
		f, _ := w.(starlark.Float)
		o.Weights = append(o.Weights, float64(f))
	}
	if c.Has("weights") && o.Weights == nil {
		o.Weights = []float64{}
	}
	if c.Has("quorum") {
		o.Quorum = c.Int("quorum", 1)
	}
	if field, ok := c.Arg("key").(starlark.String); ok {
		o.Field = string(field)
	} else {
		o.Key = c.callback("key")
	}
	if c.Has("judge") {
		if c.Has("by") {
			c.complain(diag.BadVote, c.spanOf("by"), "a vote has a judge or is counted, not both").Help = []string{"leave out by or judge"}
		}
		if !c.Has("key") {
			o.KeySpan = c.spanOf("judge")
		}
		o.By, o.Judge = engine.VoteJudge, c.nodeArg("judge")
	}
	if c.stood {
		return c.standIn(), nil
	}
	return c.composed(func(nodes []*engine.Node, site engine.Site) *engine.Node {
		n := c.state.session.Vote(site, o, nodes...)
		if f, ok := o.Key.(*callback); ok && !n.Failed() {
			c.state.checkFields(f.fn, n.Out())
		}
		return n
	})
}

func wrapFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	site := c.nodeSite()
	site.Args = []diag.Span{c.spanOf("teacher"), c.spanOf("student")}
	return c.state.node(c.state.session.Wrap(site, c.nodeArg("teacher"), c.nodeArg("student"))), nil
}

// generic is a type that is made for another one: Attempt[str]. By itself it is that of any.
func generic(name, doc string, group Group, of func(*generable.Type) *generable.Type) Builtin {
	t := of(generable.AnyT)
	return Builtin{Name: name, Group: group, Returns: name, Effect: Pure, Doc: doc, May: true,
		Params: []Param{{Name: "fields", Kind: AnyKind, Shape: Keywords, Doc: joined(t.FieldNames())}},
		made:   func(c *state, _ *Table) starlark.Value { return &typeValue{t: t, c: c, of: of} }}
}
