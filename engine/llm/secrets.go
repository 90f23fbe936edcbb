package llm

import (
	"os"
	"strings"
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
