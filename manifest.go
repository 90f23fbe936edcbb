package agentscript

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/text"
)

// Any is the entry of a [Manifest] for something that the script does not write out, so that only a run knows it.
const Any = "*"

// Manifest lists what a script, with everything that it loads, may touch, as far as that is written out, including
// functions that no run reaches. Lists are sorted and hold no duplicates. A manifest does not depend on what is
// granted.
type Manifest struct {
	Script string   `json:"script"` // the entry file
	Exec   []string `json:"exec"`   // commands, including those of MCP servers
	Net    []string `json:"net"`    // hosts, with a port if it is not the scheme's default
	Read   []string `json:"read"`   // paths
	Write  []string `json:"write"`  // paths
	Env    []string `json:"env"`    // environment variables and secrets
	Tools  []string `json:"tools"`  // of agents, each with its effect: "clerk.lookup: read"; of servers by their globs: "clerk.files[read_* !read_media]: read"
	Models []string `json:"models"` // named by agents; those of the run are not known
	MCP    []string `json:"mcp"`    // servers: "files: npx -y server-files"
	Files  []string `json:"files"`  // that belong to the script

	at map[string]diag.Span // where an entry is written, by list and entry
}

// manifestList is a list of a manifest, with its name and what its entries mean.
type manifestList struct {
	name, what string
	of         *[]string
}

// lists returns the lists of a manifest, in order.
func (m *Manifest) lists() []manifestList {
	return []manifestList{
		{"exec", "runs a command", &m.Exec}, {"net", "talks to a host", &m.Net}, {"read", "reads a path", &m.Read}, {"write", "writes a path", &m.Write},
		{"env", "reads an environment variable", &m.Env}, {"tools", "gives an agent a tool", &m.Tools}, {"models", "asks a model", &m.Models},
		{"mcp", "uses an MCP server", &m.MCP}, {"files", "reads one of its own files", &m.Files},
	}
}

// Manifest returns what the script may touch.
func (m *Module) Manifest() Manifest {
	files := m.lib.Files()
	out := Manifest{Files: files, Script: m.lib.Path(), at: map[string]diag.Span{}}
	for _, u := range m.lib.Uses() {
		out.use(u.Use, u.Span)
	}
	for _, n := range m.lib.Nodes() {
		if a := n.Agent(); a != nil {
			out.agent(a, diag.Span{Pos: n.Pos()})
		}
		out.history(n.History(), diag.Span{Pos: n.Pos()})
	}
	for _, l := range out.lists() {
		slices.Sort(*l.of)
		*l.of = append([]string{}, slices.Compact(*l.of)...)
	}
	return out
}

// add adds an entry to a list, unless the entry is empty.
//
//go:noinline
func (m *Manifest) add(list string, to *[]string, entry string, at diag.Span) {
	if entry == "" {
		return
	}
	*to = append(*to, entry)
	if key := list + " " + entry; !m.at[key].IsValid() {
		m.at[key] = at
	}
}

// use adds the target of a use of the world.
func (m *Manifest) use(u capability.Use, at diag.Span) {
	target := cmp.Or(u.Target, Any)
	switch u.Kind {
	case engine.EffectExec:
		m.add("exec", &m.Exec, target, at)
	case engine.EffectHTTP:
		m.add("net", &m.Net, target, at)
	case engine.EffectEnv:
		m.add("env", &m.Env, target, at)
	case engine.EffectFS:
		if u.Writes() {
			m.add("write", &m.Write, target, at)
		}
		if !u.Writes() || u.Op == "" {
			m.add("read", &m.Read, target, at)
		}
	}
}

// models adds the models that a script names.
func (m *Manifest) models(at diag.Span, names ...string) {
	for _, model := range names {
		m.add("models", &m.Models, model, at)
	}
}

// history adds the model that summarizes.
func (m *Manifest) history(h *agent.History, at diag.Span) {
	if h != nil && h.Compress != nil {
		m.models(at, h.Compress.Model)
	}
}

// agent adds the models, tools and servers of an agent.
func (m *Manifest) agent(a *agent.Spec, at diag.Span) {
	m.models(at, a.Model)
	m.models(at, a.Fallbacks...)
	if s := a.Select; s != nil && s.Ask != nil { // the router's
		m.models(s.Span, s.Ask.Model)
		m.models(s.Span, s.Ask.Fallbacks...)
	}
	m.history(a.History, at)
	for _, t := range a.AllTools() {
		m.add("tools", &m.Tools, fmt.Sprintf("%s.%s: %s", a.Name, t.Name, t.Acts()), at)
	}
	for _, s := range a.AllServers() {
		m.server(s)
		globs := text.Each(s.Tools, func(glob string) string { return strings.ReplaceAll(glob, " ", `\x20`) })
		m.add("tools", &m.Tools, fmt.Sprintf("%s.%s[%s]: %s", a.Name, s.Name, cmp.Or(strings.Join(globs, " "), Any), cmp.Or(s.Class, engine.ClassOnce)), s.Span)
	}
}

