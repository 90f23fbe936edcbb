package llm

import (
	"os"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/llm/internal/redact"
)

// Secrets looks up keys and addresses by the name of their environment variable.
type Secrets interface {
	Lookup(name string) (value string, ok bool)
}

// SecretsFunc makes a function [Secrets].
type SecretsFunc func(name string) (string, bool)

// Lookup implements [Secrets].
func (f SecretsFunc) Lookup(name string) (string, bool) { return f(name) }

// Environment looks secrets up in the process's environment.
func Environment() Secrets { return SecretsFunc(os.LookupEnv) }

// lookup gives the first of the names that has a value. A variable that is set to nothing
// counts as not set.
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
		if v, ok := r.secrets.Lookup(name); ok {
			if v = strings.TrimSpace(v); v != "" {
				found = append(found, v)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(found, r.known) {
		r.known, r.hidden = slices.Clone(found), redact.New(found)
	}
	return r.hidden
}

// Redact gives a text without the values of the key variables of all providers.
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
