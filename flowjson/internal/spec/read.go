package spec

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

var (
	agentTypes = []string{Task, Verify, Transform, Parallel, React}
	transports = []string{"stdio", "sse", "http"}
	toolTypes  = []string{"mcp", "local"}
)

// Read makes a spec from a tree, and reports violations of the format. The spec is nil if the tree is not a flow.
func Read(root *tree.Value, o Options) (*Spec, diag.List) {
	r := &reader{o: o}
	if root.Kind != tree.Object {
		r.report(diag.FlowField, root, `{"id": "…", "version": "1.0", "agents": […], "transitions": […]}`, "a flow is an object, got %s", root.Kind)
		return nil, r.list()
	}
	r.fields(root, "a flow", flowFields)
	s := &Spec{Options: o, ID: root.TextOf("id"), Version: root.TextOf("version"), Description: root.TextOf("description"), Root: root}
	r.defaultModel = r.model(root.Get("defaultModel"))
	s.Agents = objects(r, root, "agents", "an agent", r.agent)
	s.Tools = objects(r, root, "tools", "a tool", r.tool)
	s.Transitions = objects(r, root, "transitions", "a transition", r.transition)
	if agents := root.Get("agents"); len(s.Agents) == 0 && (agents == nil || agents.Kind == tree.Array) {
		r.report(diag.FlowField, root, `add some: "agents": [{"name": "…", "type": "task", "params": {"task": "…"}}]`, "this flow has no agents")
	}
	return s, r.list()
}

// objects reads the items of a list that are objects, and reports the others.
func objects[T any](r *reader, v *tree.Value, key, what string, read func(*tree.Value) T) []T {
	var out []T
	for _, item := range v.ItemsOf(key) {
		if item.Kind == tree.Object {
			out = append(out, read(item))
			continue
		}
		r.report(diag.FlowField, item, "write {...}", "%s is an object, got %s", what, item.Shown())
	}
	return out
}

// texts returns the items of a list that are texts, and reports the others.
func (r *reader) texts(v *tree.Value, key string) []*tree.Value {
	var out []*tree.Value
	for _, item := range v.ItemsOf(key) {
		if item.Kind == tree.String {
			out = append(out, item)
			continue
		}
		r.report(diag.FlowField, item, "write names in quotes", "%s: want texts, got %s", key, item.Shown())
	}
	return out
}

func (r *reader) agent(v *tree.Value) *Agent {
	a := &Agent{Name: v.TextOf("name"), Type: v.TextOf("type"), At: v, NameAt: v.Get("name"), Output: v.Get("output").Get("schema")}
	r.fields(v, "an agent", agentFields)
	r.named(a.NameAt, "an agent")
	known := r.oneOf(v.Get("type"), "agent type", agentTypes)
	a.Runtime = r.runtime(a, v.Get("runtime"))
	prompt, params := v.Get("prompt"), v.Get("params")
	r.fields(prompt, "prompt", promptFields)
	r.fields(v.Get("output"), "output", outputFields)
	a.Model = cmp.Or(r.model(v.Get("model")), r.defaultModel)
	r.config(a, v.Get("config"))
	a.System, a.User, a.Do = prompt.TextOf("system"), prompt.TextOf("user"), scalar(params.Get("task"))
	for _, t := range []*tree.Value{prompt.Get("system"), prompt.Get("user"), params.Get("task")} {
		if t != nil && t.Kind == tree.String {
			r.placeholders(t)
		}
	}
	if !known {
		return a
	}
	r.fields(params, "params of a "+a.Type, paramFields[a.Type])
	a.Tools, a.Children = r.texts(params, "toolNames"), r.texts(params, "agents")
	r.toolNames(a, params.Get("toolNames"))
	if merge := params.Get("merge"); merge != nil && merge.Kind == tree.Object {
		a.Merge = r.condition(merge, "merge")
	}
	if a.Type == React {
		a.Every = r.whole(params.Get("reasoningInterval"), 1, 1)
	}
	r.projections(a, params)
	switch {
	case a.Models() && a.System+a.User+a.Do == "":
		r.report(diag.FlowField, v, `add "params": {"task": "…"}`, "%s has nothing to do", a.label()).Span = a.Span()
	case a.Type == Parallel && len(a.Children) == 0 && (params == nil || params.Kind == tree.Null || params.Get("agents") != nil):
		r.report(diag.FlowField, v, `name them: "params": {"agents": ["…", "…"]}`, "%s runs no agents", a.label()).Span = a.Span()
	}
	return a
}

