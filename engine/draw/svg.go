package draw

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine/flow"
)

// SVG returns the composition as a self-contained drawing: it loads no script, no font and nothing else. It ends in a
// newline. It returns "" for a nil node.
func SVG(n *flow.Node) string {
	if n == nil {
		return ""
	}
	p := pictureOf(n)
	at := p.places()
	all := at[""]
	left, right := 0.0, all.w // edges may pass outside of the frames
	boxes := p.obstacles(at)
	var b, labels strings.Builder // labels are drawn over all lines
	svgFrames(&b, &p.root, at)
	for _, a := range p.arrows {
		from, to := svgArrow(&b, &labels, a, at, boxes)
		left, right = min(left, from-framePad), max(right, to+framePad)
	}
	svgBoxes(&b, &p.root, at)
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[2]s" height="%[3]s" viewBox="%[1]s 0 %[2]s %[3]s" role="img">`+"\n", num(left), num(right-left), num(all.h))
	return head + "<title>" + xmlText(n.Label()) + "</title>\n" + svgStyle + b.String() + labels.String() + "</svg>\n"
}

// svgStyle follows the reader's choice of light or dark. It uses no variables, since not every program that draws SVG
// supports them.
const svgStyle = `<style>
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2937; text-anchor: middle; }
.box, .terminal, .decision, .join { fill: #ffffff; stroke: #1f2937; }
.agent { fill: #e0ecff; stroke: #1f2937; }
.broken { fill: #ffffff; stroke: #c1121f; stroke-width: 2; }
.frame { fill: #f6f7f9; stroke: #9ca3af; }
.frame-label { text-anchor: start; fill: #6b7280; }
.edge { fill: none; stroke: #6b7280; }
.back { stroke-dasharray: 5 4; }
.label { font-size: 11px; fill: #4b5563; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
@media (prefers-color-scheme: dark) {
text { fill: #e5e7eb; }
.box, .terminal, .decision, .join { fill: #1f2937; stroke: #e5e7eb; }
.agent { fill: #1e3a5f; stroke: #e5e7eb; }
.broken { fill: #1f2937; }
.frame { fill: #161b22; }
.frame-label, .label { fill: #9ca3af; }
.label { stroke: #0d1117; }
}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#6b7280"/></marker></defs>
`

var svgClasses = [...]string{terminal: "terminal", agentBox: "agent", step: "box", decision: "decision", fork: "join", join: "join", broken: "broken"}

func svgFrames(b *strings.Builder, root *frame, at map[string]place) {
	root.each(func(f, up *frame) {
		if up == nil {
			return
		}
		r := at[f.id]
		fmt.Fprintf(b, `<rect class="frame" x="%s" y="%s" width="%s" height="%s" rx="8"/>`+"\n", num(r.x-r.w/2), num(r.y-r.h/2), num(r.w), num(r.h))
		fmt.Fprintf(b, `<text class="frame-label" x="%s" y="%s">%s</text>`+"\n", num(r.x-r.w/2+framePad), num(r.y-r.h/2+17), xmlText(f.label))
	})
}

func svgBoxes(b *strings.Builder, f *frame, at map[string]place) {
	for i := range f.boxes {
		x := &f.boxes[i]
		r, class := at[x.id], svgClasses[x.shape]
		if x.shape == decision {
			fmt.Fprintf(b, `<path class="%s" d="M%s %sL%s %sL%s %sL%s %sz"/>`+"\n", class,
				num(r.x), num(r.y-r.h/2), num(r.x+r.w/2), num(r.y), num(r.x), num(r.y+r.h/2), num(r.x-r.w/2), num(r.y))
		} else {
			round := 3.0
			switch x.shape {
			case terminal:
				round = r.h / 2
			case step:
				round = 9
			}
			fmt.Fprintf(b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`+"\n", class, num(r.x-r.w/2), num(r.y-r.h/2), num(r.w), num(r.h), num(round))
		}
		top := r.y - float64(len(x.lines)-1)*lineHeight/2 + 4
		for i, l := range x.lines {
			fmt.Fprintf(b, `<text x="%s" y="%s">%s</text>`+"\n", num(r.x), num(top+float64(i)*lineHeight), xmlText(l))
		}
	}
	for _, in := range f.inner {
		svgBoxes(b, in, at)
	}
}

// svgArrow draws an edge: down from a box to the next, passing the boxes between them on the left, or up again on the
// right. It returns the horizontal extent of the edge.
func svgArrow(b, labels *strings.Builder, a arrow, at map[string]place, boxes []place) (left, right float64) {
	from, to := at[a.from], at[a.to]
	var d string
	var x, y float64
	class := "edge"
	if a.back || from.y >= to.y {
		if a.back {
			class += " back"
		}
		x1, x2 := from.x+from.w/2, to.x+to.w/2
		side := max(x1, x2) + gapX
		d = fmt.Sprintf("M%s %sC%s %s %s %s %s %s", num(x1), num(from.y), num(side), num(from.y), num(side), num(to.y), num(x2), num(to.y))
		x, y = (max(x1, x2)+side)/2, (from.y+to.y)/2
	} else if side, ok := passing(from, to, boxes); ok {
		y2 := to.y - to.h/2
		x1 := from.x - from.w/2
		d = fmt.Sprintf("M%s %sC%s %s %s %s %s %s", num(x1), num(from.y), num(side), num(from.y), num(side), num(y2-gapY/2), num(to.x), num(y2))
		x, y = (x1+3*side)/4, (from.y+y2)/2
	} else {
		y1, y2 := from.y+from.h/2, to.y-to.h/2
		bend := (y2 - y1) / 2
		d = fmt.Sprintf("M%s %sC%s %s %s %s %s %s", num(from.x), num(y1), num(from.x), num(y1+bend), num(to.x), num(y2-bend), num(to.x), num(y2))
		x, y = (from.x+3*to.x)/4, y2-bend/2-2 // where the edges of a branch are apart
	}
	fmt.Fprintf(b, `<path class="%s" d="%s" marker-end="url(#tip)"/>`+"\n", class, d)
	if a.label != "" {
		fmt.Fprintf(labels, `<text class="label" x="%s" y="%s">%s</text>`+"\n", num(x), num(y), xmlText(a.label))
	}
	half := textWidth(a.label) / 2
	return x - half, x + half
}

// obstacles lists the places of all boxes.
func (p *picture) obstacles(at map[string]place) []place {
	var out []place
	p.root.each(func(f, _ *frame) {
		for i := range f.boxes {
			out = append(out, at[f.boxes[i].id])
		}
	})
	return out
}

// passing returns where an edge passes the boxes in its way, left of them all, and whether there are such boxes.
func passing(from, to place, boxes []place) (side float64, ok bool) {
	top, bottom := from.y+from.h/2, to.y-to.h/2
	if bottom-top <= gapY+frameTop+2*framePad { // they are neighbours
		return 0, false
	}
	side = from.x - from.w/2
	for _, b := range boxes {
		if b.y <= top || b.y >= bottom {
			continue
		}
		x := from.x + (to.x-from.x)*(b.y-top)/(bottom-top)
		if b.x-b.w/2 < x && x < b.x+b.w/2 {
			side, ok = min(side, b.x-b.w/2), true
		}
	}
	return side - gapX, ok
}

// num writes a coordinate with at most one digit after the point.
func num(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }

// xmlText escapes a text and leaves out characters that XML does not allow.
func xmlText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r < 0x20 || r == 0xfffe || r == 0xffff:
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
