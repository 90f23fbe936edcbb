package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// maxBody bounds an answer that is no stream of events.
const maxBody = 16 << 20

// openURL reaches a server over HTTP: the way that the script names, or the newer one and, where
// the server does not know that, the older one.
func (x *session) openURL(ctx context.Context) (*sdk.ClientSession, *engine.Error) {
	spec, c := x.server.spec, x.server.client
	host, err := engine.Host(spec.URL)
	if err != nil { // composing has checked it; a request of another process may hold anything
		return nil, engine.Errorf(engine.KindConfig, diag.BadServer, "the URL of MCP server %q cannot be used: %w", spec.Name, err)
	}
	if err := c.allowed(spec, engine.EffectHTTP, host); err != nil {
		return nil, err
	}
	headers, failed := c.resolve(spec, spec.Headers, x.hidden)
	if failed != nil {
		return nil, failed
	}
	carrier := &carrier{client: c, spec: spec, auth: x.server.auth, home: host, secure: strings.HasPrefix(strings.ToLower(spec.URL), "https:"), headers: headers, received: &x.received, broke: x.brokenBy}
	httpClient := &http.Client{Transport: carrier, CheckRedirect: carrier.redirected}
	transports := []sdk.Transport{&sdk.StreamableClientTransport{Endpoint: spec.URL, HTTPClient: httpClient, MaxRetries: 2}, &sdk.SSEClientTransport{Endpoint: spec.URL, HTTPClient: httpClient}}
	switch spec.Transport {
	case engine.TransportHTTP:
		transports = transports[:1]
	case engine.TransportSSE:
		transports = transports[1:]
	}
	var first error
	for _, t := range transports {
		cs, err := x.greet(ctx, t)
		if err == nil {
			return cs, nil
		}
		if first == nil {
			first = err
		}
		if status := carrier.status.Load(); ctx.Err() != nil || status != 400 && status != 404 && status != 405 && status != 406 && status != 415 {
			break
		}
	}
	if stopped(ctx) {
		return nil, interrupted(ctx, spec)
	}
	if own := x.refused(first); own != nil {
		return nil, own
	}
	switch status := carrier.status.Load(); status {
	case http.StatusUnauthorized, http.StatusForbidden:
		e := engine.Errorf(engine.KindTool, diag.ServerUnreachable, "MCP server %q does not let us in: HTTP %d", spec.Name, status)
		return nil, e.WithHelp("give what it asks for: auth = oauth() where a person signs in, or headers = {\"Authorization\": secret(\"NAME\", prefix = \"Bearer \")}")
	}
	return nil, x.unreachable(first)
}

// carrier makes the requests to one server: its headers go to its own host alone.
type carrier struct {
	client   *Client
	spec     *engine.ServerSpec
	auth     *authority // nil without OAuth
	home     string     // its host
	secure   bool
	headers  resolved
	received *atomic.Int64
	broke    func(error)
	status   atomic.Int64 // of the last answer
}

var errNoRedirect = errors.New("it redirects to another host")

// redirected refuses to follow a server to a host that the script does not name.
func (c *carrier) redirected(req *http.Request, via []*http.Request) error {
	if !c.atHome(req) {
		return errNoRedirect
	}
	if len(via) >= 5 {
		return errors.New("it redirects for ever")
	}
	return nil
}

// atHome reports whether a request goes to the very server, and no less safely.
func (c *carrier) atHome(req *http.Request) bool {
	host, err := engine.Host(req.URL.String())
	return err == nil && host == c.home && (req.URL.Scheme == "https") == c.secure
}

// RoundTrip implements http.RoundTripper. A request that is refused for its token is made again with
// another one, once.
func (c *carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	if !c.atHome(req) { // an SSE server may name another address for messages
		host, err := engine.Host(req.URL.String())
		if err != nil {
			return nil, err
		}
		if err := c.client.allowed(c.spec, engine.EffectHTTP, host); err != nil {
			return nil, err
		}
		return c.send(req)
	}
	headers := make(http.Header, len(c.headers)+1)
	for name, value := range c.headers {
		headers.Set(name, value)
	}
	if c.auth == nil {
		return c.send(with(req, headers))
	}
	token, err := c.auth.token(req.Context())
	if err != nil {
		return nil, errors.Join(err, closed(req))
	}
	res, err := c.send(with(req, withToken(headers, token)))
	if err != nil || !refused(res) || req.Body != nil && req.GetBody == nil {
		return res, err
	}
	if token, err = c.auth.another(req.Context(), req, res, token); err != nil {
		return nil, err
	}
	again := with(req, withToken(headers, token))
	if req.Body != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return c.send(again)
}

// with is a request with headers beside its own.
func with(req *http.Request, headers http.Header) *http.Request {
	if len(headers) == 0 {
		return req
	}
	req = req.Clone(req.Context())
	for name, values := range headers {
		req.Header[name] = values
	}
	return req
}

func withToken(headers http.Header, token string) http.Header {
	if token != "" {
		headers.Set("Authorization", "Bearer "+token)
	}
	return headers
}

// closed closes the body of a request that is not made.
func closed(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	return req.Body.Close()
}

// send makes one request.
func (c *carrier) send(req *http.Request) (*http.Response, error) {
	res, err := c.client.cfg.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	c.status.Store(int64(res.StatusCode))
	res.Body = &bounded{ReadCloser: res.Body, carrier: c, left: maxBody, stream: isStream(res)}
	return res, nil
}

func isStream(res *http.Response) bool {
	const events = "text/event-stream"
	kind := res.Header.Get("Content-Type")
	return len(kind) >= len(events) && kind[:len(events)] == events
}

var errHuge = fmt.Errorf("one of its answers has more than %d MB", maxBody>>20)

// bounded reads no more of an answer than may be sent.
type bounded struct {
	io.ReadCloser
	carrier *carrier
	left    int64
	stream  bool // of events, each of which may have as much
	line    bool // of a stream: something of the line was read
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.stream {
		b.events(p[:n])
	}
	switch {
	case b.carrier.received.Add(int64(n)) > maxUnasked:
		b.carrier.broke(errFlood)
		return 0, errFlood
	case b.left < 0:
		b.carrier.broke(errHuge)
		return 0, errHuge
	}
	return n, err
}

// events counts anew from the last event that ended, which a blank line does.
func (b *bounded) events(p []byte) {
	for i, c := range p {
		switch {
		case c == '\n' && !b.line:
			b.left = maxBody - int64(len(p)-i-1)
		case c == '\n':
			b.line = false
		case c != '\r':
			b.line = true
		}
	}
}
