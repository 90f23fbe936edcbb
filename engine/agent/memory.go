package agent

import "github.com/agentscript/agentscript/diag"

// MemoryBank is a place for notes, declared by a script and shared by runs. Each agent that has the bank has its own
// slot in it, identified by the agent's name, and sees no other.
type MemoryBank struct {
	Name string
	// Session keeps the notes in the run's session, for later runs; otherwise they end with the run.
	Session bool
	// Shared makes all agents use one slot.
	Shared bool
	// MaxLines and MaxTokens keep only the last lines: that many, or as many as have together about that many tokens,
	// at 4 characters per token. 0 keeps all.
	MaxLines, MaxTokens int
}

// MaxMemoryBytes is the maximum size of one slot of a bank, and therefore of one write.
const MaxMemoryBytes = 1 << 20

// SlotOf returns the slot of an agent in the bank.
func (m *MemoryBank) SlotOf(agent string) string {
	if m.Shared {
		return ""
	}
	return agent
}

// MemoryOp is an operation on a slot.
type MemoryOp string

// The operations on a slot.
const (
	MemoryRead   MemoryOp = "read"   // reads the text, "" if there is none
	MemoryWrite  MemoryOp = "write"  // replaces the text
	MemoryAppend MemoryOp = "append" // adds lines at the end
	MemorySearch MemoryOp = "search" // returns the lines that contain a text, ignoring case
)

// Writes reports whether an operation changes the slot.
func (o MemoryOp) Writes() bool { return o == MemoryWrite || o == MemoryAppend }

// ToolName returns the name of the tool with which a model asks for the operation. No other tool may have that name.
func (o MemoryOp) ToolName() string { return "memory_" + string(o) }

// reserved reports a tool that has the name of one of the memory tools.
func (c *checker) reserved(t *Tool, at diag.Span) bool {
	for _, op := range []MemoryOp{MemoryRead, MemoryWrite, MemoryAppend, MemorySearch} {
		if t.Name == op.ToolName() {
			d := c.Errorf(diag.DuplicateName, at, "the name of tool %q belongs to memory", t.Name)
			d.Helpf("rename it: tool(f, name = \"...\"); the tool itself comes with agent(memory = memory(\"notes\"))")
			return true
		}
	}
	return false
}
