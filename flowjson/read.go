package flowjson

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
)

var (
	agentTypes = []string{Task, Verify, Transform, Parallel, React}
	operations = []string{"equals", "not_equals", "more", "less", "more_or_equal", "less_or_equal", "not", "and", "or"}
	transports = []string{"stdio", "sse", "http"}
	toolTypes  = []string{"mcp", "local"}
	runtimes   = []string{"koog"}
)

// read makes a spec of a tree, and reports what breaks the format. The spec is nil when the tree
// is not a flow.
func read(tree *Value) (*Spec, diag.List) {
	r := &reader{}
	if tree.Kind != Object {
		r.report(diag.FlowField, tree, `{"id": "…", "version": "1.0", "agents": […], "transitions": […]}`, "a flow is an object, got %s", tree.Kind)
		return nil, r.found
	}
	r.fields(tree, "a flow", flowFields)
	s := &Spec{}
	r.model(tree.Get("defaultModel"))
	s.Agents = objects(r, tree, "agents", "an agent", r.agent)
	s.Tools = objects(r, tree, "tools", "a tool", r.tool)
	s.Transitions = objects(r, tree, "transitions", "a transition", r.transition)
	if agents := tree.Get("agents"); len(s.Agents) == 0 && (agents == nil || agents.Kind == Array) {
		r.report(diag.FlowField, tree, `add some: "agents": [{"name": "…", "type": "task", "params": {"task": "…"}}]`, "this flow has no agents")
	}
	return s, r.found
}

// objects reads the items of a list that are objects; it reports the others.
func objects[T any](r *reader, v *Value, key, what string, read func(*Value) T) []T {
	var out []T
	for _, item := range v.itemsOf(key) {
		if item.Kind == Object {
			out = append(out, read(item))
			continue
		}
		r.report(diag.FlowField, item, "write {...}", "%s is an object, got %s", what, item.shown())
	}
	return out
}

// texts are the items of a list that are texts; it reports the others.
func (r *reader) texts(v *Value, key string) []*Value {
	var out []*Value
	for _, item := range v.itemsOf(key) {
		if item.Kind == String {
			out = append(out, item)
			continue
		}
		r.report(diag.FlowField, item, "write names in quotes", "%s: want texts, got %s", key, item.shown())
	}
	return out
}

func (r *reader) agent(v *Value) *Agent {
	a := &Agent{Name: v.textOf("name"), Type: v.textOf("type"), at: v, name: v.Get("name")}
	r.fields(v, "an agent", agentFields)
	known := r.oneOf(v.Get("type"), "agent type", agentTypes)
	r.oneOf(v.Get("runtime"), "runtime", runtimes)
	config, prompt, params := v.Get("config"), v.Get("prompt"), v.Get("params")
	r.fields(config, "config", configFields)
	r.fields(prompt, "prompt", promptFields)
	r.fields(v.Get("output"), "output", outputFields)
	a.MaxIterations = config.Get("maxIterations") != nil
	r.model(v.Get("model"))
	told := false // what to do
	for _, t := range []*Value{prompt.Get("system"), prompt.Get("user"), params.Get("task")} {
		if t != nil && t.Kind == String {
			told = true
			r.placeholders(t)
		}
	}
	if t := params.Get("task"); t != nil && t.Kind <= String {
		told = told || t.Text != ""
	}
	if !known {
		return a
	}
	r.fields(params, "params of a "+a.Type, paramFields[a.Type])
	a.Tools, a.Children = r.texts(params, "toolNames"), r.texts(params, "agents")
	r.fields(params.Get("merge"), "merge", conditionFields)
	r.projections(a, params)
	switch {
	case a.models() && !told:
		r.report(diag.FlowField, v, `say it: "params": {"task": "…"}`, "%s is not told what to do", a.label()).Span = a.span()
	case a.Type == Parallel && len(a.Children) == 0 && (params == nil || params.Get("agents") != nil):
		r.report(diag.FlowField, v, `name them: "params": {"agents": ["…", "…"]}`, "%s runs no agents", a.label()).Span = a.span()
	}
	return a
}

