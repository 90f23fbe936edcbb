package conversation

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// hooked reports whether an agent has hooks.
func hooked(b *exec.Branch, a *agent.Spec) bool {
	return a.Hooks != nil || b.Run.Spec.Hooks != nil
}

// hooks lists the functions of a kind, the run's before the agent's.
func hooks(b *exec.Branch, a *agent.Spec, kind string) (all []engine.Func) {
	for _, h := range slices.Concat(b.Run.Spec.Hooks, a.Hooks) {
		all = append(all, h.List(kind)...)
	}
	return all
}

// eachHook calls the functions of a kind, each with as many arguments as it takes, and passes their results or failures
// to done, which may reject a value. Every failure is logged. eachHook only returns an error that ends the run.
func eachHook(b *exec.Branch, a *agent.Spec, kind string, turn int, args []generable.Value, done func(f engine.Func, v generable.Value, failed *engine.Error) error) error {
	list := hooks(b, a, kind)
	for n, f := range list {
		v, err := b.InvokeAs(kind, turn*len(list)+n, f, args[:min(len(args), max(f.Info().Params, 0))]...)
		failed, ends := b.Catch(err)
		if ends != nil {
			return ends
		}
		if done != nil {
			if wrong := done(f, v, failed); wrong != nil {
				failed = engine.AsError(wrong)
			}
		}
		if failed != nil {
			b.Tell(engine.EventLog, &event.Log{Name: kind, Text: kind + " " + f.Info().Name + " failed: " + failed.Message, Err: failed})
		}
	}
	return nil
}

// intercept calls all interceptors of a kind. The first decision applies; without one the action is proceed.
func intercept(b *exec.Branch, a *agent.Spec, kind string, turn int, args ...generable.Value) (agent.Intercept, error) {
	decided := agent.Proceed()
	err := eachHook(b, a, kind, turn, args, func(f engine.Func, v generable.Value, failed *engine.Error) (wrong error) {
		i := agent.Proceed()
		switch {
		case failed != nil:
			i = agent.Refuse(f.Info().Name + " failed: " + failed.Message)
		case !v.IsNull():
			if i, wrong = interceptOf(v); wrong != nil {
				i = agent.Refuse(f.Info().Name + " decided nothing")
			}
		}
		if decided.Action == "proceed" {
			decided = i
		}
		return wrong
	})
	return decided, err
}

// notify calls all observers of a kind.
func notify(b *exec.Branch, a *agent.Spec, kind string, turn int, args ...generable.Value) error {
	return eachHook(b, a, kind, turn, args, nil)
}

// beforeCall calls the interceptors before a tool call. They may refuse it, replace its arguments, or replace it by a
// result (made is then true).
func beforeCall(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value) (out generable.Value, made bool, failure *engine.Error, ends bool) {
	i, err := intercept(b, sk.agent, "before_tool", 0, generable.StrOf(t.Name), *args)
	if err != nil {
		return out, false, engine.AsError(err), true
	}
	who := "before_tool of " + t.Name
	switch i.Action {
	case "deny":
		failure = callRefused(b, t, i)
	case "substitute":
		b.EmitPolicy(engine.PhaseEnd, t.Name, "substituted", nil)
		out, failure = callFits(b, t, i.Payload, t.Returns, who)
		return out, true, failure, false
	case "with":
		if out, failure = callFits(b, t, i.Payload, t.Parameters(), who); failure == nil {
			b.EmitPolicy(engine.PhaseEnd, t.Name, "changed", nil)
			*args = out
		}
	}
	return out, false, failure, false
}

// afterCall calls the interceptors after a call has succeeded. They may refuse or replace its result.
func afterCall(b *exec.Branch, sk *skillPlan, t *agent.Tool, args, out generable.Value) (generable.Value, *engine.Error, bool) {
	i, err := intercept(b, sk.agent, "after_tool", 0, generable.StrOf(t.Name), args, out)
	switch {
	case err != nil:
		return generable.Value{}, engine.AsError(err), true
	case i.Action == "deny":
		return generable.Value{}, callRefused(b, t, i), false
	case i.Action != "proceed":
		b.EmitPolicy(engine.PhaseEnd, t.Name, "result changed", nil)
		out, failure := callFits(b, t, i.Payload, t.Returns, "after_tool of "+t.Name)
		return out, failure, false
	}
	return out, nil, false
}

