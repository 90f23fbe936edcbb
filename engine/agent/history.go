package agent

// CompressHow is a way to shorten a conversation.
type CompressHow string

// The ways to shorten a conversation.
const (
	CompressWindow  CompressHow = "window"  // what is old is left out
	CompressSummary CompressHow = "summary" // a model sums up what is old
)

// Compression says when a conversation has become too long, and what is done about it. The newest
// messages and the agent's own input are kept as they are, and a call is never parted from its
// result. The system text is not one of the messages.
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
// it was before them, and their outputs are in the input of what follows. What is tried and fails
// leaves nothing in it.
type History struct {
	Shared   bool         // with the agents before and after; else only Compress counts, in the agent's own turns
	Compress *Compression // of what has become too long; nil: never
}

// Shares reports whether an agent goes on with the conversation.
func (h *History) Shares() bool { return h != nil && h.Shared }

// Compresses reports whether conversations that have become too long are shortened.
func (h *History) Compresses() bool { return h != nil && h.Compress != nil }
