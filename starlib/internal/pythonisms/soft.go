package pythonisms

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// softStatements finds statements of other languages whose first word is an ordinary name in Starlark. The tokens after
// it identify them.
func (f *file) softStatements() {
	for s := range f.stmts {
		if !f.more() {
			return
		}
		i, last := f.stmts[s].first, f.stmts[s].last
		first, next := &f.toks[i], f.after(i)
		switch {
		case first.is("assert"):
			f.assert(i, last)
		case first.is("@"):
			f.decorator(s)
		case first.is("//") || first.is("/*"):
			f.report(diag.PythonOnly, i, i+1, "a comment begins with `#`", write("# "+strings.TrimSpace(strings.TrimPrefix(f.lineFrom(first.off), first.text))))
			f.toksUsed(i, last)
		case first.is("else"):
			f.elseHabits(s)
		case first.is("elseif"), first.is("elsif"):
			if starts(next) && f.toks[last-1].is(":") {
				f.replace(diag.PythonOnly, i, i+1, "Starlark has no `"+first.text+"`", "elif")
			}
		case first.is("print"), first.is("exec"):
			if starts(next) && !next.opens() && !f.notIn(i+1) {
				help := write(first.text + "(" + f.text(i+1, last) + ")")
				f.report(diag.PythonOnly, i, i+1, "`"+first.text+"` is a function", help)
			}
		case first.is("type"), first.is("let"), first.is("var"), first.is("const"):
			if next.kind == kName && !keywords[next.text] && f.after(i+1).is("=") {
				d := f.report(diag.PythonOnly, i, i+1, "Starlark has no `"+first.text+"`: a plain assignment is enough", write(f.withArrows(i+1, last)))
				f.fix(d, i, i+2, next.text)
			}
		case first.is("function"), first.is("func"), first.is("fun"):
			if open := i + 2; next.kind == kName && open < last && f.toks[open].is("(") && f.toks[open].match > open {
				f.report(diag.PythonOnly, i, i+1, "Starlark has no `"+first.text+"`", write("def "+f.text(i+1, f.toks[open].match+1)+":"))
				f.toksUsed(i, last)
			}
		case first.is("match"):
			f.match(s)
		}
		f.starTargets(s)
		f.assignments(s)
	}
}

// assignments reports a statement that assigns twice, and one that assigns the result of load.
func (f *file) assignments(s int) {
	st := f.stmts[s]
	if f.toks[st.first].is("def") || f.toks[st.first].is("type") {
		return
	}
	end := min(st.last, st.first+farthest)
	eq := f.assign(st.first, end, -1)
	if eq >= end-1 {
		return
	}
	if load := eq + 1; f.toks[load].is("load") && f.after(load).is("(") && f.toks[load+1].match == st.last-1 {
		args := f.items(load + 1)
		name, help := f.text(st.first, eq), "list the names to load: `load(\"file.star\", \"name\")`"
		switch {
		case len(args) == 2 && f.toks[args[1][0]].kind == kString:
			help = write("load(" + f.text(args[0][0], args[0][1]) + ", " + name + " = " + f.text(args[1][0], args[1][1]) + ")")
		case len(args) == 1:
			help = write("load("+f.text(args[0][0], args[0][1])+`, "name")`) + ", with every name that is used"
		}
		d := f.report(diag.SyntaxError, load, load+1, "load is a separate statement", help)
		if len(args) == 2 {
			f.fix(d, st.first, st.last, shownCode(help))
		}
		return
	}
	next := f.assign(eq+1, end, -1)
	if next >= end {
		return
	}
	targets := []string{f.text(st.first, eq)}
	for ; next < end; next = f.assign(eq+1, end, -1) {
		if next == eq+1 || next+1 >= st.last || !ends(&f.toks[next-1]) || f.toks[next].lambda || f.toks[next].params {
			return
		}
		targets = append(targets, f.text(eq+1, next))
		eq = next
	}
	last := len(targets) - 1
	lines := []string{targets[last] + " = " + f.text(eq+1, st.last)}
	for k := range last {
		lines = append(lines, targets[k]+" = "+targets[last])
	}
	second := f.assign(f.assign(st.first, end, -1)+1, end, -1)
	f.report(diag.PythonOnly, second, second+1, "Starlark assigns to one target per statement", write(strings.Join(lines, "\n")))
}

func (f *file) toksUsed(a, b int) {
	for i := a; i < b; i++ {
		f.used[i] = true
	}
}

