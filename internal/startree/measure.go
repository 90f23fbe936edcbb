package startree

import "unicode/utf8"

// MostNesting bounds the nesting of a source, in the frames that the parser needs for it. The parser's own limit is
// 1,000; this is less, so that the excess is found before parsing begins.
const MostNesting = 960

// The frames of the parser.
const (
	bracketFrames = 13 // one precedence level after the other
	blockFrames   = 3
	lambdaFrames  = 2
	prefixFrames  = 1 // for not, - + ~, and each else of a conditional expression
)

// Measure is what is known of a source before it is parsed.
type Measure struct {
	Tokens int   // at least the actual number
	Excess *Deep // the first position that exceeds a bound, or nil
}

// Deep is a position where a bound is exceeded. Line and Col are 1-based, Col counts runes.
type Deep struct {
	Line, Col int
	Why       Excess
}

// Excess is the bound that is exceeded.
type Excess uint8

const (
	Nested   Excess = iota // nested brackets, blocks and prefixes
	Linked                 // chained operators, calls or elifs, more than [Deepest]
	Digits                 // digits of a number, more than [MostDigits]
	Branched               // and, or, if, elif, for and while, more than [MostBranches] in the file
)

// MostBranches bounds the number of and, or, if, elif, for and while in a file. The compiler recurses into them, even
// if they follow each other, and an overflow of the Go stack ends the whole process. A file of 1 MiB has no room for
// more.
const MostBranches = 1 << 18

// MostDigits bounds the digits of a number literal: reading a decimal one takes time that grows with the square of its
// length. Python has the same bound.
const MostDigits = 4300

// MeasureSource reads a source once and ends at the first excess, or when stop, which may be nil, returns true. It
// recognizes strings, comments, brackets, blocks and operators; errors in them are left to the parser.
func MeasureSource(src string, stop func() bool) Measure {
	m := &measuring{src: src, line: 1, fresh: true}
	m.levels, m.blocks = m.few.levels[:1], m.few.blocks[:1]
	for n := 1; m.pos < len(src) && m.excess == nil; n++ {
		if n%1024 == 0 && stop != nil && stop() {
			break
		}
		m.at = m.pos
		m.next()
	}
	return Measure{Tokens: m.tokens + 2, Excess: m.excess}
}

// measuring is the state of one reading.
type measuring struct {
	src     string
	pos     int
	at      int // start of the current token
	line    int
	begin   int // offset of the line
	tokens  int
	forks   int     // and, or, if, elif, for and while
	levels  []level // the statement, and its open brackets
	blocks  []block // by indentation, the file first
	nesting int     // frames of everything that is open
	fresh   bool    // no token of the logical line has been read
	operand bool    // the last token ended an operand
	excess  *Deep

	few struct { // most sources open no more
		levels [8]level
		blocks [8]block
	}
}

// level is the current expression inside a bracket.
type level struct {
	frames int // frames of the open lambdas, conditions and prefixes
	run    int // of these, prefixes not followed by an operand yet
	links  int // chained operators, calls, indexes and dots
}

// block is a block of statements.
type block struct {
	indent int
	elifs  int // consecutive ones
}

func (m *measuring) next() {
	switch c := m.src[m.pos]; c {
	case '\n', '\r':
		m.newline(c)
	case ' ', '\t', '\f':
		m.pos++
	case '#':
		for m.pos < len(m.src) && m.src[m.pos] != '\n' && m.src[m.pos] != '\r' {
			m.pos++
		}
	case '\\':
		m.pos++
		if m.pos < len(m.src) && (m.src[m.pos] == '\n' || m.src[m.pos] == '\r') {
			m.endLine(m.src[m.pos])
		}
	default:
		if m.fresh && len(m.levels) == 1 {
			m.indent()
		}
		m.token(c)
		m.fresh = false
	}
}

// endLine reads a line end.
func (m *measuring) endLine(c byte) {
	m.pos++
	if c == '\r' && m.pos < len(m.src) && m.src[m.pos] == '\n' {
		m.pos++
	}
	m.line++
	m.begin = m.pos
}

func (m *measuring) newline(c byte) {
	m.endLine(c)
	if len(m.levels) == 1 {
		if !m.fresh {
			m.tokens++
		}
		m.fresh = true
		m.separate()
	}
}

// indent opens or closes blocks at the first token of a line.
func (m *measuring) indent() {
	cells := 0
	for _, c := range []byte(m.src[m.begin:m.pos]) {
		if cells++; c == '\t' {
			cells += 7 - (cells-1)%8
		}
	}
	for len(m.blocks) > 1 && m.blocks[len(m.blocks)-1].indent > cells {
		m.blocks = m.blocks[:len(m.blocks)-1]
		m.nesting -= blockFrames
	}
	if m.blocks[len(m.blocks)-1].indent < cells {
		m.blocks = append(m.blocks, block{indent: cells})
		m.grow(blockFrames)
	}
}

// grow opens something that takes frames.
func (m *measuring) grow(frames int) {
	if m.nesting += frames; m.nesting > MostNesting {
		m.refuse(Nested)
	}
}

// link counts something chained to what precedes it.
func (m *measuring) link() {
	l := &m.levels[len(m.levels)-1]
	if l.links++; l.links > Deepest {
		m.refuse(Linked)
	}
}

