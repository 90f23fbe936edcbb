package serve_test

import (
	"context"
	"io"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine/mcp/serve"
	"github.com/agentscript/agentscript/generable"
)

// hello begins a session, and calls a tool that waits until its context ends.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"waits","arguments":{"name":"x"}}}
`

// TestStdioEnds: calls in progress end when the server is stopped and when the client leaves, even in the middle of a
// message; the server has ended once they have.
func TestStdioEnds(t *testing.T) {
	for how, end := range map[string]func(in io.WriteCloser, stop func()){
		"it is told to":   func(_ io.WriteCloser, stop func()) { stop() },
		"the client goes": func(in io.WriteCloser, _ func()) { _ = in.Close() },
		"the client goes within a message": func(in io.WriteCloser, _ func()) {
			_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":3,"me`)
			_ = in.Close()
		},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // it fails when all goroutines wait for each other
				waits := make(chan struct{}, 4)
				s, err := serve.New(serve.Options{Name: "flows", Version: "1", Linger: time.Millisecond}, offers(waits)...)
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				toServer, fromClient := io.Pipe()
				toClient, fromServer := io.Pipe()
				go func() { _, _ = io.Copy(io.Discard, toClient) }() // until the test ends
				ended := make(chan error, 1)
				go func() { ended <- s.Stdio(ctx, toServer, fromServer) }()
				if _, err := io.WriteString(fromClient, hello); err != nil {
					t.Fatal(err)
				}
				<-waits
				end(fromClient, stop)
				<-waits // the call has ended
				if err := <-ended; err != nil {
					t.Error(err)
				}
				_ = fromServer.Close()
			})
		})
	}
}

// TestStdioLeavesBehind: a call that does not end when told to blocks nobody.
func TestStdioLeavesBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, release := make(chan struct{}), make(chan struct{})
		defer close(release)
		s, err := serve.New(serve.Options{Name: "flows", Version: "1"}, serve.Offer{Name: "waits", Params: person(), Call: func(context.Context, generable.Value, func(string)) (generable.Value, error) {
			close(begun)
			<-release
			return generable.StrOf(""), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		toServer, fromClient := io.Pipe()
		go func() { _, _ = io.WriteString(fromClient, hello) }()
		ended := make(chan error, 1)
		go func() { ended <- s.Stdio(ctx, toServer, nopCloser{io.Discard}) }()
		<-begun
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = fromClient.Close()
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestClose: it ends the calls of clients over HTTP, whose connections do not end, and waits for them as long as its
// context allows.
func TestClose(t *testing.T) {
	waits := make(chan struct{}, 4)
	s, err := serve.New(serve.Options{Name: "flows", Version: "1", AtOnce: 2}, offers(waits)...)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.HTTP(""))
	defer h.Close()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := c.CallTool(context.Background(), &sdk.CallToolParams{Name: "waits", Arguments: map[string]any{"name": "x"}})
		ended <- err
	}()
	<-waits
	s.Close(context.Background())
	<-waits
	<-ended // with or without an error: the server closes
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	s.Close(ctx) // all slots are taken: it ends with ctx
	if ctx.Err() == nil {
		t.Error("a closed server carries out calls")
	}
}
