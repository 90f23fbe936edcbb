package pythonisms

import (
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
)

// A clause is one part of a try statement: its header and its block.
type clause struct {
	header   int    // statement
	from, to int    // statements of the block
	name     string // `except E as name`
	catches  bool   // an except clause
}

// try reports a whole try statement at its first word and shows the same with attempt, from the user's own lines if
// they are simple enough.
func (f *file) try(i int) {
	body, handlers := f.tryClauses(f.toks[i].stmt)
	const inGraph = "attempt calls nodes too, in def main: `result = attempt(node, x)`; an answer of a model that does not fit is handled by `on_bad_output` of its agent"
	help := "call the function through attempt\n    result = attempt(f, x)\n    if not result.ok:\n        print(result.error.message)"
	s, function := f.attempt(body, handlers)
	ok := parses(s)
	if ok {
		help = write(s)
	}
	d := f.report(diag.TryExcept, i, i+1, "Starlark has no `try`: an error ends the run unless attempt catches it", help)
	if ok && function {
		d.Help = append(d.Help, "what the function assigns stays inside it: return what is needed and read `result.value`")
	}
	d.Help = append(d.Help, inGraph)
}

// parses reports whether the statements of a function are valid Starlark.
func parses(code string) bool {
	_, err := (&syntax.FileOptions{}).Parse("", "def f():\n    "+strings.ReplaceAll(code, "\n", "\n    "), 0)
	return err == nil
}

// tryClauses finds the block of the try statement s and its except clauses, and marks their words as explained.
func (f *file) tryClauses(s int) (body clause, handlers []clause) {
	body.header = s
	body.from, body.to = f.block(s)
	for next := body.to; next < len(f.stmts) && f.stmts[next].indent == f.stmts[s].indent; {
		first := &f.toks[f.stmts[next].first]
		if !first.is("except") && !first.is("finally") && !(first.is("else") && len(handlers) > 0) {
			break
		}
		c := clause{header: next, catches: first.is("except")}
		c.from, c.to = f.block(next)
		for k := f.stmts[next].first; k < f.stmts[next].last; k++ {
			if f.toks[k].is("as") {
				c.name = f.after(k).text
			}
			if reserved[f.toks[k].text] {
				f.used[k] = true
			}
		}
		handlers = append(handlers, c)
		next = c.to
	}
	return body, handlers
}

// attempt rewrites the statement with attempt. It supports a block of one expression, which may be assigned or
// returned, with a handler of the same form; any other block becomes a function.
func (f *file) attempt(body clause, handlers []clause) (code string, function bool) {
	if body.to-body.from == 1 {
		if t, ok := f.tried(body.from); ok {
			lines := []string{"result = " + t.call}
			if len(handlers) == 1 && t.lead != "" {
				if value, ok := f.ledValue(handlers[0], t.lead); ok {
					return lines[0] + "\n" + t.lead + t.value + " if result.ok else " + value, false
				}
			}
			used := t.lead != "" || t.value != "result.value"
			if used {
				lines = append(lines, "if result.ok:", "    "+t.lead+t.value)
			}
			return strings.Join(append(lines, f.handling(handlers, used)...), "\n"), false
		}
	}
	lines := []string{"def step():"}
	lines = append(lines, f.lines(body, "    ")...)
	lines = append(lines, "result = attempt(step)")
	return strings.Join(append(lines, f.handling(handlers, false)...), "\n"), true
}

// A tried is a statement rewritten with attempt: `lead` is "return ", "x = " or "", call is the call of attempt, and
// value is the rest of the statement, with the result of attempt in it.
type tried struct{ lead, call, value string }

// tried splits statement s. If only one call in it can fail, attempt makes that call; otherwise it calls a lambda of
// the whole expression.
func (f *file) tried(s int) (t tried, ok bool) {
	lead, a, b := f.lead(s)
	if a < b && f.toks[a].is("await") {
		a++
	}
	if a >= b || f.stmts[s].header || breaks(&f.toks[a]) || b-a > longest {
		return t, false
	}
	start, open := a, -1
	if c := f.callTo(b); c > a && f.startOf(c) == a {
		open = c
	}
	switch calls := f.failing(a, b); {
	case len(calls) == 1 && f.startOf(calls[0]) >= a:
		open = calls[0]
		start = f.startOf(open)
	case len(calls) > 1:
		open = -1
	}
	if open < 0 || f.callIn(start, open) {
		return tried{lead, "attempt(lambda: " + f.text(a, b) + ")", "result.value"}, true
	}
	args := strings.TrimSpace(f.text(open+1, f.toks[open].match))
	t = tried{lead, "attempt(" + f.text(start, open), "result.value"}
	if args != "" {
		t.call += ", " + args
	}
	t.call += ")"
	if start > a {
		before := start
		if f.toks[before-1].is("await") {
			before--
		}
		t.value = f.upTo(a, before) + t.value
	}
	if end := f.toks[open].match + 1; end < b {
		t.value += f.src[f.toks[end-1].end():f.toks[end].off] + f.text(end, b)
	}
	return t, true
}

