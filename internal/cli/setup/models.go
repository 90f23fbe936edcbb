package setup

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/mock"
	"github.com/agentscript/agentscript/engine/llm/prices"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Ports holds what makes a run's model calls.
type Ports struct {
	Options  []agentscript.RunOption
	Scripted *scripted.Model    // with --scripted
	Mocked   *mock.Model        // with --mock
	Replayed *cassette.Replayer // with --replay
	record   *os.File           // the file of --record
	servers  *mcp.Client        // nil with --replay
	sessions *Sessions          // nil until a run uses one
	file     string

	Models *llm.Registry // as described by the flags
}

// Virtual reports whether the runs use virtual time.
func (set *Ports) Virtual() bool {
	return set.Scripted != nil || set.Replayed != nil || set.Mocked != nil
}

// Knows informs scripted answers of the agents of a growing script.
func (set *Ports) Knows(m *agentscript.Module) {
	if set.Scripted != nil {
		set.Scripted.Agents(namesOf(AgentsOf(m)))
	}
}

// Again returns the options of a run that is answered from a record: no model is called, and nothing outside is
// touched.
func (set *Ports) Again(record []byte, o *RunFlags) ([]agentscript.RunOption, error) {
	replayed, err := cassette.Replay(bytes.NewReader(record), set.file, set.Models.Redact)
	if err != nil {
		return nil, err
	}
	again := &Ports{Replayed: replayed}
	if problem := handle(nil, again, o, set.Models, nil, nil, set.file); problem != nil {
		return nil, problem
	}
	return append(append(slices.Clone(set.Options), agentscript.VirtualTime()), again.Options...), nil
}

// UseModel makes all agents of a growing script run with a model, or one agent with agent=provider/model. It rejects
// models that no provider could have, and unknown agents.
func (o *RunFlags) UseModel(c *term.Console, model string, m *agentscript.Module) *term.Failure {
	next := *o
	next.models = []string{model}
	choice, problem := next.modelChoice()
	if problem != nil {
		return problem
	}
	if problem := choice.known(AgentsOf(m)); problem != nil {
		return problem
	}
	registry, problem := Registry(c, o.EnvFile, o.prices)
	if problem != nil {
		return problem
	}
	aliases, problem := o.aliases.Of(o.Project)
	if problem != nil {
		return problem
	}
	for _, named := range append(slices.Collect(maps.Values(choice.byAgent)), choice.all) {
		if named = aliases.Named(named); named == "" {
			continue
		}
		if err := registry.Check(named); err != nil && err.Code == diag.UnknownProvider {
			d := term.Diagnose(err)
			helped(d, aliases.Help(named))
			return term.FailureOf(term.ExitUsage, diag.List{d}, nil)
		}
	}
	o.models = next.models
	return nil
}

// ModelsGiven returns the models that were given for all agents or for one.
func (o *RunFlags) ModelsGiven() []string { return o.models }

// Close closes what a run was made with. The errors of closing are of no use.
func (set *Ports) Close() {
	if set.servers != nil {
		_ = set.servers.Close()
	}
	if set.sessions != nil {
		_ = set.sessions.Close() // saved sessions are on disk
	}
	if set.record != nil {
		_ = set.record.Close() // every line was written, and a line that cannot be written fails its call
	}
}

