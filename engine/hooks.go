package engine

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// Hooks are functions around what agents do. They run on the composition side, before an effect has
// its id, and again on a replay: so they must give the same for the same arguments, and must not
// read clocks, files or networks. A function may take fewer arguments than it is given.
//
// Interceptors decide: each gives an [Intercept], or nothing to let the call go on. All of a list
// run, in order, with what the call was asked with; the first that does not let it go on as it is
// decides. One that fails denies. Observers look on: what they give is not used, and one that fails
// makes a log event and no more. Those of a run come before those of an agent.
type Hooks struct {
	BeforeTool  []Func // (name, args)
	AfterTool   []Func // (name, args, result)
	BeforeModel []Func // (a [ModelCallType])
	AfterModel  []Func // (a [ModelCallType], a [ModelAnswerType])

	OnTool      []Func // (name, args, result), after a call succeeded
	OnKnowledge []Func // (key, text), after a text that a skill knows was read
	OnSkill     []Func // (name), when a skill begins
	OnModel     []Func // (a [ModelCallType], a [ModelAnswerType])
	OnError     []Func // (a [FailureType]), when a call of a tool or of the agent failed
}

// Intercept is what an interceptor decides about a call.
type Intercept struct {
	action, reason string
	value          generable.Value
}

// Proceed lets the call go on as it is.
func Proceed() Intercept { return Intercept{action: "proceed"} }

// ProceedWith lets it go on with something else: arguments of a tool, which are checked again, or of
// a model call a dict of system and model.
func ProceedWith(v generable.Value) Intercept { return Intercept{action: "with", value: v} }

// Refuse has the call not made, or its result not used: of a tool the model is told the reason, of a
// model the agent fails with it.
func Refuse(reason string) Intercept { return Intercept{action: "deny", reason: reason} }

// Substitute gives a result in place of the call's own.
func Substitute(v generable.Value) Intercept { return Intercept{action: "substitute", value: v} }

// InterceptType is the schema of an [Intercept].
var InterceptType = &generable.Type{Kind: generable.RecordType, Name: "Intercept", Doc: "What an interceptor decides", Fields: []generable.Field{
	{Name: "action", Type: generable.StrT}, {Name: "value", Type: generable.AnyT}, {Name: "reason", Type: generable.StrT},
}}

// Value is the decision as a function of a script gives it.
func (i Intercept) Value() generable.Value {
	return generable.NewRecord(InterceptType, []generable.Value{generable.StrOf(i.action), i.value, generable.StrOf(i.reason)}).Value()
}

// ModelCallType is what hooks see of a model call.
var ModelCallType = &generable.Type{Kind: generable.RecordType, Name: "ModelCall", Doc: "A call of a model", Fields: []generable.Field{
	{Name: "agent", Type: generable.StrT}, {Name: "model", Type: generable.StrT, Guide: "as the script or the run names it"},
	{Name: "system", Type: generable.StrT}, {Name: "messages", Type: generable.ListOfType(generable.AnyT), Guide: "dicts of role and text"},
	{Name: "turn", Type: generable.IntT, Guide: "from 0"},
}}

// ModelAnswerType is what hooks see of a model's answer.
var ModelAnswerType = &generable.Type{Kind: generable.RecordType, Name: "ModelAnswer", Doc: "An answer of a model", Fields: []generable.Field{
	{Name: "text", Type: generable.StrT}, {Name: "calls", Type: generable.ListOfType(generable.AnyT), Guide: "dicts of name and args, a text"},
}}

// hookKind is one of the lists of hooks.
type hookKind struct {
	name string
	args int
	of   func(*Hooks) *[]Func
}

var hookKinds = []hookKind{
	{"before_tool", 2, func(h *Hooks) *[]Func { return &h.BeforeTool }},
	{"after_tool", 3, func(h *Hooks) *[]Func { return &h.AfterTool }},
	{"before_model", 1, func(h *Hooks) *[]Func { return &h.BeforeModel }},
	{"after_model", 2, func(h *Hooks) *[]Func { return &h.AfterModel }},
	{"on_tool_use", 3, func(h *Hooks) *[]Func { return &h.OnTool }},
	{"on_knowledge_used", 2, func(h *Hooks) *[]Func { return &h.OnKnowledge }},
	{"on_skill_chosen", 1, func(h *Hooks) *[]Func { return &h.OnSkill }},
	{"on_model_call", 2, func(h *Hooks) *[]Func { return &h.OnModel }},
	{"on_error", 1, func(h *Hooks) *[]Func { return &h.OnError }},
}

