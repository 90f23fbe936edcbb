package analysis

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// inString returns what can stand in the string at the place.
func (v *View) inString(p *Place, at *syntax.Literal) Completion {
	c := Completion{Range: p.Word}
	content, _ := at.Value.(string)
	before, _, _ := strings.Cut(content, placeholder)
	typed := before + p.typed
	if i := strings.LastIndex(typed, "{{"); i >= 0 && !strings.Contains(typed[i:], "}}") {
		c.Items = v.fields(at)
		return c.beginning(p.typed)
	}
	c.From -= len(before) // a string that is completed has no escapes
	for _, one := range v.texts(at, typed) {
		if strings.HasPrefix(strings.ToLower(one.Name), strings.ToLower(typed)) {
			c.Items = append(c.Items, one)
		}
	}
	c.Items = c.Items[:min(len(c.Items), mostOffered)]
	return c
}

// texts lists what the string at the place may be.
func (v *View) texts(at *syntax.Literal, typed string) (out []Candidate) {
	all := func(kind string, list []string) {
		for _, s := range list {
			out = append(out, Candidate{s, s, kind, ""})
		}
	}
	around := v.Query.path[len(v.Query.path)-2]
	if l, ok := around.(*syntax.LoadStmt); ok {
		if l.Module == at {
			return v.files(typed, ".star")
		}
		return out
	}
	switch x := around.(type) {
	case *syntax.BinaryExpr:
		if x.Op == syntax.EQL || x.Op == syntax.NEQ {
			other := x.X
			if other == syntax.Expr(at) {
				other = x.Y
			}
			for _, t := range v.of(other, 0) {
				if t.typ != nil {
					all("value", enumValues(t.typ))
				}
			}
		}
	case *syntax.IndexExpr:
		for _, t := range v.of(x.X, 0) {
			if typ, ok := t.value.(*value.Type); ok {
				all("value", enumValues(typ.T))
			} else if t.typ != nil && t.typ.Deref().Kind == generable.RecordType {
				all("field", t.typ.Deref().FieldNames())
			}
		}
	case *syntax.DictEntry:
		if x.Key == syntax.Expr(at) {
			for _, c := range v.unhandled() {
				if s, ok := strings.CutPrefix(c.Name, `"`); ok {
					all("value", []string{strings.TrimSuffix(s, `"`)})
				}
			}
		}
	}
	call, name := v.argument(at)
	if call == nil {
		return out
	}
	arg := syntax.Expr(at)
	for _, a := range call.Args {
		if startree.ArgOf(a).Value == syntax.Expr(at) {
			arg = a
		}
	}
	all("value", v.expected(call, arg))
	if name != nil && (name.Name == "model" || name.Name == "models") {
		all("model", v.Models)
	}
	for _, c := range v.callees(call) {
		p := c.paramOf(call, arg)
		switch {
		case p == nil:
		case c.name == "file":
			out = append(out, v.files(typed, "")...)
		case c.name == "ref":
			all("type", v.State.TypeNames())
		case c.name == "model" && p.place:
			all("model", v.Models)
		case strings.HasPrefix(c.name, "t.") && (p.name == "agent" || p.name == "name" || p.name == "node"):
			all("agent", v.agents())
		}
	}
	return out
}

// agents lists the names of the script's agents.
func (v *View) agents() (out []string) {
	for _, n := range v.State.Session.Nodes() {
		if a := n.Agent(); a != nil && a.Name != "" && !slices.Contains(out, a.Name) {
			out = append(out, a.Name)
		}
	}
	slices.Sort(out)
	return out
}

// mostFiles bounds the files of a directory that are looked at.
const mostFiles = 500

// files lists the files that a path may name, below the script's directory.
func (v *View) files(typed, suffix string) (out []Candidate) {
	if v.FS == nil {
		return nil
	}
	dir := ""
	if i := strings.LastIndexByte(typed, '/'); i >= 0 {
		dir = typed[:i+1]
	}
	in := path.Join(v.Dir, dir)
	if !fs.ValidPath(in) {
		return nil
	}
	entries, err := fs.ReadDir(v.FS, in)
	if err != nil {
		return nil // there is nothing to offer
	}
	for _, e := range entries[:min(len(entries), mostFiles)] {
		name := dir + e.Name()
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			out = append(out, Candidate{name + "/", name + "/", "file", "a directory"})
		case strings.HasSuffix(name, suffix):
			out = append(out, Candidate{name, name, "file", ""})
		}
	}
	return out
}

