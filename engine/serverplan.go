package engine

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// servers are the MCP servers of a skill, and what their tools made of it the last time.
type servers struct {
	specs []*ServerSpec
	last  atomic.Pointer[served]
}

// served is a skill with the tools of its servers.
type served struct {
	lists [sha256.Size]byte // of what the servers listed
	plan  *skillPlan
}

// serversOf are those of an agent and one of its skills.
func serversOf(a *AgentSpec, sk *Skill) *servers {
	s := &servers{}
	for _, list := range [][]*ServerSpec{a.Servers, sk.Servers} {
		for _, spec := range list {
			if !slices.Contains(s.specs, spec) {
				s.specs = append(s.specs, spec)
			}
		}
	}
	if len(s.specs) == 0 {
		return nil
	}
	return s
}

// withServers gives a skill the tools of its servers. What a server lists is asked for before the
// agent's first model call, of all servers at once, and holds for this call of the agent: it is
// an effect, so that a replay needs no server.
func (b *branch) withServers(sk *skillPlan) (*skillPlan, error) {
	if sk.servers == nil {
		return sk, nil
	}
	specs := sk.servers.specs
	lists := make([]generable.Value, len(specs))
	err := b.sched.Par(len(specs), 0, func(i int, s Sched) error {
		br := b.fork(s, b.at.child("mcp", specs[i].Name, 0))
		return br.guard(func() (err error) {
			lists[i], err = br.list(specs[i], sk.agent.Name)
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
	if last := sk.servers.last.Load(); last != nil && last.lists == sum {
		return last.plan, nil
	}
	plan, err := sk.with(specs, lists)
	if err != nil {
		return nil, err
	}
	sk.servers.last.Store(&served{sum, plan})
	return plan, nil
}

// list asks one server for its tools.
func (b *branch) list(spec *ServerSpec, agent string) (generable.Value, error) {
	out := b.do((&inFlight{effect: Effect{Kind: EffectMCP, Name: spec.Name, Agent: agent, Run: b.RunID(), At: b.at, Req: &ServerRequest{spec}, Class: ClassRead}}).begin(), &ask{})
	if out.Err != nil {
		return out.Value, b.locate(spec.at(out.Err), nil)
	}
	return out.Value, nil
}

// at puts a failure where the script declares the server.
func (s *ServerSpec) at(e *Error) *Error {
	if e.Pos.IsValid() || !s.Span.IsValid() || IsControl(e) {
		return e
	}
	own := *e
	own.Pos = s.Span.Pos
	return &own
}

// with is the skill with the tools that its servers listed.
func (p *skillPlan) with(specs []*ServerSpec, lists []generable.Value) (*skillPlan, error) {
	own := &skillPlan{Skill: p.Skill, agent: p.agent, loose: p.loose, system: p.system, output: p.output,
		tools: slices.Clone(p.tools), defs: slices.Clone(p.defs)}
	var tools []*Tool
	for i, spec := range specs {
		listed, err := toolsIn(lists[i])
		if err != nil {
			return nil, err
		}
		chosen, err := spec.choose(listed)
		if err != nil {
			return nil, spec.at(asError(err))
		}
		for j := range chosen {
			t, err := spec.tool(&chosen[j])
			if err != nil {
				return nil, spec.at(asError(err))
			}
			tools = append(tools, t)
		}
	}
	nameTools(p.tools, tools)
	for _, t := range tools {
		own.tools = append(own.tools, t)
		own.defs = append(own.defs, t.def())
	}
	own.rules()
	if c := p.agent.Choice; c.Mode == ChoiceTool && own.tool(c.Tool) == nil {
		return nil, Errorf(KindConfig, diag.ServerTools, "tool_choice of agent %q names %q, which neither the agent nor its servers have", p.agent.Name, c.Tool).
			WithHelp("its tools are %s", strings.Join(own.toolNames(), ", "))
	}
	return own, nil
}

func (p *skillPlan) toolNames() []string {
	names := make([]string, len(p.tools))
	for i, t := range p.tools {
		names[i] = t.Name
	}
	return names
}

// def is what a model is told of the tool.
func (t *Tool) def() ToolDef {
	return ToolDef{Name: t.Name, Description: t.Doc, Params: t.params(), Schema: t.Schema}
}

// handled is the name under which a handler and a policy know the tool: server.tool of a server's.
func (t *Tool) handled() string {
	if t.Server != nil {
		return t.Server.Name + "." + t.Remote
	}
	return t.Name
}

// name is the server's, "" of none.
func (s *ServerSpec) name() string {
	if s == nil {
		return ""
	}
	return s.Name
}

// byServer is the kind whose handler runs the effect: calls of a server's tools are run by what
// reaches the server.
func (e *Effect) byServer() EffectKind {
	if r, ok := e.Req.(*ToolRequest); ok && r.Server != nil && e.Kind == EffectTool {
		return EffectMCP
	}
	return e.Kind
}

func noServers(e *Effect) *Error {
	return Errorf(KindConfig, diag.NoServers, "agent %q has tools of an MCP server, and nothing here reaches one (%s)", e.Agent, e.Name).
		WithHelp("a host gives what reaches servers: agentscript.WithMCP(mcp.New(...))")
}

// notices hands what a server says while it runs a tool to the listener.
func (b *branch) notices(e *Effect, r *ToolRequest) Sink {
	if r.Server == nil || !b.Wants(EventTool) {
		return nil
	}
	path := e.At.Path()
	return func(t Token) {
		if t.Notice != "" {
			b.emit(Event{Kind: EventTool, Path: path, ID: e.ID(), Data: &ToolData{Phase: PhaseProgress, Name: e.Name, Text: t.Notice}})
		}
	}
}
