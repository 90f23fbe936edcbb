package pythonisms

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// operatorHabits finds operators that Starlark lacks or restricts.
func (f *file) operatorHabits() {
	for i := range f.toks {
		if !f.more() {
			return
		}
		t := &f.toks[i]
		if f.used[i] {
			continue
		}
		switch {
		case t.kind == kNumber:
			f.grouped(i)
		case t.is("is"):
			f.identity(i)
		case t.is("**"):
			f.power(i)
		case t.is("**="):
			f.powerAssign(i)
		case t.is("for") && t.open >= 0 && f.toks[t.open].is("("):
			f.generator(i)
		case t.is("{"):
			f.braces(i)
		case t.is("..."):
			word := "None"
			if f.before(i) == &nothing {
				word = "pass"
			}
			f.replace(diag.PythonOnly, i, i+1, "Starlark has no `...`", word)
		case t.is(":="):
			f.walrus(i)
		case t.kind == kOp:
			f.foreignOperator(i)
		}
	}
}

// grouped reports digits grouped with underscores, and imaginary numbers.
func (f *file) grouped(i int) {
	text := f.toks[i].text
	switch {
	case strings.Contains(text, "_"):
		f.replace(diag.PythonOnly, i, i+1, "Starlark's numbers have no underscores", strings.ReplaceAll(text, "_", ""))
	case strings.HasSuffix(strings.ToLower(text), "j"):
		f.report(diag.PythonOnly, i, i+1, "Starlark has no complex numbers", "keep the two parts as floats in a tuple or a schema")
	}
}

// identity reports `is` and `is not`.
func (f *file) identity(i int) {
	op, width := f.comparison(i)
	end, word := i+width, "is"
	if width == 2 {
		word = "is not"
	}
	help := write(op)
	if left, right, ok := f.operands(i, end, pCompare); ok {
		help = write(left + " " + op + " " + right)
		a, _ := f.left(i, pCompare)
		if arg, ok := f.typeCall(a, i); ok {
			help = write(notIf(word != "is") + "isinstance(" + arg + ", " + right + ")")
		}
	}
	d := f.report(diag.IsOperator, i, end, "Starlark has no `"+word+"`", help)
	if !strings.Contains(help, "isinstance(") {
		f.fix(d, i, end, op)
	}
}

func notIf(negative bool) string {
	if negative {
		return "not "
	}
	return ""
}

// typeCall returns x if tokens [a, b) are `type(x)`.
func (f *file) typeCall(a, b int) (string, bool) {
	if b-a >= 4 && f.toks[a].is("type") && f.toks[a+1].is("(") && f.toks[a+1].match == b-1 {
		return f.text(a+2, b-1), true
	}
	return "", false
}

const noPower = "Starlark has no power operator"

// power reports `**` between two operands. Before an argument or a parameter it is valid Starlark.
func (f *file) power(i int) {
	if !ends(f.before(i)) {
		return
	}
	help := powerHelper("x", "n")
	a, okA := f.primary(i)
	b, okB := f.right(i+1, pMul)
	if okA && okB {
		help = powerHelp(f.text(a, i), f.text(i+1, b))
	}
	f.report(diag.PowerOperator, i, i+1, noPower, help)
}

// powerAssign reports `**=`.
func (f *file) powerAssign(i int) {
	help := powerHelper("x", "n")
	if name, n, ok := f.operands(i, i+1, pOr); ok {
		help = powerHelper(name, n)
		if product, ok := product(name, n); ok {
			help = write(name + " = " + product)
		}
	}
	f.report(diag.PowerOperator, i, i+1, noPower, help)
}

func powerHelp(base, exponent string) string {
	if p, ok := product(base, exponent); ok {
		return write(p)
	}
	switch {
	case strings.Contains(exponent, "**"):
		return powerHelper("x", "n")
	case strings.HasPrefix(exponent, "-"):
		return powerHelper(base, exponent[1:]) + "\nand divide by it: `1.0 / power(…)`"
	case strings.Contains(exponent, "."):
		return "multiply for whole exponents; a root has to come from the host, as a builtin or a tool"
	case base == "2":
		if strings.ContainsAny(exponent, " +-*/") && !strings.HasPrefix(exponent, "(") {
			exponent = "(" + exponent + ")"
		}
		return write("1 << " + exponent)
	}
	return powerHelper(base, exponent)
}

