package script

import (
	"fmt"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// Typed keeps what a function is called with, for [state.checkCalls]. One that is called with
// values of several types, as that of a factory may be, has none that is certain. It reports whether
// this is new: a factory may make many nodes of one function.
func (u *Unit) Typed(fn syntax.Node, params []*generable.Type) bool {
	if u.Params == nil {
		u.Params = map[syntax.Node][]*generable.Type{}
	}
	old, twice := u.Params[fn]
	if !twice {
		u.Params[fn] = slices.Clone(params)
		return true
	}
	differs := len(old) != len(params)
	for i := range old {
		if i >= len(params) || old[i] != params[i] {
			old[i], differs = nil, true
		}
	}
	return differs
}

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

	functions map[syntax.Position]syntax.Node   // by position, once one is looked into
	Params    map[syntax.Node][]*generable.Type // of the functions that the graph calls
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

// Told gives the findings. The last one says how many came behind it.
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