// named reports an empty name.
func (r *reader) named(name *tree.Value, what string) {
	if name != nil && name.Kind == tree.String && name.Text == "" {
		r.report(diag.FlowField, name, "name it", "the name of %s is empty", what)
	}
}

// toolNames reads what an agent may call: all tools of the flow, or those that it names.
func (r *reader) toolNames(a *Agent, names *tree.Value) {
	a.AllTools = a.Models() && (names == nil || names.Kind == tree.Null)
	if names != nil && names.Kind == tree.Array && len(names.Items) == 0 {
		r.warn(diag.FlowTool, names, "leave it out to let it call all of them", "%s may call no tool: earlier versions of the format took an empty list for all of them", a.label())
	}
}

// runtime returns the runtime of an agent.
func (r *reader) runtime(a *Agent, v *tree.Value) string {
	if v == nil || v.Kind != tree.String {
		return Koog
	}
	known := append([]string{Koog}, r.o.Runtimes...)
	if slices.Contains(known, v.Text) {
		return v.Text
	}
	d := r.report(diag.FlowWord, v, "", "%s needs the runtime %q, and this host has %s", a.label(), v.Text, strings.Join(known, ", "))
	if meant(d, v, known); len(known) == 1 {
		d.Help = append(d.Help[:0], "write \"koog\", or embed the flow in a host that registers the runtime")
	}
	return Koog
}

// scalar returns a text, a number or a truth value as a text, or "" for anything else.
func scalar(v *tree.Value) string {
	if v == nil || v.Kind == tree.Null || v.Kind > tree.String {
		return ""
	}
	return v.Text
}

// projections reads which part of its input a transform takes.
func (r *reader) projections(a *Agent, params *tree.Value) {
	if a.Type != Transform {
		return
	}
	for i, item := range params.ItemsOf("transformations") {
		switch {
		case item.Kind != tree.Object:
			r.report(diag.FlowField, item, `write {"value": "input.feedback"}`, "a transformation is an object, got %s", item.Shown())
		case i > 0:
			r.report(diag.FlowField, item, "an agent makes one; add another agent for the next", "%s has a second transformation", a.label())
		default:
			r.fields(item, "a transformation", valueFields)
			a.Projection = r.projection(item)
		}
	}
}

// projection returns the part of a verdict that an expression takes: input.feedback.
func (r *reader) projection(v *tree.Value) string {
	value := v.Get("value")
	if value == nil || value.Kind != tree.String {
		return ""
	}
	last := lastPart(value.Text)
	if last != "" && last != "input" && last != "output" && !slices.Contains(parts, last) {
		r.report(diag.FlowWord, value, `write "input.success" or "input.feedback", of a verdict, or "input" for all`, "nothing can be taken of what arrives by %q", value.Text)
		return ""
	}
	if !slices.Contains(parts, last) {
		return "" // all of it
	}
	return last
}

