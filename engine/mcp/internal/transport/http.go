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

// Carrier makes the requests to one server: its headers and tokens go to its own host alone.
type Carrier struct {
	Route
	base   http.RoundTripper
	intake *Intake
	status atomic.Int64 // of the last answer
}

// Route is the way to a server, and what goes with the requests to it.
type Route struct {
	Host    string // of the server
	Secure  bool   // by TLS
	Headers map[string]string
	Auth    Authorizer                      // nil without OAuth
	Allowed func(host string) *engine.Error // another host than the server's own; nil allows it
}

// NewCarrier returns what makes the requests to a server by base.
func NewCarrier(base http.RoundTripper, to Route, intake *Intake) *Carrier {
	return &Carrier{Route: to, base: base, intake: intake}
}

// Client returns the client of the requests, which follows the server nowhere else.
func (c *Carrier) Client() *http.Client {
	return &http.Client{Transport: c, CheckRedirect: c.redirected}
}

// Status is that of the last answer, 0 when there was none.
func (c *Carrier) Status() int { return int(c.status.Load()) }

// Authorizer comes by the tokens of requests.
type Authorizer interface {
	// Token returns what the next request is sent with, "" when there is none.
	Token(ctx context.Context) (string, error)
	// Refuses reports whether an answer asks for another token.
	Refuses(res *http.Response) bool
	// Another returns the token to repeat a refused request with. It closes the answer.
	Another(ctx context.Context, res *http.Response, used string) (string, error)
}

// ErrNoRedirect is the error of a request that was sent on to another host.
var ErrNoRedirect = errors.New("it redirects to another host")

// redirected refuses to follow a server to a host that the script does not name.
func (c *Carrier) redirected(req *http.Request, via []*http.Request) error {
	if !c.atHome(req) {
		return ErrNoRedirect
	}
	if len(via) >= 5 {
		return errors.New("it redirects for ever")
	}
	return nil
}

// atHome reports whether a request goes to the very server, and no less safely.
func (c *Carrier) atHome(req *http.Request) bool {
	host, err := capability.Host(req.URL.String())
	return err == nil && host == c.Host && (req.URL.Scheme == "https") == c.Secure
}

// RoundTrip implements http.RoundTripper. A request that is refused for its token is made again with
// another one, once.
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

// dressed is a request with the headers of the script and a token, "" for none.
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

// bounded reads no more of an answer than may be sent.
type bounded struct {
	io.ReadCloser
	intake *Intake
	left   int64
	stream bool // of events, each of which may have as much
	line   bool // of a stream: something of the line was read
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

// events counts anew from the last event that ended, which a blank line does.
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
