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

// Key finds what stands in the bracket at a position, nil for none.
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

// Binds reports whether the file binds a name at the top level, and whether it has done so when it stands at a
// position.
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
	UnitFailed // its pass ended early; the reason was reported
)

// Unit is one file of the script.
type Unit struct {
	Path      string // in FS
	Shown     string // in positions
	Text      []byte
	File      *source.File
	Globals   starlark.StringDict
	Names     []string // of the globals, sorted, once one was missed
	State     unitState
	LoadStmts map[syntax.Position]*syntax.LoadStmt
	Loaded    map[*syntax.Ident]starlark.Value // what it loads, by the name that it gives it
	From      diag.Pos                         // where it was first loaded
	Missing   Findings                         // names that it loads and that are not there
	Calls     map[syntax.Position]source.Call  // calls looked up so far, while composing

	functions map[syntax.Position]syntax.Node // by position, once one is looked into
	assigned  map[string]syntax.Position      // where the statement ends that binds a name of the top level, once one is looked for
	keys      map[syntax.Position]syntax.Expr // what stands in brackets behind a value, by the bracket, likewise
	Called    map[syntax.Node]*Contract       // the functions that the flow calls
}

// ReportFrom reports what was found in a file, and how the file came to be loaded.
func (c *State) ReportFrom(u *Unit, found diag.List) {
	for _, d := range found {
		if u.From.IsValid() && d.Severity == diag.Error {
			d.Notes = append(d.Notes, diag.Note{Message: u.Shown + " is loaded", Pos: u.From})
		}
		c.Session.Report(d)
	}
}

// Key makes positions of one file comparable.
func Key(p syntax.Position) syntax.Position {
	return syntax.MakePosition(nil, p.Line, p.Col)
}

// Findings are those of one kind in a file, up to as many as anybody mends before checking again.
type Findings struct {
	List diag.List
	more int
}

const mostFindings = 100

// Room reports whether one more finds room. Else it is counted.
func (f *Findings) Room() bool {
	if len(f.List) < mostFindings {
		return true
	}
	f.more++
	return false
}

// Told returns the findings. The last one says how many came behind it.
func (f *Findings) Told() diag.List {
	if f.more > 0 {
		last := f.List[len(f.List)-1]
		last.Notes = append(last.Notes, diag.Note{Message: fmt.Sprintf("and %d more like this one", f.more)})
	}
	return f.List
}

// Named collects the globals that some code speaks of.
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
