package starlib

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
)

// parseDoc splits a docstring into its text and the descriptions of parameters in its Args
// section:
//
//	Compiles one file.
//
//	Args:
//	  path: file to compile,
//	    relative to the project
//	  flags (list of str): extra flags
//	Returns:
//	  the log
func parseDoc(doc string) (text string, params map[string]string) {
	lines := strings.Split(dedent(doc), "\n")
	var kept []string
	section, indent, last := "", -1, ""
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		if depth == 0 {
			switch trimmed {
			case "Args:", "Arguments:", "Parameters:":
				section, indent, last = "args", -1, ""
				continue
			}
			if trimmed != "" {
				section = ""
			}
		}
		if section != "args" {
			kept = append(kept, line)
			continue
		}
		if trimmed == "" {
			continue
		}
		if indent < 0 {
			indent = depth
		}
		name, about, ok := strings.Cut(trimmed, ":")
		if depth > indent && last != "" {
			params[last] += " " + trimmed
			continue
		}
		if !ok {
			continue
		}
		name = strings.TrimLeft(name, "*")
		if i := strings.IndexAny(name, " ("); i >= 0 {
			name = name[:i]
		}
		if params == nil {
			params = map[string]string{}
		}
		params[name], last = strings.TrimSpace(about), name
	}
	return strings.TrimSpace(strings.Join(kept, "\n")), params
}

// checkDoc warns of descriptions in the docstring of a function that are about none of its
// parameters: a model, or the help of the command, would go without them.
func (c *state) checkDoc(fn *starlark.Function) {
	if c.sealed.Load() {
		return
	}
	_, docs := parseDoc(fn.Doc())
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
		d := &diag.Diagnostic{Code: diag.UnknownArgument, Severity: diag.Warning, Span: c.docLine(fn, name),
			Message: fmt.Sprintf("the docstring of %s describes %s, which is no parameter of it", fn.Name(), name)}
		switch hint := didYouMean(name, open); {
		case hint != "":
			d.Help = []string{hint}
		case len(names) == 0:
			d.Help = []string{"it takes none"}
		default:
			d.Help = []string{"its parameters are " + joined(names)}
		}
		c.session.Report(d)
	}
}

// docLine is where a docstring describes a parameter; the function where that is not found.
func (c *state) docLine(fn *starlark.Function, name string) diag.Span {
	at := diag.Span{Pos: position(fn.Position())}
	u := c.shown[at.File]
	if u == nil || u.text == nil {
		return at
	}
	lines := strings.Split(string(u.text), "\n")
	for i := at.Line; i < len(lines) && i < at.Line+strings.Count(fn.Doc(), "\n")+2; i++ {
		text := strings.TrimLeft(lines[i], " \t")
		if rest, ok := strings.CutPrefix(strings.TrimLeft(text, "*"), name); ok && strings.ContainsAny(rest, ":(") && strings.TrimLeft(rest, " :(") != rest {
			return diag.Span{Pos: diag.Pos{File: at.File, Line: i + 1, Col: utf8.RuneCountInString(lines[i]) - utf8.RuneCountInString(strings.TrimLeft(text, "*")) + 1}, Len: utf8.RuneCountInString(name)}
		}
	}
	return at
}
