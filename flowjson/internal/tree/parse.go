package tree

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// maxDepth bounds the nesting of values.
const maxDepth = 200

// mostShown bounds the characters of a name or a word in a message.
const mostShown = 200

// maxSyntaxErrors bounds the syntax errors that are reported.
const maxSyntaxErrors = 10

// parser reads JSON as people write it: it accepts comments, trailing commas, names without quotes and a byte order
// mark. It reports a missing comma and continues.
type parser struct {
	file, text string
	at         int // offset in text
	line, col  int // position of at
	found      diag.Reporter
	errors     int
	failed     bool // the rest cannot be read
	broken     bool // a character is not valid UTF-8

	comments []comment // comments that no value has yet
}

// Parse parses a text into a tree. The tree is nil if the text is not JSON. Parse also reports duplicate names and
// errors that it can skip.
func Parse(file, src string) (*Value, diag.List) {
	p := &parser{file: file, text: strings.TrimPrefix(src, "\ufeff"), line: 1, col: 1}
	v := p.document()
	p.found.Sum()
	return v, p.found.Diagnostics()
}

func (p *parser) document() *Value {
	p.space()
	top := p.above()
	if p.at == len(p.text) {
		p.fail(p.span(0), "this file is empty").Help = []string{`a flow is an object: {"id": "…", "version": "1.0", "agents": […]}`}
		return nil
	}
	if c := p.peek(); c != '{' && c != '[' {
		help := "a flow is a JSON object: {\"id\": \"…\", \"version\": \"1.0\", \"agents\": […]}"
		if c == '`' {
			help = "take the fence away: the file begins with {"
		}
		p.fail(p.span(1), "this file is not JSON: it begins with %s", p.shown()).Help = []string{help}
		return nil
	}
	v := p.value(0, &Value{Comments: top})
	if p.space(); !p.failed && p.at < len(p.text) {
		p.fail(p.span(1), "the flow ends before this").Help = []string{"one file holds one object"}
	}
	if p.failed {
		return nil
	}
	v.Comments = append(v.Comments, p.above()...)
	return v
}

func (p *parser) span(length int) diag.Span {
	return diag.Span{Pos: diag.Pos{File: p.file, Line: p.line, Col: p.col}, Len: length}
}

// fail reports an error that ends the parsing.
func (p *parser) fail(at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := p.wrong(at, format, args...)
	p.failed = true
	return d
}

func (p *parser) wrong(at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: diag.FlowSyntax, Span: at, Message: fmt.Sprintf(format, args...)}
	if p.failed { // consequences are not reported
		return d
	}
	if p.errors++; p.errors > maxSyntaxErrors {
		p.failed = true
		return d
	}
	p.found.Report(d)
	return d
}

// next reads one character.
func (p *parser) next() rune {
	r, size := utf8.DecodeRuneInString(p.text[p.at:])
	if r == utf8.RuneError && size == 1 && !p.broken {
		p.broken = true
		p.wrong(p.span(1), "this is not UTF-8: byte %#x", p.text[p.at]).Help = []string{"save the file in UTF-8"}
	}
	p.at += size
	p.col++
	if r == '\n' {
		p.line, p.col = p.line+1, 1
	}
	return r
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// space skips blanks and comments.
func (p *parser) space() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.next()
		case c == '#' || strings.HasPrefix(rest, "//"):
			begin, line := p.at, p.line
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.next()
			}
			p.comment(p.text[begin:p.at], line)
		case strings.HasPrefix(rest, "/*"):
			at := p.span(2)
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				p.fail(at, "this comment does not end").Help = []string{"close it: */"}
				p.at = len(p.text)
				return
			}
			line := p.line
			for stop := p.at + end + 4; p.at < stop; {
				p.next()
			}
			p.comment(rest[:end+4], line)
		default:
			return
		}
	}
}

