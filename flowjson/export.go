package flowjson

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/flowjson/internal/export"
)

// ExportOptions are what a file says about a flow besides its agents.
type ExportOptions = export.Options

// Export writes a composition as a flow as JSON. What the format cannot say is reported, each with its place and a
// remedy, and nothing is written then; the list may hold warnings of a flow that is written.
func Export(n *flow.Node, o ExportOptions) ([]byte, diag.List) { return export.Write(n, o) }
