package dialect

import "github.com/agentscript/agentscript/generable"

// shape is the wire form of one natural type at one place. Shapes form a graph: what is used in several places is
// shared, and for targets that support recursion a part may lead back to the whole. The schema, the decoding type, Do
// and Undo are all derived from it, so that they agree.
type shape struct {
	form   form
	nat    *generable.Type // the type that it represents, without limits
	full   *generable.Type // the same with its limits
	limits *generable.Limits
	items  *shape   // of an array or a dict's values; of a paired, wrapped or listed value
	fields []member // of an object
	parts  []*shape // of a choice, in the order of the natural variants; of a tuple, for each item
	tag    string   // of an object that is a variant: the key of its discriminator
	wide   bool     // an enum whose values the schema does not list
	ends   bool     // JSON text because the type contains itself

	loop    bool            // it contains itself: written once under $defs
	filling bool            // its parts are being built
	changed bool            // the wire form differs from the natural form somewhere inside
	wire    *generable.Type // the type that the decoder reads, see wireType
}

// form says how a natural value is written.
type form uint8

const (
	asIs    form = iota
	wrapped      // {"value": …} around a root that is not an object
	paired       // a dict as [{"key": …, "value": …}, …]
	entered      // paired inside {"entries": …}, if a union has other arrays
	encoded      // JSON text in a string
	boxed        // encoded inside {"json": …}, where any string could be meant
	slotted      // a union as one object with a list for each variant, one of which has an item
	digits       // a large integer as text
	tupled       // a tuple as {"0": …, "1": …}
)

// Keys of the objects that the forms add.
const (
	valueKey   = "value"
	pairKey    = "key"
	entriesKey = "entries"
	jsonKey    = "json"
	absentKey  = "absent"
)

// member is one field of a natural schema on the wire.
type member struct {
	name string           // on the wire
	nat  *generable.Field // the field
	*shape
	presence presence
}

// presence says how a field is written that may be left out, or whose type accepts None.
type presence uint8

const (
	required     presence = iota // always present
	optional                     // left out
	omitted                      // null is written by omission
	cyclic                       // always present, though the target requires that it can be left out
	nullable                     // null if it is left out
	markedAbsent                 // {"absent": true}, since null is itself a value
	listed                       // a list of at most one item
	blank                        // JSON text, empty if it is left out
)

// leaves reports whether the property may be missing from the object.
func (p presence) leaves() bool { return p == optional || p == omitted || p == cyclic }

// same reports whether the natural decoder can read the field as the wire has it.
func (p presence) same() bool { return p <= cyclic }

// acceptsNull reports whether null is a value of the shape on the wire.
func (s *shape) acceptsNull() bool { return s.form == asIs && s.full.AcceptsNone() }

// item returns the shape of item i of a list.
func (s *shape) item(i int) *shape {
	if i < len(s.parts) {
		return s.parts[i]
	}
	return s.items
}

// children calls visit for each part of the shape.
func (s *shape) children(visit func(*shape)) {
	if s.items != nil {
		visit(s.items)
	}
	for i := range s.fields {
		visit(s.fields[i].shape)
	}
	for _, p := range s.parts {
		visit(p)
	}
}

// walk calls visit once for each shape of the graph: s first, parts in order.
func (s *shape) walk(visit func(*shape)) {
	seen := make(map[*shape]bool)
	var down func(*shape)
	down = func(s *shape) {
		if seen[s] {
			return
		}
		seen[s] = true
		visit(s)
		s.children(down)
	}
	down(s)
}

// markChanged marks the shapes inside which the wire form and the natural form differ. Values of other shapes pass
// unchanged.
func (root *shape) markChanged() {
	for grew := true; grew; {
		grew = false
		root.walk(func(s *shape) {
			if s.changed {
				return
			}
			is := s.form != asIs
			for i := range s.fields {
				f := &s.fields[i]
				is = is || f.name != f.nat.Name || !f.presence.same()
			}
			s.children(func(c *shape) { is = is || c.changed })
			if is {
				s.changed, grew = true, true
			}
		})
	}
}

// maxInlined is how many schemas may be written in place before those that are used more than once move to $defs.
const maxInlined = 400

// share decides which shapes are written once: those that contain themselves, and nominal ones that are used more
// than once if writing all in place would exceed maxInlined.
func (e *emitter) share(root *shape) {
	if !e.refs {
		return
	}
	uses := make(map[*shape]int)
	root.walk(func(s *shape) {
		if s.loop {
			e.shared[s] = true
		}
		s.children(func(c *shape) { uses[c]++ })
	})
	if e.size(root, make(map[*shape]int)) <= maxInlined {
		return
	}
	root.walk(func(s *shape) {
		if uses[s] > 1 && s.form == asIs && s.nat.IsNominal() && s.nat.Kind != generable.EnumType {
			e.shared[s] = true
		}
	})
}

// size counts the schemas written in place for a shape, stopping a little beyond maxInlined.
func (e *emitter) size(s *shape, known map[*shape]int) int {
	if n, ok := known[s]; ok {
		return n
	}
	known[s] = 1 // a reference, if the shape contains itself
	n := 1
	s.children(func(c *shape) {
		switch {
		case n > maxInlined:
		case e.shared[c]:
			n++
		default:
			n += e.size(c, known)
		}
	})
	known[s] = n
	return n
}

// markCyclic allows fields to be left out whose value leads back to the schema that they belong to, if the target
// allows references back only from such fields.
func (b *builder) markCyclic(root *shape) {
	if b.recursion != optionalRecursion {
		return
	}
	root.walk(func(s *shape) {
		for i := range s.fields {
			if f := &s.fields[i]; f.presence == required && leadsTo(f.shape, s) {
				f.presence = cyclic
			}
		}
	})
}

// leadsTo reports whether a shape refers back to one that contains the shape around it, not counting paths through
// the fields of other shapes.
func leadsTo(s, around *shape) bool {
	if s.loop {
		found := false
		s.walk(func(p *shape) { found = found || p == around })
		return found
	}
	if len(s.fields) > 0 {
		return false
	}
	found := false
	s.children(func(c *shape) { found = found || leadsTo(c, around) })
	return found
}
