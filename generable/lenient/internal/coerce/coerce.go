package coerce

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

// Coercer turns a tape into values of a type. Like the scanner, it uses an explicit stack, so nesting needs no
// goroutine stack. It remembers its attempts at the branches of an inline union, so nested unions cost no more than
// the sum of their branches.
type Coercer struct {
	Docs   []string // the texts that nodes refer to; index 0 is the input
	Base   []int    // where in the input each text begins
	Depths []int    // how deep each text is nested in others
	Tape   []tape.Node
	O      generable.Options
	Names  tape.Names // of the wanted fields

	Stack []*CoerceFrame  // pointers beyond its length are frames for reuse
	ret   generable.Value // the result of the value that was entered last
	ok    bool

	Repairs  []generable.Repair
	Errs     generable.FieldErrors
	More     int // errors beyond MaxErrors
	Cost     int
	compared int // names that were compared to choose hints
	Score    int // points that only distinguish the branches of a union
	Visits   int
	last     heldText

	Trials  int
	Memo    map[trialKey]*trialResult
	Subdocs map[int]subdoc // nodes that hold JSON text

	Quiet   bool              // nothing is recorded
	Pending []generable.Value // values whose container comes later; kept for its memory
	Arena
}

// FrameOp says what a frame of the coercion builds.
type FrameOp uint8

const (
	OpList FrameOp = iota
	OpDict
	OpRecord
	opTrial
	opLimit
)

// CoerceFrame is one value under construction. There are as many frames as the text is deep, so a frame is kept
// small: data that few frames need is in More.
type CoerceFrame struct {
	op      FrameOp
	bad     bool
	keyless bool  // a record whose values come in field order without keys; a list that consists of one value itself
	node    int32 // on the tape, which has fewer nodes than a text may have bytes
	cur     int32 // the next child
	child   int32 // the value that was entered last
	left    int32 // children left
	index   int32
	field   int32
	mark    coerceMark
	Typ     *generable.Type // of the list or of a dict's entries, or the record's schema
	Key     string
	Vals    []generable.Value
	M       *generable.Map
	seen    []bool // fields that have a value
	More    *frameMore
}

// frameMore holds a frame's data about the variant of a union, errors and a trial.
type frameMore struct {
	tag    string // the discriminator's key
	tagged bool   // the tag has been read
	wrong  []fieldErrs
	trial  *trialState
}

// extra returns the data that few frames need.
func (f *CoerceFrame) extra() *frameMore {
	if f.More == nil {
		f.More = new(frameMore)
	}
	return f.More
}

func (f *CoerceFrame) tag() string {
	if f.More == nil {
		return ""
	}
	return f.More.tag
}

// coerceMark is a point to which records can be rolled back.
type coerceMark struct{ repairs, errs, more, cost, score int32 }

func (c *Coercer) here() coerceMark {
	return coerceMark{int32(len(c.Repairs)), int32(len(c.Errs)), int32(c.More), int32(c.Cost), int32(c.Score)}
}

func (c *Coercer) rollback(m coerceMark) {
	c.Repairs, c.Errs = c.Repairs[:m.repairs], c.Errs[:m.errs]
	c.More, c.Cost, c.Score = int(m.more), int(m.cost), int(m.score)
}

// Decode makes the value of type t at a node of the tape.
func (c *Coercer) Decode(at int, t *generable.Type) (generable.Value, bool) {
	base := len(c.Stack)
	done := c.enter(at, t)
	for {
		if len(c.Stack) == base && done {
			return c.ret, c.ok
		}
		f := c.Stack[len(c.Stack)-1]
		if done {
			c.take(f)
		}
		switch f.op {
		case OpList:
			done = c.stepList(f)
		case OpDict:
			done = c.stepDict(f)
		case OpRecord:
			done = c.stepRecord(f)
		case opLimit:
			done = c.endLimited(f)
		default:
			done = c.stepTrial(f)
		}
	}
}

// take passes the last completed value to the frame that waits for it.
func (c *Coercer) take(f *CoerceFrame) {
	switch f.op {
	case OpList, OpDict:
		if !c.ok {
			if c.badItem(f); !c.ok {
				return
			}
		}
		if f.op == OpList {
			f.Vals = append(f.Vals, c.ret)
			return
		}
		n := f.M.Len()
		f.M.Set(f.Key, c.ret)
		if f.M.Len() == n {
			c.Repair(tape.RepDuplicateKey, int(f.child)-1, f.Key, "")
		}
	case OpRecord:
		c.takeField(f)
	case opLimit:
	default:
		c.takeTrial(f)
	}
}

