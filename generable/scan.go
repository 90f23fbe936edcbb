package generable

import "math"

// The scanner turns text into a tape: a flat, preorder array of nodes over byte ranges of
// the text. It is an automaton with an explicit stack. Each decision depends on the bytes
// read so far and never on where a chunk ended, so that any chunking of a text gives the
// same tape. Where a construct is no JSON, the automaton repairs; a step that JSON allows is
// always taken as JSON, so that valid JSON is never altered.
//
// A few repairs go back: a quote that seemed to close a string turns out to belong to it.
// Going back is paid from a budget proportional to the text read, which keeps the whole
// linear whatever the input.

// nodeKind tells what a node of the tape stands for.
type nodeKind uint8

const (
	nodeNull nodeKind = iota
	nodeTrue
	nodeFalse
	nodeInt     // as JSON writes it, without fraction and exponent
	nodeFloat   // as JSON writes it, with fraction or exponent
	nodeNumber  // a number that JSON writes otherwise: +1, .5, 0x1F, 1_000
	nodeNaN     // NaN and the infinities
	nodeStr     // start and end enclose the content, without the quotes
	nodeWord    // text without quotes
	nodeConcat  // "a" + "b": children are strings
	nodeArr     // children are values
	nodeObj     // children are keys, each followed by its value
	nodeMissing // a key without a value
)

// Flags of a node.
const (
	flagEscape   uint8 = 1 << iota // the text holds a backslash
	flagHigh                       // the text holds bytes beyond ASCII, perhaps invalid ones
	flagKey                        // the node is a key
	flagOpen                       // the text ended inside the node
	flagDouble                     // the text is escaped once more than its quotes say
	flagRepaired                   // the node is no strict JSON
	flagFenced                     // the text stands between ticks, perhaps behind a language name
)

// node is one entry of the tape. The children of a container follow it directly.
type node struct {
	kind  nodeKind
	flags uint8
	doc   uint16 // which text start and end refer to; 0 is the input
	count uint32 // children of a container; of an object, members
	start uint32
	end   uint32
	span  uint32 // nodes in this subtree, itself included; 0 while it is open
}

// isText reports whether the node is a text, with quotes or without.
func (n *node) isText() bool { return n.kind == nodeStr || n.kind == nodeWord || n.kind == nodeConcat }

// scanState is where the automaton stands.
type scanState uint8

const (
	// Outside of values.
	stProse      scanState = iota // between candidates
	stFenceTicks                  // in the run of ticks that opens a fence
	stFenceInfo                   // in the rest of the opening line
	stThink                       // in a reasoning region, looking for its end tag
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
	stRootAfter // after the closer of a whole candidate
	// Inside a token.
	stString
	stWord
	stLineComment  // ret is where to go on
	stBlockComment // ret is where to go on
	stTooDeep      // beyond the depth limit: only brackets and strings are seen
)

// scanFrame is one open container.
type scanFrame struct {
	node   uint32
	extra  uint16 // closers to swallow, one for each doubled brace
	obj    bool   // it holds members, else items
	closer byte   // what ends it: an array may stand between braces or parentheses
	wrap   wrapKind
}

// wrapKind tells whether brackets around a single value mean nothing.
type wrapKind uint8

const (
	wrapNone  wrapKind = iota
	wrapGroup          // (1) is 1, but (1,) and (1, 2) are lists
	wrapCall           // ObjectId("…") is its argument
)

// marker remembers a string value that may have been closed too early.
type marker struct {
	node    int32 // on the tape; -1 when there is none
	quote   int32 // offset of the quote in question
	next    int32 // offset after it
	repairs int32 // number of repairs when it was closed
	cost    int32
	kind    quoteKind
}

var noMarker = marker{node: -1}

// strayWord is a word that stood before a key and was passed over.
type strayWord struct {
	node       int // the key's place on the tape
	repair     int // its record
	start, end int
}

// hoisted tells which members of an object were found inside of an array, which lacks its
// closer, or else a pair of braces around those members.
type hoisted struct {
	parent, arr, key int // tape indexes of the object, the array, the first such member
	count            uint32
}

// scanner holds the automaton. Candidates it finds end up in cands.
type scanner struct {
	src string
	pos int
	eof bool
	// all of the text was there from the start
	whole bool

	st, ret scanState
	tape    []node
	stack   []scanFrame
	opens   [3]int // open brackets, by the closer that they wait for

	tok      int       // offset where the current token began
	cur      int       // tape index of the string being read
	quote    quoteKind // what closes it
	lastStr  marker    // the string value closed last, until the next member is certain
	tentStr  marker    // as long as the current string's start is a guess: what to return to
	noComma  bool      // the current token began without a comma before it
	bare     marker    // what had been repaired before that comma
	blank    bool      // the current word holds a blank
	wordKey  bool      // the current word is a key
	tokQuote int       // stWordQuote: offset of the quote
	wordEnd  int       // offset after the last byte of the current word that is no blank
	stray    strayWord // the last word that was taken for none
	hoist    hoisted   // the members that were moved out of an array last
	inner    int       // fences that opened inside of the value
	wrapAt   int       // the outermost open container that may vanish, by its tape index, or -1
	rewrites int       // how often nodes that seemed settled were moved or opened again
	// the container that was closed last, by its tape index
	lastClosed int
	concat     int // the concatenation that the current string belongs to, or -1
	// the concatenation that ended just now, or -1
	lastConcat int
	deep       int // stTooDeep: open brackets beyond the limit
	deepStr    bool
	maxDepth   int

	soft      bool // the candidate began in prose and may be dismissed
	cand      candidate
	cands     []candidate
	repairs   []synRepair
	cost      int
	rewound   int // bytes read again
	lineStart bool
	seenText  bool // something other than blanks stood before
	adjacent  bool // only blanks and commas since the last candidate

	fences    []fenceMark
	inFence   bool
	thinks    []thinkMark
	thinkName string
	thought   int  // the candidates before this one are reasoning, for want of a start tag
	noThink   bool // a reasoning region never ended: all from here is reasoning
	fenceCut  int  // offset of what may be the closing fence inside the current string, or -1
}

