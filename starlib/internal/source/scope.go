package source

import (
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// A scope is a block of the language: the file, a function or a comprehension. Control statements open none. The names
// that its statements bind are known when it is entered, since a name belongs to its block from the start.
type scope struct {
	parent *scope
	node   syntax.Node // *syntax.File, *syntax.DefStmt, *syntax.LambdaExpr or *syntax.Comprehension
	names  map[string]*binding
	// For functions, their place in the function around them:
	loop    *loop // the innermost loop
	leaving bool  // in a return statement: no further iteration of the loop follows
}

// A loop is a for or while statement whose body is being walked.
type loop struct {
	outer      *loop
	scope      *scope // the block that holds the statement
	start, end spot   // extent of its body
	vars       syntax.Expr
}

type bindKind uint8

const (
	assigned bindKind = iota
	defined
	parameter
	looped
	loaded
)

// A binding is a name within a scope.
type binding struct {
	name  string
	kind  bindKind // kind of the first site
	scope *scope
	sites []*syntax.Ident // all identifiers that bind it, in source order
	value syntax.Expr     // the value in `name = value`; nil unless that is the only site
	def   *syntax.DefStmt // nil unless that is the only site
	from  string          // its name in the loaded file
	uses  int
	calls int // uses that cannot outlive an iteration of a loop: calls, and arguments of builtins that call at once

	known   known // what value is; valid once settled
	settled bool
	busy    bool

	hidden    hiddenUses
	signature *Signature // signature of def, computed when it is called
}

func (s *scope) file() bool { return s.parent == nil }

func (s *scope) function() bool {
	switch s.node.(type) {
	case *syntax.DefStmt, *syntax.LambdaExpr:
		return true
	}
	return false
}

// inFunction reports whether code in s runs only when something is called.
func (s *scope) inFunction() bool {
	for ; s != nil; s = s.parent {
		if s.function() {
			return true
		}
	}
	return false
}

// lookup returns the binding of a name, or nil for builtins and unknown names, and the outermost of the functions
// between s and the binding.
func (s *scope) lookup(name string) (b *binding, crossed *scope) {
	for ; s != nil; s = s.parent {
		if b := s.names[name]; b != nil {
			return b, crossed
		}
		if s.function() {
			crossed = s
		}
	}
	return nil, nil
}

func (s *scope) bind(id *syntax.Ident, kind bindKind) *binding {
	b := s.names[id.Name]
	if b == nil {
		if s.names == nil {
			s.names = map[string]*binding{}
		}
		b = &binding{name: id.Name, kind: kind, scope: s}
		s.names[id.Name] = b
	}
	b.sites = append(b.sites, id)
	b.value, b.def = nil, nil
	return b
}

// targets binds the names on the left side of an assignment.
func (s *scope) targets(e syntax.Expr, kind bindKind) {
	startree.Targets(e, func(e syntax.Expr) {
		if id, ok := e.(*syntax.Ident); ok {
			s.bind(id, kind)
		}
	})
}

// params binds the parameters of a def or lambda.
func (s *scope) params(list []syntax.Expr) {
	for _, p := range list {
		if id := startree.ParamName(p); id != nil {
			s.bind(id, parameter)
		}
	}
}

// collect binds the names that the statements of a block bind, excluding those inside functions and comprehensions.
func (s *scope) collect(stmts []syntax.Stmt) {
	for _, stmt := range stmts {
		switch x := stmt.(type) {
		case *syntax.AssignStmt:
			id, simple := startree.Unparen(x.LHS).(*syntax.Ident)
			if !simple {
				s.targets(x.LHS, assigned)
				break
			}
			if b := s.bind(id, assigned); len(b.sites) == 1 && x.Op == syntax.EQ {
				b.value = x.RHS
			}
		case *syntax.DefStmt:
			if b := s.bind(x.Name, defined); len(b.sites) == 1 {
				b.def = x
			}
		case *syntax.ForStmt:
			s.targets(x.Vars, looped)
		case *syntax.LoadStmt:
			for i, id := range x.To {
				s.bind(id, loaded).from = x.From[i].Name
			}
		}
		startree.Blocks(stmt, s.collect)
	}
}

// binds reports whether e, the variables of a loop, contains the name.
func binds(e syntax.Expr, name string) (found bool) {
	startree.Targets(e, func(e syntax.Expr) {
		id, ok := e.(*syntax.Ident)
		found = found || ok && id.Name == name
	})
	return found
}