// callRefused returns the failure of a call that an interceptor refuses.
func callRefused(b *exec.Branch, t *agent.Tool, i agent.Intercept) *engine.Error {
	e := i.Refusal("the call of " + strconv.Quote(t.Name))
	e.Pos = t.Span.Pos
	b.EmitPolicy(engine.PhaseEnd, t.Name, "denied", e)
	return e
}

// callFits converts a value that an interceptor put into a call. A value that does not fit refuses the call.
func callFits(b *exec.Branch, t *agent.Tool, v generable.Value, as *generable.Type, who string) (generable.Value, *engine.Error) {
	out, err := exec.Converted(v, cmp.Or(as, generable.AnyT), who)
	if err != nil {
		return generable.Value{}, callRefused(b, t, agent.Refuse(err.Error()))
	}
	return out, nil
}

// notifyToolCall reports the result of a tool call to observers. A failed call may name an unknown tool.
func notifyToolCall(b *exec.Branch, sk *skillPlan, t *agent.Tool, args, out generable.Value, failure *engine.Error) error {
	switch {
	case !hooked(b, sk.agent):
		return nil
	case failure != nil:
		return notify(b, sk.agent, "on_error", 0, engine.AsError(b.Locate(failure, nil)).Value())
	case knows(t):
		return notify(b, sk.agent, "on_knowledge_used", 0, generable.StrOf(t.Name), out)
	}
	return notify(b, sk.agent, "on_tool_use", 0, generable.StrOf(t.Name), args, out)
}

// begins reports to observers which skill an agent begins with.
func begins(b *exec.Branch, sk *skillPlan) error {
	if !hooked(b, sk.agent) {
		return nil
	}
	return notify(b, sk.agent, "on_skill_chosen", 0, generable.StrOf(sk.Name))
}

// failed reports an agent's failure to observers, and returns it.
func failed(b *exec.Branch, a *agent.Spec, err error) error {
	if err == nil || !hooked(b, a) || engine.IsControl(err) || b.Sched.Err() != nil {
		return err
	}
	if ends := notify(b, a, "on_error", 1, engine.AsError(b.Locate(err, nil)).Value()); ends != nil {
		return ends
	}
	return err
}

// askHooked makes one model call of an agent, with its hooks. If a budget refuses the call, the decision about it also
// applies to the last answer that is requested instead: it is the call of the same turn.
func (t *conversation) askHooked(req *model.Request, turn int) (*model.Request, *model.Response, error) {
	resp, err := around(t.b, t.Agent, t.Agent.Name, req, turn, func(change func(*model.Request) (*model.Request, error)) (*model.Response, error) {
		made, err := change(req)
		if err != nil {
			return nil, err
		}
		resp, err := t.askModel(made)
		if err == nil && resp == nil {
			req, resp, err = t.askLast(req, change)
		}
		return resp, err
	})
	if e, ok := err.(*engine.Error); ok && e.Kind == engine.KindPolicy {
		own := *e
		own.Usage = t.usage
		err = &own
	}
	return req, resp, err
}