func (c *Coercer) done(v generable.Value) bool {
	c.ret, c.ok = v, true
	return true
}

func (c *Coercer) fail() bool {
	c.ret, c.ok = generable.Value{}, false
	return true
}

// enter begins the value of type t at a node. It reports whether the value is complete; if not, it has pushed a
// frame.
func (c *Coercer) enter(at int, t *generable.Type) bool {
	n := &c.Tape[at]
	if t.Kind == generable.RefType || t.Kind == generable.LimitType {
		if t = in.Resolved(t); t.Kind == generable.LimitType {
			return c.enterLimited(at, t)
		}
	}
	if n.Kind != tape.NodeStr || n.Flags&tape.FlagOpen == 0 {
		if v, ok := Plain(n, c.Raw(n), t); ok {
			return c.done(v)
		}
	}
	switch t.Kind {
	case generable.AnyType, generable.ErrorType:
		return c.enterAny(at, n)
	case generable.BoolType, generable.IntType, generable.FloatType, generable.StrType, generable.EnumType:
		return c.scalar(at, n, t)
	case generable.ListType:
		return c.enterList(at, n, t)
	case generable.DictType:
		if n.Kind == tape.NodeObj {
			c.Score++
			return c.push(OpDict, at, t.Elem)
		}
		if n.Kind == tape.NodeNull && c.O.Level == generable.Loose && len(c.Stack) > 0 {
			c.Repair(tape.RepEmptyDefault, at, "null", "{}")
			return c.done(generable.NewMap(0).Value())
		}
	case generable.RecordType:
		return c.enterRecord(at, n, t, "")
	case generable.UnionType:
		return c.enterUnion(at, n, t)
	case generable.OneOfType:
		return c.enterOneOf(at, n, t)
	default:
		return c.mismatch(at, t)
	}
	return c.around(at, n, t)
}

// enterAny begins a value without a known type.
func (c *Coercer) enterAny(at int, n *tape.Node) bool {
	switch n.Kind {
	case tape.NodeMissing:
		return c.done(generable.Value{})
	case tape.NodeInt, tape.NodeFloat, tape.NodeNumber:
		if v, ok := c.numeral(n); ok {
			return c.done(v)
		}
		if c.O.Level == generable.Strict {
			return c.badNumber(at, n)
		}
		return c.asText(at, n)
	case tape.NodeStr, tape.NodeWord, tape.NodeConcat:
		return c.done(generable.StrOf(c.Str(at)))
	case tape.NodeArr, tape.NodeObj:
		if f := c.top(); f == nil || f.Typ != generable.AnyT {
			if v, ok := c.untyped(at); ok {
				return c.done(v)
			}
		}
		if n.Kind == tape.NodeArr {
			return c.push(OpList, at, generable.AnyT)
		}
		return c.push(OpDict, at, generable.AnyT)
	}
	if c.O.Level == generable.Strict {
		return c.failAt(at, "a finite number", c.show(at), "JSON has no such number; use null")
	}
	return c.asText(at, n)
}

// asText makes a text of a node that is not a text, as it is written. It is used for numbers that cannot be
// represented, NaN or 1e400, where no type asks for a number: the rest of the document is worth keeping.
func (c *Coercer) asText(at int, n *tape.Node) bool {
	s := c.Raw(n)
	c.Repair(tape.RepToString, at, s, text.Quote(message.Shorten(s)))
	return c.done(generable.StrOf(s))
}

// push begins a list, a dict or a record.
func (c *Coercer) push(op FrameOp, at int, t *generable.Type) bool {
	n := &c.Tape[at]
	top := len(c.Stack)
	c.Stack = slices.Grow(c.Stack, 1)[:top+1]
	if c.Stack[top] == nil {
		c.Stack[top] = new(CoerceFrame)
	}
	f := c.Stack[top]
	f.op, f.bad, f.keyless = op, false, false
	f.node, f.cur, f.left, f.child, f.index, f.field = int32(at), int32(at+1), int32(n.Count), 0, -1, -1
	f.Typ, f.Key = t, ""
	if f.More != nil {
		*f.More = frameMore{wrong: f.More.wrong[:0]}
	}
	switch op {
	case OpList:
		f.Vals = c.Values(int(n.Count))[:0]
	case OpDict:
		f.M = generable.NewMap(int(n.Count))
	}
	return false
}

