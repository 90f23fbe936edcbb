package habits

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// constants are the spellings that other languages have for Starlark's three.
var constants = map[string]string{
	"null": "None", "nil": "None", "none": "None", "undefined": "None", "NULL": "None",
	"true": "True", "TRUE": "True",
	"false": "False", "FALSE": "False",
}

// constant is what name i stands for when it is another language's constant,
// not bound in this file, and used as a value; else "".
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
	for i := range f.toks {
		t := &f.toks[i]
		if word := f.constant(i); word != "" {
			d := f.report(diag.PythonOnly, i, i+1, "Starlark spells `"+t.text+"` as `"+word+"`", write(word))
			f.fix(d, i, i+1, word)
			f.soft()
		}
		if t.is("__name__") && !f.bound[t.text] && !f.before(i).is(".") {
			f.report(diag.PythonOnly, i, i+1, "a script has no `__name__`", "drop the test: what is run is `main`, a node or a function `def main(…)`, and loading a file never runs it")
			f.soft()
		}
	}
}

// foreign are builtins of Python that Starlark and agentscript lack, and what
// to do without them.
var foreign = map[string]string{
	"assert": "write `if not x: fail(\"…\")`",
	"ascii":  "write `repr(x)`", "bin": "write `fmt(x, \"b\")`", "hex": "write `fmt(x, \"x\")`", "oct": "write `fmt(x, \"o\")`",
	"bytearray": "write `bytes(x)`", "callable": "write `type(f) == \"function\"`",
	"divmod": "write `(a // b, a % b)`", "eval": "a script cannot run text as code", "exec": "a script cannot run text as code",
	"filter":    "write a comprehension: `[x for x in xs if keep(x)]`",
	"format":    "write `fmt(x, \".2f\")`, or `\"{}\".format(x)`",
	"frozenset": "write `set(xs)`", "input": "declare it as a parameter of `def main`", "issubclass": "write `isinstance(x, T)`",
	"iter": "use the list itself", "log": "write `print(...)`", "logger": "write `print(...)`", "map": "write a comprehension: `[f(x) for x in xs]`", "next": "index it: `xs[0]`",
	"END": "write `FINISH`", "End": "write `FINISH`", "STOP": "write `FINISH`", "object": "declare data with `schema`", "open": "write `file(\"path\")`", "pow": "multiply, or shift: `1 << n`",
	"round": "write `fmt(x, \".2f\")` for text, `int(x + 0.5)` for a number",
	"self":  "there are no classes: give the value as a parameter", "super": "there are no classes",
	"vars": "write `dir(x)`",
	"Any":  "write `any`", "Dict": "write `dict[str, int]`", "List": "write `list[str]`", "Optional": "write `T | None`",
	"Union": "write `A | B`", "Literal": "write `enum(\"a\", \"b\")`", "BaseModel": "declare data with `schema`",
	"Exception": "write `fail(\"…\")`", "ValueError": "write `fail(\"…\")`", "TypeError": "write `fail(\"…\")`",
	"RuntimeError": "write `fail(\"…\")`", "KeyError": "write `fail(\"…\")`", "NotImplementedError": "write `fail(\"…\")`",
}

// Hint tells what to write instead of a name that Python has and a script has
// not: the help for an undefined name. False when nothing is known about it.
func Hint(name string) (string, bool) {
	if word := constants[name]; word != "" {
		return write(word), true
	}
	if h := foreign[name]; h != "" {
		return h, true
	}
	if strings.HasSuffix(name, "Error") {
		return foreign["ValueError"], true
	}
	return "", false
}
