package pythonisms

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
)

// formatHabits finds widths, precisions and alignments in format strings. The
// parser takes them; they fail when they are used.
func (f *file) formatHabits() {
	for i := range f.toks {
		t := &f.toks[i]
		if t.kind != kString || f.toks[i].stmt != f.toks[min(i+1, len(f.toks)-1)].stmt {
			continue
		}
		l := literalOf(t.text)
		if !l.closed || strings.ContainsAny(l.prefix, "bf") {
			continue
		}
		switch next := f.after(i); {
		case next.is("%"):
			f.percent(i, l)
		case next.is(".") && f.after(i+1).is("format") && f.after(i+2).is("(") && f.after(i+2).match > 0:
			f.formatCall(i, l)
		}
	}
}

// A conv is one conversion of a format string.
type conv struct {
	start, end int    // in the body
	name       string // of %(name)s, {name}; "" when counted
	arg        int    // which of the counted arguments
	spec       string // as fmt takes it; "" when Starlark knows the conversion
	path       string // what follows the name in {name.attr[0]}
	conv       string // "!r"
	odd        bool   // cannot be rewritten
}

const noSpec = "Starlark's format strings have no width, precision or alignment"

// reportConv reports conversion c of string i.
func (f *file) reportConv(i int, l literal, c conv, help ...string) {
	message := noSpec
	if c.spec == "" && c.path != "" {
		message = "Starlark's format strings take a name alone"
	}
	d := f.report(diag.FormatSpec, i, i+1, message, help...)
	at := len(l.prefix) + len(l.quote)
	d.Span = f.within(i, at+c.start, at+c.end)
	f.soft()
}

// formatFirst is the help that does not know the argument.
func formatFirst(c conv) string {
	if c.odd {
		return "format the value first, as in `fmt(x, \".2f\")`"
	}
	return "format the value first: `fmt(x, " + strconv.Quote(c.spec) + ")`"
}

// within is the place of the bytes [a, b) of token i's text.
func (f *file) within(i, a, b int) diag.Span {
	t := &f.toks[i]
	lx := lexer{src: f.src, pos: t.off, line: t.line, col: t.col}
	for lx.pos < t.off+a {
		lx.advance()
	}
	return diag.Span{
		Pos: diag.Pos{File: f.name, Line: lx.line, Col: lx.col},
		Len: utf8.RuneCountInString(t.text[a:b]),
	}
}

func firstBad(convs []conv) int {
	for n, c := range convs {
		if c.spec != "" || c.path != "" {
			return n
		}
	}
	return -1
}
