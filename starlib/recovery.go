package starlib

import (
	"strings"
	"sync"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// recoveryRows are what a script says about calls of tools that fail. Their names are those that
// scripts give to functions as well: a script may.
func recoveryRows() []Builtin {
	opt := func(name string, kind Kind, def, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: def, Doc: doc}
	}
	reason := Param{Name: "reason", Kind: StrKind, Default: `""`, Doc: "why; what the call failed by when not given"}
	row := func(name, returns string, f func(*Call) (starlark.Value, error), doc string, params ...Param) Builtin {
		return Builtin{Name: name, Group: GroupAgents, Returns: returns, Effect: Compose, Func: f, May: true, Doc: doc, Params: params}
	}
	return []Builtin{
		row("recover", "recovery", recoverFunc, "Says what is done about calls of a tool that fail, by class: for tool(on_error = ...) and agent(on_tool_error = ...). A class that is left out goes back to the model.",
			opt("bad_args", remediesKind, "None", "when the arguments cannot be read or do not fit"),
			opt("failure", remediesKind, "None", "when the tool fails"),
		),
		row("fix", "remedy", fixFunc, "Has an agent or a function mend a call that failed: of bad arguments it gives the arguments, as JSON text or a dict, which are checked anew; of a failure it gives the result, which is to be what the tool returns, or with then = \"call\" new arguments. It gets the ToolFailure, an agent may take it as a str.",
			Param{Name: "by", Kind: fixerKind, Doc: "a node that takes a ToolFailure or a str, or a function of the ToolFailure"},
			opt("then", thenKind, `"result"`, `"call": of a failure, too, it gives the arguments, with which the call is executed again; "result", the default: it gives the result`),
			Param{Name: "retries", Kind: mendsKind, Default: "1", Doc: "how often it is asked when it fails itself, 1 to 8"},
		),
		row("again", "remedy", againFunc, "Executes a call that failed again, with the same arguments. For bad arguments it does nothing: they would be read the same.",
			Param{Name: "times", Kind: mendsKind, Default: "1", Doc: "further executions, 1 to 8"},
		),
		row("escalate", "remedy", escalateFunc, "Tells people of a call that failed, by an event, and the model that they are told; the run goes on. Listed in tools = [...], it is a tool by which a model calls for people itself.",
			reason,
			Param{Name: "severity", Kind: severityKind, Default: `"high"`, Doc: `"low", "medium", "high" or "critical", in any case`},
		),
		row("give_up", "remedy", giveUpFunc, "Ends the agent with the error AS732 when a call failed. Listed in tools = [...], it is a tool by which a model ends its agent itself.", reason),
		row("fixed", "remedy", fixedFunc, "Mends a call that failed with a value: its arguments, or its result.",
			Param{Name: "value", Kind: AnyKind, Doc: "of bad arguments a dict or a JSON text, of a failure the result"},
			opt("then", thenKind, `"result"`, `"call": of a failure, too, the value is the arguments, with which the call is executed again`),
		),
		{Name: "ToolFailure", Group: GroupAgents, Returns: "ToolFailure", Effect: Pure, May: true,
			Doc:    "The type of a call of a tool that failed: tool, args (the text), value (as read, or None), error, kind (bad_args or failure), schema and attempt (from 1). A script may give the name to a type of its own.",
			Params: []Param{{Name: "fields", Kind: AnyKind, Shape: Keywords, Doc: joined(engine.ToolFailureType.FieldNames())}},
			made:   func(c *state, _ *Table) starlark.Value { return c.typ(engine.ToolFailureType) }},
	}
}

type (
	remedyValue struct {
		part
		r engine.Remedy
	}
	recoveryValue struct {
		part
		r *engine.Recovery
	}
)

func (v *remedyValue) String() string   { return remedyWord[v.r.Do] + "(...)" }
func (v *remedyValue) Type() string     { return "remedy" }
func (v *recoveryValue) String() string { return "recover(...)" }
func (v *recoveryValue) Type() string   { return "recovery" }

var remedyWord = map[engine.RemedyKind]string{engine.RemedyFix: "fix", engine.RemedyAgain: "again", engine.RemedyEscalate: "escalate",
	engine.RemedyGiveUp: "give_up", engine.RemedyFixed: "fixed"}

