package cli

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/setup"
)

// places warns of what a script does that only one of several workers sees.
func (v *verbs) places(s *setup.Script) {
	var acts []string
	var first diag.Span
	for _, n := range s.Needs() {
		what := n.Use.String()
		if n.Server != "" {
			what = "the MCP server " + n.Server
		}
		if !local(n.Use) || slices.Contains(acts, what) {
			continue
		}
		if acts == nil {
			first = n.Span
		}
		acts = append(acts, what)
	}
	if acts == nil {
		return
	}
	of := " acts"
	if len(acts) > 1 {
		of = " act"
	}
	v.c.Report(diag.List{{Severity: diag.Warning, Span: first, Message: strings.Join(acts, ", ") + of + " on the worker that carries the call out, which may be another one each time",
		Help: []string{"have the workers share the directory, or keep the calls of the run on one of them with --pin-worker"}}}, s.Sources())
}
