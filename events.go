package agentscript

import (
	"iter"
	"sync"

	"github.com/agentscript/agentscript/engine"
)

// queue holds a run's events until they are read. It does not block the run and drops nothing. Without a reader it
// uses more and more memory; therefore events are kept only on request.
type queue struct {
	mu     sync.Mutex
	more   sync.Cond
	events []engine.Event
	closed bool
}

func (q *queue) put(e engine.Event) {
	q.mu.Lock()
	q.events = append(q.events, e)
	q.mu.Unlock()
	q.more.Signal()
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.more.Broadcast()
}

// all yields events as they arrive, each once, until the run has ended and all were read.
func (q *queue) all() iter.Seq[engine.Event] {
	return func(yield func(engine.Event) bool) {
		for {
			q.mu.Lock()
			for len(q.events) == 0 && !q.closed {
				q.more.Wait()
			}
			batch := q.events
			q.events = nil
			q.mu.Unlock()
			if len(batch) == 0 {
				return
			}
			for i, e := range batch {
				if !yield(e) {
					q.mu.Lock()
					q.events = append(batch[i+1:], q.events...)
					q.mu.Unlock()
					return
				}
			}
		}
	}
}
