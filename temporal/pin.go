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

// pinned is the worker that the run is pinned to, by a session of the client library. The session reserves a place on
// the worker, and fails when the worker is gone.
type pinned struct {
	ctx   workflow.Context // for the activities that stay there
	err   error
	made  <-chan struct{} // closed when the session exists, or err is set
	leave bool            // the place should be released
	left  bool
}

// findWorker is how long a run waits for a worker to take it. findAgain is the minimum for the same worker.
const (
	findWorker = 5 * time.Minute
	findAgain  = 10 * time.Second
)

// ofWorker reports whether an effect acts on the worker that carries it out.
func ofWorker(e *engine.Effect) bool {
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
func (g *generation) pin(ctx context.Context) (workflow.Context, error) {
	if g.pinned == nil {
		p := &pinned{}
		g.pinned = p
		p.made = g.world.Beside("pin", func(free workflow.Context, made func()) {
			o := &workflow.SessionOptions{CreationTimeout: findWorker, ExecutionTimeout: 10 * 365 * 24 * time.Hour, HeartbeatTimeout: g.w.opts.Heartbeat}
			if g.in.Pinned != nil {
				o.CreationTimeout = max(3*o.HeartbeatTimeout, findAgain) // the worker is known, and no other one takes it
				p.ctx, p.err = workflow.RecreateSession(free, g.in.Pinned, o)
			} else {
				p.ctx, p.err = workflow.CreateSession(free, o)
			}
			made()
			_ = workflow.Await(free, func() bool { return p.leave }) // nobody cancels it
			if p.err == nil && !g.pinLost() {
				workflow.CompleteSession(p.ctx) // CompleteSession waits, and must run on the coroutine of its context
			}
			p.left = true
		})
	}
	if err := clock.Await(ctx, g.pinned.made); err != nil {
		return nil, err
	}
	if g.pinned.err != nil || g.pinLost() {
		return nil, workerLost()
	}
	return g.pinned.ctx, nil
}

// pinLost reports whether the run's worker is gone.
func (g *generation) pinLost() bool {
	return g.pinned != nil && g.pinned.ctx != nil && workflow.GetSessionInfo(g.pinned.ctx).SessionState == workflow.SessionStateFailed
}

// pinToken returns the token by which the next history finds the worker, and releases the place on it.
func (g *generation) pinToken() []byte {
	if g.pinned == nil || g.pinned.ctx == nil {
		return g.in.Pinned
	}
	token := workflow.GetSessionInfo(g.pinned.ctx).GetRecreateToken()
	g.unpin()
	return token
}

// unpin releases the place on the worker.
func (g *generation) unpin() {
	p := g.pinned
	if p == nil || p.ctx == nil {
		return
	}
	p.leave = true
	g.world.Await(func() bool { return p.left })
}

func workerLost() *engine.Error {
	return engine.Errorf(engine.KindTool, diag.WorkerLost, "the worker that the run is pinned to is gone").
		WithHelp("fork the run, which begins that part anew on another worker: agentscript temporal runs fork RUN")
}