// product expands a power with a small exponent into a product, if the base may be repeated without being computed
// twice.
func product(base, exponent string) (string, bool) {
	n, err := strconv.Atoi(exponent)
	if err != nil || n < 2 || n > 4 || strings.ContainsAny(base, "()[]{}\"'\n") {
		return "", false
	}
	return strings.TrimSuffix(strings.Repeat(base+" * ", n), " * "), true
}

func powerHelper(base, exponent string) string {
	return "multiply, or write a helper and call `power(" + base + ", " + exponent + ")`\n" +
		"    def power(x, n):\n        result = 1\n        for _ in range(n):\n            result *= x\n        return result"
}

// generator reports a comprehension in round brackets.
func (f *file) generator(i int) {
	open := f.toks[i].open
	if f.used[open] {
		return
	}
	f.used[open] = true
	help := "put [ ] around it"
	end := f.toks[open].match
	if end > 0 {
		inner := "[" + f.text(open+1, end) + "]"
		start, called := open, open > 0 && ends(f.before(open))
		if called {
			if s, ok := f.primary(open); ok {
				start = s
			}
			inner = "(" + inner + ")"
		}
		help = write(f.text(start, open) + inner)
	}
	d := f.report(diag.PythonOnly, i, i+1, "Starlark has no generator expressions", help)
	d.Label = "a comprehension is written in [ ] or { }"
}

// braces reports set literals, set comprehensions and dicts spread in dicts.
func (f *file) braces(open int) {
	end := f.toks[open].match
	if end <= open+1 {
		return
	}
	items := f.items(open)
	spread, set := false, true
	for _, it := range items {
		switch {
		case f.toks[it[0]].is("**"):
			spread = true
		case f.toks[it[0]].is("*"):
			set = false // the star is reported
		case f.colonIn(it[0], it[1], open):
			set = false
		}
	}
	switch {
	case spread:
		f.spreadDict(items)
	case set:
		fixed := "set([" + f.text(open+1, end) + "])"
		d := f.report(diag.PythonOnly, open, open+1, "Starlark has no literals for sets", write(fixed))
		d.Label = "a dict has `key: value`"
		f.fix(d, open, end+1, fixed)
	}
}

// colonIn reports whether [a, b) contains a colon, other than a lambda's, directly inside bracket open.
func (f *file) colonIn(a, b, open int) bool {
	for i := a; i < b; i++ {
		if t := &f.toks[i]; t.open == open && t.is(":") && !t.lambda {
			return true
		}
	}
	return false
}

func (f *file) spreadDict(items [][2]int) {
	terms, at := f.terms(items, "**", "{", "}", "")
	if len(terms) == 1 {
		terms[0] = "dict(" + terms[0] + ")"
	}
	f.report(diag.PythonOnly, at, at+1, "Starlark does not spread a dict inside a dict", write(strings.Join(terms, " | ")))
}

// terms returns the items of a display as the terms of a sum: spread items, as arguments of function, and the others
// between the brackets open and closing. at is the token of the first star.
func (f *file) terms(items [][2]int, star, open, closing, function string) (terms []string, at int) {
	var plain []string
	flush := func() {
		if plain != nil {
			terms = append(terms, open+strings.Join(plain, ", ")+closing)
			plain = nil
		}
	}
	at = -1
	for _, it := range items {
		if !f.toks[it[0]].is(star) {
			plain = append(plain, strings.TrimSpace(f.text(it[0], it[1])))
			continue
		}
		if at < 0 {
			at = it[0]
		}
		flush()
		spread := f.text(it[0]+1, it[1])
		if function != "" {
			spread = function + "(" + spread + ")"
		}
		terms = append(terms, spread)
		f.used[it[0]] = true
	}
	flush()
	return terms, at
}

// walrus reports `:=`.
func (f *file) walrus(i int) {
	help := "assign on a separate line, before"
	if name := f.before(i); name.kind == kName {
		if b, ok := f.right(i+1, 0); ok {
			help = "assign before, then use `" + name.text + "` here\n    " + name.text + " = " + f.text(i+1, b)
		}
	}
	f.report(diag.PythonOnly, i, i+1, "Starlark has no assignment inside an expression", help)
}