const defaultDepth = 512

// keptStack is how much of the stack is kept for the next text.
const keptStack = 1 << 13

// maxText bounds the text: offsets have 32 bits.
const maxText = math.MaxInt32

func newScanner(maxDepth int) *scanner {
	s := new(scanner)
	s.reset(maxDepth)
	return s
}

// reset makes the scanner ready for another text. Of what it held, only the room is left.
func (s *scanner) reset(maxDepth int) {
	if maxDepth <= 0 {
		maxDepth = defaultDepth
	}
	clear(s.fences) // they refer to the text
	*s = scanner{
		maxDepth: maxDepth, lastStr: noMarker, tentStr: noMarker, lineStart: true,
		fenceCut: -1, concat: -1, lastConcat: -1, hoist: hoisted{parent: -1}, wrapAt: -1,
		tape: s.tape[:0], stack: s.stack[:0], cands: s.cands[:0], repairs: s.repairs[:0],
		fences: s.fences[:0], thinks: s.thinks[:0],
	}
}

// Classes of bytes.
const (
	isBlank     uint8 = 1 << iota // blank, tab, line ends
	isPlain                       // may stand in a string as it is
	isProseStop                   // may begin something of interest in prose
	isWordStop                    // may end an unquoted text
	isNumEnd                      // may follow a number in JSON
	isIdent                       // may stand in an unquoted key
	isDigit
)

var class = makeClasses()

func makeClasses() (t [256]uint8) {
	set := func(s string, flag uint8) {
		for i := 0; i < len(s); i++ {
			t[s[i]] |= flag
		}
	}
	set(" \t\n\r", isBlank|isNumEnd)
	for c := 0x20; c < 0x80; c++ {
		if c != '"' && c != '\\' {
			t[c] |= isPlain
		}
	}
	set("{[<`~\n\xef", isProseStop)
	set(" \t\n\r,;]}\":=/#()\xc2\xe1\xe2\xe3\xef", isWordStop)
	set(",]}", isNumEnd)
	set("0123456789", isDigit|isIdent)
	set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$-.+", isIdent)
	for c := 0x80; c < 0x100; c++ {
		t[c] |= isIdent
	}
	return t
}

// feed lets the automaton run over what has been added to the text.
func (s *scanner) feed(src string) {
	s.src = src
	s.run()
}

// close tells the automaton that nothing follows and completes what is open.
func (s *scanner) close() {
	s.eof = true
	for {
		s.run()
		if !s.finish() {
			break
		}
	}
	if cap(s.stack) > keptStack { // nothing is open any more
		s.stack = nil
	}
}

// visits is the number of bytes looked at so far.
func (s *scanner) visits() int { return s.pos + s.rewound }

// run reads until the text is used up, or until the next decision needs more of it.
func (s *scanner) run() {
	for s.pos < len(s.src) {
		ok := true
		switch s.st {
		case stProse:
			ok = s.prose()
		case stFenceTicks:
			s.fenceTicks()
		case stFenceInfo:
			ok = s.fenceInfo()
		case stThink:
			ok = s.think()
		case stString:
			ok = s.scanString()
		case stWord:
			ok = s.word()
		case stLineComment:
			s.lineComment()
		case stBlockComment:
			ok = s.blockComment()
		case stTooDeep:
			ok = s.tooDeep()
		case stRootAfter:
			ok = s.rootAfter()
		default:
			ok = s.structure()
		}
		if !ok {
			return
		}
	}
}

// wants reports whether n bytes from the current position are there, or never will be.
// A decision that looks ahead asks first; where it gets no, it waits for more text.
func (s *scanner) wants(n int) bool { return s.eof || s.pos+n <= len(s.src) }

// has reports whether text t stands at offset p.
func (s *scanner) has(p int, t string) bool {
	return len(s.src)-p >= len(t) && s.src[p:p+len(t)] == t
}

// back returns to an earlier offset if the budget allows it.
func (s *scanner) back(to int) bool {
	if !s.pay(s.pos - to) {
		return false
	}
	s.pos = to
	return true
}

// pay takes n bytes or nodes, to be read or moved again, from the budget.
func (s *scanner) pay(n int) bool {
	if s.rewound+n > s.pos+s.pos/2+64 {
		return false
	}
	s.rewound += n
	return true
}
