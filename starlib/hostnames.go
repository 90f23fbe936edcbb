package starlib

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// hostFlaws reports what is unsound in what the host adds. If anything is, no script is executed.
func hostFlaws(o Options, file string) (found diag.List) {
	report := func(what, name string, flaws []string) {
		for _, flaw := range flaws {
			found.Add(&diag.Diagnostic{Code: diag.WrongArgument, Span: diag.Span{Pos: diag.Pos{File: file}},
				Message: fmt.Sprintf("the host's %s %q cannot be used: %s", what, name, flaw), Help: []string{"correct it where the host registers it"}})
		}
	}
	for i := range o.Builtins {
		b := &o.Builtins[i]
		report("builtin", b.QualifiedName(), b.unsound())
	}
	for _, t := range o.Tools {
		report("tool", t.Name, toolFlaws(t))
	}
	return found
}

// unsound lists what is wrong with a builtin.
func (b *Builtin) unsound() (flaws []string) {
	if !isName(b.Name) {
		flaws = append(flaws, "a script cannot write its name")
	}
	if b.Func == nil {
		flaws = append(flaws, "it has no function")
	}
	seen, optional := map[string]bool{}, ""
	for i := range b.Params {
		p := &b.Params[i]
		switch {
		case !isName(p.Name):
			flaws = append(flaws, fmt.Sprintf("a script cannot write the name of its parameter %q", p.Name))
		case seen[p.Name]:
			flaws = append(flaws, fmt.Sprintf("two of its parameters are named %q", p.Name))
		}
		seen[p.Name] = true
		switch {
		case p.Shape > Positional || p.Skip:
		case !p.Required():
			optional = p.Name
		case optional != "":
			flaws = append(flaws, fmt.Sprintf("its required parameter %q follows %q, which is optional", p.Name, optional))
		}
	}
	return append(flaws, b.flaws...)
}

// toolFlaws lists what is wrong with a tool of the host.
func toolFlaws(t *agent.Tool) (flaws []string) {
	if t.Params != nil {
		if errs := t.Params.Verify(); errs != nil {
			flaws = append(flaws, "its parameters are not sound: "+errs.Error())
		} else if k := t.Params.Deref().Kind; k != generable.RecordType && k != generable.DictType {
			flaws = append(flaws, fmt.Sprintf("its parameters are a schema or a dict, not %s", t.Params))
		}
	}
	if t.Returns != nil {
		if errs := t.Returns.Verify(); errs != nil {
			flaws = append(flaws, "what it returns has no sound type: "+errs.Error())
		}
	}
	switch t.Class {
	case "", engine.ClassRead, engine.ClassIdempotent, engine.ClassOnce:
	default:
		flaws = append(flaws, fmt.Sprintf("%q is not an effect class; the classes are read, idempotent and once", t.Class))
	}
	return flaws
}

// isName reports whether a script can write s as a name.
func isName(s string) bool {
	e, err := source.Options().ParseExpr("", s, 0)
	if err != nil {
		return false
	}
	id, ok := e.(*syntax.Ident)
	return ok && id.Name == s
}

// hostNames reports names of the host that are already taken: a script would use one and mean the other.
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
