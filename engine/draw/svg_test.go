package draw_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/draw"
	"github.com/agentscript/agentscript/engine/flow"
)

type rect struct{ x, y, w, h float64 }

// shapesOf reads a drawing as XML and returns the rectangles of its boxes.
func shapesOf(t *testing.T, text string) (boxes []rect) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return boxes
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, text)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		at := map[string]string{}
		for _, a := range e.Attr {
			at[a.Name.Local] = a.Value
			if strings.Contains(a.Value, "://") && a.Name.Local != "xmlns" || a.Name.Local == "href" {
				t.Errorf("the drawing fetches %s", a.Value)
			}
		}
		if e.Name.Local == "rect" && at["class"] != "frame" {
			n := func(k string) float64 { f, _ := strconv.ParseFloat(at[k], 64); return f }
			boxes = append(boxes, rect{n("x"), n("y"), n("width"), n("height")})
		}
	}
}

// TestDrawingsAreApart requires that each drawing is XML that fetches nothing, and that no boxes overlap.
func TestDrawingsAreApart(t *testing.T) {
	all := map[string]func(c composer) *flow.Node{"wide": func(c composer) *flow.Node {
		var kids []*flow.Node
		for i := range 40 {
			k := c.run("step"+strconv.Itoa(i), str, str)
			if i%3 == 0 {
				k = c.Then(site("then", "pipe"), k, c.run("a long name for a step", str, str), c.run("x", str, str))
			}
			kids = append(kids, k)
		}
		return c.Then(site("then", "main"), c.run("first", str, str), c.Par(site("par", ""), flow.ParOptions{}, kids...))
	}}
	for name, make := range pictures {
		all[name] = make
	}
	for name, make := range all {
		c := composer{flow.NewSession()}
		boxes := shapesOf(t, draw.SVG(make(c)))
		if len(boxes) < 2 {
			t.Errorf("%s: %d boxes", name, len(boxes))
		}
		for i, a := range boxes {
			for _, b := range boxes[:i] {
				if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
					t.Errorf("%s: %v stands on %v", name, a, b)
				}
			}
		}
	}
}
