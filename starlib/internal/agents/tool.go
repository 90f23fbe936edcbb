package agents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/data"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func toolFunc(c *table.Call) (starlark.Value, error) {
	if had, ok := c.Arg("f").(*value.Tool); ok {
		return changed(c, had.Tool)
	}
	fn, ok := c.Arg("f").(*starlark.Function)
	if !ok {
		return c.Placeholder(), nil
	}
	given, _ := c.Arg("params").(*starlark.Dict)
	t := tool(c, fn, given, c.Type("returns"), c.ArgSpan("f"))
	if t == nil {
		return nil, nil
	}
	t.Returns, t.Span = c.Type("returns"), c.FuncSpan()
	if c.Has("name") {
		t.Name = c.Str("name")
		t.Params.Name = t.Name
	}
	if c.Has("effect") {
		t.Class = engine.Class(c.Str("effect"))
		if !c.State.Sealed.Load() {
			c.State.Claimed = append(c.State.Claimed, t)
		}
	}
	ownUnknown(c)
	guarded(c, t)
	return c.Made(&value.Tool{Tool: t})
}

// changed returns a tool with other failure handling and bounds. What the tool does stays the same.
func changed(c *table.Call, had *agent.Tool) (starlark.Value, error) {
	for _, name := range []string{"params", "effect", "returns", "name"} {
		if c.Has(name) {
			c.Problemf(diag.WrongArgument, c.ArgSpan(name), "%s belongs to the function that a tool is made of", name).Help =
				[]string{"a tool takes on_error, on_unknown, timeout and max_result here; " + name + " is set where it is made"}
		}
	}
	t := *had
	t.Span = c.FuncSpan()
	if c.Has("on_unknown") {
		t.OnUnknown, t.Reconcile = unknown(c)
	}
	guarded(c, &t)
	return c.Made(&value.Tool{Tool: &t})
}

// toolList reads a list of tools. A function that declares its parameters is a tool.
func toolList(c *table.Call) []*agent.Tool {
	var out []*agent.Tool
	for i, item := range c.List("tools") {
		switch item := item.(type) {
		case *value.Tool:
			out = append(out, item.Tool)
		case *starlark.Function:
			at := c.PartSpan(c.Refs[c.ParamIndex("tools")], table.Piece{N: i + 1})
			if t := tool(c, item, nil, nil, at); t != nil {
				t.Span = at
				out = append(out, t)
			}
		case *starlark.Builtin:
			if t := asks(item); t != nil {
				out = append(out, t)
			}
		case *value.Failed:
			c.Incomplete = true
		}
	}
	return out
}

// stepsPerTool is the number of loading steps charged for making a tool: many agents may share a list of functions.
const stepsPerTool = 64

// tool makes a tool from a function. Its parameters are typed by given, by a default that is a type, or by a plain
// default. The result has any type if returns is nil. tool returns nil if something is wrong.
func tool(c *table.Call, fn *starlark.Function, given *starlark.Dict, returns *generable.Type, at diag.Span) *agent.Tool {
	before := len(c.Problems)
	_ = c.State.Spend(stepsPerTool) // if none are left, the next call ends the load
	params := parameters(c, fn, given, at)
	name := fn.Name()
	if name == "lambda" && !c.Has("name") {
		c.Problemf(diag.MissingArgument, at, "a tool made of a lambda needs a name").Help = []string{`tool(lambda ..., name = "...")`}
	}
	var fields []generable.Field
	for _, p := range params {
		if p.Wrong {
			continue
		}
		if p.Field.Type == nil {
			c.Problemf(diag.MissingArgument, at, "the parameter %s of tool %s has no type", p.Name, name).
				Advise("declare it: def " + name + "(" + p.Name + " = str), or tool(" + name + ", {\"" + p.Name + "\": str})")
			continue
		}
		fields = append(fields, p.Field)
	}
	doc, _ := value.ParseDoc(fn.Doc())
	t, errs := generable.NewSchema(name, "", fields)
	for _, e := range errs {
		c.Problemf(diag.BadField, at, "tool %s: %s", name, e)
	}
	if len(c.Problems) > before {
		return nil
	}
	lint.Called(c.State, fn, script.Contract{Params: text.Each(params, func(p value.Parameter) *generable.Type { return p.Field.Type }),
		Result: returns, Role: "tool ", Who: name})
	lint.CheckDoc(c.State, fn)
	if strings.TrimSpace(doc) == "" {
		undescribed(c, name, fn)
	}
	run := &toolRun{Callback: thread.NewCallback(c.State, fn)}
	settleAtEnd(c.State, run)
	return &agent.Tool{Name: name, Doc: doc, Params: t, Class: engine.ClassRead, Run: run}
}

