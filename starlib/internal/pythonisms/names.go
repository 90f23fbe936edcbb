package pythonisms

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

//go:embed foreign.txt
var foreignTable string

// The names of other languages: their spellings of Starlark's three constants and of operators and types, and
// builtins of Python that Starlark and agentscript lack.
var (
	foreign   = text.Synonyms(foreignTable)
	constants = foreign["constant"]
	swaps     = foreign["operator"]
	aliases   = foreign["type"]
	builtins  = foreign["builtin"]
	modules   = modulesOf(foreign)
)

// modulesOf returns the tables of Python's modules, by their names.
func modulesOf(tables map[string]map[string]string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for kind, table := range tables {
		names, is := strings.CutPrefix(kind, "module ")
		for name := range strings.FieldsSeq(names) {
			if is {
				out[name] = table
			}
		}
	}
	return out
}

// constant returns the Starlark spelling of name i if it is a constant of another language, not bound in this file, and
// used as a value. Otherwise it returns "".
func (f *file) constant(i int) string {
	t := &f.toks[i]
	word := constants[t.text]
	if t.kind != kName || word == "" || f.bound[t.text] {
		return ""
	}
	if i > 0 && (f.toks[i-1].is(".") || f.toks[i-1].is("def")) || t.params {
		return ""
	}
	if i+1 < len(f.toks) && t.open >= 0 && f.toks[i+1].is("=") {
		return "" // a keyword argument
	}
	return word
}

// nameHabits finds the constants of other languages and `__name__`.
func (f *file) nameHabits() {
	f.moduleHabits()
	for i := range f.toks {
		if !f.more() {
			return
		}
		t := &f.toks[i]
		if word := f.constant(i); word != "" {
			f.replace(diag.PythonOnly, i, i+1, "Starlark spells `"+t.text+"` as `"+word+"`", word)
			f.soft()
		}
		if t.is("__name__") && !f.bound[t.text] && !f.before(i).is(".") {
			f.report(diag.PythonOnly, i, i+1, "a script has no `__name__`", "drop the test: what is run is `main`, a node or a function `def main(…)`, and loading a file never runs it")
			f.soft()
		}
	}
}

// Hint adds to the diagnostic of an undefined name what to write instead, if the name exists in Python and not in
// scripts. The name is at the start of the text that line returns. Hint reports whether anything is known about the
// name.
func Hint(d *diag.Diagnostic, name string, line func() string) bool {
	if modules[name] != nil && hintModule(d, name, line()) {
		return true
	}
	switch {
	case generic[name] && hintGeneric(d, name, line()):
	case constants[name] != "":
		d.Help = append(d.Help, write(constants[name]))
	case builtins[name] != "":
		d.Help = append(d.Help, builtins[name])
	case strings.HasSuffix(name, "Error"):
		d.Help = append(d.Help, builtins["ValueError"])
	default:
		return false
	}
	if word := shownCode(d.Help[0]); word != "" && strings.Trim(word, letters) == "" {
		d.Fixes = append(d.Fixes, diag.Fix{Message: "write " + word, Span: d.Span, Replacement: word})
	}
	return true
}

// generic are the types of Python that have type arguments.
var generic = map[string]bool{"Optional": true, "Union": true, "Literal": true, "List": true, "Dict": true, "Annotated": true}

// hintGeneric is Hint for a type with its arguments on the same line: `Optional[int]` is `int | None`.
func hintGeneric(d *diag.Diagnostic, name, rest string) bool {
	f := fragment(text.ClipBytes(rest, 4*longestHelp))
	if f.length() < 3 || !f.toks[1].is("[") || f.toks[1].match <= 1 {
		return false
	}
	end := f.toks[1].match + 1
	code := f.pyType(0, end)
	d.Help = append(d.Help, write(code))
	at := d.Span
	at.Len = f.toks[end-1].endCol - 1
	d.Fixes = append(d.Fixes, diag.Fix{Message: "replace by " + code, Span: at, Replacement: code})
	return true
}

