package starlib

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// composer is the state of one Load: the session, the files, and the thread that executes at
// the moment. After loading it does not change any more and serves all runs of the module.
type composer struct {
	ctx         context.Context
	opts        Options
	table       *Table
	predeclared starlark.StringDict // the names of the language
	environment starlark.StringDict // these, and what the compiler adds
	session     *engine.Session
	thread      *starlark.Thread  // of the file that executes; operators have none of their own
	units       map[string]*unit  // by path
	shown       map[string]*unit  // by the name that positions carry
	loading     []*unit           // the chain of files that load each other, outermost first
	files       map[string]string // texts that file() read, by path
	types       declared
	callbacks   []starlark.Value                 // functions that the graph calls, to be frozen with it
	toolRuns    []*toolRun                       // made so far, see noting
	claimed     []*engine.Tool                   // whose effect the script says
	steps       uint64                           // of the interpreter, left for loading
	stop        error                            // why the executing file was stopped
	over        bool                             // loading was cancelled, which is reported once
	heard       map[*engine.Node]bool            // nodes that functions call, looked into once
	undescribed map[diag.Pos]bool                // functions of which it was said that they describe no tool
	calls       map[*diag.Diagnostic][]diag.Note // that led to the function in which it was found
	budgets     map[string]namedBudget           // that have a name
	uses        []Use                            // of capabilities
	compared    int                              // names, for suggestions
	sealed      atomic.Bool
}

// env is what builtins know of the thread that calls them.
type env struct {
	c      *composer
	branch *engine.Branch // nil while composing
	strand *strand
	beside bool // of the flow: neither composing nor on a branch
}

const envKey = "agentscript"

func envOf(thread *starlark.Thread) *env {
	e, _ := thread.Local(envKey).(*env)
	return e
}

func (e *env) running() bool { return e.branch != nil || e.beside }

// source finds the parsed file of a position, nil for code outside of files.
func (c *composer) source(pos syntax.Position) *source.File {
	if u := c.shown[pos.Filename()]; u != nil {
		return u.file
	}
	return nil
}

// here is where the executing file stands: at the operator or index that is being evaluated.
func (c *composer) here() syntax.Position {
	if c.thread == nil || c.thread.CallStackDepth() == 0 {
		return syntax.Position{}
	}
	return c.thread.CallFrame(0).Pos
}

// report adds a diagnostic while composing. In a run it gives an error to raise instead.
func (c *composer) report(found ...*diag.Diagnostic) error {
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

func (c *composer) typ(t *generable.Type) *typeValue { return &typeValue{t: t, c: c} }

func (c *composer) node(n *engine.Node) *nodeValue { return &nodeValue{n: n, c: c} }

// position converts a position of the interpreter.
func position(p syntax.Position) diag.Pos {
	if !p.IsValid() && p.Filename() == "<invalid>" {
		return diag.Pos{}
	}
	return diag.Pos{File: p.Filename(), Line: int(p.Line), Col: int(p.Col)}
}

// counted gives "no arguments", "one argument", "3 arguments".
func counted(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// engineError finds the engine's error in a chain, nil when there is none.
func engineError(err error) *engine.Error {
	var e *engine.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
