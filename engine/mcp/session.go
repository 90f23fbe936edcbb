package mcp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
)

// session is one connection to a server, and the process behind it.
type session struct {
	server *server
	cs     *sdk.ClientSession
	proc   *transport.Process // nil for a server at a URL
	hidden *redact.Redactor
	words  transport.Tail // output of the server that nobody reads

	whole  context.Context // of the session: everything in flight ends with it
	cancel context.CancelFunc
	over   chan struct{} // closed when the session is lost or ended
	ending sync.Once
	calls  int // in flight; guarded by the server's mu

	intake  *transport.Intake
	flights flights
	changes atomic.Int64 // how often the server reported that its tools changed
}

// connect starts or reaches the server and initializes a session.
func (s *server) connect(ctx context.Context) (*session, *engine.Error) {
	if !s.client.begin() {
		return nil, clientClosed(s.spec)
	}
	x := &session{server: s, hidden: &s.hidden, over: make(chan struct{}), intake: transport.NewIntake(s.client.cfg.bounds)}
	x.whole, x.cancel = context.WithCancel(context.Background())
	cs, err := x.open(ctx)
	if err != nil {
		if !stopped(ctx) {
			x.end()
			return nil, err
		}
		go x.end() // only Close waits for it
		if err.Kind == engine.KindConfig {
			return nil, err
		}
		return nil, interrupted(ctx, s.spec)
	}
	x.cs = cs
	go func() {
		x.intake.Break(cs.Wait())
		x.end()
	}()
	return x, nil
}

// stopped reports whether a context ended for another reason than a slow server.
func stopped(ctx context.Context) bool { return ctx.Err() != nil && slow(context.Cause(ctx)) == 0 }

// greet connects over a transport. The session outlives the context of the call that needed it.
func (x *session) greet(ctx context.Context, t sdk.Transport) (*sdk.ClientSession, error) {
	type connected struct {
		cs  *sdk.ClientSession
		err error
	}
	done := make(chan connected, 1)
	go func() {
		cs, err := x.newClient().Connect(x.whole, t, nil)
		done <- connected{cs, err}
	}()
	select {
	case c := <-done:
		return c.cs, c.err
	case <-ctx.Done():
		return nil, context.Cause(ctx) // the caller ends the session
	}
}

// end ends the session and everything that was started for it, and returns when that has ended.
func (x *session) end() {
	x.ending.Do(func() {
		defer x.server.client.running.Done()
		x.cancel()
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			if x.cs != nil {
				_ = x.cs.Close() // it is over either way
			}
		}()
		x.proc.Stop()
		transport.Wait(closed, 2*time.Second)
		close(x.over)
	})
	<-x.over
}

// within returns the context of a call, which also ends with the session.
func (x *session) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(x.whole, func() { cancel(errOver) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

var errOver = errors.New("the session ended")
