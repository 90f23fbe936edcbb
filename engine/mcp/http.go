package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/agentscript/agentscript/engine"
)

// maxBody bounds an answer that is no stream of events.
const maxBody = 16 << 20

// carrier makes the requests to one server: its headers go to its own host alone.
type carrier struct {
	base     http.RoundTripper
	allowed  func(host string) *engine.Error // another host than its own; nil allows it
	auth     authorizer                      // nil without OAuth
	home     string                          // its host
	secure   bool
	headers  map[string]string
	received *atomic.Int64
	broke    func(error)
	status   atomic.Int64 // of the last answer
}

// authorizer comes by the tokens of requests.
type authorizer interface {
	// token returns what the next request is sent with, "" when there is none.
	token(ctx context.Context) (string, error)
	// refuses reports whether an answer asks for another token.
	refuses(res *http.Response) bool
	// another returns the token to repeat a refused request with. It closes the answer.
	another(ctx context.Context, req *http.Request, res *http.Response, used string) (string, error)
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
		if err := c.allowed(host); err != nil {
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
	if err != nil || !c.auth.refuses(res) || req.Body != nil && req.GetBody == nil {
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
	res, err := c.base.RoundTrip(req)
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
