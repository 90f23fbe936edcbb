package pythonisms

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	kName    kind = iota // identifiers and keywords
	kNumber              // including underscores and suffixes that Starlark rejects
	kString              // with any prefix, closed or not
	kOp                  // operators, brackets and invalid characters
	kNewline             // the end of a logical line; text is empty
	kEOF
)

// A token is a piece of the source. Comments, blank lines and line ends inside brackets are not tokens.
type token struct {
	kind    kind
	text    string
	off     int // byte offset of text
	line    int // line of the first rune, 1-based
	col     int // column of the first rune, 1-based, in runes
	endLine int // just after the last rune
	endCol  int
	open    int  // index of the innermost bracket around it, -1 at the top
	match   int  // index of the other bracket of a pair, -1 for any other token
	stmt    int  // index of its statement
	params  bool // between a `lambda` and its colon
	lambda  bool // the colon that ends a lambda's parameters
}

func (t *token) end() int            { return t.off + len(t.text) }
func (t *token) is(text string) bool { return t.text == text && (t.kind == kOp || t.kind == kName) }
func (t *token) opens() bool {
	return t.kind == kOp && (t.text == "(" || t.text == "[" || t.text == "{")
}
func (t *token) closes() bool {
	return t.kind == kOp && (t.text == ")" || t.text == "]" || t.text == "}")
}
func (t *token) touches(u *token) bool { return t.end() == u.off }

// A lexer splits any text into tokens; it never fails. It accepts more spellings than Starlark does, since those are
// what the checks look for.
type lexer struct {
	src   string
	pos   int // byte offset
	line  int
	col   int
	toks  []token
	stack []int // open brackets
	lams  []int // the enclosing bracket of each lambda whose colon is still missing
	tries int   // bytes that may still be scanned for the ends of f-strings
}

// lex reads src to its end, or until stop, which may be nil, returns true. It reserves room for the expected number of
// tokens.
func lex(src string, expected int, stop func() bool) []token {
	l := &lexer{src: src, line: 1, col: 1, tries: 4*len(src) + longestF}
	l.toks = make([]token, 0, expected)
	for n := 1; l.next(); n++ {
		if n%stopEvery == 0 && stop != nil && stop() {
			break
		}
	}
	l.newline()
	l.add(kEOF, l.pos, l.line, l.col)
	return l.toks
}

// next reads one token, or one piece of space. It returns false at the end.
func (l *lexer) next() bool {
	if l.pos >= len(l.src) {
		return false
	}
	off, line, col := l.pos, l.line, l.col
	switch c := l.src[l.pos]; {
	case c == 0:
		return false // the Starlark scanner treats it as the end of the file
	case c == '\n' || c == '\r':
		if len(l.stack) == 0 {
			l.newline()
		}
		l.advance()
	case c == ' ' || c == '\t':
		l.advance()
	case c == '#':
		for l.pos < len(l.src) && l.src[l.pos] != '\n' && l.src[l.pos] != '\r' && l.src[l.pos] != 0 {
			l.advance()
		}
	case c == '\\' && l.pos+1 < len(l.src) && (l.src[l.pos+1] == '\n' || l.src[l.pos+1] == '\r'):
		l.advance()
		l.advance()
	case c == '"' || c == '\'':
		l.str(0)
	case isDigit(rune(c)) || c == '.' && l.pos+1 < len(l.src) && isDigit(rune(l.src[l.pos+1])):
		l.number()
	default:
		if r, _ := utf8.DecodeRuneInString(l.src[l.pos:]); isLetter(r) {
			if n := stringPrefix(l.src[l.pos:]); n > 0 {
				l.str(n)
				return true
			}
			for l.pos < len(l.src) {
				r, _ := utf8.DecodeRuneInString(l.src[l.pos:])
				if !isLetter(r) && !isDigit(r) {
					break
				}
				l.advance()
			}
			l.reopen(l.src[off:l.pos], col)
			l.add(kName, off, line, col)
			return true
		}
		for range operatorLen(l.src[l.pos:]) {
			l.advance()
		}
		l.add(kOp, off, line, col)
	}
	return true
}

// advance consumes one rune; \r\n and a single \r are one line end, as in the Starlark scanner.
func (l *lexer) advance() {
	c := l.src[l.pos]
	size := 1
	switch {
	case c == '\r' && l.pos+1 < len(l.src) && l.src[l.pos+1] == '\n':
		size = 2
		fallthrough
	case c == '\r', c == '\n':
		l.line++
		l.col = 1
	default:
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(l.src[l.pos:])
		}
		l.col++
	}
	l.pos += size
}

