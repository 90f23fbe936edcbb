package thread

import "sync"

// watch cancels the interpreter concurrently with a callback that runs for long. Checking the budgets at intervals of
// steps is not enough: one step may sort a million items.
type watch struct {
	depth int // depth of the callback on its thread
	stop  func() bool

	mu    sync.Mutex
	over  bool // the callback has ended: its thread is used by another
	fired bool
}

// cancel is called concurrently with the branch.
func (w *watch) cancel(s *Thread) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.fired = true
		s.Starlark.Cancel(Interruption)
	}
}

func (w *watch) hasFired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fired
}

// watched starts to watch the running callback, unless it is watched already. Most callbacks end before that.
func (s *Thread) watched() bool {
	if n := len(s.watch); n > 0 && s.watch[n-1].depth == s.depth {
		return false
	}
	w := &watch{depth: s.depth}
	s.watch = append(s.watch, w) // even if the scheduler cannot watch, so that it is asked only once
	w.stop = s.branch.OnCancel(func() { w.cancel(s) })
	return true
}

// unwatch stops watching the callback that ends. A thread that was cancelled too late continues.
func (s *Thread) unwatch() {
	n := len(s.watch)
	if n == 0 || s.watch[n-1].depth != s.depth {
		return
	}
	w := s.watch[n-1]
	s.watch = s.watch[:n-1]
	if w.stop == nil || w.stop() {
		return
	}
	w.mu.Lock()
	w.over = true
	fired := w.fired
	w.mu.Unlock()
	if fired && s.stop == nil {
		s.resume()
	}
}

// resume lets the thread continue, unless an outer callback must stop too.
func (s *Thread) resume() {
	s.Starlark.Uncancel()
	for _, w := range s.watch {
		if w.hasFired() && s.branch.Err() != nil {
			s.Starlark.Cancel(Interruption)
		}
	}
}

// noticed determines why a watch cancelled the thread.
func (s *Thread) noticed() {
	if s.stop != nil {
		return
	}
	for _, w := range s.watch {
		if w.hasFired() {
			s.stop = s.branch.Err()
			return
		}
	}
}

// Interruption is the reason with which a thread is cancelled from outside.
const Interruption = "interrupted"

// Interrupted is the interpreter's message for a thread that was cancelled with [Interruption].
const Interrupted = "Starlark computation cancelled: " + Interruption
