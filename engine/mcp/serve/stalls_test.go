package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/mcp/serve"
	"github.com/agentscript/agentscript/generable"
)

// deaf makes a call over a separate connection, asks for its progress, and reads nothing of the answer.
func deaf(t *testing.T, url, tool string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	post := func(session, body string) {
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s", session, len(body), body)
	}
	hello, _, _ := strings.Cut(greeting("2025-03-26"), "\n")
	post("", hello)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	body := strings.Replace(callOf("2", "x"), `{"name":"name"`, `{"_meta":{"progressToken":"p"},"name":"`+tool+`"`, 1)
	post("Mcp-Session-Id: "+res.Header.Get("Mcp-Session-Id")+"\r\n", body)
}

// A client that does not read its answers delays neither its own call nor others, and is disconnected.
func TestDeafClients(t *testing.T) {
	called := make(chan struct{}, 1)
	s, err := serve.New(serve.Options{Name: "flows", AtOnce: 1, Stall: 100 * time.Millisecond},
		serve.Offer{Name: "tells", Params: person(), Call: func(_ context.Context, _ generable.Value, tell func(string)) (generable.Value, error) {
			for range 50_000 {
				tell(strings.Repeat("x", 1000))
			}
			called <- struct{}{}
			return generable.StrOf("x"), nil
		}},
		serve.Offer{Name: "long", Params: person(), Call: func(context.Context, generable.Value, func(string)) (generable.Value, error) {
			called <- struct{}{}
			return generable.StrOf(strings.Repeat("x", 32<<20)), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"tells", "long"} {
		cut := make(chan struct{}, 10)
		h := httptest.NewUnstartedServer(s.HTTP(""))
		h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				cut <- struct{}{}
			}
		}
		h.Start()
		for range 3 {
			deaf(t, h.URL, tool)
		}
		for range 3 {
			<-called
		}
		if tool == "long" {
			for range 3 {
				<-cut
			}
		}
		h.CloseClientConnections()
		h.Close()
	}
}
