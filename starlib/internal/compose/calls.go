package compose

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/cover"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// CallForms returns the forms that builtins which compose nodes have in a running function: there they call functions
// and nodes, at their own positions in the run.
func CallForms() []*table.Builtin {
	args := table.Param{Name: "args", Kind: table.AnyKind, Shape: table.Variadic, Doc: "the arguments of the call"}
	calls := func(name string) table.Param {
		return table.Param{Name: "calls", Kind: table.AlternativesKind(name), Shape: table.Positional, Doc: "functions and nodes; or calls, each (function or node, arguments...)"}
	}
	row := func(name, doc string, f func(*table.Call) (starlark.Value, error), params ...table.Param) *table.Builtin {
		return &table.Builtin{Name: name, Group: table.GroupScript, Returns: "value", Effect: table.Pure, Doc: doc, Func: f, Params: params}
	}
	return []*table.Builtin{
		row("retry", "Repeats a call if it fails and the failure can be caught, and while until does not hold for its result.", retryCall,
			table.Param{Name: "f", Kind: table.CalledBy("retry"), Shape: table.Positional, Doc: "a function or a node"}, args,
			table.Opt("max", table.BoundKind, "3", "the maximum number of calls"),
			table.Opt("until", table.CondKind, "None", "a condition such as ge(80), or a function that returns True for an acceptable result"),
			table.Opt("on_limit", table.OneOf("fail", "last"), `"fail"`, "what happens after max calls whose results until rejected: an error, or the last value")),
		row("fallback", "Makes the calls one after the other, with the same arguments, until one succeeds. If all fail, the last error is reported, with notes about the others.", fallbackCall, calls("fallback"), args),
		row("race", "Makes all calls concurrently, with the same arguments. The first that succeeds wins, and the others are cancelled. A replay returns the result of the same winner.", raceCall, calls("race"), args),
	}
}

// callsAt opens a position for calls. parts returns what the i-th call consists of, which determines the nodes it may
// call.
func callsAt(c *table.Call, parts func(i int) starlark.Tuple) run.Calls {
	return run.CallsAt(c.Env.Branch, c.Row.Name).Of(func(i int) []*flow.Node {
		return append([]*flow.Node{}, c.State.Nodes(parts(i))...) // not nil, which means any node
	})
}

// waysOf returns a function that counts the ways that a call takes.
func waysOf(c *table.Call) (took func(way int)) {
	if c.State.Took == nil || c.Thread().CallStackDepth() < 2 {
		return uncounted
	}
	at := c.Thread().CallFrame(1).Pos
	return func(way int) { c.State.Took(at, way) }
}

func uncounted(int) {}

// onBranch makes a call on a branch.
func onBranch(c *table.Call, br engine.Branch, f starlark.Value, args starlark.Tuple) (thread.Result, error) {
	return thread.Apart(c.Env, br, "the result of "+value.NameOf(f), func(thread *starlark.Thread) (starlark.Value, error) {
		return starlark.Call(thread, f, args, nil)
	})
}

func retryCall(c *table.Call) (starlark.Value, error) {
	most := c.Int("max", flow.DefaultRetryMax)
	if wrong := table.WithoutInput("retry", c.Arg("f"), len(c.Rest()), c.ArgSpan("f")); wrong != nil {
		c.Problems.Add(wrong)
		return nil, nil
	}
	if err := c.Env.Thread.Settle(); err != nil {
		return nil, err
	}
	var r thread.Result
	given, asked := false, error(nil)
	took := waysOf(c)
	at, err := callsAt(c, func(int) starlark.Tuple { return starlark.Tuple{c.Arg("f"), starlark.Tuple(c.Rest())} }).Retry(most, func(i int, br engine.Branch) (bool, error) {
		if i > 0 {
			took(cover.RetryAgain)
		}
		out, err := onBranch(c, br, c.Arg("f"), starlark.Tuple(c.Rest()))
		if err != nil {
			return false, err
		}
		r, given = out, true
		var done bool
		if done, asked = willDo(c, out); asked != nil { // an error of until is not a failure of the call
			return true, nil
		}
		return done, nil
	})
	switch {
	case asked != nil:
		return nil, asked
	case err != nil && !(given && c.Str("on_limit") == "last"):
		return nil, err
	case at < 0 && c.Str("on_limit") != "last":
		return nil, script.Errorf(diag.LoopLimit, "until did not hold within %s", text.CountInWords(most, "call")).
			WithHelp("raise max, ask for less, or take the last value with on_limit = \"last\"")
	}
	return r.Form, nil
}

// willDo asks until about a value.
func willDo(c *table.Call, r thread.Result) (bool, error) {
	switch until := c.Arg("until").(type) {
	case nil:
		return true, nil
	case *value.Predicate:
		return until.Pred.Holds(r.Data), nil
	default:
		if of := asked(until); of != nil {
			return of.Conforms(r.Data) == nil, nil
		}
		v, err := starlark.Call(c.Thread(), until, starlark.Tuple{r.Form}, nil)
		if err != nil {
			return false, c.Env.Thread.Failure(err, diag.CallbackFailed)
		}
		yes, ok := v.(starlark.Bool)
		if !ok {
			return false, script.Errorf(diag.WrongTypeAtBoundary, "until returned %s, want bool", value.Describe(v)).
				WithHelp("compare explicitly: lambda x: len(x) > 0, lambda x: x != None")
		}
		return bool(yes), nil
	}
}

