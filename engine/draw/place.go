package draw

import "unicode/utf8"

// Sizes of a drawing, in pixels.
const (
	lineHeight = 18
	charWidth  = 7.2
	padX, padY = 14.0, 9.0
	gapX       = 34.0 // between neighbours
	gapY       = 46.0 // between rows: room for the label of an edge
	frameTop   = 24.0
	framePad   = 14.0
)

// place is where a box or frame is drawn: its centre and its size.
type place struct{ x, y, w, h float64 }

// element is a box or frame among others of one frame.
type element struct {
	id    string
	rank  int
	order int
	place
	frame *frame
}

// places lays a picture out from top to bottom. In each frame the elements are in rows, below all elements that lead to
// them and near the middle of those. Frames are laid out first, so that a frame contains only what belongs to it.
func (p *picture) places() map[string]place {
	holder := map[string]*frame{} // of boxes and frames
	up := map[*frame]*frame{}
	p.root.each(func(f, outer *frame) {
		holder[f.id], up[f] = outer, outer
		for _, b := range f.boxes {
			holder[b.id] = f
		}
	})
	out := map[string]place{}
	var lay func(f *frame) (w, h float64)
	lay = func(f *frame) (float64, float64) {
		var all []*element
		index := map[string]*element{}
		for _, id := range f.order {
			e := &element{id: id, order: len(all)}
			all, index[id] = append(all, e), e
		}
		for i := range f.boxes {
			index[f.boxes[i].id].w, index[f.boxes[i].id].h = f.boxes[i].size()
		}
		for _, in := range f.inner {
			e := index[in.id]
			e.frame = in
			e.w, e.h = lay(in)
		}
		// within maps the end of an arrow to the element of this frame that contains it.
		within := func(id string) *element {
			for at := holder[id]; at != nil; at = up[at] {
				if at == f {
					return index[id]
				}
				id = at.id
			}
			return nil
		}
		below := make([][]*element, len(all)) // the elements that lead to an element
		for _, a := range p.arrows {
			from, to := within(a.from), within(a.to)
			if from != nil && to != nil && from != to && !a.back && from.order < to.order {
				below[to.order] = append(below[to.order], from)
			}
		}
		for _, e := range all {
			for _, from := range below[e.order] {
				e.rank = max(e.rank, from.rank+1)
			}
		}
		w, h := arrange(all, below)
		if f != &p.root {
			w = max(w, textWidth(f.label)) + 2*framePad
			h += frameTop + framePad
			for _, e := range all {
				e.x, e.y = e.x+framePad, e.y+frameTop
			}
		}
		for _, e := range all {
			out[e.id] = e.place
		}
		return w, h
	}
	w, h := lay(&p.root)
	// Places are relative to their frame's corner: make them absolute, outermost frame first.
	var shift func(f *frame, dx, dy float64)
	shift = func(f *frame, dx, dy float64) {
		for _, id := range f.order {
			at := out[id]
			at.x, at.y = at.x+dx, at.y+dy
			out[id] = at
		}
		for _, in := range f.inner {
			at := out[in.id]
			shift(in, at.x-at.w/2, at.y-at.h/2)
		}
	}
	shift(&p.root, framePad, framePad)
	out[""] = place{w: w + 2*framePad, h: h + 2*framePad}
	return out
}

// arrange puts elements into rows by rank and returns the size of all.
func arrange(all []*element, below [][]*element) (width, height float64) {
	var rows [][]*element
	for _, e := range all {
		for len(rows) <= e.rank {
			rows = append(rows, nil)
		}
		rows[e.rank] = append(rows[e.rank], e)
	}
	for _, row := range rows {
		high, left := 0.0, 0.0
		for _, e := range row {
			want := 0.0
			for _, from := range below[e.order] {
				want += from.x / float64(len(below[e.order]))
			}
			e.x = max(want, left+e.w/2)
			left = e.x + e.w/2 + gapX
			high = max(high, e.h)
		}
		// Elements that were pushed to the right are centred around where they belong.
		if first := row[0]; len(below[first.order]) > 0 {
			mid, n := 0.0, 0.0
			for _, e := range row {
				for _, from := range below[e.order] {
					mid, n = mid+from.x, n+1
				}
			}
			if n > 0 {
				last := row[len(row)-1]
				d := mid/n - (first.x-first.w/2+last.x+last.w/2)/2
				for _, e := range row {
					e.x += d
				}
			}
		}
		for _, e := range row {
			e.y = height + high/2
		}
		height += high + gapY
	}
	least, most := 0.0, 0.0
	for i, e := range all {
		if i == 0 {
			least, most = e.x-e.w/2, e.x+e.w/2
		}
		least, most = min(least, e.x-e.w/2), max(most, e.x+e.w/2)
	}
	for _, e := range all {
		e.x -= least
	}
	return most - least, max(0, height-gapY)
}

func textWidth(s string) float64 { return float64(utf8.RuneCountInString(s)) * charWidth }

// size returns the space that a box needs.
func (b *box) size() (w, h float64) {
	for _, l := range b.lines {
		w = max(w, textWidth(l))
	}
	w, h = w+2*padX, float64(len(b.lines))*lineHeight+2*padY
	if b.shape == decision { // the text is in the middle of a diamond
		w, h = w+2*padX, h+padY
	}
	return w, h
}
