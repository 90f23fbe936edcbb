package generable

import (
	"strconv"

	"github.com/agentscript/agentscript/internal/text"
)

// coercer turns a tape into values of a type. It works on an explicit stack, as the scanner
// does, so that nesting costs no goroutine stack; and it tries the branches of an inline
// union with a memory, so that nested unions cost no more than the sum of their branches.
type coercer struct {
	docs   []string // the texts that nodes refer to; 0 is the input
	base   []int    // where in the input each of them stands
	depths []int    // how deep each of them is nested in others
	tape   []node
	o      Options

	stack  []*coerceFrame // pointers behind its length are frames to be used again
	frames []coerceFrame  // room for more, in blocks: a frame never moves
	ret    Value          // what the value entered last came to
	ok     bool

	repairs  []Repair
	errs     FieldErrors
	more     int // errors beyond maxErrors
	cost     int
	compared int // names that hints were chosen from
	score    int // what only tells the branches of a union apart
	visits   int

	trials  int
	memo    map[trialKey]*trialResult
	subdocs map[int]subdoc // nodes that hold JSON text

	partial bool    // a snapshot: what is missing is not there yet
	pending []Value // values whose container is still to come; kept for its room
	room
}

// frameOp tells what a frame of the coercion builds.
type frameOp uint8

const (
	opList frameOp = iota
	opDict
	opRecord
	opTrial
	opLimit
)

// coerceFrame is one value under construction. There are as many as the text is deep, so that
// it is kept small: what few frames need is in more.
type coerceFrame struct {
	op      frameOp
	bad     bool
	keyless bool  // a record whose values come in the order of its fields; a list that is one value itself
	isOpen  bool  // the text ended inside of it
	node    int32 // on the tape, which has less nodes than a text may have bytes
	cur     int32 // the child that comes next
	child   int32 // the value entered last
	left    int32 // children left
	index   int32
	field   int32
	mark    coerceMark
	typ     *Type // of the list or of a dict's entries, or the record's schema
	key     string
	vals    []Value
	m       *Map
	seen    uint64 // fields that have a value
	more    *frameMore
}

// frameMore is what a frame has of a schema with more than 64 fields, of the variant of a
// union, of errors, of a trial.
type frameMore struct {
	tag    string // the discriminator's key
	tagged bool   // the tag has come
	seen   []uint64
	wrong  []fieldErrs
	trial  *trialState
}

// extra makes room for what few frames need.
func (f *coerceFrame) extra() *frameMore {
	if f.more == nil {
		f.more = new(frameMore)
	}
	return f.more
}

func (f *coerceFrame) tag() string {
	if f.more == nil {
		return ""
	}
	return f.more.tag
}

// coerceMark is a point to which records can be rolled back.
type coerceMark struct{ repairs, errs, more, cost, score int32 }

func (c *coercer) here() coerceMark {
	return coerceMark{int32(len(c.repairs)), int32(len(c.errs)), int32(c.more), int32(c.cost), int32(c.score)}
}

func (c *coercer) rollback(m coerceMark) {
	c.repairs, c.errs = c.repairs[:m.repairs], c.errs[:m.errs]
	c.more, c.cost, c.score = int(m.more), int(m.cost), int(m.score)
}

// decode makes the value of type t at a node of the tape.
func (c *coercer) decode(at int, t *Type) (Value, bool) {
	base := len(c.stack)
	done := c.enter(at, t)
	for {
		if len(c.stack) == base && done {
			return c.ret, c.ok
		}
		f := c.stack[len(c.stack)-1]
		if done {
			c.take(f)
		}
		switch f.op {
		case opList:
			done = c.stepList(f)
		case opDict:
			done = c.stepDict(f)
		case opRecord:
			done = c.stepRecord(f)
		case opLimit:
			done = c.endLimited(f)
		default:
			done = c.stepTrial(f)
		}
	}
}