// OpenPorts determines the models of the agents, and checks before the run whether they can be called.
func OpenPorts(c *term.Console, s *Script, o *RunFlags, own *pflag.FlagSet) (*Ports, *term.Failure) {
	choice, problem := o.modelChoice()
	if problem != nil {
		return nil, problem
	}
	if choice.aliases, problem = o.aliases.Of(o.Project); problem != nil {
		return nil, problem
	}
	o.provider.fallbacks = text.Each(o.provider.fallbacks, choice.aliases.Named)
	o.sampling = choice.aliases.Named(o.sampling)
	agents := AgentsOf(s.Module)
	if problem := choice.known(agents); problem != nil && !o.Growing {
		return nil, problem
	}
	set := &Ports{file: s.File}
	if do, ok := engine.ParseOnUnknown(o.onUnknown); ok {
		set.Options = append(set.Options, agentscript.OnUnknown(do))
	}
	if project.Given(own, "seed") {
		set.Options = append(set.Options, agentscript.Seed(o.Mock.Seed))
	}
	extra := o.provider.options(own)
	if o.Scripted != "" && o.Calls.Replay == "" {
		if set.Scripted, problem = readFile("--scripted", o.Scripted, "name a file of JSON lines", scripted.Read); problem != nil {
			return nil, problem
		}
		set.Scripted.Agents(namesOf(agents))
		if !project.Given(own, "retries") { // a row that fails is intended, unless retries were requested
			extra = append(extra, llm.WithRetry(llm.RetryPolicy{Attempts: 1}))
		}
		extra = append(extra, llm.WithDriver(set.Scripted))
	}
	registry, problem := Registry(c, o.EnvFile, o.prices, extra...)
	if problem != nil {
		return nil, problem
	}
	set.Models = registry
	var answering engine.Handler = registry
	switch {
	case o.Calls.Replay != "":
		if set.Replayed, problem = o.Calls.replayed(c, o.Store, registry.Redact); problem != nil {
			return nil, problem
		}
		c.Report(o.Calls.Cut(set.Replayed), nil)
		if choice, problem = choice.asRecorded(set.Replayed.Settings(), own); problem != nil {
			return nil, problem
		}
		answering = set.Replayed
	case o.Scripted != "": // any model is scripted
	case o.Planned: // no model is called
	case o.Mock.On:
		set.Mocked = o.Mock.Model()
		answering = set.Mocked
	default:
		if problem := o.provider.callable(registry, choice.aliases); problem != nil {
			return nil, problem
		}
		if problem := callable(s, agents, choice, registry); problem != nil && !o.Growing {
			return nil, problem
		}
		c.Report(shortKeys(agents, choice, registry), nil)
	}
	set.Options = append(set.Options, choice.options()...)
	if err := set.after(o.Before, agents); err != nil {
		return nil, &term.Failure{Code: term.ExitFailed, Found: diag.List{term.Diagnose(err)}}
	}
	if o.Scripted != "" || o.Calls.Replay != "" || o.Mock.On {
		set.Options = append(set.Options, agentscript.VirtualTime())
	}
	if problem := handle(c, set, o, registry, answering, registry.Redact, s.File); problem != nil {
		return nil, problem
	}
	held, problem := o.policy.held(s)
	if problem != nil {
		return nil, problem
	}
	if !o.Growing { // otherwise it was checked before there was a tool
		if problem := UnknownRules(c, o.Project, s.File, s.Module); problem != nil {
			return nil, problem
		}
	}
	set.Options = append(append(set.Options, held...), agentscript.RunPolicy(o.Project.Policy()), agentscript.RunPricer(o.Mock.Pricer(registry)))
	return set, nil
}

// callable checks the models of agents without using the network. An agent of a main that is a function may never be
// called, so one that names no model is left to the run.
func callable(s *Script, agents []*flow.Node, choice modelChoice, models *llm.Registry) *term.Failure {
	var found, unheld diag.List
	if s.MainNode() != nil {
		agents = agentsUnder(s.MainNode())
	}
	said := map[string]*diag.Diagnostic{}
	for _, ask := range askers(agents) {
		a := ask.Spec
		model := choice.modelOf(a)
		if model == "" && s.MainNode() == nil {
			continue
		}
		named := choice.aliases.Named(model)
		unheld.Add(constrains(models, named, ask))
		d := said[model]
		if d == nil {
			err := models.Check(named)
			if err == nil {
				continue
			}
			d = ask.diagnose(err, err.Code == diag.UnknownProvider && model == a.Model)
			helped(d, choice.aliases.Help(named))
			said[model] = d
			found.Add(d)
		}
		note := diag.Note{Message: "agent " + a.Name + " needs it"}
		if ask.pos != d.Span.Pos {
			note.Pos = ask.pos
		}
		d.Notes = append(d.Notes, note)
	}
	return cmp.Or(term.FailureOf(term.ExitCheck, unheld, s.Sources()), term.FailureOf(term.ExitProvider, found, s.Sources()))
}

