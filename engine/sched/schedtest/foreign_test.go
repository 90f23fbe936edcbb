package schedtest_test

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/sched/schedtest"
	"github.com/agentscript/agentscript/generable"
)

// turns is a scheduler as another module might have: coroutines that take turns, first come first served, on the
// goroutine of the caller, in virtual time.
type turns struct {
	now     time.Time
	tasks   []*task
	timers  []*timer
	watches []*watch
	moved   bool  // a task continued in this round
	stuck   error // all tasks wait for each other
}

type task struct {
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
	over   bool
}

type timer struct {
	at time.Time
	f  func() // nil once called or stopped
}

type watch struct {
	scope *scope
	f     func()
}

// scope is one Par, First or Within.
type scope struct {
	up  *scope
	why error
}

func (s *scope) err() error {
	for ; s != nil; s = s.up {
		if s.why != nil {
			return s.why
		}
	}
	return nil
}

// line is one branch's scheduler; its task is nil outside all branches.
type line struct {
	*turns
	task  *task
	scope *scope
}

func newTurns() engine.Sched {
	return &line{&turns{now: time.Unix(1000, 0)}, nil, &scope{}}
}

func (l *line) cancel(s *scope, why error) {
	if s.why == nil {
		s.why = why
	}
	for _, w := range slices.Clone(l.watches) {
		if f := w.f; f != nil && w.scope.err() != nil {
			w.f = nil
			f()
		}
	}
}

// round lets every task continue once; if none can, it moves the clock.
func (w *turns) round() {
	w.moved = false
	for _, t := range slices.Clone(w.tasks) {
		t.resume()
	}
	w.tasks = slices.DeleteFunc(w.tasks, func(t *task) bool { return t.over })
	if w.moved {
		return
	}
	w.timers = slices.DeleteFunc(w.timers, func(t *timer) bool { return t.f == nil })
	if len(w.timers) == 0 {
		w.stuck = engine.Errorf(engine.KindPanic, "", "all branches wait for each other")
		return
	}
	next := slices.MinFunc(w.timers, func(a, b *timer) int { return a.at.Compare(b.at) })
	if f := next.f; next.at.After(w.now) {
		w.now, next.f = next.at, nil
		f()
	} else {
		next.f = nil
		f()
	}
}

// until parks the branch until ready reports true.
func (l *line) until(ready func() bool) {
	for !ready() {
		if l.task != nil {
			l.task.yield(struct{}{})
		} else {
			l.round()
		}
	}
	l.moved = true
}

func (l *line) spawn(s *scope, body func(engine.Sched), end func(failed error)) {
	t := &task{}
	t.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		returned := false
		defer func() {
			t.over, l.moved = true, true
			if returned {
				end(nil)
			} else {
				end(sched.Ended(recover()))
			}
		}()
		body(&line{l.turns, t, s})
		returned = true
	})
	l.tasks, l.moved = append(l.tasks, t), true
}

func (l *line) Par(n, limit int, body func(int, engine.Sched) error) error {
	if limit <= 0 {
		limit = n
	}
	s := &scope{up: l.scope}
	failed := make([]error, n)
	next, running := 0, 0
	l.until(func() bool {
		for ; next < n && running < limit && s.err() == nil; next++ {
			i := next
			running++
			l.spawn(s, func(b engine.Sched) { failed[i] = body(i, b) }, func(err error) {
				running--
				if err != nil {
					failed[i] = err
				}
				if failed[i] != nil {
					l.cancel(s, sched.ErrSibling)
				}
			})
		}
		return running == 0 && (next == n || s.err() != nil)
	})
	return l.lowest(failed)
}

func (l *line) lowest(failed []error) error {
	var control error
	for _, err := range failed {
		if err != nil && !engine.IsControl(err) {
			return err
		}
		if err != nil {
			control = err
		}
	}
	if control != nil {
		return control
	}
	return l.Err()
}

func (l *line) First(n int, body func(int, engine.Sched) (bool, error)) (int, error) {
	s := &scope{up: l.scope}
	failed, winner, left := make([]error, n), -1, n
	for i := range n {
		settled := false
		l.spawn(s, func(b engine.Sched) { settled, failed[i] = body(i, b) }, func(err error) {
			left--
			if err != nil {
				settled, failed[i] = true, err
			}
			if settled && winner < 0 {
				winner = i
				l.cancel(s, sched.ErrSibling)
			}
		})
	}
	l.until(func() bool { return left == 0 })
	if winner >= 0 {
		return winner, failed[winner]
	}
	return -1, l.lowest(failed)
}

