package star

import (
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/flowjson/internal/lower"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// declare writes the variable of an agent, with what the file says about it. A transform in a structure is written
// where it is used.
func (w *writer) declare(a *plan.Agent) {
	said := notes(a.Extras())
	switch a.Type {
	case spec.Transform:
		if i, _ := w.p.Index(a.Name); w.graphed[i] {
			w.variable(a, "part", transform(a), said)
			return
		}
		for _, note := range said {
			w.comment(note)
		}
	case spec.Parallel:
		w.parallel(a, said)
	default:
		w.model(a, said)
	}
}

// variable writes the statement that names an agent.
func (w *writer) variable(a *plan.Agent, kind string, d *doc, said []string) {
	own := w.names.of(a.Name, kind)
	w.vars[a] = own
	if a.Models() && own != a.Name {
		if !fits(a.Name) {
			w.report(diag.FlowField, a.Span(), "use letters, digits, spaces, - and _", "an agent of a script cannot be called %q", a.Name)
		}
		d.parts = append([]*doc{named("name", atom(quoted(a.Name)))}, d.parts...)
	}
	w.statement(own, d, said)
	w.b.WriteByte('\n')
}

// transform writes an agent that takes a part of its input, or all of it.
func transform(a *plan.Agent) *doc {
	if a.Projection == "" {
		t := typeText(a.In)
		return call("fn", atom("lambda value: value"), named("input", atom(t)), named("output", atom(t)))
	}
	d := pick(a.Projection)
	if a.In.Kind == generable.AnyType {
		d.parts = append(d.parts, named("input", atom("any")))
	}
	return d
}

// model writes an agent that a model executes.
func (w *writer) model(a *plan.Agent, said []string) {
	if a.Runtime != spec.Koog {
		w.report(diag.FlowWord, a.Span(), "let a host run the flow as JSON, or make it an agent of a model",
			"%s is carried out by the runtime %q, which a script does not have", a.Name, a.Runtime)
	}
	d := call("agent")
	set := func(name string, value *doc) { d.parts = append(d.parts, named(name, value)) }
	verify := a.Type == spec.Verify
	if verify {
		d.open = "verify("
	}
	if a.In.Kind != generable.StrType {
		set("input", atom(typeText(a.In)))
	}
	if !verify && a.Out.Kind != generable.StrType {
		set("output", atom(typeText(a.Out)))
	}
	w.settings(a, set)
	system, task := text.Written(a.System), lower.Task(a.Agent)
	if system != "" {
		set("prompt", prose(system))
	}
	if task != "" {
		set("task", prose(task))
	}
	if system == "" && task == "" {
		if verify {
			set("prompt", prose(flow.Judging))
		} else {
			set("prompt", atom(`""`))
		}
	}
	if tools := w.offered(a); len(tools) > 0 {
		set("tools", list(tools...))
		if a.Offer != nil && len(a.Servers) > 0 {
			set("offer", list(text.Each(a.Offer, func(name string) *doc { return atom(quoted(name)) })...))
		}
	}
	w.choice(a, set)
	if a.Type == spec.React {
		set("reasoning_every", atom(strconv.Itoa(a.Every)))
	}
	if n := a.Config.Turns; n > 0 {
		set("budget", call("budget", named("turns", atom(strconv.Itoa(n)))))
	}
	w.variable(a, "agent", d, said)
}

// choice writes what the first answer of an agent must call. An agent without tools has no choice.
func (w *writer) choice(a *plan.Agent, set func(string, *doc)) {
	choice := a.Config.ToolChoice
	at := a.Span()
	if v := a.Config.At.Get("toolChoice"); v != nil {
		at = v.Span
	}
	switch {
	case choice == "" || choice == "auto":
	case choice != "none" && len(a.Local)+len(a.Servers) == 0:
		w.report(diag.FlowTool, at, "leave toolChoice out, or let it call tools", "%s must call a tool, and has none", a.Name)
	default:
		set("tool_choice", atom(quoted(choice)))
	}
}

// settings writes the model of an agent and its parameters.
func (w *writer) settings(a *plan.Agent, set func(string, *doc)) {
	c := a.Config
	var params []*doc
	if c.Temperature != nil {
		params = append(params, named("temperature", atom(float(*c.Temperature))))
	}
	if c.TopP != nil {
		params = append(params, named("top_p", atom(float(*c.TopP))))
	}
	if c.MaxTokens != nil {
		params = append(params, named("max_tokens", atom(strconv.Itoa(*c.MaxTokens))))
	}
	if c.Speculation != "" {
		prediction := &doc{open: "{", close: "}", parts: []*doc{keyed(`"content"`, atom(quoted(c.Speculation))), keyed(`"type"`, atom(`"content"`))}}
		params = append(params, named("extra", &doc{open: "{", close: "}", parts: []*doc{keyed(`"prediction"`, prediction)}}))
	}
	var model *doc
	if a.Model != "" {
		model = atom(quoted(a.Model))
		if a.Model == w.usual {
			model = atom("MODEL")
		}
	}
	if model != nil {
		set("model", model)
	}
	for _, p := range params {
		set(p.label[:len(p.label)-len(" = ")], p)
	}
}

// models writes the variable for the model that most agents use.
func (w *writer) models() {
	times := map[string]int{}
	w.users(func(a *plan.Agent) {
		if a.Model == "" {
			return
		}
		if times[a.Model]++; times[a.Model] > max(1, times[w.usual]) {
			w.usual = a.Model
		}
	})
	if w.usual != "" {
		w.names.taken["MODEL"] = true
		w.b.WriteString("MODEL = " + quoted(w.usual) + "\n\n")
	}
}
