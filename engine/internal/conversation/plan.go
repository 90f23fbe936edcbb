// Package conversation runs one call of an agent: the requests to the model, the calls of its tools, and its answer.
package conversation

import (
	"slices"
	"sync/atomic"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Plan is the part of an agent that is built once for all runs.
type Plan struct {
	Spec   *agent.Spec
	only   *skillPlan // the skill for every input; nil if it depends on the input
	Skills []*skillPlan
	bounds bool // the budget covers what the agent calls
}

// skillPlan is the plan of a skill.
type skillPlan struct {
	*agent.Skill
	agent  *agent.Spec
	loose  bool   // its output is not proven to have the agent's output type
	system string // of a model: the system text; of a template agent, the text after the rendered template
	tools  []*agent.Tool

	hasRules bool // some tool has rules about when it may be called
	defs     []model.ToolDef
	output   *model.Output
	head     model.HeadCache
	servers  []*remote.Server       // that provide further tools
	served   atomic.Pointer[served] // the plan with their tools, from the last time
	History  *agent.History         // nil: each call starts a new conversation
}

// NewPlan returns the plan of an agent.
func NewPlan(a *agent.Spec) *Plan {
	p := &Plan{Spec: a, bounds: a.Budget.Over()}
	for _, sk := range a.Candidates() {
		p.Skills = append(p.Skills, planSkill(a, sk))
	}
	if len(p.Skills) == 1 && typing.Proven(a.In, p.Skills[0].In) && (a.Select == nil || a.Select.By == nil) {
		p.only = p.Skills[0]
	}
	return p
}

// give converts the skill's result to the agent's output type.
func (p *skillPlan) give(v generable.Value) (generable.Value, error) {
	if !p.loose {
		return v, nil
	}
	return exec.Converted(v, p.agent.Out, p.agent.Name)
}

func planSkill(a *agent.Spec, sk *agent.Skill) *skillPlan {
	p := &skillPlan{Skill: sk, agent: a, loose: !typing.Proven(sk.Out, a.Out)}
	if sk.Run != nil {
		return p
	}
	seen := map[*agent.Tool]bool{} // a tool that agent and skill both list is offered once
	for _, t := range slices.Concat(a.Tools, sk.Tools, knowledgeTools(sk), memoryTools(a)) {
		if !seen[t] {
			seen[t] = true
			p.tools = append(p.tools, runnable(t))
			p.defs = append(p.defs, def(t))
		}
	}
	p.servers = serversOf(a, sk)
	p.system = a.SystemText(sk)
	p.rules()
	if sk.Out.Deref().Kind != generable.StrType {
		p.output = &model.Output{Type: sk.Out, Structured: a.Structured}
		if sk.Out.ID() == a.Out.ID() {
			p.output.Enough = a.Enough
		}
	}
	return p
}

// runnable returns a tool; for a tool that is a node, a copy with the function that calls the node.
func runnable(t *agent.Tool) *agent.Tool {
	if t.Node == nil {
		return t
	}
	n := t.Node.(*flow.Node)
	own := *t
	own.Run = &nodeTool{n: n, name: t.Name, boxed: n.In().Deref().Kind != generable.RecordType}
	return &own
}

// nodeTool calls a node with the arguments of a tool.
type nodeTool struct {
	n     *flow.Node
	name  string
	boxed bool // the input is the tool's only parameter
}

func (t *nodeTool) Info() engine.FuncInfo {
	return engine.FuncInfo{Name: t.name, Pos: t.n.Pos(), Params: 1, Needs: 1}
}

func (t *nodeTool) Call(b engine.Branch, args []generable.Value) (generable.Value, error) {
	in := args[0]
	if r, ok := in.AsRecord(); ok && t.boxed {
		in = r.At(0)
	}
	out, err := b.(*exec.Branch).Call(t.n, in)
	if e, ok := err.(*engine.Error); ok && e.Verdict != nil { // the verdict ended the inner agent, not the calling one
		own := *e
		own.Verdict, err = nil, &own
	}
	return out, err
}

// memoryTools returns the tools that an agent's memory adds to a skill: the operations on the agent's slot.
func memoryTools(a *agent.Spec) []*agent.Tool {
	m := a.Memory
	if m == nil {
		return nil
	}
	slot, whose := m.SlotOf(a.Name), "your notes"
	if m.Shared {
		whose = "the notes that all agents share"
	}
	tool := func(op agent.MemoryOp, doc, param, guide string) *agent.Tool {
		name := op.ToolName()
		t := &agent.Tool{Name: name, Doc: doc, Class: engine.ClassIdempotent, Returns: generable.StrT, Span: a.MemorySpan,
			Params: &generable.Type{Kind: generable.RecordType, Name: name}, Run: &memoryRun{m, op, slot}}
		if param != "" {
			t.Params.Fields = []generable.Field{{Name: param, Type: generable.StrT, Guide: guide}}
		}
		return t
	}
	return []*agent.Tool{
		tool(agent.MemoryRead, "Gives "+whose+": all that was kept, or nothing.", "", ""),
		tool(agent.MemoryWrite, "Replaces "+whose+" by the content.", "content", "what is kept, instead of all before"),
		tool(agent.MemoryAppend, "Adds lines to the end of "+whose+".", "content", "what is added"),
		tool(agent.MemorySearch, "Gives the lines of "+whose+" that hold a text, in upper or lower case.", "query", "the text to look for"),
	}
}

// memoryRun executes an operation on a slot, with the text of its only parameter, if any.
type memoryRun struct {
	bank *agent.MemoryBank
	op   agent.MemoryOp
	slot string
}

// Info implements [engine.Func].
func (r *memoryRun) Info() engine.FuncInfo {
	return engine.FuncInfo{Name: r.op.ToolName(), Params: 1, Needs: 1}
}

// UsesMemory implements [memoryUser].
func (r *memoryRun) UsesMemory() bool { return true }

// Call implements [engine.Func].
func (r *memoryRun) Call(b engine.Branch, args []generable.Value) (generable.Value, error) {
	given := ""
	if in, ok := args[0].AsRecord(); ok && len(in.Type().Fields) > 0 {
		given, _ = in.At(0).AsStr()
	}
	out, err := b.(*exec.Branch).Memory(r.bank, r.op, r.slot, given)
	if err != nil {
		return generable.Value{}, err
	}
	if r.op.Writes() {
		out = "saved: " + text.CountInWords(len(exec.Lines(out)), "line") + " now"
	}
	return generable.StrOf(out), nil
}

// knowledgeTools offers each piece of knowledge as a tool, so that its text is sent to the model only on request.
func knowledgeTools(sk *agent.Skill) []*agent.Tool {
	var tools []*agent.Tool
	for _, k := range sk.Knowledge {
		t := &agent.Tool{Name: k.Key, Doc: k.Doc, Class: engine.ClassRead, Returns: generable.StrT, Span: sk.Span,
			Run: &knowledgeRun{k}}
		if searched(&k) {
			t.Params = queryType
		}
		tools = append(tools, t)
	}
	return tools
}

// knows reports whether a tool returns a piece of knowledge.
func knows(t *agent.Tool) bool {
	_, ok := t.Run.(*knowledgeRun)
	return ok
}

// knowledgeRun returns a piece of knowledge.
type knowledgeRun struct{ agent.Knowledge }

// Info returns that of the function that loads the text: failures in it belong to it.
func (k *knowledgeRun) Info() engine.FuncInfo {
	info := engine.FuncInfo{Name: k.Key, Params: 1, Needs: 1}
	if k.Load != nil {
		load := k.Load.Info()
		info.Name, info.Pos = load.Name, load.Pos
	}
	return info
}

func (k *knowledgeRun) Call(b engine.Branch, args []generable.Value) (generable.Value, error) {
	switch {
	case k.Load == nil:
		return generable.StrOf(k.Text), nil
	case searched(&k.Knowledge):
		query, _ := typing.Field(args[0], "query")
		return k.Load.Call(b, []generable.Value{query})
	}
	return k.Load.Call(b, nil)
}

// searched reports whether the text depends on the model's query.
func searched(k *agent.Knowledge) bool { return k.Load != nil && k.Load.Info().Needs == 1 }

var queryType = &generable.Type{Kind: generable.RecordType, Name: "Query", Fields: []generable.Field{
	{Name: "query", Type: generable.StrT, Guide: "what to look for"},
}}