// safe are the calls that do not fail with the arguments that a script passes them.
var safe = words(`print str repr len list bool range enumerate zip append extend add insert
	upper lower strip lstrip rstrip split splitlines join format replace startswith endswith title capitalize`)

// failing returns the opening brackets of the calls in tokens [a, b) that can fail. It returns several if a call may be
// made more than once, or not at all.
func (f *file) failing(a, b int) (calls []int) {
	for i := a; i < b; i++ {
		switch t := &f.toks[i]; {
		case t.is("lambda"), t.is("for"), t.is("if"), t.is("and"), t.is("or"):
			return []int{a, a}
		case t.is("(") && i > a && ends(&f.toks[i-1]) && !safe[f.toks[i-1].text]:
			calls = append(calls, i)
		}
	}
	return calls
}

// callTo returns the opening bracket of the call that ends just before token b, or -1.
func (f *file) callTo(b int) int {
	if !f.toks[b-1].is(")") {
		return -1
	}
	return f.toks[b-1].match
}

// startOf returns where the call with bracket open begins, or -1 if that is unknown.
func (f *file) startOf(open int) int {
	if end := f.toks[open].match; end > open {
		if start, ok := f.primary(end + 1); ok {
			return start
		}
	}
	return -1
}

// callIn reports whether tokens [a, b) contain a call.
func (f *file) callIn(a, b int) bool {
	for i := a + 1; i < b; i++ {
		if f.toks[i].is("(") && ends(&f.toks[i-1]) {
			return true
		}
	}
	return false
}

// augmented are the operators that assign to a variable that already has a value.
var augmented = words("+= -= *= /= //= %=")

// lead splits statement s after "return", "x =" or "x +=".
func (f *file) lead(s int) (lead string, a, b int) {
	a, b = f.stmts[s].first, f.stmts[s].last
	if f.toks[a].is("return") {
		return "return ", a + 1, b
	}
	for eq := a; eq < b; eq++ {
		if t := &f.toks[eq]; t.open == -1 && (t.is("=") || t.kind == kOp && augmented[t.text]) {
			return f.text(a, eq+1) + " ", eq + 1, b
		}
	}
	return "", a, b
}

// ledValue returns the value in a handler that is one statement with the same lead.
func (f *file) ledValue(c clause, lead string) (string, bool) {
	if c.to-c.from != 1 {
		return "", false
	}
	other, a, b := f.lead(c.from)
	if other != lead || a >= b {
		return "", false
	}
	return f.textWithError(a, b, c.name), true
}

// textWithError returns text with the exception's name replaced.
func (f *file) textWithError(a, b int, name string) string {
	text := f.text(a, b)
	if name == "" {
		return text
	}
	g := fragment(text)
	var out strings.Builder
	at := 0
	for k := range g.toks {
		t := &g.toks[k]
		attribute := k > 0 && g.toks[k-1].is(".")
		keyword := t.open >= 0 && k+1 < len(g.toks) && g.toks[k+1].is("=")
		if t.is(name) && !attribute && !keyword {
			out.WriteString(text[at:t.off] + "result.error")
			if k+1 == len(g.toks) || !g.toks[k+1].is(".") {
				out.WriteString(".message")
			}
			at = t.end()
		}
	}
	return out.String() + text[at:]
}

// handling returns the part that looks at the result: the first except clause, since one is enough as an example, and
// the contents of `else` and `finally`.
func (f *file) handling(handlers []clause, chained bool) []string {
	var lines []string
	caught := false
	for _, h := range handlers {
		head, indent := "", ""
		switch f.toks[f.stmts[h.header].first].text {
		case "except":
			if caught {
				continue
			}
			caught = true
			head, indent = "if not result.ok:", "    "
			if chained {
				head = "else:"
				if h.to == h.from+1 && f.toks[f.stmts[h.from].first].is("pass") {
					continue
				}
			}
		case "else":
			head, indent = "if result.ok:", "    "
		}
		body := f.lines(h, indent)
		if len(body) == 0 {
			continue
		}
		if head != "" {
			lines = append(lines, head)
		}
		lines = append(lines, body...)
	}
	return lines
}

// mostLines bounds the statements of a block that a remedy repeats.
const mostLines = 6

// lines returns the statements of a clause with one indentation.
func (f *file) lines(c clause, indent string) []string {
	var out []string
	for s := c.from; s < c.to; s++ {
		if s-c.from == mostLines {
			return append(out, indent+"# …")
		}
		depth := 0
		if s > c.from {
			depth = max(0, f.stmts[s].indent-f.stmts[c.from].indent)
		}
		text := f.textWithError(f.stmts[s].first, f.stmts[s].last, c.name)
		if first := f.stmts[s].first; f.toks[first].is("raise") {
			text = f.failCall(first, c)
		}
		out = append(out, indent+strings.Repeat(" ", depth)+outdent(text, f.stmts[s].indent))
	}
	return out
}
