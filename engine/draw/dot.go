package draw

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine/flow"
)

// DOT gives the composition as a Graphviz digraph, ending in a newline. A nil node gives "".
func DOT(n *flow.Node) string {
	if n == nil {
		return ""
	}
	p := pictureOf(n)
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n", dotQuote(n.Label()))
	b.WriteString("  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n")
	dotFrame(&b, &p.root, "  ")
	for _, a := range p.arrows {
		style := ""
		if a.back {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s];\n", a.from, a.to, dotQuote(a.label), style)
	}
	b.WriteString("}\n")
	return b.String()
}

// attributes of a shape in DOT.
var dotShapes = [...]string{
	terminal: "shape=oval", agentBox: "shape=box", step: `shape=box, style=rounded`, decision: "shape=diamond",
	fork: "shape=trapezium", join: "shape=invtrapezium", broken: "shape=box, color=red",
}

func dotFrame(b *strings.Builder, f *frame, indent string) {
	for _, x := range f.boxes {
		fmt.Fprintf(b, "%s%s [label=%s, %s];\n", indent, x.id, dotQuote(x.lines...), dotShapes[x.shape])
	}
	for _, in := range f.inner {
		fmt.Fprintf(b, "%ssubgraph cluster_%s {\n%s  label=%s;\n", indent, in.id, indent, dotQuote(in.label))
		dotFrame(b, in, indent+"  ")
		b.WriteString(indent + "}\n")
	}
}

// dotEscapes keeps a label one string: a backslash would begin an escape of DOT's own.
var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", `\n`)

func dotQuote(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, l := range lines {
		escaped[i] = dotEscapes.Replace(l)
	}
	return `"` + strings.Join(escaped, `\n`) + `"`
}
