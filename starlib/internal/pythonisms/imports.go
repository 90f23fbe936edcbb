package pythonisms

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
)

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
