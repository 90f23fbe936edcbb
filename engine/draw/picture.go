// Package draw shows a composition as a diagram: Mermaid and Graphviz DOT as text, self-contained SVG, and JSON for
// other tools.
//
// All forms show the same picture. Every agent and step is a box, every edge carries the type that flows along it, a
// branch is a diamond whose edges carry the keys of its routes, parallel branches meet in a join, and named structures
// are frames. The same node always yields the same text: ids are numbered in the order of the composition.
package draw

import (
	"cmp"
	"strconv"

	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
)

// shape is how a box looks.
type shape int

const (
	terminal shape = iota // where the flow begins and ends
	agentBox              // executed by a model
	step                  // deterministic: run =, fn, pick, template
	decision              // a branch, or the end of a loop's turn
	fork                  // a list is taken apart
	join                  // branches meet
	broken                // a node with a reported mistake
)

// box is a node of the diagram.
type box struct {
	id    string
	shape shape
	lines []string // of the label
}

// arrow is an edge. The label is the type that flows, or the key of a route.
type arrow struct {
	from, to string
	label    string
	back     bool // leads back in a loop: drawn dashed
}

// frame is drawn around the content of a structure.
type frame struct {
	id    string
	label string
	boxes []box
	inner []*frame
	order []string // the ids of both, as they were added
}

// out is an exit of a fragment, with the label of the edge that leaves it.
type out struct {
	from  string
	label string
	back  bool
}

// fragment is the drawn form of a node, with its entries and exits.
type fragment struct {
	ins  []string
	outs []out
}

// picture collects boxes and arrows in the order of the composition.
type picture struct {
	root   frame
	at     *frame // the frame being filled
	arrows []arrow
	boxes  int
	frames int
}

// pictureOf lays a composition out.
func pictureOf(n *flow.Node) *picture {
	p := &picture{}
	p.at = &p.root
	start := p.box(terminal, typeText(n.In()))
	f := p.add(n)
	end := p.box(terminal, typeText(n.Out()))
	p.connect([]out{{from: start, label: typeText(n.In())}}, f.ins)
	p.connect(f.outs, []string{end})
	// Arrows are ordered by the boxes that they leave, so that the text follows the flow.
	sorting.By(p.arrows, func(a, b arrow) int {
		return cmp.Or(cmp.Compare(len(a.from), len(b.from)), cmp.Compare(a.from, b.from))
	})
	return p
}

func typeText(t *generable.Type) string {
	if t == nil {
		return "any"
	}
	return t.String()
}

func (p *picture) box(s shape, lines ...string) string {
	id := "n" + strconv.Itoa(p.boxes)
	p.boxes++
	p.at.boxes = append(p.at.boxes, box{id, s, lines})
	p.at.order = append(p.at.order, id)
	return id
}

//go:noinline
func (p *picture) connect(from []out, to []string) {
	for _, o := range from {
		for _, id := range to {
			p.arrows = append(p.arrows, arrow{o.from, id, o.label, o.back})
		}
	}
}

// each calls do with the frame and all frames inside it, outermost first. The root has a nil up.
func (f *frame) each(do func(f, up *frame)) { f.eachIn(nil, do) }

func (f *frame) eachIn(up *frame, do func(f, up *frame)) {
	do(f, up)
	for _, in := range f.inner {
		in.eachIn(f, do)
	}
}

// framed draws what body adds for a node inside a frame.
func (p *picture) framed(label string, n *flow.Node, body func(*flow.Node) fragment) fragment {
	f := &frame{id: "s" + strconv.Itoa(p.frames), label: label}
	p.frames++
	up := p.at
	up.inner = append(up.inner, f)
	up.order = append(up.order, f.id)
	p.at = f
	defer func() { p.at = up }()
	return body(n)
}
