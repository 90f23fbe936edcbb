package engine

import (
	"time"

	"github.com/agentscript/agentscript/generable"
)

// branch is the [Branch] of every run: what the engine itself knows of a line of execution.
type branch struct {
	run   *run
	sched Sched
	host  any
	last  *reading // where the last event was, nil before the first: most branches tell of none
	scope
}

// scope is where a branch stands: all that a parallel child begins with, and that a panic below
// leaves as it was. It is copied whole, so that a field added here is never forgotten in one place.
type scope struct {
	at       *Frame
	budget   *budget
	callback callback  // that runs now
	heard    hearing   // what a forum said so far, until an agent has read it
	brief    *brief    // what is said to the agent that comes next, or nil
	inside   *dialogue // the conversation for which it works, nil for none
	talk     *thread   // that agents with a shared history go on with; nil: none yet
	depth    int32     // of nodes inside each other
	agents   int32     // that called each other
	deepest  int32     // one more than agents may come to; 0 is the default
	timed    bool      // the time of an agent is bounded, which a flow may go on after
	mending  bool      // it runs what mends a call of a tool
	acting   uint8     // the rank of the class that rules knew the tool by whose function runs; 0: no rule asks
	onlooker Onlooker  // of the agent whose model is asked, nil when nobody looks
	deadline time.Time // the earliest of what bounds the time; zero when nothing does
	keeper   *reserve  // for a last answer, of the innermost conversation around that keeps one
}

// callback is what a branch knows of the callback that runs now.
type callback struct {
	scope string // its segment, where it does not stand alone at its position
	n     int    // the segment's ordinal
	calls *tally // how often it called nodes of a kind and name, or opened a place of a word
}

type callKey struct{ word, name string }

// fork makes the branch of a parallel child. It runs no callback yet, nobody looks at it, and what
// is said to the next agent is said on the branch that forks.
func (b *branch) fork(s Sched, at *Frame) *branch {
	own := &branch{run: b.run, sched: s, scope: b.scope}
	own.at, own.callback, own.brief, own.onlooker = at, callback{}, nil, nil
	return own
}

// Path is the position in the run.
func (b *branch) Path() string { return b.at.Path() }

// RunID is the run's id.
func (b *branch) RunID() string { return b.run.events.run }

// Host returns the host language's state of this branch, nil at first.
func (b *branch) Host() any { return b.host }

// SetHost keeps the host language's state of this branch.
func (b *branch) SetHost(h any) { b.host = h }

// Log emits a log event.
func (b *branch) Log(text string) {
	if b.run.events.wants(EventLog) {
		b.emit(Event{Kind: EventLog, Data: &LogData{Text: text}})
	}
}

// Phase emits an event that says what the script comes to, for people that watch. It has no
// effect on the run, nor on positions: it lasts until the next one at its position, or until
// what stands there ends.
func (b *branch) Phase(name string) {
	if b.run.events.wants(EventPhase) {
		b.emit(Event{Kind: EventPhase, Data: &PhaseData{name}})
	}
}

// Wants reports whether anybody listens to events of a kind.
func (b *branch) Wants(k EventKind) bool { return b.run.events.wants(k) }

func (b *branch) emit(ev Event) {
	if ev.Path == "" {
		ev.Path = b.eventPath()
	}
	ev.At = b.sched.Now()
	b.run.events.emit(ev)
}

// Call runs a node from a callback on its branch, as in `plan = planner(spec)`. The input is
// converted like a constructor's argument. The same node may be called any number of times.
func Call(b Branch, n *Node, input generable.Value) (generable.Value, error) {
	return b.(*branch).Call(n, input)
}

// Call is the method behind the function [Call].
func (b *branch) Call(n *Node, input generable.Value) (generable.Value, error) {
	return b.run.nodes.call(b, n, input)
}

// interpreter runs nodes: what this side of the engine knows of it.
type interpreter interface {
	// call runs a node for a callback, which counts its calls of the node's kind and name.
	call(b *branch, n *Node, input generable.Value) (generable.Value, error)
}

// invoke calls a callback inside its own scope of calls. A panic becomes an error: neither
// host code nor a bug of ours may take down the process of somebody else's runs.
func (b *branch) invoke(f Func, args ...generable.Value) (generable.Value, error) {
	return b.invokeAs("", 0, f, args...)
}

// invokeAs is invoke for a callback that does not stand alone at its position: what it calls
// is placed below the segment scope.
func (b *branch) invokeAs(scope string, n int, f Func, args ...generable.Value) (v generable.Value, err error) {
	outer := b.scope
	b.callback = callback{scope: scope, n: n}
	defer func() {
		b.callback = outer.callback
		if p := recover(); p != nil { // from anywhere below
			b.scope = outer
			e := panicked(f.Info().Name, p)
			e.Pos = f.Info().Pos
			v, err = generable.Value{}, e
		}
	}()
	return f.Call(b, args)
}

// guard runs a branch's body and turns a panic into an error.
func (b *branch) guard(body func() error) (err error) {
	defer b.recovered(&err)
	return body()
}

// recovered is deferred and makes a panic the error of the function that defers it.
func (b *branch) recovered(err *error) {
	if p := recover(); p != nil {
		*err = b.locate(panicked("the engine", p), nil)
	}
}

// within runs body on this branch until d has passed. What fails because of that fails for
// the reason late, at the place where it stopped.
func (b *branch) within(d time.Duration, late *Error, body func() error) error {
	outer, deadline, timed := b.sched, b.deadline, b.timed
	defer func() { b.sched, b.deadline, b.timed = outer, deadline, timed }()
	b.timed = timed || late.Kind == KindBudget
	if end := outer.Now().Add(d); deadline.IsZero() || end.Before(deadline) {
		b.deadline = end
	}
	return outer.Within(d, late, func(s Sched) error {
		b.sched = s
		err := body()
		if err != nil && outer.Err() == nil {
			if why := s.Err(); why != nil {
				return b.locate(because(why, err), nil)
			}
		}
		return err
	})
}

// locate says where in the run and the script an error happened, unless a deeper place did.
func (b *branch) locate(err error, n *Node) error {
	if c, ok := err.(*control); ok {
		return c
	}
	e := asError(err)
	if e.Path != "" && (e.Pos.IsValid() || n == nil) {
		return e
	}
	located := *e
	if located.Path == "" {
		located.Path = b.Path()
	}
	if n != nil && !located.Pos.IsValid() {
		located.Pos = n.Pos()
	}
	return &located
}
