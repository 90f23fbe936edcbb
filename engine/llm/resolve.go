package llm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/llm/internal/langchain"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/text"
)

// target is the destination of a model's calls: a built-in provider's connection, or one of the host's models.
type target struct {
	provider, model string

	row    *provider // nil for a host's model
	base   string    // the address
	origin string    // of the address
	key    string
	keyEnv string
	send   langchain.Send

	host *hosted
}

// targetKey identifies a built-in provider's target.
type targetKey struct{ name, base, key string }

// mostTargets bounds the targets that are kept, as keys may differ at each lookup.
const mostTargets = 1024

// before returns the target of the model's earlier calls, initially nil. Waiting calls share it and look no further,
// which keeps their stacks small.
func (r *Registry) before(key targetKey) *target {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.targets[key]
}

// keep makes later calls share a target.
func (r *Registry) keep(key targetKey, t *target) *target {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first := r.targets[key]; first != nil {
		return first
	}
	if len(r.targets) >= mostTargets {
		clear(r.targets)
	}
	r.targets[key] = t
	return t
}

// resolve finds the target of a model string. Checks and calls both use it, and each call resolves anew, since keys and
// addresses may have changed.
func (r *Registry) resolve(name string) (*target, *engine.Error) {
	if r.driver != nil {
		p, model, _ := strings.Cut(r.fullName(name), "/")
		return &target{provider: p, model: model}, nil
	}
	if m, ok := r.models[name]; ok && name != "" {
		p, model, _ := strings.Cut(name, "/")
		return &target{provider: p, model: model, host: &m}, nil
	}
	name = r.fullName(name)
	prefix, model, _ := strings.Cut(name, "/")
	if p := r.providers[prefix]; p != nil && model != "" {
		return r.connect(p, name)
	}
	return r.findElsewhere(name)
}

// findElsewhere returns a host's model, or an error that says why there is none with that name.
func (r *Registry) findElsewhere(name string) (*target, *engine.Error) {
	if name == "" {
		return nil, engine.Errorf(engine.KindConfig, diag.NoModel, "no model is named for this agent, and there is no default").
			WithHelp("set model = \"provider/model\" or --model; %s; without any, --mock makes answers up and --scripted FILE reads them from a file", r.available())
	}
	prefix, model, ok := strings.Cut(name, "/")
	if !ok {
		return nil, r.bareName(name)
	}
	if !r.has(prefix) {
		e := engine.Errorf(engine.KindConfig, diag.UnknownProvider, "model %q: there is no provider %q", name, prefix)
		if near, ok := diag.Suggest(prefix, r.names()); ok {
			return nil, e.WithHelp("did you mean %q?", near+"/"+model)
		}
		return nil, e.WithHelp("the providers are %s", strings.Join(r.names(), ", "))
	}
	if model == "" {
		return nil, engine.Errorf(engine.KindConfig, diag.NoModel, "model %q names a provider and no model", name).
			WithHelp("write the provider's name for the model after the slash")
	}
	if f := r.factories[prefix]; f != nil {
		h, err := r.makeModel(name, model, f)
		if err != nil {
			return nil, err
		}
		return &target{provider: prefix, model: model, host: h}, nil
	}
	e := engine.Errorf(engine.KindConfig, diag.NoModel, "model %q: the host offers no such model", name)
	if near, ok := diag.Suggest(name, r.hostModels()); ok {
		return nil, e.WithHelp("did you mean %q?", near)
	}
	return nil, e.WithHelp("the host's models are %s", strings.Join(r.hostModels(), ", "))
}

// canonical returns the provider's own name for an alias. A provider that the host adds under the alias takes
// precedence.
func (r *Registry) canonical(prefix string) string {
	if r.has(prefix) {
		return prefix
	}
	for _, p := range r.providers {
		if slices.Contains(p.aliases, prefix) {
			return p.name
		}
	}
	return prefix
}

