package lenient

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// This file follows consecutive values as the rows of a list.

// openRow follows a candidate as the next item of a list: if a list is wanted, an object and the values after it;
// without a type, the values after a value at the beginning of the text.
func (l *live) openRow(k *tape.Candidate) opening {
	t, n := l.m.typ.Deref(), &l.m.scan.Tape[k.Node]
	untyped := t.Kind == generable.AnyType
	rows, isList := l.root.AsList()
	var items []generable.Value
	switch {
	case l.m.o.Level == generable.Strict || len(t.Variants) > 0 || t.Kind != generable.ListType && !untyped:
		return openNo
	case k.Adjacent && untyped && !l.root.IsNull() && l.next == 1:
		items = []generable.Value{l.root}
	case k.Adjacent && isList && l.rows > 0:
		items = rows.Items()
	case untyped || n.Kind != tape.NodeObj || !l.root.IsNull():
		return openNo
	default:
		key, ok := l.firstKey(k.Node)
		if !ok && n.Span == 0 {
			return openWait
		} else if !ok || !l.c.TakesKey(t.Elem, key) {
			return openNo
		}
	}
	l.base, l.rowCand = l.root, l.next
	if l.rows++; isList && l.rows > 1 {
		l.root = generable.Value{} // it stays as it was shown
	}
	f := l.push(coerce.OpList, k.Node, elemOf(t))
	if f.cur = k.Node; len(items) > 1 && len(items) == len(l.rowVals) {
		f.vals = l.rowVals // a copy for each row would take time quadratic in the number of rows
	} else {
		f.vals = append(f.vals, items...)
	}
	return openYes
}

// freeReread is how many bytes, in addition to a text's length, are read again when another value in it is complete.
const freeReread = 128

// reread reads the text up to the end of a candidate as if it ended there, if the candidate is one of several values,
// or more likely a part of the value.
func (l *live) reread(at int) (generable.Value, bool) {
	n := &l.m.scan.Tape[at]
	k := tape.Candidate{Start: int(n.Start), End: int(n.End), Fence: -1}
	if l.cand == 0 && !l.m.beginsInside([]tape.Candidate{k}) || l.rereads > freeReread+int(n.End) {
		return generable.Value{}, false
	}
	o := l.m.o
	o.Partial = false
	r := Decode(l.m.typ, l.m.src[:n.End], o)
	l.visits += r.Visits
	l.rereads += r.Visits
	return r.Value, r.OK
}

// salvage returns what is known of a candidate that is not a value of the type: the parts that fit, as a snapshot
// shows them. It is null when nothing fits.
func (m *Machine) salvage(c *coerce.Coercer, at int) generable.Value {
	n := &c.Tape[at]
	if n.Kind < tape.NodeArr {
		return generable.Value{}
	}
	part := Machine{typ: m.typ, o: m.o, src: c.Docs[n.Doc], scan: tape.NewScanner(0)}
	part.scan.Tape = c.Tape
	l := newLive(&part, nil)
	if l.salvage = c; l.open(at, m.typ) != openYes {
		if n.Kind == tape.NodeObj && hollows(m.typ) {
			return generable.NewMap(0).Value()
		}
		return generable.Value{}
	}
	for len(l.frames) > 0 && l.step() {
	}
	return l.root
}

// quoted reports whether the text begins with a quote: it may be one string as a whole.
func (l *live) quoted() bool {
	start, end := trimSpan(l.m.src, 0, min(len(l.m.src), tape.MaxGap))
	return start < end && l.m.src[start] == '"'
}
