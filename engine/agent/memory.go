package agent

import "github.com/agentscript/agentscript/diag"

// MemoryBank is a place for notes, declared by a script and shared by runs. Each agent that is
// given the bank has a slot of its own in it, by its name, and sees no other.
type MemoryBank struct {
	Name string
	// Session keeps the notes in the run's session, for the runs that follow; else they end with
	// the run.
	Session bool
	// Shared gives all agents one slot.
	Shared bool
	// MaxLines and MaxTokens keep the last lines alone: so many, or as many as have together about
	// so many tokens, at 4 characters a token. 0 keeps all.
	MaxLines, MaxTokens int
}

// MaxMemoryBytes bounds one slot of a bank, and so what one write may hold.
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
	MemoryRead   MemoryOp = "read"   // gives the text, "" when there is none
	MemoryWrite  MemoryOp = "write"  // replaces the text
	MemoryAppend MemoryOp = "append" // adds lines at the end
	MemorySearch MemoryOp = "search" // gives the lines that hold a text, upper and lower case alike
)

// Writes reports whether an operation changes the slot.
func (o MemoryOp) Writes() bool { return o == MemoryWrite || o == MemoryAppend }

// ToolName returns the name of the tool by which a model asks for the operation. No other tool may have it.
func (o MemoryOp) ToolName() string { return "memory_" + string(o) }

// reserved reports a tool that has the name of one of memory's.
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

// CompressHow is a way to shorten a conversation.
type CompressHow string

// The ways to shorten a conversation.
const (
	CompressWindow  CompressHow = "window"  // what is old is left out
	CompressSummary CompressHow = "summary" // a model sums up what is old
)

// Compression says when a conversation has become too long, and what is done about it. The newest
// messages and the agent's own input are kept as they are, and a call is never parted from its
// result. The system text is none of the messages.
type Compression struct {
	After  int // messages; 0: any number
	Tokens int // about, at 4 characters a token; 0: any number
	Keep   int // at least so many of the newest messages stay
	How    CompressHow
	Model  string // that sums up; "" is the agent's
}

// Defaults of a compression.
const (
	DefaultCompressAfter = 40
	DefaultCompressKeep  = 10
)

// History says what an agent sees of what was said before its call. Without one each call begins
// anew.
//
// Agents that share their history go on with one conversation: each sees what those before it on
// its branch were asked, did and answered, and its own system text alone. Branches that run at once
// go on with the conversation as it was before them and do not see each other; after them it is as
// it was before them, and what they gave is in the input of what follows. What is tried and fails
// leaves nothing in it.
type History struct {
	Shared   bool         // with the agents before and after; else only Compress counts, in the agent's own turns
	Compress *Compression // of what has become too long; nil: never
}

// Shares reports whether an agent goes on with the conversation.
func (h *History) Shares() bool { return h != nil && h.Shared }

// Compresses reports whether conversations that have become too long are shortened.
func (h *History) Compresses() bool { return h != nil && h.Compress != nil }