// fullName returns a model's name, or a pattern, with the provider's own name in front.
func (r *Registry) fullName(name string) string {
	prefix, model, ok := strings.Cut(name, "/")
	if !ok {
		return name
	}
	return r.canonical(prefix) + "/" + model
}

func (r *Registry) bareName(name string) *engine.Error {
	e := engine.Errorf(engine.KindConfig, diag.UnknownProvider, "model %q names no provider", name)
	if r.has(name) {
		return e.WithHelp("write %q with the model's name after the slash", name+"/…")
	}
	for _, full := range r.hostModels() {
		if strings.HasSuffix(full, "/"+name) {
			return e.WithHelp("did you mean %q?", full)
		}
	}
	for provider, id := range r.priced() {
		if strings.EqualFold(id, name) {
			return e.WithHelp("did you mean %q?", provider+"/"+name)
		}
	}
	if provider, model, ok := strings.Cut(name, ":"); ok && r.has(provider) {
		return e.WithHelp("did you mean %q?", provider+"/"+model)
	}
	return e.WithHelp("write provider/model, or define an alias, --model-alias %s=provider/model; the providers are %s", name, strings.Join(r.names(), ", "))
}

// available says which providers can be used right now, and what the others lack.
func (r *Registry) available() string {
	var keys []string
	for _, name := range r.names() {
		p := r.providers[name]
		if p == nil || p.keyless || len(p.keyEnv) == 0 {
			continue
		}
		if _, set := r.lookup(p.keyEnv...); set != "" {
			return fmt.Sprintf("%s is set, so %s/… works", set, name)
		}
		keys = append(keys, p.keyEnv[0])
	}
	return "for hosted models set one of " + strings.Join(keys, ", ") + "; ollama/… needs no key"
}

// connect finds the key and address of a built-in provider, and the target made for them before.
func (r *Registry) connect(p *provider, name string) (*target, *engine.Error) {
	as := targetKey{name: name, base: r.bases[p.name]}
	for _, alias := range p.aliases {
		if as.base == "" {
			as.base = r.bases[alias]
		}
	}
	from, keyEnv := "", ""
	if as.base == "" {
		if as.base, from = r.lookup(p.baseEnv...); as.base == "" {
			as.base, from = p.base, "the default base URL"
		}
	}
	as.key, keyEnv = r.lookup(p.keyEnv...)
	if t := r.before(as); t != nil {
		return t, nil
	}
	return r.connection(p, as, from, keyEnv)
}

// connection makes a target. from names the source of the address, "" for the host; keyEnv the variable of the key.
func (r *Registry) connection(p *provider, as targetKey, from, keyEnv string) (*target, *engine.Error) {
	name, base, key := as.name, as.base, as.key
	_, model, _ := strings.Cut(name, "/")
	if from == "" {
		from = "the base URL set by the host"
	}
	if base == "" {
		return nil, engine.Errorf(engine.KindConfig, diag.MissingKey, "model %q: %s says where the server is, and it is not set", name, strings.Join(p.baseEnv, " or ")).
			WithHelp("set it to the server's address, as in %s=http://localhost:8000/v1", p.baseEnv[0])
	}
	if p.fix != nil {
		if fixed, err := p.fix(base); err == nil {
			base = fixed
		}
	}
	base = strings.TrimRight(base, "/")
	base = strings.TrimSuffix(base, "/chat/completions") // the full address of the only endpoint used
	origin, problem := checkURL(base)
	if problem != "" {
		return nil, engine.Errorf(engine.KindConfig, diag.ProviderError, "model %q: the value of %s %s", name, from, problem).
			WithHelp("write it as http://host:port/path")
	}
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return nil, engine.Errorf(engine.KindConfig, diag.MissingKey, "model %q: %s holds something that cannot be a key: it has blanks or special characters inside", name, keyEnv).
			WithHelp("set it to the key alone")
	}
	if short(key) {
		if base == p.base && !p.keyless {
			return nil, engine.Errorf(engine.KindConfig, diag.MissingKey, "model %q: %s", name, shortKey(keyEnv, key)).
				WithHelp("set %s to your key of %s", keyEnv, p.name)
		}
		key, keyEnv = "", "" // a server that the user runs may need none
	} else if key == "" && !p.keyless {
		return nil, r.missingKey(p, name, base)
	}
	if p.local && !strings.HasPrefix(base, "https://") {
		key, keyEnv = "", "" // a server on the user's machine needs none
	}
	if keyEnv == "" && len(p.keyEnv) > 0 && !p.local {
		keyEnv = p.keyEnv[0]
	}
	send, err := p.client(base, r.http)
	if err != nil {
		return nil, engine.Errorf(engine.KindConfig, diag.ProviderError, "model %q: the client cannot be made: %s", name, redact.New([]string{key}).String(err.Error()))
	}
	return r.keep(as, &target{provider: p.name, model: model, row: p, base: base, origin: origin, key: key, keyEnv: keyEnv, send: send}), nil
}

