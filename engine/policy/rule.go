package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// rule is one pattern: a tool and conditions on its arguments.
type rule struct {
	text  string
	class engine.Class // of "@once"; else
	name  glob
	args  []condition // all of which must hold
	at    diag.Span   // where a script writes it
}

// condition is a test of one argument.
type condition struct {
	path []string // of fields; lists on the way are traversed
	op   string   // "=", "!=", "<", "<=", ">" or ">="
	want glob     // of = and !=
	than float64  // of the others
}

// glob is a text with stars. A star between two pieces matches any text.
type glob struct {
	pieces []string
	text   string // the text as written, without escapes
}

// maxPattern bounds the length of a pattern: a longer one is certainly a mistake.
const maxPattern = 4096

var operators = []string{"!=", "<=", ">=", "=", "<", ">"}

// parseRule reads
//
//	pattern   = ( glob | "@" class ) [ "(" [ condition { "," condition } ] ")" ] .
//	condition = field { "." field } operator ( glob | quoted ) .
//
// In a glob * matches any text, and a backslash escapes the next character. A quoted glob may contain commas and
// parentheses.
func parseRule(src string) (*rule, error) {
	r := &rule{text: strings.TrimSpace(src)}
	s := scanner{text: src}
	fail := func(format string, args ...any) (*rule, error) {
		return nil, engine.Errorf(engine.KindConfig, diag.BadRule, "the pattern %s cannot be read: %s", strconv.Quote(src), fmt.Sprintf(format, args...)).
			WithHelp(`write "name", "name*" or "name(arg=glob, other>10)"; a * is any text, and a glob that holds , or ) is quoted`)
	}
	if len(src) > maxPattern {
		src = text.ClipBytes(src, 40)
		return fail("it is longer than %d bytes", maxPattern)
	}
	name, err := s.glob("()", false)
	switch {
	case err != "":
		return fail("%s", err)
	case name.text == "":
		return fail("it names no tool")
	case strings.HasPrefix(name.text, "@"):
		r.class = engine.Class(name.text[1:])
		if r.class != engine.ClassRead && r.class != engine.ClassIdempotent && r.class != engine.ClassOnce {
			return fail("there is no effect %q: @read, @idempotent and @once are all tools of that effect", name.text)
		}
	}
	r.name = name
	if !s.take("(") {
		if s.rest() != "" {
			return fail("%q follows the name", s.rest())
		}
		return r, nil
	}
	for s.space(); !s.take(")"); s.space() {
		if len(r.args) > 0 && !s.take(",") {
			return fail("a , or ) is missing before %q", s.rest())
		}
		c, problem := s.condition()
		if problem != "" {
			return fail("%s", problem)
		}
		r.args = append(r.args, c)
	}
	s.space()
	if s.rest() != "" {
		return fail("%q follows the )", s.rest())
	}
	return r, nil
}

// scanner reads a pattern from left to right.
type scanner struct {
	text string
	at   int
}

func (s *scanner) rest() string { return s.text[s.at:] }