// undescribed warns a strict session, once for each function, of a tool without a description.
func undescribed(c *table.Call, name string, fn *starlark.Function) {
	if c.Running() || !c.State.Session.Strict {
		return
	}
	at := diag.Span{Pos: script.Position(fn.Position()), Len: len("def")}
	help := `say what it does, and when to use it, in its docstring: """..."""`
	if name == "lambda" {
		name, at.Len = c.Str("name"), len("lambda")
		help = "make it a def, whose docstring says what it does"
	}
	if c.State.Undescribed[at.Pos] {
		return
	}
	c.State.Undescribed[at.Pos] = true
	noDescription(c, name, at, help)
}

func noDescription(c *table.Call, name string, at diag.Span, help string) {
	c.State.Session.Report(&diag.Diagnostic{Code: diag.UndescribedTool, Severity: diag.Warning, Span: at,
		Message: fmt.Sprintf("nothing tells the model what the tool %q does", name), Help: []string{help}})
}

// parameters reads the parameters of a function.
func parameters(c *table.Call, fn *starlark.Function, given *starlark.Dict, at diag.Span) []value.Parameter {
	params, unfitDefaults := value.ParametersOf(fn)
	for name, err := range unfitDefaults {
		c.Problemf(diag.WrongArgument, at, "the default of %s: %s", name, err)
	}
	if fn.HasVarargs() || fn.HasKwargs() {
		c.Problemf(diag.WrongArgument, at, "%s takes *args or **kwargs, which have no types", fn.Name()).Help =
			[]string{"name each parameter, and give it a type: def " + fn.Name() + "(path = str)"}
	}
	if given == nil {
		return params
	}
	n := 0
	for key, v := range given.Entries() {
		n++
		entry := table.Piece{N: n, Key: key.String()}
		name, _ := key.(starlark.String)
		i := slices.IndexFunc(params, func(p value.Parameter) bool { return p.Name == string(name) })
		w, ok := data.FieldKind.Takes(v)
		switch {
		case i < 0:
			entry.At = true
			stray(c, fn, params, given, key, entry)
		case !ok:
			params[i].Wrong = true
			c.Problemf(diag.WrongArgument, c.PartSpan(c.Refs[c.ParamIndex("params")], entry), "%s: want %s, got %s", string(name), data.FieldKind.Word, value.Describe(v)).
				Advise(data.FieldKind.Hint(v))
		default:
			f := value.FieldOf(string(name), w)
			if had := params[i].Field; had.Optional && !f.Optional && !params[i].Declared {
				f.Default, f.Optional = had.Default, true
			}
			if f.Guide == "" {
				f.Guide = params[i].Field.Guide
			}
			params[i].Field = f
		}
	}
	return params
}

// stray reports a type that is given for a parameter that the function does not have. It does not report the parameter
// that it must have been meant for.
func stray(c *table.Call, fn *starlark.Function, params []value.Parameter, given *starlark.Dict, key starlark.Value, entry table.Piece) {
	name, ok := key.(starlark.String)
	d := c.Problemf(diag.UnknownArgument, c.PartSpan(c.Refs[c.ParamIndex("params")], entry), "%s has no parameter %s", fn.Name(), string(name))
	if !ok {
		d.Message = "the names of parameters are str, got " + value.Describe(key)
	}
	var open []string
	all := text.Each(params, func(p value.Parameter) string { return p.Name })
	for i := range params {
		_, has, err := given.Get(starlark.String(params[i].Name))
		if params[i].Field.Type == nil && err == nil && !has {
			open = append(open, params[i].Name)
		}
	}
	meant, near := diag.Suggest(string(name), open)
	switch {
	case near:
	case len(open) == 1:
		meant = open[0]
	case len(all) == 0:
		d.Help = []string{"it takes none"}
		return
	default:
		d.Advise(cmp.Or(script.DidYouMean(string(name), all), "its parameters are "+script.Joined(all)))
		return
	}
	d.Help = []string{"did you mean \"" + meant + "\"?"}
	for i := range params {
		params[i].Wrong = params[i].Wrong || params[i].Name == meant
	}
}

