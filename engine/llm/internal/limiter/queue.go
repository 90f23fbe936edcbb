package limiter

// waiter is a call that waits. It is all that a parked call costs here.
type waiter struct {
	permit     Permit
	ticket     uint64
	ready      chan struct{} // closed once admitted; nil when the call never had to wait
	admitted   bool
	in         *queue
	prev, next *waiter
}

// queue holds waiters in their order. Anyone can leave at no cost.
type queue struct {
	head, tail *waiter
	n          int
}

func (q *queue) push(w *waiter) {
	w.prev = q.tail
	if q.tail != nil {
		q.tail.next = w
	} else {
		q.head = w
	}
	q.tail = w
	q.n++
}

func (q *queue) remove(w *waiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		q.head = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		q.tail = w.prev
	}
	w.prev, w.next = nil, nil
	q.n--
}
