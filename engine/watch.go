package engine

// OnCancel implements [Branch].
func (b *branch) OnCancel(f func()) (stop func() bool) { return b.sched.OnCancel(f) }

// Err implements [Branch].
func (b *branch) Err() error { return b.sched.Err() }
