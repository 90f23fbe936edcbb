package thread

import (
	"errors"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
)

// onlookerSteps bounds one call of a function that observes an answer, since it delays the stream.
const onlookerSteps = 100_000

// Observer calls functions of the script while an answer arrives, outside of the run. They run on a separate thread
// without a branch, so they cannot call what belongs to the flow.
type Observer struct {
	State          *script.State
	Token, Partial *starlark.Function // nil if not given
}

// Observe implements [agent.Observer].
func (o *Observer) Observe(say func(string)) agent.StreamObserver {
	thread := &starlark.Thread{Name: "beside", Print: func(_ *starlark.Thread, text string) { say(text) }}
	thread.SetLocal(script.EnvKey, &script.Env{State: o.State, Concurrent: true})
	call := func(fn *starlark.Function, arg starlark.Value) error {
		thread.SetMaxExecutionSteps(thread.Steps + onlookerSteps)
		_, err := starlark.Call(thread, fn, starlark.Tuple{arg}, nil)
		if err == nil {
			return nil
		}
		return besideError(fn, err)
	}
	var look agent.StreamObserver
	if o.Token != nil {
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
			return call(o.Token, value.FromData(value.InstanceOf(value.TokenType, generable.StrOf(kind), generable.StrOf(text), tool, generable.IntOf(int64(t.Attempt)))))
		}
	}
	if o.Partial != nil {
		look.Partial = func(known generable.Value, p *generable.Partial) error {
			if p != nil {
				return call(o.Partial, &value.Partial{Partial: *p, State: o.State})
			}
			return call(o.Partial, value.FromData(known))
		}
	}
	return look
}

// Beside makes a function of the script callable with one argument while a call is made, outside of the run. The
// function is frozen, since any branch may make the call.
func Beside(c *script.State, fn *starlark.Function) func(generable.Value) (generable.Value, error) {
	unshared := value.FreezeShared(fn)
	return func(arg generable.Value) (out generable.Value, err error) {
		if unshared != nil {
			return out, unshared
		}
		thread := &starlark.Thread{Name: "beside", Print: func(*starlark.Thread, string) {}}
		thread.SetLocal(script.EnvKey, &script.Env{State: c, Concurrent: true})
		thread.SetMaxExecutionSteps(onlookerSteps)
		v, err := starlark.Call(thread, fn, starlark.Tuple{value.FromData(arg)}, nil)
		if err != nil {
			return out, besideError(fn, err)
		}
		return value.ToData(v)
	}
}

func besideError(fn *starlark.Function, err error) error {
	e := script.EngineError(err)
	if e == nil {
		e = script.Errorf(diag.CallbackFailed, "%s", ScriptMessage(err))
		var evaluation *starlark.EvalError
		if errors.As(err, &evaluation) && evaluation.Msg == "Starlark computation cancelled: too many steps" {
			e.Message = fn.Name() + " takes too long: an answer waits for it"
		}
	}
	own := *e
	if trace := TraceOf(err); len(trace) > 0 && !own.Pos.IsValid() {
		own.Pos, own.Trace = trace[len(trace)-1].Pos, trace
	}
	return &own
}
