package engine

import "time"

// Sched is the composition side's only access to concurrency, time and effects. Each branch of a run has its own
// Sched. Only that branch calls its methods, except Wake.
//
// There are three implementations: [sched.NewGoSched] uses goroutines and the machine's clock or a host's;
// [sched.NewVirtual] uses virtual time and makes the same run every time; [sched.NewCoopSched] is a seeded
// cooperative scheduler for tests. No other code of the engine starts goroutines or reads clocks, contexts or
// randomness.
type Sched interface {
	// Par runs body for 0 ≤ i < n, at most limit at once (0: all), each with its own Sched, and returns when all have
	// ended. A body that fails cancels its siblings. The error is that of the lowest index that failed by itself.
	Par(n, limit int, body func(i int, s Sched) error) error

	// First runs n bodies at once until one is settled, cancels the others, waits for them and returns the index of
	// the settled one with its error. If none settles, it returns -1 and the error of the lowest index.
	First(n int, body func(i int, s Sched) (settled bool, err error)) (int, error)

	// Within runs body on this branch with a Sched that is cancelled, for the reason late, when d has passed. It
	// returns body's error: a body that ends successfully after its time has still succeeded.
	Within(d time.Duration, late error, body func(s Sched) error) error

	// Timed is like Within, for a time that may stand still. The time is over when the duration passed to the last
	// call of set has elapsed since that call. It stands still while that duration is negative, as it is at first.
	// Branches of the run call set, one after the other; once body has returned, set does nothing.
	Timed(late error, body func(s Sched, set func(d time.Duration)) error) error

	// Do runs an effect on the effect side and waits for its outcome. A scheduler that keeps its own time passes its
	// clock to the handler; see [clock.With].
	Do(h Handler, e *Effect, sink Sink) Outcome

	// DoOrAbandon is Do without a sink, for handlers that may ignore that they must stop. Soon after the branch must
	// stop, it returns whether or not the handler has returned, if [Effect.Abandon] allows that; what it returns then
	// does not matter. A scheduler that cannot continue without the handler waits for it, as Do does.
	DoOrAbandon(h Handler, e *Effect) Outcome

	// Wait parks the branch until ready reports true. ready is called again after every Wake.
	Wait(ready func() bool) error

	// Wake makes every waiting branch of the run call its ready function again. Any branch may call it.
	Wake()

	// SleepUntil parks the branch until t.
	SleepUntil(t time.Time) error

	// Now returns the time of the run's clock.
	Now() time.Time

	// Yield lets other branches run and reports the branch's cancellation.
	Yield() error

	// Err returns why the branch must stop, or nil. A control outcome means that a sibling ended it.
	Err() error

	// OnCancel arranges for f to be called, once and possibly concurrently with the branch, when the branch must
	// stop. f must not block. stop ends the watch and reports whether it did that before f was called; f may still be
	// running when stop returns false.
	OnCancel(f func()) (stop func() bool)
}
