package testrun

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Calls lists the calls that a name refers to.
func (c *testCase) Calls(of string) (generable.Value, *engine.Error) {
	is, err := c.meant(of)
	if err != nil {
		return generable.Value{}, err
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	var items []generable.Value
	for _, made := range c.calls[c.from.calls:] {
		if is(made) {
			items = append(items, made.value())
		}
	}
	return generable.ListOf(items...), nil
}

// Order lists the names in the order of their first calls.
func (c *testCase) Order(names ...string) ([]string, *engine.Error) {
	is := make([]func(*call) bool, len(names))
	for i, name := range names {
		var err *engine.Error
		if is[i], err = c.meant(name); err != nil {
			return nil, err
		}
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	var made []string
	for _, call := range c.calls[c.from.calls:] {
		for n, name := range names {
			if is[n](call) && !slices.Contains(made, name) {
				made = append(made, name)
			}
		}
	}
	return made, nil
}

// Denied counts the calls of a tool that were denied since the test began.
func (c *testCase) Denied(tool string) (n int, err *engine.Error) {
	tool = strings.TrimPrefix(tool, "tool:")
	if err := c.known.Tool(tool); err != nil {
		return 0, err
	}
	for _, e := range c.journal.all()[c.from.events:] {
		if d, ok := e.Data.(*event.Tool); ok && d.Phase == engine.PhaseEnd && !d.Made && (d.Name == tool || d.Server != "" && d.Server+"."+d.Name == tool) {
			n++
		}
	}
	return n, nil
}

// meant returns which calls a name refers to: those of an agent, of a tool, or of an operation.
func (c *testCase) meant(name string) (func(*call) bool, *engine.Error) {
	if err := c.known.Called(name); err != nil {
		return nil, err
	}
	tool, isTool := strings.CutPrefix(name, "tool:")
	if !isTool && slices.Contains(c.known.Agents, name) {
		return func(made *call) bool { return made.kind == engine.EffectModel && made.name == name }, nil
	}
	return func(made *call) bool {
		return made.kind != engine.EffectModel && made.kind != engine.EffectApproval && made.name == tool
	}, nil
}

// value returns a call as the test sees it.
func (m *call) value() generable.Value {
	str := generable.StrOf
	fields := map[string]generable.Value{
		"name": str(m.name), "path": str(""), "model": str(""), "system": str(""), "user": str(""),
		"messages": generable.ListOf(), "tools": generable.ListOf(), "args": asMap(m.args), "answer": m.out.Value, "error": {},
		"tokens": generable.IntOf(int64(m.out.Usage.In + m.out.Usage.Out)),
	}
	if m.at != nil {
		fields["path"] = str(m.at.Path())
	}
	if m.out.Err != nil {
		fields["error"] = str(m.out.Err.Message)
	}
	if r := m.req; r != nil {
		var messages, tools []generable.Value
		for _, msg := range r.Messages {
			text := ""
			for _, p := range msg.Parts {
				switch {
				case p.Kind == model.PartText:
					text += p.Text
				case p.Result != nil:
					text += p.Result.Text
				case p.Call != nil:
					text += p.Call.Name + " " + p.Call.Args
				}
			}
			messages = append(messages, generable.NewRecord(double.MessageType, []generable.Value{str(string(msg.Role)), str(text)}).Value())
			if msg.Role == model.RoleUser && !msg.AsksToThink() {
				fields["user"] = str(text)
			}
		}
		for _, t := range r.Tools {
			tools = append(tools, str(t.Name))
		}
		fields["model"], fields["system"] = str(r.Model), str(r.System)
		fields["messages"], fields["tools"] = generable.ListOf(messages...), generable.ListOf(tools...)
		if m.out.Response != nil {
			fields["answer"] = str(m.out.Response.Text())
		}
	}
	values := make([]generable.Value, len(double.CallType.Fields))
	for i, f := range double.CallType.Fields {
		values[i] = fields[f.Name]
	}
	return generable.NewRecord(double.CallType, values).Value()
}
