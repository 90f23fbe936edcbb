package setup

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// touches are the kinds of effects through which scripts act on the outside world, within the grants.
var touches = []engine.EffectKind{engine.EffectExec, engine.EffectHTTP, engine.EffectFS, engine.EffectEnv}

// handle sets up the handlers of everything that a run does outside of it: models, MCP servers, people who decide, and
// what is granted. --record writes all of it to a file; with --replay the record answers instead.
func handle(c *term.Console, set *Ports, o *RunFlags, registry *llm.Registry, models engine.Handler, redact func(string) string, file string) (problem *term.Failure) {
	handlers := engine.Handlers{}
	if set.Replayed != nil {
		for _, kind := range append(touches, engine.EffectModel, engine.EffectMCP, engine.EffectApproval, engine.EffectWait) {
			handlers[kind] = knowing{set.Replayed, registry}
		}
	} else if handlers, problem = outsideHandlers(c, set, o, models, redact, file); problem != nil {
		return problem
	}
	for kind, h := range handlers {
		set.Options = append(set.Options, agentscript.HandlerFor(kind, h))
	}
	return nil
}

func outsideHandlers(c *term.Console, set *Ports, o *RunFlags, models engine.Handler, redact func(string) string, file string) (handlers engine.Handlers, problem *term.Failure) {
	if models, problem = o.Calls.cached(models, redact); problem != nil {
		return nil, problem
	}
	var recording *runfile.Writer
	if recording, set.record, problem = o.Calls.recording(redact, file, o.Scripted, o.EnvFile, o.InputFile, o.Trace); problem != nil {
		return nil, problem
	}
	if recording != nil {
		set.Options = append(set.Options, agentscript.RecordRun(recording))
	}
	asks := c.Approver(o.policy.yes)
	if set.servers, problem = servers(c, o, models, asks); problem != nil { // the requests of servers to models are part of their calls
		return nil, problem
	}
	return engine.Handlers{engine.EffectModel: models, engine.EffectMCP: set.servers, engine.EffectApproval: asks}, nil // the engine knows what is granted
}

// World is what tests may access.
type World struct {
	Handlers engine.Handlers
	Options  []agentscript.RunOption // the policy of the project, and the models of agents
	Close    func()
	*Around
}

// Outside opens what a test may access: what is granted, MCP servers within the grants, and models if they are wanted.
func Outside(c *term.Console, o *RunFlags, models bool) (*World, *term.Failure) {
	w := &World{Handlers: engine.Handlers{}, Close: func() {}}
	choice, problem := o.modelChoice()
	if problem != nil {
		return nil, problem
	}
	if w.Around, problem = o.Around(c, nil); problem != nil {
		return nil, problem
	}
	choice.aliases = w.Aliases
	if models {
		w.Handlers[engine.EffectModel] = w.Models
	}
	if o.Granted, _, problem = o.Grants.Open(c); problem != nil {
		return nil, problem
	}
	if o.Granted != nil {
		client, problem := servers(c, o, nil, nil)
		if problem != nil {
			return nil, problem
		}
		w.Handlers[engine.EffectMCP] = client
		for _, kind := range touches {
			w.Handlers[kind] = o.Granted
		}
		w.Close = func() {
			_ = client.Close() // errors of closing are of no use
			_ = o.Granted.Close()
		}
	}
	w.Options = []agentscript.RunOption{agentscript.RunPolicy(o.Project.Policy())}
	if len(w.Handlers) > 0 {
		w.Options = append(append(w.Options, choice.options()...), agentscript.RunPricer(w.Models))
	}
	return w, nil
}

// Effects carries out effects of runs whose scripts are not known yet.
type Effects struct {
	flags  *RunFlags
	models engine.Handler
	pricer engine.Pricer
}

// Effects opens the models of runs whose scripts are not known yet. All runs share the models and the limits on their
// calls.
func (o *RunFlags) Effects(c *term.Console, own *pflag.FlagSet) (*Effects, *term.Failure) {
	registry, problem := Registry(c, o.EnvFile, o.prices, o.provider.options(own)...)
	if problem != nil {
		return nil, problem
	}
	var models engine.Handler = registry
	if o.Scripted != "" {
		if models, problem = o.scriptedRuns(c, own); problem != nil {
			return nil, problem
		}
	} else if problem := o.provider.callable(registry, nil); problem != nil {
		return nil, problem
	}
	if models, problem = o.Calls.cached(models, registry.Redact); problem != nil {
		return nil, problem
	}
	return &Effects{o, models, registry}, nil
}

