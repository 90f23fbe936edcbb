package lenient

import (
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/jsonstr"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// liveText is the text that is being read. As long as it holds no escapes it is a piece of
// the input; then a buffer to which is only ever appended.
type liveText struct {
	node  int // on the tape, -1 when there is none
	start int // offset of its first byte
	pos   int // offset up to which it is shown
	told  int // bytes of the text that were reported
	buf   []byte
	own   bool            // the text is in buf
	odd   bool            // some of it was not JSON or not UTF-8, and must be recorded
	last  generable.Value // the final text, once it is complete
	done  bool
}

func (t *liveText) value(src string) generable.Value {
	if t.done {
		return t.last
	}
	if t.own {
		return generable.StrOf(unsafe.String(unsafe.SliceData(t.buf), len(t.buf)))
	}
	return generable.StrOf(src[t.start:t.pos])
}

// begin begins another text. What the one before left is written over only where there is any.
func (t *liveText) begin(node, start int) {
	t.node, t.start, t.pos, t.told, t.own, t.odd, t.done = node, start, start, 0, false, false, false
	t.buf = nil
}

// differs reports whether the string at the text's node is no more what was shown as the text.
func (t *liveText) differs(n *tape.Node, s *tape.Scanner) bool {
	return n.Kind == tape.NodeStr && t.pos > t.start && (t.start != int(n.Start) || t.pos > endOf(n, s))
}

// endOf is where a string ends, as far as it was read.
func endOf(n *tape.Node, s *tape.Scanner) int {
	switch {
	case n.Span != 0:
		return int(n.End)
	case s.FenceCut >= 0:
		return s.FenceCut
	}
	return s.Pos
}

// textual reports whether the child that a frame reads may be shown while it grows.
func (f *liveFrame) textual() bool {
	if f.op == coerce.OpRecord && f.typ.Fields[f.field].Dedent {
		return false // the blanks that its lines share are known at its end
	}
	return f.policy(f.field)&generable.StreamAtomic == 0 && growsAsText(f.childType())
}

// growsAsText reports whether any text is a value of t, and is that text.
func growsAsText(t *generable.Type) bool {
	switch t = t.Deref(); t.Kind {
	case generable.AnyType, generable.StrType:
		return true
	case generable.OneOfType: // T | None and the like; of an enum nothing is known before its end
		found := false
		for _, v := range t.Variants {
			switch v.Deref().Kind {
			case generable.StrType:
				found = true
			case generable.EnumType:
				return false
			}
		}
		return found
	}
	return false
}

// grow shows what has been added to the string at a node.
func (l *live) grow(at int) {
	s := l.m.scan
	n := &s.Tape[at]
	t := &l.text
	if n.Kind == tape.NodeConcat { // its first part is its beginning
		n = &s.Tape[at+1]
	}
	if t.node != at || t.start != int(n.Start) && t.pos == t.start {
		if n.Flags&(tape.FlagDouble|tape.FlagFenced) != 0 || (n.Span == 0 && (s.Concat >= 0 || s.TentStr.Node >= 0 || s.Cur != at || s.St != tape.StString)) {
			return
		}
		t.begin(at, int(n.Start))
		l.show()
	}
	end := endOf(n, s)
	if end <= t.pos {
		return
	}
	seg, escape := l.m.src[t.pos:end], -1
	if n.Flags&tape.FlagHigh != 0 {
		seg = coerce.WholeRunes(seg)
	}
	if n.Flags&tape.FlagEscape != 0 {
		escape = strings.IndexByte(seg, '\\')
	}
	from := t.pos
	if t.own || escape >= 0 || n.Flags&tape.FlagHigh != 0 {
		l.extend(seg, escape)
	} else {
		t.pos += len(seg)
	}
	if t.pos == from {
		return
	}
	l.visits += t.pos - from
	l.show()
	l.tellText(t.value(l.m.src), t.pos, l.minText)
}

// tellText reports what a text grew by since the last report, if at least so many bytes.
func (l *live) tellText(v generable.Value, offset, atLeast int) {
	if l.on == nil {
		return
	}
	t := &l.text
	all, _ := v.AsStr()
	if n := len(all) - t.told; n == 0 || n < atLeast {
		return
	}
	l.emit(StreamText, all[t.told:], generable.Value{}, offset, len(l.frames))
	t.told = len(all)
}

// finishText ends a text that was shown while it grew, whose value turned out to be v, and
// leaves in last what it is shown as. It reports whether that is the value.
func (l *live) finishText(at int, v generable.Value) bool {
	t := &l.text
	t.last = t.value(l.m.src)
	shown, _ := t.last.AsStr()
	all, ok := v.AsStr()
	if ok = ok && strings.HasPrefix(all, shown); ok {
		t.last = v
	} // else something else was made of it, and the end says so
	t.done = true
	l.tellText(t.last, int(l.m.scan.Tape[at].End), 0)
	t.node = -1
	if t.own { // the next text may have what is left of the buffer
		l.spare = t.buf[len(t.buf):]
	}
	return ok
}

// grown is the text that was shown while it grew, when all of it was and nothing must be
// recorded: it need not be made again.
func (l *live) grown(n *tape.Node, at int) (generable.Value, bool) {
	t := &l.text
	if t.node != at || t.odd || t.start != int(n.Start) || t.pos != int(n.End) || n.Flags&(tape.FlagFenced|tape.FlagDouble) != 0 {
		return generable.Value{}, false
	}
	l.c.Visits += t.pos - t.start
	return t.value(l.m.src), true
}

// advanceText shows more of a text that is wanted as it is. What may still turn out as a
// JSON string or as reasoning is not shown, nor are blanks at its end.
func (l *live) advanceText() {
	m, t := l.m, &l.text
	start, end := l.textSpan()
	if l.m.scan.St == tape.StThink || start >= end || m.src[start] == '"' || (m.src[start] == '<' && end-start < tape.MaxTag) {
		return
	}
	if t.node < 0 || t.start != start {
		if t.node >= 0 {
			l.reset("what came before was reasoning")
		}
		t.begin(0, start)
	}
	if end <= t.pos {
		return
	}
	if seg := coerce.WholeRunes(m.src[t.pos:end]); seg != "" {
		l.extend(seg, -1)
		l.visits += len(seg)
		l.show()
		l.root = t.value(m.src)
		l.tellText(l.root, t.pos, l.minText)
	}
}

// plainText is how much of a text that is wanted as it is was looked at.
type plainText struct {
	start  int // behind the blanks and the reasoning at its beginning
	thinks int // reasoning regions looked at
	looked int // offset up to which bytes were looked at
	end    int // after the last of them that is not a blank
}

// textSpan is the text without the blanks around it and the reasoning before it. It looks at
// each byte once.
func (l *live) textSpan() (start, end int) {
	m, p := l.m, &l.plain
	if len(m.scan.Thinks) < p.thinks { // all before the end of reasoning counts as such
		p.start, p.thinks = 0, 0
	}
	if p.start == 0 && strings.HasPrefix(m.src, "\ufeff") {
		p.start = len("\ufeff")
	}
	blanks := func() {
		from := p.start
		p.start = lex.SkipBlanks(m.src, from)
		l.visits += p.start - from
	}
	blanks()
	for ; p.thinks < len(m.scan.Thinks); p.thinks++ {
		if th := m.scan.Thinks[p.thinks]; th.Start <= p.start && th.End > p.start {
			p.start = min(th.End, len(m.src))
			blanks()
		}
	}
	l.visits += len(m.src) - p.looked
	if said := strings.TrimRight(m.src[p.looked:], jsonBlanks); said != "" {
		p.end = p.looked + len(said)
	}
	p.looked = len(m.src)
	return p.start, p.end
}

// extend adds the next piece of the input to the text, of which the first escape is at a place,
// or at -1 when there is none.
func (l *live) extend(seg string, escape int) {
	t := &l.text
	n := len(seg)
	valid := utf8.ValidString(seg)
	if !t.own && (escape >= 0 || !valid) {
		t.own = true
		t.buf = append(l.textBuffer(t.pos-t.start+n), l.m.src[t.start:t.pos]...)
	} else if t.own && cap(t.buf)-len(t.buf) < n {
		t.buf = append(l.textBuffer(len(t.buf)+n), t.buf...)
	}
	t.pos += n
	switch {
	case !t.own:
		return
	case escape >= 0: // what an escape means may depend on what comes before it
		from, left, bad := len(t.buf), 0, 0
		t.buf, left, bad = jsonstr.AppendUnescaped(t.buf, seg, escape, jsonstr.Open)
		t.pos, t.odd = t.pos-left, t.odd || bad > 0
		if valid || utf8.Valid(t.buf[from:]) {
			return
		}
		seg = string(t.buf[from:])
		t.buf = t.buf[:from]
	case valid:
		t.buf = append(t.buf, seg...)
		return
	}
	t.odd = true
	for _, r := range seg { // each bad byte becomes one replacement character
		t.buf = utf8.AppendRune(t.buf, r)
	}
}

// textBuffer is where a text may be put together of which n bytes are there, to be appended to. What
// it grows beyond is left to who was shown it.
func (l *live) textBuffer(n int) []byte {
	buf := l.spare
	if cap(buf) < 2*n {
		buf = make([]byte, 0, max(2*n, int(coerce.NextBlock(&l.spareSize, coerce.OwnBytes, coerce.MaxBytes))))
	}
	l.spare = nil
	return buf
}
