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

// CheckDoc warns of descriptions in the docstring of a function that match none of its parameters: a model, or the help
// of the command, would not get them.
func CheckDoc(c *script.State, fn *starlark.Function) {
	if c.Sealed.Load() {
		return
	}
	_, docs := value.ParseDoc(fn.Doc())
	params := map[string]bool{}
	var names, open []string
	for i := range fn.NumParams() {
		name, _ := fn.Param(i)
		names, params[name] = append(names, name), true
		if _, described := docs[name]; !described {
			open = append(open, name)
		}
	}
	var lines []string // lines of the docstring, read on demand
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		if params[name] {
			continue
		}
		d := &diag.Diagnostic{Code: diag.UnknownArgument, Severity: diag.Warning, Span: diag.Span{Pos: script.Position(fn.Position())},
			Message: fmt.Sprintf("the docstring of %s describes %s, which is not a parameter of it", fn.Name(), name)}
		if !c.Session.Full(d) {
			if lines == nil {
				lines = docLines(c, fn)
			}
			d.Span = docLine(lines, d.Span, name)
			switch hint := c.Suggest(name, open); {
			case hint != "":
				d.Help = []string{hint}
			case len(names) == 0:
				d.Help = []string{"it takes none"}
			default:
				d.Help = []string{"its parameters are " + script.Some(names)}
			}
		}
		c.Session.Report(d)
	}
}

// docLines returns the lines in which a function may have its docstring, starting with its definition.
func docLines(c *script.State, fn *starlark.Function) []string {
	at := script.Position(fn.Position())
	u := c.ByName[at.File]
	if u == nil || u.Text == nil {
		return []string{""}
	}
	lines := strings.Split(string(u.Text), "\n")
	from := min(len(lines), at.Line-1)
	return lines[from:min(len(lines), at.Line+strings.Count(fn.Doc(), "\n")+2)]
}

// docLine returns where a docstring describes a parameter. If that is not found, it returns the position of the
// function, whose definition is the first line.
func docLine(lines []string, at diag.Span, name string) diag.Span {
	for i, line := range lines[1:] {
		text := strings.TrimLeft(line, " \t")
		if rest, ok := strings.CutPrefix(strings.TrimLeft(text, "*"), name); ok && strings.ContainsAny(rest, ":(") && strings.TrimLeft(rest, " :(") != rest {
			return diag.Span{Pos: diag.Pos{File: at.File, Line: at.Line + i + 1, Col: utf8.RuneCountInString(line) - utf8.RuneCountInString(strings.TrimLeft(text, "*")) + 1}, Len: utf8.RuneCountInString(name)}
		}
	}
	return at
}