// take hands the value that was completed last to the frame that waits for it.
func (c *coercer) take(f *coerceFrame) {
	switch f.op {
	case opList:
		c.takeItem(f)
	case opDict:
		if !c.ok {
			c.badItem(f)
			if !c.ok {
				return
			}
		}
		n := f.m.Len()
		f.m.Set(f.key, c.ret)
		if f.m.Len() == n {
			c.repair(repDuplicateKey, int(f.child)-1, f.key, "")
		}
	case opRecord:
		c.takeField(f)
	case opLimit:
	default:
		c.takeTrial(f)
	}
}

func (c *coercer) done(v Value) bool {
	c.ret, c.ok = v, true
	return true
}

func (c *coercer) fail() bool {
	c.ret, c.ok = Value{}, false
	return true
}

// enter begins the value of type t at a node. It reports whether the value is complete; if
// not, a frame was pushed.
func (c *coercer) enter(at int, t *Type) bool {
	n := &c.tape[at]
	if t.Kind == RefType || t.Kind == LimitType {
		if t = in.Resolved(t); t.Kind == LimitType {
			return c.enterLimited(at, t)
		}
	}
	if c.partial && n.flags&flagOpen != 0 && (n.kind < nodeStr || n.kind == nodeWord) {
		return c.fail() // it may still change
	}
	switch t.Kind {
	case AnyType, ErrorType:
		return c.enterAny(at, n)
	case NoneType:
		if n.kind == nodeNull || n.kind == nodeMissing {
			return c.done(Value{})
		}
		return c.mismatch(at, t)
	case BoolType, IntType, FloatType, StrType, EnumType:
		return c.scalar(at, n, t)
	case ListType:
		return c.enterList(at, n, t)
	case DictType:
		if n.kind == nodeObj {
			c.score++
			return c.push(opDict, at, t.Elem)
		}
		if n.kind == nodeNull && c.o.Level == Loose && len(c.stack) > 0 {
			c.repair(repEmptyDefault, at, "null", "{}")
			return c.done(NewMap(0).Value())
		}
	case RecordType:
		return c.enterRecord(at, n, t, "")
	case UnionType:
		return c.enterUnion(at, n, t)
	case OneOfType:
		return c.enterOneOf(at, n, t)
	default:
		return c.mismatch(at, t)
	}
	return c.around(at, n, t)
}

// enterAny begins a value of which no type is known.
func (c *coercer) enterAny(at int, n *node) bool {
	switch n.kind {
	case nodeNull, nodeMissing:
		return c.done(Value{})
	case nodeTrue, nodeFalse:
		return c.done(BoolOf(n.kind == nodeTrue))
	case nodeInt, nodeFloat, nodeNumber:
		if v, ok := c.numeral(n); ok {
			return c.done(v)
		}
		if c.o.Level == Strict {
			return c.badNumber(at, n)
		}
		return c.numberAsText(at, n)
	case nodeStr, nodeWord, nodeConcat:
		return c.done(StrOf(c.str(at)))
	case nodeArr, nodeObj:
		if f := c.top(); f == nil || f.typ != AnyT {
			if v, ok := c.untyped(at); ok {
				return c.done(v)
			}
		}
		if n.kind == nodeArr {
			return c.push(opList, at, AnyT)
		}
		return c.push(opDict, at, AnyT)
	}
	if c.o.Level == Strict {
		return c.failAt(at, "a finite number", c.show(at), "JSON has no such number; use null")
	}
	return c.numberAsText(at, n)
}

// numberAsText keeps a number that is none of ours, NaN or 1e400, as what stands there: no type
// asks for a number, and the rest of the document is worth reading.
func (c *coercer) numberAsText(at int, n *node) bool {
	s := c.raw(n)
	c.repair(repToString, at, s, text.Quote(shorten(s)))
	return c.done(StrOf(s))
}

