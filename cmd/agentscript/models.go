package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/spf13/pflag"
)

// modelSetup is what makes a run's model calls.
type modelSetup struct {
	options  []agentscript.RunOption
	scripted *scripted.Model    // with --scripted
	replayed *cassette.Replayer // with --replay
	recorder *cassette.Recorder // with --record
	record   *os.File           // that it writes to
	servers  *mcp.Client        // nil with --replay
}

// close ends what a run was made with; none of it has anything to say that is of use.
func (set *modelSetup) close() {
	if set.servers != nil {
		_ = set.servers.Close()
	}
	if set.record != nil {
		_ = set.record.Close() // every line was written, and a line that cannot be fails its call
	}
}

// models settles which models the agents are run with, and finds out before the run whether
// they can be called.
func (c *command) models(s *script, o *runOptions, own *pflag.FlagSet) (*modelSetup, *failure) {
	choice, problem := o.modelChoice()
	if problem != nil {
		return nil, problem
	}
	agents := agentsOf(s.Module)
	if problem := choice.known(agents); problem != nil {
		return nil, problem
	}
	set := &modelSetup{options: choice.options()}
	extra := o.provider.options(own)
	if o.scripted != "" && o.calls.replay == "" {
		if set.scripted, problem = readFile("--scripted", o.scripted, "name a file of JSON lines", func(f io.Reader) (*scripted.Model, error) {
			return scripted.Read(f, o.scripted)
		}); problem != nil {
			return nil, problem
		}
		if !own.Changed("retries") { // a row that fails is meant to, unless more was asked for
			extra = append(extra, llm.WithRetry(llm.RetryPolicy{Attempts: 1}))
		}
		extra = append(extra, llm.WithDriver(set.scripted))
	}
	registry, problem := c.registry(o.envFile, o.prices, extra...)
	if problem != nil {
		return nil, problem
	}
	var answering engine.Handler = registry
	switch {
	case o.calls.replay != "":
		if set.replayed, problem = o.calls.replayer(registry.Redact); problem != nil {
			return nil, problem
		}
		answering = set.replayed
	case o.scripted != "": // any model is scripted
	default:
		if problem := o.provider.callable(registry); problem != nil {
			return nil, problem
		}
		if problem := callable(s, agents, choice, registry); problem != nil {
			return nil, problem
		}
	}
	if problem := c.outside(set, o, answering, registry.Redact, s.file); problem != nil {
		return nil, problem
	}
	held, problem := o.policy.policy(s)
	if problem != nil {
		return nil, problem
	}
	set.options = append(append(set.options, held...), agentscript.Pricer(registry))
	return set, nil
}

// callable checks the models of agents without a network. An agent of a main that is a
// function may never be called: one that names no model is left to the run.
func callable(s *script, agents []*engine.Node, choice modelChoice, models *llm.Registry) *failure {
	var found, unheld diag.List
	if s.node() != nil {
		agents = agentsUnder(s.node())
	}
	said := map[string]*diag.Diagnostic{}
	for _, ask := range askers(agents) {
		a := ask.AgentSpec
		model := choice.modelOf(a)
		if model == "" && s.node() == nil {
			continue
		}
		if d := constrains(models, model, ask); d != nil {
			unheld.Add(d)
		}
		d := said[model]
		if d == nil {
			err := models.Check(model)
			if err == nil {
				continue
			}
			d = diagnose(err)
			d.Span.Pos = ask.pos
			if err.Code == diag.UnknownProvider && model == a.Model && a.ModelSpan.IsValid() {
				d.Span = a.ModelSpan
			}
			said[model] = d
			found.Add(d)
		}
		note := diag.Note{Message: "agent " + a.Name + " needs it"}
		if ask.pos != d.Span.Pos {
			note.Pos = ask.pos
		}
		d.Notes = append(d.Notes, note)
	}
	if len(unheld) > 0 {
		return &failure{code: exitCheck, found: unheld, sources: s.Sources()}
	}
	if len(found) == 0 {
		return nil
	}
	return &failure{code: exitProvider, found: found, sources: s.Sources()}
}

