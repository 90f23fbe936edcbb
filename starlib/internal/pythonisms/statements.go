package pythonisms

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// statements says who reports what begins with a reserved word.
var statements = map[string]func(f *file, i int){
	"try": (*file).try, "except": (*file).except, "finally": (*file).except, "class": (*file).class,
	"import": (*file).importing, "from": (*file).importing, "as": (*file).reservedName, "with": (*file).with,
	"raise": (*file).raise, "del": (*file).del, "global": (*file).outer, "nonlocal": (*file).outer,
	"yield": (*file).yield, "async": (*file).async, "await": (*file).async,
}

// reservedHabits finds the statements of Python that begin with, or consist
// of, words that Starlark reserves. No Starlark file holds such a word, so each
// is reported once, by whoever understands it best.
func (f *file) reservedHabits() {
	for i := range f.toks {
		t := &f.toks[i]
		if t.kind != kName || !reserved[t.text] || f.used[i] {
			continue
		}
		if f.asName(i) {
			f.reservedName(i)
		} else if report := statements[t.text]; report != nil { // the operator `is` has its turn later
			report(f, i)
		}
	}
}

// except reports `except` and `finally` without their try.
func (f *file) except(i int) {
	f.report(diag.TryExcept, i, i+1, "Starlark has no `"+f.toks[i].text+"`", "call the function as `attempt(f, x)` and look at `.ok`, `.value` and `.error`")
}

// longestHelp is how much of the user's text a remedy repeats, in runes.
const longestHelp = 400

// asName reports whether reserved word i stands where a name would: after a
// dot or def, before =, or as a parameter.
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
		if b, ok := f.right(i+2, 0); ok {
			value := text.Clip(f.text(i+2, b), longestHelp)
			help = "give it in a dict: `{\"" + word + "\": " + value + "}`, or spread that: `**{\"" + word + "\": " + value + "}`"
		}
	}
	f.report(diag.SyntaxError, i, i+1, "`"+word+"` is a reserved word and cannot be a name", help)
}

// restOf gives the tokens after i up to the end of its statement, if that is
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
	help, read := "call the function and use what it gives", "file"
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
					lines = append(lines, name+" = "+read+"("+f.text(args[0][0], args[0][1])+")")
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

// failCall writes the raise statement at token i as a call of fail, as part of a clause that may catch an error.
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
		args = "result.error"
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
			// A slice has no pop; what stays is a new list.
			lines = nil
		}
	}
	help := "drop it: a name needs no deleting, and a new list or dict takes the place of an old one"
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

// needless are the modules that only declare types.
var needless = words("typing typing_extensions __future__ dataclasses pydantic enum abc collections collections.abc")

// standard are modules of Python that a script is likely to ask for and that no
// file of its own stands for.
var standard = words(`re os sys io math time datetime random asyncio logging itertools functools subprocess pathlib
	requests httpx aiohttp openai anthropic langchain numpy pandas string textwrap copy uuid hashlib base64 csv
	os.path urllib urllib.request http tempfile shutil threading concurrent.futures agentscript`)

// importing reports `import a.b as c` and `from a.b import c as d`.
func (f *file) importing(i int) {
	a, b := f.restOf(i)
	f.use(i, b)
	path, at := f.modulePath(a, b)
	help := write(`load("file.star", "name")`)
	switch {
	case needless[strings.TrimLeft(path, ".")]:
		help = "drop the line: types are builtins here (str, int, list[str], `T | None`, schema, enum)"
	case path == "json":
		help = "drop the line: json is a builtin here (json.encode, json.decode)"
	case standard[path]:
		help = "drop the line: Python's modules are not there; a script uses the builtins and what the host grants"
	case f.toks[i].is("from") && at < b && f.toks[at].is("import"):
		if names := f.imported(at+1, b); names != nil {
			help = write(`load("` + starFile(path) + `", ` + strings.Join(names, ", ") + ")")
		} else if path != "" {
			help = write(`load("`+starFile(path)+`", "name")`) + ", with every name that is used"
		}
	case path != "":
		help = write(`load("`+starFile(path)+`", "name")`) + ", with every name that is used"
	}
	f.report(diag.ImportStatement, i, i+1, "Starlark has no `import`", help)
}

// modulePath reads a dotted name, with leading dots, from token a on.
func (f *file) modulePath(a, b int) (path string, next int) {
	for next = a; next < b; next++ {
		t := &f.toks[next]
		dots := t.kind == kOp && strings.Trim(t.text, ".") == ""
		if !dots && (t.kind != kName || t.is("import") || t.is("as")) {
			break
		}
		if t.kind == kName && next > a && f.toks[next-1].kind == kName {
			break
		}
		path += t.text
	}
	return path, next
}

// starFile is the file that a dotted module name stands for: a.b is a/b.star,
// and every leading dot after the first goes up one directory.
func starFile(path string) string {
	rest := strings.TrimLeft(path, ".")
	up := max(0, len(path)-len(rest)-1)
	if rest == "" {
		rest = "file"
	}
	return strings.Repeat("../", up) + strings.ReplaceAll(rest, ".", "/") + ".star"
}

// imported gives the operands of load for the names in tokens [a, b); nil when
// they are not listed one by one.
func (f *file) imported(a, b int) []string {
	open := -1
	if a < b && f.toks[a].is("(") && f.toks[a].match > a {
		open, a, b = a, a+1, f.toks[a].match
	}
	var plain, renamed []string
	for _, it := range f.commas(a, b, open) {
		name := &f.toks[it[0]]
		switch {
		case name.kind != kName:
			return nil
		case it[1]-it[0] == 3 && f.toks[it[0]+1].is("as"):
			renamed = append(renamed, f.toks[it[0]+2].text+` = "`+name.text+`"`)
		case it[1]-it[0] == 1:
			plain = append(plain, `"`+name.text+`"`)
		default:
			return nil
		}
	}
	return append(plain, renamed...)
}
