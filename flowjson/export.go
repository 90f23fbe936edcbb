package flowjson

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/flowjson/internal/export"
)

// ExportOptions are what a file declares about a flow besides its agents.
type ExportOptions = export.Options

// Export writes a composition as a flow in JSON. It reports everything that the format cannot express, each with its
// position and a remedy, and then writes nothing. The list may hold warnings about a flow that is written.
func Export(n *flow.Node, o ExportOptions) ([]byte, diag.List) { return export.Write(n, o) }
