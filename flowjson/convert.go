package flowjson

import (
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/star"
)

// Form is how a script writes the graph of a flow, see [Flow.Convert].
type Form = star.Form

// The forms of a flow in a script.
const (
	Structured = star.Structured // as steps, branches and loops, where the graph has such a structure
	Graph      = star.Graph      // as agents and edges
)

// ToolsFile is the script from which a converted flow loads its local tools.
const ToolsFile = "tools.star"

// Convert writes the flow as an equivalent script: its agents make the same requests. The local tools are functions of
// [ToolsFile]. Options.MaxSteps becomes the bound of each graph and, as turns, of each loop. What cannot be written,
// and errors in the nodes that the flow becomes, are reported with their positions in the file; the text is then empty.
func (f *Flow) Convert(form Form) (string, diag.List) {
	s, p := flow.NewSession(), plan.New(f.spec)
	f.node(s, p)
	wrong := slices.DeleteFunc(s.Diagnostics(), func(d *diag.Diagnostic) bool { return d.Severity != diag.Error || d.Code == diag.FlowTool })
	if len(wrong) > 0 {
		wrong.Sort()
		return "", wrong
	}
	return star.Write(p, form, star.Options{Tools: ToolsFile, MaxSteps: f.o.MaxSteps})
}
