package sched_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/sched/schedtest"
)

// place is a world on the machine's time, in which others make things happen.
type place struct {
	happened chan struct{}
	why      error
	pauses   int
}

func newPlace() *place { return &place{happened: make(chan struct{}, 1)} }

func (*place) Now() time.Time { return time.Now() }
func (p *place) Pause()       { p.pauses++ }
func (p *place) Err() error   { return p.why }

func (p *place) Rest(due time.Time) {
	var timer <-chan time.Time
	if !due.IsZero() {
		timer = time.After(time.Until(due))
	}
	select {
	case <-timer:
	case <-p.happened:
	}
}

func TestWorldContract(t *testing.T) {
	schedtest.Run(t, func(*testing.T) engine.Sched { return sched.NewIn(newPlace()) })
}

// A world can end the run, and everything that waits in it.
func TestWorldEnds(t *testing.T) {
	p := newPlace()
	s := sched.NewIn(p)
	gone := errors.New("gone")
	ended := 0
	err := s.Par(3, 0, func(i int, b engine.Sched) error {
		defer func() { ended++ }()
		if i == 2 {
			p.why = gone
			return b.Yield()
		}
		return b.SleepUntil(b.Now().Add(time.Hour))
	})
	if !errors.Is(err, gone) || ended != 3 || p.pauses == 0 {
		t.Errorf("%v, %d ended, %d pauses", err, ended, p.pauses)
	}
}

// A world that ends its goroutine leaves no branch behind, and nothing of it is waited for.
func TestWorldGoesAway(t *testing.T) {
	ended := make(chan int, 1)
	go func() {
		n := 0
		defer func() { ended <- n }()
		s := sched.NewIn(&vanishing{newPlace()})
		_ = s.Par(3, 0, func(_ int, b engine.Sched) error {
			defer func() { n++ }()
			return b.Wait(func() bool { return false })
		})
	}()
	if n := <-ended; n != 3 {
		t.Errorf("%d branches ended", n)
	}
}

// vanishing is a world that ends while its run rests.
type vanishing struct{ *place }

func (*vanishing) Rest(time.Time) { runtime.Goexit() }
