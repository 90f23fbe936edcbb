package dialect

import (
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Decode reads an answer as [lenient.Decode] does, with the same options, repairs and errors. It accepts the wire
// form and, since a model may not have been held to the schema, the natural one. What was undone is recorded among
// the repairs, at no cost, under the kinds of its rewrites. Paths are those of the natural value and errors name
// natural types, so that they serve as a complaint whatever form the answer had; offsets are those of the text.
//
// An answer that fits the wire form without a repair is read as the wire form, whatever else it could be; otherwise
// the reading with the least repair cost counts.
func (w *Wire) Decode(text string, o generable.Options) lenient.Result {
	if !w.Rewritten() {
		return lenient.Decode(w.Natural, text, o)
	}
	best := w.read(w.root, text, o)
	if best.OK && best.outer == 0 && !best.mixed {
		return best.Result
	}
	visits := best.Visits
	consider := func(r reading) {
		visits += r.Visits
		if r.betters(&best) {
			best = r
		}
	}
	if w.root.form == wrapped && w.root.items.changed {
		consider(w.read(w.root.items, text, o))
	}
	natural := lenient.Decode(w.Natural, text, o)
	consider(reading{Result: natural, outer: natural.Cost})
	best.Visits = visits
	best.Partial = natural.Partial // an unfinished wire form has no natural equivalent
	return best.Result
}

// reading is one way to read a text.
type reading struct {
	lenient.Result
	outer int  // cost of the repairs outside JSON texts, which other readings do not look into
	mixed bool // some part was in the natural form, and perhaps all of it is
}

// betters reports whether a is a better reading of a text than b, which was tried earlier.
func (a *reading) betters(b *reading) bool {
	switch {
	case a.OK != b.OK:
		return a.OK
	case a.OK && b.mixed && !a.mixed:
		return a.outer <= b.outer
	case a.OK:
		return a.outer < b.outer
	}
	return len(a.Errors) < len(b.Errors)
}

// read decodes a text in the wire form of a shape: that of the root, or of the value that the root wraps.
func (w *Wire) read(s *shape, text string, o generable.Options) (r reading) {
	r.Result = lenient.Decode(s.wire, text, o)
	defer func() {
		l := locator{root: s}
		if l.repairs(r.Repairs); r.OK {
			return
		}
		raw := lenient.Decode(generable.AnyT, text, generable.Options{MaxDepth: o.MaxDepth, Pick: o.Pick})
		r.Visits += raw.Visits
		l.raw = raw.Value
		l.errors(r.Errors)
	}()
	if !r.OK {
		return r
	}
	r.outer = r.Cost
	u := &undoer{o: o, first: make(map[undoing]*undone)}
	r.Value = u.root(w.root, r.Value)
	r.Repairs = append(r.Repairs, u.records()...)
	r.Cost, r.outer = r.Cost+u.cost, r.outer+u.held
	r.Visits += u.visits
	r.mixed = u.mixed
	if o.MaxCost > 0 && r.Cost > o.MaxCost && u.cost > 0 {
		u.fail(nil, "repairs that cost at most "+strconv.Itoa(o.MaxCost), "cost "+strconv.Itoa(r.Cost), "answer with valid JSON")
	}
	if len(u.errs) > 0 {
		r.OK, r.Value, r.Errors = false, generable.Value{}, u.errs
	}
	return r
}
