package infer

import (
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Part is a value that becomes part of an agent, such as a skill or a tool. It has no attributes and is
// identified by its row.
type Part struct {
	value.Unkeyed
	Row *table.Builtin
}

func (p *Part) Type() string   { return p.Row.Returns }
func (p *Part) String() string { return p.Row.Returns }

// opaqueParts lists the results of builtins that have no attributes, by the word in their rows.
var opaqueParts = map[string]bool{"skill": true, "tool": true, "knowledge": true, "budget": true, "model": true, "policy": true,
	"hooks": true, "router": true, "mcp": true, "secret": true, "history": true, "remedy": true, "recovery": true}

func (in *Inference) partOf(row *table.Builtin) *possible.Value {
	v := in.parts[row]
	if v == nil {
		v = possible.One(possible.Alt{Kind: possible.Thing, Exact: &Part{Row: row}})
		if in.parts == nil {
			in.parts = map[*table.Builtin]*possible.Value{}
		}
		in.parts[row] = v
	}
	return v
}
