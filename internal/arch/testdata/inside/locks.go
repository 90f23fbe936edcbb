package inside

import "sync"

type branch struct {
	mu    sync.Mutex
	once  sync.Once
	Sched interface {
		Do(func()) error
		Wait(func() bool) error
		Wake()
	}
}

func (b *branch) waits() { _ = b.Sched.Wait(nil) }

func (b *branch) far() { b.waits() }

func (b *branch) bad() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.Sched.Wait(nil) // want "b.Sched.Wait has another branch go on while b.mu is held"
	if b != nil {
		b.far() // want "b.far has another branch go on while b.mu is held"
	}
}

func (b *branch) between() {
	for range 2 {
		b.mu.Lock()
		_ = b.Sched.Do(nil) // want "b.Sched.Do has another branch go on while b.mu is held"
		b.mu.Unlock()
		_ = b.Sched.Do(nil)
	}
}

func (b *branch) good() {
	b.mu.Lock()
	b.Sched.Wake()
	b.once.Do(nil)
	later := func() { b.waits() }
	b.mu.Unlock()
	b.waits()
	later()
}
