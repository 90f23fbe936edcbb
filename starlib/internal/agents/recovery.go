package agents

import (
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
)

const effectDoc = `"read" changes nothing; "idempotent" may be repeated without further effect; "once" must never be repeated`

var toolEffectKind = table.Hinted(table.OneOf("read", "idempotent", "once"), func(v starlark.Value) string {
	if s, ok := v.(starlark.String); ok && script.DidYouMean(string(s), []string{"read", "idempotent", "once"}) == "" {
		return "leave it out: its effects are known from its code"
	}
	return ""
})

var remediesDoc = "fix(...), again(...), escalate(...), give_up(...), a list of them, recover(...) to separate bad arguments from failures, or a function of the ToolFailure (." +
	strings.Join(agent.ToolFailureType.FieldNames(), " .") + ") that returns one of them, or None to pass the failure to the model"

// recoveryRows returns the builtins for the handling of failed tool calls. Scripts may bind their names, which are
// common names of functions.
func recoveryRows() []table.Builtin {
	reason := table.Param{Name: "reason", Kind: table.StrKind, Default: `""`, Doc: "the reason; by default the error of the call"}
	row := func(name, returns string, f func(*table.Call) (starlark.Value, error), doc string, params ...table.Param) table.Builtin {
		return table.Builtin{Name: name, Group: table.GroupAgents, Returns: returns, Effect: table.Compose, Func: f, May: true, Doc: doc, Params: params}
	}
	return []table.Builtin{
		row("recover", "recovery", recoverFunc, "Declares how to handle failed tool calls, by class of failure: for tool(on_error = ...) and agent(on_tool_error = ...). Failures of a class that is left out are passed to the model.",
			table.Opt("bad_args", remediesKind, "None", "what to do if the arguments cannot be read or do not fit"),
			table.Opt("failure", remediesKind, "None", "what to do if the tool fails"),
		),
		row("fix", "remedy", fixFunc, "Lets an agent or a function fix a failed call. It receives the ToolFailure; an agent may take it as a str. For bad arguments it returns new arguments, as JSON text or a dict, which are checked again. For a failure it returns the result, of the type that the tool returns, or new arguments with then = \"call\".",
			table.Param{Name: "by", Kind: fixerKind, Doc: "a node that takes a ToolFailure or a str, or a function of the ToolFailure"},
			table.Opt("then", thenKind, `"result"`, `"result", the default: it returns the result of the failed call; "call": it returns new arguments, and the call is executed again`),
			table.Param{Name: "retries", Kind: table.MendsKind, Default: "1", Doc: "how often it is asked about one call, 1 to 8: it is asked again if it fails itself or if its answer does not help"},
		),
		row("again", "remedy", againFunc, "Executes a failed call again with the same arguments. For bad arguments it does nothing, since they would be read the same way.",
			table.Param{Name: "times", Kind: table.MendsKind, Default: "1", Doc: "further executions, 1 to 8"},
		),
		row("escalate", "remedy", escalateFunc, "Reports a failed call to people by an event and informs the model; the run continues. Listed in tools = [...], it is a tool with which a model calls for people itself.",
			reason,
			table.Param{Name: "severity", Kind: severityKind, Default: `"high"`, Doc: `"low", "medium", "high" or "critical", in any case`},
		),
		row("give_up", "remedy", giveUpFunc, "Ends the agent with the error AS732 after a failed call. Listed in tools = [...], it is a tool with which a model ends its agent itself.", reason),
		row("fixed", "remedy", fixedFunc, "Fixes a failed call with a value: its arguments or its result.",
			table.Param{Name: "value", Kind: table.AnyKind, Doc: "for bad arguments, the new arguments as a dict or JSON text; for a failure, the result"},
			table.Opt("then", thenKind, `"result"`, `"call": for a failure, too, the value is the new arguments, with which the call is executed again`),
		),
		table.TypeRow("ToolFailure", "The type of a failed tool call: tool, args (the text), value (as read, or None), error, kind (bad_args, failure or unknown), schema and attempt (from 1). A script may use the name for its own type.", table.GroupAgents, agent.ToolFailureType, nil),
	}
}

type (
	remedyValue struct {
		value.Part
		r agent.Remedy
	}
	recoveryValue struct {
		value.Part
		r *agent.Recovery
	}
)

func (v *remedyValue) String() string { return remedyWord[v.r.Do] + "(...)" }

func (v *remedyValue) Type() string { return "remedy" }

// Nodes implements [value.Holder].
func (v *remedyValue) Nodes() []*flow.Node {
	return value.RecoveryNodes(&agent.Recovery{Failure: []agent.Remedy{v.r}})
}

// Nodes implements [value.Holder].
func (v *recoveryValue) Nodes() []*flow.Node { return value.RecoveryNodes(v.r) }

func (v *recoveryValue) String() string { return "recover(...)" }

