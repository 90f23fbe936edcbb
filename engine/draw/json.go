package draw

import (
	"encoding/json"

	"github.com/agentscript/agentscript/engine/flow"
)

// The shapes as words in the JSON form.
var shapeWords = [...]string{terminal: "terminal", agentBox: "agent", step: "step", decision: "decision", fork: "fork", join: "join", broken: "broken"}

type jsonBox struct {
	ID    string   `json:"id"`
	Shape string   `json:"shape"`
	Label []string `json:"label"`
	Frame string   `json:"frame,omitempty"`
}

type jsonFrame struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Frame string `json:"frame,omitempty"`
}

type jsonArrow struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Label string `json:"label"`
	Back  bool   `json:"back,omitempty"`
}

// JSON returns the picture as data for other tools: {"boxes": [{id, shape, label, frame}], "arrows": [{from, to, label,
// back}], "frames": [{id, label, frame}]}, indented, ending in a newline. A shape is terminal, agent, step, decision,
// fork, join or broken. It returns "" for a nil node.
func JSON(n *flow.Node) string {
	if n == nil {
		return ""
	}
	p := pictureOf(n)
	out := struct {
		Boxes  []jsonBox   `json:"boxes"`
		Arrows []jsonArrow `json:"arrows"`
		Frames []jsonFrame `json:"frames"`
	}{Frames: []jsonFrame{}}
	p.root.each(func(f, up *frame) {
		if up != nil {
			out.Frames = append(out.Frames, jsonFrame{f.id, f.label, up.id})
		}
		for _, b := range f.boxes {
			out.Boxes = append(out.Boxes, jsonBox{b.id, shapeWords[b.shape], b.lines, f.id})
		}
	})
	for _, a := range p.arrows {
		out.Arrows = append(out.Arrows, jsonArrow{a.from, a.to, a.label, a.back})
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil { // cannot happen: everything in it has a JSON form
		return ""
	}
	return string(text) + "\n"
}