func (s *scanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

func (s *scanner) take(word string) bool {
	if !strings.HasPrefix(s.rest(), word) {
		return false
	}
	s.at += len(word)
	return true
}

func (s *scanner) condition() (c condition, problem string) {
	s.space()
	begin := s.at
	for s.at < len(s.text) && strings.IndexByte("=!<>,()\"", s.text[s.at]) < 0 {
		s.at++
	}
	field := strings.TrimSpace(s.text[begin:s.at])
	if field == "" {
		return c, fmt.Sprintf("the name of an argument is missing before %q", s.rest())
	}
	c.path = strings.Split(field, ".")
	if slices.Contains(c.path, "") {
		return c, fmt.Sprintf("%q has an empty field: write a.b", field)
	}
	for _, op := range operators {
		if s.take(op) {
			c.op = op
			break
		}
	}
	if c.op == "" {
		return c, fmt.Sprintf("an operator is missing after %q: =, !=, <, <=, > or >=", field)
	}
	want, problem := s.glob(",)", true)
	if problem != "" {
		return c, problem
	}
	if c.op == "=" || c.op == "!=" {
		c.want = want
		if slices.Contains(strings.Split(want.text, "/"), "..") {
			return c, fmt.Sprintf("%q climbs with ..: a path is compared where it leads to, so name that", want.text)
		}
		return c, ""
	}
	var err error
	if c.than, err = strconv.ParseFloat(want.text, 64); err != nil || c.than != c.than {
		return c, fmt.Sprintf("%s %s wants a number, got %q", field, c.op, want.text)
	}
	return c, ""
}

// glob reads a glob up to one of the bytes in end. A quoted one ends with its quote.
func (s *scanner) glob(end string, quotes bool) (g glob, problem string) {
	s.space()
	quoted := quotes && s.take(`"`)
	if quoted {
		end = `"`
	}
	var piece, text strings.Builder
	kept := 0 // bytes up to the last one that is not a trailing space
	for ; ; s.at++ {
		if s.at == len(s.text) {
			if quoted {
				return g, `the closing " is missing`
			}
			if quotes {
				return g, "the closing ) is missing"
			}
			break
		}
		c := s.text[s.at]
		if strings.IndexByte(end, c) >= 0 {
			break
		}
		switch c {
		case '*':
			g.pieces = append(g.pieces, piece.String())
			piece.Reset()
			text.WriteByte('*')
			kept = 0
			continue
		case '\\':
			if s.at++; s.at == len(s.text) {
				return g, `a \ at the end takes nothing`
			}
			c = s.text[s.at]
			piece.WriteByte(c)
			text.WriteByte(c)
			kept = piece.Len()
			continue
		}
		piece.WriteByte(c)
		text.WriteByte(c)
		if c != ' ' && c != '\t' {
			kept = piece.Len()
		}
	}
	last, whole := piece.String(), text.String()
	if quoted {
		s.at++
		s.space()
	} else {
		whole = whole[:len(whole)-(len(last)-kept)]
		last = last[:kept]
	}
	g.pieces, g.text = append(g.pieces, last), whole
	return g, ""
}

// unknown reports whether the rule names none of the tools, an argument that its tool lacks, or compares an argument
// with an impossible value. strict is for rules that allow.
func (r *rule) unknown(tools []Call, strict bool) (Unknown, bool) {
	if r.class != "" || len(r.name.pieces) > 1 {
		return Unknown{}, false
	}
	u := Unknown{Pattern: r.text, Name: r.name.text, Asks: text.Each(r.args, func(c condition) string { return c.path[0] })}
	names := make([]string, len(tools))
	var tool *Call
	for i := range tools {
		if names[i] = tools[i].Name; r.name.match(names[i], !strict) {
			tool = &tools[i]
		}
	}
	if tool == nil {
		if c := engine.Class(u.Name); c == engine.ClassRead || c == engine.ClassIdempotent || c == engine.ClassOnce {
			u.Near = "@" + u.Name
		} else {
			u.Near, _ = diag.Suggest(u.Name, names)
		}
		return u, true
	}
	for _, c := range r.args {
		at, known := tool.Params, true
		for _, field := range c.path {
			for at.Deref().Kind == generable.ListType && at.Deref().Elem != nil {
				at = at.Deref().Elem
			}
			if at = at.Deref(); at.Kind != generable.RecordType || field == "*" {
				known = false // anything may be inside
				break
			}
			i := slices.IndexFunc(at.Fields, func(f generable.Field) bool { return f.Name == field })
			if i < 0 {
				u.Arg = strings.Join(c.path, ".")
				u.Near, _ = diag.Suggest(field, at.FieldNames())
				return u, true
			}
			at = at.Fields[i].Type
		}
		if !known {
			continue
		}
		if u.Is = c.mismatch(at); u.Is != "" {
			u.Arg = strings.Join(c.path, ".")
			return u, true
		}
	}
	return Unknown{}, false
}