// HookNames are the names of hooks as scripts give them.
func HookNames() []string {
	names := make([]string, len(hookKinds))
	for i, k := range hookKinds {
		names[i] = k.name
	}
	return names
}

// Add adds a function to the list of a name, one of [HookNames].
func (h *Hooks) Add(name string, f Func) {
	for _, k := range hookKinds {
		if k.name == name {
			list := k.of(h)
			*list = append(*list, f)
		}
	}
}

// Places of the kinds in hookKinds.
const (
	beforeTool = iota
	afterTool
	beforeModel
	afterModel
	onTool
	onKnowledge
	onSkill
	onModel
	onError
)

// checkHooks demands that each hook can be called as it will be.
func (c *checker) checkHooks(a *AgentSpec) bool {
	ok := true
	for _, h := range a.Hooks {
		for _, k := range hookKinds {
			for _, f := range *k.of(h) {
				if info := f.Info(); info.Needs > k.args {
					ok = arity(c.Reporter, c.at, f.Info(), k.args, k.name) && ok
				}
			}
		}
	}
	return ok
}

// hooked reports whether anything is to be told or asked of an agent.
func (b *branch) hooked(a *AgentSpec) bool { return a.Hooks != nil || b.run.spec.Hooks != nil }

// hooks lists the functions of a kind, the run's before the agent's.
func (b *branch) hooks(a *AgentSpec, kind int) []Func {
	var all []Func
	for _, list := range [][]*Hooks{b.run.spec.Hooks, a.Hooks} {
		for _, h := range list {
			all = append(all, *hookKinds[kind].of(h)...)
		}
	}
	return all
}

// call calls a hook with as many of the arguments as it takes.
func (b *branch) callHook(kind, n int, f Func, args []generable.Value) (generable.Value, error) {
	return b.invokeAs(hookKinds[kind].name, n, f, args[:min(len(args), max(f.Info().Params, 0))]...)
}

// intercept asks all interceptors of a kind. Without one that decides the action is proceed. Only an
// error that ends the run is one.
func (b *branch) intercept(a *AgentSpec, kind, turn int, args ...generable.Value) (Intercept, error) {
	decided := Proceed()
	list := b.hooks(a, kind)
	for n, f := range list {
		v, err := b.callHook(kind, turn*len(list)+n, f, args)
		i := Proceed()
		switch {
		case err != nil:
			e := b.Catch(err)
			if e == nil {
				return decided, err
			}
			b.tellHook(kind, f, e)
			i = Refuse(f.Info().Name + " failed: " + e.Message)
		case !v.IsNull():
			if i, err = interceptOf(v); err != nil {
				e := asError(err)
				b.tellHook(kind, f, e)
				i = Refuse(f.Info().Name + " decided nothing")
			}
		}
		if decided.action == "proceed" {
			decided = i
		}
	}
	return decided, nil
}

func interceptOf(v generable.Value) (i Intercept, err error) {
	r, ok := v.AsRecord()
	if !ok || r.Type() != InterceptType {
		return i, Errorf(KindType, diag.WrongTypeAtBoundary, "an interceptor gives proceed(), deny(reason), substitute(value) or None, got %s", v.TypeName()).
			WithHelp("return one of them; a call is denied by one that decides nothing")
	}
	i.action, _ = r.At(0).AsStr()
	i.value = r.At(1)
	i.reason, _ = r.At(2).AsStr()
	return i, nil
}

// observe tells all observers of a kind. Only an error that ends the run is one.
func (b *branch) observe(a *AgentSpec, kind, turn int, args ...generable.Value) error {
	list := b.hooks(a, kind)
	for n, f := range list {
		if _, err := b.callHook(kind, turn*len(list)+n, f, args); err != nil {
			e := b.Catch(err)
			if e == nil {
				return err
			}
			b.tellHook(kind, f, e)
		}
	}
	return nil
}