// Within opens what is granted, which also bounds MCP servers, and returns it with the models as options of an engine.
func (e *Effects) Within(c *term.Console, g *GrantFlags) (granted *grant.Grants, opts []agentscript.Option, done func(), problem *term.Failure) {
	grants, allowed, problem := g.Open(c)
	if problem != nil {
		return nil, nil, nil, problem
	}
	own := *e.flags
	own.Grants, own.Granted = *g, grants
	client, problem := servers(c, &own, e.models, nil)
	if problem != nil {
		return nil, nil, nil, problem
	}
	done = func() {
		_ = client.Close() // errors of closing are of no use
		if grants != nil {
			_ = grants.Close()
		}
	}
	return grants, []agentscript.Option{agentscript.WithModels(e.models), agentscript.WithPricer(e.pricer), agentscript.WithMCP(client), allowed, agentscript.WithUngranted()}, done, nil
}

// Carried returns the options of a run that another command started with these flags: its limits, models and rules.
// file is its script.
func (o *RunFlags) Carried(own *pflag.FlagSet, file string) ([]agentscript.RunOption, *term.Failure) {
	choice, problem := o.modelChoice()
	if problem != nil {
		return nil, problem
	}
	if choice.aliases, problem = o.aliases.Of(o.Project); problem != nil {
		return nil, problem
	}
	rules, problem := o.policy.policy()
	if problem != nil {
		return nil, problem
	}
	o.ofFlow = flowjson.IsFlow(file, nil)
	limits := o.Limits(own)
	limits.Wall = max(0, o.Timeout)
	opts := append(choice.options(), agentscript.RunLimits(limits), agentscript.RunPolicy(rules), agentscript.RunPolicy(o.Project.Policy()))
	if do, ok := engine.ParseOnUnknown(o.onUnknown); ok {
		opts = append(opts, agentscript.OnUnknown(do))
	}
	if o.policy.yes {
		opts = append(opts, agentscript.HandlerFor(engine.EffectApproval, new(term.Console).Approver(true)))
	}
	return opts, nil
}

// KnownModels rejects a --model for an agent that a script does not have.
func (o *RunFlags) KnownModels(s *Script) *term.Failure {
	choice, problem := o.modelChoice()
	if problem != nil {
		return problem
	}
	return choice.known(AgentsOf(s.Module))
}

// knowing replays the calls of models, and keeps the models' secrets: what was removed from the recorded requests must
// be removed from the new ones too.
type knowing struct {
	*cassette.Replayer
	registry *llm.Registry
}

func (k knowing) Secrets() []string { return k.registry.Secrets() }

// after makes prepared answers continue after those given to a run before, in the order of its steps: it uses up the
// lines of a file, and generated values vary as if the run had not been interrupted.
func (set *Ports) after(steps []engine.Step, agents []*flow.Node) error {
	if set.Scripted == nil && set.Mocked == nil {
		return nil
	}
	for _, s := range steps {
		out, err := engine.DecodeOutcome(s.Outcome, nil)
		if err != nil && set.Mocked != nil {
			return fmt.Errorf("what was made up for %s cannot be read: %w", s.ID, err)
		}
		var asked struct {
			Messages []model.Message `json:"messages"`
		}
		if set.Scripted != nil {
			if err := json.Unmarshal(s.Request, &asked); err != nil {
				return fmt.Errorf("what %s asked cannot be read: %w", s.ID, err)
			}
			if out.Err != nil && out.Err.Code == diag.ScriptedModel { // no line answered it
				continue
			}
			for range max(1, out.Attempt) {
				set.Scripted.Took(s.Agent, journal.Position(s.ID), &model.Request{Messages: asked.Messages})
			}
			continue
		}
		for _, n := range agents {
			if n.Agent().Name == s.Agent && out.Response != nil {
				set.made(n, out.Response)
				break
			}
		}
	}
	return nil
}

// made advances the generated values past an answer of an agent.
func (set *Ports) made(n *flow.Node, answer *model.Response) {
	calls := answer.Calls()
	for _, call := range calls {
		for _, t := range n.Agent().AllTools() {
			if t.Name == call.Name {
				set.Mocked.Skip(t.Params, "tool "+t.Name)
				break
			}
		}
	}
	if len(calls) == 0 {
		set.Mocked.Skip(n.Out(), n.Agent().Name)
	}
}