// hintModule is Hint for the name of a Python module of which something is used.
func hintModule(d *diag.Diagnostic, name, rest string) bool {
	if !strings.HasPrefix(rest, name+".") {
		return false
	}
	f := fragment(text.ClipBytes(rest, 4*longestHelp))
	u := f.usedModule(0, name)
	d.Help = append(d.Help, u.help)
	if u.code != "" && f.toks[u.end-1].endLine == 1 {
		at := d.Span
		at.Len = f.toks[u.end-1].endCol - 1
		d.Fixes = append(d.Fixes, diag.Fix{Message: "replace by " + u.code, Span: at, Replacement: u.code})
	}
	return true
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

// shownCode returns the code at the start of a help text, or "".
func shownCode(help string) string {
	code, ok := strings.CutPrefix(help, "write `")
	if !ok {
		return ""
	}
	code, _, _ = strings.Cut(code, "`")
	return code
}

// A moduleUse is a use of a Python module, up to token end: what to write instead, and the code alone if it is known
// for these arguments.
type moduleUse struct {
	module, help, code string
	end                int
}

// usedModule reads the use of a module that begins at token i, a name that refers to path: `re` in `re.sub(a, b, s)`.
func (f *file) usedModule(i int, path string) moduleUse {
	end := i + 1
	for end+1 < len(f.toks) && f.toks[end].is(".") && f.toks[end+1].kind == kName {
		path += "." + f.toks[end+1].text
		end += 2
	}
	module, name, _ := strings.Cut(path, ".")
	known := modules[module]
	if known == nil {
		return moduleUse{}
	}
	name = strings.TrimPrefix(name, module+".") // datetime.datetime.now
	var args []string
	if end < len(f.toks) && f.toks[end].match > end && (f.toks[end].is("(") || f.toks[end].is("[")) {
		for _, it := range f.items(end) {
			args = append(args, strings.TrimSpace(f.text(it[0], it[1])))
		}
		if f.toks[end].is("[") {
			name += "[]"
		}
		end = f.toks[end].match + 1
	}
	u := moduleUse{module: module, help: known["*"], end: end}
	meant := known[name]
	if len(args) > 0 {
		meant = strings.ReplaceAll(meant, "$*", strings.Join(args, ", "))
	}
	for n, arg := range args {
		if strings.Contains(arg, "\n") {
			return u
		}
		meant = strings.ReplaceAll(meant, "$"+strconv.Itoa(n+1), arg)
	}
	if meant != "" && !strings.Contains(meant, "$") {
		u.help, u.code = meant, shownCode(meant)
	}
	return u
}

// importing reports `import a.b as c` and `from a.b import c as d`.
func (f *file) importing(i int) {
	a, b := f.restOf(i)
	f.use(i, b)
	path, at := f.modulePath(a, b)
	module, _, _ := strings.Cut(path, ".")
	from := f.toks[i].is("from") && at < b && f.toks[at].is("import")
	help := write(`load("file.star", "name")`)
	switch {
	case needless[strings.TrimLeft(path, ".")]:
		help = "drop the line: types are builtins here (str, int, list[str], `T | None`, schema, enum)"
	case modules[module] != nil:
		f.importingModules(i, a, b)
		return
	case from:
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

// mostUses bounds the uses of a module that its import explains.
const mostUses = 3

// importingModules reports the import of Python modules in tokens [i, b), with what to write for each use of them. The
// uses are not reported separately.
func (f *file) importingModules(i, a, b int) {
	locals := map[string]string{} // what the names that the statement binds refer to
	if path, at := f.modulePath(a, b); f.toks[i].is("from") && at < b {
		for _, it := range f.commas(at+1, b, -1) {
			name := f.toks[it[1]-1]
			if name.is(")") && it[1]-it[0] > 1 {
				name = f.toks[it[1]-2]
			}
			locals[name.text] = path + "." + f.toks[it[0]].text
		}
	} else {
		for _, it := range f.commas(a, b, -1) {
			path, at := f.modulePath(it[0], it[1])
			module, _, _ := strings.Cut(path, ".")
			locals[module] = module
			if at+1 < it[1] && f.toks[at].is("as") {
				delete(locals, module)
				locals[f.toks[at+1].text] = path
			}
		}
	}
	d := f.report(diag.ImportStatement, i, i+1, "Starlark has no `import`")
	if last := &f.toks[b-1]; last.endLine == f.toks[i].line {
		at := f.span(i, b)
		d.Fixes = append(d.Fixes, diag.Fix{Message: "drop the line", Span: at})
	}
	f.modules = append(f.modules, importedModules{locals, d})
}

// importedModules holds the names that an import of Python modules binds, and its diagnostic.
type importedModules struct {
	names map[string]string
	d     *diag.Diagnostic
}

// moduleHabits adds to the imports of modules what to write for their uses.
func (f *file) moduleHabits() {
	if f.modules == nil {
		return
	}
	bound := map[string]*importedModules{}
	for k := range f.modules {
		for name := range f.modules[k].names {
			bound[name] = &f.modules[k]
		}
	}
	for i := range f.toks {
		t := &f.toks[i]
		m := bound[t.text]
		if m == nil || t.kind != kName || len(m.d.Fixes) >= mostFindings || f.bound[t.text] || f.before(i).is(".") || f.toks[f.stmts[t.stmt].first].is("import") || f.toks[f.stmts[t.stmt].first].is("from") {
			continue
		}
		u := f.usedModule(i, m.names[t.text])
		if u.code == "" || f.toks[u.end-1].endLine != t.line {
			continue
		}
		if written := write(u.code); len(m.d.Help) < mostUses && !slices.Contains(m.d.Help, written) {
			m.d.Help = append(m.d.Help, written)
		}
		f.fix(m.d, i, u.end, u.code)
	}
	for _, m := range f.modules {
		var about []string
		for _, name := range slices.Sorted(maps.Keys(m.names)) {
			module, _, _ := strings.Cut(m.names[name], ".")
			if help := modules[module]["*"]; !slices.Contains(about, help) {
				about = append(about, help)
			}
		}
		m.d.Help = append([]string{"drop the line: " + strings.Join(about, "; ")}, m.d.Help...)
	}
}

// needless are the modules that only declare types.
var needless = words("typing typing_extensions __future__ dataclasses pydantic enum abc collections.abc")

// modulePath reads a dotted name, with leading dots, starting at token a.
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

// starFile returns the file that a dotted module name refers to: a.b is a/b.star, and every leading dot after the first
// goes up one directory.
func starFile(path string) string {
	rest := strings.TrimLeft(path, ".")
	up := max(0, len(path)-len(rest)-1)
	if rest == "" {
		rest = "file"
	}
	return strings.Repeat("../", up) + strings.ReplaceAll(rest, ".", "/") + ".star"
}

// imported returns the operands of load for the names in tokens [a, b), or nil if they are not listed individually.
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
