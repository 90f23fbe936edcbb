package draw

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine/flow"
)

// Mermaid gives the composition as a Mermaid flowchart, ending in a newline. A nil node gives
// "".
func Mermaid(n *flow.Node) string {
	if n == nil {
		return ""
	}
	p := pictureOf(n)
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	mermaidFrame(&b, &p.root, "  ")
	for _, a := range p.arrows {
		line := "-->"
		if a.back {
			line = "-.->"
		}
		fmt.Fprintf(&b, "  %s %s|%s| %s\n", a.from, line, mermaidQuote(a.label), a.to)
	}
	return b.String()
}

// brackets of a shape in Mermaid, around a quoted label.
var mermaidShapes = [...][2]string{
	terminal: {"([", "])"}, agentBox: {"[", "]"}, step: {"(", ")"}, decision: {"{", "}"},
	fork: {"[/", `\]`}, join: {`[\`, "/]"}, broken: {"[[", "]]"},
}

func mermaidFrame(b *strings.Builder, f *frame, indent string) {
	for _, x := range f.boxes {
		s := mermaidShapes[x.shape]
		fmt.Fprintf(b, "%s%s%s%s%s\n", indent, x.id, s[0], mermaidQuote(x.lines...), s[1])
	}
	for _, in := range f.inner {
		fmt.Fprintf(b, "%ssubgraph %s[%s]\n", indent, in.id, mermaidQuote(in.label))
		mermaidFrame(b, in, indent+"  ")
		b.WriteString(indent + "end\n")
	}
}

// mermaidEscapes are the characters that mean something inside a quoted label, written as the
// entities that Mermaid has for them.
var mermaidEscapes = strings.NewReplacer(
	`"`, "#quot;", "#", "#35;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", "\r", "", "\n", "<br/>",
)

func mermaidQuote(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, l := range lines {
		escaped[i] = mermaidEscapes.Replace(l)
	}
	return `"` + strings.Join(escaped, "<br/>") + `"`
}
