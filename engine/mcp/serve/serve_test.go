package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp/serve"
	"github.com/agentscript/agentscript/generable"
)

func person() *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: "Person", Fields: []generable.Field{
		{Name: "name", Type: generable.StrT, Guide: "of the person"}, {Name: "age", Type: generable.IntT, Optional: true, Default: generable.IntOf(1)}}}
}

// offers returns one offer for each form of result, one that fails, one that panics and one that waits.
func offers(waits chan struct{}) []serve.Offer {
	echo := func(_ context.Context, args generable.Value, tell func(string)) (generable.Value, error) {
		tell("half way")
		return args, nil
	}
	field := func(name string) func(context.Context, generable.Value, func(string)) (generable.Value, error) {
		return func(_ context.Context, args generable.Value, _ func(string)) (generable.Value, error) {
			r, _ := args.AsRecord()
			v, _ := r.Get(name)
			return v, nil
		}
	}
	return []serve.Offer{
		{Name: "person", Doc: "Gives the person", Params: person(), Out: person(), Call: echo},
		{Name: "name", Params: person(), Out: generable.StrT, Call: field("name")},
		{Name: "age", Params: person(), Out: generable.IntT, Call: field("age")},
		{Name: "fails", Params: person(), Call: func(context.Context, generable.Value, func(string)) (generable.Value, error) {
			return generable.Value{}, engine.Errorf(engine.KindBudget, "AS704", "too dear").WithHelp("spend less")
		}},
		{Name: "panics", Params: person(), Call: func(context.Context, generable.Value, func(string)) (generable.Value, error) { panic("boom") }},
		{Name: "waits", Params: person(), Call: func(ctx context.Context, _ generable.Value, _ func(string)) (generable.Value, error) {
			waits <- struct{}{}
			<-ctx.Done()
			waits <- struct{}{}
			return generable.Value{}, ctx.Err()
		}},
	}
}

// serveOver runs f with a client over each transport.
func serveOver(t *testing.T, f func(t *testing.T, c *sdk.ClientSession, waits, told chan struct{})) {
	for _, transport := range []string{"stdio", "http", "http with a token"} {
		t.Run(transport, func(t *testing.T) {
			waits := make(chan struct{}, 4)
			s, err := serve.New(serve.Options{Name: "flows", Version: "1"}, offers(waits)...)
			if err != nil {
				t.Fatal(err)
			}
			told := make(chan struct{}, 64)
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
				ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) {
					select {
					case told <- struct{}{}:
					default: // one is enough
					}
				}})
			var to sdk.Transport
			switch transport {
			case "stdio":
				toServer, fromClient := io.Pipe()
				toClient, fromServer := io.Pipe()
				ended := make(chan error, 1)
				go func() { ended <- s.Stdio(context.Background(), toServer, fromServer) }()
				t.Cleanup(func() {
					_ = fromClient.Close()                                               // ends the server
					if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) { // the client may be gone before it has read everything
						t.Error(err)
					}
				})
				to = &sdk.IOTransport{Reader: toClient, Writer: fromClient}
			default:
				token := ""
				if transport != "http" {
					token = "a-token-of-many-characters"
				}
				h := httptest.NewServer(s.HTTP(token))
				t.Cleanup(h.Close)
				to = &sdk.StreamableClientTransport{Endpoint: h.URL, HTTPClient: &http.Client{Transport: bearing(token)}}
			}
			session, err := client.Connect(t.Context(), to, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			f(t, session, waits, told)
		})
	}
}

type bearing string