// foreignOperator finds the operators of C, JavaScript and related languages.
func (f *file) foreignOperator(i int) {
	t := &f.toks[i]
	if word := swaps[t.text]; word != "" {
		d := f.report(diag.PythonOnly, i, i+1, "Starlark has no `"+t.text+"`", f.around(i, word))
		f.fix(d, i, i+1, word)
		return
	}
	switch t.text {
	case "!":
		help := "write `not`"
		if b, ok := f.right(i+1, pNot); ok {
			help = write("not " + f.text(i+1, b))
		}
		d := f.report(diag.PythonOnly, i, i+1, "Starlark has no `!`", help)
		f.fix(d, i, i+1, "not ")
	case "+", "-":
		f.increment(i)
	case "?":
		f.ternary(i)
	case "=>":
		f.arrow(i)
	case "->":
		if first := f.stmts[t.stmt].first; !f.toks[first].is("def") && !f.after(first).is("def") {
			f.piped(i, i+1)
		}
	case "|":
		if f.after(i).is(">") && t.touches(f.after(i)) {
			f.used[i+1] = true
			f.piped(i, i+2)
		}
	}
}

// piped reports the operator in tokens [i, end), with which other languages pass a value on.
func (f *file) piped(i, end int) {
	word := f.src[f.toks[i].off:f.toks[end-1].end()]
	help := write(">>")
	if left, right, ok := f.operands(i, end, pShift); ok {
		help = write(left + " >> " + right)
	}
	d := f.report(diag.PythonOnly, i, end, "Starlark has no `"+word+"`", help+": nodes run one after the other with >>, at once with /")
	f.fix(d, i, end, ">>")
}

// around returns operator i with its operands, spelled as word.
func (f *file) around(i int, word string) string {
	left, right, ok := f.operands(i, i+1, binding(&f.toks[i]))
	if !ok {
		return write(word)
	}
	return write(left + " " + word + " " + right)
}

// increment reports `x++` and `x--`. Two signs before an operand are valid Starlark.
func (f *file) increment(i int) {
	op := f.toks[i].text
	if !ends(f.before(i)) || !f.after(i).is(op) || !f.toks[i].touches(f.after(i)) {
		return
	}
	if next := f.after(i + 1); !breaks(next) && !next.closes() {
		return
	}
	help := "write `" + op + "= 1`"
	a, ok := f.primary(i)
	if ok {
		help = write(f.text(a, i) + " " + op + "= 1")
	}
	f.report(diag.PythonOnly, i, i+2, "Starlark has no `"+op+op+"`", help)
	f.used[i+1] = true
}

// ternary reports `a ? b : c`.
func (f *file) ternary(i int) {
	help := "write `b if a else c`"
	a, okA := f.left(i, 0)
	b, okB := f.right(i+1, 0)
	if okA && okB && f.toks[b].is(":") {
		if c, ok := f.right(b+1, 0); ok {
			help = write(f.text(i+1, b) + " if " + strings.TrimSpace(f.text(a, i)) + " else " + f.text(b+1, c))
		}
	}
	f.report(diag.PythonOnly, i, i+1, "Starlark has no `?`", help)
}

// arrow reports `x => y`.
func (f *file) arrow(i int) {
	help := "write `lambda x: x`"
	if from, code := f.lambda(i); code != "" {
		help = write(code)
		if from == i-1 && f.after(i).kind == kName && f.after(i+1) == &nothing {
			help += ", or for nodes " + strings.TrimPrefix(write(f.toks[from].text+" >> "+f.after(i).text), "write ")
		}
	}
	f.report(diag.PythonOnly, i, i+1, "Starlark has no `=>`", help)
}

// lambda returns the function whose arrow is token i, and the token where it begins. It returns "" if it does not
// understand the function.
func (f *file) lambda(i int) (from int, code string) {
	a, okA := f.primary(i)
	b, okB := f.right(i+1, 0)
	if !okA || !okB {
		return i, ""
	}
	params := f.text(a, i)
	if f.toks[a].is("(") {
		params = f.text(a+1, f.toks[a].match)
	}
	return a, strings.TrimSpace("lambda "+params) + ": " + f.text(i+1, b)
}

// withArrows returns the text of tokens [a, b). If they end in an arrow function, it is rewritten and not reported
// again.
func (f *file) withArrows(a, b int) string {
	for i := a; i < b; i++ {
		if f.toks[i].is("=>") && f.toks[i].open == -1 {
			if from, code := f.lambda(i); code != "" {
				f.used[i] = true
				return f.upTo(a, from) + code
			}
		}
	}
	return f.text(a, b)
}
