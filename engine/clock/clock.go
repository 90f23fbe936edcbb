// Package clock is the time that handlers go by: that of the run, so that a run in virtual time waits for
// nothing real. Handlers wait with [Sleep] and [Await] alone.
package clock

import (
	"context"
	"time"
)

// Clock is the time that a run's handlers go by, so that a run in virtual time waits for nothing
// real. It does not bound real input and output: timeouts of connections are of the machine's time.
// A clock is comparable: what shares waits between calls keeps them apart by it.
type Clock interface {
	Now() time.Time

	// AfterFunc calls f beside the handler once d has passed, unless stop is called before, which
	// reports whether it prevented that. f must not block.
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

// runClock is what the context of a run that keeps its own time carries.
type runClock struct {
	Clock
	await func(ctx context.Context, done <-chan struct{}) error
}

// With returns the context that a scheduler that keeps its own time hands to handlers. Its
// await implements [Await], for one branch.
func With(ctx context.Context, c Clock, await func(ctx context.Context, done <-chan struct{}) error) context.Context {
	return context.WithValue(ctx, clockKey{}, &runClock{c, await})
}

// usable returns why the calling goroutine cannot wait on the clock, nil if it can or the clock does not know.
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

// OnMachineTime returns the context for a run on the machine's time that is started inside another.
func OnMachineTime(ctx context.Context) context.Context {
	if runClockOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, clockKey{}, (*runClock)(nil))
}

// Of returns the clock of the run whose handler was given ctx, the machine's by default.
func Of(ctx context.Context) Clock {
	if c := runClockOf(ctx); c != nil {
		return c.Clock
	}
	return Machine{}
}

// Await has a handler wait until done is closed, or until ctx has ended, whose error it returns. Where
// time is virtual the other branches of the run go on meanwhile: a handler that waits in any other way
// stops them. There it must be called on the goroutine that the handler was called on: on another one the
// clock of the cooperative scheduler returns an error at once.
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

// Sleep has a handler wait until d has passed on its run's clock, or until ctx has ended, whose error
// it returns. As with [Await] the goroutine must be the handler's where time is virtual.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	if c := runClockOf(ctx); c != nil {
		if err := c.usable(); err != nil { // and no timer is set
			return err
		}
	}
	done := make(chan struct{})
	stop := Of(ctx).AfterFunc(d, func() { close(done) })
	defer stop()
	return Await(ctx, done)
}

// over is what is done already.
var over = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Turn has a handler wait until it is its turn: where handlers run side by side in virtual time, they go on from
// here in the order in which the flow is written. It is for what takes from a list that they share.
func Turn(ctx context.Context) {
	if runClockOf(ctx) != nil {
		_ = Await(ctx, over) // it may have ended, and still has its turn
	}
}

// Last has a handler wait until nothing else of its run can go on but by a bound of time, or until ctx has ended,
// whose error it returns. Where time is the machine's nobody knows that, and Last does not wait.
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