func (v *recoveryValue) Type() string { return "recovery" }

// callAgain is the help for scripts that use the retry of nodes instead.
const callAgain = "write again(2): the call is made again, up to that often"

var remedyWord = map[agent.RemedyKind]string{agent.RemedyFix: "fix", agent.RemedyAgain: "again", agent.RemedyEscalate: "escalate",
	agent.RemedyAbandon: "give_up", agent.RemedyFixed: "fixed"}

var (
	thenKind = table.OneOf("call", "result")
	// severityKind accepts the words in any case.
	severityKind = func() *table.Kind {
		k := table.OneOf("low", "medium", "high", "critical")
		exact, hint := k.Accept, k.Hint
		lower := func(v starlark.Value) starlark.Value {
			if s, ok := v.(starlark.String); ok {
				return starlark.String(strings.ToLower(string(s)))
			}
			return v
		}
		k.Accept = func(v starlark.Value) (starlark.Value, bool) { return exact(lower(v)) }
		k.Hint = func(v starlark.Value) string { return hint(lower(v)) }
		return k
	}()
	fixerKind  = &table.Kind{Word: "node or function", Stub: "Node | Callable", Accept: table.NextKind.Accept}
	remedyKind = &table.Kind{Word: "a remedy such as fix(...), or function", Stub: "Remedy | Callable", Accept: value.Either(value.As[*remedyValue], value.As[*starlark.Function]), Hint: func(v starlark.Value) string {
		switch v := v.(type) {
		case *value.Node:
			if v.Node.Kind() == flow.RetryNode {
				return callAgain
			}
			return "write fix(" + v.Label() + ")"
		case *starlark.Builtin:
			if v.Name() == "retry" {
				return callAgain
			}
			return "call it: " + v.Name() + "(...)"
		case starlark.Int:
			return "write again(" + v.String() + "): the call is made again that often"
		case starlark.String:
			switch strings.ToLower(string(v)) {
			case "retry", "again", "repeat":
				return callAgain
			}
		}
		return table.HintFunction(v)
	}}
	remediesKind = table.Worded("a remedy such as fix(...), a function, or a list of them", table.AnyOf(remedyKind, table.ListOf(remedyKind)))
	recoveryKind = table.Worded("recover(...), a remedy such as fix(...), a function, or a list of them",
		table.AnyOf(&table.Kind{Word: "recover(...)", Stub: "Recovery", Accept: value.As[*recoveryValue], Hint: func(v starlark.Value) string {
			if _, ok := v.(*starlark.Dict); ok {
				return table.CallHint("recover", "bad_args", "failure")(v)
			}
			return ""
		}}, remedyKind, table.ListOf(remedyKind)))
)

// recovery reads on_error or on_tool_error. Remedies that are not given by class serve both classes.
func recovery(c *table.Call, name string) *agent.Recovery {
	switch v := c.Arg(name).(type) {
	case nil:
		return nil
	case *recoveryValue:
		return v.r
	case *value.Failed:
		c.Incomplete = true
		return nil
	}
	r := &agent.Recovery{Failure: remedies(c, name)}
	for _, one := range r.Failure {
		if one.Do != agent.RemedyAgain {
			r.BadArgs = append(r.BadArgs, one)
		}
	}
	return r
}

// remedies reads one remedy or a list of them. A function decides when a call has failed.
func remedies(c *table.Call, name string) []agent.Remedy {
	var list []starlark.Value
	switch v := c.Arg(name).(type) {
	case nil:
		return nil
	case *starlark.List:
		list = table.Sequence(v)
	default:
		list = []starlark.Value{v}
	}
	var out []agent.Remedy
	for _, v := range list {
		switch v := v.(type) {
		case *remedyValue:
			out = append(out, v.r)
		case *starlark.Function:
			lint.Called(c.State, v, script.Contract{Params: []*generable.Type{agent.ToolFailureType}, Remedy: true, Who: name})
			out = append(out, agent.Remedy{Do: agent.RemedyAsk, Judge: &judge{Callback: thread.NewCallback(c.State, v)}, Span: c.ArgSpan(name)})
		case *value.Failed:
			c.Incomplete = true
		}
	}
	return out
}

func recoverFunc(c *table.Call) (starlark.Value, error) {
	r := &agent.Recovery{BadArgs: remedies(c, "bad_args"), Failure: remedies(c, "failure")}
	for _, one := range r.BadArgs {
		if one.Do == agent.RemedyAgain {
			c.Problemf(diag.WrongArgument, c.ArgSpan("bad_args"), "again does nothing about bad arguments: they would be read the same way").Help =
				[]string{"correct them with fix(...), or leave bad_args out: the model gets the error and calls again"}
		}
	}
	return c.Made(&recoveryValue{r: r})
}