var (
	thenKind = oneOf("call", "result")
	// severityKind takes the words in any case.
	severityKind = func() Kind {
		k := oneOf("low", "medium", "high", "critical")
		exact, hint := k.accept, k.hint
		lower := func(v starlark.Value) starlark.Value {
			if s, ok := v.(starlark.String); ok {
				return starlark.String(strings.ToLower(string(s)))
			}
			return v
		}
		k.accept = func(v starlark.Value) (starlark.Value, bool) { return exact(lower(v)) }
		k.hint = func(v starlark.Value) string { return hint(lower(v)) }
		return k
	}()
	fixerKind  = Kind{Word: "node or function", Stub: "Node | Callable", accept: nextKind.accept}
	remedyKind = Kind{Word: "a remedy such as fix(...), or function", Stub: "Remedy | Callable", accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *remedyValue, *starlark.Function:
			return v, true
		}
		return v, false
	}, hint: func(v starlark.Value) string {
		switch v := v.(type) {
		case *nodeValue:
			return "write fix(" + v.label() + ")"
		case *starlark.Builtin:
			return "call it: " + v.Name() + "(...)"
		}
		return hintFunction(v)
	}}
	remediesKind = worded("a remedy such as fix(...), a function, or a list of them", anyOf(remedyKind, listOf(remedyKind)))
	recoveryKind = worded("recover(...), a remedy such as fix(...), a function, or a list of them",
		anyOf(Kind{Word: "recover(...)", Stub: "Recovery", accept: as[*recoveryValue], hint: func(v starlark.Value) string {
			if _, ok := v.(*starlark.Dict); ok {
				return callHint("recover", "bad_args", "failure")(v)
			}
			return ""
		}}, remedyKind, listOf(remedyKind)))
)

// recovery reads on_error or on_tool_error: what is not given by class serves both.
func (c *Call) recovery(name string) *engine.Recovery {
	switch v := c.Arg(name).(type) {
	case nil:
		return nil
	case *recoveryValue:
		return v.r
	case *failedValue:
		c.stood = true
		return nil
	}
	r := &engine.Recovery{Failure: c.remedies(name)}
	for _, one := range r.Failure {
		if one.Do != engine.RemedyAgain {
			r.BadArgs = append(r.BadArgs, one)
		}
	}
	return r
}

// remedies reads one remedy or a list of them; a function decides when it is asked.
func (c *Call) remedies(name string) []engine.Remedy {
	var list []starlark.Value
	switch v := c.Arg(name).(type) {
	case nil:
		return nil
	case *starlark.List:
		list = sequence(v)
	default:
		list = []starlark.Value{v}
	}
	var out []engine.Remedy
	for _, v := range list {
		switch v := v.(type) {
		case *remedyValue:
			out = append(out, v.r)
		case *starlark.Function:
			c.state.checkFields(v, engine.ToolFailureType)
			out = append(out, engine.Remedy{Do: engine.RemedyAsk, Judge: &judge{callback: c.state.wrap(v)}, Span: c.spanOf(name)})
		case *failedValue:
			c.stood = true
		}
	}
	return out
}

func recoverFunc(c *Call) (starlark.Value, error) {
	r := &engine.Recovery{BadArgs: c.remedies("bad_args"), Failure: c.remedies("failure")}
	for _, one := range r.BadArgs {
		if one.Do == engine.RemedyAgain {
			c.complain(diag.WrongArgument, c.spanOf("bad_args"), "again does nothing about bad arguments: they would be read the same").Help =
				[]string{"mend them, with fix(...), or leave bad_args out: the model gets the error and calls again"}
		}
	}
	if c.stood {
		return c.standIn(), nil
	}
	return &recoveryValue{r: r}, nil
}

func fixFunc(c *Call) (starlark.Value, error) {
	r := engine.Remedy{Do: engine.RemedyFix, Times: c.Int("retries", 1), Args: c.Str("then") == "call", Span: c.fnSpan()}
	if c.stood || len(c.wrong) > 0 {
		return c.standIn(), nil
	}
	switch by := c.Arg("by").(type) {
	case *nodeValue:
		fixer := by.n
		if !c.running() {
			site := c.nodeSite()
			site.What, site.Args = "fix", []diag.Span{c.spanOf("by")}
			fixer = c.state.session.Fix(site, by.n)
		}
		if fixer.Failed() {
			return c.standIn(), nil
		}
		r.Fixer = fixer
	case starlark.Callable:
		c.state.checkFields(by, engine.ToolFailureType)
		r.Judge = &judge{callback: c.state.wrap(by), fixes: true}
	}
	return &remedyValue{r: r}, nil
}

