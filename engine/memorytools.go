package engine

import (
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// The names of the tools that memory gives an agent. No other tool may have them.
const (
	toolMemoryRead   = "memory_read"
	toolMemoryWrite  = "memory_write"
	toolMemoryAppend = "memory_append"
	toolMemorySearch = "memory_search"
)

var memoryToolNames = []string{toolMemoryRead, toolMemoryWrite, toolMemoryAppend, toolMemorySearch}

// SlotOf is the slot of an agent in the bank.
func (m *MemoryBank) SlotOf(agent string) string {
	if m.Shared {
		return ""
	}
	return agent
}

// tools are what a model may do with its agent's slot.
func (m *MemoryBank) tools(agent string, at diag.Span) []*Tool {
	slot, whose := m.SlotOf(agent), "your notes"
	if m.Shared {
		whose = "the notes that all agents share"
	}
	tool := func(name, doc string, op MemoryOp, param, guide string, said func(string) string) *Tool {
		t := &Tool{Name: name, Doc: doc, Class: ClassIdempotent, Returns: generable.StrT, Span: at,
			Params: &generable.Type{Kind: generable.RecordType, Name: name}}
		if param != "" {
			t.Params.Fields = []generable.Field{{Name: param, Type: generable.StrT, Guide: guide}}
		}
		t.Run = GoFunc(name, 1, func(b Branch, args []generable.Value) (generable.Value, error) {
			text := ""
			if r, ok := args[0].AsRecord(); ok && param != "" {
				text, _ = r.At(0).AsStr()
			}
			out, err := b.(*branch).memory(m, op, slot, text)
			if err != nil {
				return generable.Value{}, err
			}
			return generable.StrOf(said(out)), nil
		})
		return t
	}
	same := func(s string) string { return s }
	saved := func(s string) string { return "saved: " + text.CountInWords(countLines(s), "line") + " now" }
	return []*Tool{
		tool(toolMemoryRead, "Gives "+whose+": all that was kept, or nothing.", MemoryRead, "", "", same),
		tool(toolMemoryWrite, "Replaces "+whose+" by the content.", MemoryWrite, "content", "what is kept, instead of all before", saved),
		tool(toolMemoryAppend, "Adds lines to the end of "+whose+".", MemoryAppend, "content", "what is added", saved),
		tool(toolMemorySearch, "Gives the lines of "+whose+" that hold a text, in upper or lower case.", MemorySearch, "query", "the text to look for", same),
	}
}

func countLines(text string) int {
	n := 0
	for range lines(text) {
		n++
	}
	return n
}

// memoryTools are the tools that an agent's memory adds to a skill.
func memoryTools(a *AgentSpec) []*Tool {
	if a.Memory == nil {
		return nil
	}
	return a.Memory.tools(a.Name, a.MemorySpan)
}

// reserved reports a tool that has the name of one of memory's.
func (c *checker) reserved(t *Tool, at diag.Span) bool {
	if !slices.Contains(memoryToolNames, t.Name) {
		return false
	}
	d := c.Errorf(diag.DuplicateName, at, "the name of tool %q belongs to memory", t.Name)
	d.Helpf("rename it: tool(f, name = \"...\"); the tool itself comes with agent(memory = memory(\"notes\"))")
	return true
}

// Memory declares a bank. Its name is the only one in a script, since it names what is kept.
func (s *Session) Memory(at diag.Span, m MemoryBank) *MemoryBank {
	if before, ok := s.banks[m.Name]; ok {
		d := s.Errorf(diag.DuplicateName, at, "two memories are named %q", m.Name)
		d.Notef(before.Pos, "the first is made")
		d.Helpf("give both agents the one memory: each has a slot of its own; or rename one")
	} else {
		if s.banks == nil {
			s.banks = map[string]diag.Span{}
		}
		s.banks[m.Name] = at
		if m.Session && s.kept == nil {
			s.kept = &m
		}
	}
	return &m
}

// Banks is how many memories were declared.
func (s *Session) Banks() int { return len(s.banks) }

// Kept is the first memory that was declared to be kept in a session, nil for none: see [RunSpec.Keeps].
func (s *Session) Kept() *MemoryBank { return s.kept }
