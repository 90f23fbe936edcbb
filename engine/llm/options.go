package llm

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/llm/internal/langchain"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
)

// Option sets up a [Registry]. A nil Option is passed over.
type Option func(*Registry)

// WithSecrets reads keys and base URLs from s instead of the environment; nil has none. Each
// call looks up the key variables of all providers, to see that none is shown.
func WithSecrets(s Secrets) Option {
	if s == nil {
		s = SecretsFunc(func(string) (string, bool) { return "", false })
	}
	return func(r *Registry) { r.secrets = s }
}

// WithBaseURL sends a provider's calls to another address. It wins over the provider's
// variable.
func WithBaseURL(provider, url string) Option {
	return func(r *Registry) { r.bases[provider] = url }
}

// WithTransport makes all calls through rt, which then decides how long to wait for a
// connection. It must honour the request's context.
func WithTransport(rt http.RoundTripper) Option { return func(r *Registry) { r.base = rt } }

// Timeouts bound the waits of a call. Zero means no limit.
type Timeouts struct {
	Connect   time.Duration // default 10 s
	FirstByte time.Duration // from sending the request; default 120 s
	Idle      time.Duration // between two pieces of the answer; default 60 s
	Total     time.Duration // default none
}

// DefaultTimeouts are the limits of a registry that sets none.
func DefaultTimeouts() Timeouts {
	return Timeouts{Connect: 10 * time.Second, FirstByte: 120 * time.Second, Idle: 60 * time.Second}
}

// WithTimeouts replaces all limits; start from [DefaultTimeouts] to change one.
func WithTimeouts(t Timeouts) Option { return func(r *Registry) { r.timeouts = t } }

// WithCompatible adds a provider: a server that speaks OpenAI's chat completions at baseURL,
// which includes its path, as in http://localhost:8000/v1. keyEnv is the variable of its key,
// "" for a server that takes none.
func WithCompatible(name, baseURL, keyEnv string) Option {
	return func(r *Registry) {
		p := &provider{name: name, base: baseURL, keyless: keyEnv == "", client: langchain.OpenAI, dialect: compatible(), schemas: "compat", caps: compatCaps}
		if keyEnv != "" {
			p.keyEnv = []string{keyEnv}
		}
		r.providers[name] = p
	}
}

// WithDriver has h make each attempt at a call instead of the model's provider, be it known or not,
// so that a scripted model is behind retries, fallbacks and limits as a real one does. The effect
// that h gets names the model that is asked; its outcome is taken as it is, and not priced.
func WithDriver(h engine.Handler) Option { return func(r *Registry) { r.driver = h } }

// Caps says what a model can do. The zero Caps is a model that answers text with text.
type Caps struct {
	Tools    bool `json:"tools"`     // takes tool definitions and answers with calls
	Schema   bool `json:"schema"`    // decoding is held to a JSON Schema
	JSONMode bool `json:"json_mode"` // decoding is held to some JSON object
	Stream   bool `json:"stream"`    // text arrives while it is written
	// OnePart is for models that read only the first part of a message: a turn of several
	// parts goes out as several messages.
	OnePart bool `json:"-"`
}

func compatible() wire.Dialect {
	// max_tokens is what every such server knows; OpenAI's newer name is not. What else such a
	// server does is not known, so that the worst is taken for it.
	return &wire.OpenAI{MaxTokens: "max_tokens", HoldsCalls: true, MayCut: true, Bridges: mistralModel}
}

// Secrets looks up keys and addresses by the name of their environment variable.
type Secrets interface {
	Lookup(name string) (value string, ok bool)
}

// SecretsFunc makes a function [Secrets].
type SecretsFunc func(name string) (string, bool)

// Lookup implements [Secrets].
func (f SecretsFunc) Lookup(name string) (string, bool) { return f(name) }

// lookup returns the first of the names that has a value. A variable that is set to
// nothing counts as not set.
func (r *Registry) lookup(names ...string) (value, name string) {
	for _, n := range names {
		if v, ok := r.secrets.Lookup(n); ok {
			if v = strings.TrimSpace(v); v != "" {
				return v, n
			}
		}
	}
	return "", ""
}

// keys are the values of every provider's key variable, whichever provider a call goes to: a
// host's own model may read any of them. Nothing that leaves the registry shows one.
func (r *Registry) keys(more ...string) *redact.Set {
	var some [8]string
	found := append(some[:0], more...)
	for _, name := range r.keyNames {
		if v, _ := r.lookup(name); v != "" {
			found = append(found, v)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(found, r.known) {
		r.known, r.hidden = slices.Clone(found), redact.New(found)
	}
	return r.hidden
}

// Secrets returns the values of the key variables of all providers, as an [engine.Handler] that holds secrets
// does. It must not be changed.
func (r *Registry) Secrets() []string {
	r.mu.Lock()
	fresh := r.fresh
	r.fresh = false
	r.mu.Unlock()
	if !fresh { // a look may be dear, and a call has just had one
		r.keys()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[:len(r.known):len(r.known)]
}

// Redact returns a text without the values of the key variables of all providers.
func (r *Registry) Redact(text string) string { return r.keys().String(text) }

// allKeyNames are the variables of the keys of all providers, also of a built-in one that the
// host replaced.
func allKeyNames(rows ...map[string]*provider) []string {
	var names []string
	for _, table := range rows {
		for _, p := range table {
			names = append(names, p.keyEnv...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
