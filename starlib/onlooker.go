package starlib

import (
	"errors"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// onlookerSteps bounds one call of a function that looks at an answer: it holds up the stream.
const onlookerSteps = 100_000

// onlooker calls functions of the script while an answer arrives, beside the run. They are on a
// thread of their own, which knows no branch: what belongs to the flow cannot be called there.
type onlooker struct {
	c              *state
	token, partial *starlark.Function // nil when not given
}

var tokenShape = shapeOf("Token", "kind", "text", "tool", "attempt")

// onlooker reads the functions that are to see the agent's answers; nil when there are none.
func (c *Call) onlooker(out *generable.Type) engine.Onlooker {
	o := &onlooker{c: c.state, token: c.beside("on_token"), partial: c.beside("on_partial")}
	if o.partial != nil && (out == nil || !out.HasSchema()) {
		c.complain(diag.WrongArgument, c.spanOf("on_partial"), "the agent answers with a text, of which no part is a value").Help =
			[]string{"use on_token, or give the agent an output with fields"}
	}
	if o.token == nil && o.partial == nil {
		return nil
	}
	return o
}

// beside reads a function of one argument that holds nothing but what the module holds.
func (c *Call) beside(param string) *starlark.Function {
	fn, ok := c.Arg(param).(*starlark.Function)
	if !ok {
		return nil
	}
	c.state.funcOf(fn) // frozen with the module
	info := infoOf(fn)
	switch {
	case info.Needs > 1 || info.Params < 1:
		d := c.complain(diag.CallbackArity, c.spanOf(param), "%s is called with one argument", param)
		d.Label = "it takes " + text.CountInWords(info.Params, "argument")
		d.Help = []string{"let it take one parameter; others need a default"}
	case fn.NumFreeVars() > 0:
		v, _ := fn.FreeVar(0)
		c.complain(diag.WrongArgument, c.spanOf(param), "%s: the function uses %s of the function around it", param, v.Name).Help =
			[]string{"it is called beside the flow: define it at the top level, where it uses what the module defines"}
	}
	return fn
}

// Look implements [engine.Onlooker].
func (o *onlooker) Look(say func(string)) engine.Look {
	thread := &starlark.Thread{Name: "beside", Print: func(_ *starlark.Thread, text string) { say(text) }}
	thread.SetLocal(envKey, &env{c: o.c, beside: true})
	call := func(fn *starlark.Function, arg starlark.Value) error {
		thread.SetMaxExecutionSteps(thread.Steps + onlookerSteps)
		_, err := starlark.Call(thread, fn, starlark.Tuple{arg}, nil)
		if err == nil {
			return nil
		}
		return besideError(fn, err)
	}
	var look engine.Look
	if o.token != nil {
		look.Token = func(t engine.Token) error {
			kind, tool := "text", generable.Value{}
			text := t.Text
			switch {
			case t.Call != nil:
				kind, text = "call", t.Call.Args
				if t.Call.Name != "" {
					tool = generable.StrOf(t.Call.Name)
				}
			case t.Reasoning:
				kind = "reasoning"
			}
			return call(o.token, fromValue(tokenShape.make(generable.StrOf(kind), generable.StrOf(text), tool, generable.IntOf(int64(t.Attempt)))))
		}
	}
	if o.partial != nil {
		look.Partial = func(known generable.Value, p *generable.Partial) error {
			if p != nil {
				return call(o.partial, &partialValue{*p, o.c})
			}
			return call(o.partial, fromValue(known))
		}
	}
	return look
}

func besideError(fn *starlark.Function, err error) error {
	e := engineError(err)
	if e == nil {
		e = errorf(diag.CallbackFailed, "%s", scriptMessage(err))
		var evaluation *starlark.EvalError
		if errors.As(err, &evaluation) && evaluation.Msg == "Starlark computation cancelled: too many steps" {
			e.Message = fn.Name() + " takes too long: an answer waits for it"
		}
	}
	own := *e
	if trace := traceOf(err); len(trace) > 0 && !own.Pos.IsValid() {
		own.Pos, own.Trace = trace[len(trace)-1].Pos, trace
	}
	return &own
}

// besideFlow reports whether a builtin can be called beside the flow: it computes, or logs.
func (b *Builtin) besideFlow() bool {
	if b.inRun != nil {
		return false
	}
	switch b.Group {
	case GroupTypes, GroupValues, GroupText:
		return b.Effect == Pure
	case GroupScript:
		return b.Name == "print" || b.Name == "fail"
	}
	return false
}

// notBeside is the error of what belongs to the flow.
func notBeside(what string) error {
	return errorf(diag.ScriptError, "%s belongs to the flow: a function that looks at an answer is called beside it", what).
		WithHelp("it may compute and print; what the flow is to do with the answer belongs after the agent")
}