func (w bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	if w != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(w))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func textOf(res *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

func TestServed(t *testing.T) {
	serveOver(t, func(t *testing.T, c *sdk.ClientSession, waits, told chan struct{}) {
		list, err := c.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 6 || list.Tools[2].Name != "name" && list.Tools[0].Name != "age" {
			t.Fatalf("%v, %v", list, err)
		}
		call := func(name string, args any) *sdk.CallToolResult {
			t.Helper()
			params := &sdk.CallToolParams{Name: name, Arguments: args}
			params.SetProgressToken("p-" + name)
			res, err := c.CallTool(t.Context(), params)
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		ann := map[string]any{"name": "Ann"}
		for name, want := range map[string]string{
			"person": `{"name":"Ann","age":1} map[age:1 name:Ann]`,
			"name":   `Ann <nil>`,
			"age":    `1 map[result:1]`,
		} {
			if res := call(name, ann); res.IsError || fmt.Sprint(textOf(res), " ", res.StructuredContent) != want {
				t.Errorf("%s gives %q %v", name, textOf(res), res.StructuredContent)
			}
		}
		<-told // it may arrive after the result
		for name, row := range map[string]struct {
			args any
			want string
		}{
			"fails":  {ann, "error[AS704]: too dear\nhelp: spend less"},
			"panics": {ann, "panicked: boom"},
			"age":    {map[string]any{"age": "many", "size": 3}, "do not fit age"},
			"name":   {map[string]any{}, "name"},
		} {
			if res := call(name, row.args); !res.IsError || !strings.Contains(textOf(res), row.want) {
				t.Errorf("%s: %v %q, want %q", name, res.IsError, textOf(res), row.want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-waits
			cancel()
		}()
		if _, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "waits", Arguments: ann}); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that is taken back ends with %v", err)
		}
		<-waits
		if res := call("name", ann); res.IsError {
			t.Error("the server does not go on")
		}
	})
}

func TestServedOverHTTPAlone(t *testing.T) {
	s, err := serve.New(serve.Options{Name: "flows"}, offers(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.HTTP("a-token-of-many-characters"))
	defer h.Close()
	for name, row := range map[string]struct {
		header map[string]string
		status int
	}{
		"no token":     {nil, 401},
		"wrong token":  {map[string]string{"Authorization": "Bearer a-token-of-many-character"}, 401},
		"other scheme": {map[string]string{"Authorization": "Basic a-token-of-many-characters"}, 401},
		"a web page":   {map[string]string{"Authorization": "Bearer a-token-of-many-characters", "Sec-Fetch-Site": "cross-site"}, 403},
		"large":        {map[string]string{"Authorization": "Bearer a-token-of-many-characters"}, 413},
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		if name == "large" {
			body = `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 17<<20) + `"}`
		}
		req, err := http.NewRequest(http.MethodPost, h.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range row.header {
			req.Header.Set(k, v)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != row.status {
			t.Errorf("%s: %s, want %d", name, res.Status, row.status)
		}
	}
}

// Promise 24.62 (MCP): over HTTP, a body that is no message is answered with the matching status and JSON-RPC's own
// error, which repeats nothing of the body.
func TestPromise_24_62_GarbageOverHTTP(t *testing.T) {
	s, err := serve.New(serve.Options{Name: "flows"}, offers(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.HTTP(""))
	defer h.Close()
	for _, row := range []struct {
		body   string
		status int
		want   string
	}{
		{"hello there", 400, "null -32700"},
		{"", 400, "null -32700"},
		{"\x00", 400, "null -32700"},
		{`{"jsonrpc":"2.0","id":7,"me`, 400, "null -32700"},
		{callOf("7", "\xff"), 400, "null -32700"},
		{callOf("7", "x") + callOf("8", "x"), 400, "null -32700"},
		{`"hello there"`, 400, "null -32600"},
		{"{}", 400, "null -32600"},
		{`{"jsonrpc":"2.0","id":7}`, 400, "7 -32600"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, "null -32600"},
		{callOf("7", strings.Repeat("x", 17<<20)), 413, "null -32600"},
		{`{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","METHOD":"tools/call","params":{"level":"` + strings.Repeat("x", 64<<10) + `"}}`, 413, "null -32600"},
		{"[" + strings.Replace(callOf("7", "x"), "tools/call", "ping", 1) + "," + strings.Replace(callOf("7", strings.Repeat("x", 64<<10)), "tools/call", "ping", 1) + "]", 413, "null -32600"},
		{callOf("7", strings.Repeat("x", 15<<20)), 200, ""},
		{"[]", 400, "null -32600"},
		{" [ ] ", 400, "null -32600"},
		{"[1]", 400, "null -32600"},
		{"[" + strings.Repeat(callOf("7", "x")+",", 1000) + callOf("8", "x") + "]", 400, "null -32600"},
		{" [" + callOf("7", "x") + "]", 200, ""},
		{`{"jsonrpc":"2.0","id":7,"method":"ping"}`, 200, ""},
	} {
		req, err := http.NewRequest(http.MethodPost, h.URL, strings.NewReader(row.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != row.status {
			t.Errorf("%.60q: %s %v, want %d", row.body, res.Status, err, row.status)
		}
		if row.want == "" {
			continue
		}
		if got := about(t, answer); got != row.want || strings.Contains(string(answer), "hello") || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%.60q is answered with %s, want %s", row.body, answer, row.want)
		}
	}
}

// flushing signals when an answer begins to be sent.
type flushing struct {
	*httptest.ResponseRecorder
	flushed chan<- struct{}
}

func (w flushing) Flush() {
	w.ResponseRecorder.Flush()
	select {
	case w.flushed <- struct{}{}:
	default:
	}
}

// Sessions, and calls that wait for their answers, are limited: the session unused for longest makes room, and one
// whose client listens is kept.
func TestServedHTTPIsBounded(t *testing.T) {
	waits := make(chan struct{}, 16)
	s, err := serve.New(serve.Options{Name: "flows", AtOnce: 1}, offers(waits)...)
	if err != nil {
		t.Fatal(err)
	}
	h, flushed := s.HTTP(""), make(chan struct{}, 1)
	send := func(ctx context.Context, method, session, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, method, "/", strings.NewReader(body))
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(flushing{w, flushed}, r)
		return w
	}
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	connect := func() string {
		hello, _, _ := strings.Cut(greeting("2025-03-26"), "\n")
		return send(t.Context(), "POST", "", hello).Header().Get("Mcp-Session-Id")
	}
	listening, used, idle := connect(), connect(), connect()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for len(flushed) > 0 {
		<-flushed
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		send(ctx, "GET", listening, "")
	}()
	<-flushed // it listens
	for i := range 1024 {
		if connect() == "" {
			t.Fatalf("session %d is refused", i)
		}
		if i%1000 == 0 {
			send(t.Context(), "POST", used, ping)
		}
	}
	for name, row := range map[string]struct {
		session string
		status  int
	}{"listening": {listening, 200}, "used": {used, 200}, "idle": {idle, 404}} {
		if w := send(t.Context(), "POST", row.session, ping); w.Code != row.status {
			t.Errorf("the session that is %s: %d %s", name, w.Code, w.Body)
		}
	}
	batch := make([]string, 1000)
	for i := range batch {
		batch[i] = strings.Replace(callOf(fmt.Sprint(i), "x"), `"name":"name"`, `"name":"waits"`, 1)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		send(ctx, "POST", used, "["+strings.Join(batch, ",")+"]")
	}()
	<-waits
	for body, status := range map[string]int{ping: 200, "[" + strings.Join(batch[:30], ",") + "]": 503} {
		if w := send(t.Context(), "POST", listening, body); w.Code != status {
			t.Errorf("beside 1000 calls: %d %s", w.Code, w.Body)
		}
	}
	leave()
	<-answered
	<-left
}

// No more calls run concurrently than the server's limit; the others wait for their turn.
func TestServedAtOnce(t *testing.T) {
	var now, most atomic.Int64
	s, err := serve.New(serve.Options{Name: "flows", AtOnce: 2}, serve.Offer{Name: "slow", Params: person(),
		Call: func(context.Context, generable.Value, func(string)) (generable.Value, error) {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			now.Add(-1)
			return generable.StrOf("x"), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.HTTP(""))
	defer h.Close()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	done := make(chan error, 30)
	for range 30 {
		go func() {
			_, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "slow", Arguments: map[string]any{"name": "a"}})
			done <- err
		}()
	}
	for range 30 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() > 2 {
		t.Errorf("%d calls at once", most.Load())
	}
}

func TestNotOffered(t *testing.T) {
	ok := func(context.Context, generable.Value, func(string)) (generable.Value, error) {
		return generable.Value{}, nil
	}
	for want, o := range map[string][]serve.Offer{
		"letters":            {{Name: "a b", Params: person(), Call: ok}},
		"no schema":          {{Name: "a", Params: generable.StrT, Call: ok}},
		"carries it out":     {{Name: "a", Params: person()}},
		"two tools":          {{Name: "a", Params: person(), Call: ok}, {Name: "a", Params: person(), Call: ok}},
		"its parameters are": {{Name: "a", Call: ok}},
	} {
		if _, err := serve.New(serve.Options{Name: "x"}, o...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