// value parses one value into v. It is a null if there is none.
func (p *parser) value(depth int, v *Value) *Value {
	p.space()
	v.Span = p.span(1)
	switch c := p.peek(); {
	case p.failed:
	case p.at == len(p.text):
		p.fail(v.Span, "the file ends where a value is expected").Help = []string{"is it cut off?"}
	case depth > maxDepth:
		p.fail(v.Span, "values nest %d deep", maxDepth).Help = []string{"flatten it: no flow needs that"}
	case c == '{':
		v.Kind = Object
		p.object(v, depth)
	case c == '[':
		v.Kind = Array
		p.array(v, depth)
	case c == '"' || c == '\'':
		v.Kind = String
		v.Text, v.Span = p.quoted()
	default:
		p.word(v)
	}
	return v
}

func (p *parser) object(v *Value, depth int) {
	p.next()
	first := map[string]diag.Span{}
	for p.more(v, '}') {
		var m Member
		lead := p.above()
		switch c := p.peek(); {
		case c == '"' || c == '\'':
			m.Key, m.Span = p.quoted()
		default:
			name := &Value{Span: p.span(1)}
			if p.bare(name); !p.failed && name.Text == "" {
				p.fail(name.Span, "want a name, got %s", p.shown()).Help = []string{`a member is "name": value`}
			}
			m.Key, m.Span = name.Text, name.Span
		}
		p.space()
		if p.failed {
			return
		}
		if p.peek() != ':' {
			p.fail(p.span(1), "want a colon after %q, got %s", text.Clip(m.Key, mostShown), p.shown()).Help = []string{`a member is "name": value`}
			return
		}
		p.next()
		m.Value = p.value(depth+1, &Value{In: v, Key: m.Key, Comments: append(lead, p.above()...)})
		if before, twice := first[m.Key]; twice && !p.failed {
			p.twice(m, before)
		} else {
			first[m.Key] = m.Span
		}
		v.Members = append(v.Members, m)
	}
}

// twice reports a duplicate name in an object.
func (p *parser) twice(m Member, before diag.Span) {
	d := &diag.Diagnostic{Code: diag.FlowKeyTwice, Span: m.Span}
	if !p.found.Full(d) {
		d.Message = fmt.Sprintf("%q appears twice", text.Clip(m.Key, mostShown))
		d.Notef(before.Pos, "it appears first").Notef(diag.Pos{}, "JSON pointer %s", text.Clip(m.Value.Pointer(), mostShown))
		d.Helpf("the last one counts: remove the other, or two objects were meant")
	}
	p.found.Report(d)
}

func (p *parser) array(v *Value, depth int) {
	p.next()
	for p.more(v, ']') {
		v.Items = append(v.Items, p.value(depth+1, &Value{In: v, at: len(v.Items), Comments: p.above()}))
	}
}

// more advances to the next member or item of a value, and reports whether there is one.
func (p *parser) more(v *Value, end byte) bool {
	line := p.line
	p.space()
	if (len(v.Members) > 0 || len(v.Items) > 0) && !p.failed && p.peek() != end && p.at < len(p.text) {
		if p.peek() != ',' {
			if c := p.peek(); c == '}' || c == ']' {
				p.fail(p.span(1), "%s is closed by %q", v.Kind, c).Help = []string{fmt.Sprintf("it begins at %s and must end with %q", v.Span.Pos, end)}
				return false
			}
			d := p.wrong(p.span(1), "a comma is missing before this")
			d.Help = []string{"write a comma"}
			d.Fixes = []diag.Fix{{Message: "insert a comma", Span: p.span(0), Replacement: ", "}}
		} else {
			p.next()
		}
		p.space()
	}
	p.beside(v, line)
	switch {
	case p.failed:
		return false
	case p.at == len(p.text):
		p.fail(p.span(1), "the file ends inside of %s", v.Kind).Help = []string{fmt.Sprintf("it begins at %s and must end with %q", v.Span.Pos, end)}
		return false
	case p.peek() == end:
		p.next()
		v.Comments = append(v.Comments, p.above()...)
		return false
	}
	return true
}

