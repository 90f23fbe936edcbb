package compose

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/agents"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// algebraRows returns the operators that choose among several nodes or run one more than once. Scripts may bind their
// names, which are common names of agents.
func algebraRows() []table.Builtin {
	node := func(doc string) table.Param { return table.Param{Name: "node", Kind: table.NodeKind, Doc: doc} }
	nodes := table.Param{Name: "nodes", Kind: table.NodesKind, Shape: table.Variadic, Doc: "the nodes, or one list of them"}
	output := table.Opt("output", table.TypeKind, "None", "the declared output type, if it cannot be inferred")
	row := func(name string, f func(*table.Call) (starlark.Value, error), doc string, params ...table.Param) table.Builtin {
		return table.Builtin{Name: name, Group: table.GroupCompose, Returns: "node", Effect: table.Compose, AtTop: true, Whole: name == "bounded" || name == "retry", Func: f, May: true, Doc: doc, Params: params}
	}
	return []table.Builtin{
		row("fallback", fallbackFunc, "Runs nodes on the same input, one after the other, until one succeeds. If all fail, the last error is reported, with notes about the others. Nodes X→Y become X→Y.", nodes, output),
		row("race", raceFunc, "Runs nodes concurrently on the same input. The first success wins, and the others are cancelled. If all fail, the error of the first node is reported, with notes about the others. Nodes X→Y become X→Y.", nodes, output),
		row("retry", retryFunc, "Runs a node again on the same input if it fails or if its output does not satisfy until. What ends the run, its budget or a cancellation, is not retried.",
			retriedParam,
			table.Param{Name: "max", Kind: table.BoundKind, Default: "3", Doc: "the maximum number of attempts"},
			table.Opt("until", table.CondKind, "None", "what the output must satisfy: a condition such as ge(80), or a function that returns True for an acceptable output"),
			table.Opt("on_limit", table.OneOf("fail", "last"), `"fail"`, "what happens after max attempts: an error, or the last output"),
			table.Opt("feedback", table.CallKind, "None", "for an agent that a model carries out: a function of the output, or of the Failure, that returns the message to send to the model; the next attempt continues the conversation"),
		),
		row("vote", voteFunc, `Runs nodes concurrently on the same input and returns one output: the most frequent, the one with the greatest key, or the one that a judge makes from all. Ties go to the first in the order written. Nodes X→Y become X→Y. A single node that returns a list, such as par(...) or each(...), holds all voters.`,
			nodes,
			table.Opt("by", table.OneOf("majority", "max"), `"majority"`, "how the votes are counted: the most frequent value wins, or the one with the greatest key"),
			table.Opt("weights", table.ListOf(table.FloatKind), "None", "for a majority: the weight of each voter, in their order"),
			table.Opt("key", table.AnyOf(table.Naming(table.StrKind, table.FieldName), table.CallKind), "None", "what is compared: the name of a field, or a function of the output; by default the output itself"),
			table.Opt("judge", table.NodeKind, "None", "a node that takes the list of outputs and returns one, instead of counting"),
			table.Opt("quorum", table.BoundKind, "None", "how many voters must succeed; the others may fail. By default all must succeed"),
			table.Opt("output", table.TypeKind, "None", "the declared output type of each voter, if it cannot be inferred"),
		),
		row("bounded", boundedFunc, "Bounds what a node, with everything inside it, uses each time it runs. Around an each, all branches share the budget; inside an each, every branch has its own. X→Y stays X→Y.",
			node("the node to run"), table.Param{Name: "budget", Kind: agents.BudgetKind, Doc: "budget(...); its turns and tool_calls count those of all agents inside"}),
		row("wrap", wrapFunc, "Lets a teacher write the system text of a student for each call. Both receive the input: the teacher is X→str; the student is X→Y and carried out by a model. The result is X→Y. The student's own prompt is for calls without a teacher.",
			table.Param{Name: "teacher", Kind: table.NodeKind, Doc: "a node that returns the system text"}, table.Param{Name: "student", Kind: table.NodeKind, Doc: "an agent that a model carries out"}),
		row("handoff", branchFunc, "Hands a node's output to the first target whose key takes it. It is a branch whose event reports the sender, the receiver and the value. A target receives only its typed input, not the transcript of a forum.",
			append([]table.Param{node("the node whose output is handed off")}, branchParams...)...),
	}
}

