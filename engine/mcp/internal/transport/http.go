package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
)

// Carrier makes the requests to one server. It sends the headers and tokens only to the server's own host.
type Carrier struct {
	Route
	base   http.RoundTripper
	intake *Intake
	status atomic.Int64 // of the last answer
}

// Route is the address of a server, and what accompanies the requests to it.
type Route struct {
	Host    string // of the server
	Secure  bool   // by TLS
	Headers map[string]string
	Auth    Authorizer                      // nil without OAuth
	Allowed func(host string) *engine.Error // decides about a host other than the server's own; nil allows it
}

// NewCarrier returns a carrier that makes requests through base.
func NewCarrier(base http.RoundTripper, to Route, intake *Intake) *Carrier {
	return &Carrier{Route: to, base: base, intake: intake}
}

// Client returns an HTTP client that follows redirects only to the server itself.
func (c *Carrier) Client() *http.Client {
	return &http.Client{Transport: c, CheckRedirect: c.redirected}
}

// Status returns the status of the last answer, 0 without one.
func (c *Carrier) Status() int { return int(c.status.Load()) }

// Authorizer provides the tokens of requests.
type Authorizer interface {
	// Token returns the token for the next request, "" without one.
	Token(ctx context.Context) (string, error)
	// Refuses reports whether an answer requires another token.
	Refuses(res *http.Response) bool
	// Another returns the token for repeating a refused request. It closes the answer.
	Another(ctx context.Context, res *http.Response, used string) (string, error)
}

// ErrNoRedirect is the error of a request that was redirected to another host.
var ErrNoRedirect = errors.New("it redirects to another host")

// redirected refuses redirects to a host that the script does not name.
func (c *Carrier) redirected(req *http.Request, via []*http.Request) error {
	if !c.atHome(req) {
		return ErrNoRedirect
	}
	if len(via) >= 5 {
		return errors.New("it redirects for ever")
	}
	return nil
}

// atHome reports whether a request goes to the server itself, with the same security.
func (c *Carrier) atHome(req *http.Request) bool {
	host, err := capability.Host(req.URL.String())
	return err == nil && host == c.Host && (req.URL.Scheme == "https") == c.Secure
}

// RoundTrip implements http.RoundTripper. A request that is refused for its token is repeated once with another token.
func (c *Carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	if !c.atHome(req) { // an SSE server may name another address for messages
		host, err := capability.Host(req.URL.String())
		if err != nil {
			return nil, err
		}
		if err := c.Allowed(host); err != nil {
			return nil, err
		}
		return c.send(req)
	}
	if c.Auth == nil {
		return c.send(c.dressed(req, ""))
	}
	token, err := c.Auth.Token(req.Context())
	if err != nil {
		if req.Body != nil {
			err = errors.Join(err, req.Body.Close())
		}
		return nil, err
	}
	res, err := c.send(c.dressed(req, token))
	if err != nil || !c.Auth.Refuses(res) || req.Body != nil && req.GetBody == nil {
		return res, err
	}
	if token, err = c.Auth.Another(req.Context(), res, token); err != nil {
		return nil, err
	}
	again := c.dressed(req, token)
	if req.Body != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return c.send(again)
}

// dressed returns a request with the script's headers and a token, "" for none.
func (c *Carrier) dressed(req *http.Request, token string) *http.Request {
	req = req.Clone(req.Context())
	for name, value := range c.Headers {
		req.Header.Set(name, value)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req
}

// send makes one request.
func (c *Carrier) send(req *http.Request) (*http.Response, error) {
	res, err := c.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	c.status.Store(int64(res.StatusCode))
	stream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	res.Body = &bounded{ReadCloser: res.Body, intake: c.intake, left: c.intake.bounds.Message, stream: stream}
	return res, nil
}

// bounded limits how much of an answer is read.
type bounded struct {
	io.ReadCloser
	intake *Intake
	left   int64
	stream bool // of events: the limit applies to each
	line   bool // of a stream: part of the line was read
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.stream {
		b.events(p[:n])
	}
	breach := b.intake.count(n)
	if breach == nil && b.left < 0 {
		breach = b.intake.tooLarge()
	}
	if breach != nil {
		b.intake.Break(breach)
		return 0, breach
	}
	return n, err
}

// events restarts the limit after the last complete event, which ends with a blank line.
func (b *bounded) events(p []byte) {
	for i, c := range p {
		switch {
		case c == '\n' && !b.line:
			b.left = b.intake.bounds.Message - int64(len(p)-i-1)
		case c == '\n':
			b.line = false
		case c != '\r':
			b.line = true
		}
	}
}
