package starlib

import (
	"context"
	"errors"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// newThread makes the thread that executes a file while it is loaded, bounded in steps and by the
// context of loading.
func (c *loader) newThread(u *script.Unit) *starlark.Thread {
	t := &starlark.Thread{
		Name: u.Shown,
		Load: c.load,
		Print: func(thread *starlark.Thread, text string) {
			if c.opts.Print == nil || c.ofMistake(text) {
				return
			}
			at := diag.Pos{}
			if thread.CallStackDepth() > 1 {
				at = script.Position(thread.CallFrame(1).Pos)
			}
			c.opts.Print(at, text)
		},
		OnMaxSteps: func(th *starlark.Thread) {
			th.SetMaxExecutionSteps(th.Steps + thread.StepChunk)
			if err := c.tick(th); err != nil && c.stop == nil {
				c.stop = err
				th.Cancel(err.Error())
			}
		},
	}
	t.SetMaxExecutionSteps(thread.StepChunk)
	t.SetLocal(script.EnvKey, &script.Env{State: c.State})
	return t
}

// stopped reports whether loading is to end, for passes over a file.
func (c *loader) stopped() bool { return c.Ended() }

// cancelled tells that loading was cancelled, or is out of time, nil when it may go on.
func (c *loader) cancelled() error {
	if c.Context.Err() == nil {
		return nil
	}
	cause := context.Cause(c.Context)
	if e := script.EngineError(cause); e != nil {
		return e
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return &engine.Error{Kind: engine.KindTimeout, Code: diag.Timeout, Message: "loading did not end by its deadline", Cause: cause,
			Help: "work on data belongs into def main or fn"}
	}
	return &engine.Error{Kind: engine.KindCancelled, Code: diag.Cancelled, Message: "loading was cancelled", Cause: cause}
}

// tick looks at the bounds of loading.
func (c *loader) tick(th *starlark.Thread) error {
	if err := c.cancelled(); err != nil {
		return err
	}
	if th.CallStackDepth() > thread.MaxFrames {
		return thread.TooDeep()
	}
	return c.spend(thread.StepChunk)
}

// spend takes steps off those that are left for loading.
func (c *loader) spend(steps uint64) error {
	if c.steps < steps {
		c.steps = 0
		return script.Errorf(diag.StepLimit, "loading the script takes too many steps").
			WithHelp("a loop at the top level may not end; work on data belongs into def main or fn")
	}
	c.steps -= steps
	return nil
}

// reasoned puts the reason for which a thread was cancelled in the place of the interpreter's
// words, and keeps where it was.
func (c *loader) reasoned(err error) error {
	if c.stop == nil && thread.ScriptMessage(err) == thread.Interrupted {
		c.stop = c.cancelled()
	}
	if c.stop == nil {
		return err
	}
	own := *script.EngineError(c.stop)
	if own.Cause == nil {
		own.Cause = err
	} else {
		own.Cause = errors.Join(own.Cause, err)
	}
	c.stop = nil
	return &own
}

// ofMistake reports whether a text shows what stands in the place of something that was reported: the error says
// more.
func (c *loader) ofMistake(text string) bool {
	return (strings.Contains(text, value.FailedType) || strings.Contains(text, generable.ErrorT.String())) && c.Session.Diagnostics().HasErrors()
}
