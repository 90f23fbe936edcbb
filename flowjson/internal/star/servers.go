package star

import (
	"net/url"
	"path"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/internal/text"
)

// users calls f for each agent that a model executes.
func (w *writer) users(f func(a *plan.Agent)) {
	for _, i := range w.order {
		a := w.p.Agents[i]
		for _, c := range append([]*plan.Agent{a}, a.Children...) {
			if c.Models() {
				f(c)
			}
		}
	}
}

// used returns the tools that some agent has.
func (w *writer) used(of func(a *plan.Agent) []*spec.Tool) map[*spec.Tool]bool {
	used := map[*spec.Tool]bool{}
	w.users(func(a *plan.Agent) {
		for _, t := range of(a) {
			used[t] = true
		}
	})
	return used
}

// loads writes the statement that loads the local tools that agents may call.
func (w *writer) loads() {
	used := w.used(func(a *plan.Agent) []*spec.Tool { return a.Local })
	if len(used) == 0 {
		return
	}
	d := call("load", atom(quoted(path.Clean(w.o.Tools))))
	for _, t := range w.p.Tools {
		if !used[t] {
			continue
		}
		for _, note := range notes(t.Extras()) {
			w.comment(note)
		}
		own := w.names.of(t.Name, "tool")
		loaded := atom(quoted(own))
		w.tools[t] = atom(own)
		switch {
		case own == t.Name:
		case identifier(t.Name):
			loaded = named(own, atom(quoted(t.Name)))
		default: // no function can have such a name
			if !fits(t.Name) {
				w.report(diag.FlowField, t.At.Span, "use letters, digits and _", "a tool of a script cannot be called %q", t.Name)
			}
			w.tools[t] = call("tool", atom(own), named("name", atom(quoted(t.Name))))
		}
		d.parts = append(d.parts, loaded)
	}
	w.b.WriteString(d.print(0, 0, 0) + "\n\n")
}

// identifier reports whether a name can be a variable.
func identifier(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// declareServers writes the servers that agents have.
func (w *writer) declareServers() {
	used := w.used(func(a *plan.Agent) []*spec.Tool { return a.Servers })
	for _, t := range w.p.Tools {
		if !used[t] {
			continue
		}
		own := w.names.of(t.Name, "server")
		w.servers[t] = own
		d := call("mcp")
		if name := remote.NameOf(t.Name); name != own {
			d.parts = append(d.parts, named("name", atom(quoted(name))))
		}
		w.reached(t)
		texts := func(list []string) []*doc { return text.Each(list, func(s string) *doc { return atom(quoted(s)) }) }
		if t.Transport == "stdio" {
			d.parts = append([]*doc{atom(quoted(t.Command))}, d.parts...)
			if len(t.Args) > 0 {
				d.parts = append(d.parts, named("args", list(texts(t.Args)...)))
			}
			d.parts = append(d.parts, settings("env", t.Env)...)
		} else {
			d.parts = append([]*doc{named("url", atom(quoted(t.URL)))}, d.parts...)
			d.parts = append(d.parts, named("transport", atom(quoted(t.Transport))))
			d.parts = append(d.parts, settings("headers", t.Headers)...)
		}
		w.statement(own, d, notes(t.Extras()))
		w.b.WriteByte('\n')
	}
}

// reached reports a server that a script cannot declare.
func (w *writer) reached(t *spec.Tool) {
	why, help := "", ""
	u, err := url.Parse(t.URL)
	switch {
	case remote.NameOf(t.Name) == "":
		why, help = "it has no name", `name it: "name": "files"`
	case t.Transport == "stdio" && (strings.TrimSpace(t.Command) == "" || text.IsCommandLine(t.Command)):
		why, help = quoted(t.Command)+" is not a program", `put its arguments into "args"`
	case t.Transport == "stdio":
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		why, help = quoted(t.URL)+" is not the URL of a server", `write "https://host/path"`
	case u.User != nil:
		why, help = "its URL holds a name or a password", `put it into "headers"`
	}
	if why != "" {
		w.report(diag.FlowField, t.At.Span, help, "a script cannot declare the server %s: %s", quoted(t.Name), why)
	}
}

func settings(name string, of []spec.Setting) []*doc {
	if len(of) == 0 {
		return nil
	}
	d := &doc{open: "{", close: "}"}
	for _, s := range of {
		d.parts = append(d.parts, keyed(quoted(s.Name), atom(quoted(s.Value))))
	}
	return []*doc{named(name, d)}
}

// offered returns the tools of an agent as its script writes them.
func (w *writer) offered(a *plan.Agent) []*doc {
	var out []*doc
	for _, t := range a.Local {
		d := *w.tools[t]
		out = append(out, &d)
	}
	for _, t := range a.Servers {
		out = append(out, atom(w.servers[t]))
	}
	return out
}
