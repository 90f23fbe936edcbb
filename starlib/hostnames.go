package starlib

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
)

// hostNames reports what the host gives a name that something else has: a script would call
// the one and mean the other.
func hostNames(o Options, file string) diag.List {
	if len(o.Builtins)+len(o.Tools) == 0 {
		return nil
	}
	var found diag.List
	taken := map[string]string{}
	for name := range starlark.Universe {
		taken[name] = "a builtin"
	}
	for _, b := range standard().Rows() {
		taken[b.QualifiedName()] = "a builtin"
	}
	claim := func(what, name string) {
		if by, ok := taken[name]; ok {
			found.Add(&diag.Diagnostic{Code: diag.HidesBuiltin, Span: diag.Span{Pos: diag.Pos{File: file}}, Message: fmt.Sprintf("the host's %s %q has the name of %s", what, name, by),
				Help: []string{"register it under another name"}})
			return
		}
		taken[name] = "a " + what + " of the host"
	}
	for _, b := range o.Builtins {
		claim("builtin", b.QualifiedName())
	}
	for _, t := range o.Tools {
		claim("tool", t.Name)
	}
	return found
}