// assert reports `assert x` and `assert (x), y`; assert(x) is a call.
func (f *file) assert(i, last int) {
	next := f.after(i)
	parts := f.commas(i+1, last, -1)
	switch {
	case next.is("["), !starts(next), f.notIn(i + 1):
		return // an index, an operator, or nothing: an ordinary name
	case next.is("("):
		// Only what follows the brackets distinguishes it from a call.
		if f.bound["assert"] || next.match < 0 || next.match == last-1 {
			return
		}
		if p := binding(&f.toks[next.match+1]); p == 0 && len(parts) < 2 {
			return
		}
		defer f.soft()
	}
	cond := f.unchained(parts[0][0], parts[0][1])
	message := `"not true: ` + strings.ReplaceAll(cond, `"`, "'") + `"`
	if len(parts) > 1 {
		message = strings.TrimSpace(f.text(parts[1][0], parts[1][1]))
	}
	positive, negated := strings.CutPrefix(cond, "not ")
	switch {
	case f.loose(parts[0][0], parts[0][1]), strings.Contains(cond, " and "):
		cond = "not (" + cond + ")"
	case negated:
		cond = positive
	default:
		cond = "not " + cond
	}
	f.report(diag.PythonOnly, i, i+1, "Starlark has no `assert`", write("if "+cond+":\n    fail("+message+")"))
}

// notIn reports whether token i is the `not` of `not in`.
func (f *file) notIn(i int) bool {
	return f.toks[i].is("not") && f.after(i).is("in")
}

// loose reports whether `not` before tokens [a, b) would apply to less than all of them.
func (f *file) loose(a, b int) bool {
	for i := a; i < b; i++ {
		t := &f.toks[i]
		if t.open == f.toks[a].open && (t.is("and") || t.is("or") || t.is("if") || t.is("&&") || t.is("||") || t.is("lambda") || t.is("=>")) {
			return true
		}
	}
	return false
}

// decorator reports `@d` before a function or class.
func (f *file) decorator(s int) {
	i, last := f.stmts[s].first, f.stmts[s].last
	what := "f"
	target := s + 1
	for target < min(len(f.stmts), s+farthest/10) && f.toks[f.stmts[target].first].is("@") {
		target++
	}
	if target < len(f.stmts) {
		first := f.stmts[target].first
		if f.toks[first].is("async") {
			first++
		}
		if f.toks[first].is("class") {
			return // the class statement is explained as a whole
		}
		if n := f.after(first); f.toks[first].is("def") && n.kind == kName {
			what = n.text
		}
	}
	name := f.text(i+1, last)
	help := "call it after the function\n    " + what + "_ = " + name + "(" + what + ")"
	switch {
	case strings.HasPrefix(name, "tool") || strings.HasSuffix(name, ".tool") || strings.HasSuffix(name, "_tool"):
		help = "pass the function to the agent: `tools = [" + what + "]`, or `tools = [tool(" + what + ", {…})]` with the types of its parameters"
	case strings.HasPrefix(name, "dataclass"), strings.HasPrefix(name, "attr"):
		help = "drop it: a schema holds data, `Item = schema(name = str, count = int)`, and a function needs no mark"
	case name == "staticmethod", name == "classmethod", name == "property", name == "abstractmethod", name == "override":
		help = "drop it: there are no classes, only functions"
	}
	f.report(diag.PythonOnly, i, last, "Starlark has no decorators", help)
}

// elseHabits reports `else if`, and `else` after a loop.
func (f *file) elseHabits(s int) {
	i := f.stmts[s].first
	if f.after(i).is("if") {
		d := f.report(diag.PythonOnly, i, i+2, "Starlark has no `else if`", write("elif"+strings.TrimPrefix(f.text(i+1, f.stmts[s].last), "if")))
		f.fix(d, i, i+2, "elif")
		return
	}
	if !f.stmts[s].header {
		return
	}
	for p := s - 1; p >= 0; p-- {
		if f.stmts[p].indent > f.stmts[s].indent {
			continue
		}
		first := &f.toks[f.stmts[p].first]
		if f.stmts[p].indent == f.stmts[s].indent && (first.is("for") || first.is("while")) {
			f.report(diag.PythonOnly, i, i+1, "a loop has no `else`", "set a name before `break`, and test it after the loop")
		}
		return
	}
}

