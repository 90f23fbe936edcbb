package generable

import (
	"math"
	"slices"
	"strings"
	"unsafe"
)

// Machine decodes a text that arrives in pieces. The result does not depend on how the text
// was cut. A Machine is not safe for concurrent use.
type Machine struct {
	typ    *Type
	o      Options
	scan   *scanner
	buf    []byte // append-only: strings of results point into it
	src    string // all of the text so far
	closed bool
	result Result
	live   *live    // what is known meanwhile; made when first asked for
	spare  *coercer // to be used once, or nil
}

// maxText bounds the text: offsets have 32 bits.
const maxText = math.MaxInt32

// NewMachine returns a machine that reads a value of type t; nil accepts any value.
func NewMachine(t *Type, o Options) *Machine {
	if t == nil {
		t = AnyT
	}
	return &Machine{typ: t, o: o, scan: newScanner(o.MaxDepth)}
}

// Feed adds a piece of the text. Pieces may end anywhere, also inside of a rune. Feed does
// nothing after Close.
func (m *Machine) Feed(chunk string) {
	if m.closed || chunk == "" {
		return
	}
	if m.buf == nil && m.src != "" {
		m.buf = append(m.buf, m.src...)
	}
	// Twice the room each time: append would take a quarter more, and copy the text more often.
	if n := len(m.buf) + len(chunk); n > cap(m.buf) {
		m.buf = append(make([]byte, 0, max(256, 2*n)), m.buf...)
	}
	if s := m.scan; cap(s.tape)-len(s.tape) < 8 {
		s.tape = append(make([]node, 0, max(32, 2*len(s.tape))), s.tape...)
	}
	m.buf = append(m.buf, chunk...)
	if unsafe.StringData(m.src) == &m.buf[0] && unsafe.StringData(m.scan.src) == &m.buf[0] {
		lengthen(&m.src, len(m.buf))
		lengthen(&m.scan.src, len(m.buf))
	} else {
		m.src = unsafe.String(&m.buf[0], len(m.buf))
		m.scan.src = m.src
	}
	if len(m.src) <= maxText {
		m.scan.run()
	}
}

// lengthen lets a string reach further into the buffer that it lies in. A new string would be
// the same; but its pointer is stored with each token then, and the collector told of it.
func lengthen(s *string, n int) {
	(*struct {
		p unsafe.Pointer
		n int
	})(unsafe.Pointer(s)).n = n
}

// Close ends the text and returns the value found in it. Further calls return the same.
func (m *Machine) Close() Result {
	if m.closed {
		return m.result
	}
	m.closed = true
	if len(m.src) > maxText {
		m.result.Errors = FieldErrors{{Expected: "less than 2 GiB of text", Got: "more", Offset: -1}}
		return m.result
	}
	m.scan.close()
	if m.o.Partial && m.cut() {
		m.result = Result{Visits: m.scan.visits()}
		if m.result.Value, m.result.OK = m.known(m.scan); m.result.OK {
			return m.result
		}
	}
	m.result = m.choose()
	return m.result
}

// cut reports whether the text ended inside of what it holds.
func (m *Machine) cut() bool {
	for _, c := range answers(m.scan) {
		if m.scan.tape[c.node].flags&flagOpen != 0 {
			return true
		}
	}
	return m.typ.Deref().Kind == StrType
}

// Snapshot returns what is known of the value so far: dicts and lists that grow, strings that
// get longer, scalars once they are complete, instances of schemas once all their fields
// are. A field that has not arrived is absent, never null. It is null as long as nothing is
// known.
func (m *Machine) Snapshot() Value {
	if m.closed {
		return m.result.Value
	}
	if m.live == nil {
		m.live = newLive(m, nil)
	}
	m.live.advance()
	return m.live.snapshot()
}

// known is what is known of the value when the text ends where s ended.
func (m *Machine) known(s *scanner) (Value, bool) {
	if m.typ.Deref().Kind == StrType {
		l := newLive(m, nil)
		l.advanceText()
		return l.root, !l.root.IsNull()
	}
	c := m.coercer(s)
	c.partial = true
	for _, i := range slices.Backward(answers(s)) {
		at := i.node
		if root := c.tape[at].kind; len(s.cands) > 1 && root == nodeNull {
			continue
		}
		if v, ok := c.decode(at, m.typ); ok {
			return v, true
		}
	}
	return Value{}, false
}

func (m *Machine) coercer(s *scanner) *coercer {
	c := m.spare
	if m.spare = nil; c == nil {
		c = new(coercer)
	}
	c.docs, c.base, c.depths = append(c.docs[:0], m.src), append(c.base[:0], 0), append(c.depths[:0], 0)
	c.tape, c.o = s.tape, m.o
	c.expect(s.tape)
	return c
}

// answers lists the candidates outside of reasoning, or all when there are no others.
func answers(s *scanner) []candidate {
	n := 0
	for i := range s.cands {
		if i < s.thought {
			s.cands[i].think = true
		}
		if s.cands[i].think {
			n++
		}
	}
	if n == 0 || n == len(s.cands) {
		return s.cands
	}
	out := make([]candidate, 0, len(s.cands)-n)
	for _, c := range s.cands {
		if !c.think {
			out = append(out, c)
		}
	}
	return out
}

// trimBOM drops a byte order mark and blanks around a text.
func trimBOM(s string) string {
	return strings.TrimSpace(strings.TrimPrefix(s, "\ufeff"))
}
