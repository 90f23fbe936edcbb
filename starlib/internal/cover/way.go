package cover

import (
	"fmt"
	"sync/atomic"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// Way is the kind of a place that is not code, but a way that a call of a function or node can go: the alternative that
// is tried, the one that wins, a retry, a failure that is handled. The ways of nodes are known from the graph; the ways
// of calls from the functions that make them.
const Way Kind = "way"

// The ways of calls whose ways do not depend on their arguments.
const (
	AttemptOK     = 0
	AttemptFailed = 1

	RetryAgain  = 0
	BranchFails = 0
)

// routed is a call that can go several ways.
type routed struct {
	fn    diag.Pos // position of the builtin's name
	first int      // index of its first place
	n     int
	ran   atomic.Bool
}

// composes reports whether the call composed a node at one of the given positions, and has made no call since.
func (r *routed) composes(nodes map[diag.Pos]bool) bool {
	return r != nil && nodes[r.fn] && !r.ran.Load()
}

// took counts a way. A computed list of alternatives has two ways: the first alternative, and all others.
func (f *File) took(at syntax.Position, way int) {
	if r := f.calls[script.Key(at)]; r != nil {
		r.ran.Store(true)
		f.counts[r.first+min(way, r.n-1)].Add(1)
	}
}

// Took counts that the call at a position takes one of its ways.
func (c *Counters) Took(at syntax.Position, way int) {
	c.mu.Lock()
	f := c.named[at.Filename()]
	c.mu.Unlock()
	if f != nil {
		f.took(at, way)
	}
}

// addCall adds the ways of a call in a function, if it is a call of a builtin that has ways. The file must be resolved.
func (f *File) addCall(call *syntax.CallExpr, in function) {
	fn, ok := startree.Unparen(call.Fn).(*syntax.Ident)
	if !ok {
		return
	}
	if b, ok := fn.Binding.(*resolve.Binding); !ok || b.Scope != resolve.Predeclared {
		return
	}
	var names []string
	at := []syntax.Node{call} // the node of each way, or the node of all
	switch fn.Name {
	case "attempt":
		names = []string{"ok", "failed"}
	case "retry":
		if most, ok := argument(call, "max").(*syntax.Literal); !ok || most.Raw != "1" {
			names = []string{"again"}
		}
	case "fallback", "race":
		names, at = alternatives(call, fn.Name == "race")
	case "parallel", "stream":
		policy := argument(call, "on_error")
		if text, ok := policy.(*syntax.Literal); policy != nil && (!ok || text.Value != "raise") {
			names = []string{"a branch fails"}
		}
	}
	if names == nil {
		return
	}
	r := &routed{fn: script.Position(fn.NamePos), first: len(f.places), n: len(names)}
	for i, name := range names {
		start, end := at[min(i, len(at)-1)].Span()
		f.places = append(f.places, Place{Kind: Way, Name: fn.Name + ": " + name, Pos: script.Position(start), EndLine: int(end.Line), EndCol: int(end.Col),
			Function: in.name, FunctionLine: in.line})
	}
	f.calls[script.Key(call.Lparen)] = r
	for i := range r.n {
		f.ways[r.first+i] = r
	}
}

// argument returns the argument that a call passes by a name, or nil.
func argument(call *syntax.CallExpr, name string) syntax.Expr {
	for _, arg := range call.Args {
		if by, ok := arg.(*syntax.BinaryExpr); ok && by.Op == syntax.EQ {
			if id, ok := by.X.(*syntax.Ident); ok && id.Name == name {
				return startree.Unparen(by.Y)
			}
		}
	}
	return nil
}

// alternatives returns the names and nodes of the alternatives that a call of fallback or race tries.
func alternatives(call *syntax.CallExpr, race bool) (names []string, at []syntax.Node) {
	var list []syntax.Expr
	if len(call.Args) > 0 {
		switch x := startree.Unparen(call.Args[0]).(type) {
		case *syntax.ListExpr:
			list = x.List
		case *syntax.TupleExpr:
			list = x.List
		}
	}
	suffix := ""
	if race {
		suffix = " wins"
	}
	if len(list) == 0 {
		return []string{"the first" + suffix, "a later one" + suffix}, []syntax.Node{call}
	}
	for i, e := range list {
		names, at = append(names, fmt.Sprintf("%d: %s%s", i+1, nameOf(e), suffix)), append(at, e)
	}
	return names, at
}

// nameOf returns a readable name for what an alternative calls.
func nameOf(e syntax.Expr) string {
	switch x := startree.Unparen(e).(type) {
	case *syntax.Ident:
		return x.Name
	case *syntax.DotExpr:
		return nameOf(x.X) + "." + x.Name.Name
	case *syntax.LambdaExpr:
		return "lambda"
	case *syntax.TupleExpr: // (f, x)
		if len(x.List) > 0 {
			return nameOf(x.List[0])
		}
	case *syntax.CallExpr:
		return nameOf(x.Fn) + "(...)"
	}
	return "call"
}
