package analysis

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

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

// local is a name that a function around the place binds.
type local struct {
	name string
	doc  string
}

// locals lists the names that the functions and comprehensions around the place bind, the innermost first.
func (v *View) locals() (out []local) {
	params := func(list []syntax.Expr) {
		for _, p := range list {
			if id := startree.ParamName(p); id != nil {
				out = append(out, local{id.Name, "a parameter"})
			}
		}
	}
	bind := func(e syntax.Expr) {
		startree.Targets(e, func(e syntax.Expr) {
			if id, ok := e.(*syntax.Ident); ok {
				out = append(out, local{id.Name, ""})
			}
		})
	}
	for i := len(v.Query.path) - 1; i > 0; i-- {
		switch n := v.Query.path[i].(type) {
		case *syntax.LambdaExpr:
			params(n.Params)
		case *syntax.Comprehension:
			for _, clause := range n.Clauses {
				if f, ok := clause.(*syntax.ForClause); ok {
					bind(f.Vars)
				}
			}
		case *syntax.DefStmt:
			params(n.Params)
			var block func(stmts []syntax.Stmt)
			block = func(stmts []syntax.Stmt) {
				for _, stmt := range stmts {
					switch stmt := stmt.(type) {
					case *syntax.AssignStmt:
						bind(stmt.LHS)
					case *syntax.ForStmt:
						bind(stmt.Vars)
					case *syntax.DefStmt:
						bind(stmt.Name)
					}
					startree.Blocks(stmt, block)
				}
			}
			block(n.Body)
		}
	}
	return out
}
