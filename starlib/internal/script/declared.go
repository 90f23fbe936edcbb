package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// declared holds the nominal types of the files of one Load, and the references to them. A reference means a type of
// its own file, declared before or after it.
type declared struct {
	byName map[string]map[string]*generable.Type // file, name
	All    []*generable.Type
	refs   []reference
	asking map[name][]*generable.Type // references whose type is not declared yet
	// Earlier returns the type of a name that a file refers to and does not declare; it may be nil.
	Earlier func(name string) *generable.Type
}

// name identifies a type in a file.
type name struct{ file, name string }

type reference struct {
	file string
	t    *generable.Type
	at   diag.Span
}

// Mark returns a mark of what is declared so far.
func (d *declared) Mark() Mark { return Mark{len(d.All), len(d.refs)} }

// Mark is the extent of the declarations at some point.
type Mark struct{ types, refs int }

// Reset removes what failed files have declared since a mark.
func (d *declared) Reset(m Mark) {
	for _, t := range d.All[m.types:] {
		for _, names := range d.byName {
			if names[t.Name] == t {
				delete(names, t.Name)
			}
		}
	}
	d.All, d.refs = d.All[:m.types], d.refs[:m.refs]
}

// Drop removes what files have declared, which it returns, and their references.
func (d *declared) Drop(files map[string]bool) (gone map[*generable.Type]bool) {
	gone = map[*generable.Type]bool{}
	for file := range files {
		for _, t := range d.byName[file] {
			gone[t] = true
		}
		delete(d.byName, file)
	}
	d.All = slices.DeleteFunc(d.All, func(t *generable.Type) bool { return gone[t] })
	d.refs = slices.DeleteFunc(d.refs, func(r reference) bool { return files[r.file] })
	maps.DeleteFunc(d.asking, func(of name, _ []*generable.Type) bool { return files[of.file] })
	return gone
}

// Declare makes a nominal type known by its name to references in its file.
func (d *declared) Declare(file string, t *generable.Type) {
	if !t.IsNominal() || t.Name == "" {
		return
	}
	if d.byName == nil {
		d.byName = map[string]map[string]*generable.Type{}
	}
	if d.byName[file] == nil {
		d.byName[file] = map[string]*generable.Type{}
	}
	d.All = append(d.All, t)
	if d.byName[file][t.Name] != nil {
		return // a factory's second type of that name: references mean the first
	}
	d.byName[file][t.Name] = t
	for _, r := range d.asking[name{file, t.Name}] {
		r.Bind(t)
	}
	delete(d.asking, name{file, t.Name})
}

// Refer returns a reference to a type by name in a file. The type may be declared later.
func (d *declared) Refer(file, of string, at diag.Span) *generable.Type {
	r := generable.RefTo(of)
	if t := d.byName[file][of]; t != nil {
		r.Bind(t)
	} else {
		if d.asking == nil {
			d.asking = map[name][]*generable.Type{}
		}
		d.asking[name{file, of}] = append(d.asking[name{file, of}], r)
	}
	d.refs = append(d.refs, reference{file, r, at})
	return r
}

// Check reports unresolved references, and types that no finite value can have.
func (d *declared) Check(suggest func(name string, among []string) string) diag.List {
	var unresolved Findings
	names := map[string][]string{} // the types of a file
	open := false
	for _, r := range d.refs {
		if d.Earlier != nil && r.t.Deref() == r.t {
			if t := d.Earlier(r.t.Name); t != nil {
				r.t.Bind(t)
			}
		}
		if r.t.Deref() != r.t {
			continue
		}
		open = true
		if !unresolved.Room() {
			continue
		}
		out := &diag.Diagnostic{Code: diag.UnresolvedRef, Span: r.at, Message: fmt.Sprintf("no type of this file is named %q", r.t.Name)}
		if names[r.file] == nil {
			names[r.file] = slices.Sorted(maps.Keys(d.byName[r.file]))
		}
		if hint := suggest(r.t.Name, names[r.file]); hint != "" {
			out.Help = []string{hint}
		} else {
			out.Help = []string{"a type takes its name from the variable it is assigned to"}
		}
		unresolved.List = append(unresolved.List, out)
	}
	found := unresolved.Told()
	if open || len(d.refs) == 0 {
		return found
	}
	said := map[string]bool{}
	for _, t := range d.All {
		for _, e := range t.Verify() {
			i := slices.IndexFunc(d.refs, func(r reference) bool { return strings.HasPrefix(e.Got, r.t.Name+",") })
			if i < 0 || said[e.Error()] {
				continue // the cycle is reported at the reference that closes it
			}
			said[e.Error()] = true
			found = append(found, FieldProblem(diag.BadField, d.refs[i].at, e))
		}
	}
	return found
}