// short reports whether a key is too short to distinguish from other text; it is then not used.
func short(key string) bool { return key != "" && len(key) < redact.Shortest }

func shortKey(variable, key string) string {
	return fmt.Sprintf("%s holds %s, which is too short for a key: one of fewer than %d could not be kept out of what is shown, and is not used", variable, text.Count(len(key), "character"), redact.Shortest)
}

// Warnings returns problems with the keys of models, for people: a key that is too short is not used.
func (r *Registry) Warnings(models ...string) []string {
	var found []string
	for _, name := range models {
		prefix, _, _ := strings.Cut(r.fullName(name), "/")
		p := r.providers[prefix]
		if p == nil || r.driver != nil {
			continue
		}
		if key, variable := r.lookup(p.keyEnv...); short(key) && !slices.Contains(found, shortKey(variable, key)) {
			found = append(found, shortKey(variable, key))
		}
	}
	return found
}

func (r *Registry) missingKey(p *provider, name, base string) *engine.Error {
	e := engine.Errorf(engine.KindConfig, diag.MissingKey, "model %q: %s is not set", name, strings.Join(p.keyEnv, " or "))
	if base != p.base && p.name != "compat" {
		return e.WithHelp("set it; for a server at %s that takes no key, use compat/… with AGENTSCRIPT_COMPAT_URL", base)
	}
	return e.WithHelp("set it to your key of %s (export %s=..., or --env-file FILE), or name another model: ollama/… needs no key; --mock runs without any", p.name, p.keyEnv[0])
}

func (r *Registry) makeModel(name, model string, f Factory) (*hosted, *engine.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, ok := r.made[name]; ok {
		return &h, nil
	}
	m, caps, err := f(model)
	if err == nil && m == nil {
		err = fmt.Errorf("the provider made no model")
	}
	if err != nil {
		return nil, engine.Errorf(engine.KindConfig, diag.NoModel, "model %q: %w", name, err).
			WithHelp("the host program registers this provider: see its documentation")
	}
	r.made[name] = hosted{m, caps}
	return &hosted{m, caps}, nil
}

// plan describes a call to the transport.
func (t *target) plan(req *model.Request, limits Timeouts, keys *redact.Set) wire.Plan {
	p := wire.Plan{
		Provider: t.provider, Model: t.model, Request: req, Keys: keys,
		FirstByte: limits.FirstByte, Idle: limits.Idle,
	}
	if t.row == nil {
		return p
	}
	p.Origin, p.Dialect = t.origin, t.row.dialect
	p.Hints = wire.Hints{KeyEnv: t.keyEnv, Local: t.row.local}
	if len(t.row.baseEnv) > 0 {
		p.Hints.BaseEnv = t.row.baseEnv[0]
	}
	p.Bearer = t.key
	return p
}