func fixFunc(c *table.Call) (starlark.Value, error) {
	r := agent.Remedy{Do: agent.RemedyFix, Times: c.Int("retries", 1), Args: c.Str("then") == "call", Span: c.FuncSpan()}
	if c.Incomplete || len(c.Problems) > 0 {
		return c.Placeholder(), nil
	}
	switch by := c.Arg("by").(type) {
	case *value.Node:
		fixer := by.Node
		if !c.Running() {
			fixer = c.State.Session.Fix(c.Site("by"), by.Node)
		}
		if fixer.Failed() {
			return c.Placeholder(), nil
		}
		r.Fixer = fixer
	case starlark.Callable:
		lint.Called(c.State, by, script.Contract{Params: []*generable.Type{agent.ToolFailureType}})
		r.Judge = &judge{Callback: thread.NewCallback(c.State, by), fixes: true}
	}
	return &remedyValue{r: r}, nil
}

func againFunc(c *table.Call) (starlark.Value, error) {
	return &remedyValue{r: agent.Remedy{Do: agent.RemedyAgain, Times: c.Int("times", 1), Span: c.FuncSpan()}}, nil
}

func escalateFunc(c *table.Call) (starlark.Value, error) {
	s, _ := agent.ParseSeverity(c.Str("severity"))
	return &remedyValue{r: agent.Remedy{Do: agent.RemedyEscalate, Reason: c.Str("reason"), Severity: s, Span: c.FuncSpan()}}, nil
}

func giveUpFunc(c *table.Call) (starlark.Value, error) {
	return &remedyValue{r: agent.Remedy{Do: agent.RemedyAbandon, Reason: c.Str("reason"), Span: c.FuncSpan()}}, nil
}

func fixedFunc(c *table.Call) (starlark.Value, error) {
	v, err := value.ToData(c.Arg("value"))
	if err != nil {
		if c.Running() {
			return nil, value.Prefixed("value", err)
		}
		d := c.Problemf(diag.WrongArgument, c.ArgSpan("value"), "%s", value.Prefixed("value", err))
		if _, ok := c.Arg("value").(starlark.Callable); ok {
			d.Advise("a function that corrects a call is fix(f)")
		}
		return nil, nil
	}
	if c.Running() {
		c.Env.Thread.Keep(c.Thread(), c.Arg("value"), v, "fixed")
	}
	return &remedyValue{r: agent.Remedy{Do: agent.RemedyFixed, Value: v, Args: c.Str("then") == "call", Span: c.FuncSpan()}}, nil
}

// judge is a function of the script that decides about a failed call or, as a fixer, corrects it.
type judge struct {
	*thread.Callback
	fixes bool
}

// Judge implements [agent.Judge].
func (j *judge) Judge(b engine.Branch, f *agent.ToolFailure) (agent.Remedy, error) {
	if j.Unshared != nil {
		return agent.Remedy{}, j.Unshared
	}
	s, err := thread.Enter(j.State, b)
	if err != nil {
		return agent.Remedy{}, err
	}
	defer s.Done()
	out, err := starlark.Call(s.Starlark, j.Func, starlark.Tuple{value.FromData(f.Data())}, nil)
	if err != nil {
		return agent.Remedy{}, s.Failure(err, j.Code)
	}
	if err := s.Settle(); err != nil {
		return agent.Remedy{}, err
	}
	if r, ok := out.(*remedyValue); ok {
		return r.r, nil
	}
	if !j.fixes {
		if out == starlark.None {
			return agent.Remedy{}, nil
		}
		return agent.Remedy{}, script.Errorf(diag.WrongTypeAtBoundary, "%s decides about a call that failed: it must return a remedy or None, not %s", j.Label(), value.Describe(out)).
			WithHelp("return fixed(value), fix(...), again(...), escalate(...) or give_up(...), or None to inform the model")
	}
	v, err := value.ToData(out)
	if err != nil {
		return agent.Remedy{}, value.Prefixed("the result of "+j.Label(), err)
	}
	value.Freeze(out, v)
	return agent.Remedy{Do: agent.RemedyFixed, Value: v}, nil
}

// askingTools are the builtins that can be tools of a model. They are made once, so that one that an agent and its
// skill both list is offered once.
var askingTools = sync.OnceValue(func() map[string]*agent.Tool {
	return map[string]*agent.Tool{"escalate": agent.EscalateTool(), "give_up": agent.AbandonTool()}
})

// asks returns the tool that a builtin is for a model, or nil.
func asks(v *starlark.Builtin) *agent.Tool { return askingTools()[v.Name()] }

// guarded applies the failure handling and the bounds that tool sets for a tool.
func guarded(c *table.Call, t *agent.Tool) {
	if r := recovery(c, "on_error"); r != nil {
		t.OnError = r
	}
	if c.Has("timeout") {
		t.Timeout = c.Duration("timeout")
	}
	if c.Has("max_result") {
		t.MaxResult = c.Int("max_result", agent.DefaultMaxResult)
	}
	ruled(c, t)
}
