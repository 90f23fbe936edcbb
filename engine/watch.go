package engine

// OnCancel has f called beside the branch when the branch is to stop, as long as the callback
// that asks for it runs: it calls stop before it returns. A watch costs about what a short
// callback does.
func (b *Branch) OnCancel(f func()) (stop func() bool) { return b.sched.OnCancel(f) }

// Err returns why the branch is to stop, nil while it is not.
func (b *Branch) Err() error { return b.sched.Err() }
