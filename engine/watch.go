package engine

// A Watcher is a [Sched] that can tell of a cancellation when it comes. Without it, a callback
// learns of it when it asks.
type Watcher interface {
	// OnCancel has f called, once and beside the branch, when the branch is to stop. f must
	// not block. stop ends the watch; f may be running when it returns.
	OnCancel(f func()) (stop func() bool)
}

// OnCancel has f called beside the branch when the branch is to stop, as long as the callback
// that asks for it runs: it calls stop before it returns. The result is nil where the scheduler
// cannot do that. A watch costs about what a short callback does.
func (b *Branch) OnCancel(f func()) (stop func() bool) {
	if w, ok := b.sched.(Watcher); ok {
		return w.OnCancel(f)
	}
	return nil
}

// Err returns why the branch is to stop, nil while it is not.
func (b *Branch) Err() error { return b.sched.Err() }
