package analysis

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/starlib/internal/infer"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// Infer finds out what there is to know of a text without loading it. It goes with the names that the view has.
func (v *View) Infer(file, text string) {
	f, _ := source.Parse(file, []byte(text), v.State.Ended)
	if f == nil {
		return
	}
	v.Query.Read(f.Syntax())
	// The program is not run: what is wanted are the scopes of the names in the tree. What is wrong with them is said
	// when the text is loaded.
	_, err := starlark.FileProgram(f.Syntax(), func(name string) bool { return !starlark.Universe.Has(name) })
	if err != nil {
		return
	}
	in := infer.New(v.State, &script.Unit{Path: file, Shown: file, Text: []byte(text), File: f}, v.Table)
	in.Silent = true
	syntax.Walk(f.Syntax(), func(n syntax.Node) bool {
		if n == nil || !isFunction(n) {
			return true
		}
		in.Function(n, false, false)
		v.Query.Seen(in)
		return false
	})
}
