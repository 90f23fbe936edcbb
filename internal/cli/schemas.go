package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable/dialect"
	"github.com/agentscript/agentscript/internal/cli/setup"
)

// schemaReport says how providers handle the output type of one agent.
type schemaReport struct {
	File      string           `json:"file"`
	Agent     string           `json:"agent"`
	Type      string           `json:"type"`
	Providers []providerSchema `json:"providers"`
	reports   dialect.Reports
}

// providerSchema holds a provider's budgets and rewrites, or why it accepts the type in no form.
type providerSchema struct {
	Name     string            `json:"name"`
	Error    string            `json:"error,omitempty"`
	Budget   []dialect.Use     `json:"budget,omitempty"`
	Rewrites []dialect.Rewrite `json:"rewrites,omitempty"`
	Schema   json.RawMessage   `json:"schema,omitempty"`
	Prompt   string            `json:"prompt,omitempty"`
}

// of compiles the output type of each agent for the provider of its model, or for all providers if the script names no
// model. A type that has no form for the agent's own provider is an error.
func (list *reports) of(file string, m *agentscript.Module) (found diag.List) {
	type asked struct{ agent, typ, target string }
	told := map[asked]bool{} // one agent may have several places
	for _, n := range setup.AgentsOf(m) {
		a := n.Agent()
		t := a.Out
		if t == nil || !t.HasSchema() || a.Structured == model.StructuredGuided {
			continue
		}
		provider, _, _ := strings.Cut(a.Model, "/")
		target, err := dialect.TargetOf(provider)
		if provider != "" && err != nil {
			continue // a host's own model, whose interface has no schema
		}
		key := asked{a.Name, t.ID(), target}
		if told[key] {
			continue
		}
		told[key] = true
		r := schemaReport{File: file, Agent: a.Name, Type: t.String(), reports: dialect.Report(t)}
		if provider != "" {
			r.reports = r.reports.Only(target)
			if why := r.reports[0].Err; why != nil {
				d := &diag.Diagnostic{Code: diag.SchemaTooLarge, Message: fmt.Sprintf("agent %q: %s", a.Name, why)}
				d.Span.Pos = n.Pos()
				found.Add(d)
			}
		}
		for _, t := range r.reports {
			p := providerSchema{Name: t.Target}
			if t.Err != nil {
				p.Error = t.Err.Error()
			} else {
				p.Schema, p.Prompt = json.RawMessage(t.Wire.Schema), t.Wire.Prompt
				p.Budget, p.Rewrites = t.Wire.Budget, t.Wire.Rewrites
			}
			r.Providers = append(r.Providers, p)
		}
		list.list = append(list.list, r)
	}
	return found
}

// String formats the report for people: a heading for each agent, and a paragraph for each provider.
func (r schemaReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: agent %q answers with %s\n", r.File, r.Agent, r.Type)
	for line := range strings.Lines(r.reports.String()) {
		b.WriteString("  " + line)
	}
	return b.String()
}