// projections reads what a transform takes of what arrives.
func (r *reader) projections(a *Agent, params *Value) {
	if a.Type != Transform {
		return
	}
	for i, item := range params.itemsOf("transformations") {
		switch {
		case item.Kind != Object:
			r.report(diag.FlowField, item, `write {"value": "input.feedback"}`, "a transformation is an object, got %s", item.shown())
		case i > 0:
			r.report(diag.FlowField, item, "an agent makes one; add another agent for the next", "%s has a second transformation", a.label())
		default:
			r.fields(item, "a transformation", valueFields)
			a.Projection = r.projection(item)
		}
	}
}

// projection is the part of a verdict that an expression takes: input.feedback.
func (r *reader) projection(v *Value) string {
	value := v.Get("value")
	if value == nil || value.Kind != String {
		return ""
	}
	last := value.Text[strings.LastIndexByte(value.Text, '.')+1:]
	if last != "" && last != "input" && last != "output" && !slices.Contains(parts, last) {
		r.report(diag.FlowWord, value, `write "input.success" or "input.feedback", of a verdict, or "input" for all`, "nothing can be taken of what arrives by %q", value.Text)
		return ""
	}
	return last
}

// parts are what a verdict is made of.
var parts = []string{"success", "feedback"}

func (r *reader) tool(v *Value) *Tool {
	t := &Tool{Name: v.textOf("name"), Type: strings.ToLower(v.textOf("type")), name: v.Get("name")}
	r.fields(v, "a tool", toolFields)
	params := v.Get("parameters")
	if kind := v.Get("type"); kind != nil && kind.Kind == String && !slices.Contains(toolTypes, t.Type) {
		r.oneOf(kind, "tool type", toolTypes)
		return t
	}
	if params == nil || params.Kind != Object {
		return t
	}
	switch t.Type {
	case "local":
		r.fields(params, "parameters of a local tool", []field{needed(word("path"))})
	case "mcp":
		transport := params.Get("transport")
		if transport == nil {
			r.report(diag.FlowField, params, `add "transport": "stdio" with a command, or "sse" with a url`, `parameters of an mcp tool has no "transport"`)
		} else if r.oneOf(transport, "transport", transports) {
			r.fields(params, "parameters of an mcp tool over "+transport.Text, transportFields[transport.Text])
		}
	}
	return t
}

func (r *reader) transition(v *Value) *Transition {
	t := &Transition{at: v, from: v.Get("from"), to: v.Get("to")}
	r.fields(v, "a transition", edgeFields)
	r.fields(v.Get("transformation"), "a transformation", valueFields)
	r.projection(v.Get("transformation"))
	c := v.Get("condition")
	if c == nil || c.Kind != Object {
		return t
	}
	r.fields(c, "a condition", conditionFields)
	t.Condition = &Condition{Variable: c.textOf("variable"), Operation: strings.ToLower(c.textOf("operation")), Literal: c.Get("value"),
		at: c, variable: c.Get("variable"), operation: c.Get("operation")}
	if op := t.Condition.operation; op != nil && op.Kind == String && !slices.Contains(operations, t.Condition.Operation) {
		r.oneOf(op, "operation", operations)
		t.Condition.Operation = ""
	}
	if l := t.Condition.Literal; l != nil && l.Kind == Object { // the value with its type next to it
		r.fields(l, "a value", []field{needed(word("type")), {name: "data", needed: true}})
		t.Condition.Literal = l.Get("data")
	}
	if l := t.Condition.Literal; l != nil && (l.Kind == Null || l.Kind == Array || l.Kind == Object) {
		if l.Kind != Null || l.in.Kind == Object && l.key == "data" {
			r.report(diag.FlowField, l, "compare with one value", "a condition compares with a text, a number, true or false, not %s", l.shown())
		}
		t.Condition.Literal = nil
	}
	return t
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}\s]*\}|\{\{\s*[A-Za-z_][\w.]*\s*\}\}`) })

// placeholders reports what looks as if it were filled in, and is not.
func (r *reader) placeholders(v *Value) {
	found := placeholder().FindString(v.Text)
	if found == "" {
		return
	}
	r.warn(diag.FlowPlaceholder, v, "what arrives at an agent is given to its model beside the text; leave it out", "%s stands in the text as it is: nothing fills it in", found)
}

func (a *Agent) label() string {
	if a.Name == "" {
		return "this agent"
	}
	return a.Name
}

// span is the place of the agent's name, or of its beginning where it has none.
func (a *Agent) span() diag.Span {
	if a.name != nil {
		return a.name.Span
	}
	return a.at.Span
}
