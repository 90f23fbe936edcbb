package starlib

import (
	"fmt"
	"iter"
	"strings"
	"unicode"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// part is what the values that only agents take have in common: they are opaque.
type part struct{}

func (part) opaque()              {}
func (part) Freeze()              {}
func (part) Truth() starlark.Bool { return true }
func (part) Hash() (uint32, error) {
	return 0, errorf(diag.ScriptError, "a part of an agent is no key")
}

type (
	skillValue struct {
		part
		sk  *engine.Skill
		run starlark.Value // its function, nil when it has none
	}
	toolValue struct {
		part
		t *engine.Tool
	}
	knowledgeValue struct {
		part
		k engine.Knowledge
	}
	budgetValue struct {
		part
		limits engine.Limits
	}
	modelValue struct {
		part
		s settings
	}
)

func (v *skillValue) String() string     { return fmt.Sprintf("skill(%q)", v.sk.Name) }
func (v *skillValue) Type() string       { return "skill" }
func (v *toolValue) String() string      { return fmt.Sprintf("tool(%s)", v.t.Name) }
func (v *toolValue) Type() string        { return "tool" }
func (v *knowledgeValue) String() string { return fmt.Sprintf("knowledge(%q)", v.k.Doc) }
func (v *knowledgeValue) Type() string   { return "knowledge" }
func (v *budgetValue) String() string    { return "budget(...)" }
func (v *budgetValue) Type() string      { return "budget" }

// Attr of a budget is an error that says where what is left is read.
func (v *budgetValue) Attr(name string) (starlark.Value, error) { return nil, noBudgetAttr(name) }

func noBudgetAttr(name string) error {
	e := errorf(diag.UnknownAttribute, "what budget(...) gives has no .%s", name)
	e.Help = "in a function that runs, budget.remaining() tells what all budgets around it leave"
	return e
}

func (v *budgetValue) AttrNames() []string { return nil }

func (v *modelValue) String() string { return fmt.Sprintf("model(%q)", v.s.name) }
func (v *modelValue) Type() string   { return "model" }

var (
	skillKind = Kind{Word: "skill(...)", Stub: "Skill", accept: as[*skillValue], hint: func(v starlark.Value) string {
		switch v := v.(type) {
		case starlark.String:
			return fmt.Sprintf("write skill(%q, \"what it does\")", string(v))
		case *toolValue, *starlark.Function:
			return "what a model may call stands in tools = [...]; a skill is skill(name, doc, tools = [...])"
		}
		return ""
	}}
	budgetKind = Kind{Word: "budget(...)", Stub: "Budget", accept: as[*budgetValue], hint: hintBudget}
	modelKind  = Kind{Word: "model(...)", Stub: "Model", accept: as[*modelValue]}
	// promptKind takes a template, which is a node of its own otherwise.
	promptKind = Kind{Word: "template(...)", Stub: "Node", accept: func(v starlark.Value) (starlark.Value, bool) {
		n, ok := v.(*nodeValue)
		return v, ok && (n.text != nil || n.n.Failed())
	}}
	functionKind = Kind{Word: "function", Stub: "Callable", accept: as[*starlark.Function], hint: func(v starlark.Value) string {
		if b, ok := v.(*starlark.Builtin); ok {
			return "write a function of the script around it: lambda x: " + b.Name() + "(x)"
		}
		return hintFunction(v)
	}}
	// toolFunctionKind takes what tool makes a tool of, or changes.
	toolFunctionKind = anyOf(hinted(functionKind, func(v starlark.Value) string {
		if b, ok := v.(*starlark.Builtin); ok {
			return "a tool tells its parameters and their types: def f(x = str): return " + b.Name() + "(x)"
		}
		return ""
	}), Kind{Word: "tool(...)", Stub: "Tool", accept: as[*toolValue]})
	toolKind = Kind{Word: "tool(...), mcp(...) or function", Stub: "Tool | MCP | Callable", accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v := v.(type) {
		case *toolValue, *serverValue, *starlark.Function:
			return v, true
		case *starlark.Builtin:
			return v, asks(v) != nil
		}
		return v, false
	}, hint: hintTool}
	knowledgeDict = hinted(worded("dict of knowledge(...)", dictOf(Kind{Word: "knowledge(...), str or function", Stub: "Knowledge | str", accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *knowledgeValue, starlark.String, *starlark.Function:
			return v, true
		}
		return v, false
	}})), func(v starlark.Value) string { return `write {"key": knowledge("what it is about", text)}` })
)

// hintTool says how what is no tool gets to a model.
func hintTool(v starlark.Value) string {
	switch v := v.(type) {
	case *nodeValue:
		return "write " + v.label() + `.as_tool(name, doc)`
	case *starlark.Builtin:
		return hintCapability(v)
	case *remedyValue:
		if name := remedyWord[v.r.Do]; askingTools()[name] != nil {
			return "as a tool of a model it is not called: tools = [" + name + "]"
		}
	case starlark.String:
		if name := string(v); strings.IndexFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0 {
			return "list the function itself, without quotes: tools = [" + name + "]"
		}
		return "list functions of the script, which declare their parameters, tool(f, ...) or mcp(...)"
	case *memoryValue:
		return "it is given apart, as memory = ..., and makes tools of its own"
	case *skillValue:
		return "write skills = [...]"
	case *knowledgeValue:
		return `it belongs to a skill: skill("name", "what it does", knowledge = {"key": ...})`
	case *typeValue, starlark.NoneType, starlark.Int, starlark.Float, starlark.Bool:
		return "list the function itself: look, not look()"
	case *starlark.Dict:
		return "write a function that declares its parameters: def look(query = str)"
	case *moduleValue:
		return "wrap what the model may do in functions that declare their parameters"
	}
	return ""
}

// items lists the elements of a list argument, none when it was not given.
func (c *Call) items(name string) iter.Seq[starlark.Value] {
	if seq, ok := c.Arg(name).(starlark.Sequence); ok {
		return starlark.Elements(seq)
	}
	return func(func(starlark.Value) bool) {}
}

func knowledgeFunc(c *Call) (starlark.Value, error) {
	k := engine.Knowledge{Doc: c.Str("doc"), Text: c.Str("content")}
	if k.Text == "" {
		k.Load = c.callback("content")
	}
	if k.Load != nil && k.Load.Info().Needs > 1 {
		d := c.complain(diag.CallbackArity, c.spanOf("content"), "the function that gives a knowledge text is called with what the model looks for, or without arguments")
		d.Label = "it needs " + text.CountInWords(k.Load.Info().Needs, "argument")
		d.Help = []string{"write lambda query: ..., lambda: text, or give the text itself"}
		return nil, nil
	}
	return &knowledgeValue{k: k}, nil
}

// knowledge reads {key: knowledge(...)}; a plain str or function has no description.
func (c *Call) knowledge() []engine.Knowledge {
	d, ok := c.Arg("knowledge").(*starlark.Dict)
	if !ok {
		return nil
	}
	var out []engine.Knowledge
	for key, item := range d.Entries() {
		k := engine.Knowledge{}
		switch item := item.(type) {
		case *knowledgeValue:
			k = item.k
		case starlark.String:
			k.Text = string(item)
		case *starlark.Function:
			k.Load = c.state.funcOf(item)
		case *failedValue:
			c.stood = true
		}
		k.Key = string(key.(starlark.String))
		out = append(out, k)
	}
	return out
}
