package serve

import (
	"context"
	"errors"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
)

// defaultLinger is how long calls may go on whose client sends nothing more.
const defaultLinger = 5 * time.Second

// endGrace is how long calls may go on after they were asked to end.
const endGrace = 3 * time.Second

// Stdio serves one client over its streams, a JSON-RPC message a line, until ctx ends, or in does
// and the calls that were read have ended, for which they have [Options].Linger. Calls that are
// under way then end with it. A line that is not a message, or larger than 16 MiB, is answered
// with an error, and the next is read. Nothing else may write to out meanwhile.
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
		case <-grace.C: // what does not end is left behind
		}
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, io.EOF)) {
		return nil // it was to end
	}
	return err
}

// endingKey finds the context that ends the calls of a connection, which the SDK lets go on until
// they have ended by themselves.
type endingKey struct{}

// ending is the context of a call, which ends with its connection or the request that brought it, and with
// the server too.
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

// Close ends the calls that are carried out, of all clients, and waits for their end as long as ctx
// lets it. Calls that come later end at once.
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