// push begins a list, a dict or a record.
func (c *coercer) push(op frameOp, at int, t *Type) bool {
	n := &c.tape[at]
	top := len(c.stack)
	if top == cap(c.stack) {
		c.stack = append(doubled(c.stack), nil)
	}
	c.stack = c.stack[:top+1]
	f := c.stack[top]
	if f == nil {
		f = c.frame()
		c.stack[top] = f
	}
	f.op, f.bad, f.isOpen, f.keyless = op, false, n.flags&flagOpen != 0, false
	f.node, f.cur, f.left, f.child, f.index, f.field = int32(at), int32(at+1), int32(n.count), 0, -1, -1
	f.typ, f.key, f.seen = t, "", 0
	if f.more != nil {
		*f.more = frameMore{wrong: f.more.wrong[:0]}
	}
	switch op {
	case opList:
		f.vals = c.values(int(n.count))[:0]
	case opDict:
		f.m = NewMap(int(n.count))
	}
	return false
}

// frame returns a frame that was not used yet.
func (c *coercer) frame() *coerceFrame {
	if len(c.frames) == 0 {
		c.frames = make([]coerceFrame, min(max(2*len(c.stack), 8), maxFrames))
	}
	f := &c.frames[0]
	c.frames = c.frames[1:]
	return f
}

// pop completes the innermost frame with value v.
func (c *coercer) pop(v Value, ok bool) bool {
	c.stack = c.stack[:len(c.stack)-1] // the next push uses the frame again
	if !ok {
		return c.fail()
	}
	return c.done(v)
}

func (c *coercer) stepList(f *coerceFrame) bool {
	for f.left > 0 {
		f.left--
		f.index++
		at := f.cur
		f.child = at
		f.cur += int32(c.tape[at].span)
		f.mark = c.here()
		if !c.enter(int(at), in.Item(f.typ, int(f.index))) {
			return false
		}
		c.takeItem(f)
	}
	return c.pop(c.list(f.vals), !f.bad)
}

func (c *coercer) takeItem(f *coerceFrame) {
	if !c.ok {
		c.badItem(f)
		if !c.ok {
			return
		}
	}
	f.vals = append(f.vals, c.ret)
}

// badItem decides what becomes of an item or entry that does not fit.
func (c *coercer) badItem(f *coerceFrame) {
	mode := c.o.OnBadItem
	if mode == ItemError && c.o.Level == Loose && !(f.op == opList && f.keyless) {
		mode = ItemDrop
	}
	switch {
	case c.partial:
	case mode == ItemError:
		f.bad = true
	case mode == ItemDrop:
		c.rollback(f.mark)
		c.repair(repDropItem, int(f.child), c.show(int(f.child)), "")
	default:
		c.rollback(f.mark)
		at := int(f.child)
		c.repair(repKeepItem, at, c.show(at), "")
		m := c.here()
		if c.ret, c.ok = c.decode(at, AnyT); !c.ok {
			c.rollback(m)
			c.done(StrOf(c.str(at)))
		}
	}
}

func (c *coercer) stepDict(f *coerceFrame) bool {
	for f.left > 0 {
		f.left--
		f.key = c.str(int(f.cur))
		at := int(f.cur) + 1
		f.child = int32(at)
		f.cur = int32(at) + int32(c.tape[at].span)
		if c.tape[at].kind == nodeMissing {
			if c.partial {
				continue // the value is still to come
			}
			if _, has := f.m.Get(f.key); has { // the key came before, with a value
				c.repair(repDuplicateKey, at-1, f.key, "")
				continue
			}
		}
		f.mark = c.here()
		return c.enter(at, f.typ)
	}
	return c.pop(f.m.Value(), !f.bad)
}

// maxDepthShown bounds the paths of errors and repairs. What lies deeper has the path of the
// container that holds it at this depth: without a limit of nesting, the paths of a text could
// be as long as the text, each.
const maxDepthShown = defaultDepth

// path is where the coercion is, as errors and repairs name it.
func (c *coercer) path() string {
	var b []byte
	for i, f := range c.stack {
		if i == maxDepthShown {
			break
		}
		switch f.op {
		case opList:
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(f.index), 10)
			b = append(b, ']')
		case opDict, opRecord:
			if f.child > 0 || f.key != "" {
				b = appendStep(b, f.key)
			}
		}
	}
	return string(b)
}
