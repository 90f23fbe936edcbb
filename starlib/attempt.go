package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// calledKind takes what attempt calls: functions, builtins, types, and nodes.
var calledKind = Kind{Word: "function or node", Stub: "Callable | Node",
	accept: nextKind.accept,
	hint: func(starlark.Value) string {
		return "give the function and its arguments apart: attempt(f, x) calls f itself"
	}}

func attemptRows() []Builtin {
	return []Builtin{
		{Name: "attempt", Group: GroupScript, Returns: "Attempt", Effect: Pure, Func: attemptFunc,
			Params: []Param{
				{Name: "f", Kind: calledKind, Shape: Positional, Doc: "a function or a node"},
				{Name: "args", Kind: AnyKind, Shape: Variadic, Doc: "what it is called with"},
				{Name: "kwargs", Kind: AnyKind, Shape: Keywords, Doc: "what it is called with by keyword"},
			},
			Doc: "Calls a function or a node in a run and gives what it came to: ok, value, error and status. While the file loads, attempt(node) is a node that does so: X→Y gives X→Attempt[Y]. " +
				"The run goes on after a failure of the call. It does not when the run is cancelled or out of time, when a limit of the whole run is reached, and after a panic."},
		generic("Attempt", "The type of what attempt gives: ok (bool), value (None on failure), error (a Failure, or None) and status (ok, failed, skipped or cancelled). Attempt[str] is that of a str; by itself, the value may be anything.", GroupScript, engine.AttemptOf),
		{Name: "Failure", Group: GroupScript, Returns: "Failure", Effect: Pure, May: true,
			Doc:    "The type of the error of an Attempt: kind, code, message, path and raw, each a str. A script may give the name to a type of its own.",
			Params: []Param{{Name: "fields", Kind: AnyKind, Shape: Keywords, Doc: joined(engine.FailureType.FieldNames())}},
			made:   func(c *state, _ *Table) starlark.Value { return c.typ(engine.FailureType) }},
	}
}

func attemptFunc(c *Call) (starlark.Value, error) {
	if !c.running() {
		if n, ok := c.Arg("f").(*nodeValue); ok && len(c.Rest()) == 0 && len(c.kw) == 0 {
			site := c.nodeSite()
			site.Args = []diag.Span{c.spanOf("f")}
			return c.state.node(c.state.session.Attempt(site, n.n)), nil
		}
		what := "f"
		if v := c.Arg("f"); v != nil && nameOf(v) != "lambda" {
			what = nameOf(v)
		}
		c.complain(diag.CalledWhileComposing, c.fnSpan(), "attempt calls %s while the file loads", what).Help =
			[]string{"use it in a function that runs: def main(x): result = attempt(" + what + ", x)"}
		return nil, nil
	}
	if wrong := withoutInput("attempt", c.Arg("f"), len(c.Rest()), c.spanOf("f")); wrong != nil && len(c.kw) == 0 {
		c.wrong.Add(wrong)
		return nil, nil
	}
	s := c.env.strand
	defer c.env.branch.Apart()()
	out, err := starlark.Call(c.Thread(), c.Arg("f"), starlark.Tuple(c.Rest()), c.kw)
	if err != nil {
		e := c.env.branch.Catch(s.failure(err, diag.ScriptError))
		if e == nil {
			return nil, err
		}
		return attempted(generable.Value{}, e), nil
	}
	v, err := toValue(out)
	if err != nil {
		return nil, prefixed("what "+nameOf(c.Arg("f"))+" gives", err)
	}
	s.keep(c.Thread(), out, v, "attempt")
	return attempted(v, nil), nil
}

// attempted is what a call came to, which may have given anything.
func attempted(v generable.Value, failed *engine.Error) starlark.Value {
	r, _ := engine.Attempted(engine.AttemptType, v, failed).AsRecord()
	return fromRecord(r)
}
