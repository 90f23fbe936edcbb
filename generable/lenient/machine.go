package lenient

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// Machine decodes a text that arrives in pieces. The result does not depend on how the text
// was cut. A Machine is not safe for concurrent use.
type Machine struct {
	typ    *generable.Type
	o      generable.Options
	scan   *tape.Scanner
	buf    []byte // append-only: strings of results point into it
	src    string // all of the text so far
	read   int    // how much of it the scanner was given
	closed bool
	result Result
	live   *live           // what is known meanwhile; made when first asked for
	spare  *coerce.Coercer // to be used once, or nil
	names  names           // what [Machine.Text] knows of the type
	held   *scratch        // where scan and spare are, to be given back
}

// NewMachine returns a machine that reads a value of type t; nil accepts any value.
func NewMachine(t *generable.Type, o generable.Options) *Machine {
	if t == nil {
		t = generable.AnyT
	}
	return &Machine{typ: t, o: o}
}

// open takes the memory that reading needs, when there is something to read. It is given back
// when the text has ended.
func (m *Machine) open() *tape.Scanner {
	if m.scan == nil {
		m.held = scratches.Get().(*scratch)
		m.scan, m.spare = &m.held.scanner, &m.held.coercer
		m.scan.Reset(m.o.MaxDepth)
		m.scan.Names = m
	}
	return m.scan
}

// release returns the memory. Nothing of the result is in it.
func (m *Machine) release() {
	if m.held == nil {
		return
	}
	m.held.clear()
	scratches.Put(m.held)
	m.held, m.scan, m.spare = nil, nil, nil
}

// Feed adds a piece of the text. Pieces may end anywhere, also inside of a rune. Feed does
// nothing after Close.
func (m *Machine) Feed(chunk string) {
	if m.closed || chunk == "" {
		return
	}
	if m.append(chunk); len(m.src)-m.read >= readAtOnce {
		m.catchUp()
	}
}

// readAtOnce is how much of a text is gathered before it is read, while nobody waits for what
// becomes known: to begin and to stop takes longer than to read a token.
const readAtOnce = 1 << 10

// append adds a piece to the text, to be read later.
func (m *Machine) append(chunk string) {
	n := len(m.buf)
	if len(chunk) > cap(m.buf)-n {
		m.grow(len(chunk))
	}
	m.buf = append(m.buf, chunk...)
	lengthen(&m.src, n+len(chunk))
}

// catchUp reads what was not read yet.
func (m *Machine) catchUp() {
	if m.read < len(m.src) && len(m.src) <= tape.MaxText {
		m.read = len(m.src)
		lengthen(&m.scan.Src, m.read)
		m.scan.Run()
	}
}

// grow makes space for n bytes more of the text: twice the size each time, as append would take a
// quarter more, and copy the text more often.
func (m *Machine) grow(n int) {
	s := m.open()
	if m.buf == nil {
		m.buf = []byte(m.src)
	}
	n += len(m.buf)
	m.buf = append(make([]byte, 0, max(256, 2*n)), m.buf...)
	m.src = unsafe.String(unsafe.SliceData(m.buf), len(m.buf))
	s.Src = m.src[:len(s.Src)]
}

// lengthen lets a string reach further into the buffer that it lies in. A new string would be
// the same; but its pointer is stored with each token then, and the collector informed.
func lengthen(s *string, n int) {
	(*struct {
		p unsafe.Pointer
		n int
	})(unsafe.Pointer(s)).n = n
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
	m.scan.Close()
	if m.o.Partial && m.cut() {
		m.result = Result{Visits: m.scan.Visits()}
		if m.result.Value, m.result.OK = m.known(m.scan); m.result.OK {
			return
		}
	}
	m.result = m.choose()
}

// cut reports whether the text ended inside of what it holds.
func (m *Machine) cut() bool {
	for _, c := range answers(m.scan) {
		if m.scan.Tape[c.Node].Flags&tape.FlagOpen != 0 {
			return true
		}
	}
	return m.typ.Deref().Kind == generable.StrType
}

// Snapshot returns what is known of the value so far: dicts and lists that grow, strings that
// get longer, scalars once they are complete, instances of schemas once all their fields
// are. A field that has not arrived is absent, never null. It is null as long as nothing is
// known.
func (m *Machine) Snapshot() generable.Value {
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
func (m *Machine) known(s *tape.Scanner) (generable.Value, bool) {
	if m.typ.Deref().Kind == generable.StrType {
		l := newLive(m, nil)
		l.advanceText()
		return l.root, !l.root.IsNull()
	}
	c := m.coercer(s)
	c.Partial = true
	list := answers(s)
	for i := range list {
		if run := m.run(c, list, i); run.Items > 0 && i+int(run.Items) == len(list) {
			list = append(slices.Clone(list), run)
			break
		}
	}
	best, found, rank := generable.Value{}, false, -1
	for _, i := range slices.Backward(list) {
		if root := c.Tape[i.Node].Kind; len(s.Cands) > 1 && root == tape.NodeNull {
			continue
		}
		if v, ok := c.Decode(i.Node, m.typ); ok {
			if r := m.tells(i, v); r > rank {
				best, found, rank = v, true, r
			}
		}
		if rank == maxTold {
			break
		}
	}
	return best, found
}

// maxTold is the most that [Machine.tells] returns.
const maxTold = 2

// tells returns how much a part of a value is worth among others: nothing when it is empty,
// and little when it is a few signs in the middle of a sentence.
func (m *Machine) tells(cand tape.Candidate, v generable.Value) int {
	l, isList := v.AsList()
	d, isMap := v.AsMap()
	switch {
	case isList && l.Len() == 0, isMap && d.Len() == 0:
		return 0
	case cand.Bare && cand.End-cand.Start < maxCitation && !m.ownLine(cand):
		return 1
	}
	return maxTold
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

// answers lists the candidates outside of reasoning, or all when there are no others.
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

// trimBOM drops a byte order mark and blanks around a text.
func trimBOM(s string) string {
	return strings.TrimSpace(strings.TrimPrefix(s, "\ufeff"))
}
