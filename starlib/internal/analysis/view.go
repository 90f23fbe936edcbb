package analysis

import (
	"io/fs"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/infer"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// View holds the results of a load, from which questions about a place are answered.
type View struct {
	Query  *Query
	State  *script.State
	Table  *table.Table
	Names  starlark.StringDict // what the script binds and loads
	FS     fs.FS
	Dir    string   // the directory in FS that paths of load and file are relative to
	Models []string // names of models to offer

	bound  map[string]syntax.Stmt // what the top level binds, computed on demand
	inside []local                // what functions around the place bind, computed on demand
}

// mostSteps bounds the number of assignments that are followed from a name.
const mostSteps = 20

// Infer analyses a text without loading it, using the names of the view.
func (v *View) Infer(file, text string) {
	f, _ := source.Parse(file, []byte(text), v.State.Ended)
	if f == nil {
		return
	}
	v.Query.Read(f.Syntax())
	// The program is not run: only the scopes of the names in the tree are needed. Errors in them are reported when the
	// text is loaded.
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

// of returns what an expression may be, or nothing if that is not known.
func (v *View) of(e syntax.Expr, steps int) []thing {
	if e = startree.Unparen(e); e == nil || steps > mostSteps {
		return nil
	}
	if known := v.known(e); known != nil {
		return known
	}
	switch x := e.(type) {
	case *syntax.Ident:
		return v.named(x, steps)
	case *syntax.Literal:
		if _, ok := x.Value.(string); ok {
			return []thing{{word: "str"}}
		}
	case *syntax.ListExpr:
		return []thing{{word: "list"}}
	case *syntax.DictExpr:
		return []thing{{word: "dict"}}
	case *syntax.Comprehension:
		if x.Curly {
			return []thing{{word: "dict"}}
		}
		return []thing{{word: "list"}}
	case *syntax.CondExpr:
		return append(v.of(x.True, steps+1), v.of(x.False, steps+1)...)
	case *syntax.BinaryExpr:
		return v.operation(x, steps)
	case *syntax.DotExpr:
		return v.attribute(x, steps)
	case *syntax.IndexExpr:
		return v.item(x, steps)
	case *syntax.CallExpr:
		return v.result(x, steps)
	}
	return nil
}

// known returns what the analysis of functions has determined.
func (v *View) known(e syntax.Expr) (out []thing) {
	p := v.Query.values[e]
	if p == nil {
		return nil
	}
	for i := range p.Alts {
		a := &p.Alts[i]
		switch {
		case a.Kind == possible.None || a.Kind == possible.Unset:
		case a.Code != nil:
			if def, ok := a.Code.Node.(*syntax.DefStmt); ok {
				out = append(out, thing{def: def})
			}
		case a.Exact != nil:
			out = append(out, exactly(a.Exact))
		case a.Typ != nil:
			out = append(out, thing{typ: a.Typ})
		case a.Kind == possible.Text:
			out = append(out, thing{word: "str"})
		case a.Kind == possible.List:
			out = append(out, thing{word: "list"})
		case a.Kind == possible.Dict:
			out = append(out, thing{word: "dict"})
		case a.Kind == possible.Set:
			out = append(out, thing{word: "set"})
		}
	}
	return out
}

// operation returns the result of an operator.
func (v *View) operation(x *syntax.BinaryExpr, steps int) []thing {
	of := func(word string) bool {
		return slices.ContainsFunc(append(v.of(x.Y, steps+1), v.of(x.X, steps+1)...), func(t thing) bool { return t.kind() == word })
	}
	switch x.Op {
	case syntax.GTGT, syntax.SLASH, syntax.STAR:
		if of("node") {
			return []thing{{word: "node"}}
		}
	case syntax.PIPE:
		if of("type") {
			return []thing{{word: "type"}}
		}
	case syntax.PLUS, syntax.PERCENT:
		return v.of(x.X, steps+1)
	case syntax.OR, syntax.AND:
		return append(v.of(x.X, steps+1), v.of(x.Y, steps+1)...)
	}
	return nil
}

// attribute returns what x.name is.
func (v *View) attribute(x *syntax.DotExpr, steps int) (out []thing) {
	for _, on := range v.of(x.X, steps+1) {
		for _, t := range on.parts() {
			if row := v.Table.Of[t.kind()][x.Name.Name]; row != nil {
				out = append(out, thing{row: row})
			} else if t.typ != nil && t.typ.Deref().Kind == generable.RecordType {
				if i := t.typ.Deref().FieldIndex(x.Name.Name); i >= 0 {
					out = append(out, thing{typ: t.typ.Deref().Fields[i].Type})
				}
			} else if has, ok := t.value.(starlark.HasAttrs); ok {
				if got, err := has.Attr(x.Name.Name); err == nil && got != nil {
					out = append(out, exactly(got))
				}
			} else if slices.Contains(methods[t.word], x.Name.Name) {
				out = append(out, thing{row: &table.Builtin{Name: x.Name.Name, Of: t.word, Returns: resultOf(t.word, x.Name.Name)}})
			}
		}
	}
	return out
}

// item returns what x[y] is.
func (v *View) item(x *syntax.IndexExpr, steps int) (out []thing) {
	for _, on := range v.of(x.X, steps+1) {
		for _, t := range on.parts() {
			if t.typ != nil && t.typ.Deref().Elem != nil {
				out = append(out, thing{typ: t.typ.Deref().Elem})
			} else if _, isType := t.value.(*value.Type); isType {
				out = append(out, thing{word: "type"})
			}
		}
	}
	return out
}

// items returns what the items of x are.
func (v *View) items(x syntax.Expr, steps int) (out []thing) {
	for _, on := range v.of(x, steps+1) {
		for _, t := range on.parts() {
			if t.typ != nil && t.typ.Deref().Kind == generable.ListType {
				out = append(out, thing{typ: t.typ.Deref().Elem})
			} else if item, ok := strings.CutPrefix(t.of, "list["); ok {
				out = append(out, v.word(strings.TrimSuffix(item, "]"))...)
			}
		}
	}
	return out
}
