package remote

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/internal/redact"
)

// Literals returns the values that the script writes out where a name indicates a secret: in headers and variables,
// in queries of URLs, and in arguments of the command. Readers of the script have them, and nobody else should: like
// named secrets, they are kept out of what a run shows.
func (s *Server) Literals() (values []string) {
	add := func(name, value string) {
		if scheme, token, ok := strings.Cut(value, " "); ok && token != "" && !strings.ContainsAny(scheme, "=:;,") {
			value = token // as in "Bearer TOKEN"
		}
		if capability.LooksSecret(name) && !capability.IsWord(value) && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	query := func(address string) {
		if u, err := url.Parse(address); err == nil {
			for name, all := range u.Query() {
				for _, value := range all {
					add(name, value)
				}
			}
		}
	}
	for _, set := range slices.Concat(s.Env, s.Headers) {
		if set.Secret == "" {
			add(set.Name, set.Value)
		}
	}
	query(s.URL)
	for i, arg := range s.Args {
		query(arg)
		at := strings.IndexAny(arg, "=:")
		switch {
		case at >= 0:
			add(arg[:at], strings.TrimSpace(arg[at+1:]))
		case strings.HasPrefix(arg, "-") && i+1 < len(s.Args) && !strings.HasPrefix(s.Args[i+1], "-"):
			add(arg, s.Args[i+1])
		}
	}
	slices.Sort(values) // queries have no order
	return values
}

// Shown returns the server as people may see it: without its literals.
func (s *Server) Shown() *Server {
	keys := redact.New(s.Literals())
	if keys == nil {
		return s
	}
	settings := func(list []Setting) []Setting {
		list = slices.Clone(list)
		for i := range list {
			list[i].Value = keys.String(list[i].Value)
		}
		return list
	}
	out := &Server{Name: s.Name, Transport: s.Transport, Command: s.Command, Args: slices.Clone(s.Args), Env: settings(s.Env), URL: keys.String(s.URL),
		Headers: settings(s.Headers), OAuth: s.OAuth, Timeout: s.Timeout, Call: s.Call, Tools: s.Tools, Class: s.Class, Untrusted: s.Untrusted, Span: s.Span}
	for i, arg := range out.Args {
		out.Args[i] = keys.String(arg)
	}
	return out
}
