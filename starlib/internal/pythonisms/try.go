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

// try reports a whole try statement at its first word and shows the same with
// attempt, from the user's own lines when they are simple enough.
func (f *file) try(i int) {
	body, handlers := f.tryClauses(f.toks[i].stmt)
	const inGraph = "attempt calls nodes too, in def main: `result = attempt(node, x)`; an answer of a model that does not fit is handled by `on_bad_output` of its agent"
	help := "call the function through attempt\n    result = attempt(f, x)\n    if not result.ok:\n        print(result.error)"
	s, function := f.attempt(body, handlers)
	ok := parses(s)
	if ok {
		help = write(s)
	}
	d := f.report(diag.TryExcept, i, i+1, "Starlark has no `try`: an error ends the run unless attempt takes it", help)
	if ok && function {
		d.Help = append(d.Help, "what the function assigns stays inside of it: return what is needed and read `result.value`")
	}
	d.Help = append(d.Help, inGraph)
}

// parses reports whether the statements of a function are Starlark.
func parses(code string) bool {
	_, err := (&syntax.FileOptions{}).Parse("", "def f():\n    "+strings.ReplaceAll(code, "\n", "\n    "), 0)
	return err == nil
}

// tryClauses finds the block of the try statement s and its except clauses, and
// marks their words as explained.
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

// attempt writes the statement with attempt. It knows a block of one call,
// which may be assigned or returned, with a handler of the same form, and else
// turns the block into a function.
func (f *file) attempt(body clause, handlers []clause) (code string, function bool) {
	if body.to-body.from == 1 {
		if lead, call, ok := f.ledCall(body.from); ok {
			lines := []string{"result = " + call}
			if len(handlers) == 1 && lead != "" {
				if value, ok := f.ledValue(handlers[0], lead); ok {
					return lines[0] + "\n" + lead + "result.value if result.ok else " + value, false
				}
			}
			if lead != "" {
				lines = append(lines, "if result.ok:", "    "+lead+"result.value")
			}
			return strings.Join(append(lines, f.handling(handlers, lead != "")...), "\n"), false
		}
	}
	lines := []string{"def step():"}
	lines = append(lines, f.lines(body, "    ")...)
	lines = append(lines, "result = attempt(step)")
	return strings.Join(append(lines, f.handling(handlers, false)...), "\n"), true
}

// ledCall takes statement s apart: `lead` is "return ", "x = " or "", and call
// is attempt of the rest, which must be a single call.
func (f *file) ledCall(s int) (lead, call string, ok bool) {
	lead, a, b := f.lead(s)
	if a >= b || !f.toks[b-1].is(")") {
		return "", "", false
	}
	open := f.toks[b-1].match
	start, ok := f.primary(b)
	if !ok || start != a || open <= a {
		return "", "", false
	}
	args := strings.TrimSpace(f.text(open+1, b-1))
	call = "attempt(" + f.text(a, open)
	if args != "" {
		call += ", " + args
	}
	return lead, call + ")", true
}

// lead splits statement s after "return" or "x =".
func (f *file) lead(s int) (lead string, a, b int) {
	a, b = f.stmts[s].first, f.stmts[s].last
	if f.toks[a].is("return") {
		return "return ", a + 1, b
	}
	if eq := f.assign(a, b, -1); eq < b {
		return f.text(a, eq+1) + " ", eq + 1, b
	}
	return "", a, b
}

// ledValue is what a handler of one statement with the same lead gives.
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

// textWithError is text with the exception's name replaced.
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
			at = t.end()
		}
	}
	return out.String() + text[at:]
}

// handling is the part that looks at the result: the first except clause, since
// one is enough to show the way, and what `else` and `finally` hold.
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

// mostLines is how many statements of a block a remedy repeats.
const mostLines = 6

// lines gives the statements of a clause with one indentation.
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
