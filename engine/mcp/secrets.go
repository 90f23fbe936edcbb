package mcp

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/remote"
)

// resolved maps the names of settings to their values.
type resolved map[string]string

// resolve looks up the values of settings. It adds secret values to hidden.
func (c *Client) resolve(spec *remote.Server, settings []remote.Setting, hidden *redact.Redactor) (resolved, *engine.Error) {
	out := resolved{}
	for _, s := range settings {
		value := ""
		if s.Secret != "" {
			secret, err := c.secret(spec, s.Secret, s.Name, hidden)
			if err != nil {
				return nil, err
			}
			if strings.ContainsAny(secret, "\r\n\x00") {
				return nil, engine.Errorf(engine.KindConfig, diag.NoSecret, "the secret %s of MCP server %q holds a line break or a NUL", s.Secret, spec.Name).
					WithHelp("set it to one line")
			}
			value = secret
		}
		out[s.Name] = s.Value + value
	}
	return out, nil
}

// secret looks up a secret; use names its purpose.
func (c *Client) secret(spec *remote.Server, name, use string, hidden *redact.Redactor) (string, *engine.Error) {
	if err := c.allowed(spec, engine.EffectEnv, name); err != nil {
		return "", err
	}
	secret, ok := c.cfg.secrets(name)
	if !ok || secret == "" {
		return "", engine.Errorf(engine.KindConfig, diag.NoSecret, "MCP server %q needs the secret %s for %s, and it is not set", spec.Name, name, use).
			WithHelp("set %s in the environment, or have the host provide it", name)
	}
	hidden.Add(name, secret)
	return secret, nil
}

// allowed checks whether a server may have a use.
func (c *Client) allowed(spec *remote.Server, kind engine.EffectKind, target string) *engine.Error {
	use := capability.Use{Kind: kind, Target: target}
	why := errNotGranted
	if c.cfg.allow != nil {
		if why = c.cfg.allow(use); why == nil {
			return nil
		}
	}
	verb := map[engine.EffectKind]string{engine.EffectExec: "start", engine.EffectHTTP: "be reached at", engine.EffectEnv: "receive the secret"}[kind]
	return engine.Errorf(engine.KindConfig, diag.ServerNotGranted, "MCP server %q may not %s %q: %w", spec.Name, verb, target, why).
		WithHelp("grant it with %s", use.Flag())
}
