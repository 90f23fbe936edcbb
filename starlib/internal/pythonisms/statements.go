package pythonisms

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// statements maps each reserved word that begins a statement to the function that reports it.
var statements = map[string]func(f *file, i int){
	"try": (*file).try, "except": (*file).except, "finally": (*file).except, "class": (*file).class,
	"import": (*file).importing, "from": (*file).importing, "as": (*file).reservedName, "with": (*file).with,
	"raise": (*file).raise, "del": (*file).del, "global": (*file).outer, "nonlocal": (*file).outer,
	"yield": (*file).yield, "async": (*file).async, "await": (*file).async,
}

// reservedHabits finds Python statements that begin with, or consist of, words that Starlark reserves. A Starlark file
// contains no such word, so each is reported once, by the function that understands it best.
func (f *file) reservedHabits() {
	for i := range f.toks {
		if !f.more() {
			return
		}
		t := &f.toks[i]
		if t.kind != kName || !reserved[t.text] || f.used[i] {
			continue
		}
		if f.asName(i) {
			f.reservedName(i)
		} else if report := statements[t.text]; report != nil { // the operator `is` is handled later
			report(f, i)
		}
	}
}

// except reports `except` and `finally` without their try.
func (f *file) except(i int) {
	f.report(diag.TryExcept, i, i+1, "Starlark has no `"+f.toks[i].text+"`", "call the function as `attempt(f, x)` and look at `.ok`, `.value` and `.error`")
}

// longestHelp bounds the user's text that a remedy repeats, in runes.
const longestHelp = 400

// asName reports whether reserved word i is used as a name: after a dot or def, before =, or as a parameter.
func (f *file) asName(i int) bool {
	if f.before(i).is(".") || f.after(i).is("=") || f.before(i).is("def") {
		return true
	}
	return f.toks[f.stmts[f.toks[i].stmt].first].is("def") && f.toks[i].open >= 0 &&
		(f.after(i).is(",") || f.after(i).is(")") || f.after(i).is(":")) &&
		(f.before(i).is("(") || f.before(i).is(",") || f.before(i).is("*") || f.before(i).is("**"))
}

func (f *file) reservedName(i int) {
	word := f.toks[i].text
	help := "choose another name, such as `" + word + "_`"
	switch {
	case f.before(i).is("."):
		owner := "x"
		if a, ok := f.primary(i - 1); ok {
			owner = f.text(a, i-1)
		}
		help = write(owner + `["` + word + `"]`)
	case f.after(i).is("=") && f.toks[i].open >= 0:
		if call := f.reservedArguments(f.toks[i].open); call != "" {
			help = write(call)
		} else if b, ok := f.right(i+2, 0); ok {
			value := text.Clip(f.text(i+2, b), longestHelp)
			help = "pass it in a dict: `{\"" + word + "\": " + value + "}`, or spread that: `**{\"" + word + "\": " + value + "}`"
		}
	}
	f.report(diag.SyntaxError, i, i+1, "`"+word+"` is a reserved word and cannot be a name", help)
}

// reservedArguments returns the call of bracket open with its arguments of reserved names in a dict, and marks these as
// explained: one message is enough. It returns "" if the bracket is not a call on one line.
func (f *file) reservedArguments(open int) string {
	end := f.toks[open].match
	start, ok := f.primary(open)
	if !ok || end < open || f.toks[open].line != f.toks[end].line || end-open > longest {
		return ""
	}
	var values, named, dict []string
	for _, it := range f.items(open) {
		shown := strings.TrimSpace(f.text(it[0], it[1]))
		switch name := &f.toks[it[0]]; {
		case it[1]-it[0] < 3 || !f.toks[it[0]+1].is("="):
			values = append(values, shown)
		case reserved[name.text]:
			f.used[it[0]] = true
			dict = append(dict, strconv.Quote(name.text)+": "+f.text(it[0]+2, it[1]))
		default:
			named = append(named, shown)
		}
	}
	fn, fields := f.text(start, open), "{"+strings.Join(dict, ", ")+"}"
	if fn == "schema" { // schema takes a dict of fields
		values = append(values, fields)
	} else {
		named = append(named, "**"+fields)
	}
	return fn + "(" + strings.Join(append(values, named...), ", ") + ")"
}

