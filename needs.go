package agentscript

import (
	"cmp"
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/sorting"
)

// Needs lists what the script, with everything that it loads, uses of the outside world: commands, hosts, paths and
// environment variables, including those of its MCP servers, each once and in the order of files and lines, whether
// or not it is granted. If a run needs something that no script writes out, that is a need without a target. A module
// that was loaded with [WithUngranted] may need what a run then refuses.
func (m *Module) Needs() []capability.Need {
	var out []capability.Need
	type key struct{ flag, use, server string }
	seen := map[key]bool{}
	add := func(n capability.Need) {
		if k := (key{n.Flag(), n.Use.String(), n.Server}); !seen[k] {
			seen[k] = true
			n.Script = m.lib.Path()
			out = append(out, n)
		}
	}
	var ofServers []capability.Need
	for _, n := range m.lib.Nodes() {
		if a := n.Agent(); a != nil {
			for _, s := range a.AllServers() {
				ofServers = append(ofServers, serverNeeds(s)...)
			}
		}
	}
	for _, u := range m.lib.Uses() {
		need := capability.Need{Use: u.Use, Span: u.Span}
		for _, s := range ofServers {
			if s.Use == u.Use {
				need.Server = s.Server
				break
			}
		}
		add(need)
	}
	for _, n := range ofServers {
		add(n)
	}
	sorting.By(out, func(a, b capability.Need) int {
		return cmp.Or(cmp.Compare(a.Span.File, b.Span.File), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Col, b.Span.Col))
	})
	return out
}

// serverNeeds lists what is needed to reach a server.
func serverNeeds(s *remote.Server) []capability.Need {
	var out []capability.Need
	add := func(kind engine.EffectKind, op, target string) {
		if target != "" {
			out = append(out, capability.Need{Use: capability.Use{Kind: kind, Op: op, Target: target}, Server: s.Name, Span: s.Span})
		}
	}
	host := func(url string) string {
		name, _ := capability.Host(url) // a command has none
		return name
	}
	add(engine.EffectExec, "", s.Command)
	add(engine.EffectHTTP, "", host(s.URL))
	for _, set := range slices.Concat(s.Env, s.Headers) {
		add(engine.EffectEnv, "secret", set.Secret)
	}
	if o := s.OAuth; o != nil {
		add(engine.EffectEnv, "secret", o.Secret)
		add(engine.EffectEnv, "secret", o.Key)
		add(engine.EffectHTTP, "", host(o.Issuer))
	}
	return out
}
