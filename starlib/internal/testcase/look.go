package testcase

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// looks check whether what the calls of methods name exists.
var looks = map[string]func(*table.Call){
	"reply": look("agent", double.Names.Agent), "on": look("agent", double.Names.Agent), "fail": look("agent", double.Names.Agent),
	"tool": look("name", double.Names.Tool), "approve": look("name", double.Names.Decided), "serve": look("server", double.Names.Server),
	"denied": look("name", double.Names.Tool),
	"call": func(c *table.Call) {
		look("name", func(n double.Names, name string) *engine.Error {
			err := n.Callable(name, nil)
			for _, kw := range c.Kwargs {
				if arg, _ := starlark.AsString(kw[0]); err == nil {
					err = n.Argument(name, arg)
				}
			}
			return err
		})(c)
	},
	"calls": look("name", double.Names.Called), "request": look("name", double.Names.Called),
	"called": look("name", double.Names.Called), "never": look("name", double.Names.Called),
}

// look warns of an argument that names something the files do not contain. It is a warning, since a running function
// may create more.
func look(param string, exists func(double.Names, string) *engine.Error) func(*table.Call) {
	return func(c *table.Call) {
		name, ok := c.Arg(param).(starlark.String)
		if !ok {
			return
		}
		for _, u := range c.State.Units {
			if u.State == script.UnitFailed || lacks(u) { // the named one may be there
				return
			}
		}
		nodes := c.State.Session.Nodes()
		for _, n := range nodes {
			if n.Failed() { // a failed agent has no name
				return
			}
		}
		if wrong := exists(double.NamesOf(nodes), string(name)); wrong != nil {
			d := c.Problemf(diag.BadTest, c.ArgSpan(param), "%s", wrong.Message)
			d.Severity, d.Help = diag.Warning, []string{wrong.Help}
		}
	}
}

// lacks reports whether a file loads a name that does not exist.
func lacks(u *script.Unit) bool {
	for _, v := range u.Loaded {
		if _, failed := v.(*value.Failed); failed {
			return true
		}
	}
	return false
}
