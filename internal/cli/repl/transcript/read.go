package transcript

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// source is an entered statement, with the global names in it.
type source struct {
	text  string
	tree  *syntax.File
	names []occurrence
	inner []*syntax.CallExpr // calls of what an operator composes: (a >> b)(x)
	block bool               // a name is bound twice, or within a block
	self  bool               // x += 1 and nothing else
}

// occurrence is a place where a statement mentions a global name.
type occurrence struct {
	id     *syntax.Ident
	bound  bool // it is bound here
	within bool // in a block
	loop   bool // as the variable of a loop
	behind bool // the statement has bound it before, or has by the time it is read
	late   bool // it is read when a function is called
	called bool // f in f(x)
	tool   bool // f in agent(tools = [f])
}

var options = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}

// read parses an accepted statement.
func read(text string) *source {
	s := &source{text: text}
	tree, err := options.Parse("entry", text, 0)
	if err != nil {
		return s
	}
	all := func(string) bool { return true }
	if err := resolve.File(tree, all, func(string) bool { return false }); err != nil {
		return s
	}
	s.tree = tree
	r := &reader{source: s, bound: map[string]int{}}
	r.stmts(tree.Stmts, false)
	for i := range s.names {
		o := &s.names[i]
		o.behind = o.behind || o.late && r.bound[o.id.Name] > 0
		if r.bound[o.id.Name] > 1 {
			s.block = true
		}
	}
	if assign, ok := tree.Stmts[0].(*syntax.AssignStmt); ok && len(tree.Stmts) == 1 && assign.Op != syntax.EQ {
		_, s.self = assign.LHS.(*syntax.Ident)
	}
	return s
}

// reader lists the names of statements in the order in which they are evaluated.
type reader struct {
	*source
	bound map[string]int // number of bindings
	late  int            // number of functions around
	tools map[*syntax.Ident]bool
}

func (r *reader) stmts(stmts []syntax.Stmt, within bool) {
	for _, stmt := range stmts {
		switch stmt := stmt.(type) {
		case *syntax.AssignStmt:
			r.expr(stmt.RHS)
			if id, ok := stmt.LHS.(*syntax.Ident); ok && stmt.Op != syntax.EQ {
				r.see(occurrence{id: id})
				r.block = r.block || within || len(r.tree.Stmts) > 1
			}
			r.targets(stmt.LHS, within, false)
		case *syntax.DefStmt:
			r.bind(stmt.Name, within, false)
			for _, param := range stmt.Params {
				if def, ok := param.(*syntax.BinaryExpr); ok {
					r.expr(def.Y)
				}
			}
			r.late++
			r.stmts(stmt.Body, true)
			r.late--
		case *syntax.ForStmt:
			r.expr(stmt.X)
			r.targets(stmt.Vars, within, true)
			r.stmts(stmt.Body, true)
		case *syntax.WhileStmt:
			r.expr(stmt.Cond)
			r.stmts(stmt.Body, true)
		case *syntax.IfStmt:
			r.expr(stmt.Cond)
			r.stmts(stmt.True, true)
			r.stmts(stmt.False, true)
		case *syntax.ExprStmt:
			r.expr(stmt.X)
		case *syntax.ReturnStmt:
			if stmt.Result != nil {
				r.expr(stmt.Result)
			}
		case *syntax.LoadStmt:
			for _, id := range stmt.To {
				r.bind(id, within, false)
			}
		}
	}
}

// targets lists what an assignment binds or changes.
func (r *reader) targets(e syntax.Expr, within, loop bool) {
	startree.Targets(e, func(e syntax.Expr) {
		if id, ok := e.(*syntax.Ident); ok {
			r.bind(id, within, loop)
			return
		}
		r.expr(e)
	})
}

func (r *reader) bind(id *syntax.Ident, within, loop bool) {
	if r.late > 0 {
		return // a name of the function
	}
	r.block = r.block || within
	r.see(occurrence{id: id, bound: true, within: within, loop: loop})
	r.bound[id.Name]++
}

func (r *reader) see(o occurrence) {
	binding, ok := o.id.Binding.(*resolve.Binding)
	if !ok && !o.bound || ok && binding.Scope != resolve.Global && binding.Scope != resolve.Predeclared {
		return
	}
	o.late = r.late > 0
	o.behind = !o.bound && r.bound[o.id.Name] > 0
	o.tool = r.tools[o.id]
	r.names = append(r.names, o)
}

// expr lists the names that an expression reads.
func (r *reader) expr(e syntax.Expr) {
	callees := map[*syntax.Ident]bool{}
	var ends []bool // whether each node being left is a function
	syntax.Walk(e, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
			last := len(ends) - 1
			if ends[last] {
				r.late--
			}
			ends = ends[:last]
			return true
		case *syntax.CallExpr:
			if id, ok := n.Fn.(*syntax.Ident); ok {
				callees[id] = true
			}
			if parens, ok := n.Fn.(*syntax.ParenExpr); ok && r.late == 0 {
				if _, made := startree.Unparen(parens).(*syntax.BinaryExpr); made {
					r.inner = append(r.inner, n)
				}
			}
			r.toolsOf(n)
		case *syntax.Ident:
			r.see(occurrence{id: n, called: callees[n]})
		case *syntax.LambdaExpr:
			r.late++
			ends = append(ends, true)
			return true
		}
		ends = append(ends, false)
		return true
	})
}

// toolsOf records the names in the list of tools of an agent.
func (r *reader) toolsOf(call *syntax.CallExpr) {
	for _, arg := range call.Args {
		named, ok := arg.(*syntax.BinaryExpr)
		if !ok || named.Op != syntax.EQ {
			continue
		}
		list, ok := named.Y.(*syntax.ListExpr)
		if key, isID := named.X.(*syntax.Ident); !ok || !isID || key.Name != "tools" {
			continue
		}
		for _, item := range list.List {
			if id, ok := item.(*syntax.Ident); ok {
				if r.tools == nil {
					r.tools = map[*syntax.Ident]bool{}
				}
				r.tools[id] = true
			}
		}
	}
}