func lastPart(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// parts are the parts of a verdict.
var parts = []string{"success", "feedback"}

func (r *reader) transition(v *tree.Value) *Transition {
	t := &Transition{At: v, From: v.Get("from"), To: v.Get("to")}
	r.fields(v, "a transition", edgeFields)
	if change := v.Get("transformation"); change != nil && change.Kind == tree.Object {
		r.fields(change, "a transformation", valueFields)
		part := r.projection(change)
		t.Projection = &part
	}
	if c := v.Get("condition"); c != nil && c.Kind == tree.Object {
		t.Condition = r.condition(c, "a condition")
	}
	return t
}

func (r *reader) condition(v *tree.Value, what string) *Condition {
	r.fields(v, what, conditionFields)
	c := &Condition{Variable: v.TextOf("variable"), Operation: strings.ToLower(v.TextOf("operation")), Literal: v.Get("value"),
		at: v, variable: v.Get("variable"), operation: v.Get("operation")}
	if op := c.operation; op != nil && op.Kind == tree.String && !slices.Contains(operation.Words, c.Operation) {
		d := r.report(diag.FlowWord, op, "", "there is no operation %q", text.Clip(op.Text, mostShown))
		if word, ok := operation.Meant(op.Text); ok {
			means(d, word)
		} else {
			meant(d, op, operation.Words)
		}
		c.Operation = ""
	}
	if l := c.Literal; l != nil && l.Kind == tree.Object { // the value with its type next to it
		r.fields(l, "a value", []field{needed(word("type", "")), {name: "data", needed: true}})
		c.Kind, c.Literal = l.TextOf("type"), r.data(l)
	}
	if l := c.Literal; l != nil && (l.Broken || l.Kind == tree.Null || l.Kind == tree.Array || l.Kind == tree.Object) {
		c.Literal = nil // it was reported
	}
	return c
}

// literalTypes are the types of literals in conditions.
var literalTypes = []string{"string", "int", "double", "boolean"}

// data returns the value of an object that holds a value and its type, or nil for anything else.
func (r *reader) data(v *tree.Value) *tree.Value {
	kind, data := v.Get("type"), v.Get("data")
	if data == nil || data.Broken {
		return nil
	}
	if data.Kind == tree.Null || data.Kind == tree.Array || data.Kind == tree.Object {
		r.report(diag.FlowField, data, "compare with one value", "a condition compares with a text, a number, true or false, not %s", data.Shown())
		return nil
	}
	if !r.oneOf(kind, "type of a value", literalTypes) {
		return nil
	}
	fits := true
	switch kind.Text {
	case "int":
		_, err := strconv.ParseInt(data.Text, 10, 64)
		fits = err == nil
	case "double":
		_, fits = finite(data.Text)
	case "boolean":
		fits = strings.EqualFold(data.Text, "true") || strings.EqualFold(data.Text, "false")
	}
	if !fits {
		r.report(diag.FlowField, data, "write a value of that type, or another type", "data: want a value of the type %s, got %s", kind.Text, data.Shown())
		return nil
	}
	return data
}

// placeholder matches placeholders of other formats: ${a.b}, {{ a }}. The second pattern matches {a}, which may be
// meant literally, for example in code.
var placeholder, maybePlaceholder = lazy.Regexp(`\$\{[^}\s]*\}|\{\{\s*[A-Za-z_][\w.]*\s*\}\}`),
	lazy.Regexp(`(?:^|[\s"'“(\[:,])(\{[A-Za-z_][\w.]*\})`)

// placeholders reports what looks like a placeholder and is not replaced.
func (r *reader) placeholders(v *tree.Value) {
	found, severity := placeholder().FindString(v.Text), diag.Warning
	if found == "" {
		maybe := maybePlaceholder().FindStringSubmatch(v.Text)
		if maybe == nil {
			return
		}
		found, severity = maybe[1], diag.Info
	}
	r.add(severity, diag.FlowPlaceholder, v, "what arrives at an agent is passed to its model next to the text; leave it out", "%s is in the text unchanged: nothing fills it in", []any{found})
}

//go:noinline
func (a *Agent) label() string {
	if a.Name == "" {
		return "this agent"
	}
	return text.Clip(a.Name, mostShown)
}

// Span returns the span of the agent's name, or of its beginning if it has none.
func (a *Agent) Span() diag.Span {
	if a.NameAt != nil {
		return a.NameAt.Span
	}
	return a.At.Span
}
