package generable

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// liveText is the text that is being read. As long as it holds no escapes it is a piece of
// the input; then a buffer to which is only ever appended.
type liveText struct {
	node  int // on the tape, -1 when there is none
	start int // offset of its first byte
	pos   int // offset up to which it is shown
	told  int // bytes of the text that were told
	buf   []byte
	own   bool  // the text is in buf
	last  Value // what it came to, once it is complete
	done  bool
}

func (t *liveText) value(src string) Value {
	if t.done {
		return t.last
	}
	if t.own {
		return StrOf(unsafe.String(unsafe.SliceData(t.buf), len(t.buf)))
	}
	return StrOf(src[t.start:t.pos])
}

// textual reports whether the child that a frame reads may be shown while it grows.
func (f *liveFrame) textual() bool {
	t := f.typ
	if f.op == opRecord {
		if f.typ.Fields[f.field].Stream&StreamAtomic != 0 {
			return false
		}
		t = f.typ.Fields[f.field].Type
	}
	return growsAsText(t)
}

// growsAsText reports whether any text is a value of t, and is that text.
func growsAsText(t *Type) bool {
	switch t = t.Deref(); t.Kind {
	case AnyType, StrType:
		return true
	case OneOfType: // T | None and the like; of an enum nothing is known before its end
		found := false
		for _, v := range t.Variants {
			switch v.Deref().Kind {
			case StrType:
				found = true
			case EnumType:
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
	n := &s.tape[at]
	t := &l.text
	if t.node != at {
		if n.flags&(flagDouble|flagFenced) != 0 || s.concat >= 0 || s.tentStr.node >= 0 || (n.span == 0 && (s.cur != at || s.st != stString)) {
			return
		}
		*t = liveText{node: at, start: int(n.start), pos: int(n.start)}
	}
	end := int(n.end)
	if n.span == 0 {
		end = s.pos
		if s.fenceCut >= 0 {
			end = min(end, s.fenceCut)
		}
	}
	if end <= t.pos {
		return
	}
	seg := wholeRunes(l.m.src[t.pos:end])
	if i := strings.IndexByte(seg, '\\'); i >= 0 {
		seg = seg[:i+wholeEscapes(seg[i:])]
	}
	if seg == "" {
		return
	}
	t.extend(l.m.src, seg, true)
	l.visits += len(seg)
	if f := &l.frames[len(l.frames)-1]; f.op != opList && len(f.keys) == len(f.vals) {
		f.keys = append(f.keys, f.key)
	}
	l.show()
	l.tellText(t.value(l.m.src), t.pos, l.minText)
}

// gathers reports whether a text goes on that has not grown enough to be told.
func (l *live) gathers() bool {
	t, s := &l.text, l.m.scan
	return t.node >= 0 && s.st == stString && s.cur == t.node && s.pos-t.pos < l.minText
}

// tellText tells by what a text grew since that was told, if it is at least so many bytes.
func (l *live) tellText(v Value, offset, atLeast int) {
	if l.on == nil {
		return
	}
	t := &l.text
	all, _ := v.AsStr()
	if n := len(all) - t.told; n == 0 || n < atLeast {
		return
	}
	l.emit(StreamEvent{Kind: StreamText, Text: all[t.told:], Offset: offset}, len(l.frames))
	t.told = len(all)
}

// finishText ends a text that was shown while it grew, whose value turned out to be v, and
// leaves in last what it is shown as.
func (l *live) finishText(at int, v Value) {
	t := &l.text
	t.last = t.value(l.m.src)
	shown, _ := t.last.AsStr()
	if all, ok := v.AsStr(); ok && strings.HasPrefix(all, shown) {
		t.last = v
	} // else something else was made of it, and the end says so
	t.done = true
	l.tellText(t.last, int(l.m.scan.tape[at].end), 0)
	t.node = -1
}

// advanceText shows more of a text that is wanted as it stands. What may still turn out as a
// JSON string or as reasoning is not shown, nor are blanks at its end.
func (l *live) advanceText() {
	m, t := l.m, &l.text
	start, end := l.textSpan()
	if l.m.scan.st == stThink || start >= end || m.src[start] == '"' || (m.src[start] == '<' && end-start < maxTag) {
		return
	}
	if t.node < 0 || t.start != start {
		if t.node >= 0 {
			l.reset("what came before was reasoning")
		}
		*t = liveText{node: 0, start: start, pos: start}
	}
	if end <= t.pos {
		return
	}
	if seg := wholeRunes(m.src[t.pos:end]); seg != "" {
		t.extend(m.src, seg, false)
		l.visits += len(seg)
		l.show()
		l.root = t.value(m.src)
		l.tellText(l.root, t.pos, l.minText)
	}
}

// plainText is how much of a text that is wanted as it stands was looked at.
type plainText struct {
	start  int // behind the blanks and the reasoning at its beginning
	thinks int // reasoning regions looked at
	looked int // offset up to which bytes were looked at
	end    int // behind the last of them that is no blank
}

// textSpan is the text without the blanks around it and the reasoning before it. It looks at
// each byte once.
func (l *live) textSpan() (start, end int) {
	m, p := l.m, &l.plain
	if len(m.scan.thinks) < p.thinks { // all before the end of reasoning counts as such
		p.start, p.thinks = 0, 0
	}
	if p.start == 0 && strings.HasPrefix(m.src, "\ufeff") {
		p.start = len("\ufeff")
	}
	blanks := func() {
		for p.start < len(m.src) && class[m.src[p.start]]&isBlank != 0 {
			p.start++
			l.visits++
		}
	}
	blanks()
	for ; p.thinks < len(m.scan.thinks); p.thinks++ {
		if th := m.scan.thinks[p.thinks]; th.start <= p.start && th.end > p.start {
			p.start = min(th.end, len(m.src))
			blanks()
		}
	}
	for e := len(m.src); e > p.looked; e-- {
		l.visits++
		if class[m.src[e-1]]&isBlank == 0 {
			p.end = e
			break
		}
	}
	p.looked = len(m.src)
	return p.start, p.end
}

// extend adds the next piece of the input to the text.
func (t *liveText) extend(src, seg string, escaped bool) {
	escaped = escaped && strings.IndexByte(seg, '\\') >= 0
	if !t.own && (escaped || !utf8.ValidString(seg)) {
		t.own = true
		t.buf = append(t.buf[:0:0], src[t.start:t.pos]...)
	}
	t.pos += len(seg)
	if !t.own {
		return
	}
	if escaped { // what an escape means may depend on what stands before it
		n := len(t.buf)
		b, _ := appendUnescaped(t.buf, seg, strings.IndexByte(seg, '\\'), endWhole)
		seg = string(b[n:])
	}
	for _, r := range seg { // each bad byte becomes one replacement character
		t.buf = utf8.AppendRune(t.buf, r)
	}
}

// wholeRunes cuts the beginning of a rune off the end of a text.
func wholeRunes(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			return s
		}
	}
	return s
}

// wholeEscapes returns how much of a text that may end inside of an escape is certain.
func wholeEscapes(s string) int {
	i := 0
	for {
		k := strings.IndexByte(s[i:], '\\')
		if k < 0 {
			return len(s)
		}
		i += k
		if i+1 == len(s) {
			return i
		}
		if s[i+1] != 'u' {
			i += 2
			continue
		}
		digits := s[i+2:]
		r, n := hexRune(digits)
		switch {
		case n == 0 && len(digits) < 4 && isHex(digits), n == 4 && r == utf8.RuneError && mayPair(digits[4:]):
			return i
		}
		i += 2 + n
	}
}
