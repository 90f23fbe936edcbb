package starlib

import (
	"context"
	"errors"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// newThread makes the thread that executes a file while it is loaded, bounded in steps and by the
// context of loading.
func (c *loader) newThread(u *unit) *starlark.Thread {
	thread := &starlark.Thread{
		Name: u.shown,
		Load: c.load,
		Print: func(thread *starlark.Thread, text string) {
			if c.opts.Print == nil {
				return
			}
			at := diag.Pos{}
			if thread.CallStackDepth() > 1 {
				at = position(thread.CallFrame(1).Pos)
			}
			c.opts.Print(at, text)
		},
		OnMaxSteps: func(thread *starlark.Thread) {
			thread.SetMaxExecutionSteps(thread.Steps + stepChunk)
			if err := c.tick(thread); err != nil && c.stop == nil {
				c.stop = err
				thread.Cancel(err.Error())
			}
		},
	}
	thread.SetMaxExecutionSteps(stepChunk)
	thread.SetLocal(envKey, &env{c: c.state})
	return thread
}

// cancelled tells that loading was cancelled, or is out of time, nil when it may go on.
func (c *loader) cancelled() error {
	if c.ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(c.ctx)
	if e := engineError(cause); e != nil {
		return e
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return &engine.Error{Kind: engine.KindTimeout, Code: diag.Timeout, Message: "loading did not end by its deadline", Cause: cause,
			Help: "work on data belongs into def main or fn"}
	}
	return &engine.Error{Kind: engine.KindCancelled, Code: diag.Cancelled, Message: "loading was cancelled", Cause: cause}
}

// tick looks at the bounds of loading.
func (c *loader) tick(thread *starlark.Thread) error {
	if err := c.cancelled(); err != nil {
		return err
	}
	if thread.CallStackDepth() > maxFrames {
		return tooDeep()
	}
	if c.steps < stepChunk {
		return errorf(diag.StepLimit, "loading the script takes too many steps").
			WithHelp("a loop at the top level may not end; work on data belongs into def main or fn")
	}
	c.steps -= stepChunk
	return nil
}

// stopped puts the reason for which a thread was cancelled in the place of the interpreter's
// words, and keeps where it was.
func (c *loader) stopped(err error) error {
	if c.stop == nil && scriptMessage(err) == interrupted {
		c.stop = c.cancelled()
	}
	if c.stop == nil {
		return err
	}
	own := *engineError(c.stop)
	if own.Cause == nil {
		own.Cause = err
	} else {
		own.Cause = errors.Join(own.Cause, err)
	}
	c.stop = nil
	return &own
}
