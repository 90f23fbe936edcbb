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

// State is what is known about a script: its session, its files and what they declare. It grows while the script loads.
// Afterwards it does not change, and all runs of the module share it.
type State struct {
	Context     context.Context
	Session     *flow.Session
	Methods     methods
	Predeclared starlark.StringDict // the names of the language
	Thread      *starlark.Thread    // the thread of the executing file; operators get no thread passed
	Units       map[string]*Unit    // by path
	ByName      map[string]*Unit    // by name in positions
	Disk        Disk
	Files       map[string]string // texts that file() read, by path
	Links       map[string]bool   // paths that lead to files through symbolic links
	Flow        *flowjson.Entry   // the entry if it is a flow as JSON, otherwise nil
	Types       declared
	Callbacks   []starlark.Value                     // functions that the graph calls, which are frozen with it
	EffectClass func(fn starlark.Value) engine.Class // the strongest effect that a function may have
	Nodes       func(v starlark.Value) []*flow.Node  // the nodes that a value is or refers to
	Earlier     starlark.StringDict                  // what earlier entries of a workspace defined; nil in a script
	// Shared adds to values that branches can see the values of Earlier that they reach; nil in a script, which is
	// frozen.
	Shared      func(values ...starlark.Value) []starlark.Value
	AtEnd       []func()                          // called after composing has ended, when all functions are defined
	Composed    []func()                          // called before functions are checked, when the input of each step is known
	Claimed     []*agent.Tool                     // tools with a declared effect
	Undescribed map[diag.Pos]bool                 // functions already reported as tools without a description
	Budgets     map[string]NamedBudget            // named budgets
	Uses        []Use                             // uses of capabilities
	Took        func(at syntax.Position, way int) // counts a way of the call at a position; nil unless the script is covered
	Spend       func(steps int) error             // charges work of a builtin to the steps of loading
	ended       bool                              // loading was found to have ended before it was done
	compared    int                               // names compared, for suggestions
	Sleeps      bool                              // a file refers to sleep
	Sealed      atomic.Bool
}

// methods finds the methods of values by their kind: "node", "type".
type methods interface {
	Method(kind, name string, recv starlark.Value) starlark.Value // nil if it does not exist
	MethodNames(kind string) []string
}

// Env is what builtins know about the thread that calls them.
type Env struct {
	State      *State
	Branch     engine.Branch // nil while composing
	Thread     BranchThread  // of the branch
	Concurrent bool          // the call is outside of the flow: neither composing nor on a branch
}

// BranchThread is the Starlark side of a branch, as builtins and values need it.
type BranchThread interface {
	// Leave converts a value that is passed to a node, and freezes it.
	Leave(thread *starlark.Thread, v starlark.Value, taker string) (generable.Value, error)
	// Keep freezes a value that has left the script, and remembers where.
	Keep(thread *starlark.Thread, v starlark.Value, out generable.Value, taker string)
	// Settle debits the steps used so far when control leaves the script.
	Settle() error
	// Debit debits the thread's steps up to the given number.
	Debit(steps uint64) error
	// Failure converts the error of a callback to an error of the engine.
	Failure(err error, code diag.Code) error
}

// EnvKey is the name under which a thread keeps its [Env].
const EnvKey = "agentscript"

// EnvOf returns the environment of a thread, or nil for a thread outside of a script.
func EnvOf(thread *starlark.Thread) *Env {
	e, _ := thread.Local(EnvKey).(*Env)
	return e
}

// Begin begins loading within a context.
func (c *State) Begin(ctx context.Context) { c.Context, c.ended = ctx, false }

// Ended reports whether loading was cancelled, or is out of time. Only the loader may call it.
func (c *State) Ended() bool {
	c.ended = c.ended || c.Context != nil && c.Context.Err() != nil
	return c.ended
}

// Running reports whether a function is running. If not, the script is loading.
func (e *Env) Running() bool { return e.Branch != nil || e.Concurrent }

// SourceAt finds the parsed file of a position, or nil for code outside of files.
func (c *State) SourceAt(pos syntax.Position) *source.File {
	if u := c.ByName[pos.Filename()]; u != nil {
		return u.File
	}
	return nil
}

// Here returns the current position in the executing file: the operator or index that is being evaluated.
func (c *State) Here() syntax.Position {
	if c.Thread == nil || c.Thread.CallStackDepth() == 0 {
		return syntax.Position{}
	}
	return c.Thread.CallFrame(0).Pos
}

// Later reports whether the executing file binds a name in a statement that it has not finished yet.
func (c *State) Later(name string) bool {
	if c.Thread == nil || c.Thread.CallStackDepth() == 0 {
		return false
	}
	here := c.Thread.CallFrame(c.Thread.CallStackDepth() - 1).Pos // at the top level
	u := c.ByName[here.Filename()]
	if u == nil || u.File == nil {
		return false
	}
	somewhere, already := u.Binds(name, here)
	return somewhere && !already
}

// IsType reports whether a name is the name of a type, of the language or declared.
func (c *State) IsType(name string) bool {
	if v := c.Predeclared[name]; v != nil {
		return v.Type() == "type"
	}
	return slices.ContainsFunc(c.Types.All, func(t *generable.Type) bool { return t.Name == name })
}

// KeySpan returns the span of the key in the brackets at a position: the last of two if last is set. For a binary
// operator at the position it returns the span of the operator, or of its right operand if last is set. If neither is
// there, it returns the position itself.
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

// TypeNames returns the nominal types declared so far.
func (c *State) TypeNames() []string {
	return text.Each(c.Types.All, func(t *generable.Type) string { return t.Name })
}

// Report adds a diagnostic while composing. In a run it returns an error instead.
func (c *State) Report(found ...*diag.Diagnostic) error {
	if c.Sealed.Load() {
		return Raised(found...)
	}
	c.Session.Report(found...)
	return nil
}

// NamedBudget is where a named budget was made first.
type NamedBudget struct {
	Limits engine.Limits
	At     diag.Span
}

// Use is a place where a script uses a capability. Its target is "" if the script computes it, and its operation is ""
// if the module is bound to another name.
type Use struct {
	capability.Use
	Span diag.Span

	Class engine.Class // the class of the operation; "" if it is not a call of the script

	Refused *diag.Diagnostic // the diagnostic about a use that is not granted, or nil
}

// NameSpan returns the span of a function's name.
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

// GlobalSpan returns the span of the name that a file assigns a value, or the file if it is not found.
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

// IndexFunctions builds the index of functions, so that runs can look functions up without changing the state.
func (c *State) IndexFunctions() {
	for _, u := range c.Units {
		if u.File != nil {
			u.Function(syntax.Position{})
		}
	}
}

// mostCompared bounds the names of a usual length that are compared while a script loads, to suggest what unknown names
// may have meant: a script can have many of both.
const mostCompared = 1_000_000

// Suggest is DidYouMean until that becomes too much work, which grows with the square of the name's length.
func (c *State) Suggest(name string, among []string) string {
	if !c.compares(name, among) {
		return ""
	}
	return DidYouMean(name, among)
}

// Meant is like Suggest, for the name that a diagnostic is about.
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
