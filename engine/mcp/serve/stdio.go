package serve

import (
	"context"
	"errors"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
)

// defaultLinger is how long calls may continue after the client has sent its last message.
const defaultLinger = 5 * time.Second

// endGrace is how long calls may continue after they were told to end.
const endGrace = 3 * time.Second

// Stdio serves one client over its streams, with one JSON-RPC message per line. It returns when ctx ends, or when in
// has ended and the calls that were read have ended, for which they have [Options].Linger. Calls still in progress end
// then. A line that is not a message, or larger than 16 MiB, is answered with an error, and reading continues. Nothing
// else may write to out meanwhile.
func (s *Server) Stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	calls, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- s.sdk.Run(context.WithValue(ctx, endingKey{}, calls), transport.NewLineConn(in, out, s.linger, stop))
	}()
	var err error
	select {
	case err = <-ended:
	case <-calls.Done():
		grace := time.NewTimer(endGrace)
		defer grace.Stop()
		select {
		case err = <-ended:
		case <-grace.C: // calls that do not end are abandoned
		}
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, io.EOF)) {
		return nil // the end was requested
	}
	return err
}

// endingKey is the key of the context that ends the calls of a connection. The SDK would let them continue until they
// end by themselves.
type endingKey struct{}

// ending returns the context of a call, which ends with the call's connection or HTTP request, and with the server.
func (s *Server) ending(ctx context.Context, req *sdk.CallToolRequest) (context.Context, context.CancelFunc) {
	of, ok := ctx.Value(endingKey{}).(context.Context)
	ctx, stop := context.WithCancel(ctx)
	unhook := []func() bool{context.AfterFunc(s.open, stop)}
	if ok {
		unhook = append(unhook, context.AfterFunc(of, stop))
	}
	if post := s.posted.of(req); post != nil {
		unhook = append(unhook, context.AfterFunc(post.ctx, stop))
	}
	return ctx, func() {
		for _, f := range unhook {
			f()
		}
		stop()
	}
}

// Close ends the running calls of all clients, and waits for their end as long as ctx allows. Later calls end at once.
func (s *Server) Close(ctx context.Context) {
	s.end()
	for range cap(s.slots) {
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}