// restOf returns the tokens after i up to the end of its statement, if that is
// not too far.
func (f *file) restOf(i int) (a, b int) {
	return i + 1, min(f.stmts[f.toks[i].stmt].last, i+farthest)
}

// use marks the reserved words of tokens [a, b) as explained.
func (f *file) use(a, b int) {
	for i := a; i < b; i++ {
		if t := &f.toks[i]; t.kind == kName && (t.text == "as" || t.text == "from" || t.text == "import") {
			f.used[i] = true
		}
	}
}

func (f *file) with(i int) {
	a, b := f.restOf(i)
	f.use(a, b)
	help, read := "call the function and use its result", "file"
	if f.inDef(f.toks[i].stmt) {
		read = "fs.read"
	}
	var lines []string
	if b > a && f.toks[b-1].is(":") {
		for _, it := range f.commas(a, b-1, -1) {
			end, name := it[1], "value"
			for k := it[0]; k < it[1]; k++ {
				if f.toks[k].is("as") && f.toks[k].open == -1 {
					end, name = k, strings.TrimSpace(f.text(k+1, it[1]))
				}
			}
			if f.toks[it[0]].is("open") && f.toks[it[0]+1].is("(") && f.toks[it[0]+1].match == end-1 {
				if args := f.items(it[0] + 1); len(args) > 0 {
					lines = append(lines, f.opened(f.toks[i].stmt, name, read, args)...)
					continue
				}
			}
			lines = append(lines, name+" = "+strings.TrimSpace(f.text(it[0], end)))
		}
	}
	if lines != nil {
		help = write(strings.Join(lines, "\n"))
	}
	f.report(diag.PythonOnly, i, i+1, "Starlark has no `with`: nothing needs closing", help)
}

// opened returns what the block of a `with open(…) as name` at statement s does with the file: reads the text, or
// writes it.
func (f *file) opened(s int, name, read string, args [][2]int) (lines []string) {
	path := f.text(args[0][0], args[0][1])
	whole := read + "(" + path + ")"
	from, to := f.block(s)
	for k := from; k < min(to, from+farthest/10); k++ {
		st := f.stmts[k]
		for i := st.first; i+3 < st.last; i++ {
			if !f.toks[i].is(name) || !f.toks[i+1].is(".") || f.toks[i+3].match < i+3 || f.before(i).is(".") {
				continue
			}
			called := f.toks[i+3].match + 1
			given := strings.TrimSpace(f.text(i+4, called-1))
			switch f.toks[i+2].text {
			case "write", "writelines":
				if given != "" {
					lines = append(lines, "fs.write("+path+", "+given+")")
				}
			case "read":
				lines = append(lines, f.upTo(st.first, i)+whole+f.text(called, st.last))
			case "readlines":
				lines = append(lines, f.upTo(st.first, i)+whole+".splitlines()"+f.text(called, st.last))
			}
		}
		if f.toks[st.first].is("for") && f.before(st.last-1).is(name) && st.header {
			lines = append(lines, f.upTo(st.first, st.last-2)+whole+".splitlines():")
		}
	}
	if lines != nil {
		return lines
	}
	if len(args) > 1 && strings.ContainsAny(f.text(args[1][0], args[1][1]), "wa") && read == "fs.read" {
		return []string{"fs.write(" + path + ", text)"}
	}
	return []string{name + " = " + whole}
}

// upTo returns the text of tokens [a, b) with the blanks after it.
func (f *file) upTo(a, b int) string {
	if a >= b {
		return ""
	}
	return f.text(a, b) + f.src[f.toks[b-1].end():f.toks[b].off]
}

// inDef reports whether statement s is in the body of a function.
func (f *file) inDef(s int) bool {
	indent := f.stmts[s].indent
	for p := s - 1; p >= max(0, s-farthest); p-- {
		st := f.stmts[p]
		if st.indent >= indent {
			continue
		}
		if f.toks[st.first].is("def") || f.after(st.first).is("def") {
			return true
		}
		indent = st.indent
	}
	return false
}

