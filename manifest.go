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

// Any is the entry of a [Manifest] for what the script does not write out, so that only a run knows it.
const Any = "*"

// Manifest is what a script, with all that it loads, may touch: as far as it is written out, also
// in functions that no run reaches. Lists are sorted and hold nothing twice. What it holds does
// not depend on what is granted.
type Manifest struct {
	Script string   `json:"script"` // the entry file
	Exec   []string `json:"exec"`   // commands, those of MCP servers too
	Net    []string `json:"net"`    // hosts, with a port that is not the scheme's own
	Read   []string `json:"read"`   // paths
	Write  []string `json:"write"`  // paths
	Env    []string `json:"env"`    // environment variables and secrets
	Tools  []string `json:"tools"`  // of agents, each with its effect: "clerk.lookup: read"; of servers by their globs: "clerk.files[read_* !read_media]: read"
	Models []string `json:"models"` // that agents name; those of the run are not known
	MCP    []string `json:"mcp"`    // servers: "files: npx -y server-files"
	Files  []string `json:"files"`  // that belong to the script

	at map[string]diag.Span // where an entry is written, by list and entry
}

// manifestList is a list of a manifest by its name, and what it is of.
type manifestList struct {
	name, what string
	of         *[]string
}

// lists are the lists of a manifest, in order.
func (m *Manifest) lists() []manifestList {
	return []manifestList{
		{"exec", "runs a command", &m.Exec}, {"net", "talks to a host", &m.Net}, {"read", "reads a path", &m.Read}, {"write", "writes a path", &m.Write},
		{"env", "reads an environment variable", &m.Env}, {"tools", "gives an agent a tool", &m.Tools}, {"models", "asks a model", &m.Models},
		{"mcp", "uses an MCP server", &m.MCP}, {"files", "reads a file of its own", &m.Files},
	}
}

// Manifest is what the script may touch.
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

// add adds an entry to a list, unless it names nothing.
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

// use adds what a use of the world is of.
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

// history adds the model that sums up.
func (m *Manifest) history(h *agent.History, at diag.Span) {
	if h != nil && h.Compress != nil {
		m.models(at, h.Compress.Model)
	}
}

// agent adds what an agent has.
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
	words = append(words, settings(s.Env)...) // which may say what the command does as much as its arguments
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

// settings are variables or headers, with the names of secrets.
func settings(sets []remote.Setting) []string {
	return text.Each(sets, func(set remote.Setting) string {
		value := set.Value
		if set.Secret != "" {
			value += "<secret " + set.Secret + ">"
		}
		return set.Name + "=" + strconv.Quote(value)
	})
}

// Hash identifies what the script may touch: the same lists have the same hash, whatever else the
// script does and wherever it lies.
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

// String lists the manifest for people.
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

// effects orders what tools may do by how much that is.
var effects = []string{string(engine.ClassRead), string(engine.ClassIdempotent), string(engine.ClassOnce)}

// Widened reports what the script may touch that an earlier manifest does not hold, each as
// the error AS623 at its place. That it touches less is no finding. Files of the script are
// not compared: its text is.
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
				Help: []string{"if it is meant to, save the manifest anew: check --manifest --format json"}})
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

// covered reports whether an entry is among earlier ones, a tool also with an effect that was more.
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

// fewer reports whether the tools of a server are among those that an agent had of it, whatever the
// server offers: what chose tools is left out, or more are taken out.
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
		return false // all but a few, where a few were chosen
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
