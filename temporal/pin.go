package temporal

import (
	"context"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/remote"
)

// pinSession is the worker that the run is pinned to, by a session of the client library. The session reserves a place
// on the worker, and fails when the worker is gone.
type pinSession struct {
	ctx      workflow.Context // for the activities that stay there
	err      error
	ready    <-chan struct{} // closed when the session exists, or err is set
	release  bool            // the place should be released
	released bool
}

// pinTimeout is how long a run waits for a worker to take it. repinTimeout is the minimum for the same worker.
const (
	pinTimeout   = 5 * time.Minute
	repinTimeout = 10 * time.Second
)

// actsOnWorker reports whether an effect acts on the worker that carries it out.
func actsOnWorker(e *engine.Effect) bool {
	var s engine.ToolServer
	switch e.Kind {
	case engine.EffectExec, engine.EffectFS, engine.EffectEnv:
		return true
	case engine.EffectTool:
		if r, ok := e.Req.(*engine.ToolRequest); ok {
			s = r.Server
		}
	case engine.EffectMCP:
		if r, ok := e.Req.(*remote.ListRequest); ok {
			s = r.Server
		}
	}
	is, ok := s.(*remote.Server)
	return ok && is != nil && is.Transport == remote.TransportStdio
}

// pin returns the context for activities that stay on the run's worker. The first call finds the worker.
func (x *execution) pin(ctx context.Context) (workflow.Context, error) {
	if x.pinned == nil {
		p := &pinSession{}
		x.pinned = p
		p.ready = x.world.Go("pin", func(detached workflow.Context, ready func()) {
			o := &workflow.SessionOptions{CreationTimeout: pinTimeout, ExecutionTimeout: 10 * 365 * 24 * time.Hour, HeartbeatTimeout: x.w.opts.Heartbeat}
			if x.in.Pinned != nil {
				o.CreationTimeout = max(3*o.HeartbeatTimeout, repinTimeout) // the worker is known, and no other one takes it
				p.ctx, p.err = workflow.RecreateSession(detached, x.in.Pinned, o)
			} else {
				p.ctx, p.err = workflow.CreateSession(detached, o)
			}
			ready()
			_ = workflow.Await(detached, func() bool { return p.release }) // nobody cancels it
			if p.err == nil && !x.pinLost() {
				workflow.CompleteSession(p.ctx) // CompleteSession waits, and must run on the coroutine of its context
			}
			p.released = true
		})
	}
	if err := clock.Await(ctx, x.pinned.ready); err != nil {
		return nil, err
	}
	if x.pinned.err != nil || x.pinLost() {
		return nil, workerLost()
	}
	return x.pinned.ctx, nil
}

// pinLost reports whether the run's worker is gone.
func (x *execution) pinLost() bool {
	return x.pinned != nil && x.pinned.ctx != nil && workflow.GetSessionInfo(x.pinned.ctx).SessionState == workflow.SessionStateFailed
}

// pinToken returns the token by which the next history finds the worker, and releases the place on it.
func (x *execution) pinToken() []byte {
	if x.pinned == nil || x.pinned.ctx == nil {
		return x.in.Pinned
	}
	token := workflow.GetSessionInfo(x.pinned.ctx).GetRecreateToken()
	x.unpin()
	return token
}

// unpin releases the place on the worker.
func (x *execution) unpin() {
	p := x.pinned
	if p == nil || p.ctx == nil {
		return
	}
	p.release = true
	x.world.Await(func() bool { return p.released })
}

func workerLost() *engine.Error {
	return engine.Errorf(engine.KindTool, diag.WorkerLost, "the worker that the run is pinned to is gone").
		WithHelp("fork the run, which begins that part again on another worker: agentscript temporal runs fork RUN")
}
