package analysis

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// named returns what a name refers to: a name of a function around the place, of the script, or of the language.
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
	switch stmt := v.top()[id.Name].(type) {
	case *syntax.AssignStmt:
		if _, ok := stmt.LHS.(*syntax.Ident); ok && stmt.RHS != syntax.Expr(id) {
			return v.of(stmt.RHS, steps+1)
		}
	case *syntax.DefStmt:
		return []thing{{def: stmt}}
	case *syntax.ForStmt:
		if _, ok := stmt.Vars.(*syntax.Ident); ok {
			return v.items(stmt.X, steps)
		}
	}
	if x := v.State.Predeclared[id.Name]; x != nil {
		if _, failed := x.(*value.Failed); failed {
			return nil
		}
		if row, ok := v.Table.Lookup(id.Name); ok && (row.Make == nil || row.Value) {
			return []thing{{row: row, value: x}}
		}
		return []thing{exactly(x)}
	}
	if x := starlark.Universe[id.Name]; x != nil {
		return []thing{exactly(x)}
	}
	return nil
}

// top returns the names that top-level statements bind, each with the first statement that binds it.
func (v *View) top() map[string]syntax.Stmt {
	if v.bound == nil && v.Query.tree != nil {
		v.bound = map[string]syntax.Stmt{}
		for _, stmt := range v.Query.tree.Stmts {
			if def, ok := stmt.(*syntax.DefStmt); ok && def.Name.Name == wrapper {
				stmt = def.Body[0]
			}
			bindings([]syntax.Stmt{stmt}, func(id *syntax.Ident, by syntax.Stmt) {
				if v.bound[id.Name] == nil {
					v.bound[id.Name] = by
				}
			})
		}
	}
	return v.bound
}

// bindings calls f with each name that a block binds, excluding the names of functions in it, and the statement that
// binds it.
func bindings(stmts []syntax.Stmt, f func(id *syntax.Ident, by syntax.Stmt)) {
	for _, stmt := range stmts {
		bind := func(e syntax.Expr) {
			startree.Targets(e, func(e syntax.Expr) {
				if id, ok := e.(*syntax.Ident); ok {
					f(id, stmt)
				}
			})
		}
		switch stmt := stmt.(type) {
		case *syntax.AssignStmt:
			bind(stmt.LHS)
		case *syntax.ForStmt:
			bind(stmt.Vars)
		case *syntax.DefStmt:
			bind(stmt.Name)
		case *syntax.LoadStmt:
			for _, id := range stmt.To {
				bind(id)
			}
		}
		startree.Blocks(stmt, func(block []syntax.Stmt) { bindings(block, f) })
	}
}

// declared returns what a name of a function around the place is: a parameter whose default is a type, or a variable,
// judged by what the text of the function assigns to it.
func (v *View) declared(name string, steps int) (out []thing) {
	for _, n := range v.Query.path {
		def, ok := n.(*syntax.DefStmt)
		if !ok {
			continue
		}
		bindings(def.Body, func(id *syntax.Ident, by syntax.Stmt) {
			if id.Name != name || len(out) > 0 {
				return
			}
			switch by := by.(type) {
			case *syntax.AssignStmt:
				if by.LHS == syntax.Expr(id) {
					out = v.of(by.RHS, steps+1)
				}
			case *syntax.ForStmt:
				if by.Vars == syntax.Expr(id) {
					out = v.items(by.X, steps)
				}
			case *syntax.DefStmt:
				out = []thing{{def: by}}
			}
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
	what string // a parameter, a variable
}

// locals lists the names that the functions and comprehensions around the place bind, innermost first.
func (v *View) locals() []local {
	if v.inside != nil {
		return v.inside
	}
	out := []local{}
	add := func(id *syntax.Ident, what string) {
		if id != nil {
			out = append(out, local{id.Name, what})
		}
	}
	params := func(list []syntax.Expr) {
		for _, p := range list {
			add(startree.ParamName(p), "a parameter")
		}
	}
	for i := len(v.Query.path) - 1; i > 0; i-- {
		switch n := v.Query.path[i].(type) {
		case *syntax.LambdaExpr:
			params(n.Params)
		case *syntax.Comprehension:
			for _, clause := range n.Clauses {
				if f, ok := clause.(*syntax.ForClause); ok {
					startree.Targets(f.Vars, func(e syntax.Expr) {
						id, _ := e.(*syntax.Ident)
						add(id, "a variable of the comprehension")
					})
				}
			}
		case *syntax.DefStmt:
			params(n.Params)
			bindings(n.Body, func(id *syntax.Ident, by syntax.Stmt) {
				if _, ok := by.(*syntax.DefStmt); ok {
					add(id, "a function of "+n.Name.Name)
				} else {
					add(id, "a variable of "+n.Name.Name)
				}
			})
		}
	}
	v.inside = out
	return out
}
