package lint

import (
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// CheckUnused warns of agents of the entry script that are declared and never used: they have no place, and the script
// does not refer to them again. It does not warn if there is another mistake, which may be the reason, or if there is
// no main: then the declarations are for a script that loads this one.
func (c *Linter) CheckUnused(u *script.Unit) {
	if u.State != script.UnitDone || u.Globals["main"] == nil || c.Session.Diagnostics().HasErrors() {
		return
	}
	idle, declared := map[string]*flow.Node{}, map[string]*syntax.Ident{}
	for name, v := range u.Globals {
		n, ok := v.(*value.Node)
		if ok && name != "main" && !strings.HasPrefix(name, "_") && n.Node.Kind() == flow.AgentNode && n.Node.Free() {
			idle[name] = n.Node
		}
	}
	if len(idle) == 0 {
		return
	}
	syntax.Walk(u.File.Syntax(), func(n syntax.Node) bool {
		id, ok := n.(*syntax.Ident)
		if !ok || idle[id.Name] == nil {
			return true
		}
		switch b, ok := id.Binding.(*resolve.Binding); {
		case !ok || b.Scope != resolve.Global:
		case b.First.NamePos == id.NamePos:
			declared[id.Name] = id
		default:
			delete(idle, id.Name)
		}
		return true
	})
	for name, n := range idle {
		if main, ok := u.Globals["main"].(*value.Node); ok && main.Node == n {
			continue
		}
		d := &diag.Diagnostic{Code: diag.UnusedAgent, Severity: diag.Warning, Span: diag.Span{Pos: n.Pos()},
			Message: "agent " + name + " is declared, and nothing uses it",
			Help:    []string{"place it in a composition, call it in a function, or leave it out; a name that begins with _ is not reported"}}
		if id := declared[name]; id != nil {
			d.Span = script.NameSpan(id)
		}
		c.Session.Report(d)
	}
}