// pop completes the innermost frame with value v.
func (c *Coercer) pop(v generable.Value, ok bool) bool {
	c.Stack = c.Stack[:len(c.Stack)-1] // the next push reuses the frame
	if !ok {
		return c.fail()
	}
	return c.done(v)
}

// next advances a frame to its next child, which is preceded by the given number of key nodes, and returns its index.
func (c *Coercer) next(f *CoerceFrame, keys int32) int {
	f.left--
	f.child = f.cur + keys
	f.cur = f.child + int32(c.Tape[f.child].Span)
	return int(f.child)
}

func (c *Coercer) stepList(f *CoerceFrame) bool {
	for f.left > 0 {
		f.index++
		at := c.next(f, 0)
		f.mark = c.here()
		if !c.enter(at, in.Item(f.Typ, int(f.index))) {
			return false
		}
		c.take(f)
	}
	return c.pop(c.List(f.Vals), !f.bad)
}

// badItem decides how to handle an item or entry that does not fit.
func (c *Coercer) badItem(f *CoerceFrame) {
	mode := c.O.OnBadItem
	if mode == generable.ItemError && c.O.Level == generable.Loose && !(f.op == OpList && f.keyless) {
		mode = generable.ItemDrop
	}
	if mode == generable.ItemDrop && f.op == OpList && f.left > 0 && int(f.index) < len(f.Typ.Variants) {
		mode = generable.ItemError // the next item would take its place in the tuple
	}
	switch {
	case mode == generable.ItemError:
		f.bad = true
	case mode == generable.ItemDrop:
		c.rollback(f.mark)
		c.Repair(tape.RepDropItem, int(f.child), c.show(int(f.child)), "")
	default:
		c.rollback(f.mark)
		at := int(f.child)
		c.Repair(tape.RepKeepItem, at, c.show(at), "")
		m := c.here()
		if c.ret, c.ok = c.Decode(at, generable.AnyT); !c.ok {
			c.rollback(m)
			c.done(generable.StrOf(c.Str(at)))
		}
	}
}

func (c *Coercer) stepDict(f *CoerceFrame) bool {
	for f.left > 0 {
		f.Key = c.Str(int(f.cur))
		at := c.next(f, 1)
		if c.Tape[at].Kind == tape.NodeMissing {
			if _, has := f.M.Get(f.Key); has { // the key occurred before, with a value
				c.Repair(tape.RepDuplicateKey, at-1, f.Key, "")
				continue
			}
		}
		f.mark = c.here()
		return c.enter(at, f.Typ)
	}
	return c.pop(f.M.Value(), !f.bad)
}

// maxDepthShown bounds the paths of errors and repairs. Anything deeper has the path of its container at this depth:
// without a limit on nesting, each path could be as long as the text.
const maxDepthShown = tape.DefaultDepth

// path returns the current position of the coercion, as errors and repairs name it.
func (c *Coercer) path() string {
	var b []byte
	for i, f := range c.Stack {
		if i == maxDepthShown {
			break
		}
		switch f.op {
		case OpList:
			b = message.AppendIndex(b, int(f.index))
		case OpDict, OpRecord:
			if f.child > 0 || f.Key != "" {
				b = message.AppendStep(b, f.Key)
			}
		}
	}
	return string(b)
}

// enterLimited begins a value with limits, of a type that is not a field's. Its frame waits for the value;
// [Coercer.endLimited] then checks it.
func (c *Coercer) enterLimited(at int, t *generable.Type) bool {
	c.push(opLimit, at, t)
	c.enter(at, t.Elem)
	return false
}

func (c *Coercer) endLimited(f *CoerceFrame) bool {
	v, ok, at := c.ret, c.ok, int(f.node)
	if !ok {
		return c.pop(v, ok)
	}
	return c.pop(v, c.keeps(at, f.Typ.Limits, v))
}
