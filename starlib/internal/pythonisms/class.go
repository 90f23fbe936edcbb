package pythonisms

import (
	"cmp"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// class reports a class statement and shows the schema or enum that declares
// the same data.
func (f *file) class(i int) {
	s := f.toks[i].stmt
	from, to := f.block(s)
	name := "T"
	if n := f.after(i); n.kind == kName {
		name = n.text
	}
	base := ""
	if i+3 < f.stmts[s].last && f.toks[i+2].is("(") && f.toks[i+2].match > i+3 {
		base = f.text(i+3, f.toks[i+2].match)
	}
	c := &classBody{f: f, indent: -1}
	for k := from; k < to; k++ {
		c.add(k)
	}
	var code string
	switch {
	case strings.Contains(base, "Enum"):
		code = name + " = enum(" + strings.Join(c.members, ", ") + ")"
	case len(c.fields) == 0:
		code = name + ` = schema("…", field = str)`
	default:
		doc := c.doc
		if doc != "" {
			doc += ", "
		}
		code = name + " = schema(" + doc + strings.Join(c.fields, ", ") + ")"
		if len(code) > 90 || len(c.fields) > 3 {
			if doc != "" {
				doc = "    " + c.doc + ",\n"
			}
			code = name + " = schema(\n" + doc + "    " + strings.Join(c.fields, ",\n    ") + ",\n)"
		}
	}
	help := []string{write(code)}
	if c.methods {
		help = append(help, "methods become functions that take the value")
	}
	f.report(diag.ClassStatement, i, i+1, "Starlark has no classes", help...)
	for s > 0 && f.toks[f.stmts[s-1].first].is("@") {
		s--
	}
	if f.toks[f.stmts[s].first].is("@") {
		d := f.findings[len(f.findings)-1].d
		d.Help = append(d.Help, "leave its decorators out: Starlark has none")
	}
	f.findings[len(f.findings)-1].since = f.stmts[s].first
}

// A classBody collects what the statements of a class declare.
type classBody struct {
	f       *file
	indent  int // indent of the class's own statements; deeper ones belong to methods
	doc     string
	fields  []string // arguments of schema
	members []string // enum values
	methods bool
}

func (c *classBody) add(s int) {
	f := c.f
	st := f.stmts[s]
	if c.indent < 0 {
		c.indent = st.indent
	}
	if st.indent != c.indent {
		return
	}
	first := &f.toks[st.first]
	switch {
	case first.is("def"), first.is("async"), first.is("@"):
		c.methods = true
	case first.kind == kString && st.last == st.first+1:
		c.doc = rewriteString(first.text)
	case first.kind == kName && st.first+2 < st.last && f.toks[st.first+1].is(":"):
		f.used[st.first+1] = true
		c.annotated(st)
	case first.kind == kName && st.first+2 < st.last && f.toks[st.first+1].is("="):
		value := f.text(st.first+2, st.last)
		c.members = append(c.members, value)
		c.fields = append(c.fields, first.text+" = field("+f.typeOf(st.first+2, st.last)+", default = "+value+")")
	}
}

// annotated adds `name: type = default`.
func (c *classBody) annotated(st stmt) {
	f := c.f
	name := f.toks[st.first].text
	eq := f.assign(st.first+2, st.last, -1)
	typ := f.pyType(st.first+2, eq)
	if eq+1 >= st.last {
		c.fields = append(c.fields, name+" = "+typ)
		return
	}
	args := []string{typ}
	if open := eq + 2; f.toks[eq+1].kind == kName && open < st.last && f.toks[open].is("(") && f.toks[open].match == st.last-1 && strings.EqualFold(f.toks[eq+1].text, "field") {
		// A field of pydantic or dataclasses: its options are similar to ours.
		args = append(args, f.fieldOptions(open)...)
	} else {
		args = append(args, "default = "+f.text(eq+1, st.last))
	}
	if len(args) == 2 && strings.HasSuffix(typ, "| None") && args[1] == "default = None" {
		args = args[:1] // an optional type implies it
	}
	if len(args) > 1 {
		typ = "field(" + strings.Join(args, ", ") + ")"
	}
	c.fields = append(c.fields, name+" = "+typ)
}

// plainTypes are the types that need no reference.
var plainTypes = words("str int float bool list dict any None")

// made maps the factories whose result has a literal to that literal.
var made = map[string]string{"list": "[]", "dict": "{}"}

// fieldOptions returns the arguments of pydantic's Field under our names.
func (f *file) fieldOptions(open int) []string {
	var guide, out []string
	for n, it := range f.items(open) {
		a, b := it[0], it[1]
		if b-a < 3 || !f.toks[a+1].is("=") {
			switch {
			case f.toks[a].is("..."):
				f.used[a] = true
			case n == 0:
				out = append(out, "default = "+f.text(a, b))
			}
			continue
		}
		value := f.text(a+2, b)
		switch name := f.toks[a].text; name {
		case "description":
			guide = []string{value}
		case "default", "ge", "le", "gt", "lt":
			out = append(out, name+" = "+value)
		case "default_factory":
			body, inline := strings.CutPrefix(value, "lambda: ")
			if !inline {
				body = cmp.Or(made[value], value+"()")
			}
			out = append(out, "default = "+body)
		}
	}
	return append(guide, out...)
}

// pyType returns the type written in tokens [a, b) in our syntax: Optional[int] becomes int | None, and so on. It
// leaves unknown parts unchanged.
func (f *file) pyType(a, b int) string {
	if parts := f.between("|", a, b, f.toks[a].open); len(parts) > 1 {
		var out []string
		for _, p := range parts {
			out = append(out, f.pyType(p[0], p[1]))
		}
		return strings.Join(out, " | ")
	}
	if a >= b {
		return "any"
	}
	if b-a == 1 {
		t := &f.toks[a]
		switch {
		case t.kind == kString:
			body := literalOf(t.text).body
			if identifier(body) && !plainTypes[body] && aliases[body] == "" {
				return `ref("` + body + `")`
			}
			g := fragment(body)
			return g.pyType(0, g.length())
		case aliases[t.text] != "":
			return aliases[t.text]
		}
		return t.text
	}
	// module.Name becomes Name.
	if b-a > 2 && (f.toks[a].is("typing") || f.toks[a].is("t")) && f.toks[a+1].is(".") {
		return f.pyType(a+2, b)
	}
	if b-a < 3 || f.toks[a].kind != kName || !f.toks[a+1].is("[") || f.toks[a+1].match != b-1 {
		return f.text(a, b)
	}
	var args []string
	for _, it := range f.items(a + 1) {
		args = append(args, f.pyType(it[0], it[1]))
	}
	switch name := f.toks[a].text; {
	case len(args) == 0:
		return name
	case name == "Optional":
		return args[0] + " | None"
	case name == "Union":
		return strings.Join(args, " | ")
	case name == "Literal":
		var members []string
		for _, it := range f.items(a + 1) {
			members = append(members, f.text(it[0], it[1]))
		}
		return "enum(" + strings.Join(members, ", ") + ")"
	case name == "Callable":
		return "any"
	case name == "Annotated":
		return args[0]
	case name == "Set", name == "set", name == "Tuple", name == "tuple", name == "frozenset":
		return "list[" + args[0] + "]"
	case aliases[name] != "":
		return aliases[name] + "[" + strings.Join(args, ", ") + "]"
	default:
		return name + "[" + strings.Join(args, ", ") + "]"
	}
}

// typeOf guesses the type of a default from its literal.
func (f *file) typeOf(a, b int) string {
	t := &f.toks[a]
	switch {
	case t.kind == kString:
		return "str"
	case t.is("True"), t.is("False"):
		return "bool"
	case t.is("["):
		return "list"
	case t.is("{"):
		return "dict"
	}
	if t.is("-") && b-a > 1 {
		t = &f.toks[a+1]
	}
	switch {
	case t.kind != kNumber:
		return "any"
	case strings.ContainsAny(t.text, ".eE") && !strings.HasPrefix(t.text, "0x"):
		return "float"
	}
	return "int"
}
