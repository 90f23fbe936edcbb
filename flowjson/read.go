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

// Read makes a spec of a tree, and tells what of it is not as the format wants it. The spec is nil
// when the tree is no flow.
func Read(tree *Value) (*Spec, diag.List) {
	r := &reader{}
	if tree.Kind != Object {
		r.report(diag.FlowField, tree, tree.Span, "a flow is an object, got %s", tree.Kind).Help = []string{`{"id": "…", "version": "1.0", "agents": […], "transitions": […]}`}
		return nil, r.found
	}
	r.fields(tree, "a flow", flowFields)
	s := &Spec{}
	r.model(tree.Get("defaultModel"))
	for _, v := range r.objects(tree, "agents", "an agent") {
		s.Agents = append(s.Agents, r.agent(v))
	}
	for _, v := range r.objects(tree, "tools", "a tool") {
		s.Tools = append(s.Tools, r.tool(v))
	}
	for _, v := range r.objects(tree, "transitions", "a transition") {
		s.Transitions = append(s.Transitions, r.transition(v))
	}
	if agents := tree.Get("agents"); len(s.Agents) == 0 && (agents == nil || agents.Kind == Array) {
		r.report(diag.FlowField, tree, diag.Span{Pos: tree.Span.Pos, Len: 1}, "this flow has no agents").Help = []string{`add some: "agents": [{"name": "…", "type": "task", "params": {"task": "…"}}]`}
	}
	return s, r.found
}

// objects are the items of a list that are objects; the others are told.
func (r *reader) objects(v *Value, key, what string) []*Value {
	return slices.DeleteFunc(slices.Clone(v.itemsOf(key)), func(item *Value) bool {
		if item.Kind == Object {
			return false
		}
		r.report(diag.FlowField, item, item.Span, "%s is an object, got %s", what, item.shown()).Help = []string{"write {...}"}
		return true
	})
}

// texts are the items of a list that are texts; the others are told.
func (r *reader) texts(v *Value, key string) []*Value {
	var out []*Value
	for _, item := range v.itemsOf(key) {
		if item.Kind == String {
			out = append(out, item)
			continue
		}
		r.report(diag.FlowField, item, item.Span, "%s: want texts, got %s", key, item.shown()).Help = []string{"write names in quotes"}
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
	if params != nil && params.Kind == Object {
		a.Tools, a.Children = r.texts(params, "toolNames"), r.texts(params, "agents")
		r.fields(params.Get("merge"), "merge", mergeFields)
		r.projections(a, params)
	}
	switch {
	case a.models() && !told:
		r.report(diag.FlowField, v, spanOf(a.name, v), "%s is not told what to do", a.label()).Help = []string{`say it: "params": {"task": "…"}`}
	case a.Type == Parallel && len(a.Children) == 0 && (params == nil || params.Get("agents") != nil):
		r.report(diag.FlowField, v, spanOf(a.name, v), "%s runs no agents", a.label()).Help = []string{`name them: "params": {"agents": ["…", "…"]}`}
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
			r.report(diag.FlowField, item, item.Span, "a transformation is an object, got %s", item.shown()).Help = []string{`write {"value": "input.feedback"}`}
		case i > 0:
			r.report(diag.FlowField, item, item.Span, "%s has a second transformation", a.label()).Help = []string{"an agent makes one; add another agent for the next"}
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
		d := r.report(diag.FlowWord, value, value.Span, "nothing can be taken of what arrives by %q", value.Text)
		d.Help = []string{`write "input.success" or "input.feedback", of a verdict, or "input" for all`}
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
		r.fields(params, "parameters of a local tool", []field{needed(text("path"))})
	case "mcp":
		transport := params.Get("transport")
		if transport == nil {
			r.report(diag.FlowField, params, diag.Span{Pos: params.Span.Pos, Len: 1}, `parameters of an mcp tool has no "transport"`).Help = []string{`add "transport": "stdio" with a command, or "sse" with a url`}
		} else if r.oneOf(transport, "transport", transports) {
			r.fields(params, "parameters of an mcp tool over "+transport.Text, transportFields[transport.Text])
		}
	}
	return t
}

func (r *reader) transition(v *Value) *Transition {
	t := &Transition{at: v, from: v.Get("from"), to: v.Get("to")}
	r.fields(v, "a transition", edgeFields)
	if m := v.Get("transformation"); m != nil && m.Kind == Object {
		r.fields(m, "a transformation", valueFields)
		r.projection(m)
	}
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
	if l := t.Condition.Literal; l != nil && l.Kind == Object { // the value with its type beside it
		r.fields(l, "a value", []field{needed(text("type")), {name: "data", needed: true}})
		t.Condition.Literal = l.Get("data")
	}
	if l := t.Condition.Literal; l != nil && (l.Kind == Null || l.Kind == Array || l.Kind == Object) {
		if l.Kind != Null || l.in.Kind == Object && l.key == "data" {
			r.report(diag.FlowField, l, l.Span, "a condition compares with a text, a number, true or false, not %s", l.shown()).Help = []string{"compare with one value"}
		}
		t.Condition.Literal = nil
	}
	return t
}

var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}\s]*\}|\{\{\s*[A-Za-z_][\w.]*\s*\}\}`) })

// placeholders tells of what looks as if it were filled in, and is not.
func (r *reader) placeholders(v *Value) {
	found := placeholder().FindString(v.Text)
	if found == "" {
		return
	}
	d := r.warn(diag.FlowPlaceholder, v, v.Span, "%s stands in the text as it is: nothing fills it in", found)
	d.Help = []string{"what arrives at an agent is given to its model beside the text; leave it out"}
}

func (a *Agent) label() string {
	if a.Name == "" {
		return "this agent"
	}
	return a.Name
}

// spanOf is the place of a value, or of the beginning of another one.
func spanOf(v, otherwise *Value) diag.Span {
	if v != nil {
		return v.Span
	}
	return diag.Span{Pos: otherwise.Span.Pos, Len: 1}
}