// tellHook makes an event of a hook that failed: nothing is silent.
func (b *branch) tellHook(kind int, f Func, e *Error) {
	if b.Wants(EventLog) {
		b.emit(Event{Kind: EventLog, Data: &LogData{hookKinds[kind].name, hookKinds[kind].name + " " + f.Info().Name + " failed: " + e.Message, e}})
	}
}

// refusal is what a call comes to that an interceptor does not let go on.
func (i Intercept) refusal(what string) *Error {
	return Errorf(KindPolicy, diag.Denied, "%s was denied: %s", what, i.reason).WithHelp("an interceptor denies it")
}

// beforeCall asks the interceptors before a call is made. They may refuse it, give a result in its
// place, which is made then, or put other arguments in place of those.
func (b *branch) beforeCall(sk *skillPlan, t *Tool, args *generable.Value) (out generable.Value, made bool, failure *Error, ends bool) {
	i, err := b.intercept(sk.agent, beforeTool, 0, generable.StrOf(t.Name), *args)
	if err != nil {
		return out, false, asError(err), true
	}
	who := "before_tool of " + t.Name
	switch i.action {
	case "deny":
		failure = b.callRefused(t, i)
	case "substitute":
		b.tellPolicy(PhaseEnd, t.Name, "substituted", nil)
		out, failure = b.callFits(t, i.value, t.Returns, who)
		return out, true, failure, false
	case "with":
		if out, failure = b.callFits(t, i.value, t.params(), who); failure == nil {
			b.tellPolicy(PhaseEnd, t.Name, "changed", nil)
			*args = out
		}
	}
	return out, false, failure, false
}

// afterCall asks the interceptors after a call has succeeded. They may refuse its result, or put
// another one in its place.
func (b *branch) afterCall(sk *skillPlan, t *Tool, args, out generable.Value) (generable.Value, *Error, bool) {
	i, err := b.intercept(sk.agent, afterTool, 0, generable.StrOf(t.Name), args, out)
	switch {
	case err != nil:
		return generable.Value{}, asError(err), true
	case i.action == "deny":
		return generable.Value{}, b.callRefused(t, i), false
	case i.action != "proceed":
		b.tellPolicy(PhaseEnd, t.Name, "result changed", nil)
		out, failure := b.callFits(t, i.value, t.Returns, "after_tool of "+t.Name)
		return out, failure, false
	}
	return out, nil, false
}

// callRefused is the failure of a call that an interceptor refuses.
func (b *branch) callRefused(t *Tool, i Intercept) *Error {
	e := i.refusal("the call of " + strconv.Quote(t.Name))
	e.Pos = t.Span.Pos
	b.tellPolicy(PhaseEnd, t.Name, "denied", e)
	return e
}

// callFits converts what an interceptor put into a call. What does not fit refuses the call.
func (b *branch) callFits(t *Tool, v generable.Value, as *generable.Type, who string) (generable.Value, *Error) {
	out, err := converted(v, typing.OrAny(as), who)
	if err != nil {
		return generable.Value{}, b.callRefused(t, Refuse(err.Error()))
	}
	return out, nil
}

// observed tells observers of what a call of a tool came to. A call that failed may be of no tool.
func (b *branch) observed(sk *skillPlan, t *Tool, args, out generable.Value, failure *Error) error {
	switch {
	case !b.hooked(sk.agent):
		return nil
	case failure != nil:
		return b.observe(sk.agent, onError, 0, asError(b.locate(failure, nil)).Value())
	case t.knows:
		return b.observe(sk.agent, onKnowledge, 0, generable.StrOf(t.Name), out)
	}
	return b.observe(sk.agent, onTool, 0, generable.StrOf(t.Name), args, out)
}

// begins tells observers which skill an agent begins with.
func (b *branch) begins(sk *skillPlan) error {
	if !b.hooked(sk.agent) {
		return nil
	}
	return b.observe(sk.agent, onSkill, 0, generable.StrOf(sk.Name))
}

// failed tells observers what an agent failed by, and gives that on.
func (b *branch) failed(a *AgentSpec, err error) error {
	if err == nil || !b.hooked(a) || IsControl(err) || b.sched.Err() != nil {
		return err
	}
	if ends := b.observe(a, onError, 1, asError(b.locate(err, nil)).Value()); ends != nil {
		return ends
	}
	return err
}

