package transcript

import (
	"maps"
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
)

// place decides what goes into the function: what ran, what reads that, and what it changes. What is composed stays at
// the top level, and what that reads from the function is written there as data.
func (b *builder) place() {
	of := b.groups(func(v *version) bool { return !v.held.atomic() && !v.held.AtTop() && v.held.Kind != Function })
	moved := map[*version]bool{}
	last := map[*version]place{} // where the contents of a group change last
	for _, p := range b.sorted() {
		if p.kept && p.st.Changed {
			for _, v := range b.touched(p) {
				last[of(v)] = p.at
			}
		}
	}
	for more := true; more; {
		more = false
		for _, p := range b.pieces {
			if !p.kept || p.main || !p.st.Ran && p.atTop() {
				continue
			}
			p.main = p.st.Ran
			p.uses(func(v *version) { p.main = p.main || v.by.main })
			for _, v := range p.bind {
				p.main = p.main || moved[of(v)]
			}
			touched := b.touched(p)
			p.main = p.main || p.st.Changed && slices.ContainsFunc(touched, func(v *version) bool { return moved[of(v)] })
			if !p.main {
				continue
			}
			more = true
			for _, v := range touched {
				moved[of(v)] = moved[of(v)] || p.st.Changed || last[of(v)].compare(p.at) > 0
			}
		}
	}
	for _, p := range slices.Clone(b.sorted()) {
		if p.kept && !p.main {
			b.readTop(p, p.st.Lists, map[*version]*version{})
		}
	}
}

// end makes the last value of the session the function's result, if it is made from values of the function. It includes
// the results that the value reads, even if nothing else does.
func (b *builder) end() {
	var last *piece
	for _, p := range b.sorted() {
		if p.st.Value {
			last = p
		}
	}
	if last == nil || last.kept || !last.ofMain(map[*piece]bool{}) {
		return
	}
	var need func(p *piece)
	need = func(p *piece) {
		if p.kept {
			return
		}
		p.kept, p.main = true, p.ofMain(map[*piece]bool{})
		p.uses(func(v *version) { need(v.by) })
	}
	last.uses(func(v *version) { need(v.by) }) // the value itself is shown
}

// ofMain reports whether a piece reads values of the function, even through results that are not written.
func (p *piece) ofMain(seen map[*piece]bool) (is bool) {
	if seen[p] {
		return false
	}
	seen[p] = true
	p.uses(func(v *version) { is = is || v.by.main || !v.by.kept && v.by.ofMain(seen) })
	return is
}

// atTop reports whether a piece cannot be in a function.
func (p *piece) atTop() bool {
	for _, v := range p.bind {
		if v.held.AtTop() {
			return true
		}
	}
	return false
}

// touched returns the lists, dicts and sets that a piece may change: those that it, or a function it calls, reads.
func (b *builder) touched(p *piece) (all []*version) {
	seen := map[*piece]bool{}
	var look func(v *version)
	look = func(v *version) {
		if v.held.Kind == Function {
			if !seen[v.by] {
				seen[v.by] = true
				v.by.uses(look)
			}
			return
		}
		if !v.held.atomic() && !v.held.AtTop() {
			all = append(all, v)
		}
	}
	p.uses(look)
	return all
}

// readTop makes a top-level piece read nothing from the function, and lists with their contents at that time.
func (b *builder) readTop(p *piece, lists map[string]generable.Value, tops map[*version]*version) {
	for _, all := range []map[string]*version{p.read, p.late} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if v := all[name]; v != nil && v.by.main {
				all[name] = b.top(name, v, p.at.statement, lists, tops)
				p.at = b.next(p.at.statement)
			}
		}
	}
}

