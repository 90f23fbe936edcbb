package analysis

import (
	"io/fs"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/doc"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// View is what a load made known, with which questions about a place are answered.
type View struct {
	Query  *Query
	State  *script.State
	Table  *table.Table
	Names  starlark.StringDict // what the script binds and loads
	FS     fs.FS
	Dir    string   // of FS, in which load and file begin
	Models []string // that a model may be
}

// thing is one of the values that an expression may have, as far as it is known: the value itself, its type, a word of the
// table for it, or a function by its row or its definition.
type thing struct {
	value starlark.Value
	typ   *generable.Type
	word  string
	of    string // the word with what is in its brackets: list[Repair]
	row   *table.Builtin
	def   *syntax.DefStmt
}

// mostSteps bounds how far names are followed to what they are assigned.
const mostSteps = 20

// of returns what an expression may be, nothing where that is not known.
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

// known returns what the analysis of functions found out.
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

// exactly is a value that is known.
func exactly(v starlark.Value) thing {
	switch v := v.(type) {
	case *value.Record:
		return thing{value: v, typ: v.Record.Type()}
	case *possible.Part:
		return thing{word: v.Row.Returns}
	case starlark.String:
		return thing{word: "str"}
	case *starlark.List:
		return thing{word: "list"}
	case *starlark.Dict:
		return thing{word: "dict"}
	case *starlark.Set:
		return thing{word: "set"}
	}
	return thing{value: v}
}

// named returns what a name stands for: of a function around the place, of the script, or of the language.
func (v *View) named(id *syntax.Ident, steps int) []thing {
	if fn, call := v.lambdaWith(id.Name); fn != nil {
		return v.handed(call, steps)
	}
	if v.local(id.Name) {
		return v.declared(id.Name, steps)
	}
	if x := v.Names[id.Name]; x != nil {
		if _, failed := x.(*value.Failed); !failed {
			return []thing{exactly(x)}
		}
	}
	if v.Query.tree != nil {
		for _, stmt := range v.Query.tree.Stmts {
			if def, ok := stmt.(*syntax.DefStmt); ok && def.Name.Name == wrapper {
				stmt = def.Body[0]
			}
			switch stmt := stmt.(type) {
			case *syntax.AssignStmt:
				if to, ok := stmt.LHS.(*syntax.Ident); ok && to.Name == id.Name && stmt.RHS != syntax.Expr(id) {
					return v.of(stmt.RHS, steps+1)
				}
			case *syntax.DefStmt:
				if stmt.Name.Name == id.Name {
					return []thing{{def: stmt}}
				}
			}
		}
	}
	if x := v.State.Predeclared[id.Name]; x != nil {
		if _, failed := x.(*value.Failed); failed {
			return nil
		}
		if row, ok := v.Table.Lookup(id.Name); ok && row.Make == nil {
			return []thing{{row: row, value: x}}
		}
		return []thing{exactly(x)}
	}
	if x := starlark.Universe[id.Name]; x != nil {
		return []thing{exactly(x)}
	}
	return nil
}

// declared returns what a name of a function around the place is: a parameter whose default is a type, or a variable, by
// what the text of the function assigns to it.
func (v *View) declared(name string, steps int) (out []thing) {
	for _, n := range v.Query.path {
		def, ok := n.(*syntax.DefStmt)
		if !ok {
			continue
		}
		syntax.Walk(def, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.AssignStmt:
				if id, ok := n.LHS.(*syntax.Ident); ok && id.Name == name && len(out) == 0 {
					out = v.of(n.RHS, steps+1)
				}
			case *syntax.ForStmt:
				if id, ok := n.Vars.(*syntax.Ident); ok && id.Name == name && len(out) == 0 {
					out = v.items(n.X, steps)
				}
			}
			return true
		})
		for _, p := range def.Params {
			if a := startree.ArgOf(p); a.Name != nil && a.Name.Name == name {
				for _, t := range v.of(a.Value, steps+1) {
					if typ, ok := t.value.(*value.Type); ok {
						out = append(out, thing{typ: typ.T})
					}
				}
			}
		}
	}
	return out
}

// local reports whether a function around the place binds a name.
func (v *View) local(name string) bool {
	return slices.ContainsFunc(v.locals(), func(n local) bool { return n.name == name })
}

// lambdaWith finds the lambda around the place that has a parameter, and the call that it is given to.
func (v *View) lambdaWith(name string) (fn *syntax.LambdaExpr, call *syntax.CallExpr) {
	for i := len(v.Query.path) - 1; i > 0; i-- {
		lambda, ok := v.Query.path[i].(*syntax.LambdaExpr)
		if !ok || len(lambda.Params) == 0 {
			continue
		}
		if id := startree.ParamName(lambda.Params[0]); id == nil || id.Name != name {
			continue
		}
		for j := i - 1; j > 0; j-- {
			if call, ok := v.Query.path[j].(*syntax.CallExpr); ok {
				return lambda, call
			}
		}
	}
	return nil, nil
}

