package conversation

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// served is a skill with the tools of its servers.
type served struct {
	lists [sha256.Size]byte // hash of what the servers listed
	plan  *skillPlan
}

// serversOf returns the servers of an agent and one of its skills.
func serversOf(a *agent.Spec, sk *agent.Skill) (specs []*remote.Server) {
	for _, spec := range slices.Concat(a.Servers, sk.Servers) {
		if !slices.Contains(specs, spec) {
			specs = append(specs, spec)
		}
	}
	return specs
}

// withServers adds the tools of its servers to a skill. All servers are asked for their tools concurrently, before the
// agent's first model call, and the lists apply to this call of the agent. Listing is an effect, so that a replay needs
// no server.
func withServers(b *exec.Branch, sk *skillPlan) (*skillPlan, error) {
	if len(sk.servers) == 0 {
		return sk, nil
	}
	specs := sk.servers
	lists := make([]generable.Value, len(specs))
	err := b.Sched.Par(len(specs), 0, func(i int, s engine.Sched) error {
		br := b.Fork(s, b.At.Child("mcp", specs[i].Name, 0))
		return br.Guard(func() (err error) {
			lists[i], err = list(br, specs[i], sk.agent.Name)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	var canon []byte
	for _, l := range lists {
		canon = generable.AppendCanon(canon, l)
	}
	sum := abi.Hash(canon)
	if last := sk.served.Load(); last != nil && last.lists == sum {
		return last.plan, nil
	}
	plan, err := sk.with(specs, lists)
	if err != nil {
		return nil, err
	}
	sk.served.Store(&served{sum, plan})
	return plan, nil
}

// list asks one server for its tools.
func list(b *exec.Branch, spec *remote.Server, agent string) (generable.Value, error) {
	out := b.Do((&exec.InFlight{Effect: engine.Effect{Kind: engine.EffectMCP, Name: spec.Name, Agent: agent, Run: b.RunID(), At: b.At, Req: &remote.ListRequest{Server: spec}, Class: engine.ClassRead}}).Begin(), &exec.Ask{})
	switch p := b.Run.Spec.Prepared; {
	case out.Err != nil:
		return out.Value, b.Locate(spec.At(out.Err), nil)
	case out.Value.IsNull() && p != nil && p.StandIn != nil: // its server is left out
		b.EmitPolicy(engine.PhaseEnd, spec.Name, "mocked", nil)
	case out.Value.IsNull():
		_, err := remote.DecodeTools(out.Value)
		return out.Value, err
	}
	return out.Value, nil
}

// with returns the skill with the tools that its servers listed.
func (p *skillPlan) with(specs []*remote.Server, lists []generable.Value) (*skillPlan, error) {
	own := &skillPlan{Skill: p.Skill, agent: p.agent, loose: p.loose, system: p.system, output: p.output,
		tools: slices.Clone(p.tools), defs: slices.Clone(p.defs)}
	var tools []*agent.Tool
	for i, spec := range specs {
		if lists[i].IsNull() {
			continue
		}
		offered, err := agent.ToolsOf(spec, lists[i])
		if err != nil {
			return nil, spec.At(engine.AsError(err))
		}
		for _, o := range offered {
			if o.Err != nil {
				return nil, spec.At(o.Err)
			}
			tools = append(tools, o.Tool)
		}
	}
	tools, err := offered(p.agent, tools)
	if err != nil {
		return nil, err
	}
	agent.NameTools(p.tools, tools)
	for _, t := range tools {
		own.tools = append(own.tools, t)
		own.defs = append(own.defs, def(t))
	}
	own.rules()
	if c := p.agent.Choice; c.Mode == model.ChoiceTool && own.tool(c.Tool) == nil {
		return nil, engine.Errorf(engine.KindConfig, diag.ServerTools, "tool_choice of agent %q names %q, which neither the agent nor its servers have", p.agent.Name, c.Tool).
			WithHelp("its tools are %s", strings.Join(own.toolNames(), ", "))
	}
	return own, nil
}

// offered returns the servers' tools that an agent may call. A name that no server has is an error: otherwise only the
// model would notice.
func offered(a *agent.Spec, tools []*agent.Tool) ([]*agent.Tool, error) {
	if a.Offer == nil {
		return tools, nil
	}
	var out []*agent.Tool
	wanted := slices.Clone(a.Offer)
	for _, t := range tools {
		fits := func(name string) bool { return name == t.Remote || name == t.Handled() }
		if slices.ContainsFunc(a.Offer, fits) {
			out = append(out, t)
			wanted = slices.DeleteFunc(wanted, fits)
		}
	}
	if len(wanted) == 0 {
		return out, nil
	}
	names := text.Each(tools, func(t *agent.Tool) string { return t.Remote })
	help := "its servers list no tools"
	if len(names) > 0 {
		help = "its servers have " + text.Clip(strings.Join(names, ", "), 600)
	}
	return nil, engine.Errorf(engine.KindConfig, diag.ServerTools, "agent %q may call %q, which none of its servers has", a.Name, wanted[0]).
		WithHelp("%s", cmp.Or(diag.DidYouMean(wanted[0], names), help))
}

func (p *skillPlan) toolNames() []string {
	return text.Each(p.tools, func(t *agent.Tool) string { return t.Name })
}

// def returns the tool's definition for a model.
func def(t *agent.Tool) model.ToolDef {
	d := model.ToolDef{Name: t.Name, Description: t.Doc, Params: t.Parameters(), Schema: t.Schema}
	if t.Rules != nil {
		d.After = t.Rules.OnlyAfter
	}
	return d
}
