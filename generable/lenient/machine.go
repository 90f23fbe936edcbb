package lenient

import (
	"unsafe"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// Machine decodes a text that arrives in pieces. The result does not depend on how the text was cut. A Machine is not
// safe for concurrent use.
type Machine struct {
	typ    *generable.Type
	o      generable.Options
	scan   *tape.Scanner
	buf    []byte // append-only: strings of results point into it
	src    string // the text so far
	read   int    // how much of it was passed to the scanner
	closed bool
	result Result
	live   *live           // what is known meanwhile; made on first use
	spare  *coerce.Coercer // used once; may be nil
	names  names           // what [Machine.Text] knows about the type
	held   *scratch        // owner of scan and spare, to be returned to the pool
}

// NewMachine returns a machine that reads a value of type t; nil accepts any value.
func NewMachine(t *generable.Type, o generable.Options) *Machine {
	if t == nil {
		t = generable.AnyT
	}
	return &Machine{typ: t, o: o}
}

// open acquires the memory for reading, once there is something to read. It is released when the text has ended.
func (m *Machine) open() *tape.Scanner {
	if m.scan == nil {
		m.held = scratches.Get().(*scratch)
		m.scan, m.spare = &m.held.scanner, &m.held.coercer
		m.scan.Reset(m.o.MaxDepth)
		m.scan.Names = m
	}
	return m.scan
}

// release returns the memory to the pool. The result does not refer to it.
func (m *Machine) release() {
	if m.held == nil {
		return
	}
	m.held.clear()
	scratches.Put(m.held)
	m.held, m.scan, m.spare = nil, nil, nil
}

// Feed adds a piece of the text. Pieces may end anywhere, even inside a rune. Feed does nothing after Close.
func (m *Machine) Feed(chunk string) {
	if m.closed || chunk == "" {
		return
	}
	if m.append(chunk); len(m.src)-m.read >= readAtOnce {
		m.catchUp()
	}
}

// readAtOnce is how much text is gathered before it is read, as long as nobody waits for the result: starting and
// stopping takes longer than reading a token.
const readAtOnce = 1 << 10

// append adds a piece to the text, to be read later.
func (m *Machine) append(chunk string) {
	if len(chunk) > cap(m.buf)-len(m.buf) {
		m.grow(len(chunk))
	}
	m.buf = append(m.buf, chunk...)
	m.src = unsafe.String(unsafe.SliceData(m.buf), len(m.buf))
}

// catchUp reads the text that has not been read yet.
func (m *Machine) catchUp() {
	if m.read < len(m.src) && len(m.src) <= tape.MaxText {
		m.read = len(m.src)
		m.scan.Feed(m.src)
	}
}

// grow makes space for n more bytes of the text. It doubles the size, where append would add a quarter and copy the
// text more often.
func (m *Machine) grow(n int) {
	if m.open(); m.buf == nil {
		m.buf = []byte(m.src)
	}
	n += len(m.buf)
	m.buf = append(make([]byte, 0, max(256, 2*n)), m.buf...)
}

// Close ends the text and returns the value found in it. Further calls return the same.
func (m *Machine) Close() Result {
	if !m.closed {
		m.close()
		m.release()
	}
	return m.result
}

// close makes the result.
func (m *Machine) close() {
	m.closed = true
	if len(m.src) > tape.MaxText {
		m.result.Errors = generable.FieldErrors{{Expected: "less than 2 GiB of text", Got: "more", Offset: -1}}
		return
	}
	m.open()
	m.catchUp()
	if m.o.Partial {
		m.part()
		return
	}
	m.scan.Close()
	m.result = m.choose()
}

// part makes the result of a text that was cut off: what is known of its value. If nothing is open, the text is read
// to its end.
func (m *Machine) part() {
	l := m.follow()
	v, open := l.snapshot(), !l.plainly && (len(l.frames) > 0 || len(m.scan.Stack) > 0)
	m.scan.Close()
	if (open || l.plainly) && !v.IsNull() {
		m.result = Result{Value: v, OK: true, Visits: m.scan.Visits() + l.visits + l.c.Visits}
		return
	}
	m.result = m.choose()
	r := &m.result
	if list := m.scan.Cands; open && len(list) > 0 && r.Start < list[0].Start { // it lacks its first bracket
		if p := Decode(m.typ, "{"+m.src[r.Start:], m.o); p.OK {
			r.Value, r.OK, r.Errors, open = p.Value, true, nil, false
		}
	}
	if open && r.OK {
		r.OK, r.Value = false, generable.Value{}
		r.Errors = append(r.Errors, &generable.FieldError{Expected: m.expects(), Got: "a text that ends before anything of it is known", Offset: len(m.src)})
		locate(m.src, r.Errors)
	}
	if !r.OK {
		r.Partial = v
	}
}

// follow returns the live value after it has processed all the text so far.
func (m *Machine) follow() *live {
	if m.live == nil {
		m.live = newLive(m, nil)
	}
	m.live.advance()
	return m.live
}

// Snapshot returns what is known of the value so far: growing dicts, lists and strings, scalars once they are
// complete, instances of schemas once all their fields are. A field that has not arrived is absent, never null. The
// result is null as long as nothing is known.
func (m *Machine) Snapshot() generable.Value {
	if m.closed {
		return m.result.Value
	}
	return m.follow().snapshot()
}

func (m *Machine) coercer(s *tape.Scanner) *coerce.Coercer {
	c := m.spare
	if m.spare = nil; c == nil {
		c = new(coerce.Coercer)
	}
	c.Docs, c.Base, c.Depths = append(c.Docs[:0], m.src), append(c.Base[:0], 0), append(c.Depths[:0], 0)
	c.Tape, c.O, c.Names, c.Visits = s.Tape, m.o, m, s.Visits()
	c.Expect(s.Tape)
	return c
}

// answers lists the candidates outside of reasoning, or all candidates if there are no others.
func answers(s *tape.Scanner) []tape.Candidate {
	n := 0
	for i := range s.Cands {
		if i < s.Thought {
			s.Cands[i].Think = true
		}
		if s.Cands[i].Think {
			n++
		}
	}
	if n == 0 || n == len(s.Cands) {
		return s.Cands
	}
	out := make([]tape.Candidate, 0, len(s.Cands)-n)
	for _, c := range s.Cands {
		if !c.Think {
			out = append(out, c)
		}
	}
	return out
}
