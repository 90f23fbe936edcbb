package generable

import "strconv"

// coercer turns a tape into values of a type. It works on an explicit stack, as the scanner
// does, so that nesting costs no goroutine stack; and it tries the branches of an inline
// union with a memory, so that nested unions cost no more than the sum of their branches.
type coercer struct {
	docs   []string // the texts that nodes refer to; 0 is the input
	base   []int    // where in the input each of them stands
	depths []int    // how deep each of them is nested in others
	tape   []node
	o      Options

	stack []coerceFrame
	ret   Value // what the value entered last came to
	ok    bool

	repairs []Repair
	errs    FieldErrors
	more    int // errors beyond maxErrors
	cost    int
	score   int // what only tells the branches of a union apart
	visits  int

	trials  int
	memo    map[trialKey]*trialResult
	subdocs map[int]subdoc // nodes that hold JSON text

	partial bool // a snapshot: what is missing is not there yet
	arena   []Value
	pending []Value // values whose container is still to come; kept for its room
	lists   []List  // room for lists, in blocks
	block   int     // size of the last of them
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

// coerceFrame is one value under construction.
type coerceFrame struct {
	op       frameOp
	bad      bool
	keyless  bool // a record whose values come in the order of its fields; a list that is one value itself
	tagged   bool // a record whose tag has come
	isOpen   bool // the text ended inside of it
	node     int
	cur      int // the child that comes next
	child    int // the value entered last
	left     int // children left
	index    int
	field    int
	typ      *Type // of the list or of a dict's entries, or the record's schema
	tag      string
	key      string
	vals     []Value
	m        *Map
	seen     uint64   // fields that have a value
	seenMore []uint64 // of schemas with more than 64 fields
	wrong    []fieldErrs
	mark     coerceMark
	trial    *trialState
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
		f := &c.stack[len(c.stack)-1]
		if done {
			c.take(f)
			f = &c.stack[len(c.stack)-1]
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
			f = &c.stack[len(c.stack)-1]
		}
		n := f.m.Len()
		f.m.Set(f.key, c.ret)
		if f.m.Len() == n {
			c.repair(repDuplicateKey, f.child-1, f.key, "")
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
		if t = t.resolved(); t.Kind == LimitType {
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
		return c.badNumber(at, n)
	case nodeStr, nodeWord, nodeConcat:
		return c.done(StrOf(c.str(at)))
	case nodeArr, nodeObj:
		if f := c.top(); !c.partial && (f == nil || f.typ != AnyT) {
			if v, ok := c.untyped(at); ok {
				return c.done(v)
			}
		}
		if n.kind == nodeArr {
			return c.push(opList, at, AnyT)
		}
		return c.push(opDict, at, AnyT)
	}
	return c.failAt(at, "a finite number", c.show(at), "JSON has no such number; use null")
}

// push begins a list, a dict or a record.
func (c *coercer) push(op frameOp, at int, t *Type) bool {
	n := &c.tape[at]
	top := len(c.stack)
	if top == cap(c.stack) {
		c.stack = append(c.stack, coerceFrame{})
	}
	c.stack = c.stack[:top+1]
	f := &c.stack[top]
	f.op, f.bad, f.isOpen = op, false, n.flags&flagOpen != 0
	f.keyless, f.tagged, f.wrong = false, false, nil
	f.node, f.cur, f.left, f.child, f.index, f.field = at, at+1, int(n.count), 0, -1, -1
	f.typ, f.tag, f.key = t, "", ""
	f.seen, f.seenMore = 0, nil
	switch op {
	case opList:
		f.vals = c.values(int(n.count))[:0]
	case opDict:
		f.m = NewMap(int(n.count))
	}
	return false
}

// pop completes the innermost frame with value v.
func (c *coercer) pop(v Value, ok bool) bool {
	c.stack = c.stack[:len(c.stack)-1] // the frame is used again by the next push
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
		f.cur += int(c.tape[at].span)
		f.mark = c.here()
		if !c.enter(at, f.typ.item(f.index)) {
			return false
		}
		c.takeItem(f)
		f = c.top()
	}
	return c.pop(NewList(f.vals).Value(), !f.bad)
}

func (c *coercer) takeItem(f *coerceFrame) {
	if !c.ok {
		c.badItem(f)
		if !c.ok {
			return
		}
		f = &c.stack[len(c.stack)-1]
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
		c.repair(repDropItem, f.child, c.show(f.child), "")
	default:
		c.rollback(f.mark)
		at := f.child
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
		f.key = c.str(f.cur)
		at := f.cur + 1
		f.child = at
		f.cur = at + int(c.tape[at].span)
		if c.partial && c.tape[at].kind == nodeMissing {
			continue // the value is still to come
		}
		f.mark = c.here()
		return c.enter(at, f.typ)
	}
	return c.pop(f.m.Value(), !f.bad)
}

// values returns room for n values from a block shared by the whole result.
func (c *coercer) values(n int) []Value {
	if n > len(c.arena) {
		if n > 128 {
			return make([]Value, n)
		}
		c.arena = make([]Value, max(n, min(512, len(c.tape))))
	}
	v := c.arena[:n:n]
	c.arena = c.arena[n:]
	return v
}

// path is where the coercion is, as errors and repairs name it.
func (c *coercer) path() string {
	var b []byte
	for i := range c.stack {
		f := &c.stack[i]
		switch f.op {
		case opList:
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(f.index), 10)
			b = append(b, ']')
		case opDict, opRecord:
			if f.child > 0 || f.key != "" {
				b = appendKey(b, f.key)
			}
		}
	}
	return string(b)
}