// toolRun calls a function of the script with the fields of the argument record.
type toolRun struct {
	*thread.Callback
	notes bool         // it uses a memory of the script
	class engine.Class // the strongest effect it can have
}

// UsesMemory reports whether calls keep their order within an answer.
func (t *toolRun) UsesMemory() bool { return t.notes }

func (t *toolRun) Call(b engine.Branch, args []generable.Value) (generable.Value, error) {
	s, err := thread.Enter(t.State, b)
	if err != nil {
		return generable.Value{}, err
	}
	defer s.Done()
	var kwargs []starlark.Tuple
	if r, ok := args[0].AsRecord(); ok {
		for i, f := range r.Type().Fields {
			kwargs = append(kwargs, starlark.Tuple{starlark.String(f.Name), value.FromData(r.At(i))})
		}
	}
	return t.Result(s, nil, kwargs, nil)
}

// Info describes a function with one argument, the record.
func (t *toolRun) Info() engine.FuncInfo {
	info := t.About
	info.Params, info.Needs = 1, 1
	return info
}

// asToolRows returns the builtins that make nodes tools: a function, and a method of nodes.
func asToolRows() []table.Builtin {
	params := []table.Param{
		{Name: "name", Kind: table.NameKind, Default: "None", Doc: "the tool's name; by default the node's"},
		{Name: "doc", Kind: table.StrKind, Default: "None", Doc: "what it does, for the model to decide whether to call it; for an agent with one skill, by default the skill's"},
		table.Opt("on_error", recoveryKind, "None", "how to handle failed calls, before their failures are passed to the model: "+remediesDoc),
		table.Opt("timeout", table.TimeKind, "None", `the time limit of one call: "5s", "2m", or seconds; a call that takes longer fails`),
		table.Opt("max_result", table.BoundKind, "262144", "how many bytes of a result's text are sent to the model"),
	}
	params = append(params, ruleParams()...)
	const doc = "Turns a node, an agent or any flow, into a tool of an agent. If the node takes a schema, its fields are the tool's parameters; otherwise the tool has one parameter, input. The node runs inside the call, within the budgets around it, and its one place is in that agent."
	return []table.Builtin{
		{Name: "as_tool", Group: table.GroupAgents, Aside: guardAside, Returns: "tool", Effect: table.Compose, Func: asToolFunc, May: true, Doc: doc,
			Params: append([]table.Param{{Name: "node", Kind: table.NodeKind, Doc: "an agent or a composition"}}, params...)},
		{Name: "as_tool", Of: "node", Aside: guardAside, Group: table.GroupCompose, Returns: "tool", Effect: table.Compose, Func: asToolFunc, Doc: "a.as_tool(name, doc) is as_tool(a, name, doc).",
			Params: params},
	}
}

func asToolFunc(c *table.Call) (starlark.Value, error) {
	n := c.Node("node")
	if c.Incomplete || n.Failed() {
		return c.Placeholder(), nil
	}
	name := c.StrOr("name", n.Name())
	if name == "" {
		c.Problemf(diag.MissingArgument, c.FuncSpan(), "the %s has no name for its tool", n.Kind()).Help =
			[]string{"name the tool, as_tool(name = \"...\"), or assign the node to a variable first"}
	}
	doc := script.Dedent(c.Str("doc"))
	if a := n.Agent(); doc == "" && a != nil && len(a.Skills) == 1 {
		doc = a.Skills[0].Doc
	}
	if doc == "" && name != "" && c.State.Session.Strict && !c.Running() {
		noDescription(c, name, c.FuncSpan(), `say what it does, and when to use it: as_tool(name, "...")`)
	}
	t := flow.AsTool(n, name, doc)
	t.Span = c.FuncSpan()
	guarded(c, t)
	return c.Made(&value.Tool{Tool: t})
}

// Acts implements [agent.Acting].
func (t *toolRun) Acts() engine.Class { return t.class }

// settleAtEnd determines whether a tool of the script uses a memory, and its effect class, once everything that its
// function names is defined.
func settleAtEnd(c *script.State, t *toolRun) {
	settle := func() {
		t.notes = c.Session.Banks() > 0 && lint.UsesMemory(c, t.Func)
		t.class = lint.EffectClassOf(c, t.Func)
	}
	if c.Sealed.Load() {
		settle()
	} else {
		c.AtEnd = append(c.AtEnd, settle)
	}
}
