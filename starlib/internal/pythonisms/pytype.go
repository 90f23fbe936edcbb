package pythonisms

import "strings"

// pyType gives the type written in tokens [a, b) as ours: Optional[int] is
// int | None, and so on. What it does not know it leaves as it is.
func (f *file) pyType(a, b int) string {
	if parts := f.bars(a, b); len(parts) > 1 {
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
			if identifier(body) {
				return `ref("` + body + `")`
			}
			g := fragment(body)
			return g.pyType(0, g.length())
		case aliases[t.text] != "":
			return aliases[t.text]
		}
		return t.text
	}
	// module.Name is Name.
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

// bars splits tokens [a, b) at the | that stand in no bracket of their own.
func (f *file) bars(a, b int) [][2]int {
	var out [][2]int
	start := a
	for i := a; i < b; i++ {
		if t := &f.toks[i]; t.is("|") && t.open == f.toks[a].open {
			if i == start {
				return nil
			}
			out = append(out, [2]int{start, i})
			start = i + 1
		}
	}
	if start == b {
		return nil
	}
	return append(out, [2]int{start, b})
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
