package lint

import (
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// CheckModules reports members that json and budget do not have, including in code that no run has reached yet.
func (c *Linter) CheckModules(u *script.Unit) {
	syntax.Walk(u.File.Syntax(), func(n syntax.Node) bool {
		dot, ok := n.(*syntax.DotExpr)
		if !ok {
			return true
		}
		id, _ := dot.X.(*syntax.Ident)
		if id == nil {
			return true
		}
		var m starlark.HasAttrs
		switch v := c.Predeclared[id.Name].(type) {
		case *table.ModuleValue:
			m = v
		case *value.Maker:
			m = v
		}
		if b, ok := id.Binding.(*resolve.Binding); m == nil || !ok || b.Scope != resolve.Predeclared {
			return true
		}
		if _, err := m.Attr(dot.Name.Name); err != nil {
			c.ReportFrom(u, diag.List{script.Problem(script.EngineError(err), script.NameSpan(dot.Name))})
		}
		return true
	})
}
