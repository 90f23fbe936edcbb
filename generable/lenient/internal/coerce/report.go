package coerce

import (
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/jsonstr"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

// Repair records a coercion of the value at a node.
func (c *Coercer) Repair(kind tape.RepairKind, at int, before, after string) {
	c.Cost += tape.RepairInfo[kind].Cost
	if c.Quiet || len(c.Repairs) >= tape.MaxRepairs {
		return
	}
	c.Repairs = append(c.Repairs, generable.Repair{
		Kind: kind.String(), Path: c.path(), Offset: c.offset(at),
		Before: message.Shorten(before), After: message.Shorten(after), Cost: tape.RepairInfo[kind].Cost,
	})
}

// offset returns the position of a node in the input. A text inside a string has the offset of the string: its own
// offsets are meaningless there.
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

// failAt records an error about the value at a node, and reports a complete value that does not fit.
func (c *Coercer) failAt(at int, want, got, hint string) bool {
	switch {
	case len(c.Errs) >= message.MaxErrors:
		c.More++
	default:
		c.Errs = append(c.Errs, &generable.FieldError{Path: c.path(), Expected: want, Got: got, Hint: hint, Offset: c.offset(at)})
	}
	return c.fail()
}

// maxCompared bounds the number of names that are compared for all hints of one text.
const maxCompared = 20_000

// nearest returns the hint that names the candidate nearest to a name, as long as errors are recorded and the bound
// of comparisons is not reached.
func (c *Coercer) nearest(name string, candidates []string) string {
	if len(c.Errs) >= message.MaxErrors || c.compared+len(candidates) > maxCompared {
		return ""
	}
	c.compared += len(candidates)
	return message.DidYouMean(name, candidates)
}

// failUnder records an error about what is under the given keys in the object being entered.
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

// keeps checks the limits of the value v that was made from the node at index at. An error shows the original text
// rather than the value; only lengths are those of v.
func (c *Coercer) keeps(at int, l *generable.Limits, v generable.Value) bool {
	errs := in.Breaks(l, v)
	for _, e := range errs {
		got := e.Got
		if v.Kind() < generable.Str || strings.IndexByte("\"[{", got[0]) >= 0 {
			got = c.show(at)
		}
		c.failAt(at, e.Expected, got, e.Hint)
	}
	return len(errs) == 0
}

// mismatch records that the value at a node does not have type t.
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

// onLine returns the text of a node, which may span several lines, on one line. A list without brackets in the text
// is shown as its number of items.
func (c *Coercer) onLine(n *tape.Node) string {
	doc := c.Docs[n.Doc]
	end := int(n.End)
	if end < int(n.Start) { // it is still being read
		end = len(doc)
	}
	if int(n.Start) == end {
		return text.Count(int(n.Count), "item")
	}
	all := doc[n.Start:end]
	part := text.Cut(all, 4*message.MaxShown)
	shown := strings.Join(strings.Fields(part), " ")
	if len(part) < len(all) && len(shown) <= 2*message.MaxShown {
		return shown + "…"
	}
	return message.Shorten(shown)
}

// show returns the clipped text of the value at a node, for an error or a repair.
func (c *Coercer) show(at int) string {
	n := &c.Tape[at]
	switch n.Kind {
	case tape.NodeNull:
		return "null"
	case tape.NodeMissing:
		return "nothing"
	case tape.NodeArr, tape.NodeObj, tape.NodeConcat:
		return c.onLine(n)
	case tape.NodeStr, tape.NodeWord:
		s := c.Raw(n)
		if n.Flags&tape.FlagEscape != 0 && len(s) < 4*message.MaxShown {
			s, _ = jsonstr.Unescape(s, jsonstr.Cut)
		}
		return message.Quote(text.Cut(s, 2*message.MaxShown))
	}
	return message.Shorten(c.Raw(n))
}
