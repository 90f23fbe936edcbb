package agent

// CompressHow is a way to shorten a conversation.
type CompressHow string

// The ways to shorten a conversation.
const (
	CompressWindow  CompressHow = "window"  // old messages are left out
	CompressSummary CompressHow = "summary" // a model summarizes old messages
)

// Compression says when a conversation has become too long, and what happens then. The newest messages and the
// agent's own input are kept unchanged, and a call is never separated from its result. The system text is not one of
// the messages.
type Compression struct {
	After  int // messages; 0: any number
	Tokens int // approximate, at 4 characters per token; 0: any number
	Keep   int // the minimum number of newest messages that stay
	How    CompressHow
	Model  string // the model that summarizes; "" is the agent's
}

// Defaults of a compression.
const (
	DefaultCompressAfter = 40
	DefaultCompressKeep  = 10
)

// History says what an agent sees of what was said before its call. Without one, each call begins a new conversation.
//
// Agents that share their history continue one conversation: each sees what those before it on its branch were asked,
// did and answered, and only its own system text. Branches that run at once continue the conversation as it was
// before them and do not see each other; after them it is as it was before them, and their outputs are in the input
// of what follows. An attempt that fails leaves nothing in the conversation.
type History struct {
	Shared   bool         // with the agents before and after; otherwise only Compress counts, in the agent's own turns
	Compress *Compression // of a conversation that has become too long; nil: never
}

// Shares reports whether an agent continues the conversation.
func (h *History) Shares() bool { return h != nil && h.Shared }

// Compresses reports whether conversations that have become too long are shortened.
func (h *History) Compresses() bool { return h != nil && h.Compress != nil }