// handed returns what a call of a method of a node hands to a function: what the node returns.
func (v *View) handed(call *syntax.CallExpr, steps int) []thing {
	node := syntax.Expr(nil)
	if dot, ok := call.Fn.(*syntax.DotExpr); ok {
		node = dot.X
	} else if len(call.Args) > 0 {
		node = startree.ArgOf(call.Args[0]).Value
	}
	if node == nil {
		return nil
	}
	if out := v.returned(node, steps+1); out != nil {
		return []thing{{typ: out}}
	}
	return nil
}

// returned is the type that a node returns, nil where an expression is no node or that is not known.
func (v *View) returned(node syntax.Expr, steps int) *generable.Type {
	for _, t := range v.of(node, steps) {
		if n, ok := t.value.(*value.Node); ok && !n.Node.Failed() {
			return n.Node.Out()
		}
	}
	return nil
}

// operation returns what an operator makes.
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

// result returns what a call returns.
func (v *View) result(x *syntax.CallExpr, steps int) (out []thing) {
	for _, fn := range v.called(x, steps) {
		if def := v.definition(fn); def != nil {
			startree.Returns(def.Body, func(r *syntax.ReturnStmt) {
				if r.Result != nil && len(out) == 0 {
					out = v.of(r.Result, steps+1)
				}
			})
			continue
		}
		switch f := fn.value.(type) {
		case *value.Type:
			if f.Func == nil {
				out = append(out, thing{typ: f.T})
			} else {
				out = append(out, thing{word: f.Func.Name()})
			}
			continue
		case *value.Node:
			if !f.Node.Failed() {
				out = append(out, thing{typ: f.Node.Out()})
			}
			continue
		case *value.Maker:
			out = append(out, thing{word: f.Name()})
			continue
		}
		if fn.row != nil {
			for word := range strings.SplitSeq(fn.row.Returns, " | ") {
				out = append(out, v.word(word)...)
			}
		}
	}
	return out
}

// called returns what a call may call. The rows of methods say more than what a function knows of its values.
func (v *View) called(x *syntax.CallExpr, steps int) []thing {
	if dot, ok := x.Fn.(*syntax.DotExpr); ok {
		if methods := v.attribute(dot, steps); len(methods) > 0 && methods[0].row != nil {
			return methods
		}
	}
	return v.of(x.Fn, steps+1)
}

// definition returns the text of a function of the script, nil for anything else.
func (v *View) definition(t thing) *syntax.DefStmt {
	fn, ok := t.value.(*starlark.Function)
	if !ok || v.Query.tree == nil {
		return t.def
	}
	for _, stmt := range v.Query.tree.Stmts {
		if def, ok := stmt.(*syntax.DefStmt); ok && def.Name.Name == fn.Name() {
			return def
		}
	}
	return nil
}

// word returns what the table calls by a word.
func (v *View) word(word string) []thing {
	if t, ok := doc.Result(word); ok {
		return []thing{{typ: t}}
	}
	if t, ok := v.State.Predeclared[word].(*value.Type); ok && t.Func == nil && !t.Bare {
		return []thing{{typ: t.T}}
	}
	whole := word
	word, _, _ = strings.Cut(word, "[")
	switch word {
	case "None", "value", "any":
		return nil
	}
	return []thing{{word: word, of: whole}}
}

// kind is the word under which the table has the methods or members of a thing, "" for none.
func (t thing) kind() string {
	switch x := t.value.(type) {
	case *table.ModuleValue:
		return x.Name
	case *value.Maker:
		return x.Name()
	case nil:
		return t.word
	default:
		if word := x.Type(); word != "test" {
			return word
		}
		return "t" // which tests call it
	}
}

// parts are the things that a union may be, or the thing itself.
func (t thing) parts() []thing {
	if t.typ == nil {
		return []thing{t}
	}
	d := t.typ.Deref()
	switch d.Kind {
	case generable.LimitType:
		return thing{typ: d.Elem}.parts()
	case generable.UnionType, generable.OneOfType:
		var out []thing
		for _, one := range d.Variants {
			if one.Deref().Kind != generable.NoneType {
				out = append(out, thing{typ: one}.parts()...)
			}
		}
		return out
	case generable.StrType, generable.EnumType:
		return []thing{{word: "str", typ: t.typ}}
	case generable.ListType:
		return []thing{{word: "list", typ: t.typ}}
	case generable.DictType:
		return []thing{{word: "dict", typ: t.typ}}
	}
	return []thing{t}
}

// methods are those of the interpreter's own types.
var methods = map[string][]string{
	"str": starlark.String("").AttrNames(), "list": (*starlark.List)(nil).AttrNames(),
	"dict": (*starlark.Dict)(nil).AttrNames(), "set": (*starlark.Set)(nil).AttrNames(),
}

// resultOf is the word for what a method of the interpreter's own types returns.
func resultOf(of, method string) string {
	kind := map[string]possible.Kind{"str": possible.Text, "list": possible.List, "dict": possible.Dict, "set": possible.Set}[of]
	if a, ok := possible.Results[kind][method].Certain(); ok {
		switch a.Kind {
		case possible.Text:
			return "str"
		case possible.Integer:
			return "int"
		case possible.Boolean:
			return "bool"
		case possible.List:
			return "list"
		}
	}
	return "value"
}
