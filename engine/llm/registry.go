package llm

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/llm/prices"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable/dialect"
)

// Registry is the model port: the handler of model effects. It is safe for concurrent use and shared by all runs of a
// host.
type Registry struct {
	secrets   Secrets
	keyNames  []string
	providers map[string]*provider
	factories map[string]Factory
	models    map[string]hosted
	bases     map[string]string
	prices    func() *prices.Table // nil: calls are not priced
	timeouts  Timeouts
	retry     RetryPolicy
	fallbacks []string
	onRefusal bool
	driver    engine.Handler // makes the calls of all models; nil: their providers do
	limits    map[string]Limits
	limiter   *Limiter
	clock     clock.Clock // nil: the clock of the run
	base      http.RoundTripper
	http      *http.Client
	forms     dialect.Compiler

	countsTokens bool // some limit counts tokens

	mu      sync.Mutex
	made    map[string]hosted // by factories
	targets map[targetKey]*target
	tiers   map[tierKey]tier // the firmest tiers that models turned out to accept, so that each is tried once
	taken   map[tierKey]int  // the longest answer limits that models turned out to accept
	known   []string         // the keys that hidden was built from
	fresh   bool             // known was looked up for a call, and not passed on since
	hidden  *redact.Set
}

var _ engine.Handler = (*Registry)(nil)

// New returns a registry of the built-in providers. Nothing is looked up or connected until a call needs it.
func New(opts ...Option) *Registry {
	r := &Registry{
		secrets: SecretsFunc(os.LookupEnv), providers: builtin(), factories: map[string]Factory{}, models: map[string]hosted{},
		bases: map[string]string{}, timeouts: DefaultTimeouts(), prices: prices.Embedded, made: map[string]hosted{},
		targets: map[targetKey]*target{}, tiers: map[tierKey]tier{}, taken: map[tierKey]int{}, retry: DefaultRetry(), limits: map[string]Limits{},
	}
	for _, opt := range opts {
		if opt != nil {
			opt(r)
		}
	}
	r.keyNames = allKeyNames(builtin(), r.providers)
	if r.limiter == nil {
		r.limiter = &Limiter{}
	}
	for _, l := range r.limits {
		r.countsTokens = r.countsTokens || l.TokensPerMinute > 0
	}
	if r.base == nil {
		base := wire.NewBase(r.timeouts.Connect)
		base.MaxConnsPerHost = r.connections()
		r.base = base
	}
	r.http = &http.Client{
		Transport: &wire.Transport{Base: r.base},
		// A key must not be forwarded; the transport refuses redirects before this is called.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return r
}

// Close closes idle connections.
func (r *Registry) Close() { r.http.CloseIdleConnections() }

// Excusing returns the driver's function for agents that may receive no more calls because a branch of theirs was
// ended, nil if it has none. See [WithDriver].
func (r *Registry) Excusing() func(agents []string) {
	if prepared, ok := r.driver.(interface{ Excusing() func(agents []string) }); ok {
		return prepared.Excusing()
	}
	return nil
}

// Do implements [engine.Handler] for effects of kind model. The model is the effect's name, else the request's. A
// failed call is repeated, at this model or at its fallbacks; see [RetryPolicy].
func (r *Registry) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) (out engine.Outcome) {
	t := &modelCall{reg: r, e: e, sink: sink, clock: r.clock}
	if t.clock == nil {
		t.clock = clock.Of(ctx)
		t.virtual = t.clock != clock.Machine{}
	}
	defer t.caught(&out)
	req, ok := e.Req.(*model.Request)
	if !ok || req == nil {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.ProviderError, "a model effect of %q carries %T, not a model request", e.Agent, e.Req))
	}
	t.keys = r.keys()
	r.mu.Lock()
	r.fresh = true
	r.mu.Unlock()
	if t.req = req; t.keys != nil {
		own := *req // a copy with cached digests; the caller's request is shared
		t.req, _ = t.keys.Request(&own).(*model.Request)
	}
	if r.timeouts.Total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeouts.Total)
		defer cancel()
	}
	t.maxOut = e.MaxOut
	out = t.run(ctx, cmp.Or(e.Name, req.Model))
	out.CutOff(e)
	return out
}

// caught turns the panic of a host's model into a failure of the call.
func (t *modelCall) caught(out *engine.Outcome) {
	v := recover()
	if v == nil {
		return
	}
	err := engine.Errorf(engine.KindPanic, diag.Panic, "%s: panic: %s", t.e.Name, t.keys.String(fmt.Sprint(v))).
		WithHelp("this is a bug in the model's implementation, not in the script")
	err.Raw = t.keys.String(string(debug.Stack()))
	err.Usage = t.used
	*out = engine.Failed(err)
}

// Check reports whether calls of the model can be made: the provider is known, its key is set and its address is valid.
// It uses no network.
func (r *Registry) Check(model string) *engine.Error {
	_, err := r.resolve(model)
	return r.keys().Error(err)
}

// ProviderInfo describes a provider for people. It contains no key.
type ProviderInfo struct {
	Name    string   `json:"name"`
	Keys    []string `json:"keys,omitempty"`     // variables of the key
	Keyless bool     `json:"keyless,omitempty"`  // works without a key
	Ready   bool     `json:"ready"`              // calls can be made: key and address are set
	Problem string   `json:"problem,omitempty"`  // why not
	BaseURL string   `json:"base_url,omitempty"` // where calls are sent
	BaseEnv []string `json:"base_env,omitempty"` // variables of the address
	Models  []string `json:"models,omitempty"`   // the models of a host's provider, if listed
	Host    bool     `json:"host,omitempty"`     // made by the host program
	Caps    Caps     `json:"caps"`
}

// Providers lists all providers by name.
func (r *Registry) Providers() []ProviderInfo {
	var infos []ProviderInfo
	for _, name := range r.names() {
		info := ProviderInfo{Name: name, Ready: true}
		if p := r.providers[name]; p != nil {
			info.Keys, info.Keyless, info.BaseEnv, info.Caps = p.keyEnv, p.keyless, p.baseEnv, p.caps
			t, err := r.connect(p, name+"/model")
			if err != nil {
				info.Ready, info.Problem, info.BaseURL = false, err.Message, p.base
			} else {
				info.BaseURL = t.base
			}
		} else {
			info.Host, info.Keyless = true, true
		}
		for _, m := range r.hostModels() {
			if strings.HasPrefix(m, name+"/") {
				info.Models = append(info.Models, m)
				if info.Host && len(info.Models) == 1 {
					info.Caps = r.models[m].caps
				}
			}
		}
		infos = append(infos, info)
	}
	return infos
}

// has reports whether a provider has this name, including the host's providers.
func (r *Registry) has(name string) bool {
	if r.providers[name] != nil || r.factories[name] != nil {
		return true
	}
	for model := range r.models {
		if of, _, _ := strings.Cut(model, "/"); of == name {
			return true
		}
	}
	return false
}

// names returns the names of all providers, sorted.
func (r *Registry) names() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(r.providers)), maps.Keys(r.factories))
	for model := range r.models {
		name, _, _ := strings.Cut(model, "/")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (r *Registry) hostModels() []string { return slices.Sorted(maps.Keys(r.models)) }

// Format implements [fmt.Formatter], so that printing a registry with any verb shows names and never a key.
func (r *Registry) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, r.String()) // a Formatter cannot report
}

// String names the registry's providers.
func (r *Registry) String() string { return "llm.Registry(" + strings.Join(r.names(), ", ") + ")" }
