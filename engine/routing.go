package engine

import "github.com/agentscript/agentscript/generable"

// routing says how the values of a type part among the routes of a branch.
type routing struct {
	routes  []way
	rest    []*generable.Type // what no route takes for certain
	missing []string          // the keys of the rest
	open    bool              // any or an opaque condition: what is left is only known at run time
	told    bool              // conditions as data tell what is missing
	vague   bool              // as far as they can: some ask what cannot be followed
}

// way is what one route gets.
type way struct {
	sent  []*generable.Type
	fits  bool // it can take values of the type
	fresh bool // and some that no earlier route has taken
}

// part is one case of a type and what is left of it.
type part struct {
	of    *generable.Type
	taken bool
	left  map[string]bool // of a bool or enum: the values not taken yet, as keys

	// What conditions have left over, as far as their first subject tells.
	subject string
	rest    *region
	conds   []*Predicate
}

// ways follows the values of a type through routes, of which the first that takes a value
// gets it.
func ways(from *generable.Type, routes []Route) *routing {
	w := &routing{}
	var parts []*part
	for _, c := range cases(from) {
		p := &part{of: c}
		for _, key := range valuesOf(c) {
			if p.left == nil {
				p.left = map[string]bool{}
			}
			p.left[key] = true
		}
		parts = append(parts, p)
	}
	for i := range routes {
		r := &routes[i]
		var to way
		for _, p := range parts {
			if r.When != nil {
				w.open = true
				if !p.taken {
					to.sent = append(to.sent, p.of)
				}
				continue
			}
			if r.Pred != nil {
				w.told = true
				w.vague = p.condition(r.Pred, &to) || w.vague
				continue
			}
			sent, how := p.takes(r)
			switch {
			case how == takesNone:
				continue
			case p.taken:
				to.fits = true
				continue
			case how == takesPart:
				w.open = true
			case how == takesValue:
				if !p.left[r.Key()] {
					to.fits = true
					continue
				}
				delete(p.left, r.Key())
				p.taken = len(p.left) == 0
				if p.rest != nil && p.subject == "" {
					p.rest = p.rest.minus(p.rest.only(*r.Value))
				}
			default:
				p.taken = true
			}
			to.fits, to.fresh = true, true
			to.sent = append(to.sent, sent)
		}
		all := from
		if r.Type != nil && proven(r.Type, from) { // the narrower name
			all = r.Type
		}
		to.sent = whole(to.sent, all, parts)
		w.routes = append(w.routes, to)
	}
	for _, p := range parts {
		if p.taken {
			continue
		}
		w.rest = append(w.rest, p.of)
		if p.rest != nil {
			if gap := p.rest.describe(p.subject); len(gap) > 0 {
				w.missing = append(w.missing, gap...)
				continue
			}
		}
		keys := valuesOf(p.of)
		if keys == nil {
			w.missing = append(w.missing, p.of.String())
		}
		for _, key := range keys {
			if p.left[key] {
				w.missing = append(w.missing, key)
			}
		}
	}
	w.rest = whole(w.rest, from, parts)
	return w
}

// condition follows the values of a case to a route that takes those for which c holds. It
// reports whether it takes values of which that cannot be told.
func (p *part) condition(c *Predicate, to *way) (vague bool) {
	if p.rest == nil {
		p.subject = p.subjectOf(c)
		t, why := subjectType(p.of, p.subject)
		if why != "" {
			return false // a field that this case does not have
		}
		p.rest = regionOf(t)
		for key := range p.rest.keys {
			if p.subject == "" && p.left != nil && !p.left[key] {
				delete(p.rest.keys, key) // an earlier route has it
			}
		}
	}
	t, _ := subjectType(p.of, p.subject)
	sure, may := c.regions(p.subject, regionOf(t))
	if may.empty() {
		return false
	}
	to.fits = true
	if p.taken || may.and(p.rest).empty() {
		return false
	}
	to.fresh = true
	to.sent = append(to.sent, p.of)
	p.rest = p.rest.minus(sure)
	for _, earlier := range p.conds { // p or not p, whatever p asks
		if earlier.Same(c.Not()) || c.Same(earlier.Not()) {
			p.taken = true
		}
	}
	p.conds = append(p.conds, c)
	if p.subject == "" {
		for key := range p.left {
			if !p.rest.keys[key] {
				delete(p.left, key)
			}
		}
	}
	p.taken = p.taken || p.rest.empty()
	return !may.minus(sure).empty()
}

// subjectOf chooses what of a case its conditions are followed by: the first thing tested that
// the case has.
func (p *part) subjectOf(c *Predicate) string {
	subjects := c.Subjects()
	for _, s := range subjects {
		if _, why := subjectType(p.of, s); why == "" {
			return s
		}
	}
	return subjects[0]
}

// whole names all cases of a type by a type that holds them.
func whole(sent []*generable.Type, all *generable.Type, parts []*part) []*generable.Type {
	if len(sent) != len(parts) {
		return sent
	}
	for i, p := range parts {
		if sent[i] != p.of {
			return sent
		}
	}
	return []*generable.Type{all}
}

// taking is how much of a case a route takes.
type taking uint8

const (
	takesNone  taking = iota
	takesValue        // one value of a bool or enum
	takesPart         // what turns out to be of its type
	takesAll
)

// takes tells how much of the case a route takes, and the type of that.
func (p *part) takes(r *Route) (*generable.Type, taking) {
	c := p.of
	vague := vague(c)
	switch {
	case r.Type != nil && vague:
		return r.Type, takesPart
	case r.Type != nil:
		if generable.Assignable(c, r.Type) != nil {
			return nil, takesNone
		}
		if generable.Unchecked(c, r.Type) {
			return r.Type, takesPart
		}
		return c, takesAll
	case r.Value == nil:
		return nil, takesNone
	case vague:
		return c, takesPart
	case r.Value.IsNull() && c.Kind == generable.NoneType:
		return c, takesAll
	case p.left != nil && c.Conforms(*r.Value) == nil:
		return c, takesValue
	}
	return nil, takesNone
}

// cases lists the values that a type is divided into for routing: variants, members, None.
func cases(t *generable.Type) []*generable.Type {
	switch t = t.Deref(); t.Kind {
	case generable.OneOfType:
		var out []*generable.Type
		for _, v := range t.Variants {
			out = append(out, cases(v)...)
		}
		return out
	case generable.UnionType:
		var out []*generable.Type
		for _, v := range t.Variants {
			// A reference in a union may stand for a union, even for itself. That is reported
			// where the type is declared.
			if v = v.Deref(); v.Kind != generable.UnionType {
				out = append(out, v)
			}
		}
		return out
	}
	return []*generable.Type{t}
}

// valuesOf lists the values of a case as keys, none when it has too many to list.
func valuesOf(c *generable.Type) []string {
	switch c.Kind {
	case generable.BoolType:
		return []string{"True", "False"}
	case generable.EnumType:
		keys := make([]string, len(c.Values))
		for i, v := range c.Values {
			keys[i] = string(generable.AppendQuoted(nil, v))
		}
		return keys
	}
	return nil
}

// keysOf lists the branch keys that the given cases can have.
func keysOf(cases []*generable.Type) []string {
	var keys []string
	for _, c := range cases {
		if values := valuesOf(c); values != nil {
			keys = append(keys, values...)
		} else {
			keys = append(keys, c.String())
		}
	}
	return keys
}