func (l *line) Within(d time.Duration, late error, body func(engine.Sched) error) error {
	return l.Timed(late, func(s engine.Sched, set func(time.Duration)) error {
		set(d)
		return body(s)
	})
}

func (l *line) Timed(late error, body func(s engine.Sched, set func(d time.Duration)) error) error {
	s := &scope{up: l.scope}
	stop, ended := func() bool { return false }, false
	set := func(d time.Duration) {
		stop()
		if d >= 0 && !ended {
			stop = l.AfterFunc(d, func() { l.cancel(s, late) })
		}
	}
	defer func() {
		set(-1)
		ended = true
	}()
	return body(&line{l.turns, l.task, s}, set)
}

func (l *line) Do(h engine.Handler, e *engine.Effect, sink engine.Sink) engine.Outcome {
	ctx, cancel := context.WithCancelCause(clock.With(context.Background(), l.turns, l.await))
	defer cancel(nil)
	defer l.OnCancel(func() { cancel(l.Err()) })()
	return h.Do(ctx, e, sink)
}

func (l *line) DoOrAbandon(h engine.Handler, e *engine.Effect) engine.Outcome { return l.Do(h, e, nil) }

func (l *line) await(ctx context.Context, done <-chan struct{}) error {
	closed := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	if err := l.Wait(func() bool { return closed() || ctx.Err() != nil }); err != nil || closed() {
		return err
	}
	return ctx.Err()
}

func (l *line) Wait(ready func() bool) error {
	done := false
	l.until(func() bool {
		done = done || ready()
		return done || l.Err() != nil
	})
	if done {
		return nil
	}
	return l.Err()
}

func (l *line) Wake() { l.moved = true }

func (l *line) SleepUntil(t time.Time) error {
	defer l.AfterFunc(t.Sub(l.now), func() {})()
	l.until(func() bool { return !t.After(l.now) || l.Err() != nil })
	return l.Err()
}

func (w *turns) Now() time.Time { return w.now }

func (w *turns) AfterFunc(d time.Duration, f func()) func() bool {
	t := &timer{w.now.Add(d), f}
	w.timers = append(w.timers, t)
	return func() bool {
		was := t.f != nil
		t.f = nil
		return was
	}
}

func (l *line) Yield() error {
	if l.task != nil {
		l.moved = true
		l.task.yield(struct{}{})
	}
	return l.Err()
}

func (l *line) Err() error {
	if l.stuck != nil {
		return l.stuck
	}
	return l.scope.err()
}

func (l *line) OnCancel(f func()) func() bool {
	w := &watch{l.scope, f}
	if l.Err() != nil {
		w.f = nil
		f()
	}
	l.watches = append(l.watches, w)
	return func() bool {
		was := w.f != nil
		w.f = nil
		return was
	}
}

// Promise 25.12 (packages): a scheduler of another module, which sees only what `engine` exports, is tested against the
// contract by an importable test, and drives whole runs on the caller's goroutine.
func TestPromise_25_12_ForeignScheduler(t *testing.T) {
	t.Run("contract", func(t *testing.T) {
		schedtest.Run(t, func(*testing.T) engine.Sched { return newTurns() })
	})
	t.Run("run", foreignRun)
}

// Handlers that wait take no real time, and the order is the same each time.
func foreignRun(t *testing.T) {
	c := flow.NewSession()
	named := func(name string) *flow.Node {
		return c.Agent(flow.Site{What: "agent", Name: name}, &agent.Spec{Name: name, Prompt: "A.", Model: "m"})
	}
	main := c.Par(flow.Site{What: "par"}, flow.ParOptions{}, named("slow"), named("quick"))
	c.Seal()
	var order []string
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		if e.Agent == "slow" {
			if err := clock.Sleep(ctx, time.Hour); err != nil {
				return engine.Failed(engine.Errorf(engine.KindCancelled, "", "%w", err))
			}
		}
		order = append(order, e.Agent)
		return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: e.Agent}}}}
	})
	s := newTurns()
	begun := s.Now()
	out, err := run.Exec(s, &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h})
	if err != nil || generable.JSON(out, nil) != `["slow","quick"]` || !slices.Equal(order, []string{"quick", "slow"}) || s.Now().Sub(begun) != time.Hour {
		t.Errorf("%s, %v, in the order %v after %s", generable.JSON(out, nil), err, order, s.Now().Sub(begun))
	}
}
