package script

import (
	"fmt"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// Function finds the function at a position.
func (u *Unit) Function(at syntax.Position) syntax.Node {
	if u.functions == nil {
		u.functions = map[syntax.Position]syntax.Node{}
		syntax.Walk(u.File.Syntax(), func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DefStmt:
				u.functions[Key(n.Def)] = n
				u.functions[Key(n.Name.NamePos)] = n
			case *syntax.LambdaExpr:
				u.functions[Key(n.Lambda)] = n
			}
			return true
		})
	}
	return u.functions[Key(at)]
}

// Key returns the expression in the bracket at a position, or nil.
func (u *Unit) Key(bracket syntax.Position) syntax.Expr {
	if u.keys == nil {
		u.keys = map[syntax.Position]syntax.Expr{}
		syntax.Walk(u.File.Syntax(), func(n syntax.Node) bool {
			if x, ok := n.(*syntax.IndexExpr); ok {
				u.keys[Key(x.Lbrack)] = x.Y
			}
			return true
		})
	}
	return u.keys[Key(bracket)]
}

// Binds reports whether the file binds a name at the top level, and whether it has done so before the position here.
func (u *Unit) Binds(name string, here syntax.Position) (somewhere, already bool) {
	if u.assigned == nil {
		u.assigned = map[string]syntax.Position{}
		for _, stmt := range u.File.Syntax().Stmts {
			_, end := stmt.Span()
			bind := func(e syntax.Expr) {
				if id, ok := e.(*syntax.Ident); ok {
					if _, twice := u.assigned[id.Name]; !twice {
						u.assigned[id.Name] = end
					}
				}
			}
			switch stmt := stmt.(type) {
			case *syntax.AssignStmt:
				startree.Targets(stmt.LHS, bind)
			case *syntax.DefStmt:
				bind(stmt.Name)
			case *syntax.LoadStmt:
				for _, id := range stmt.To {
					bind(id)
				}
			}
		}
	}
	end, somewhere := u.assigned[name]
	return somewhere, somewhere && (end.Line < here.Line || end.Line == here.Line && end.Col < here.Col)
}

type unitState uint8

const (
	UnitNew unitState = iota
	UnitLoading
	UnitDone
	UnitFailed // its execution ended early; the reason was reported
)

// Unit is one file of the script.
type Unit struct {
	Path      string // path in FS
	Shown     string // name in positions
	Text      []byte
	File      *source.File
	Globals   starlark.StringDict
	Names     []string // names of the globals, sorted, computed when one is missing
	State     unitState
	LoadStmts map[syntax.Position]*syntax.LoadStmt
	Loaded    map[*syntax.Ident]starlark.Value // the values it loads, by the names it binds them to
	From      diag.Pos                         // where it was first loaded
	Missing   Findings                         // names that it loads and that do not exist
	Calls     map[syntax.Position]source.Call  // calls looked up so far, while composing

	functions map[syntax.Position]syntax.Node // by position, computed on demand
	assigned  map[string]syntax.Position      // the end of the statement that binds a top-level name, computed on demand
	keys      map[syntax.Position]syntax.Expr // the expressions in brackets after a value, by bracket, computed on demand
	Called    map[syntax.Node]*Contract       // the functions that the flow calls
}

// ReportFrom reports findings in a file, with notes on how the file came to be loaded.
func (c *State) ReportFrom(u *Unit, found diag.List) {
	for _, d := range found {
		if u.From.IsValid() && d.Severity == diag.Error {
			d.Notes = append(d.Notes, diag.Note{Message: u.Shown + " is loaded", Pos: u.From})
		}
		c.Session.Report(d)
	}
}

// Key makes positions in one file comparable.
func Key(p syntax.Position) syntax.Position {
	return syntax.MakePosition(nil, p.Line, p.Col)
}

// Findings are the findings of one kind in a file. Their number is bounded by what anybody fixes before checking again.
type Findings struct {
	List diag.List
	more int
}

const mostFindings = 100

// Room reports whether there is room for one more finding, and counts it otherwise.
func (f *Findings) Room() bool {
	if len(f.List) < mostFindings {
		return true
	}
	f.more++
	return false
}

// Told returns the findings. A note on the last one counts those left out.
func (f *Findings) Told() diag.List {
	if f.more > 0 {
		last := f.List[len(f.List)-1]
		last.Notes = append(last.Notes, diag.Note{Message: fmt.Sprintf("and %d more like this one", f.more)})
	}
	return f.List
}

// Named collects the globals that code refers to.
func Named(code syntax.Node, into map[string]bool) {
	syntax.Walk(code, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			if b, ok := id.Binding.(*resolve.Binding); ok && b.Scope == resolve.Global {
				into[id.Name] = true
			}
		}
		return true
	})
}
