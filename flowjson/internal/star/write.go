// Package star writes a flow that was read from JSON as the equivalent script.
package star

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/shape"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/generable"
)

// Form is how the graph of a flow is written.
type Form string

// The forms of a flow.
const (
	Structured Form = "structured" // as steps, branches and loops, where the graph has such a structure
	Graph      Form = "graph"      // as agents and edges
)

// Options set what else a script needs.
type Options struct {
	Tools    string // the path of the script with the local tools
	MaxSteps int    // bounds the executions of agents; 0 leaves it to the language
}

// Write writes a flow as a script. What cannot be written is an error with its position in the file, and the text is
// then empty.
func Write(p *plan.Plan, form Form, o Options) (string, diag.List) {
	w := &writer{p: p, o: o, names: newNames(), vars: map[*plan.Agent]string{}, servers: map[*spec.Tool]string{}, tools: map[*spec.Tool]*doc{}}
	whole, lost := shape.Structure(p)
	if lost >= 0 {
		w.report(diag.FlowNoEnd, p.Agents[lost].Span(), "let a transition lead to \"__finish__\", or to an agent that none leaves",
			"from %s on this flow never ends", p.Agents[lost].Name)
		return "", w.found
	}
	if form == Graph && len(p.Agents[p.Start].Edges) > 0 {
		whole = shape.Whole(p)
	}
	w.ranks(whole)
	w.header()
	w.loads()
	w.models()
	w.about("tools")
	w.declareServers()
	w.about("agents")
	for _, i := range w.order {
		w.declare(p.Agents[i])
	}
	body := w.expr(whole)
	w.gap()
	w.statement("flow", call("conversation", body.doc), notes(p.About("transitions")))
	w.main()
	if len(w.found) > 0 {
		w.found.Sort()
		return "", w.found
	}
	return strings.TrimLeft(w.b.String(), "\n"), nil
}

type writer struct {
	p     *plan.Plan
	o     Options
	b     strings.Builder
	names names
	found diag.List

	vars      map[*plan.Agent]string // the variables of agents
	graphed   map[int]bool           // agents in a graph
	order     []int                  // the agents of the shape
	servers   map[*spec.Tool]string
	tools     map[*spec.Tool]*doc
	usual     string // the model of most agents, if it has a variable
	unchanged bool   // something passes on its input
}

func (w *writer) report(code diag.Code, at diag.Span, help, format string, args ...any) {
	d := &diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	d.Help = []string{help}
	w.found = append(w.found, d)
}

// gap writes an empty line.
func (w *writer) gap() {
	if text := w.b.String(); text != "" && !strings.HasSuffix(text, "\n\n") {
		w.b.WriteByte('\n')
	}
}

// same writes a step that passes on its input. Before the first one it writes the function that makes such steps.
func (w *writer) same(t *generable.Type) *doc {
	if !w.unchanged {
		w.unchanged = true
		w.gap()
		w.b.WriteString("def unchanged(of):\n    \"\"\"Hands on what it gets.\"\"\"\n    return fn(lambda value: value, input = of, output = of)\n\n")
	}
	return call("unchanged", atom(typeText(t)))
}

// statement writes an assignment, with the comments above it.
func (w *writer) statement(name string, d *doc, notes []string) {
	for _, note := range notes {
		w.comment(note)
	}
	head := name + " = "
	w.b.WriteString(head + d.print(0, len(head), 0) + "\n")
}

func (w *writer) comment(line string) {
	w.b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
}

// notes returns what the file says to people as lines of comments.
func notes(extras []spec.Extra) []string {
	var out []string
	for _, e := range extras {
		if e.Key == "" {
			out = append(out, remark(e.Text)...)
			continue
		}
		out = append(out, remark(e.Key+": "+string(e.Value.JSON()))...)
	}
	return out
}

// header writes where the script comes from.
func (w *writer) header() {
	title := w.p.ID
	if w.p.Version != "" {
		title += ", version " + w.p.Version
	}
	for _, line := range remark(title) {
		w.comment(line)
	}
	for _, line := range notes(w.p.Spec.Extras()) {
		w.comment(line)
	}
	w.b.WriteByte('\n')
}

// about writes what the file says about a list, as a paragraph.
func (w *writer) about(list string) {
	said := notes(w.p.About(list))
	for _, line := range said {
		w.comment(line)
	}
	if len(said) > 0 {
		w.b.WriteByte('\n')
	}
}

// main writes the function that runs the flow.
func (w *writer) main() {
	w.b.WriteString("\ndef main(input = \"\"):\n")
	if d := strings.TrimSpace(w.p.Description); d != "" {
		lines := strings.Split(strings.ReplaceAll(d, "\r\n", "\n"), "\n")
		w.b.WriteString(`    """` + escaped(lines[0], `"""`))
		for _, line := range lines[1:] {
			line = strings.TrimRight(line, " \t")
			if line != "" {
				line = "    " + escaped(line, `"""`)
			}
			w.b.WriteString("\n" + line)
		}
		switch {
		case len(lines) > 1:
			w.b.WriteString("\n    ")
		case strings.HasSuffix(d, `"`):
			w.b.WriteByte(' ')
		}
		w.b.WriteString(`"""` + "\n")
	}
	w.b.WriteString("    return flow(input)\n")
}

// plain returns the type as which the next agent takes an enum: a text.
func plain(t *generable.Type) *generable.Type {
	if t.Kind == generable.EnumType {
		return generable.StrT
	}
	return t
}
