package pythonisms

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/lazy"
)

// formatHabits finds widths, precisions and alignments in format strings. The parser accepts them; they fail when they
// are used.
func (f *file) formatHabits() {
	for i := range f.toks {
		if !f.more() {
			return
		}
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
	start, end int    // offsets in the body
	name       string // name of %(name)s, {name}; "" for a positional one
	arg        int    // index of a positional one
	spec       string // in the syntax of fmt; "" if Starlark supports the conversion
	path       string // what follows the name in {name.attr[0]}
	conv       string // "!r"
	odd        bool   // cannot be rewritten
}

const noSpec = "Starlark's format strings have no width, precision or alignment"

// reportConv reports conversion c of string i.
func (f *file) reportConv(i int, l literal, c conv, help ...string) {
	message := noSpec
	if c.spec == "" && c.path != "" {
		message = "Starlark's format strings take only a name"
	}
	d := f.report(diag.FormatSpec, i, i+1, message, help...)
	at := len(l.prefix) + len(l.quote)
	d.Span = f.within(i, at+c.start, at+c.end)
	f.soft()
}

// formatFirst returns the help for an unknown argument.
func formatFirst(c conv) string {
	if c.odd {
		return "format the value first, as in `fmt(x, \".2f\")`"
	}
	return "format the value first: `fmt(x, " + strconv.Quote(c.spec) + ")`"
}

// within returns the span of the bytes [a, b) of token i's text.
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

// percent checks `"…" % x`.
func (f *file) percent(i int, l literal) {
	convs := percents(l.body)
	bad := firstBad(convs)
	if bad < 0 {
		return
	}
	help := formatFirst(convs[bad])
	if end, ok := f.right(i+2, pMul); ok {
		if s, ok := f.rewritePercent(i, l, convs, i+2, end); ok {
			help = write(s)
		}
	}
	helps := []string{help}
	if strings.HasPrefix(l.body[convs[bad].start:], "% ") {
		helps = append(helps, "a percent sign is written `%%`")
	}
	f.reportConv(i, l, convs[bad], helps...)
}

// rewritePercent rewrites string i and its operand [a, b) with fmt.
func (f *file) rewritePercent(i int, l literal, convs []conv, a, b int) (string, bool) {
	args := [][2]int{{a, b}}
	open, closing := "", ""
	if f.toks[a].is("(") && f.toks[a].match == b-1 {
		if items := f.items(a); len(items) > 1 || f.toks[b-2].is(",") {
			args, open, closing = items, "(", ")"
		}
	}
	var body strings.Builder
	texts := make([]string, len(args))
	for n, it := range args {
		texts[n] = strings.TrimSpace(f.text(it[0], it[1]))
	}
	at := 0
	for _, c := range convs {
		if c.odd || c.name != "" || c.arg >= len(args) {
			return "", false
		}
		if c.spec == "" {
			continue
		}
		texts[c.arg] = "fmt(" + texts[c.arg] + ", " + strconv.Quote(c.spec) + ")"
		body.WriteString(l.body[at:c.start] + "%s")
		at = c.end
	}
	body.WriteString(l.body[at:])
	if body.String() == "%s" && len(args) == 1 {
		return texts[0], true
	}
	if len(args) == 1 && open != "" {
		closing = ",)"
	}
	return l.prefix + l.quote + body.String() + l.quote + " % " + open + strings.Join(texts, ", ") + closing, true
}

// conversion matches a conversion of Python's % operator: a name in parentheses, flags, width, precision, a length
// without meaning, and the verb.
var conversion = lazy.Regexp(`%%|%(?:\(([^)]*)\))?([-+ #0]*)([0-9*]*)(\.[0-9*]*)?([hlL]*)([diouxXeEfFgGcrsa])`)

// percents reads the conversions of Python's % operator.
func percents(body string) []conv {
	var out []conv
	for _, at := range conversion().FindAllStringSubmatchIndex(body, -1) {
		part := func(n int) string { return body[max(0, at[2*n]):max(0, at[2*n+1])] }
		verb := part(6)
		if verb == "" {
			continue // %%
		}
		c := conv{start: at[0], end: at[1], arg: len(out), name: part(1)}
		flags, width, precision := part(2), part(3), part(4)
		if flags+width+precision+part(5) != "" || verb == "u" || verb == "a" {
			c.spec = specOf(flags, width, precision, verb)
			c.odd = strings.Contains(width+precision, "*") || verb == "a" || verb == "r" || verb == "c"
		}
		out = append(out, c)
	}
	return out
}

// specOf returns a % conversion as a format specification, in the order of the specification: alignment, sign, #, 0,
// width, precision, type.
func specOf(flags, width, precision, verb string) string {
	var s string
	text := verb == "s" || verb == "r" || verb == "a"
	switch {
	case strings.Contains(flags, "-"):
		s = "<"
	case text && width != "":
		s = ">"
	}
	for _, flag := range []string{"+", " ", "#", "0"} {
		if strings.Contains(flags, flag) && !(text || flag == "0" && s == "<" || flag == " " && strings.Contains(flags, "+")) {
			s += flag
		}
	}
	s += width + precision
	switch {
	case text:
	case verb == "i" || verb == "u":
		s += "d"
	default:
		s += verb
	}
	return cmp.Or(s, verb)
}

// formatCall checks `"…".format(…)`.
func (f *file) formatCall(i int, l literal) {
	convs := replacements(l.body)
	bad := firstBad(convs)
	if bad < 0 {
		return
	}
	help := formatFirst(convs[bad])
	if convs[bad].spec == "" {
		help = "pass `x" + convs[bad].path + "` as a separate argument"
	}
	if s, ok := f.rewriteFormat(l, convs, i+3); ok {
		help = write(s)
	}
	f.reportConv(i, l, convs[bad], help)
}

// rewriteFormat rewrites a call of format, whose bracket is open, with fmt. Every argument must be used once.
func (f *file) rewriteFormat(l literal, convs []conv, open int) (string, bool) {
	var args []string
	names := map[string]int{}
	for n, it := range f.items(open) {
		a, b := it[0], it[1]
		if f.toks[a].is("*") || f.toks[a].is("**") {
			return "", false
		}
		if b-a > 2 && f.toks[a+1].is("=") {
			names[f.toks[a].text] = n
			a += 2
		}
		args = append(args, strings.TrimSpace(f.text(a, b)))
	}
	keyed := make([]string, len(args))
	for name, n := range names {
		keyed[n] = name + " = "
	}
	var body strings.Builder
	at, used := 0, map[int]bool{}
	for _, c := range convs {
		n, ok := c.arg, c.arg < len(args)
		if c.name != "" {
			n, ok = names[c.name]
		} else if ok && keyed[n] != "" {
			ok = false
		}
		if c.odd || !ok || used[n] {
			return "", false
		}
		used[n] = true
		if c.spec == "" && c.path == "" {
			continue
		}
		args[n] += c.path
		if c.conv == "!r" {
			args[n] = "repr(" + args[n] + ")"
		}
		if c.spec != "" {
			args[n] = "fmt(" + args[n] + ", " + strconv.Quote(c.spec) + ")"
		}
		field := l.body[c.start+1 : c.end-1]
		field = field[:len(field)-len(strings.TrimLeft(field, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"))]
		body.WriteString(l.body[at:c.start] + "{" + field + "}")
		at = c.end
	}
	body.WriteString(l.body[at:])
	if body.String() == "{}" && len(args) == 1 && convs[0].spec != "" {
		return args[0], true
	}
	for n := range args {
		args[n] = keyed[n] + args[n]
	}
	return l.prefix + l.quote + body.String() + l.quote + ".format(" + strings.Join(args, ", ") + ")", true
}

// replacements reads the fields of a string for the method format.
func replacements(body string) []conv {
	var out []conv
	auto := 0
	for i := 0; i < len(body); i++ {
		if strings.HasPrefix(body[i:], "{{") || strings.HasPrefix(body[i:], "}}") {
			i++
			continue
		}
		if body[i] != '{' {
			continue
		}
		end, depth := i+1, 0
		for end < len(body) && (body[end] != '}' || depth > 0) {
			switch body[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
			end++
		}
		if end == len(body) {
			return out
		}
		c := conv{start: i, end: end + 1}
		field, spec, _ := strings.Cut(body[i+1:end], ":")
		c.odd = strings.Contains(spec, "{")
		c.spec = spec
		field, conversion, has := strings.Cut(field, "!")
		if has {
			c.conv = "!" + conversion
		}
		if n := strings.IndexAny(field, ".["); n >= 0 {
			field, c.path = field[:n], field[n:]
			c.odd = c.odd || strings.Contains(c.path, "[") && !numbersOnly(c.path)
		}
		if n, err := strconv.Atoi(field); err == nil && n >= 0 {
			c.arg = n
		} else if field == "" {
			c.arg = auto
			auto++
		} else if identifier(field) {
			c.name = field
		} else {
			i = end // braces that are not a field, such as those of JSON
			continue
		}
		out = append(out, c)
		i = end
	}
	return out
}

// numbersOnly reports whether all indices of a path are numbers: x[a] in a field means x["a"].
func numbersOnly(path string) bool {
	for {
		_, rest, found := strings.Cut(path, "[")
		if !found {
			return true
		}
		index, after, _ := strings.Cut(rest, "]")
		if _, err := strconv.Atoi(index); err != nil {
			return false
		}
		path = after
	}
}

func identifier(s string) bool {
	for i, r := range s {
		if !isLetter(r) && (i == 0 || !isDigit(r)) {
			return false
		}
	}
	return s != ""
}
