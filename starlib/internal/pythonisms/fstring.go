package pythonisms

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// stringHabits finds f-strings, prefixes that Starlark lacks, and adjacent strings.
func (f *file) stringHabits() {
	for i := 0; i < len(f.toks) && f.more(); i++ {
		if f.toks[i].kind != kString {
			continue
		}
		f.prefix(i)
		run := i + 1
		for run < len(f.toks) && f.toks[run].kind == kString {
			f.prefix(run)
			run++
		}
		if run-i > 1 {
			f.adjacent(i, run)
		}
		i = run - 1
	}
}

// prefix reports the prefix of string i if Starlark lacks it.
func (f *file) prefix(i int) {
	t := &f.toks[i]
	l := literalOf(t.text)
	written, fixed := t.text[:len(l.prefix)], rewriteString(t.text)
	switch {
	case strings.Contains(l.prefix, "f") && fixed == t.text:
		f.report(diag.FString, i, i+1, "Starlark has no f-strings", "write `\"{}\".format(x)`, with one {} for each value")
	case strings.Contains(l.prefix, "f"):
		template, ofInput := f.template(i, l)
		if template != "" {
			fixed = template
		}
		d := f.replace(diag.FString, i, i+1, "Starlark has no f-strings", fixed)
		if ofInput != "" && template == "" {
			d.Help = append(d.Help, "a field of the input is filled in by `template(\"... {{"+ofInput+"}} ...\")`")
		}
	case written != "" && written != "r" && written != "b" && written != "rb":
		f.replace(diag.PythonOnly, i, i+1, "Starlark has no string prefix `"+written+"`", fixed)
	}
}

// template rewrites f-string i as a template, if it is the prompt or task of a node and uses only fields of the input,
// that is, names that are not bound anywhere. ofInput is the first of these. template is "" if the string uses more
// than names.
func (f *file) template(i int, l literal) (template, ofInput string) {
	if !f.before(i).is("=") || f.toks[i].open < 0 {
		return "", ""
	}
	if name := f.before(i - 1); !name.is("prompt") && !name.is("task") {
		return "", ""
	}
	parts, _ := splitF(l.body)
	plain := strings.NewReplacer("{{", "{", "}}", "}")
	var out strings.Builder
	names := true
	for _, p := range parts {
		out.WriteString(plain.Replace(p.text))
		if p.expr == "" {
			continue
		}
		root, _, _ := strings.Cut(p.expr, ".")
		isName := strings.Trim(p.expr, letters+".0123456789") == "" && strings.Trim(p.expr[:1], letters) == ""
		if !isName || f.bound[root] || p.conv+p.spec != "" {
			names = false
		}
		if isName && !f.bound[root] && ofInput == "" {
			ofInput = p.expr
		}
		out.WriteString("{{" + p.expr + "}}")
	}
	if !names || ofInput == "" {
		return "", ofInput
	}
	return "template(" + strings.Trim(l.prefix, "fF") + l.quote + out.String() + l.quote + ")", ofInput
}

// adjacent reports the strings [a, b), which follow each other without an operator.
func (f *file) adjacent(a, b int) {
	message := "Starlark does not join neighbouring strings"
	if b-a > mostShown {
		f.report(diag.AdjacentStrings, a+1, a+2, message, "put + between them")
		return
	}
	var sum strings.Builder
	for i := a; i < b; i++ {
		if i > a {
			sum.WriteString(" +")
			sum.WriteString(f.src[f.toks[i-1].end():f.toks[i].off])
			if f.toks[i-1].touches(&f.toks[i]) {
				sum.WriteByte(' ')
			}
		}
		sum.WriteString(rewriteString(f.toks[i].text))
	}
	d := f.report(diag.AdjacentStrings, a+1, a+2, message, write(outdent(sum.String(), f.indentOf(a+1))))
	d.Label = "no operator before this one"
	for i := a; i+1 < b; i++ {
		end := &f.toks[i]
		at := diag.Pos{File: f.name, Line: end.endLine, Col: end.endCol}
		d.Fixes = append(d.Fixes, diag.Fix{Message: "insert +", Span: diag.Span{Pos: at}, Replacement: " +"})
	}
}

// outdent removes up to n cells of space from the start of all lines but the first.
func outdent(s string, n int) string {
	lines := strings.Split(s, "\n")
	for i := 1; i < len(lines); i++ {
		for k := 0; k < n && lines[i] != "" && (lines[i][0] == ' ' || lines[i][0] == '\t'); k++ {
			lines[i] = lines[i][1:]
		}
	}
	return strings.Join(lines, "\n")
}

// rewriteString returns a string literal as Starlark has it: an f-string becomes a call of format, and a prefix that
// Starlark lacks is removed. What it does not understand is returned unchanged.
func rewriteString(text string) string {
	l := literalOf(text)
	if !l.closed {
		return text
	}
	prefix := ""
	switch {
	case strings.Contains(l.prefix, "f"):
		return rewriteF(text, l)
	case strings.Contains(l.prefix, "r") && strings.Contains(l.prefix, "b"):
		prefix = "rb"
	case strings.Trim(l.prefix, "u") != "":
		prefix = l.prefix
	}
	return prefix + l.quote + l.body + l.quote
}

// A part of an f-string is literal text, and the field after it if expr is not empty.
type part struct {
	text string // as written, with doubled braces
	expr string
	conv string // "!r" or ""
	spec string
}