// shortKeys warns of keys that are not used.
func shortKeys(agents []*flow.Node, choice modelChoice, models *llm.Registry) (found diag.List) {
	var names []string
	for _, ask := range askers(agents) {
		names = append(append(names, choice.modelOf(ask.Spec)), ask.Fallbacks...)
	}
	for _, w := range models.Warnings(names...) {
		found.Add(&diag.Diagnostic{Severity: diag.Warning, Code: diag.MissingKey, Message: w, Help: []string{"set it to the whole key, or to nothing where a server takes none"}})
	}
	return found
}

// unanswerable warns of models that no provider of this command could answer, and reports agents that require a schema
// of a model that cannot be held to it. The first is not an error of the script, since a host may have its own
// providers.
func unanswerable(m *agentscript.Module, models *llm.Registry, aliases project.Aliases) diag.List {
	var unknown, unheld diag.List
	for _, ask := range askers(AgentsOf(m)) {
		a := ask.Spec
		if a.Model == "" {
			continue
		}
		for _, model := range append([]string{a.Model}, a.Fallbacks...) {
			model = aliases.Named(model)
			if err := models.Check(model); err != nil && err.Code == diag.UnknownProvider {
				d := ask.diagnose(err, true)
				d.Severity = diag.Warning
				helped(d, aliases.Help(model))
				unknown.Add(d)
			}
			unheld.Add(constrains(models, model, ask))
		}
	}
	return append(unknown, unheld...)
}

// helped puts a remedy before those of a diagnostic, unless it is "".
func helped(d *diag.Diagnostic, help string) {
	if help != "" {
		d.Help = append([]string{help}, d.Help...)
	}
}

// constrains reports an agent that requires a schema of a model that cannot be held to it.
func constrains(models *llm.Registry, m string, ask asker) *diag.Diagnostic {
	a := ask.Spec
	if a.Structured != model.StructuredConstrained {
		return nil
	}
	tools := len(a.Tools) > 0 || slices.ContainsFunc(a.Skills, func(s *agent.Skill) bool { return len(s.Tools)+len(s.Knowledge) > 0 })
	why := models.Constrains(m, a.Out, tools)
	if why == "" {
		return nil
	}
	d := &diag.Diagnostic{Code: diag.NoConstraint, Span: a.ModelSpan,
		Message: fmt.Sprintf("agent %q: structured = \"constrained\" cannot be had of %s: %s", a.Name, m, why),
		Help:    []string{"leave it at \"auto\", which takes the best that a model has, or name another model: agentscript models shows which have schema"}}
	if !d.Span.IsValid() || m != a.Model {
		d.Span = diag.Span{Pos: ask.pos}
	}
	return d
}

// known rejects a --model for an agent that does not exist.
func (choice modelChoice) known(agents []*flow.Node) *term.Failure {
	names, all := namesOf(agents), ""
	if len(names) > 0 {
		all = "the agents are " + strings.Join(names, ", ")
	}
	var found diag.List
	for _, agent := range slices.Sorted(maps.Keys(choice.byAgent)) {
		if !slices.Contains(names, agent) {
			found.Add(term.Usagef(cmp.Or(diag.DidYouMean(agent, names), all), "--model %s=…: the script has no agent %q", agent, agent).Found...)
		}
	}
	return term.FailureOf(term.ExitUsage, found, nil)
}

