package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// CheckDoc warns of descriptions in the docstring of a function that are about none of its
// parameters: a model, or the help of the command, would go without them.
func CheckDoc(c *script.State, fn *starlark.Function) {
	if c.Sealed.Load() {
		return
	}
	_, docs := value.ParseDoc(fn.Doc())
	var names, open []string
	for i := range fn.NumParams() {
		name, _ := fn.Param(i)
		names = append(names, name)
		if _, described := docs[name]; !described {
			open = append(open, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		if slices.Contains(names, name) {
			continue
		}
		d := &diag.Diagnostic{Code: diag.UnknownArgument, Severity: diag.Warning, Span: docLine(c, fn, name),
			Message: fmt.Sprintf("the docstring of %s describes %s, which is no parameter of it", fn.Name(), name)}
		switch hint := script.DidYouMean(name, open); {
		case hint != "":
			d.Help = []string{hint}
		case len(names) == 0:
			d.Help = []string{"it takes none"}
		default:
			d.Help = []string{"its parameters are " + script.Joined(names)}
		}
		c.Session.Report(d)
	}
}

// docLine is where a docstring describes a parameter; the function where that is not found.
func docLine(c *script.State, fn *starlark.Function, name string) diag.Span {
	at := diag.Span{Pos: script.Position(fn.Position())}
	u := c.ByName[at.File]
	if u == nil || u.Text == nil {
		return at
	}
	lines := strings.Split(string(u.Text), "\n")
	for i := at.Line; i < len(lines) && i < at.Line+strings.Count(fn.Doc(), "\n")+2; i++ {
		text := strings.TrimLeft(lines[i], " \t")
		if rest, ok := strings.CutPrefix(strings.TrimLeft(text, "*"), name); ok && strings.ContainsAny(rest, ":(") && strings.TrimLeft(rest, " :(") != rest {
			return diag.Span{Pos: diag.Pos{File: at.File, Line: i + 1, Col: utf8.RuneCountInString(lines[i]) - utf8.RuneCountInString(strings.TrimLeft(text, "*")) + 1}, Len: utf8.RuneCountInString(name)}
		}
	}
	return at
}
