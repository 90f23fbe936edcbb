package pythonisms

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// annotations finds type annotations of functions, variables and lambdas.
func (f *file) annotations() {
	for s := range f.stmts {
		if !f.more() {
			return
		}
		first := f.stmts[s].first
		if f.toks[first].is("async") {
			first++
		}
		if first < f.stmts[s].last && f.toks[first].is("def") {
			f.signature(first)
			continue
		}
		f.variable(s)
	}
	for i := range f.toks {
		if !f.more() {
			return
		}
		switch t := &f.toks[i]; {
		case t.is("lambda"):
			f.lambdaAnnotation(i)
		case t.is(":") && !t.lambda && !f.used[i]:
			f.argument(i)
		}
	}
}

// declares are the words that precede the name of a declared function in Starlark and other languages.
var declares = words("def function func fun fn")

// argument reports the colon i of `f(name: str, count: int = 3)`.
func (f *file) argument(i int) {
	open := f.toks[i].open
	if open < 1 || !f.callOrDef(open) || open > 1 && declares[f.toks[open-2].text] {
		return
	}
	name, before := f.before(i), f.before(i-1)
	if name.kind != kName || keywords[name.text] || !before.is("(") && !before.is(",") {
		return
	}
	b, ok := f.right(i+1, 0)
	if !ok {
		return
	}
	value, end := f.text(i+1, b), b
	if f.toks[b].is("=") {
		if end, ok = f.right(b+1, 0); !ok {
			return
		}
		value = f.text(b+1, end)
	}
	if f.toks[open-1].is("schema") {
		value = f.pyType(i+1, b)
		if end > b {
			value = "field(" + value + ", default = " + f.text(b+1, end) + ")"
		}
	}
	f.replace(diag.TypeAnnotation, i-1, end, "an argument is passed with `=`, not `:`", name.text+" = "+value)
}

// A param is one parameter of a def: its position, and its annotation and default, which are empty if it has none.
type param struct {
	name           string // with its stars
	at             int
	typA, typB     int
	valueA, valueB int
}

// params reads the parameters between bracket open and its partner.
func (f *file) params(open int) []param {
	var out []param
	for _, it := range f.items(open) {
		p := param{at: it[0]}
		i := it[0]
		for i < it[1] && (f.toks[i].is("*") || f.toks[i].is("**") || f.toks[i].is("/")) {
			p.name += f.toks[i].text
			i++
		}
		if i < it[1] && f.toks[i].kind == kName {
			p.name += f.toks[i].text
			i++
		}
		eq := f.assign(i, it[1], open)
		if i < eq && f.toks[i].is(":") {
			p.typA, p.typB = i+1, eq
		}
		if eq < it[1] {
			p.valueA, p.valueB = eq+1, it[1]
		}
		out = append(out, p)
	}
	return out
}

// signature reports the annotations of the def at token i, at the first of them.
func (f *file) signature(i int) {
	open := i + 2
	last := f.stmts[f.toks[i].stmt].last
	if open >= last || !f.toks[open].is("(") || f.toks[open].match < 0 || f.toks[open].match >= last {
		return
	}
	params := f.params(open)
	var plain, table, declared []string
	from, to := 0, 0
	for _, p := range params {
		if p.name == "/" {
			f.report(diag.PythonOnly, p.at, p.at+1, "Starlark has no positional-only parameters", "drop the `/`")
			continue
		}
		value := ""
		if p.valueB > p.valueA {
			value = " = " + f.text(p.valueA, p.valueB)
		}
		plain = append(plain, p.name+value)
		if p.typB <= p.typA {
			if p.typA > 0 && from == 0 {
				from, to = p.typA-1, p.typA // a colon without a type
			}
			declared = append(declared, p.name+value)
			continue
		}
		if from == 0 {
			from, to = p.typA-1, p.typB
		}
		typ := f.pyType(p.typA, p.typB)
		if strings.HasPrefix(p.name, "*") {
			declared = append(declared, p.name)
			continue
		}
		table = append(table, `"`+p.name+`": `+typ)
		if value != "" {
			typ = "field(" + typ + ", default" + value + ")"
		}
		declared = append(declared, p.name+" = "+typ)
	}
	returns := ""
	if arrow := f.toks[open].match + 1; arrow < last && f.toks[arrow].is("->") {
		end := last
		if f.toks[last-1].is(":") {
			end--
		}
		if end > arrow+1 && !(end == arrow+2 && f.toks[arrow+1].is("None")) {
			returns = ", returns = " + f.pyType(arrow+1, end)
		}
		if from == 0 {
			from, to = arrow, end
		}
	}
	if from == 0 {
		return
	}
	name := f.toks[i+1].text
	help := []string{write("def " + name + "(" + strings.Join(plain, ", ") + "):")}
	if name == "main" {
		help = []string{write("def main(" + strings.Join(declared, ", ") + "):")}
	} else if table != nil {
		help = append(help,
			"for a tool, declare the types there: `tool("+name+", {"+strings.Join(table, ", ")+"}"+returns+")`",
			"or let a default that is a type declare the parameter: `def "+name+"("+strings.Join(declared, ", ")+"):`")
	} else if returns != "" {
		help = append(help, "for a tool, declare the type there: `tool("+name+returns+")`")
	}
	f.report(diag.TypeAnnotation, from, to, "Starlark has no type annotations", help...)
}

// variable reports `x: int = 1` and `self.x: int`.
func (f *file) variable(s int) {
	st := f.stmts[s]
	first := &f.toks[st.first]
	if first.kind != kName || keywords[first.text] || st.header {
		return
	}
	colon := st.first + 1
	for colon+1 < st.last && f.toks[colon].is(".") {
		colon += 2
	}
	if colon >= st.last-1 || !f.toks[colon].is(":") || f.used[colon] {
		return
	}
	eq := f.assign(colon, st.last, -1)
	help := "drop the line: a name begins with its first value"
	if eq < st.last {
		help = write(f.text(st.first, colon) + " = " + f.text(eq+1, st.last))
	}
	d := f.report(diag.TypeAnnotation, colon, eq, "Starlark has no type annotations", help)
	if eq < st.last {
		f.fix(d, st.first, eq+1, f.text(st.first, colon)+" =")
	}
}

// lambdaAnnotation reports `lambda x: int: x`. A lambda's second colon may belong to a dict, a slice or a header, so it
// is reported only where none of these is possible.
func (f *file) lambdaAnnotation(i int) {
	open := f.toks[i].open
	st := f.stmts[f.toks[i].stmt]
	if open >= 0 && !f.toks[open].is("(") || open < 0 && st.header || f.before(i).is(":") && f.before(i).lambda {
		return
	}
	var names []string
	first := i + 2
	for k := i + 1; ; {
		name, colon := &f.toks[k], k+1
		if name.kind != kName || keywords[name.text] || colon >= st.last || !f.toks[colon].is(":") {
			return
		}
		names = append(names, name.text)
		// The type ends with the colon of the body or with the next parameter.
		end, ok := f.right(colon+1, 0)
		switch {
		case !ok || end >= st.last:
			return
		case f.toks[end].is(","):
			k = end + 1
		case f.toks[end].is(":"):
			help := "drop the annotation"
			if b, ok := f.right(end+1, 0); ok {
				help = write("lambda " + strings.Join(names, ", ") + ": " + f.text(end+1, b))
			}
			f.report(diag.TypeAnnotation, first, end, "Starlark has no type annotations", help)
			return
		default:
			return
		}
	}
}
