package script

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// State is what is known of a script: its session, its files and what they declare. It grows while
// the script loads and does not change any more after that, when all runs of the module share it.
type State struct {
	Context     context.Context
	Session     *flow.Session
	Methods     methods
	Predeclared starlark.StringDict // the names of the language
	Thread      *starlark.Thread    // of the file that executes; operators have none of their own
	Units       map[string]*Unit    // by path
	ByName      map[string]*Unit    // by the name that positions carry
	Disk        Disk
	Files       map[string]string // texts that file() read, by path
	Links       map[string]bool   // paths that lead to files through symbolic links
	Flow        *flowjson.Entry   // the entry, where that is a flow as JSON; else nil
	Types       declared
	Callbacks   []starlark.Value                     // functions that the graph calls, to be frozen with it
	EffectClass func(fn starlark.Value) engine.Class // the most that a function may do to the world
	Nodes       func(v starlark.Value) []*flow.Node  // that a value is or speaks of
	Earlier     starlark.StringDict                  // what earlier entries of a workspace defined; nil in a script
	// Shared adds to values that branches are to see what they reach of Earlier; nil in a script, which is frozen.
	Shared      func(values ...starlark.Value) []starlark.Value
	AtEnd       []func()                          // called once composing has ended, when all functions are there
	Composed    []func()                          // called before functions are checked, when it is known what comes to each step
	Claimed     []*agent.Tool                     // whose effect the script says
	Undescribed map[diag.Pos]bool                 // functions of which it was said that they describe no tool
	Budgets     map[string]NamedBudget            // that have a name
	Uses        []Use                             // of capabilities
	Took        func(at syntax.Position, way int) // counts a way of the call at a position; nil unless the script is covered
	Spend       func(steps int) error             // takes work of a builtin off the steps of loading
	ended       bool                              // loading was seen to have ended before it was done
	compared    int                               // names, for suggestions
	Sleeps      bool                              // a file speaks of sleep
	Sealed      atomic.Bool
}

// methods finds the methods of the values that belong to a kind: "node", "type".
type methods interface {
	Method(kind, name string, recv starlark.Value) starlark.Value // nil when there is none
	MethodNames(kind string) []string
}

// Env is what builtins know of the thread that calls them.
type Env struct {
	State      *State
	Branch     engine.Branch // nil while composing
	Thread     BranchThread  // of the branch
	Concurrent bool          // of the flow: neither composing nor on a branch
}

// BranchThread is the Starlark side of a branch, as builtins and values need it.
type BranchThread interface {
	// leave takes a value out of the script for a node, and freezes it there.
	Leave(thread *starlark.Thread, v starlark.Value, taker string) (generable.Value, error)
	// keep freezes what was taken out of the script, and remembers where.
	Keep(thread *starlark.Thread, v starlark.Value, out generable.Value, taker string)
	// settle debits the steps that were used, where the script is left.
	Settle() error
	// debit debits the thread's steps up to a number of them.
	Debit(steps uint64) error
	// failure makes the engine's error of what a callback failed by.
	Failure(err error, code diag.Code) error
}

// EnvKey is the name under which a thread keeps its [Env].
const EnvKey = "agentscript"

// EnvOf returns the environment of a thread, nil for one outside of a script.
func EnvOf(thread *starlark.Thread) *Env {
	e, _ := thread.Local(EnvKey).(*Env)
	return e
}

// Begin begins loading within a context.
func (c *State) Begin(ctx context.Context) { c.Context, c.ended = ctx, false }

// Ended reports whether loading was cancelled, or is out of time. It is for those who load.
func (c *State) Ended() bool {
	c.ended = c.ended || c.Context != nil && c.Context.Err() != nil
	return c.ended
}

// Running reports whether a function runs; else the script loads.
func (e *Env) Running() bool { return e.Branch != nil || e.Concurrent }

// SourceAt finds the parsed file of a position, nil for code outside of files.
func (c *State) SourceAt(pos syntax.Position) *source.File {
	if u := c.ByName[pos.Filename()]; u != nil {
		return u.File
	}
	return nil
}

// Here is where the executing file stands: at the operator or index that is being evaluated.
func (c *State) Here() syntax.Position {
	if c.Thread == nil || c.Thread.CallStackDepth() == 0 {
		return syntax.Position{}
	}
	return c.Thread.CallFrame(0).Pos
}

