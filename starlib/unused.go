package starlib

import (
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// checkUnused warns of agents of the entry script that are declared and then forgotten: they have
// no place, and the script does not speak of them again. Where something else is wrong, that may
// be why; where there is no main, all that is declared is there for whoever loads the script.
func (c *linter) checkUnused(u *unit) {
	if u.state != unitDone || u.globals["main"] == nil || c.session.Diagnostics().HasErrors() {
		return
	}
	idle, declared := map[string]*engine.Node{}, map[string]*syntax.Ident{}
	for name, v := range u.globals {
		n, ok := v.(*nodeValue)
		if ok && name != "main" && !strings.HasPrefix(name, "_") && n.n.Kind() == engine.AgentNode && n.n.Free() {
			idle[name] = n.n
		}
	}
	if len(idle) == 0 {
		return
	}
	syntax.Walk(u.file.Syntax(), func(n syntax.Node) bool {
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
		if main, ok := u.globals["main"].(*nodeValue); ok && main.n == n {
			continue
		}
		d := &diag.Diagnostic{Code: diag.UnusedAgent, Severity: diag.Warning, Span: diag.Span{Pos: n.Pos()},
			Message: "agent " + name + " is declared, and nothing uses it",
			Help:    []string{"place it in a composition, call it in a function, or leave it out; a name that begins with _ is not asked about"}}
		if id := declared[name]; id != nil {
			d.Span = diag.Span{Pos: position(id.NamePos), Len: utf8.RuneCountInString(name)}
		}
		c.session.Report(d)
	}
}
