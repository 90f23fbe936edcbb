package pythonisms

import (
	_ "embed"
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
)

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
			f.replace(diag.PythonOnly, i, i+1, "Starlark spells `"+t.text+"` as `"+word+"`", word)
			f.soft()
		}
		if t.is("__name__") && !f.bound[t.text] && !f.before(i).is(".") {
			f.report(diag.PythonOnly, i, i+1, "a script has no `__name__`", "drop the test: what is run is `main`, a node or a function `def main(…)`, and loading a file never runs it")
			f.soft()
		}
	}
}

// Hint tells what to write instead of a name that Python has and a script has
// not: the help for an undefined name. False when nothing is known about it.
func Hint(name string) (string, bool) {
	if word := constants[name]; word != "" {
		return write(word), true
	}
	if h := builtins[name]; h != "" {
		return h, true
	}
	if strings.HasSuffix(name, "Error") {
		return builtins["ValueError"], true
	}
	return "", false
}