// quoted reads a quoted text.
func (p *parser) quoted() (string, diag.Span) {
	at, begin := p.span(0), p.at
	quote := p.next()
	var b strings.Builder
	for {
		if p.at == len(p.text) || p.peek() == '\n' {
			at.Len = utf8.RuneCountInString(p.text[begin:p.at])
			p.fail(at, "this text does not end").Help = []string{"close it with a quote; a line break inside of a text is \\n"}
			return "", at
		}
		switch r := p.next(); r {
		case quote:
			at.Len = utf8.RuneCountInString(p.text[begin:p.at])
			return b.String(), at
		case '\\':
			p.escape(&b)
		default:
			b.WriteRune(r)
		}
	}
}

var escapes = map[rune]rune{'"': '"', '\'': '\'', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *parser) escape(b *strings.Builder) {
	at := p.span(2)
	at.Col--
	if p.at == len(p.text) {
		return
	}
	c := p.next()
	if c != 'u' {
		r, ok := escapes[c]
		if !ok {
			p.wrong(at, "a backslash is not allowed before %q", c).Help = []string{`a backslash itself is \\`}
			r = c
		}
		b.WriteRune(r)
		return
	}
	r := p.hex(at)
	if r >= 0xD800 && r < 0xDC00 && strings.HasPrefix(p.text[p.at:], `\u`) {
		p.next()
		p.next()
		if low := p.hex(at); low >= 0xDC00 && low < 0xE000 {
			r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
		} else {
			r = utf8.RuneError
		}
	}
	if !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	b.WriteRune(r)
}

// hex reads the four digits of \u.
func (p *parser) hex(at diag.Span) rune {
	if p.at+4 <= len(p.text) {
		if n, err := strconv.ParseUint(p.text[p.at:p.at+4], 16, 16); err == nil {
			for range 4 {
				p.next()
			}
			return rune(n)
		}
	}
	p.wrong(at, "\\u must be followed by four hexadecimal digits").Help = []string{`as in \u00e9`}
	return utf8.RuneError
}

// word reads what is not quoted: a number, true, false, null, or a text.
func (p *parser) word(v *Value) {
	p.bare(v)
	n, err := strconv.ParseFloat(v.Text, 64)
	switch {
	case v.Text == "":
		p.fail(v.Span, "want a value, got %s", p.shown()).Help = []string{"texts need quotes"}
	case v.Text == "true" || v.Text == "false":
		v.Kind = Bool
	case v.Text == "null":
		v.Kind = Null
	case v.Text == "True" || v.Text == "False": // as in Python
		v.Kind, v.Text = Bool, strings.ToLower(v.Text)
	case v.Text == "None":
		v.Kind, v.Text = Null, "null"
	case strings.ContainsAny(v.Text[:1], "+-.0123456789"):
		v.Kind, v.Broken = Number, true
		switch {
		case errors.Is(err, strconv.ErrRange) || err == nil && math.IsInf(n, 0):
			p.wrong(v.Span, "%s is too large for a number", text.Clip(v.Text, mostShown)).Help = []string{"numbers go up to 1.8e308; a text needs quotes"}
		case err != nil || strings.ContainsAny(v.Text, "xX_"):
			p.wrong(v.Span, "%s is not a number", text.Clip(v.Text, mostShown)).Help = []string{"write it in decimal digits, as in -1.5e3; a text needs quotes"}
		default:
			v.Broken = false
		}
	default:
		v.Kind = String
	}
}

// bare reads a name or a value without quotes.
func (p *parser) bare(v *Value) {
	begin := p.at
	for p.at < len(p.text) {
		r, _ := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-+.$", r) {
			break
		}
		p.next()
	}
	v.Text = p.text[begin:p.at]
	v.Span.Len = max(1, utf8.RuneCountInString(v.Text))
	v.Kind = String
}

// shown returns what is at the current position, for a message.
func (p *parser) shown() string {
	if p.at >= len(p.text) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return strconv.QuoteRune(r)
}
