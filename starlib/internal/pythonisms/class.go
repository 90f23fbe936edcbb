package pythonisms

import (
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
	f.findings[len(f.findings)-1].since = f.stmts[s].first
}

// A classBody collects what the statements of a class declare.
type classBody struct {
	f       *file
	indent  int // of the class's own statements; deeper ones belong to methods
	doc     string
	fields  []string // arguments of schema
	members []string // values of an enum
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
	eq := st.first + 2
	for eq < st.last && !(f.toks[eq].is("=") && f.toks[eq].open == -1) {
		eq++
	}
	typ := f.pyType(st.first+2, eq)
	if eq+1 >= st.last {
		c.fields = append(c.fields, name+" = "+typ)
		return
	}
	args := []string{typ}
	if open := eq + 2; f.toks[eq+1].kind == kName && open < st.last && f.toks[open].is("(") && f.toks[open].match == st.last-1 && strings.EqualFold(f.toks[eq+1].text, "field") {
		// A field of pydantic or dataclasses: its options are near to ours.
		args = append(args, f.fieldOptions(open)...)
	} else {
		args = append(args, "default = "+f.text(eq+1, st.last))
	}
	if len(args) == 2 && strings.HasSuffix(typ, "| None") && args[1] == "default = None" {
		args = args[:1] // an optional type says so already
	}
	if len(args) == 1 {
		c.fields = append(c.fields, name+" = "+typ)
		return
	}
	c.fields = append(c.fields, name+" = field("+strings.Join(args, ", ")+")")
}

// fieldOptions gives the arguments of pydantic's Field under our names.
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
			out = append(out, "default = "+made(value))
		}
	}
	return append(guide, out...)
}

// made is what a factory gives.
func made(factory string) string {
	switch factory {
	case "list":
		return "[]"
	case "dict":
		return "{}"
	}
	return factory + "()"
}
