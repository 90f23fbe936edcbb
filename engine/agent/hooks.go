package agent

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Hooks are functions around what agents do. They run on the composition side, before an effect has its id, and again
// in a replay. Therefore they must return the same result for the same arguments, and must not read clocks, files or
// networks. A function may take fewer arguments than it is passed.
//
// Interceptors decide: each returns an [Intercept], or nothing to let the call proceed. All interceptors of a list
// run, in order, with the original call; the first that does not let it proceed unchanged decides. An interceptor
// that fails denies. Observers only watch: their results are not used, and an observer that fails only causes a log
// event. Hooks of a run come before those of an agent.
type Hooks struct {
	BeforeTool  []engine.Func // (name, args)
	AfterTool   []engine.Func // (name, args, result)
	BeforeModel []engine.Func // (a [ModelCallType])
	AfterModel  []engine.Func // (a [ModelCallType], a [ModelAnswerType])

	OnTool      []engine.Func // (name, args, result), after a call succeeded
	OnKnowledge []engine.Func // (key, text), after a text of a skill's knowledge was read
	OnSkill     []engine.Func // (name), when a skill begins
	OnModel     []engine.Func // (a [ModelCallType], a [ModelAnswerType])
	OnError     []engine.Func // (a [engine.FailureType]), when a call of a tool or of the agent failed
}

// Intercept is what an interceptor decides about a call.
type Intercept struct {
	Action  string          // "proceed", "with", "substitute" or "deny"
	Payload generable.Value // of with and substitute
	Reason  string          // of deny
}

// Proceed lets the call proceed unchanged.
func Proceed() Intercept { return Intercept{Action: "proceed"} }

// ProceedWith lets the call proceed with something else: other arguments of a tool, which are checked again, or for a
// model call a dict of system and model.
func ProceedWith(v generable.Value) Intercept { return Intercept{Action: "with", Payload: v} }

// Refuse denies the call, or the use of its result. For a tool the model reads the reason; for a model call
// the agent fails with it.
func Refuse(reason string) Intercept { return Intercept{Action: "deny", Reason: reason} }

// Substitute replaces the result of the call.
func Substitute(v generable.Value) Intercept { return Intercept{Action: "substitute", Payload: v} }

// InterceptType is the schema of an [Intercept].
var InterceptType = &generable.Type{Kind: generable.RecordType, Name: "Intercept", Doc: "What an interceptor decides", Fields: []generable.Field{
	{Name: "action", Type: generable.StrT}, {Name: "value", Type: generable.AnyT}, {Name: "reason", Type: generable.StrT},
}}

// Value returns the decision as the value that a function of a script returns.
func (i Intercept) Value() generable.Value {
	return generable.NewRecord(InterceptType, []generable.Value{generable.StrOf(i.Action), i.Payload, generable.StrOf(i.Reason)}).Value()
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
	{Name: "citations", Type: generable.ListOfType(CitationType), Guide: "what the provider says that the answer rests on"},
}}

// CitationType is a source of a model's answer, see [model.Citation].
var CitationType = &generable.Type{Kind: generable.RecordType, Name: "Citation", Doc: "A source of an answer", Fields: []generable.Field{
	{Name: "url", Type: generable.StrT}, {Name: "title", Type: generable.StrT}, {Name: "source", Type: generable.StrT, Guide: "the provider's name of a file, document or result"},
	{Name: "quote", Type: generable.StrT, Guide: "words of the source"}, {Name: "text", Type: generable.StrT, Guide: "the words of the answer that rest on it"},
}}

type hookKind struct {
	name string
	args int
	of   func(*Hooks) *[]engine.Func
}

// hookKinds are the lists of hooks, with their names in scripts and the number of arguments that each is passed.
var hookKinds = []hookKind{
	{"before_tool", 2, func(h *Hooks) *[]engine.Func { return &h.BeforeTool }},
	{"after_tool", 3, func(h *Hooks) *[]engine.Func { return &h.AfterTool }},
	{"before_model", 1, func(h *Hooks) *[]engine.Func { return &h.BeforeModel }},
	{"after_model", 2, func(h *Hooks) *[]engine.Func { return &h.AfterModel }},
	{"on_tool_use", 3, func(h *Hooks) *[]engine.Func { return &h.OnTool }},
	{"on_knowledge_used", 2, func(h *Hooks) *[]engine.Func { return &h.OnKnowledge }},
	{"on_skill_chosen", 1, func(h *Hooks) *[]engine.Func { return &h.OnSkill }},
	{"on_model_call", 2, func(h *Hooks) *[]engine.Func { return &h.OnModel }},
	{"on_error", 1, func(h *Hooks) *[]engine.Func { return &h.OnError }},
}

// HookNames returns the names of hooks as scripts write them.
func HookNames() []string {
	return text.Each(hookKinds, func(k hookKind) string { return k.name })
}

// Add adds a function to the list of a name, one of [HookNames].
func (h *Hooks) Add(name string, f engine.Func) {
	for _, k := range hookKinds {
		if k.name == name {
			*k.of(h) = append(*k.of(h), f)
		}
	}
}

// List returns the functions of a name, one of [HookNames].
func (h *Hooks) List(name string) []engine.Func {
	for _, k := range hookKinds {
		if k.name == name {
			return *k.of(h)
		}
	}
	return nil
}

// checkHooks checks that each hook can be called with its arguments.
func (c *checker) checkHooks(a *Spec) bool {
	ok := true
	for _, h := range a.Hooks {
		for _, k := range hookKinds {
			for _, f := range *k.of(h) {
				if f.Info().Needs > k.args {
					ok = callback.CheckArity(c.Reporter, c.at, f, k.args, k.name) && ok
				}
			}
		}
	}
	return ok
}

// Refusal returns the error of a call that an interceptor denies.
func (i Intercept) Refusal(what string) *engine.Error {
	return engine.Errorf(engine.KindPolicy, diag.Denied, "%s was denied: %s", what, i.Reason).WithHelp("an interceptor denies it")
}
