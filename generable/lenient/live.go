package lenient

import (
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// live follows the scanner's tape while the text arrives and keeps the typed value as far as it is known. It visits
// each node once: a container when its first member is certain, a scalar when it is complete. It does not take back
// what it has taken, unless the text turns out to mean something else; then everything shown is void, and it reports
// that.
//
// What it shows is also the result for a text that was cut off, and the parts that fit of a value that does not fit
// as a whole. Therefore it depends only on the text, not on the pieces in which the text arrived.
//
// It descends where the type of a node is certain. If that takes the whole node (an inline union, a text that holds
// JSON), it waits for the node and passes it to the coercer. [Machine.Close] alone decides what a text is read as in
// the end.
type live struct {
	m         *Machine
	c         coerce.Coercer
	frames    []liveFrame
	text      liveText
	spare     []byte // room where the next text may be built, after the last one that was built
	spareSize int32  // of its block
	on        func(*StreamEvent)
	minText   int // how much a text must grow by before that is reported

	next  int             // the next candidate to look at
	cand  int             // the candidate being followed, or -1
	known bool            // some of it was shown
	root  generable.Value // its value once complete; as long as nothing of it is known, the value of the previous candidate

	plainly bool // a text is wanted verbatim

	salvage *coerce.Coercer   // set when the text has ended and the parts of what this coercer made of it are wanted
	rereads int               // bytes read again
	rows    int               // candidates followed as the items of a list
	rowCand int               // the last of them
	base    generable.Value   // the root before it
	rowVals []generable.Value // the items, with room for more

	outer     int // the object around the value, as long as it has no other member, or -1
	hollow    int // an object of which nothing else is known yet, or -1
	early     int // a string that was taken although the scanner may still reopen it, or -1
	earlyEnd  uint32
	plain     plainText
	retracted int  // how often a string turned out to be another
	careful   bool // a string was reopened: do not take any early again
	rewrites  int  // the scanner's rewrites, as far as they are known here

	exact   bool // nothing was repaired, coerced, skipped or filled in so far
	apart   bool // the candidate may differ from the value that its parts make: something was left out or not checked
	visits  int  // bytes and nodes visited, except for those that the coercer counts
	version int  // of what is shown
	shown   int  // the version of last
	last    generable.Value

	repairs int                // the first syntax repair that has not been reported
	owing   int                // fields owed by all frames together
	telling bool               // the listener is being called
	told    map[toldRepair]int // repairs that were reported
	held    []StreamEvent      // events about values that are not shown yet
	event   StreamEvent        // the event being reported
}

// liveFrame is one container that is being read.
type liveFrame struct {
	op     coerce.FrameOp
	node   int             // on the tape
	cur    int             // index of the next child; in objects of its key
	typ    *generable.Type // type of the items; the schema of a record
	tag    string
	vals   []generable.Value      // items, or values of keys; append-only
	spare  []generable.Value      // room where the items of the next list may be gathered
	keys   []string               // of a dict: as many as vals, and one more while a value is being read; see names
	fields []int                  // of a record: the fields that vals belong to, -1 for the tag
	place  []int32                // of a record: for each field, one more than its index in vals
	field  int                    // of a record: the field of the child being read
	skip   bool                   // the child is not a field or repeats a key: it is skipped
	key    string                 // of the child being read
	begun  bool                   // the child's key has been read
	index  map[string]struct{}    // of a large dict: its keys
	shared bool                   // a value that was shown refers to vals or keys
	items  generable.StreamPolicy // how each item of a list or dict appears
	told   []generable.Value      // the items with their states, if they show them
	owed   int                    // fields that must arrive before anything is shown
	sorted bool                   // of a record: its fields have arrived in order so far
}

func newLive(m *Machine, on func(*StreamEvent)) *live {
	return &live{m: m, c: coerce.Coercer{Base: []int{0}, Depths: []int{0}, O: m.o}, cand: -1, early: -1, outer: -1, hollow: -1, exact: true, text: liveText{node: -1}, on: on, plainly: m.typ.Deref().Kind == generable.StrType}
}

// advance processes what has arrived since the last call.
func (l *live) advance() {
	if l.telling { // a listener asks: it sees what is known up to its event
		return
	}
	s := l.m.scan
	if s == nil { // nothing has arrived
		return
	}
	l.m.catchUp()
	if l.plainly {
		l.advanceText()
		return
	}
	if t := l.text.node; t >= 0 && s.St == tape.StString && s.Cur == t && l.early < 0 && s.Thought == 0 && !l.text.differs(&s.Tape[t], s) {
		l.grow(t) // the text that was being read continues
	} else {
		if l.cand >= 0 && l.undone() {
			l.restart()
		}
		for l.step() {
		}
	}
	l.tellRepairs()
}

// step takes one node, or reports false if none can be taken yet.
func (l *live) step() bool {
	l.visits++
	if len(l.frames) == 0 {
		return l.begin()
	}
	f := &l.frames[len(l.frames)-1]
	ta := l.m.scan.Tape
	n := &ta[f.node]
	closed := n.Span != 0
	if closed && f.cur >= f.node+int(n.Span) {
		l.close()
		return true
	}
	if f.op != coerce.OpList && !f.begun && !l.member(f) {
		return false
	}
	at := f.cur
	if f.op != coerce.OpList {
		at++
	}
	if at >= len(ta) {
		return false
	}
	child := &ta[at]
	if f.skip {
		if child.Span == 0 {
			return false
		}
		l.pass(f, at)
		return true
	}
	if (child.Kind == tape.NodeStr || child.Kind == tape.NodeConcat) && (l.text.node == at || f.textual()) {
		if l.text.node == at && l.text.differs(child, l.m.scan) && l.retract() {
			return true
		}
		l.grow(at)
	}
	if !closed && !l.certain(at) {
		return false
	}
	if t := f.childType(); child.Kind >= tape.NodeArr || t.Kind == generable.LimitType || t.Kind == generable.RefType {
		switch l.openChild(f, at) {
		case openYes:
			return true
		case openWait:
			return false
		}
	} else if child.Span == 0 {
		return false
	}
	l.take(at)
	return true
}

// certain reports whether the node at index at is complete, or is a container, and can no longer turn into something
// else.
func (l *live) certain(at int) bool {
	s := l.m.scan
	n := &s.Tape[at]
	switch {
	case n.Kind == tape.NodeArr || n.Kind == tape.NodeObj:
		return n.Span != 0 || !s.Tentative(at)
	case n.Span == 0:
		return false
	case at < s.Settled():
		return at+1 < len(s.Tape) || !s.AfterLeaf()
	}
	// A string that is followed by a comma, as in valid JSON, may still turn out to end later if what follows is not
	// JSON. That is rare enough to take it.
	if at == int(s.LastStr.Node) && !l.careful && l.early < 0 && s.TentStr.Node < 0 && !s.NoComma && (!s.AfterLeaf() || l.names(at)) && n.Flags&tape.FlagRepaired == 0 {
		l.early, l.earlyEnd = at, n.End
		return true
	}
	return false
}

// names reports whether the string at index at is literally one of the values of the wanted enum.
func (l *live) names(at int) bool {
	t := l.frames[len(l.frames)-1].childType().Deref()
	return t.Kind == generable.EnumType && in.HasValue(t, l.m.src[l.m.scan.Tape[at].Start:l.m.scan.Tape[at].End])
}

// undone reports whether the scanner went back to before something that was taken.
func (l *live) undone() bool {
	s := l.m.scan
	if l.cand < s.Thought || l.outer >= 0 && l.hasMore(l.outer) {
		return true
	}
	if l.rewrites != s.Rewrites {
		l.rewrites = s.Rewrites
		return true
	}
	if l.early < 0 {
		return false
	}
	if l.early < len(s.Tape) {
		if n := &s.Tape[l.early]; n.Kind == tape.NodeStr && n.Span != 0 && n.End == l.earlyEnd {
			if int(s.LastStr.Node) != l.early {
				l.early = -1
			}
			return false
		}
	}
	l.careful = true
	return true
}

// mostRetracted bounds how often a text is read again because a string was shown as something else.
const mostRetracted = 8

// retract takes back what was shown, because a string turned out to be another. It reports false if that happened too
// often: then the end of the text reports the difference.
func (l *live) retract() bool {
	if l.retracted++; l.retracted > mostRetracted {
		return false
	}
	l.restart()
	return true
}

// restart drops what was taken of the current candidate and reads it again.
func (l *live) restart() {
	row := l.rows > 0 && l.rowCand == l.cand
	if l.known {
		l.reset("the text turned out to mean something else")
	}
	l.frames, l.text.node, l.early, l.outer, l.hollow = l.frames[:0], -1, -1, -1, -1
	l.next, l.cand = max(l.cand, l.m.scan.Thought), -1
	l.owing, l.held = 0, nil
	if row {
		l.rows, l.root = l.rows-1, l.base
	}
}

// begin follows the next candidate that may hold the value.
func (l *live) begin() bool {
	s := l.m.scan
	for {
		l.visits++
		k, whole := s.Cand, l.next < len(s.Cands)
		if whole {
			k = s.Cands[l.next]
		} else if l.next > len(s.Cands) || (len(s.Stack) == 0 && s.St != tape.StRootAfter) || s.Soft || s.Rewrites > 0 || l.quoted() {
			return false // once a text turned out otherwise, values are taken as a whole
		}
		skip := k.Think || k.TooDeep || (l.m.o.Pick == generable.PickFirst && l.known && l.cand >= 0) || l.cites(&k)
		if !skip {
			l.apart, l.outer = false, -1
			how := l.openRow(&k)
			if how == openNo {
				how = l.open(k.Node, l.m.typ)
			}
			switch how {
			case openYes:
				l.cand = l.next
				l.next++
				return true
			case openWait:
				if !whole {
					return false
				}
			case openNo:
				l.cand = l.next
				l.next++
				l.takeRoot(k.Node, generable.Value{}, false)
				return true
			}
		} else if !whole {
			return false
		}
		l.next++
	}
}

// cites reports whether a candidate after a value is more likely a citation in a sentence.
func (l *live) cites(k *tape.Candidate) bool {
	return k.End > 0 && isCitation(k) && l.m.scan.Tape[k.Node].Kind == tape.NodeArr && !l.root.IsNull() && !(&Machine{src: l.m.src[:k.End]}).ownLine(*k)
}

// show notes that something of the current candidate is shown from now on.
func (l *live) show() {
	l.version++
	if l.known || l.owing > 0 {
		return
	}
	if !l.root.IsNull() {
		l.reset("another value follows")
	}
	l.known = true
}

// reset makes everything that was shown void.
func (l *live) reset(why string) {
	l.exact = false
	l.known, l.root = false, generable.Value{}
	l.version++
	l.emit(StreamReset, why, generable.Value{}, 0, 0)
}

// fewBytes is how many bytes may wait to be read: reading a few tokens together takes less time than reading each.
const fewBytes = 16

// wants reports whether the text that has arrived, which ends with chunk, should be read now: there is enough of it,
// a value may end in the chunk, or a text that is shown while it grows may begin in it.
func (l *live) wants(chunk string) bool {
	most, from := max(l.minText, fewBytes), l.m.read
	if l.text.node >= 0 {
		most, from = l.minText, l.text.pos
	}
	return len(l.m.src)-from >= most || strings.ContainsAny(chunk, ",]}") || l.minText < fewBytes && strings.Contains(chunk, `"`)
}
