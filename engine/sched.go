package engine

import "time"

// Sched is the composition side's only door to concurrency, time and effects. Each branch of
// a run holds its own; the methods are called from that branch alone, except Wake.
//
// Three implementations are here: [sched.NewGoSched] on goroutines, by the machine's clock or a host's, [sched.NewVirtual] in virtual time, which makes
// the same run every time, and [sched.NewCoopSched], a seeded cooperative one for tests. No other code of the
// engine starts goroutines or reads clocks, contexts or randomness.
type Sched interface {
	// Par runs body for 0 ≤ i < n, at most limit at once (0: all), each with a Sched of its
	// own, and returns when all have ended. A body that fails cancels its siblings. The
	// error is that of the lowest index that failed by itself.
	Par(n, limit int, body func(i int, s Sched) error) error

	// First runs n bodies at once until one is settled, cancels the others, waits for them
	// and returns the settled one with its error. When none settles it returns -1 and the
	// error of the lowest index.
	First(n int, body func(i int, s Sched) (settled bool, err error)) (int, error)

	// Within runs body on this branch with a Sched that is cancelled, for the reason late,
	// when d has passed. It returns body's error: a body that ends well after its time has
	// ended well.
	Within(d time.Duration, late error, body func(s Sched) error) error

	// Timed is Within for a time that may stand still: it ends when the time that set was called with last has passed
	// since that call, and not while that is negative, as it is at first. Calls of set come from branches of the run, one
	// after the other; once body has returned they do nothing.
	Timed(late error, body func(s Sched, set func(d time.Duration)) error) error

	// Do runs an effect on the effect side and waits for its outcome. A scheduler that keeps its own
	// time hands the handler its clock, see [clock.With].
	Do(h Handler, e *Effect, sink Sink) Outcome

	// DoOrAbandon is Do without a sink, for handlers that may ignore that they are to stop. Soon
	// after the branch is to stop it returns whether the handler has returned or not, if
	// [Effect.Abandon] allows that; what it returns then does not matter. A scheduler that cannot
	// go on without the handler waits for it, as Do does.
	DoOrAbandon(h Handler, e *Effect) Outcome

	// Wait parks the branch until ready reports true. It is asked again after every Wake.
	Wait(ready func() bool) error

	// Wake has every waiting branch of the run ask again. Any branch may call it.
	Wake()

	// SleepUntil parks the branch until t.
	SleepUntil(t time.Time) error

	// Now reads the run's clock.
	Now() time.Time

	// Yield lets other branches go on and reports the branch's cancellation.
	Yield() error

	// Err returns why the branch is to stop, nil while it is not. A control outcome means
	// that a sibling ended it.
	Err() error

	// OnCancel has f called, once and possibly beside the branch, when the branch is to stop. f
	// must not block. stop ends the watch and reports whether it did so before f was called; f may
	// be running when it returns false.
	OnCancel(f func()) (stop func() bool)
}
