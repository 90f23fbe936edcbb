package starlib

import (
	"context"
	"errors"
	"sync/atomic"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// state is what is known of a script: its session, its files and what they declare. It grows while
// the script loads and does not change any more after that, when all runs of the module share it.
type state struct {
	ctx         context.Context
	session     *engine.Session
	methods     methods
	predeclared starlark.StringDict // the names of the language
	thread      *starlark.Thread    // of the file that executes; operators have none of their own
	units       map[string]*unit    // by path
	shown       map[string]*unit    // by the name that positions carry
	disk        disk
	files       map[string]string // texts that file() read, by path
	types       declared
	callbacks   []starlark.Value                     // functions that the graph calls, to be frozen with it
	classOf     func(fn starlark.Value) engine.Class // the most that a function may do to the world
	ends        []func()                             // called once composing has ended, when all functions are there
	claimed     []*engine.Tool                       // whose effect the script says
	undescribed map[diag.Pos]bool                    // functions of which it was said that they describe no tool
	budgets     map[string]namedBudget               // that have a name
	uses        []Use                                // of capabilities
	compared    int                                  // names, for suggestions
	sealed      atomic.Bool
}

// methods finds the methods of the values that belong to a kind: "node", "type".
type methods interface {
	method(kind, name string, recv starlark.Value) starlark.Value // nil when there is none
	methodNames(kind string) []string
}

// env is what builtins know of the thread that calls them.
type env struct {
	c      *state
	branch engine.Branch // nil while composing
	strand onBranch      // of the branch
	beside bool          // of the flow: neither composing nor on a branch
}

// onBranch is the Starlark side of a branch, as builtins and values need it.
type onBranch interface {
	// leave takes a value out of the script for a node, and freezes it there.
	leave(thread *starlark.Thread, v starlark.Value, taker string) (generable.Value, error)
	// keep freezes what was taken out of the script, and remembers where.
	keep(thread *starlark.Thread, v starlark.Value, out generable.Value, taker string)
	// settle debits the steps that were used, where the script is left.
	settle() error
	// debit debits the thread's steps up to a number of them.
	debit(steps uint64) error
	// failure makes the engine's error of what a callback failed by.
	failure(err error, code diag.Code) error
}

const envKey = "agentscript"

func envOf(thread *starlark.Thread) *env {
	e, _ := thread.Local(envKey).(*env)
	return e
}

func (e *env) running() bool { return e.branch != nil || e.beside }

// source finds the parsed file of a position, nil for code outside of files.
func (c *state) source(pos syntax.Position) *source.File {
	if u := c.shown[pos.Filename()]; u != nil {
		return u.file
	}
	return nil
}

// here is where the executing file stands: at the operator or index that is being evaluated.
func (c *state) here() syntax.Position {
	if c.thread == nil || c.thread.CallStackDepth() == 0 {
		return syntax.Position{}
	}
	return c.thread.CallFrame(0).Pos
}

// report adds a diagnostic while composing. In a run it gives an error to raise instead.
func (c *state) report(found ...*diag.Diagnostic) error {
	if c.sealed.Load() {
		return raised(found...)
	}
	for _, d := range found {
		c.session.Report(d)
	}
	return nil
}

// raised makes one error of what was found.
func raised(found ...*diag.Diagnostic) error {
	d := found[0]
	e := engine.Errorf(engine.KindScript, d.Code, "%s", d.Message)
	for _, more := range found[1:] {
		e.Message += "\n" + more.Message
	}
	if d.Label != "" {
		e.Message += ": " + d.Label
	}
	if len(d.Help) > 0 {
		e.Help = d.Help[0]
	}
	return e
}

// errorf makes an error with a code for a script to fail by.
func errorf(code diag.Code, format string, args ...any) *engine.Error {
	return engine.Errorf(engine.KindScript, code, format, args...)
}

func (c *state) typ(t *generable.Type) *typeValue { return &typeValue{t: t, c: c} }

func (c *state) node(n *engine.Node) *nodeValue { return &nodeValue{n: n, c: c} }

// position converts a position of the interpreter.
func position(p syntax.Position) diag.Pos {
	if !p.IsValid() && p.Filename() == "<invalid>" {
		return diag.Pos{}
	}
	return diag.Pos{File: p.Filename(), Line: int(p.Line), Col: int(p.Col)}
}

// engineError finds the engine's error in a chain, nil when there is none.
func engineError(err error) *engine.Error {
	var e *engine.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
