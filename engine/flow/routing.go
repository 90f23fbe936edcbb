package flow

import (
	"slices"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// routing says how the values of a type are divided among the routes of a branch.
type routing struct {
	Routes  []way
	rest    []*generable.Type // what no route certainly takes
	Missing []string          // the keys of the rest
	open    bool              // any or an opaque condition: the rest is only known at run time
	told    bool              // conditions as data show what is missing
	vague   bool              // the missing cases depend on an answer that is only known at run time
	Visits  int               // number of parts visited, and of the cells that they are divided into
}

// way is what one route receives.
type way struct {
	sent  []*generable.Type
	fits  bool // it can take values of the type
	Fresh bool // and some that no earlier route takes
}

// part is one case of a type and what is left of it.
type part struct {
	of    *generable.Type
	taken bool

	// The values that routes have left over; nil if no route has a condition on the part or one of its values as key.
	space *predicate.Space
	rest  *predicate.Rest
}

// ways follows the values of a type through routes. The first route that takes a value gets it.
func ways(from *generable.Type, routes []Route) *routing {
	w := &routing{}
	var conditions []*predicate.Predicate
	for i := range routes {
		if p := routes[i].Pred; p != nil {
			conditions = append(conditions, p)
		}
	}
	var parts []*part
	for _, c := range typing.Cases(from) {
		p := &part{of: c}
		if values := typing.Values(c) != nil; values || len(conditions) > 0 {
			p.space = predicate.NewSpace(c, values, conditions)
			p.rest = p.space.Rest()
		}
		parts = append(parts, p)
	}
	index := indexOf(parts)
	for i := range routes {
		r := &routes[i]
		var to way
		for _, k := range index.of(r) {
			p := parts[k]
			w.Visits++
			if r.When != nil {
				w.open = true
				if !p.taken {
					to.sent = append(to.sent, p.of)
				}
				continue
			}
			if r.Pred != nil {
				w.told = true
				p.condition(r.Pred, &to)
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
				if !p.rest.Take(p.space.Value(*r.Value)) {
					to.fits = true
					continue
				}
				p.taken = p.rest.Empty()
			default:
				p.taken = true
			}
			to.fits, to.Fresh = true, true
			to.sent = append(to.sent, sent)
		}
		all := from
		if r.Type != nil && len(to.sent) == len(parts) && typing.Proven(r.Type, from) { // the narrower name
			all = r.Type
		}
		to.sent = whole(to.sent, all, parts)
		w.Routes = append(w.Routes, to)
	}
	for _, p := range parts {
		if p.rest != nil {
			w.Visits += p.space.Visits
		}
		if p.taken {
			continue
		}
		w.rest = append(w.rest, p.of)
		var gap []string
		if p.rest != nil {
			gap = p.rest.Describe()
			w.vague = w.vague || p.rest.Vague()
		}
		if len(gap) == 0 {
			gap = []string{p.of.String()}
		}
		w.Missing = append(w.Missing, gap...)
	}
	w.rest = whole(w.rest, from, parts)
	return w
}

// sent returns the type that each route gets and the type of the rest, nil where no values are known to arrive.
func (w *routing) sent() (routes []*generable.Type, rest *generable.Type) {
	union := func(types []*generable.Type) *generable.Type {
		if len(types) == 0 {
			return nil
		}
		return generable.OneOf(types...)
	}
	for _, way := range w.Routes {
		routes = append(routes, union(way.sent))
	}
	return routes, union(w.rest)
}

// condition follows the values of a case to a route that takes those for which c holds.
func (p *part) condition(c *predicate.Predicate, to *way) {
	region := p.space.Region(c)
	fresh := !p.taken && p.rest.Take(region)
	to.fits = to.fits || fresh || p.space.Some(region)
	if fresh {
		to.Fresh = true
		to.sent = append(to.sent, p.of)
		p.taken = p.rest.Empty()
	}
}

// partIndex finds the parts that a route can take values of.
type partIndex struct {
	all    []int
	others []int            // the parts that are not records
	byID   map[string][]int // the records, by their type, which is nominal
}

func indexOf(parts []*part) *partIndex {
	x := &partIndex{byID: map[string][]int{}}
	for i, p := range parts {
		x.all = append(x.all, i)
		if p.of.Kind == generable.RecordType {
			x.byID[p.of.ID()] = append(x.byID[p.of.ID()], i)
		} else {
			x.others = append(x.others, i)
		}
	}
	return x
}

// of lists, in order, the parts that a route is compared with.
func (x *partIndex) of(r *Route) []int {
	switch {
	case r.Value != nil && r.Type == nil:
		return x.others
	case r.Type == nil:
		return x.all
	}
	list := slices.Clone(x.others)
	for _, c := range typing.Cases(r.Type) {
		if c.Kind != generable.RecordType {
			return x.all
		}
		list = append(list, x.byID[c.ID()]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// whole replaces the list of all cases of a type by the type itself.
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
	takesPart         // the values that turn out at run time to be of its type
	takesAll
)

// takes returns how much of the case a route takes, and the type of that part.
func (p *part) takes(r *Route) (*generable.Type, taking) {
	c := p.of
	vague := typing.Untyped(c)
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
	case (c.Kind == generable.BoolType || c.Kind == generable.EnumType) && c.Conforms(*r.Value) == nil:
		return c, takesValue
	}
	return nil, takesNone
}
