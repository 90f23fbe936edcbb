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
	tool := func(name, doc string, op agent.MemoryOp, param, guide string, said func(string) string) *agent.Tool {
		t := &agent.Tool{Name: name, Doc: doc, Class: engine.ClassIdempotent, Returns: generable.StrT, Span: at,
			Params: &generable.Type{Kind: generable.RecordType, Name: name}}
		if param != "" {
			t.Params.Fields = []generable.Field{{Name: param, Type: generable.StrT, Guide: guide}}
		}
		t.Run = engine.GoFunc(name, 1, func(b engine.Branch, args []generable.Value) (generable.Value, error) {
			text := ""
			if r, ok := args[0].AsRecord(); ok && param != "" {
				text, _ = r.At(0).AsStr()
			}
			out, err := b.(*exec.Branch).Memory(m, op, slot, text)
			if err != nil {
				return generable.Value{}, err
			}
			return generable.StrOf(said(out)), nil
		})
		return t
	}
	same := func(s string) string { return s }
	saved := func(s string) string { return "saved: " + text.CountInWords(countLines(s), "line") + " now" }
	return []*agent.Tool{
		tool(agent.ToolMemoryRead, "Gives "+whose+": all that was kept, or nothing.", agent.MemoryRead, "", "", same),
		tool(agent.ToolMemoryWrite, "Replaces "+whose+" by the content.", agent.MemoryWrite, "content", "what is kept, instead of all before", saved),
		tool(agent.ToolMemoryAppend, "Adds lines to the end of "+whose+".", agent.MemoryAppend, "content", "what is added", saved),
		tool(agent.ToolMemorySearch, "Gives the lines of "+whose+" that hold a text, in upper or lower case.", agent.MemorySearch, "query", "the text to look for", same),
	}
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
