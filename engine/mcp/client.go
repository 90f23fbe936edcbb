package mcp

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp/internal/oauth"
	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
	"github.com/agentscript/agentscript/engine/remote"
)

// Option configures a [Client].
type Option func(*config)

type config struct {
	allow     func(capability.Use) error
	secrets   func(name string) (string, bool)
	transport http.RoundTripper
	roots     []string
	elicit    func(context.Context, Question) Reply
	models    engine.Handler // that servers may call, and with which model
	model     string
	name      string
	version   string
	tokens    Tokens
	signIns   *SignIns      // nil if nobody can sign in
	patience  time.Duration // how long a process may take to exit by itself before it is killed
	bounds    transport.Bounds
}

// WithAllow sets the function that decides about the commands, hosts and secrets of servers, which are uses of the
// kinds [engine.EffectExec], [engine.EffectHTTP] and [engine.EffectEnv]. Returning nil allows a use; an error refuses
// it and is reported with it. Without WithAllow nothing is allowed.
func WithAllow(allow func(capability.Use) error) Option { return func(c *config) { c.allow = allow } }

// WithGrants allows servers what the grants allow scripts.
func WithGrants(g capability.Grants) Option {
	return WithAllow(func(u capability.Use) error {
		if g.Allows(u) {
			return nil
		}
		return errNotGranted
	})
}

var errNotGranted = errors.New("it was not granted")

// WithSecrets sets the source of secret values, by default the process's environment. Secrets are looked up when a
// server is started or sent a request, and they never appear in what the Client returns.
func WithSecrets(lookup func(name string) (value string, ok bool)) Option {
	return func(c *config) { c.secrets = lookup }
}

// WithHTTPTransport sets the transport of requests to servers at URLs.
func WithHTTPTransport(t http.RoundTripper) Option { return func(c *config) { c.transport = t } }

// WithRoots names the directories that servers may work in. Servers are trusted to respect them; only the operating
// system can confine a process.
func WithRoots(dirs ...string) Option {
	return func(c *config) { c.roots = append(c.roots, dirs...) }
}

// WithClientName sets the name and version that the Client sends to servers.
func WithClientName(name, version string) Option {
	return func(c *config) { c.name, c.version = name, version }
}

// Client connects to MCP servers. It implements [engine.Handler], serves concurrent runs, and must be closed.
type Client struct {
	cfg config

	mu      sync.Mutex
	servers map[[32]byte]*server
	closed  bool
	running sync.WaitGroup // sessions, until everything that they started has ended

	whole context.Context // connection attempts end with it
	shut  context.CancelCauseFunc
}

var _ engine.Handler = (*Client)(nil)

// New returns a Client. It contacts no server yet.
func New(opts ...Option) *Client {
	c := &Client{servers: map[[32]byte]*server{}, cfg: config{
		secrets: os.LookupEnv, transport: http.DefaultTransport, name: "agentscript", version: "1", patience: time.Second, bounds: transport.DefaultBounds, tokens: &memoryTokens{},
	}}
	c.whole, c.shut = context.WithCancelCause(context.Background())
	for _, o := range opts {
		if o != nil {
			o(&c.cfg)
		}
	}
	return c
}

// Allows reports whether servers may have a use. Loading asks this about uses that a script states literally.
func (c *Client) Allows(u capability.Use) bool { return c.cfg.allow != nil && c.cfg.allow(u) == nil }

// Do implements [engine.Handler] for effects of kind [engine.EffectMCP], and for calls of a
// server's tools.
func (c *Client) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	switch req := e.Req.(type) {
	case *remote.ListRequest:
		s, err := c.server(req.Server)
		if err != nil {
			return engine.Failed(err)
		}
		return s.signedIn(ctx, func() engine.Outcome { return s.list(ctx, req.Server, e.Run) })
	case *engine.ToolRequest:
		spec, ok := req.Server.(*remote.Server)
		if !ok {
			break
		}
		s, err := c.server(spec)
		if err != nil {
			return engine.Failed(err)
		}
		return s.signedIn(ctx, func() engine.Outcome { return s.call(ctx, e, spec, req, sink) })
	}
	return engine.Failed(engine.Errorf(engine.KindConfig, diag.NoServers, "the request of %s %q names no MCP server", e.Kind, e.Name))
}

// server returns the server that a spec declares.
func (c *Client) server(spec *remote.Server) (*server, *engine.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, clientClosed(spec)
	}
	id := spec.Digest()
	s := c.servers[id]
	if s == nil {
		s = &server{client: c, spec: spec, turn: make(chan struct{}, 1)}
		for _, value := range spec.Literals() {
			s.hidden.Add("redacted", value)
		}
		if spec.OAuth != nil {
			s.auth = oauth.New(c.deps(), spec, &s.hidden)
		}
		c.servers[id] = s
	}
	return s, nil
}

// Secrets returns the secrets and tokens that servers received or sent, as an [engine.Handler] with secrets does.
func (c *Client) Secrets() (values []string) {
	c.mu.Lock()
	servers := slices.Collect(maps.Values(c.servers))
	c.mu.Unlock()
	for _, s := range servers {
		values = append(values, s.hidden.Values()...)
	}
	slices.Sort(values)
	return values
}

// begin counts a session, which must be ended. It returns false if the client is closed: then nobody would wait for the
// session.
func (c *Client) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.running.Add(1)
	}
	return !c.closed
}

func clientClosed(spec *remote.Server) *engine.Error {
	return engine.Errorf(engine.KindConfig, diag.ServerLost, "MCP server %q cannot be reached: its client was closed", spec.Name).
		WithHelp("close the mcp.Client when the last run has ended")
}

// Close ends every session and returns within a few seconds, when all processes have ended. Calls in flight fail.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	servers := c.servers
	c.servers = map[[32]byte]*server{}
	c.mu.Unlock()
	c.shut(errClosed)
	for _, s := range servers {
		s.hangUp()
	}
	c.running.Wait()
	return nil
}
