package conversation

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// tools are what a model may do with its agent's slot.
func tools(m *agent.MemoryBank, a string, at diag.Span) []*agent.Tool {
	slot, whose := m.SlotOf(a), "your notes"
	if m.Shared {
		whose = "the notes that all agents share"
	}
	tool := func(op agent.MemoryOp, doc, param, guide string) *agent.Tool {
		name := op.ToolName()
		t := &agent.Tool{Name: name, Doc: doc, Class: engine.ClassIdempotent, Returns: generable.StrT, Span: at,
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

// memoryRun carries out an operation on a slot, with the text of its only parameter, if any.
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
		out = "saved: " + text.CountInWords(countLines(out), "line") + " now"
	}
	return generable.StrOf(out), nil
}

func countLines(text string) int {
	n := 0
	for range exec.Lines(text) {
		n++
	}
	return n
}

// memoryTools are the tools that an agent's memory adds to a skill.
func memoryTools(a *agent.AgentSpec) []*agent.Tool {
	if a.Memory == nil {
		return nil
	}
	return tools(a.Memory, a.Name, a.MemorySpan)
}