// Later reports whether the file that executes gives a name a meaning in a statement that it has not come to the end
// of.
func (c *State) Later(name string) bool {
	if c.Thread == nil || c.Thread.CallStackDepth() == 0 {
		return false
	}
	here := c.Thread.CallFrame(c.Thread.CallStackDepth() - 1).Pos // of the top level
	u := c.ByName[here.Filename()]
	if u == nil || u.File == nil {
		return false
	}
	somewhere, already := u.Binds(name, here)
	return somewhere && !already
}

// IsType reports whether a name is that of a type: of the language, or of one that was declared.
func (c *State) IsType(name string) bool {
	if v := c.Predeclared[name]; v != nil {
		return v.Type() == "type"
	}
	return slices.ContainsFunc(c.Types.All, func(t *generable.Type) bool { return t.Name == name })
}

// KeySpan is the place of what stands in the brackets at a position, of two the last when last is set; or, where a
// binary operator is there, of its right operand. It is the position itself where neither is.
func (c *State) KeySpan(pos syntax.Position, last bool) diag.Span {
	at := diag.Span{Pos: Position(pos)}
	u := c.ByName[pos.Filename()]
	if u == nil || u.File == nil {
		return at
	}
	if op, ok := u.File.OperatorAt(pos); ok {
		if !last {
			return op.Span
		}
		return op.Right
	}
	key := u.Key(pos)
	if pair, ok := key.(*syntax.TupleExpr); ok && len(pair.List) == 2 && last {
		key = pair.List[1]
	}
	if key == nil {
		return at
	}
	return u.File.SpanOf(key)
}

// TypeNames are the nominal types that were declared so far.
func (c *State) TypeNames() []string {
	return text.Each(c.Types.All, func(t *generable.Type) string { return t.Name })
}

// Report adds a diagnostic while composing. In a run it gives an error to raise instead.
func (c *State) Report(found ...*diag.Diagnostic) error {
	if c.Sealed.Load() {
		return Raised(found...)
	}
	c.Session.Report(found...)
	return nil
}

// NamedBudget is where a budget of a name was made first.
type NamedBudget struct {
	Limits engine.Limits
	At     diag.Span
}

// Use is a place where a script uses a capability. Its target is "" where it is not written out,
// and its operation where the module is given a name of its own.
type Use struct {
	capability.Use
	Span diag.Span

	Class engine.Class // what the operation does; "" of what is no call of the script

	Refused *diag.Diagnostic // nil, or what was reported here of a use that is not granted
}

// NameSpan is the place of a function's name.
func (c *State) NameSpan(fn *starlark.Function) diag.Span {
	at := diag.Span{Pos: Position(fn.Position()), Len: len("def")}
	if u := c.ByName[at.File]; u != nil {
		for _, stmt := range u.File.Syntax().Stmts {
			if def, ok := stmt.(*syntax.DefStmt); ok && Key(def.Def) == Key(fn.Position()) {
				return NameSpan(def.Name)
			}
		}
	}
	return at
}

// GlobalSpan is the place of the name that a file assigns a value, else the file.
func (c *State) GlobalSpan(u *Unit, name string) diag.Span {
	at := diag.Span{Pos: diag.Pos{File: u.Shown}}
	if u.File == nil {
		return at
	}
	for _, stmt := range u.File.Syntax().Stmts {
		if a, ok := stmt.(*syntax.AssignStmt); ok {
			if id, ok := a.LHS.(*syntax.Ident); ok && id.Name == name {
				at = NameSpan(id)
			}
		} else if def, ok := stmt.(*syntax.DefStmt); ok && def.Name.Name == name {
			at = NameSpan(def.Name)
		}
	}
	return at
}

// IndexFunctions has runs find functions, and change nothing.
func (c *State) IndexFunctions() {
	for _, u := range c.Units {
		if u.File != nil {
			u.Function(syntax.Position{})
		}
	}
}

// mostCompared bounds how many names of a usual length are compared while a script loads, to say
// what unknown ones may have meant: a script can have many of both.
const mostCompared = 1_000_000

// Suggest is DidYouMean as long as that is not too much work, which grows with the square of the
// name's length.
func (c *State) Suggest(name string, among []string) string {
	if !c.compares(name, among) {
		return ""
	}
	return DidYouMean(name, among)
}

// Meant is the same for the name that a diagnostic is about.
func (c *State) Meant(d *diag.Diagnostic, name string, groups ...[]string) bool {
	for _, among := range groups {
		if !c.compares(name, among) {
			return false
		}
	}
	return d.Meant(name, groups...)
}

func (c *State) compares(name string, among []string) bool {
	c.compared += len(among) * (1 + len(name)*len(name)/128)
	return c.compared <= mostCompared && !c.Ended()
}