// fields lists what a template's placeholder may name: the fields of its input.
func (v *View) fields(at *syntax.Literal) (out []Candidate) {
	out = append(out, Candidate{"input", "input", "field", "the whole input"})
	var types []*generable.Type
	take := func(things []thing) {
		for _, t := range things {
			if typ, ok := t.value.(*value.Type); ok {
				types = append(types, typ.T)
			}
		}
	}
	path := v.Query.path
	for i := len(path) - 2; i > 0; i-- {
		switch n := path[i].(type) {
		case *syntax.CallExpr:
			for j, arg := range n.Args {
				a := startree.ArgOf(arg)
				if id, ok := n.Fn.(*syntax.Ident); a.Name != nil && a.Name.Name == "input" || ok && id.Name == "template" && j == 1 && a.Name == nil {
					take(v.of(a.Value, 0))
				}
			}
		case *syntax.BinaryExpr:
			if out := v.returned(n.X, 0); n.Op == syntax.GTGT && out != nil && startree.Unparen(n.Y) == path[i+1] {
				types = append(types, out)
			}
		}
	}
	for _, t := range types {
		for _, part := range (thing{typ: t}).parts() {
			out = append(out, v.membersOf(part)...)
		}
	}
	return slices.DeleteFunc(out, func(c Candidate) bool { return c.Kind != "field" })
}

// unhandled lists the keys that the dict of a branch or match at the place does not have yet.
func (v *View) unhandled() (out []Candidate) {
	path := v.Query.path
	var dict *syntax.DictExpr
	var call *syntax.CallExpr
	for i := len(path) - 1; i > 0 && call == nil; i-- {
		switch n := path[i].(type) {
		case *syntax.DictExpr:
			if dict == nil {
				dict = n
			}
		case *syntax.CallExpr:
			call = n
		}
	}
	if dict == nil || call == nil || !slices.ContainsFunc(call.Args, func(a syntax.Expr) bool { return startree.Unparen(startree.ArgOf(a).Value) == syntax.Expr(dict) }) {
		return nil
	}
	done := map[string]bool{}
	for _, e := range dict.List {
		if entry, ok := e.(*syntax.DictEntry); ok {
			switch key := startree.Unparen(entry.Key).(type) {
			case *syntax.Ident:
				done[key.Name] = true
			case *syntax.Literal:
				if s, ok := key.Value.(string); ok {
					done[quoted(s)] = true
				}
			}
		}
	}
	for _, t := range v.subject(call) {
		for _, key := range keysOf(t) {
			if !done[key] {
				out = append(out, Candidate{key, key, "value", ""})
			}
		}
	}
	return out
}

// subject returns the types of what a branch or match decides about.
func (v *View) subject(call *syntax.CallExpr) []*generable.Type {
	var on syntax.Expr
	switch fn := call.Fn.(type) {
	case *syntax.DotExpr:
		if fn.Name.Name == "branch" {
			on = fn.X
		}
	case *syntax.Ident:
		if (fn.Name == "branch" || fn.Name == "match") && len(call.Args) > 0 {
			on = startree.ArgOf(call.Args[0]).Value
		}
	}
	if on == nil {
		return nil
	}
	if out := v.returned(on, 0); out != nil {
		return []*generable.Type{out}
	}
	var types []*generable.Type
	for _, t := range v.of(on, 0) {
		if t.typ != nil && t.kind() != "node" {
			types = append(types, t.typ)
		}
	}
	return types
}

// keysOf are the keys by which a branch tells the values of a type apart.
func keysOf(t *generable.Type) (out []string) {
	switch d := t.Deref(); d.Kind {
	case generable.UnionType, generable.OneOfType:
		for _, one := range d.Variants {
			out = append(out, keysOf(one)...)
		}
	case generable.EnumType:
		for _, s := range d.Values {
			out = append(out, quoted(s))
		}
	case generable.BoolType:
		out = []string{"True", "False"}
	case generable.NoneType:
		out = []string{"None"}
	case generable.LimitType:
		return keysOf(d.Elem)
	default:
		out = []string{d.String()}
	}
	return out
}

// category is the kind of candidate that a thing is.
func (t thing) category() string {
	switch t.value.(type) {
	case *value.Type:
		return "type"
	case *value.Node:
		return "node"
	case *starlark.Function:
		return "function"
	case *starlark.Builtin:
		return "builtin"
	}
	return "variable"
}

// line says in one line what a thing is.
func (t thing) line(v *View) string {
	switch x := t.value.(type) {
	case *value.Type:
		if d := x.T.Deref(); d.Doc != "" {
			first, _, _ := strings.Cut(d.Doc, "\n")
			return first
		}
		return x.T.String()
	case *value.Node:
		if x.Node.Failed() {
			return ""
		}
		return x.Node.In().String() + " -> " + x.Node.Out().String()
	case *starlark.Function:
		c := ofFunction(x)
		first, _, _ := strings.Cut(script.Dedent(x.Doc()), "\n")
		if first == "" {
			return c.signature()
		}
		return first
	}
	if t.typ != nil {
		return t.typ.String()
	}
	return t.kind()
}
