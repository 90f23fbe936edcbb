package main

import "sync"

// meeting is a barrier at which size goroutines wait for each other, again and again. A program that runs fewer of them
// concurrently never passes it.
type meeting struct {
	mu    sync.Mutex
	all   *sync.Cond
	size  int
	here  int
	times int // how often all have met
}

func newMeeting(size int) *meeting {
	m := &meeting{size: size}
	m.all = sync.NewCond(&m.mu)
	return m
}

func (m *meeting) wait() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.here++; m.here == m.size {
		m.here = 0
		m.times++
		m.all.Broadcast()
		return
	}
	for now := m.times; now == m.times; {
		m.all.Wait()
	}
}
