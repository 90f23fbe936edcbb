package dialect

import "github.com/agentscript/agentscript/generable"

// maxInlined is how many schemas may be written in place before what is used more than once
// moves to $defs.
const maxInlined = 400

// share decides which shapes are written once: those that contain themselves, and nominal
// ones used more than once where writing all in place would get out of hand.
func (e *emitter) share(root *shape) {
	if !e.Refs {
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

// size counts the schemas written in place for a shape, up to a little over maxInlined.
func (e *emitter) size(s *shape, known map[*shape]int) int {
	if n, ok := known[s]; ok {
		return n
	}
	known[s] = 1 // a reference, should it meet itself
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

// markCyclic lets fields be left out whose value leads back to the schema they belong to,
// where the target refers back from such alone.
func (b *builder) markCyclic(root *shape) {
	if b.Recursion != optionalRecursion {
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

// leadsTo reports whether a shape refers back, not counting through the fields of others, to
// one that contains the shape around it.
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
