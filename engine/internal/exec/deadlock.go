package exec

import (
	"cmp"

	"github.com/agentscript/agentscript/engine/internal/units"
)

// waiter is an ask that waits for others to return something: what their calls hold, or what their conversations keep
// for a last answer.
type waiter struct {
	b    *Branch
	a    *Ask
	next *waiter
}

// inside is the activity inside of an account: what conversations keep of it, and who else may use it.
type inside struct {
	kept    Estimate
	open    int32 // conversations that keep something
	stuck   int32 // those of them that contain a waiting ask: they return nothing before it is answered
	beside  int32 // concurrent branches in addition to the first
	calls   int32 // calls that hold tokens or money of it
	users   int32 // of a named budget: the places that use it now
	gone    int32 // and those that used it before
	strayed [units.Resources]stray
}

// inner returns the account's inside for modification. The caller holds the lock.
func (p *account) inner() *inside {
	if p.in == nil {
		p.in = &inside{}
	}
	return p.in
}

// stand books a change of a conversation's state in the surrounding accounts. The caller holds the lock.
func (k *Reservation) stand(change func()) {
	open, stuck := k.stands()
	change()
	nowOpen, nowStuck := k.stands()
	if open == nowOpen && stuck == nowStuck {
		return
	}
	for at := k.In; at != nil; at = at.up {
		in := at.account.inner()
		in.open += nowOpen - open
		in.stuck += nowStuck - stuck
	}
}

func (k *Reservation) stands() (open, stuck int32) {
	if k.kept == (Estimate{}) {
		return 0, 0
	}
	return 1, int32(min(k.waits, 1))
}

// register adds or removes a waiting ask. The conversations around it wait with it.
func (s *waiter) register(waits bool) {
	run := s.b.Budget.run
	run.mu.Lock()
	n := -1
	if waits {
		n, s.next, run.waiting = 1, run.waiting, s
	} else {
		at := &run.waiting
		for *at != s {
			at = &(*at).next
		}
		*at = s.next
	}
	for k := s.b.Reservation; k != nil; k = k.Outer {
		k.stand(func() { k.waits += n })
	}
	run.mu.Unlock()
	s.b.Sched.Wake() // what others wait for may not come any more
}

// answered reports whether an ask can stop waiting. If everybody waits for what the others keep, one ask is refused,
// always the same one in whatever order they came: its conversation may answer with what it has, which frees its part.
// The caller holds the lock.
func (s *waiter) answered() (verdict, *budget, units.Resource) {
	v, by, r := s.b.Budget.look(s.b, s.a)
	if v != starving {
		return v, by, r
	}
	for other := s.b.Budget.run.waiting; other != nil; other = other.next {
		if v, _, _ := other.b.Budget.look(other.b, other.a); other != s && (v != starving || other.before(s)) {
			return later, by, r
		}
	}
	return refused, by, r
}

// before orders asks by which is refused first: first those of conversations that can then give a last answer, then
// those inside of such a conversation; among equals, the last by position.
func (s *waiter) before(other *waiter) bool {
	if c := cmp.Compare(s.rank(), other.rank()); c != 0 {
		return c < 0
	}
	return s.b.Path() > other.b.Path()
}

func (s *waiter) rank() int {
	own := s.a.kept()
	switch {
	case own != nil && own.kept != (Estimate{}) && !s.a.Of.Closing:
		return 0
	case own != nil && own.kept != (Estimate{}):
		return 2 // its last answer
	case s.b.Reservation != nil && s.b.Reservation != own || own != nil && own.Outer != nil:
		return 1
	}
	return 3
}