func (f *file) raise(i int) {
	f.report(diag.PythonOnly, i, i+1, "Starlark has no `raise`", write(f.failCall(i, clause{})))
}

// failCall returns the raise statement at token i as a call of fail. c is the clause around it, which may catch an
// error.
func (f *file) failCall(i int, c clause) string {
	a, b := f.restOf(i)
	for k := a; k < b; k++ {
		if f.toks[k].is("from") && f.toks[k].open == -1 {
			f.used[k] = true
			b = k
		}
	}
	args := `"…"`
	switch end := &f.toks[b-1]; {
	case c.catches && (a == b || b == a+1 && f.toks[a].is(c.name)):
		args = "result.error.message"
	case a == b:
	case end.is(")") && end.match > a && ends(&f.toks[end.match-1]):
		args = strings.TrimSpace(f.textWithError(end.match+1, b-1, c.name))
		if args == "" {
			args = strconv.Quote(strings.TrimSpace(f.text(a, end.match)))
		}
	case f.toks[a].kind == kName && b == a+1:
		args = `"` + f.toks[a].text + `"`
	}
	return "fail(" + args + ")"
}

func (f *file) del(i int) {
	a, b := f.restOf(i)
	var lines []string
	for _, it := range f.commas(a, b, f.toks[i].open) {
		last := &f.toks[it[1]-1]
		switch {
		case last.is("]") && last.match > it[0] && !f.colonIn(last.match+1, it[1]-1, last.match):
			lines = append(lines, strings.TrimSpace(f.text(it[0], last.match))+".pop("+f.text(last.match+1, it[1]-1)+")")
		case last.is("]") && last.match > it[0]:
			// A slice has no pop; the remaining items form a new list.
			lines = nil
		}
	}
	help := "drop it: a name needs no deleting, and a new list or dict replaces an old one"
	if lines != nil {
		help = write(strings.Join(lines, "\n"))
	}
	f.report(diag.PythonOnly, i, i+1, "Starlark has no `del`", help)
}

// outer reports `global` and `nonlocal`.
func (f *file) outer(i int) {
	a, b := f.restOf(i)
	word := f.toks[i].text
	name := "x"
	if a < b && f.toks[a].kind == kName {
		name = f.toks[a].text
	}
	help := "return the new value instead"
	if word == "nonlocal" {
		help = "keep it in a dict of the outer function, `state = {\"" + name + "\": …}`, and write `state[\"" + name + "\"] = …` here"
	}
	d := f.report(diag.PythonOnly, i, i+1, "Starlark has no `"+word+"`: a function assigns only its own names", help)
	if word == "global" {
		d.Notes = append(d.Notes, diag.Note{Message: "globals are frozen once the file is loaded, so that runs share them safely"})
	}
}

func (f *file) yield(i int) {
	a, b := f.restOf(i)
	help := "collect the values in a list and return it"
	if a < b && f.toks[a].is("from") {
		f.used[a] = true
		if end, ok := f.right(a+1, 0); ok {
			help += "\n    result.extend(" + f.text(a+1, end) + ")"
		}
	} else if a < b {
		if end, ok := f.right(a, 0); ok && end == b {
			help += "\n    result.append(" + f.text(a, b) + ")"
		}
	}
	f.report(diag.PythonOnly, i, i+1, "Starlark has no generators", help)
}

func (f *file) async(i int) {
	word := f.toks[i].text
	help := "drop `async`; nodes run concurrently through `par` and `each`"
	message := "Starlark has no `async`"
	if word == "await" {
		message = "Starlark has no `await`: a call waits for its result"
		help = "drop `await`"
		if end, ok := f.right(i+1, pPower); ok {
			help = write(f.text(i+1, end))
			if open := i + 4; open < end && f.text(i+1, open) == "asyncio.gather" && f.toks[open].is("(") {
				help = "compose it: `each(node)` runs one node on every item of a list, `a / b` runs two on the same input"
			}
		}
	}
	d := f.report(diag.PythonOnly, i, i+1, message, help)
	if next := f.after(i); next.line == f.toks[i].line {
		at := f.span(i, i+1)
		at.Len = next.col - at.Col
		d.Fixes = append(d.Fixes, diag.Fix{Message: "drop " + word, Span: at})
	}
}
