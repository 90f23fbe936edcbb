package engine

import "cmp"

// starved is an ask that waits for what others give back: what their calls hold, or what their
// conversations keep for a last answer.
type starved struct {
	b    *branch
	a    *ask
	next *starved
}

// keeping is what conversations keep of a pot, and how many of them.
type keeping struct {
	of    estimate
	open  int // conversations
	stuck int // of them, those inside which an ask waits: they give nothing back before it is answered
}

// stand books a change of how a conversation stands to the pots around it. The caller holds the lock.
func (k *reserve) stand(change func()) {
	open, stuck := k.stands()
	change()
	nowOpen, nowStuck := k.stands()
	if open == nowOpen && stuck == nowStuck {
		return
	}
	for at := k.in; at != nil; at = at.up {
		if at.pot.kept == nil {
			at.pot.kept = &keeping{}
		}
		at.pot.kept.open += nowOpen - open
		at.pot.kept.stuck += nowStuck - stuck
	}
}

func (k *reserve) stands() (open, stuck int) {
	if k.kept == (estimate{}) {
		return 0, 0
	}
	return 1, min(k.waits, 1)
}

// starve adds or takes away one that waits. The conversations that it is inside of wait with it.
func (s *starved) starve(waits bool) {
	run := s.b.budget.run
	run.mu.Lock()
	n := -1
	if waits {
		n, s.next, run.starved = 1, run.starved, s
	} else {
		at := &run.starved
		for *at != s {
			at = &(*at).next
		}
		*at = s.next
	}
	for k := s.b.keeper; k != nil; k = k.outer {
		k.stand(func() { k.waits += n })
	}
	run.mu.Unlock()
	s.b.sched.Wake() // what others wait for may not come any more
}

// answered looks whether an ask need not wait longer. When everybody waits for what the others keep,
// one of them is refused, the same in whichever order they came: it may answer with what it has, and
// gives its part back. The caller holds the lock.
func (s *starved) answered() (verdict, *budget, resource) {
	v, by, r := s.b.budget.look(s.b, s.a)
	if v != starving {
		return v, by, r
	}
	for other := s.b.budget.run.starved; other != nil; other = other.next {
		if v, _, _ := other.b.budget.look(other.b, other.a); other != s && (v != starving || other.before(s)) {
			return later, by, r
		}
	}
	return refused, by, r
}

// before orders those of which one is refused: at first conversations that then answer with what they
// have, then what is inside of one; of these the last by position.
func (s *starved) before(other *starved) bool {
	if c := cmp.Compare(s.rank(), other.rank()); c != 0 {
		return c < 0
	}
	return s.b.Path() > other.b.Path()
}

func (s *starved) rank() int {
	own := s.a.kept()
	switch {
	case own != nil && own.kept != (estimate{}) && !s.a.of.closing:
		return 0
	case own != nil && own.kept != (estimate{}):
		return 2 // its last answer
	case s.b.keeper != nil && s.b.keeper != own || own != nil && own.outer != nil:
		return 1
	}
	return 3
}
