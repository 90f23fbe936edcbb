package pythonisms

import "strings"

// str reads a string whose prefix has n letters. An f-string may contain its own quote between braces, as in Python
// since 3.12. If that reading does not end on the line, the plain one is used. An unclosed string ends with its line, a
// triple-quoted one with the file.
func (l *lexer) str(n int) {
	off, line, col := l.pos, l.line, l.col
	start := l.pos + n
	quote := quoteAt(l.src, start)
	end, ok := -1, false
	if strings.ContainsAny(l.src[off:start], "fF") && l.tries > 0 {
		body := start + len(quote)
		stop := min(len(l.src), body+longestF)
		if len(quote) == 1 {
			if n := strings.IndexAny(l.src[body:stop], "\r\n"); n >= 0 {
				stop = body + n
			}
		}
		if end, ok = closeF(l.src[:stop], body, quote, 0); !ok {
			l.tries -= stop - body
		}
	}
	if !ok {
		end, _ = closePlain(l.src, start+len(quote), quote)
	}
	for l.pos < end {
		l.advance()
	}
	l.add(kString, off, line, col)
}

// quoteAt returns the quote at offset i, which has one or three characters.
func quoteAt(s string, i int) string {
	quote := s[i : i+1]
	if triple := quote + quote + quote; strings.HasPrefix(s[i:], triple) {
		return triple
	}
	return quote
}

// closePlain finds the end of a string whose text begins at i. It returns the offset after the closing quote, or the
// offset where the string breaks off, and false.
func closePlain(src string, i int, quote string) (int, bool) {
	for i < len(src) {
		switch c := src[i]; {
		case strings.HasPrefix(src[i:], quote):
			return i + len(quote), true
		case c == '\\' && i+1 < len(src):
			i++
			if src[i] == '\r' && i+1 < len(src) && src[i+1] == '\n' {
				i++
			}
		case (c == '\n' || c == '\r') && len(quote) == 1:
			return i, false
		}
		i++
	}
	return len(src), false
}

// The bounds of the search for the end of an f-string, which is then repeated the plain way: the nesting of f-strings,
// and bytes.
const (
	deepestF = 4
	longestF = 1 << 14
)

// closeF is closePlain for an f-string: quotes between braces belong to nested strings.
func closeF(src string, i int, quote string, depth int) (int, bool) {
	if depth > deepestF {
		return i, false
	}
	braces := 0
	for i < len(src) {
		c := src[i]
		switch {
		case braces == 0 && strings.HasPrefix(src[i:], quote):
			return i + len(quote), true
		case c == '\\' && i+1 < len(src):
			i++
		case c == '{':
			if braces == 0 && strings.HasPrefix(src[i:], "{{") {
				i++
			} else {
				braces++
			}
		case c == '}' && braces > 0:
			braces--
		case braces > 0 && (c == '"' || c == '\''):
			inner := quoteAt(src, i)
			closer := closePlain
			if i > 0 && src[i-1]|0x20 == 'f' {
				closer = func(s string, i int, q string) (int, bool) { return closeF(s, i, q, depth+1) }
			}
			end, ok := closer(src, i+len(inner), inner)
			if !ok {
				return i, false
			}
			i = end
			continue
		}
		i++
	}
	return len(src), false
}

// A literal is a string token split into its parts.
type literal struct {
	prefix string // lower case
	quote  string
	body   string // between the quotes, escapes as written
	closed bool
}

func (l *literal) raw() bool { return strings.Contains(l.prefix, "r") }

func literalOf(text string) literal {
	n := strings.IndexAny(text, `"'`)
	if n < 0 {
		return literal{}
	}
	q := quoteAt(text, n)
	l := literal{prefix: strings.ToLower(text[:n]), quote: q}
	l.body, l.closed = strings.CutSuffix(text[n+len(q):], q)
	return l
}
