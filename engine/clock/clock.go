// Package clock provides the time that handlers use. It is the time of the run, so a run in virtual time waits for
// nothing real. Handlers must wait only with [Sleep] and [Await].
package clock

import (
	"context"
	"time"
)

// Clock is the time that a run's handlers use, so that a run in virtual time waits for nothing real. It does not bound
// real input and output: timeouts of connections use the machine's time. A clock is comparable: code that shares waits
// between calls uses it as part of the key.
type Clock interface {
	Now() time.Time

	// AfterFunc calls f concurrently with the handler once d has passed, unless stop is called first. stop reports
	// whether it prevented the call. f must not block.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Machine is the clock of the machine.
type Machine struct{}

// Now implements [Clock].
func (Machine) Now() time.Time { return time.Now() }

// AfterFunc implements [Clock].
func (Machine) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

type clockKey struct{}

// runClock is the value in the context of a run that keeps its own time.
type runClock struct {
	Clock
	await func(ctx context.Context, done <-chan struct{}) error
}

// With returns the context that a scheduler with its own time passes to handlers. Its await implements [Await] for one
// branch.
func With(ctx context.Context, c Clock, await func(ctx context.Context, done <-chan struct{}) error) context.Context {
	return context.WithValue(ctx, clockKey{}, &runClock{c, await})
}

// usable returns why the calling goroutine cannot wait on the clock. It returns nil if it can, or if the clock does not
// know.
func (c *runClock) usable() error {
	if own, ok := c.Clock.(interface{ Usable() error }); ok {
		return own.Usable()
	}
	return nil
}

func runClockOf(ctx context.Context) *runClock {
	c, _ := ctx.Value(clockKey{}).(*runClock)
	return c
}

// OnMachineTime returns a context for a run on the machine's time that is started inside another run.
func OnMachineTime(ctx context.Context) context.Context {
	if runClockOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, clockKey{}, (*runClock)(nil))
}

// Of returns the clock of the run whose handler received ctx. The default is the machine's clock.
func Of(ctx context.Context) Clock {
	if c := runClockOf(ctx); c != nil {
		return c.Clock
	}
	return Machine{}
}

// Await makes a handler wait until done is closed. If ctx ends first, it returns the error of ctx. In virtual time the
// other branches of the run continue meanwhile; a handler that waits in any other way stops them. In virtual time Await
// must be called on the goroutine that the handler was called on: on another one, the clock of the cooperative
// scheduler returns an error at once.
func Await(ctx context.Context, done <-chan struct{}) error {
	if c := runClockOf(ctx); c != nil {
		if err := c.usable(); err != nil {
			return err
		}
		return c.await(ctx, done)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Sleep makes a handler wait until d has passed on its run's clock. If ctx ends first, it returns the error of ctx. As
// with [Await], the goroutine must be the handler's in virtual time.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	if c := runClockOf(ctx); c != nil {
		if err := c.usable(); err != nil { // before a timer is set
			return err
		}
	}
	done := make(chan struct{})
	stop := Of(ctx).AfterFunc(d, func() { close(done) })
	defer stop()
	return Await(ctx, done)
}

// over is a closed channel.
var over = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Turn makes a handler wait for its turn: handlers that run concurrently in virtual time continue from here in the
// order in which the flow is written. Call it before taking items from a list that handlers share.
func Turn(ctx context.Context) {
	if runClockOf(ctx) != nil {
		_ = Await(ctx, over) // even if ctx has ended, the handler gets its turn
	}
}

// Last makes a handler wait until nothing else of its run can make progress except by a time limit. If ctx ends first,
// it returns the error of ctx. On the machine's time this cannot be known, and Last does not wait.
func Last(ctx context.Context) error {
	c := runClockOf(ctx)
	if c == nil {
		return ctx.Err()
	}
	own, ok := c.Clock.(interface {
		AfterAll(f func()) (stop func() bool)
	})
	if !ok {
		return ctx.Err()
	}
	done := make(chan struct{})
	stop := own.AfterAll(func() { close(done) })
	defer stop()
	return Await(ctx, done)
}
