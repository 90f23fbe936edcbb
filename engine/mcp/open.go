package mcp

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
	"github.com/agentscript/agentscript/engine/remote"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// openURL connects to a server over HTTP: by the transport that the script names, or by the newer one and, if the
// server does not support it, by the older one.
func (x *session) openURL(ctx context.Context) (*sdk.ClientSession, *engine.Error) {
	spec, c := x.server.spec, x.server.client
	host, err := capability.Host(spec.URL)
	if err != nil { // checked when composing, but a request of another process may contain anything
		return nil, engine.Errorf(engine.KindConfig, diag.BadServer, "the URL of MCP server %q cannot be used: %w", spec.Name, err)
	}
	if err := c.allowed(spec, engine.EffectHTTP, host); err != nil {
		return nil, err
	}
	headers, failed := c.resolve(spec, spec.Headers, x.hidden)
	if failed != nil {
		return nil, failed
	}
	to := transport.Route{Host: host, Secure: strings.HasPrefix(strings.ToLower(spec.URL), "https:"), Headers: headers,
		Allowed: func(host string) *engine.Error { return c.allowed(spec, engine.EffectHTTP, host) }}
	if x.server.auth != nil {
		to.Auth = x.server.auth
	}
	carrier := transport.NewCarrier(c.cfg.transport, to, x.intake)
	httpClient := carrier.Client()
	transports := []sdk.Transport{&sdk.StreamableClientTransport{Endpoint: spec.URL, HTTPClient: httpClient, MaxRetries: 2}, &sdk.SSEClientTransport{Endpoint: spec.URL, HTTPClient: httpClient}}
	switch spec.Transport {
	case remote.TransportHTTP:
		transports = transports[:1]
	case remote.TransportSSE:
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
		if status := carrier.Status(); ctx.Err() != nil || status != 400 && status != 404 && status != 405 && status != 406 && status != 415 {
			break
		}
	}
	if stopped(ctx) {
		return nil, interrupted(ctx, spec)
	}
	if own, ok := errors.AsType[*engine.Error](first); ok {
		return nil, own
	}
	switch status := carrier.Status(); status {
	case http.StatusUnauthorized, http.StatusForbidden:
		e := engine.Errorf(engine.KindTool, diag.ServerUnreachable, "MCP server %q does not let us in: HTTP %d", spec.Name, status)
		return nil, e.WithHelp("authenticate: auth = oauth() if a person signs in, or headers = {\"Authorization\": secret(\"NAME\", prefix = \"Bearer \")}")
	}
	return nil, x.unreachable(first)
}

// ambient lists the variables that every process gets: those needed to find and start programs, no secrets.
var ambient = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES"}

// open makes the session's connection, within the context.
func (x *session) open(ctx context.Context) (*sdk.ClientSession, *engine.Error) {
	if x.server.spec.URL != "" {
		return x.openURL(ctx)
	}
	return x.openProcess(ctx)
}

func (x *session) openProcess(ctx context.Context) (*sdk.ClientSession, *engine.Error) {
	spec, c := x.server.spec, x.server.client
	if err := c.allowed(spec, engine.EffectExec, spec.Command); err != nil {
		return nil, err
	}
	set, failed := c.resolve(spec, spec.Env, x.hidden)
	if failed != nil {
		return nil, failed
	}
	proc, err := transport.Start(spec.Command, spec.Args, environment(set), &x.words, c.cfg.patience)
	if err != nil {
		e := engine.Errorf(engine.KindTool, diag.ServerUnreachable, "MCP server %q cannot be started: %s", spec.Name, x.hidden.Text(err.Error()))
		if errors.Is(err, exec.ErrNotFound) {
			return nil, e.WithHelp("install %s, or write the path of the command", spec.Command)
		}
		return nil, e.WithHelp("see that %s can be started by hand", spec.Command)
	}
	x.proc = proc
	cs, err := x.greet(ctx, transport.NewServerLines(proc.Stdout, proc.Stdin, &x.words, x.intake))
	switch {
	case err != nil && stopped(ctx):
		return nil, interrupted(ctx, spec)
	case err != nil:
		return nil, x.unreachable(err)
	}
	return cs, nil
}

// environment returns the environment of a process: the ambient variables and those of the script.
func environment(set resolved) []string {
	env := []string{} // nil would mean the host's whole environment
	for _, name := range ambient {
		if v, ok := os.LookupEnv(name); ok {
			if _, own := set[name]; !own {
				env = append(env, name+"="+v)
			}
		}
	}
	for name, v := range set {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env
}
