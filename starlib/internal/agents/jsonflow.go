package agents

import (
	"cmp"
	"path"
	"slices"
	"strconv"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// FlowRows returns the builtins that read compositions from files.
func FlowRows() []table.Builtin {
	localKind := &table.Kind{Word: "tool(...) or function", Stub: "Tool | Callable", Accept: value.Either(value.As[*value.Tool], value.As[*starlark.Function], value.As[*value.Failed])}
	return []table.Builtin{
		{Name: "load_flow", Group: table.GroupCompose, Aside: "tools compat max_steps name", Returns: "node", Effect: table.Reads, AtTop: true, Func: loadFlowFunc, May: true,
			Params: []table.Param{
				{Name: "path", Kind: table.Naming(table.StrKind, table.FilePath), Doc: "a file of the script's directory"},
				table.Opt("tools", table.DictOf(localKind), "{}", `the local tools that the flow declares, by name: {"search": search}`),
				table.Opt("compat", table.OneOf(flowjson.Upstream), "None", "the implementation whose evaluation of conditions is reproduced bug for bug; by default conditions are evaluated as intended"),
				table.Opt("max_steps", table.BoundKind, "1000", "the maximum number of agent executions"),
				table.Opt("name", table.NameKind, "None", "its name; by default the id in its file"),
			},
			Doc: "Reads a flow written as JSON and makes it a node like any other, which takes a str and returns what its last agent returns. Its agents share one conversation."},
	}
}

func loadFlowFunc(c *table.Call) (starlark.Value, error) {
	name, at := c.Str("path"), c.ArgSpan("path")
	text, ok, err := c.ReadFile(name, at)
	if !ok {
		return c.Placeholder(), err
	}
	o := flowjson.Options{Compat: c.Str("compat"), Tools: localTools(c), Name: c.Str("name"),
		Call: "load_flow(" + strconv.Quote(name) + ")"}
	if c.Has("max_steps") {
		o.MaxSteps = c.Int("max_steps", flow.DefaultMaxSteps)
	}
	if len(c.Problems) > 0 || c.Incomplete {
		return c.Placeholder(), nil
	}
	from := c.State.ByName[c.Pos.Filename()]
	p, _ := c.State.Resolve(from, name, at) // it was read already
	f, found, read := (*flowjson.Flow)(nil), diag.List(nil), false
	if entry := c.State.Flow; entry != nil && p == path.Clean(c.State.Disk.Entry) {
		f, found, read = entry.Flow(o)
	}
	if !read {
		f, found = flowjson.Parse(path.Join(c.State.Disk.Dir, p), text, o)
	}
	c.State.Session.Report(found...)
	if f == nil {
		return c.Placeholder(), nil
	}
	declared := f.LocalTools()
	for tool := range o.Tools {
		if !slices.Contains(declared, tool) {
			d := c.Problemf(diag.WrongArgument, c.ArgSpan("tools"), "tools: %s declares no local tool %q", name, tool)
			d.Advise(cmp.Or(diag.DidYouMean(tool, declared), "its local tools are "+script.Joined(declared)))
		}
	}
	if len(c.Problems) > 0 {
		return c.Placeholder(), nil
	}
	return value.NewNode(c.State, f.Node(c.State.Session)), nil
}

// localTools returns the functions that a script passes to a flow, by their names in the flow.
func localTools(c *table.Call) map[string]*agent.Tool {
	tools := map[string]*agent.Tool{}
	given, _ := c.Arg("tools").(*starlark.Dict)
	if given == nil {
		return tools
	}
	n := 0
	for key, item := range given.Entries() {
		n++
		name, _ := starlark.AsString(key)
		piece := table.Piece{N: n, Key: key.String()}
		var t agent.Tool
		switch item := item.(type) {
		case *value.Tool:
			t = *item.Tool
		case *starlark.Function:
			made := tool(c, item, nil, nil, c.PartSpan(c.Refs[c.ParamIndex("tools")], piece))
			if made == nil {
				continue
			}
			t = *made
			t.Span = c.PartSpan(c.Refs[c.ParamIndex("tools")], piece)
		default:
			c.Incomplete = true
			continue
		}
		t.Name = cmp.Or(name, t.Name)
		tools[name] = &t
	}
	return tools
}
