package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// failureType and attemptType are the schemas of what attempt gives. They are values, so that
// a failure can be an agent's input as well.
var (
	failureType = &generable.Type{Kind: generable.RecordType, Name: "Failure", Doc: "What a call failed by", Fields: []generable.Field{
		{Name: "kind", Type: generable.StrT, Guide: "the class of the failure: script, type, schema, tool, budget, refused, rate_limit, ..."},
		{Name: "code", Type: generable.StrT, Guide: "the code of the diagnostic, such as AS706"},
		{Name: "message", Type: generable.StrT, Guide: "what happened"},
		{Name: "path", Type: generable.StrT, Guide: "where in the run it happened"},
		{Name: "raw", Type: generable.StrT, Guide: "the text of a model that could not be used, else empty"},
	}}
	attemptType = &generable.Type{Kind: generable.RecordType, Name: "Attempt", Doc: "What a call came to", Fields: []generable.Field{
		{Name: "ok", Type: generable.BoolT, Guide: "whether the call gave a value"},
		{Name: "value", Type: generable.AnyT, Guide: "what it gave; None when it failed"},
		{Name: "error", Type: generable.OneOf(failureType, generable.NoneT), Guide: "what it failed by; None when it gave a value"},
	}}
)

// calledKind takes what attempt calls: functions, builtins, types, and nodes.
var calledKind = Kind{Word: "function or node", Stub: "Callable | Node",
	accept: nextKind.accept,
	hint: func(starlark.Value) string {
		return "give the function and its arguments apart: attempt(f, x) calls f itself"
	}}

func attemptRows() []Builtin {
	row := func(t *generable.Type, doc string) Builtin {
		return Builtin{Name: t.Name, Group: GroupScript, Returns: t.Name, Effect: Pure, Doc: doc, May: true,
			Params: []Param{{Name: "fields", Kind: AnyKind, Shape: Keywords, Doc: joined(t.FieldNames())}},
			made:   func(c *composer) starlark.Value { return c.typ(t) }}
	}
	return []Builtin{
		{Name: "attempt", Group: GroupScript, Returns: attemptType.Name, Effect: Pure, Func: attemptFunc,
			Params: []Param{
				{Name: "f", Kind: calledKind, Shape: Positional, Doc: "a function or a node"},
				{Name: "args", Kind: AnyKind, Shape: Variadic, Doc: "what it is called with"},
				{Name: "kwargs", Kind: AnyKind, Shape: Keywords, Doc: "what it is called with by keyword"},
			},
			Doc: "Calls a function or a node in a run and gives what it came to: ok, value and error. " +
				"The run goes on after a failure of the call. It does not when the run is cancelled or out of time, when a limit of the whole run is reached, and after a panic."},
		row(attemptType, "The type of what attempt gives: ok (bool), value (any, None on failure) and error (a Failure, or None)."),
		row(failureType, "The type of the error of an Attempt: kind, code, message, path and raw, each a str. A script may give the name to a type of its own."),
	}
}

func attemptFunc(c *Call) (starlark.Value, error) {
	if !c.env.running() {
		what := "f"
		if v := c.Arg("f"); v != nil && nameOf(v) != "lambda" {
			what = nameOf(v)
		}
		c.complain(diag.CalledWhileComposing, c.fnSpan(), "attempt calls %s while the file loads", what).Help =
			[]string{"use it in a function that runs: def main(x): result = attempt(" + what + ", x)"}
		return nil, nil
	}
	s := c.env.strand
	out, err := starlark.Call(c.thread, c.Arg("f"), starlark.Tuple(c.rest), c.kw)
	if err != nil {
		e := s.branch.Catch(s.failure(err, diag.ScriptError))
		if e == nil {
			return nil, err
		}
		return attempted(false, generable.Value{}, failureOf(e)), nil
	}
	v, err := toValue(out)
	if err != nil {
		return nil, prefixed("what "+nameOf(c.Arg("f"))+" gives", err)
	}
	s.keep(c.thread, out, v, "attempt")
	return attempted(true, v, generable.Value{}), nil
}

func attempted(ok bool, value, failure generable.Value) starlark.Value {
	return fromRecord(generable.NewRecord(attemptType, []generable.Value{generable.BoolOf(ok), value, failure}))
}

func failureOf(e *engine.Error) generable.Value {
	return generable.NewRecord(failureType, []generable.Value{
		generable.StrOf(string(e.Kind)), generable.StrOf(string(e.Code)), generable.StrOf(e.Message),
		generable.StrOf(e.Path), generable.StrOf(e.Raw),
	}).Value()
}
