package thread

import "sync"

// watch cancels the interpreter beside a callback that runs for longer. Looking at the budgets
// every so many steps is not enough: one step may sort a million items.
type watch struct {
	depth int // of the callback on its strand
	stop  func() bool

	mu    sync.Mutex
	over  bool // the callback has ended: its thread is another's
	fired bool
}

// cancel is called beside the branch.
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

// watched begins to watch the callback that runs, unless it is watched. Most callbacks end
// before they come to it.
func (s *Thread) watched() bool {
	if n := len(s.watch); n > 0 && s.watch[n-1].depth == s.depth {
		return false
	}
	w := &watch{depth: s.depth}
	s.watch = append(s.watch, w) // also where the scheduler cannot watch: to ask it once
	w.stop = s.branch.OnCancel(func() { w.cancel(s) })
	return true
}

// unwatch ends the watch of the callback that ends. What it cancelled too late goes on.
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

// resume lets the thread go on, unless an outer callback is to stop as well.
func (s *Thread) resume() {
	s.Starlark.Uncancel()
	for _, w := range s.watch {
		if w.hasFired() && s.branch.Err() != nil {
			s.Starlark.Cancel(Interruption)
		}
	}
}

// noticed finds out why a watch cancelled the thread.
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

// What a thread is cancelled by from beside, and how the interpreter says so.
const Interruption = "interrupted"

// Interrupted is how the interpreter says that a thread was cancelled by [Interruption].
const Interrupted = "Starlark computation cancelled: " + Interruption
