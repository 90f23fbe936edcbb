package source

import "github.com/agentscript/agentscript/diag"

// Names are the builtins that Lint has to know.
type Names struct {
	Builtins   []string // all names that are predeclared by agentscript
	TypeMakers []string // functions that give types: schema, union, enum, …
	NodeMakers []string // functions that give nodes: agent, fn, then, par, …
}

// Lint gives the mistakes that the syntax tree shows, in the order of their places.
func (f *File) Lint(n Names) diag.List {
	var found diag.List
	found.Sort()
	return found
}
