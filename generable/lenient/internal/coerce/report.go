package coerce

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/jsonstr"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

// Repair records a coercion of the value at a node.
func (c *Coercer) Repair(kind tape.RepairKind, at int, before, after string) {
	c.Cost += tape.RepairInfo[kind].Cost
	if c.Partial || len(c.Repairs) >= tape.MaxRepairs {
		return
	}
	c.Repairs = append(c.Repairs, generable.Repair{
		Kind: kind.String(), Path: c.path(), Offset: c.offset(at),
		Before: message.Shorten(before), After: message.Shorten(after), Cost: tape.RepairInfo[kind].Cost,
	})
}

// offset is where a node is in the input. A text inside a string has the offset of the
// string: its own offsets say nothing there.
func (c *Coercer) offset(at int) int {
	n := &c.Tape[at]
	if n.Doc > 0 {
		return c.Base[n.Doc]
	}
	if n.Kind == tape.NodeStr && n.Start > 0 && n.Flags&tape.FlagFenced == 0 {
		return int(n.Start) - 1 // the quote
	}
	return int(n.Start)
}

// failAt records an error about the value at a node, and reports a complete value that
// does not fit.
func (c *Coercer) failAt(at int, want, got, hint string) bool {
	switch {
	case c.Partial:
	case len(c.Errs) >= message.MaxErrors:
		c.More++
	default:
		c.Errs = append(c.Errs, &generable.FieldError{Path: c.path(), Expected: want, Got: got, Hint: hint, Offset: c.offset(at)})
	}
	return c.fail()
}

// maxCompared bounds the names that all hints of one text are chosen from.
const maxCompared = 20_000

// nearest is the hint that names the candidate nearest to a name, as long as errors are recorded
// and not too much has been compared.
func (c *Coercer) nearest(name string, candidates []string) string {
	if c.Partial || len(c.Errs) >= message.MaxErrors || c.compared+len(candidates) > maxCompared {
		return ""
	}
	c.compared += len(candidates)
	return message.DidYouMean(name, candidates)
}

// failUnder records an error about what is under the given keys in the object being
// entered.
func (c *Coercer) failUnder(at int, want, got, hint string, keys ...string) bool {
	n := len(c.Errs)
	c.failAt(at, want, got, hint)
	if len(c.Errs) > n {
		b := []byte(c.Errs[n].Path)
		for _, key := range keys {
			b = message.AppendStep(b, key)
		}
		c.Errs[n].Path = string(b)
	}
	return true
}

// mismatch records that the value at a node is of another type than t.
func (c *Coercer) mismatch(at int, t *generable.Type) bool {
	want, hint := in.Wanted(t)
	if f := c.top(); f != nil && hint == "" && f.op == OpRecord && f.field >= 0 {
		hint = f.Typ.Fields[f.field].Guide
	}
	return c.failAt(at, want, c.show(at), hint)
}

func (c *Coercer) top() *CoerceFrame {
	if len(c.Stack) == 0 {
		return nil
	}
	return c.Stack[len(c.Stack)-1]
}

// show names the value at a node for an error or a repair.
func (c *Coercer) show(at int) string {
	n := &c.Tape[at]
	switch n.Kind {
	case tape.NodeNull:
		return "null"
	case tape.NodeMissing:
		return "nothing"
	case tape.NodeArr:
		return text.Count(int(n.Count), "item") + " in a list"
	case tape.NodeObj:
		return "an object"
	case tape.NodeConcat:
		return "a string"
	case tape.NodeStr, tape.NodeWord:
		s := c.Raw(n)
		if n.Flags&tape.FlagEscape != 0 && len(s) < 4*message.MaxShown {
			s, _ = jsonstr.Unescape(s, jsonstr.Cut)
		}
		return message.Quote(text.Cut(s, 2*message.MaxShown))
	}
	return message.Shorten(c.Raw(n))
}
