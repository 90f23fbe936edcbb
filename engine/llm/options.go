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

// Option configures a [Registry]. A nil Option is ignored.
type Option func(*Registry)

// WithSecrets reads keys and base URLs from s instead of the environment; nil provides none. Each call looks up the key
// variables of all providers, to keep them out of everything that is shown.
func WithSecrets(s Secrets) Option {
	if s == nil {
		s = SecretsFunc(func(string) (string, bool) { return "", false })
	}
	return func(r *Registry) { r.secrets = s }
}

// WithBaseURL sends a provider's calls to another address. It takes precedence over the provider's variable.
func WithBaseURL(provider, url string) Option {
	return func(r *Registry) { r.bases[provider] = url }
}

// WithTransport makes all calls through rt, which then determines how long to wait for a connection. It must honour the
// request's context.
func WithTransport(rt http.RoundTripper) Option { return func(r *Registry) { r.base = rt } }

// Timeouts limit the waits of a call. Zero means no limit.
type Timeouts struct {
	Connect   time.Duration // default 10 s
	FirstByte time.Duration // from sending the request; default 120 s
	Idle      time.Duration // between two pieces of the answer; default 60 s
	Total     time.Duration // default none
}

// DefaultTimeouts returns the limits of a registry that sets none.
func DefaultTimeouts() Timeouts {
	return Timeouts{Connect: 10 * time.Second, FirstByte: 120 * time.Second, Idle: 60 * time.Second}
}

// WithTimeouts replaces all limits; start from [DefaultTimeouts] to change one.
func WithTimeouts(t Timeouts) Option { return func(r *Registry) { r.timeouts = t } }

// WithCompatible adds a provider: a server that speaks OpenAI's chat completions at baseURL, which includes the path,
// as in http://localhost:8000/v1. keyEnv is the variable of its key, "" for a server without one.
func WithCompatible(name, baseURL, keyEnv string) Option {
	return func(r *Registry) {
		p := &provider{name: name, base: baseURL, keyless: keyEnv == "", client: langchain.OpenAI, dialect: compatible(), schemas: "compat", caps: compatCaps}
		if keyEnv != "" {
			p.keyEnv = []string{keyEnv}
		}
		r.providers[name] = p
	}
}

// WithDriver makes h execute each attempt at a call instead of the model's provider, known or not. A scripted model is
// then subject to retries, fallbacks and limits like a real one. The effect passed to h names the model; its outcome is
// used unchanged and not priced.
func WithDriver(h engine.Handler) Option { return func(r *Registry) { r.driver = h } }

// Caps describes what a model can do. The zero Caps is a model that answers text with text.
type Caps struct {
	Tools    bool `json:"tools"`     // takes tool definitions and answers with calls
	Schema   bool `json:"schema"`    // decoding can be constrained by a JSON Schema
	JSONMode bool `json:"json_mode"` // decoding can be constrained to some JSON object
	Stream   bool `json:"stream"`    // text arrives while it is generated
	// OnePart is for models that only read the first part of a message: a turn of several parts is sent as several
	// messages.
	OnePart bool `json:"-"`
}

func compatible() wire.Dialect {
	// Every such server knows max_tokens, but not OpenAI's newer name. The rest of its behaviour is unknown, so the
	// worst is assumed.
	return &wire.OpenAI{MaxTokens: "max_tokens", HoldsCalls: true, MayCut: true, Bridges: mistralModel}
}

// Secrets looks up keys and addresses by the name of their environment variable.
type Secrets interface {
	Lookup(name string) (value string, ok bool)
}

// SecretsFunc is a function that implements [Secrets].
type SecretsFunc func(name string) (string, bool)

// Lookup implements [Secrets].
func (f SecretsFunc) Lookup(name string) (string, bool) { return f(name) }

// lookup returns the first of the names that has a value. An empty variable counts as not set.
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

// keys returns the values of every provider's key variable, whichever provider a call uses: a host's own model may read
// any of them. They appear in nothing that leaves the registry.
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

// Secrets returns the values of the key variables of all providers, as an [engine.Handler] with secrets does. The slice
// must not be modified.
func (r *Registry) Secrets() []string {
	r.mu.Lock()
	fresh := r.fresh
	r.fresh = false
	r.mu.Unlock()
	if !fresh { // a lookup may be expensive, and a call has just made one
		r.keys()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[:len(r.known):len(r.known)]
}

// Redact returns a text without the values of the key variables of all providers.
func (r *Registry) Redact(text string) string { return r.keys().String(text) }

// allKeyNames returns the key variables of all providers, including built-in ones that the host replaced.
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