// askHooked makes one model call of an agent, with what stands around it. Where a budget refuses the call,
// what was decided about it holds for the last answer that is asked for instead: it is the call of the
// same turn.
func (t *turns) askHooked(req *Request, turn int) (*Request, *Response, error) {
	resp, err := t.b.around(t.a, t.a.Name, req, turn, func(change func(*Request) (*Request, error)) (*Response, error) {
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
	if e, ok := err.(*Error); ok && e.Kind == KindPolicy {
		own := *e
		own.Usage = t.usage
		err = &own
	}
	return req, resp, err
}

// around makes a model call with what stands around those of an agent; name is in whose name it is made.
// ask makes the call, changed as an interceptor says.
func (b *branch) around(a *AgentSpec, name string, req *Request, turn int, ask func(change func(*Request) (*Request, error)) (*Response, error)) (*Response, error) {
	denied := func(i Intercept) error {
		e := i.refusal("the model call of agent " + strconv.Quote(name))
		b.tellPolicy(PhaseEnd, name, "denied", e)
		return e
	}
	call := modelCall(name, req, turn)
	i, err := b.intercept(a, beforeModel, turn, call)
	var resp *Response
	switch {
	case err != nil:
		return nil, err
	case i.action == "deny":
		return nil, denied(i)
	case i.action == "substitute":
		resp = answered(i.value)
		b.tellPolicy(PhaseEnd, name, "model call substituted", nil)
	default:
		if i.action == "with" {
			if _, err := changedRequest(req, i.value); err != nil {
				return nil, denied(Refuse(err.Error()))
			}
			b.tellPolicy(PhaseEnd, name, "model call changed", nil)
		}
		resp, err = ask(func(req *Request) (*Request, error) {
			if i.action != "with" {
				return req, nil
			}
			return changedRequest(req, i.value)
		})
		if err != nil {
			return nil, err
		}
	}
	answer := modelAnswer(resp)
	after, err := b.intercept(a, afterModel, turn, call, answer)
	if err != nil {
		return nil, err
	}
	switch after.action {
	case "deny":
		return nil, denied(after)
	case "substitute", "with":
		resp = answered(after.value)
		answer = modelAnswer(resp)
		b.tellPolicy(PhaseEnd, name, "answer substituted", nil)
	}
	return resp, b.observe(a, onModel, turn, call, answer)
}

// answered is an answer that no model gave.
func answered(v generable.Value) *Response {
	return &Response{Parts: []Part{{Kind: PartText, Text: inputText(v, nil)}}, Finish: FinishStop}
}

// changedRequest is a request with another system text or model, for this call alone.
func changedRequest(req *Request, v generable.Value) (*Request, error) {
	next := *req
	next.reheaded()
	for key, field := range fieldsOf(v) {
		text, ok := field.AsStr()
		switch {
		case ok && key == "system":
			next.System = text
		case ok && key == "model":
			next.Model, next.Fallbacks = text, nil
		default:
			return nil, Errorf(KindType, diag.WrongTypeAtBoundary, "before_model changes system and model, each a str, not %q", key)
		}
	}
	return &next, nil
}

func modelCall(agent string, req *Request, turn int) generable.Value {
	messages := make([]generable.Value, len(req.Messages))
	for i := range req.Messages {
		m := generable.NewMap(2)
		m.Set("role", generable.StrOf(string(req.Messages[i].Role)))
		text := ""
		for _, p := range req.Messages[i].Parts {
			switch {
			case p.Kind == PartText:
				text += p.Text
			case p.Result != nil:
				text += p.Result.Text
			}
		}
		m.Set("text", generable.StrOf(text))
		messages[i] = m.Value()
	}
	return generable.NewRecord(ModelCallType, []generable.Value{generable.StrOf(agent), generable.StrOf(req.Model), generable.StrOf(req.System),
		generable.ListOf(messages...), generable.IntOf(int64(turn))}).Value()
}

func modelAnswer(r *Response) generable.Value {
	calls := make([]generable.Value, 0, 2)
	for _, c := range r.Calls() {
		m := generable.NewMap(2)
		m.Set("name", generable.StrOf(c.Name))
		m.Set("args", generable.StrOf(c.Args))
		calls = append(calls, m.Value())
	}
	return generable.NewRecord(ModelAnswerType, []generable.Value{generable.StrOf(r.Text()), generable.ListOf(slices.Clip(calls)...)}).Value()
}