// add appends the token that began at off and ends here, and keeps track of brackets and lambdas.
func (l *lexer) add(k kind, off, line, col int) {
	t := token{kind: k, text: l.src[off:l.pos], off: off, line: line, col: col, endLine: l.line, endCol: l.col, open: -1, match: -1}
	i := len(l.toks)
	if t.closes() && len(l.stack) > 0 {
		top := l.stack[len(l.stack)-1]
		for len(l.lams) > 0 && l.lams[len(l.lams)-1] == top {
			l.lams = l.lams[:len(l.lams)-1]
		}
		l.stack = l.stack[:len(l.stack)-1]
		if l.toks[top].text == partner(t.text) {
			t.match, l.toks[top].match = top, i
		}
	}
	if len(l.stack) > 0 {
		t.open = l.stack[len(l.stack)-1]
	}
	waits := len(l.lams) > 0 && l.lams[len(l.lams)-1] == t.open
	switch {
	case waits && t.is(":"):
		t.lambda = true
		l.lams = l.lams[:len(l.lams)-1]
	case k == kName && t.text == "lambda":
		l.lams = append(l.lams, t.open)
	default:
		t.params = waits
	}
	l.toks = append(l.toks, t)
	if t.opens() {
		l.stack = append(l.stack, i)
	}
}

// newline ends a logical line, unless it is empty.
func (l *lexer) newline() {
	l.lams = l.lams[:0]
	l.stack = l.stack[:0]
	if n := len(l.toks); n > 0 && l.toks[n-1].kind != kNewline {
		l.add(kNewline, l.pos, l.line, l.col)
	}
}

// reopen ends an expression with an unclosed bracket when a line begins with a word that cannot be in an expression, so
// that one missing bracket does not hide the rest of the file.
func (l *lexer) reopen(word string, col int) {
	if len(l.stack) == 0 {
		return
	}
	if n := len(l.toks); n > 0 && l.toks[n-1].endLine == l.line {
		return
	}
	switch word {
	case "def", "class", "import", "return", "while", "try", "except", "raise", "pass", "break", "continue":
		l.newline()
	}
}

func (l *lexer) number() {
	off, line, col := l.pos, l.line, l.col
	n := numberLen(l.src[off:])
	l.pos, l.col = l.pos+n, l.col+n
	l.add(kNumber, off, line, col)
}

// numberLen returns the length of the number at the start of s, including Python's underscores and imaginary suffix.
func numberLen(s string) int {
	if len(s) > 1 && s[0] == '0' {
		switch s[1] | 0x20 {
		case 'x':
			return 2 + digitsLen(s[2:], true)
		case 'o', 'b':
			return 2 + digitsLen(s[2:], false)
		}
	}
	n := digitsLen(s, false)
	if n < len(s) && s[n] == '.' {
		n++
		n += digitsLen(s[n:], false)
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		e := n + 1
		if e < len(s) && (s[e] == '-' || s[e] == '+') {
			e++
		}
		if e < len(s) && isDigit(rune(s[e])) {
			n = e + digitsLen(s[e:], false)
		}
	}
	if n < len(s) && s[n]|0x20 == 'j' && (n+1 == len(s) || !isWord(s[n+1])) {
		n++
	}
	return n
}

// digitsLen returns the length of the digits at the start of s, each with an optional underscore before it.
func digitsLen(s string, hex bool) int {
	n := 0
	for n < len(s) {
		d := n
		if s[d] == '_' {
			d++
		}
		if d == len(s) || !(isDigit(rune(s[d])) || hex && s[d]|0x20 >= 'a' && s[d]|0x20 <= 'f') {
			break
		}
		n = d + 1
	}
	return n
}

func isWord(c byte) bool { return c == '_' || isDigit(rune(c)) || c|0x20 >= 'a' && c|0x20 <= 'z' }

// stringPrefix returns the length of the letters before a quote that are a string prefix in Python, or 0 if s does not
// begin with one.
func stringPrefix(s string) int {
	n := strings.IndexAny(s[:min(3, len(s))], `"'`)
	if n > 0 {
		switch strings.ToLower(s[:n]) {
		case "r", "b", "f", "u", "rb", "br", "rf", "fr":
			return n
		}
	}
	return 0
}

var operators = [...]string{
	"...", "**=", "//=", "<<=", ">>=", "===", "!==",
	"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
	"->", "=>", ":=", "&&", "||", "<>", "/*", "*/",
}

// operatorLen returns the number of runes of the operator at the start of s.
func operatorLen(s string) int {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return len(op)
		}
	}
	return 1
}

func partner(closing string) string {
	switch closing {
	case ")":
		return "("
	case "]":
		return "["
	}
	return "{"
}

func isDigit(r rune) bool  { return '0' <= r && r <= '9' }
func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) }