func (m *Manifest) server(s *remote.Server) {
	for _, n := range serverNeeds(s) {
		m.use(n.Use, n.Span)
	}
	s = s.Shown()
	words := []string{s.Name + ":"}
	words = append(words, settings(s.Env)...) // they may determine what the command does as much as its arguments do
	if s.Command != "" {
		words = append(append(words, s.Command), s.Args...)
	} else {
		words = append(append(words, s.URL), settings(s.Headers)...)
		if s.OAuth != nil {
			words = append(words, "oauth "+s.OAuth.Grant)
			words = append(words, s.OAuth.Scopes...)
		}
	}
	m.add("mcp", &m.MCP, strings.Join(words, " "), s.Span)
}

// settings formats variables or headers. Secrets appear by name.
func settings(sets []remote.Setting) []string {
	return text.Each(sets, func(set remote.Setting) string {
		value := set.Value
		if set.Secret != "" {
			value += "<secret " + set.Secret + ">"
		}
		return set.Name + "=" + strconv.Quote(value)
	})
}

// Hash identifies what the script may touch: the same lists have the same hash, whatever else the script does and
// wherever it is stored.
func (m Manifest) Hash() string {
	h := sha256.New()
	for _, l := range m.lists() {
		fmt.Fprintf(h, "%s %q\n", l.name, *l.of)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// MarshalJSON writes the lists in their order, and the hash.
func (m Manifest) MarshalJSON() ([]byte, error) {
	type plain Manifest
	return json.Marshal(struct {
		plain
		Hash string `json:"hash"`
	}{plain(m), m.Hash()})
}

// String formats the manifest for people.
func (m Manifest) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s may touch\n", m.Script)
	for _, l := range m.lists() {
		if len(*l.of) > 0 {
			fmt.Fprintf(&b, "  %-7s %s\n", l.name, strings.Join(*l.of, ", "))
		}
	}
	fmt.Fprintf(&b, "  %-7s %s\n", "hash", m.Hash())
	return b.String()
}

// effects lists what tools may do, from the least to the most.
var effects = []string{string(engine.ClassRead), string(engine.ClassIdempotent), string(engine.ClassOnce)}

// Widened reports what the script may touch that an earlier manifest does not contain, each as the error AS623 at its
// place. Touching less is not a finding. The list of the script's files is not compared: the script's text is.
func (m Manifest) Widened(than Manifest) diag.List {
	var found diag.List
	old := than.lists()
	for i, l := range m.lists() {
		if l.name == "files" {
			continue
		}
		for _, entry := range *l.of {
			if covered(l.name, entry, *old[i].of) {
				continue
			}
			what := fmt.Sprintf("%q", entry)
			if entry == Any {
				what = "one that only a run knows"
			}
			found.Add(&diag.Diagnostic{Code: diag.Widened, Span: m.span(l.name, entry), Message: fmt.Sprintf("the script %s that it did not: %s", l.what, what),
				Help: []string{"if that is intended, save the manifest again: check --manifest --format json"}})
		}
	}
	return found
}

func (m *Manifest) span(list, entry string) diag.Span {
	if at, ok := m.at[list+" "+entry]; ok {
		return at
	}
	return diag.Span{Pos: diag.Pos{File: m.Script}}
}

// covered reports whether earlier entries cover an entry. A tool may have had a stronger effect before.
func covered(list, entry string, old []string) bool {
	if slices.Contains(old, entry) || list != "tools" && list != "models" && list != "mcp" && slices.Contains(old, Any) {
		return true
	}
	name, effect, ok := strings.Cut(entry, ": ")
	return list == "tools" && ok && slices.ContainsFunc(old, func(o string) bool {
		was, had, _ := strings.Cut(o, ": ")
		return (was == name || fewer(name, was)) && slices.Index(effects, had) >= slices.Index(effects, effect)
	})
}

// fewer reports whether the tools of a server are among those that an agent had from it, whatever the server offers:
// some of the globs that choose tools were removed, or more globs that exclude tools were added.
func fewer(name, was string) bool {
	server, now, ok := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	before, then, _ := strings.Cut(strings.TrimSuffix(was, "]"), "[")
	if !ok || server != before {
		return false
	}
	if then == Any {
		return true
	}
	old := strings.Fields(then)
	chooses := func(glob string) bool { return !strings.HasPrefix(glob, "!") }
	if now == Any || slices.ContainsFunc(old, chooses) && !slices.ContainsFunc(strings.Fields(now), chooses) {
		return false // all but a few, where only a few were chosen before
	}
	for _, glob := range strings.Fields(now) {
		next := slices.IndexFunc(old, func(g string) bool { return g == glob || !chooses(g) })
		switch {
		case next >= 0 && old[next] == glob:
			old = old[next+1:]
		case chooses(glob):
			return false
		}
	}
	return !slices.ContainsFunc(old, func(g string) bool { return !chooses(g) })
}
