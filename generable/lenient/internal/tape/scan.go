package tape

import (
	"iter"
	"math"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// nodeKind says what a node of the tape stands for.
type nodeKind = lex.Kind

const (
	NodeNull    = lex.Null
	NodeTrue    = lex.True
	NodeFalse   = lex.False
	NodeInt     = lex.Int
	NodeFloat   = lex.Float
	NodeNumber  = lex.Number
	NodeNaN     = lex.NaN
	NodeStr     = lex.Quoted     // start and end enclose the content, without the quotes
	NodeWord    = lex.Word       // unquoted text
	NodeConcat  = lex.Word + 1   // "a" + "b": children are strings
	NodeArr     = NodeConcat + 1 // children are values
	NodeObj     = NodeConcat + 2 // children are keys, each followed by its value
	NodeMissing = NodeConcat + 3 // a key without a value
)

// Flags of a node.
const (
	FlagEscape   uint8 = 1 << iota // the text holds a backslash
	FlagHigh                       // the text holds non-ASCII bytes, possibly invalid ones
	FlagKey                        // the node is a key
	FlagOpen                       // the text ended inside the node
	FlagDouble                     // the text is escaped once more than its quotes indicate
	FlagRepaired                   // the node is not strict JSON
	FlagFenced                     // the text is between ticks, possibly after a language name
	FlagQuoted                     // the text holds a quote like those around it
)

// Node is one entry of the tape. The children of a container follow it directly.
type Node struct {
	Kind  nodeKind
	Flags uint8
	Doc   uint16 // the text that start and end refer to; 0 is the input
	Count uint32 // children of a container; for an object, members
	Start uint32
	End   uint32
	Span  uint32 // nodes in this subtree, including itself; 0 while it is open
}

// IsText reports whether the node is a text, quoted or not.
func (n *Node) IsText() bool { return n.Kind == NodeStr || n.Kind == NodeWord || n.Kind == NodeConcat }

// IsVerbatim reports whether the node's text is exactly what is written there.
func (n *Node) IsVerbatim() bool { return n.Flags&(FlagEscape|FlagHigh|FlagFenced|FlagDouble) == 0 }

// scanState is the state of the automaton.
type scanState uint8

const (
	// Outside values.
	StProse      scanState = iota // between candidates
	stFenceTicks                  // in the run of ticks that opens a fence
	stFenceInfo                   // in the rest of the opening line
	StThink                       // in a reasoning region, looking for its end tag
	// Between the tokens of a value.
	stArrFirst  // after [
	stArrNext   // after a comma
	stArrAfter  // after an item
	stObjFirst  // after {
	stObjNext   // after a comma
	stColon     // after a key
	stObjValue  // after a colon
	stObjAfter  // after a member
	stConcat    // after "a" +
	stWordQuote // after a quote that ended a word
	StRootAfter // after the closer of a whole candidate
	// Inside a token.
	StString
	stWord
	stLineComment  // ret is the state to return to
	stBlockComment // ret is the state to return to
	stTooDeep      // beyond the depth limit: only brackets and strings are recognised
)

// scanFrame is one open container.
type scanFrame struct {
	node   uint32
	extra  uint16 // closers to skip, one for each doubled brace
	obj    bool   // it holds members rather than items
	closer byte   // its closer: an array may be in braces or parentheses
	wrap   wrapKind
}

// wrapKind says whether brackets around a single value are insignificant.
type wrapKind uint8

const (
	wrapNone  wrapKind = iota
	wrapGroup          // (1) is 1, but (1,) and (1, 2) are lists
	wrapCall           // ObjectId("…") is its argument
)

// marker remembers a string value that may have been closed too early.
type marker struct {
	Node    int32 // on the tape; -1 without one
	quote   int32 // offset of the quote in question
	next    int32 // offset after it
	repairs int32 // number of repairs when it was closed
	cost    int32
	kind    quoteKind
}

var noMarker = marker{Node: -1}

// Scanner is the automaton. The candidates that it finds are in Cands.
type Scanner struct {
	Src string
	Pos int
	Eof bool
	// all of the text was there from the start
	Whole bool

	St, ret scanState
	Tape    []Node
	Stack   []scanFrame
	opens   [3]int // open brackets, by their closer

	tok      int       // offset where the current token began
	Cur      int       // tape index of the current string
	Quote    quoteKind // its closing quote
	LastStr  marker    // the last closed string value, until the next member is certain
	TentStr  marker    // where to return to, as long as the current string's start is a guess
	popped   poppedEnd // the last closed container, if it ended in a string
	within   brackets  // the brackets open in the string that was examined last
	NoComma  bool      // the current token began without a comma before it
	bare     marker    // the repairs before that comma
	blank    bool      // the current word holds a blank
	wordsTo  int       // offset up to which the current word is known to continue
	wordKey  bool      // the current word is a key
	tokQuote int       // stWordQuote: offset of the quote
	wordEnd  int       // offset after the last non-blank byte of the current word
	inner    int       // fences that opened inside the value
	fenceAt  marker    // the last of them, if it is around the value of a member
	wrapAt   int       // tape index of the outermost open container that may vanish, or -1
	Rewrites int       // how often nodes that seemed settled were moved or reopened
	// the container that was closed last, by its tape index
	lastClosed int
	Concat     int // the concatenation that contains the current string, or -1
	// the concatenation that ended just now, or -1
	lastConcat int
	deep       int // stTooDeep: open brackets beyond the limit
	deepStr    bool
	MaxDepth   int
	Names      Names // of the wanted fields, or nil
	quotes     int   // in the current word
	tickRun    int   // ticks that opened the fence being read as a string

	Soft      bool // the candidate began in prose and may be dismissed
	Cand      Candidate
	Cands     []Candidate
	Repairs   []SynRepair
	cost      int
	rewound   int // bytes read again
	Spare     int // the maximum of rewound
	lineStart bool
	seenText  bool // something other than blanks has been seen
	adjacent  bool // only blanks, commas and semicolons since the last candidate

	Fences    []FenceMark
	inFence   bool
	Thinks    []thinkMark
	thinkName string
	Thought   int  // the candidates before this index are reasoning without a start tag
	noThink   bool // a reasoning region never ended: everything from here on is reasoning
	FenceCut  int  // offset of a possible closing fence inside the current string, or -1
}

// Names knows the fields that an object may have.
type Names interface {
	// Text reports whether the field with that name holds a text, and all names are known.
	Text(key string) bool
	// Known reports whether a field has that name.
	Known(key string) bool
}

const DefaultDepth = 512

// keptStack is the capacity up to which the stack is kept for the next text.
const keptStack = 1 << 13

// MaxText bounds the text: offsets have 32 bits.
const MaxText = math.MaxInt32

func NewScanner(maxDepth int) *Scanner {
	s := new(Scanner)
	s.Reset(maxDepth)
	return s
}

// Reset prepares the scanner for another text. It keeps only the memory.
func (s *Scanner) Reset(maxDepth int) {
	if maxDepth <= 0 {
		maxDepth = DefaultDepth
	}
	clear(s.Fences) // they refer to the text
	*s = Scanner{
		MaxDepth: maxDepth, Spare: MaxText, LastStr: noMarker, TentStr: noMarker, lineStart: true,
		FenceCut: -1, Concat: -1, lastConcat: -1, wrapAt: -1,
		Tape: s.Tape[:0], Stack: s.Stack[:0], Cands: s.Cands[:0], Repairs: s.Repairs[:0],
		Fences: s.Fences[:0], Thinks: s.Thinks[:0],
	}
}

// Feed runs the automaton over the text that has been added.
func (s *Scanner) Feed(src string) {
	s.Src = src
	s.Run()
}

// Close ends the input and completes everything that is open.
func (s *Scanner) Close() {
	s.Eof = true
	for {
		s.Run()
		if !s.finish() {
			break
		}
	}
	if cap(s.Stack) > keptStack { // nothing is open any more
		s.Stack = nil
	}
}

// Visits returns the number of bytes visited so far.
func (s *Scanner) Visits() int { return s.Pos + s.rewound }

// Run reads until the text is used up, or until the next decision needs more of it.
func (s *Scanner) Run() {
	for s.Pos < len(s.Src) && s.step() {
	}
}

// step continues in the current state. It returns false when the next decision needs more text.
func (s *Scanner) step() bool {
	switch s.St {
	case StProse:
		return s.prose()
	case stFenceTicks:
		return s.fenceTicks()
	case stFenceInfo:
		return s.fenceInfo()
	case StThink:
		return s.think()
	case StString:
		return s.scanString()
	case stWord:
		return s.word()
	case stLineComment:
		return s.lineComment()
	case stBlockComment:
		return s.blockComment()
	case stTooDeep:
		return s.tooDeep()
	case StRootAfter:
		return s.rootAfter()
	}
	return s.structure()
}

// wants reports whether n bytes from the current position have arrived, or never will. Decisions that look ahead call
// it first and wait for more text if it reports false.
func (s *Scanner) wants(n int) bool { return s.Eof || s.Pos+n <= len(s.Src) }

// has reports whether text t is at offset p.
func (s *Scanner) has(p int, t string) bool {
	return len(s.Src)-p >= len(t) && s.Src[p:p+len(t)] == t
}

// back returns to an earlier offset if the budget allows it.
func (s *Scanner) back(to int) bool {
	if !s.pay(s.Pos - to) {
		return false
	}
	s.Pos = to
	return true
}

// pay takes n bytes or nodes, which are to be read or moved again, from the budget.
func (s *Scanner) pay(n int) bool {
	if s.rewound+n > min(s.Pos+s.Pos/2+64, s.Spare) {
		return false
	}
	s.rewound += n
	return true
}

// between returns the state between tokens that the automaton is in or, inside a comment, returns to.
func (s *Scanner) between() scanState {
	if s.St == stLineComment || s.St == stBlockComment {
		return s.ret
	}
	return s.St
}

// AfterColon reports whether the automaton is after a key and a colon, or in the word that follows them.
func (s *Scanner) AfterColon() bool {
	if s.St == stWord || s.St == stWordQuote {
		return !s.wordKey
	}
	return s.between() == stObjValue
}

// Settled returns the tape index up to which nodes are certain: later ones may still be taken back. Containers count
// as what they are, closed or not.
func (s *Scanner) Settled() int {
	// Absent ones are -1, which as an unsigned number is the largest.
	edge := int(min(uint(len(s.Tape)), uint(int(s.LastStr.Node)), uint(int(s.TentStr.Node)), uint(s.lastConcat), uint(s.Concat)))
	if s.NoComma { // the words that follow may belong to the value before them
		edge = min(edge, len(s.Tape)-2)
	}
	return edge
}

// Tentative reports whether the container at tape index at may still vanish around its value, as parentheses do.
func (s *Scanner) Tentative(at int) bool { return s.wrapAt >= 0 && at >= s.wrapAt }

// AfterLeaf reports whether the automaton is after a value that what follows may still extend.
func (s *Scanner) AfterLeaf() bool {
	switch s.between() {
	case stArrAfter, stObjAfter, stConcat:
		return true
	case stWord, stWordQuote:
		return s.NoComma
	}
	return false
}

// CertainRepairs returns how many of the repairs made so far can no longer be taken back.
func (s *Scanner) CertainRepairs() int {
	n := len(s.Repairs)
	for _, m := range [...]*marker{&s.LastStr, &s.TentStr} {
		if m.Node >= 0 {
			n = min(n, int(m.repairs))
		}
	}
	if s.NoComma {
		n = min(n, int(s.bare.repairs))
	}
	if s.Soft {
		n = min(n, int(s.Cand.Repairs))
	}
	return n
}

// Members yields the indexes of the keys of the object at an index of a tape. The value of each key follows it.
func Members(tape []Node, at int) iter.Seq[int] {
	return func(yield func(int) bool) {
		key := at + 1
		for range tape[at].Count {
			if !yield(key) {
				return
			}
			key += 1 + int(tape[key+1].Span)
		}
	}
}
