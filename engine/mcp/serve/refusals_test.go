package serve_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp/serve"
	"github.com/agentscript/agentscript/generable"
)

// A cancelled call is reported as such, without help about resuming runs: a call cannot be resumed.
func TestCancelledCall(t *testing.T) {
	s, err := serve.New(serve.Options{Name: "flows"}, serve.Offer{Name: "name", Params: person(), Call: func(context.Context, generable.Value, func(string)) (generable.Value, error) {
		return generable.Value{}, engine.Errorf(engine.KindCancelled, "AS712", "the run was cancelled").WithHelp("what was recorded until then answers the next run")
	}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := s.Stdio(t.Context(), io.NopCloser(strings.NewReader(greeting("2025-06-18")+callOf("7", "x")+"\n")), nopCloser{&out}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "the run was cancelled") || strings.Contains(got, "help") {
		t.Errorf("%s", got)
	}
}

// A refusal over HTTP has the status of the protocol and a JSON-RPC error, also for requests about sessions: a client
// that gets 404 starts a new one.
func TestRefusalsOverHTTP(t *testing.T) {
	s, err := serve.New(serve.Options{Name: "flows"}, offers(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.HTTP(""))
	defer h.Close()
	const accepted = "application/json, text/event-stream"
	for name, row := range map[string]struct {
		method, session, accept, kind string
		status                        int
		says                          string
	}{
		"a call in an unknown session": {http.MethodPost, "nosuch", accepted, "application/json", 404, "session not found"},
		"a stream of one":              {http.MethodGet, "nosuch", accepted, "", 404, "session not found"},
		"the end of one":               {http.MethodDelete, "nosuch", accepted, "", 404, "session not found"},
		"a stream without a session":   {http.MethodGet, "", accepted, "", 400, "Mcp-Session-Id"},
		"no stream is accepted":        {http.MethodPost, "", "text/html", "application/json", 400, "Accept"},
		"a body of another kind":       {http.MethodPost, "", accepted, "text/plain", 415, "Content-Type"},
		"another method":               {http.MethodPut, "", accepted, "", 405, "Method Not Allowed"},
	} {
		req, err := http.NewRequest(row.method, h.URL, strings.NewReader(callOf("7", "x")))
		if err != nil {
			t.Fatal(err)
		}
		for header, value := range map[string]string{"Mcp-Session-Id": row.session, "Accept": row.accept, "Content-Type": row.kind} {
			if value != "" {
				req.Header.Set(header, value)
			}
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != row.status || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s %s %v, want %d", name, res.Status, res.Header.Get("Content-Type"), err, row.status)
			continue
		}
		if got := about(t, answer); got != "null -32600" || !strings.Contains(string(answer), row.says) || strings.Contains(string(answer), `\n`) {
			t.Errorf("%s: %s", name, answer)
		}
	}
}