func rewriteF(text string, l literal) string {
	parts, ok := splitF(l.body)
	if !ok {
		return text
	}
	prefix := ""
	if l.raw() {
		prefix = "r"
	}
	var out strings.Builder
	var args []string
	alone := len(parts) == 1 && parts[0].text == ""
	for _, p := range parts {
		out.WriteString(p.text)
		if p.expr == "" {
			continue
		}
		arg, hole := p.expr, "{"+p.conv+"}"
		switch {
		case p.spec != "":
			arg, hole = p.arg(), "{}"
		case alone:
			arg = map[string]string{"": "str", "!r": "repr"}[p.conv] + "(" + arg + ")"
		}
		if alone {
			return arg
		}
		args = append(args, arg)
		out.WriteString(hole)
	}
	if args == nil {
		plain := strings.NewReplacer("{{", "{", "}}", "}").Replace(out.String())
		return prefix + l.quote + plain + l.quote
	}
	return prefix + l.quote + out.String() + l.quote + ".format(" + strings.Join(args, ", ") + ")"
}

// arg returns the field as an argument of format, with its specification applied.
func (p *part) arg() string {
	x := p.expr
	if p.conv != "" {
		x = "repr(" + x + ")"
	}
	spec := strconv.Quote(p.spec)
	if strings.Contains(p.spec, "{") {
		// Fields inside a specification: it is a small f-string itself.
		spec = rewriteString(`f"` + p.spec + `"`)
	}
	return "fmt(" + x + ", " + spec + ")"
}

// splitF splits the body of an f-string. It returns false if the braces do not match.
func splitF(body string) (parts []part, ok bool) {
	start := 0
	text := func(end int) {
		if end > start {
			parts = append(parts, part{text: body[start:end]})
		}
	}
	for i := 0; i < len(body); {
		switch {
		case strings.HasPrefix(body[i:], "{{"), strings.HasPrefix(body[i:], "}}"):
			i += 2
		case strings.HasPrefix(body[i:], `\N{`):
			return nil, false // a character by name, which Starlark lacks
		case body[i] == '\\' && i+1 < len(body) && body[i+1] != '{' && body[i+1] != '}':
			i += 2
		case body[i] == '}':
			return nil, false
		case body[i] == '{':
			text(i)
			p, end, ok := field(body, i+1)
			if !ok {
				return nil, false
			}
			parts = append(parts, p)
			i, start = end, end
		default:
			i++
		}
	}
	text(len(body))
	return parts, true
}

// field reads a replacement field whose expression begins at i; end is just after its closing brace. The text of the
// result is what "{x=}" prints first.
func field(body string, i int) (p part, end int, ok bool) {
	begin, depth := i, 0
	stop := -1 // end of the expression
	for ; i < len(body) && stop < 0; i++ {
		switch c := body[i]; c {
		case '"', '\'':
			q := quoteAt(body, i)
			e, closed := closePlain(body, i+len(q), q)
			if !closed {
				return p, 0, false
			}
			i = e - 1
		case '(', '[', '{':
			depth++
		case ')', ']':
			depth--
		case '}':
			if depth == 0 {
				stop = i
			}
			depth--
		case ':':
			if depth == 0 {
				stop = i
			}
		case '!':
			if depth == 0 && !strings.HasPrefix(body[i:], "!=") {
				stop = i
			}
		}
	}
	if stop < 0 {
		return p, 0, false
	}
	i = stop
	expr := body[begin:stop]
	p.expr = strings.TrimSpace(expr)
	if e, debug := strings.CutSuffix(p.expr, "="); debug && !strings.ContainsAny(e[max(0, len(e)-1):], "=!<>") {
		p.text = strings.NewReplacer("{", "{{", "}", "}}").Replace(expr)
		p.expr = strings.TrimSpace(e)
		p.conv = "!r"
	}
	if body[i] == '!' {
		if i+1 >= len(body) || !strings.ContainsRune("rsa", rune(body[i+1])) {
			return p, 0, false
		}
		if p.conv = "!r"; body[i+1] == 's' {
			p.conv = ""
		}
		i += 2
	}
	if i < len(body) && body[i] == ':' {
		begin, depth = i+1, 0
		for i++; i < len(body) && (depth > 0 || body[i] != '}'); i++ {
			switch body[i] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if depth > 1 {
				return p, 0, false // Python allows no deeper nesting either
			}
		}
		if p.spec = body[begin:min(i, len(body))]; p.spec != "" && p.text != "" {
			p.conv = ""
		}
	}
	if i >= len(body) || body[i] != '}' || p.expr == "" {
		return p, 0, false
	}
	p.expr = tidy(p.expr)
	return p, i + 1, true
}

// tidy rewrites the habits inside an expression from a string, and puts parentheses around one that could not be an
// argument.
func tidy(expr string) string {
	g := fragment(expr)
	n := g.length()
	out := g.text(0, n)
	for i := range n {
		if t := &g.toks[i]; t.open == -1 && t.is(",") && !t.params {
			return "(" + out + ")"
		}
	}
	return out
}

// fragment returns a piece of source as a separate file, for the methods that look only at tokens.
func fragment(src string) *file {
	return &file{src: src, toks: lex(src, len(src)/3+8, nil), bound: map[string]bool{}, used: map[int]bool{}}
}

// length returns the number of tokens before the end of the last line.
func (f *file) length() int {
	n := len(f.toks)
	for n > 0 && (f.toks[n-1].kind == kEOF || f.toks[n-1].kind == kNewline) {
		n--
	}
	return n
}