// match reports the statement `match x:`; match(x, {...}) is a builtin.
func (f *file) match(s int) {
	i, last := f.stmts[s].first, f.stmts[s].last
	if last-i < 3 || !f.toks[last-1].is(":") || f.toks[last-1].lambda {
		return
	}
	if !starts(f.after(i)) || f.toks[last-1].open != -1 {
		return
	}
	subject := strings.Trim(f.text(i+1, last-1), " ()")
	f.report(diag.PythonOnly, i, i+1, "Starlark has no `match` statement",
		"for the types of a union write `match("+subject+", {A: lambda a: …, B: lambda b: …})`",
		"for values use `if` and `elif`, or a dict")
}

// starTargets reports a star before a target of an assignment and before an element of a list or tuple. Before an
// argument it is valid Starlark.
func (f *file) starTargets(s int) {
	st := f.stmts[s]
	for i := st.first; i < st.last && f.more(); i++ {
		t := &f.toks[i]
		if !t.is("*") || t.params || f.used[i] || ends(f.before(i)) || !starts(f.after(i)) {
			continue
		}
		prev := f.before(i)
		if prev.is("lambda") || t.open >= 0 && f.callOrDef(t.open) {
			continue
		}
		if prev != &nothing && !prev.is(",") && !prev.opens() && !prev.is("=") && !prev.is("return") && !prev.is("for") && !prev.is("in") {
			continue
		}
		help, message := f.unstar(s, i)
		f.report(diag.PythonOnly, i, i+1, message, help)
	}
}

// callOrDef reports whether bracket open holds arguments or parameters.
func (f *file) callOrDef(open int) bool {
	return f.toks[open].is("(") && open > 0 && ends(f.before(open))
}

// unstar returns what to write for the star at token i of statement s.
func (f *file) unstar(s, i int) (help, message string) {
	st := f.stmts[s]
	open := f.toks[i].open
	if !f.targets(st, i) {
		message = "Starlark spreads a list only in a call"
		if open >= 0 && f.toks[open].match > i {
			sum := f.sum(f.items(open))
			switch f.toks[open].text {
			case "{":
				sum = "set(" + sum + ")"
			case "(":
				sum = "tuple(" + sum + ")"
			}
			return write(sum), message
		}
		if open == -1 {
			from := i
			for i-from < longest && !f.before(from).is("in") && (from > st.first && !breaks(&f.toks[from-1]) || f.before(from).is(",")) {
				from--
			}
			to := st.last
			if st.header && f.toks[to-1].is(":") {
				to--
			}
			if to-from > longest {
				return "write `list(a) + list(b)`", message
			}
			return write("tuple(" + f.sum(f.commas(from, to, -1)) + ")"), message
		}
		return "write `list(a) + list(b)`", message
	}
	message = "Starlark has no star in an assignment"
	end := min(st.last, i+farthest)
	eq := f.assign(i, end, -1)
	if eq >= end || open != -1 || eq-st.first > longest {
		return "index and slice: `first, rest = xs[0], xs[1:]`", message
	}
	value := f.text(eq+1, st.last)
	lead := ""
	if eq+2 < st.last {
		lead, value = "items = "+value+"\n", "items"
	}
	items := f.commas(st.first, eq, -1)
	var names, values []string
	star := len(items)
	for n, it := range items {
		index, first := strconv.Itoa(n), it[0]
		switch {
		case f.toks[first].is("*"):
			star = n
			f.used[first] = true
			first++
			index += ":"
			if n < len(items)-1 {
				index += strconv.Itoa(n - len(items) + 1)
			}
		case n > star:
			index = strconv.Itoa(n - len(items))
		}
		names, values = append(names, f.text(first, it[1])), append(values, value+"["+index+"]")
	}
	return write(lead + strings.Join(names, ", ") + " = " + strings.Join(values, ", ")), message
}

// sum returns the elements of a display as a sum of lists.
func (f *file) sum(items [][2]int) string {
	terms, _ := f.terms(items, "*", "[", "]", "list")
	return strings.Join(terms, " + ")
}

// targets reports whether token i is left of the statement's `=`, or is a loop variable.
func (f *file) targets(st stmt, i int) bool {
	end := min(st.last, i+farthest)
	if !f.toks[st.first].is("for") {
		return f.assign(i, end, -1) < end
	}
	for k := i; k < end; k++ {
		if f.toks[k].is("in") && f.toks[k].open == -1 {
			return true
		}
	}
	return false
}