func againFunc(c *Call) (starlark.Value, error) {
	return &remedyValue{r: engine.Remedy{Do: engine.RemedyAgain, Times: c.Int("times", 1), Span: c.fnSpan()}}, nil
}

func escalateFunc(c *Call) (starlark.Value, error) {
	s, _ := engine.ParseSeverity(c.Str("severity"))
	return &remedyValue{r: engine.Remedy{Do: engine.RemedyEscalate, Reason: c.Str("reason"), Severity: s, Span: c.fnSpan()}}, nil
}

func giveUpFunc(c *Call) (starlark.Value, error) {
	return &remedyValue{r: engine.Remedy{Do: engine.RemedyGiveUp, Reason: c.Str("reason"), Span: c.fnSpan()}}, nil
}

func fixedFunc(c *Call) (starlark.Value, error) {
	v, err := toValue(c.Arg("value"))
	if err != nil {
		if c.running() {
			return nil, prefixed("value", err)
		}
		d := c.complain(diag.WrongArgument, c.spanOf("value"), "%s", prefixed("value", err))
		if _, ok := c.Arg("value").(starlark.Callable); ok {
			d.Help = []string{"a function that mends is fix(f)"}
		}
		return nil, nil
	}
	if c.running() {
		c.env.strand.keep(c.Thread(), c.Arg("value"), v, "fixed")
	}
	return &remedyValue{r: engine.Remedy{Do: engine.RemedyFixed, Value: v, Args: c.Str("then") == "call", Span: c.fnSpan()}}, nil
}

// judge is a function of the script that decides about a call that failed or, as a fixer, mends it.
type judge struct {
	*callback
	fixes bool
}

// Judge implements [engine.Judge].
func (j *judge) Judge(b engine.Branch, f *engine.ToolFailure) (engine.Remedy, error) {
	if j.unshared != nil {
		return engine.Remedy{}, j.unshared
	}
	s, err := j.c.enter(b)
	if err != nil {
		return engine.Remedy{}, err
	}
	defer s.done()
	out, err := starlark.Call(s.thread, j.fn, starlark.Tuple{fromValue(f.Data())}, nil)
	if err != nil {
		return engine.Remedy{}, s.failure(err, j.code)
	}
	if err := s.settle(); err != nil {
		return engine.Remedy{}, err
	}
	if r, ok := out.(*remedyValue); ok {
		return r.r, nil
	}
	if !j.fixes {
		if out == starlark.None {
			return engine.Remedy{}, nil
		}
		return engine.Remedy{}, errorf(diag.WrongTypeAtBoundary, "%s decides about a call that failed, and gives %s", j.label(), describe(out)).
			WithHelp("give fixed(value), fix(...), again(...), escalate(...), give_up(...), or None to tell the model")
	}
	v, err := toValue(out)
	if err != nil {
		return engine.Remedy{}, prefixed("what "+j.label()+" gives", err)
	}
	freeze(out, v)
	return engine.Remedy{Do: engine.RemedyFixed, Value: v}, nil
}

// askingTools are the builtins that a model may be given as tools. They are made once: one that an agent
// and its skill both list is offered once.
var askingTools = sync.OnceValue(func() map[string]*engine.Tool {
	return map[string]*engine.Tool{"escalate": engine.EscalateTool(), "give_up": engine.GiveUpTool()}
})

// asks is the tool that a builtin is for a model, nil when it is none.
func asks(v *starlark.Builtin) *engine.Tool { return askingTools()[v.Name()] }

// guarded applies what tool says about failures and bounds of a tool.
func (c *Call) guarded(t *engine.Tool) {
	if r := c.recovery("on_error"); r != nil {
		t.OnError = r
	}
	if c.Has("timeout") {
		t.Timeout = c.duration("timeout")
	}
	if c.Has("max_result") {
		t.MaxResult = c.Int("max_result", engine.DefaultMaxResult)
	}
	c.ruled(t)
}
