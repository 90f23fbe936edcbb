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

// session is one connection with a server, and the process behind it.
type session struct {
	server *server
	cs     *sdk.ClientSession
	proc   *transport.Process // nil of a server at a URL
	hidden *redact.Redactor
	words  transport.Tail // what the server wrote where nobody reads

	whole  context.Context // of the session: what it has in flight ends with it
	cancel context.CancelFunc
	over   chan struct{} // closed when the session is lost or ended
	ending sync.Once
	calls  int // in flight; guarded by the server's mu

	intake  *transport.Intake
	flights flights
	changes atomic.Int64 // how often the server said that its tools changed
}

// connect starts or reaches the server and greets it.
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
		go x.end() // nobody waits for it but Close
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

// stopped reports whether a context ended for another reason than that the server took too long.
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
		return nil, context.Cause(ctx) // and whoever asked ends the session
	}
}

// end ends the session and all that was started for it. It returns when that is gone.
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

// within makes the context of a call, which ends with the session as well.
func (x *session) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(x.whole, func() { cancel(errOver) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

var errOver = errors.New("the session ended")