// alternatives lists the calls that are tried.
func alternatives(c *table.Call) []branchCall {
	list := table.Sequence(c.Arg("calls"))
	if len(list) == 0 {
		c.Problemf(diag.EmptyComposition, c.ArgSpan("calls"), "%s needs something to call", c.Row.Name).Help = []string{c.Row.Name + "([f, g], x)"}
	}
	calls := make([]branchCall, len(list))
	for i, item := range list {
		calls[i] = branchCall{item, starlark.Tuple(c.Rest())}
		if own, ok := item.(starlark.Tuple); ok {
			calls[i] = branchCall{own[0], own[1:]}
			if len(c.Rest()) > 0 {
				c.Problems.Add(table.ArgumentsBesideCalls(c.RefSpan(c.RestRefs[0]), c.Row.Name))
				return nil
			}
		}
		if wrong := table.WithoutInput(c.Row.Name, calls[i].f, len(calls[i].args), c.ArgSpan("calls")); wrong != nil {
			c.Problems.Add(wrong)
			return nil
		}
	}
	return calls
}

func fallbackCall(c *table.Call) (starlark.Value, error) {
	calls := alternatives(c)
	if len(c.Problems) > 0 {
		return nil, nil
	}
	if err := c.Env.Thread.Settle(); err != nil {
		return nil, err
	}
	var r thread.Result
	took := waysOf(c)
	err := callsAt(c, partsOf(calls)).Fallback(len(calls), func(i int, br engine.Branch) (err error) {
		took(i)
		r, err = onBranch(c, br, calls[i].f, calls[i].args)
		return err
	})
	return r.Form, err
}

func raceCall(c *table.Call) (starlark.Value, error) {
	calls := alternatives(c)
	if len(c.Problems) > 0 {
		return nil, nil
	}
	if err := share(c, append([]starlark.Value{c.Arg("calls")}, c.Rest()...)...); err != nil {
		return nil, err
	}
	results := make([]thread.Result, len(calls))
	won, err := callsAt(c, partsOf(calls)).Race(len(calls), func(i int, br engine.Branch) (err error) {
		results[i], err = onBranch(c, br, calls[i].f, calls[i].args)
		return err
	})
	if err != nil {
		return nil, err
	}
	waysOf(c)(won)
	return results[won].Form, nil
}

func attemptRows() []table.Builtin {
	return []table.Builtin{
		{Name: "attempt", Group: table.GroupScript, Returns: "Attempt", Effect: table.Pure, Func: attemptFunc,
			Params: []table.Param{
				{Name: "f", Kind: table.CalledKind, Shape: table.Positional, Doc: "a function or a node"},
				{Name: "args", Kind: table.AnyKind, Shape: table.Variadic, Doc: "the arguments of the call"},
				{Name: "kwargs", Kind: table.AnyKind, Shape: table.Keywords, Doc: "the keyword arguments of the call"},
			},
			Doc: "Calls a function or a node in a run and returns the outcome: ok, value, error and status. While the file loads, attempt(node) is a node that does this: X→Y becomes X→Attempt[Y]. " +
				"The run continues after a failure of the call, except when the run is cancelled or out of time, when a limit of the whole run is reached, or after a panic."},
		table.TypeRow("Attempt", "The type that attempt returns: ok (bool), value (None on failure), error (a Failure, or None) and status (ok, failed, skipped or cancelled). Attempt[str] is the type for a str value; in Attempt by itself, the value may be anything.", table.GroupScript, flow.AttemptOf(generable.AnyT), flow.AttemptOf),
		table.TypeRow("Failure", "The type of the error of an Attempt: kind, code, message, path and raw, each a str. A script may use the name for its own type.", table.GroupScript, engine.FailureType, nil),
	}
}

func attemptFunc(c *table.Call) (starlark.Value, error) {
	if !c.Running() {
		if n, ok := c.Arg("f").(*value.Node); ok && len(c.Rest()) == 0 && len(c.Kwargs) == 0 {
			return value.NewNode(c.State, c.State.Session.Attempt(c.Site("f"), n.Node)), nil
		}
		what := "f"
		if v := c.Arg("f"); v != nil && value.NameOf(v) != "lambda" {
			what = value.NameOf(v)
		}
		c.Problemf(diag.CalledWhileComposing, c.FuncSpan(), "attempt calls %s while the file loads", what).Help =
			[]string{"use it in a function that runs: def main(x): result = attempt(" + what + ", x)"}
		return nil, nil
	}
	if wrong := table.WithoutInput("attempt", c.Arg("f"), len(c.Rest()), c.ArgSpan("f")); wrong != nil && len(c.Kwargs) == 0 {
		c.Problems.Add(wrong)
		return nil, nil
	}
	s := c.Env.Thread
	took := waysOf(c)
	defer c.Env.Branch.Apart()()
	out, err := starlark.Call(c.Thread(), c.Arg("f"), starlark.Tuple(c.Rest()), c.Kwargs)
	if err != nil {
		failed := s.Failure(err, diag.ScriptError)
		e, ends := c.Env.Branch.Catch(failed)
		switch {
		case ends == failed: // as the interpreter passes it on
			return nil, err
		case ends != nil:
			return nil, ends
		}
		took(cover.AttemptFailed)
		return attempted(generable.Value{}, e), nil
	}
	v, err := value.ToData(out)
	if err != nil {
		return nil, value.Prefixed("the result of "+value.NameOf(c.Arg("f")), err)
	}
	s.Keep(c.Thread(), out, v, "attempt")
	took(cover.AttemptOK)
	return attempted(v, nil), nil
}

// attempted returns the outcome of a call as an Attempt; its value has any type.
func attempted(v generable.Value, failed *engine.Error) starlark.Value {
	r, _ := flow.Attempted(flow.AttemptType, v, failed).AsRecord()
	return value.FromRecord(r)
}