// top returns a top-level copy of a version in the function: data unchanged, functions once more.
func (b *builder) top(name string, v *version, statement int, lists map[string]generable.Value, tops map[*version]*version) *version {
	if tops[v] != nil {
		return tops[v]
	}
	if data, changes := lists[name]; changes {
		return b.literal(v, data, statement, tops)
	}
	if v.held.Kind == Data {
		return b.literal(v, v.held.Data, statement, tops)
	}
	c := b.clone(v.by, statement, tops)
	c.kept, c.main = true, false
	b.readTop(c, lists, tops)
	return tops[v]
}

// literal returns a version in the function as data at the top level.
func (b *builder) literal(v *version, data generable.Value, statement int, tops map[*version]*version) *version {
	c := b.clone(v.by, statement, tops)
	c.kept, c.main, c.literal = true, false, true
	w := tops[v]
	w.held.Data = data
	c.bind = map[string]*version{Result: w}
	return w
}

// hoist composes at the top level what was composed in a call: (a >> b)("x").
func (b *builder) hoist() {
	for _, p := range slices.Clone(b.sorted()) {
		if !p.kept || !p.main || len(p.inner) == 0 {
			continue
		}
		p.hoisted = map[string]*version{}
		for _, call := range p.inner {
			text := p.composition(call)
			if p.hoisted[text] != nil {
				continue
			}
			h := &piece{source: read(text), st: &Statement{Text: text}, read: map[string]*version{},
				late: map[string]*version{}, held: map[string]bool{}, kept: true}
			h.at = b.next(p.at.statement)
			for _, o := range h.names {
				name := o.id.Name
				if v := p.late[name]; o.late && v != nil {
					h.late[name] = v
				} else if v := p.read[name]; !o.late && v != nil {
					h.read[name] = v
					h.held[name] = !o.called
				}
			}
			b.readTop(h, nil, map[*version]*version{})
			v := b.sameAs(h)
			if v == nil {
				v = &version{name: "flow", by: h, held: Held{Kind: Node}}
				h.bind = map[string]*version{Result: v}
				b.pieces = append(b.pieces, h)
			}
			p.hoisted[text] = v
		}
	}
}

// sameAs returns a composition before this one that is written anyway and has the same parts, or nil. One that follows
// would have a name that its calls in the record also have.
func (b *builder) sameAs(h *piece) *version {
	for _, p := range b.pieces {
		if !p.kept || p.main || p.at.compare(h.at) > 0 || len(p.bind) != 1 || expression(p.source) != expression(h.source) ||
			!maps.Equal(p.read, h.read) || !maps.Equal(p.late, h.late) {
			continue
		}
		for _, v := range p.bind {
			if v.held.Kind == Node {
				return v
			}
		}
	}
	return nil
}

// copyPlaced writes a copy of an agent for each composition but one that holds it, since an agent has only one place.
func (b *builder) copyPlaced() {
	placed := map[*version]*piece{}
	last := map[*piece]bool{}
	for _, v := range b.now {
		last[v.by] = true
	}
	all := slices.Clone(b.sorted())
	sorting.By(all, func(p, q *piece) int { // the last versions keep their agents
		if last[p] != last[q] && last[p] {
			return -1
		} else if last[p] != last[q] {
			return 1
		}
		return 0
	})
	for _, p := range all {
		if p.kept && !p.main && !p.literal {
			b.claim(p, placed)
		}
	}
}

func (b *builder) claim(p *piece, placed map[*version]*piece) {
	if !slices.ContainsFunc(slices.Collect(maps.Values(p.bind)), func(v *version) bool { return v.held.Kind == Node }) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.held)) {
		v := p.read[name]
		if !p.held[name] || v == nil || v.held.Kind != Node {
			continue
		}
		if placed[v] == nil {
			placed[v] = p
			continue
		}
		if placed[v] == p {
			continue
		}
		copies := map[*version]*version{}
		c := b.clone(v.by, p.at.statement, copies)
		c.kept, c.observed = true, true
		p.read[name] = copies[v]
		placed[copies[v]] = p
		b.claim(c, placed)
		p.at = b.next(p.at.statement)
	}
}
