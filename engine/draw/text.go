package draw

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine/flow"
)

// textForm is a text format for pictures. The formats of boxes and frames receive the indentation, the id and the
// quoted label; those of arrows receive the two ids and the label.
type textForm struct {
	head          string // receives the label of the whole
	boxes         [broken + 1]string
	frame, end    string
	arrow, back   string
	foot          string
	escapes       *strings.Replacer // applied to labels, so that each remains one string
	lineSeparator string
}

var mermaidForm = textForm{
	head: "flowchart TD\n",
	boxes: [...]string{
		terminal: "%s%s([%s])\n", agentBox: "%s%s[%s]\n", step: "%s%s(%s)\n", decision: "%s%s{%s}\n",
		fork: "%s%s[/%s\\]\n", join: "%s%s[\\%s/]\n", broken: "%s%s[[%s]]\n",
	},
	frame: "%ssubgraph %s[%s]\n", end: "end",
	arrow: "  %[1]s -->|%[3]s| %[2]s\n", back: "  %[1]s -.->|%[3]s| %[2]s\n",
	// Mermaid has entities for the characters that are special inside a quoted label.
	escapes: strings.NewReplacer(
		`"`, "#quot;", "#", "#35;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", "\r", "", "\n", "<br/>",
	),
	lineSeparator: "<br/>",
}

var dotForm = textForm{
	head: "digraph %s {\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n",
	boxes: [...]string{
		terminal: "%s%s [label=%s, shape=oval];\n", agentBox: "%s%s [label=%s, shape=box];\n",
		step: "%s%s [label=%s, shape=box, style=rounded];\n", decision: "%s%s [label=%s, shape=diamond];\n",
		fork: "%s%s [label=%s, shape=trapezium];\n", join: "%s%s [label=%s, shape=invtrapezium];\n",
		broken: "%s%s [label=%s, shape=box, color=red];\n",
	},
	frame: "%[1]ssubgraph cluster_%[2]s {\n%[1]s  label=%[3]s;\n", end: "}",
	arrow: "  %s -> %s [label=%s];\n", back: "  %s -> %s [label=%s, style=dashed];\n",
	foot: "}\n",
	// A backslash would begin a DOT escape.
	escapes:       strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", `\n`),
	lineSeparator: `\n`,
}

// Mermaid returns the composition as a Mermaid flowchart, ending in a newline, or "" for a nil node.
func Mermaid(n *flow.Node) string { return mermaidForm.write(n) }

// DOT returns the composition as a Graphviz digraph, ending in a newline, or "" for a nil node.
func DOT(n *flow.Node) string { return dotForm.write(n) }

func (t *textForm) write(n *flow.Node) string {
	if n == nil {
		return ""
	}
	p := pictureOf(n)
	var b strings.Builder
	b.WriteString(strings.Replace(t.head, "%s", t.quote(n.Label()), 1))
	t.writeFrame(&b, &p.root, "  ")
	for _, a := range p.arrows {
		form := t.arrow
		if a.back {
			form = t.back
		}
		fmt.Fprintf(&b, form, a.from, a.to, t.quote(a.label))
	}
	return b.String() + t.foot
}

func (t *textForm) writeFrame(b *strings.Builder, f *frame, indent string) {
	for _, x := range f.boxes {
		fmt.Fprintf(b, t.boxes[x.shape], indent, x.id, t.quote(x.lines...))
	}
	for _, in := range f.inner {
		fmt.Fprintf(b, t.frame, indent, in.id, t.quote(in.label))
		t.writeFrame(b, in, indent+"  ")
		b.WriteString(indent + t.end + "\n")
	}
}

func (t *textForm) quote(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, l := range lines {
		escaped[i] = t.escapes.Replace(l)
	}
	return `"` + strings.Join(escaped, t.lineSeparator) + `"`
}