// unknownProviders warns of models that no provider of this command could answer. A host may
// have providers of its own, so that it is no error of the script.
func unknownProviders(m *agentscript.Module, models *llm.Registry) diag.List {
	var found diag.List
	for _, ask := range askers(agentsOf(m)) {
		a := ask.AgentSpec
		if a.Model == "" {
			continue
		}
		for _, model := range append([]string{a.Model}, a.Fallbacks...) {
			if err := models.Check(model); err != nil && err.Code == diag.UnknownProvider {
				d := diagnose(err)
				d.Severity, d.Span.Pos = diag.Warning, ask.pos
				if at := a.ModelSpan; at.IsValid() {
					d.Span = at
				}
				found.Add(d)
			}
		}
	}
	return found
}

// unconstrained reports agents that demand a schema of a model that cannot be held to it.
func unconstrained(m *agentscript.Module, models *llm.Registry) diag.List {
	var found diag.List
	for _, ask := range askers(agentsOf(m)) {
		a := ask.AgentSpec
		if a.Structured != engine.StructuredConstrained || a.Model == "" {
			continue
		}
		for _, model := range append([]string{a.Model}, a.Fallbacks...) {
			if d := constrains(models, model, ask); d != nil {
				found.Add(d)
			}
		}
	}
	return found
}

// constrains reports an agent that demands a schema of a model that cannot be held to it.
func constrains(models *llm.Registry, model string, ask asker) *diag.Diagnostic {
	a := ask.AgentSpec
	if a.Structured != engine.StructuredConstrained {
		return nil
	}
	why := models.Constrains(model, a)
	if why == "" {
		return nil
	}
	d := &diag.Diagnostic{Code: diag.NoConstraint, Span: a.ModelSpan,
		Message: fmt.Sprintf("agent %q: structured = \"constrained\" cannot be had of %s: %s", a.Name, model, why),
		Help:    []string{"leave it at \"auto\", which takes the best that a model has, or name another model: agentscript models shows which have schema"}}
	if !d.Span.IsValid() || model != a.Model {
		d.Span = diag.Span{Pos: ask.pos}
	}
	return d
}

// known refuses a --model for an agent that there is not.
func (choice modelChoice) known(agents []*engine.Node) *failure {
	var names []string
	for _, n := range agents {
		for _, a := range append([]*engine.AgentSpec{n.Agent()}, n.Agent().Asks()...) {
			if !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	var found diag.List
	for _, agent := range slices.Sorted(maps.Keys(choice.byAgent)) {
		if slices.Contains(names, agent) {
			continue
		}
		found.Add(usagef(oneOf(agent, names, "the agents are "), "--model %s=…: the script has no agent %q", agent, agent).found...)
	}
	if len(found) == 0 {
		return nil
	}
	return &failure{code: exitUsage, found: found}
}

// agentsOf lists the agents that the script and the files it loads declare.
func agentsOf(m *agentscript.Module) []*engine.Node {
	return slices.DeleteFunc(slices.Clone(m.Nodes()), func(n *engine.Node) bool { return n.Agent() == nil })
}

// agentsUnder lists the agents placed in a node, in the order of the composition.
func agentsUnder(n *engine.Node) []*engine.Node {
	var out []*engine.Node
	if n.Agent() != nil {
		out = append(out, n)
	}
	for _, k := range n.Children() {
		out = append(out, agentsUnder(k)...)
	}
	return out
}

// asker is what asks a model: an agent, or the router that chooses among its skills.
type asker struct {
	*engine.AgentSpec
	pos diag.Pos // of the agent
}

// askers lists what of the agents asks models.
func askers(agents []*engine.Node) []asker {
	var out []asker
	for _, n := range agents {
		for _, a := range n.Agent().Asks() {
			out = append(out, asker{a, n.Pos()})
		}
	}
	return out
}