//go:noinline
func (m *measuring) refuse(why Excess) {
	if m.excess == nil {
		m.excess = &Deep{Line: m.line, Col: utf8.RuneCountInString(m.src[m.begin:m.at]) + 1, Why: why}
	}
}

// separate begins a new expression in the current bracket.
func (m *measuring) separate() {
	l := &m.levels[len(m.levels)-1]
	m.nesting -= l.frames
	*l = level{}
	m.operand = false
}

// prefix opens a prefix operator.
func (m *measuring) prefix(frames int) {
	m.levels[len(m.levels)-1].frames += frames
	m.grow(frames)
}

// ended records that an operand has ended, and with it the prefixes right before it.
func (m *measuring) ended() {
	l := &m.levels[len(m.levels)-1]
	l.frames -= l.run
	m.nesting -= l.run
	l.run = 0
	m.operand = true
}

func (m *measuring) token(c byte) {
	m.tokens++
	switch {
	case c == '"' || c == '\'':
		m.text(c)
		m.ended()
	case c == '(' || c == '[' || c == '{':
		if m.operand {
			m.link()
		}
		m.grow(bracketFrames)
		m.pos++
		m.levels = append(m.levels, level{})
		m.operand = false
	case c == ')' || c == ']' || c == '}':
		m.pos++
		if n := len(m.levels); n > 1 {
			m.nesting -= m.levels[n-1].frames + bracketFrames
			m.levels = m.levels[:n-1]
		}
		m.ended()
	case c == ',' || c == ';':
		m.pos++
		m.separate()
	case c == '=' && m.pos+1 < len(m.src) && m.src[m.pos+1] != '=' && !m.compares():
		m.pos++
		m.separate()
	case c == '_' || c >= utf8.RuneSelf || c|0x20 >= 'a' && c|0x20 <= 'z':
		m.word()
	case c >= '0' && c <= '9':
		for m.name(); m.pos < len(m.src) && m.src[m.pos] == '.'; m.name() {
			m.pos++
		}
		if m.pos-m.at > MostDigits {
			m.refuse(Digits)
		}
		m.ended()
	default:
		m.operator(c)
	}
}

// compares reports whether the current = is the second character of an operator.
func (m *measuring) compares() bool {
	if m.pos == 0 {
		return false
	}
	switch m.src[m.pos-1] {
	case '=', '!', '<', '>':
		return true
	}
	return false
}

func (m *measuring) operator(c byte) {
	switch {
	case c == ':' || c == '=':
		m.operand = false
	case m.operand:
		m.link()
		m.operand = false
	case c == '-' || c == '+' || c == '~' || c == '!':
		m.levels[len(m.levels)-1].run += prefixFrames
		m.prefix(prefixFrames)
	}
	m.pos++
}

// name reads letters and digits.
func (m *measuring) name() string {
	from := m.pos
	for m.pos < len(m.src) {
		c := m.src[m.pos]
		if c != '_' && c < utf8.RuneSelf && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'z') {
			break
		}
		m.pos++
	}
	return m.src[from:m.pos]
}

func (m *measuring) word() {
	word := m.name()
	if m.fresh {
		m.chain(word)
	}
	switch word {
	case "and", "or", "if", "elif", "for", "while":
		if m.forks++; m.forks > MostBranches {
			m.refuse(Branched)
		}
	}
	switch word {
	case "lambda":
		l := &m.levels[len(m.levels)-1]
		l.run = 0 // what precedes it ends with it
		m.prefix(lambdaFrames)
		m.operand = false
	case "not":
		if !m.operand { // otherwise it is the not of `not in`
			m.levels[len(m.levels)-1].run += prefixFrames
			m.prefix(prefixFrames)
		}
	case "else":
		m.prefix(prefixFrames)
		m.operand = false
	case "and", "or", "in", "if", "is":
		if m.operand {
			m.link()
		}
		m.operand = false
	case "for", "return":
		m.operand = false
	default:
		if m.pos < len(m.src) && (m.src[m.pos] == '"' || m.src[m.pos] == '\'') && len(word) <= 2 {
			m.text(m.src[m.pos]) // the name was its prefix
		}
		m.ended()
	}
}

// chain counts the elifs of a statement, by the first word of a line.
func (m *measuring) chain(word string) {
	b := &m.blocks[len(m.blocks)-1]
	if word != "elif" {
		b.elifs = 0
	} else if b.elifs++; b.elifs > Deepest {
		m.refuse(Linked)
	}
}

// text reads a string. An unclosed one ends with its line, a triple-quoted one with the file.
func (m *measuring) text(quote byte) {
	long := m.pos+2 < len(m.src) && m.src[m.pos+1] == quote && m.src[m.pos+2] == quote
	if m.pos++; long {
		m.pos += 2
	}
	for m.pos < len(m.src) {
		switch c := m.src[m.pos]; {
		case c == '\\' && m.pos+1 < len(m.src):
			m.pos++
			if next := m.src[m.pos]; next == '\n' || next == '\r' {
				m.endLine(next)
			} else {
				m.pos++
			}
		case c == '\n' || c == '\r':
			if !long {
				return
			}
			m.endLine(c)
		case c != quote:
			m.pos++
		case !long:
			m.pos++
			return
		case m.pos+2 < len(m.src) && m.src[m.pos+1] == quote && m.src[m.pos+2] == quote:
			m.pos += 3
			return
		default:
			m.pos++
		}
	}
}
