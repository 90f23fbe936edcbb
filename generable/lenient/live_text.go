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

// liveText is the text that is being read. As long as it holds no escapes it is a slice of the input; then it is an
// append-only buffer.
type liveText struct {
	node  int // on the tape, -1 without one
	start int // offset of its first byte
	pos   int // offset up to which it is shown
	told  int // bytes of the text that have been reported
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

// begin starts another text.
func (t *liveText) begin(node, start int) {
	t.node, t.start, t.pos, t.told, t.own, t.odd, t.done = node, start, start, 0, false, false, false
	t.buf = nil
}

// differs reports whether the string at the text's node is no longer what was shown as the text.
func (t *liveText) differs(n *tape.Node, s *tape.Scanner) bool {
	return n.Kind == tape.NodeStr && t.pos > t.start && (t.start != int(n.Start) || t.pos > endOf(n, s))
}

// endOf returns the end of a string, as far as it was read.
func endOf(n *tape.Node, s *tape.Scanner) int {
	switch {
	case n.Span != 0:
		return int(n.End)
	case s.FenceCut >= 0:
		return s.FenceCut
	}
	return s.Pos
}

// textual reports whether the child being read may be shown while it grows.
func (f *liveFrame) textual() bool {
	if f.op == coerce.OpRecord && f.typ.Fields[f.field].Dedent {
		return false // the shared indentation is known only at its end
	}
	return f.policy(f.field)&generable.StreamAtomic == 0 && growsAsText(f.childType())
}

// growsAsText reports whether any text is a value of t and stays that text.
func growsAsText(t *generable.Type) bool {
	switch t = t.Deref(); t.Kind {
	case generable.AnyType, generable.StrType:
		return true
	case generable.OneOfType: // T | None and similar; nothing is known of an enum before its end
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
	if n.Kind == tape.NodeConcat { // it begins with its first part
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

// tellText reports the growth of a text since the last report, if it is at least atLeast bytes.
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

// finishText ends a text that was shown while it grew and whose value is v, and stores in last how it is shown. It
// reports whether that is the value.
func (l *live) finishText(at int, v generable.Value) bool {
	t := &l.text
	t.last = t.value(l.m.src)
	shown, _ := t.last.AsStr()
	all, ok := v.AsStr()
	if ok = ok && strings.HasPrefix(all, shown); ok {
		t.last = v
	} // else it was read as something else, which the end of the text reports
	t.done = true
	l.tellText(t.last, int(l.m.scan.Tape[at].End), 0)
	t.node = -1
	if t.own { // the next text may use the rest of the buffer
		l.spare = t.buf[len(t.buf):]
	}
	return ok
}

// grown returns the text that was shown while it grew, if all of it was shown and nothing must be recorded: it need
// not be built again.
func (l *live) grown(n *tape.Node, at int) (generable.Value, bool) {
	t := &l.text
	if t.node != at || t.odd || t.start != int(n.Start) || t.pos != int(n.End) || n.Flags&(tape.FlagFenced|tape.FlagDouble) != 0 {
		return generable.Value{}, false
	}
	l.c.Visits += t.pos - t.start
	return t.value(l.m.src), true
}

// advanceText shows more of a text that is wanted verbatim. It does not show what may still turn out to be a JSON
// string or reasoning, nor trailing blanks.
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

// plainText tracks how much of a text that is wanted verbatim has been examined.
type plainText struct {
	start  int // after the blanks and the reasoning at its beginning
	thinks int // number of reasoning regions examined
	looked int // offset up to which bytes were examined
	end    int // after the last non-blank byte
}

// textSpan returns the range of the text without surrounding blanks and without the reasoning before it. It looks at
// each byte once.
func (l *live) textSpan() (start, end int) {
	m, p := l.m, &l.plain
	if len(m.scan.Thinks) < p.thinks { // everything before the end of reasoning counts as reasoning
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

// extend adds the next piece of the input to the text. Its first escape is at index escape, or -1 if it has none.
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
	case escape >= 0: // the meaning of an escape may depend on what precedes it
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

// textBuffer returns a buffer to which a text of at least n bytes can be appended. A buffer that the text outgrows is
// left to the snapshots that refer to it.
func (l *live) textBuffer(n int) []byte {
	buf := l.spare
	if cap(buf) < 2*n {
		buf = make([]byte, 0, max(2*n, int(coerce.NextBlock(&l.spareSize, coerce.OwnBytes, coerce.MaxBytes))))
	}
	l.spare = nil
	return buf
}