// around makes a model call with an agent's hooks; name is the agent in whose name it is made. ask makes the call,
// changed as an interceptor decided.
func around(b *exec.Branch, a *agent.Spec, name string, req *model.Request, turn int, ask func(change func(*model.Request) (*model.Request, error)) (*model.Response, error)) (*model.Response, error) {
	denied := func(i agent.Intercept) error {
		e := i.Refusal("the model call of agent " + strconv.Quote(name))
		b.EmitPolicy(engine.PhaseEnd, name, "denied", e)
		return e
	}
	call := modelCall(name, req, turn)
	i, err := intercept(b, a, "before_model", turn, call)
	var resp *model.Response
	switch {
	case err != nil:
		return nil, err
	case i.Action == "deny":
		return nil, denied(i)
	case i.Action == "substitute":
		resp = substituted(i.Payload)
		b.EmitPolicy(engine.PhaseEnd, name, "model call substituted", nil)
	default:
		if i.Action == "with" {
			if _, err := changedRequest(b, req, i.Payload); err != nil {
				return nil, denied(agent.Refuse(err.Error()))
			}
			b.EmitPolicy(engine.PhaseEnd, name, "model call changed", nil)
		}
		resp, err = ask(func(req *model.Request) (*model.Request, error) {
			if i.Action != "with" {
				return req, nil
			}
			return changedRequest(b, req, i.Payload)
		})
		if err != nil {
			return nil, err
		}
	}
	answer := modelAnswer(resp)
	after, err := intercept(b, a, "after_model", turn, call, answer)
	if err != nil {
		return nil, err
	}
	switch after.Action {
	case "deny":
		return nil, denied(after)
	case "substitute", "with":
		resp = substituted(after.Payload)
		answer = modelAnswer(resp)
		b.EmitPolicy(engine.PhaseEnd, name, "answer substituted", nil)
	}
	return resp, notify(b, a, "on_model_call", turn, call, answer)
}

// substituted returns an answer that no model wrote.
func substituted(v generable.Value) *model.Response {
	return &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: model.InputText(v, nil)}}, Finish: model.FinishStop}
}

// changedRequest returns a copy of a request with another system text or model, for this call only.
func changedRequest(b *exec.Branch, req *model.Request, v generable.Value) (*model.Request, error) {
	next := *req
	next.Reheaded()
	for key, field := range typing.Fields(v) {
		text, ok := field.AsStr()
		switch {
		case ok && key == "system":
			next.System = text
		case ok && key == "model":
			next.Model, next.Fallbacks = b.Run.Spec.Named(text), nil
		default:
			return nil, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "before_model changes system and model, each a str, not %q", key)
		}
	}
	return &next, nil
}

func modelCall(a string, req *model.Request, turn int) generable.Value {
	messages := make([]generable.Value, len(req.Messages))
	for i := range req.Messages {
		m := generable.NewMap(2)
		m.Set("role", generable.StrOf(string(req.Messages[i].Role)))
		text := ""
		for _, p := range req.Messages[i].Parts {
			switch {
			case p.Kind == model.PartText:
				text += p.Text
			case p.Result != nil:
				text += p.Result.Text
			}
		}
		m.Set("text", generable.StrOf(text))
		messages[i] = m.Value()
	}
	return generable.NewRecord(agent.ModelCallType, []generable.Value{generable.StrOf(a), generable.StrOf(req.Model), generable.StrOf(req.System),
		generable.ListOf(messages...), generable.IntOf(int64(turn))}).Value()
}

func modelAnswer(r *model.Response) generable.Value {
	calls := make([]generable.Value, 0, 2)
	for _, c := range r.Calls() {
		m := generable.NewMap(2)
		m.Set("name", generable.StrOf(c.Name))
		m.Set("args", generable.StrOf(c.Args))
		calls = append(calls, m.Value())
	}
	citations := make([]generable.Value, len(r.Citations))
	for i := range r.Citations {
		var texts []generable.Value
		r.Citations[i].EachText(func(t *string) { texts = append(texts, generable.StrOf(*t)) })
		citations[i] = generable.NewRecord(agent.CitationType, texts).Value()
	}
	return generable.NewRecord(agent.ModelAnswerType, []generable.Value{generable.StrOf(r.Text()), generable.ListOf(slices.Clip(calls)...), generable.ListOf(citations...)}).Value()
}

func interceptOf(v generable.Value) (i agent.Intercept, err error) {
	r, ok := v.AsRecord()
	if !ok || r.Type() != agent.InterceptType {
		return i, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "an interceptor returns proceed(), deny(reason), substitute(value) or None, got %s", v.TypeName()).
			WithHelp("return one of them; a call is denied by one that decides nothing")
	}
	i.Action, _ = r.At(0).AsStr()
	i.Payload = r.At(1)
	i.Reason, _ = r.At(2).AsStr()
	return i, nil
}