// onNodeError sets what a structure does about failures.
var onNodeError = table.Param{Name: "on_error", Kind: table.OneOf("raise", "keep", "drop"), Shape: table.KeywordOnly, Default: `"raise"`,
	Doc: `how failures are handled: "raise" cancels the others and fails; "keep" returns list[Attempt[Y]], an outcome for each, in order; "drop" leaves failures out and reports them in an event`}

func onError(c *table.Call) flow.OnError {
	return map[string]flow.OnError{"keep": flow.OnErrorKeep, "drop": flow.OnErrorDrop}[c.Str("on_error")]
}

func fallbackFunc(c *table.Call) (starlark.Value, error) {
	return composed(c, func(nodes []*flow.Node, site flow.Site) *flow.Node {
		return c.State.Session.Fallback(site, flow.FirstOptions{Output: c.Type("output")}, nodes...)
	})
}

func raceFunc(c *table.Call) (starlark.Value, error) {
	return composed(c, func(nodes []*flow.Node, site flow.Site) *flow.Node {
		return c.State.Session.Race(site, flow.FirstOptions{Output: c.Type("output")}, nodes...)
	})
}

// retriedParam is the node of retry. A number alone is taken for the number of attempts.
var retriedParam = table.Param{Name: "node", Doc: "the node to run", Kind: table.Hinted(table.NodeKind, func(v starlark.Value) string {
	if n, ok := v.(starlark.Int); ok {
		return "name the node, retry(a, max = " + n.String() + "); a tool's call that fails is made again by on_tool_error = again(" + n.String() + ")"
	}
	return ""
})}

func retryFunc(c *table.Call) (starlark.Value, error) {
	body := c.Node("node")
	o := flow.RetryOptions{Max: c.Int("max", flow.DefaultRetryMax), LastWins: c.Str("on_limit") == "last",
		Feedback: c.FuncArg("feedback"), UntilSpan: c.ArgSpan("until"), FeedbackSpan: c.ArgSpan("feedback")}
	if p, ok := c.Arg("until").(*value.Predicate); ok {
		o.Until = p.Pred
	} else {
		o.UntilFunc, o.UntilType = untilFunc(c)
		lint.Called(c.State, c.Arg("until"), script.Contract{Params: []*generable.Type{body.Out()}, Result: generable.BoolT, Who: "until of retry"})
	}
	if len(c.Problems) > 0 {
		return nil, nil
	}
	return value.NewNode(c.State, c.State.Session.Retry(c.Site("node"), body, o)), nil
}

func voteFunc(c *table.Call) (starlark.Value, error) {
	o := flow.VoteOptions{Output: c.Type("output"), KeySpan: c.ArgSpan("key"), WeightsSpan: c.ArgSpan("weights"), QuorumSpan: c.ArgSpan("quorum")}
	if c.Str("by") == "max" {
		o.By = flow.VoteMax
	}
	if c.Has("weights") {
		o.Weights = text.Each(c.List("weights"), table.FloatOf)
	}
	o.Quorum = c.Int("quorum", 0)
	if field, ok := c.Arg("key").(starlark.String); ok {
		o.Field = string(field)
	} else {
		o.Key = c.FuncArg("key")
	}
	if c.Has("judge") {
		if c.Has("by") {
			c.Problemf(diag.BadVote, c.ArgSpan("by"), "a vote has a judge or is counted, not both").Help = []string{"leave out by or judge"}
		}
		if !c.Has("key") {
			o.KeySpan = c.ArgSpan("judge")
		}
		o.By, o.Judge = flow.VoteJudge, c.Node("judge")
	}
	if c.Incomplete {
		return c.Placeholder(), nil
	}
	return composed(c, func(nodes []*flow.Node, site flow.Site) *flow.Node {
		n := c.State.Session.Vote(site, o, nodes...)
		if f, ok := o.Key.(*thread.Callback); ok && !n.Failed() {
			lint.Called(c.State, f.Func, script.Contract{Params: []*generable.Type{n.Out()}})
		}
		return n
	})
}

func wrapFunc(c *table.Call) (starlark.Value, error) {
	return value.NewNode(c.State, c.State.Session.Wrap(c.Site("teacher", "student"), c.Node("teacher"), c.Node("student"))), nil
}
