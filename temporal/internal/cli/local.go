package cli

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// warnLocal warns of actions of a script that are visible to only one of several workers.
func warnLocal(s *setup.Script) diag.List {
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
		return nil
	}
	of := " acts"
	if len(acts) > 1 {
		of = " act"
	}
	return diag.List{{Severity: diag.Warning, Span: first, Message: strings.Join(acts, ", ") + of + " on the worker that carries the call out, which may be another one each time",
		Help: []string{"have the workers share the directory, or keep the calls of the run on one of them with --pin-worker"}}}
}

// local reports whether a use acts on the machine that carries it out.
func local(u capability.Use) bool {
	return slices.Contains([]engine.EffectKind{engine.EffectExec, engine.EffectFS}, u.Kind)
}

// printListener writes what the script of a run prints, on the worker that carries it out.
func (v *verbs) printListener(run string) engine.Listener {
	return engine.Listener{Kinds: engine.EventLog | engine.EventPhase, Emit: func(e engine.Event) {
		v.say("%s", v.c.Hidden("run "+run+"  "+term.Said(e)))
	}}
}