// namesOf lists the names of agents, and of the routers among their skills.
func namesOf(agents []*flow.Node) []string {
	names, seen := []string{}, map[string]bool{}
	for _, n := range agents {
		for _, a := range append([]*agent.Spec{n.Agent()}, n.Agent().Asks()...) {
			if !seen[a.Name] {
				seen[a.Name] = true
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// AgentsOf lists the agents that the script and the files it loads declare.
func AgentsOf(m *agentscript.Module) []*flow.Node {
	return slices.DeleteFunc(slices.Clone(m.Nodes()), func(n *flow.Node) bool { return n.Agent() == nil })
}

// Outermost lists the nodes that the script and the files it loads declare and that have no place in another one.
func Outermost(m *agentscript.Module) []*flow.Node {
	placed := map[*flow.Node]bool{}
	for _, n := range m.Nodes() {
		for _, kid := range n.Children() {
			placed[kid] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(m.Nodes()), func(n *flow.Node) bool { return placed[n] })
}

// agentsUnder lists the agents placed in a node, in the order of the composition.
func agentsUnder(n *flow.Node) []*flow.Node {
	var out []*flow.Node
	if n.Agent() != nil {
		out = append(out, n)
	}
	for _, k := range n.Children() {
		out = append(out, agentsUnder(k)...)
	}
	return out
}

// asker is something that calls a model: an agent, or the router that chooses among its skills.
type asker struct {
	*agent.Spec
	pos diag.Pos // position of the agent
}

// diagnose reports why a model cannot be called: at the name of the model if that is wrong, otherwise at the agent.
func (a asker) diagnose(err error, name bool) *diag.Diagnostic {
	d := term.Diagnose(err)
	if d.Span.Pos = a.pos; name && a.ModelSpan.IsValid() {
		d.Span = a.ModelSpan
	}
	return d
}

// askers lists what calls models among the agents.
func askers(agents []*flow.Node) []asker {
	var out []asker
	for _, n := range agents {
		for _, a := range n.Agent().Asks() {
			out = append(out, asker{a, n.Pos()})
		}
	}
	return out
}

// Registry returns the model port of a command, with the keys and prices that its flags name.
func Registry(c *term.Console, envFile, priceFile string, more ...llm.Option) (*llm.Registry, *term.Failure) {
	secrets, problem := Secrets(c, envFile)
	if problem != nil {
		return nil, problem
	}
	opts := append([]llm.Option{llm.WithSecrets(secrets)}, more...)
	if priceFile != "" {
		data, err := os.ReadFile(priceFile)
		if err != nil {
			return nil, term.Usagef("", "--prices %s: %s", priceFile, term.FileProblem(err))
		}
		table, err := prices.Embedded().With(data)
		if err != nil {
			return nil, term.Usagef("", "--prices %s: %v", priceFile, err)
		}
		opts = append(opts, llm.WithPrices(table))
	}
	return llm.New(opts...), nil
}

// modelChoice is the choice of the --model flags.
type modelChoice struct {
	all     string
	unnamed string // the project's model, for agents that name none
	byAgent map[string]string
	aliases project.Aliases
}

func (o *RunFlags) modelChoice() (modelChoice, *term.Failure) {
	choice := modelChoice{byAgent: map[string]string{}, unnamed: o.Project.Text(project.Run, "model")}
	for _, text := range o.models {
		agent, model, one := strings.Cut(text, "=")
		one = one && !strings.Contains(agent, "/") // otherwise the = belongs to the model's name
		switch {
		case one && (agent == "" || model == ""), text == "":
			return choice, term.Usagef("write provider/model, or agent=provider/model", "--model %q names no model", text)
		case one && choice.byAgent[agent] != "":
			return choice, term.Usagef("", "--model is set twice for agent %q", agent)
		case one:
			choice.byAgent[agent] = model
		case choice.all != "":
			return choice, term.Usagef("for one agent write agent=provider/model", "--model is set twice for all agents: %s and %s", choice.all, text)
		default:
			choice.all = text
		}
	}
	return choice, nil
}

// options returns the choice as options of a run. --model for all overrides what scripts name, since it is the only way
// to do that.
func (choice modelChoice) options() []agentscript.RunOption {
	opts := []agentscript.RunOption{agentscript.ModelAliases(choice.aliases)}
	if choice.unnamed != "" {
		opts = append(opts, agentscript.Model(choice.unnamed))
	}
	if choice.all != "" {
		opts = append(opts, agentscript.ModelOverride(choice.all))
	}
	for agent, model := range choice.byAgent {
		opts = append(opts, agentscript.ModelFor(agent, model))
	}
	return opts
}

// modelOf returns the model that an agent will run with, or "" if none is named.
func (choice modelChoice) modelOf(a *agent.Spec) string {
	if m := cmp.Or(choice.byAgent[a.Name], choice.all); m != "" {
		return m
	}
	if a.Of != nil && a.Model == "" {
		return choice.modelOf(a.Of)
	}
	return cmp.Or(a.Model, choice.unnamed)
}
