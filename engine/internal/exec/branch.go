package exec

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/flight"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/engine/internal/quiet"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
)

// Branch is the [engine.Branch] of every run: what the engine itself knows of a line of execution.
type Branch struct {
	Run   *Run
	Sched engine.Sched
	host  any
	last  *reading // where the last event was, nil before the first: most branches tell of none
	// denies returns the failure of the call that a person decides about now, with other data, where a rule denies that; nil
	// denies nothing.
	denies func(data generable.Value) *engine.Error
	scope
}

// scope is where a branch is: all that a parallel child begins with, and that a panic below
// leaves as it was. It is copied whole, so that a field added here is never forgotten in one place.
type scope struct {
	At           *engine.Frame
	Budget       *budget
	Callback     Callback       // that runs now
	Transcript   Transcript     // what a forum said so far, until an agent has read it
	Instructions *Instructions  // what is said to the agent that comes next, or nil
	Dialogue     *Dialogue      // the conversation for which it works, nil for none
	Thread       *model.Thread  // that agents with a shared history go on with; nil: none yet
	Depth        int32          // of nodes inside each other
	Agents       int32          // that called each other
	Deepest      int32          // one more than agents may come to; 0 is the default
	timed        bool           // the time of an agent is bounded, which a flow may go on after
	Recovering   bool           // it runs what mends a call of a tool
	EffectRank   uint8          // the rank of the class that rules knew the tool by whose function runs; 0: no rule asks
	beside       uint8          // branches that run beside this one, as far as they can be told apart from many
	Observer     agent.Observer // of the agent whose model is asked, nil when nobody looks
	deadline     *time.Time     // the earliest of what bounds the time; nil when nothing does
	Reservation  *Reservation   // for a last answer, of the innermost conversation around that keeps one
}

// Callback is what a branch knows of the callback that runs now.
type Callback struct {
	Scope string // its segment, where it does not stand alone at its position
	N     int    // the segment's ordinal
	calls *Tally // how often it called nodes of a kind and name, or opened a place of a word
}

// CallKey distinguishes what a callback does: by a word, and a name where there is one.
type CallKey struct{ Word, Name string }

// Fork makes the branch of a parallel child. It runs no callback yet, nobody looks at it, and what
// is said to the next agent is said on the branch that forks.
func (b *Branch) Fork(s engine.Sched, at *engine.Frame) *Branch {
	own := &Branch{Run: b.Run, Sched: s, scope: b.scope}
	own.At, own.Callback, own.Instructions, own.Observer = at, Callback{}, nil, nil
	return own
}

// Path is the position in the run.
func (b *Branch) Path() string { return b.At.Path() }

// RunID is the run's id.
func (b *Branch) RunID() string { return b.Run.Events.run }

// Host returns the host language's state of this branch, nil at first.
func (b *Branch) Host() any { return b.host }

// SetHost keeps the host language's state of this branch.
func (b *Branch) SetHost(h any) { b.host = h }

// Log emits a log event.
func (b *Branch) Log(text string) {
	if b.Run.Events.Wants(engine.EventLog) {
		b.Emit(engine.Event{Kind: engine.EventLog, Data: &event.Log{Text: text}})
	}
}

// Phase emits an event that says which part of the script begins, for people that watch. It has no
// effect on the run, nor on positions: it lasts until the next one at its position, or until
// what is there ends.
func (b *Branch) Phase(name string) {
	if b.Run.Events.Wants(engine.EventPhase) {
		b.Emit(engine.Event{Kind: engine.EventPhase, Data: &event.Phase{Name: name}})
	}
}

// Wants reports whether anybody listens to events of a kind.
func (b *Branch) Wants(k engine.EventKind) bool { return b.Run.Events.Wants(k) }

// Tell emits an event of what is rare where somebody listens to its kind. What tells often asks
// [Branch.Wants] first, and makes nothing that nobody takes.
func (b *Branch) Tell(kind engine.EventKind, d engine.EventData) {
	if b.Wants(kind) {
		b.Emit(engine.Event{Kind: kind, Data: d})
	}
}

func (b *Branch) Emit(ev engine.Event) {
	if ev.Path == "" {
		ev.Path = b.eventPath()
	}
	ev.At = b.Sched.Now()
	if set := b.Run.Secrets.Set(); set != nil {
		ev.Path, ev.ID, ev.Data = set.String(ev.Path), set.String(ev.ID), set.Event(ev.Data)
	}
	b.Run.Events.emit(ev)
}

// Call is the method behind the function [run.Call].
func (b *Branch) Call(n *flow.Node, input generable.Value) (generable.Value, error) {
	return b.Run.nodes.Call(b, n, input)
}

// interpreter runs nodes: what this side of the engine knows of it.
type interpreter interface {
	// call runs a node for a callback, which counts its calls of the node's kind and name.
	Call(b *Branch, n *flow.Node, input generable.Value) (generable.Value, error)
}

// Invoke calls a callback inside its own scope of calls. A panic becomes an error: neither
// host code nor a bug of ours may take down the process of somebody else's runs.
func (b *Branch) Invoke(f engine.Func, args ...generable.Value) (generable.Value, error) {
	return b.InvokeAs("", 0, f, args...)
}

// InvokeAs is invoke for a callback that does not stand alone at its position: what it calls
// is placed below the segment scope.
func (b *Branch) InvokeAs(scope string, n int, f engine.Func, args ...generable.Value) (v generable.Value, err error) {
	outer := b.scope
	b.Callback = Callback{Scope: scope, N: n}
	defer func() {
		b.Callback = outer.Callback
		if p := recover(); p != nil { // from anywhere below
			b.scope = outer
			e := engine.Panicked(f.Info().Name, p)
			e.Pos = f.Info().Pos
			v, err = generable.Value{}, e
		}
	}()
	return f.Call(b, args)
}

// Guard runs a branch's body and turns a panic into an error.
func (b *Branch) Guard(body func() error) (err error) {
	defer b.Recovered(&err)
	return body()
}

// Recovered is deferred and makes a panic the error of the function that defers it.
func (b *Branch) Recovered(err *error) {
	if p := recover(); p != nil {
		*err = b.Locate(engine.Panicked("the engine", p), nil)
	}
}

// Within runs body on this branch until d has passed. What fails because of that fails for
// the reason late, at the place where it stopped.
func (b *Branch) Within(d time.Duration, late *engine.Error, body func() error) error {
	outer, deadline, timed := b.Sched, b.deadline, b.timed
	defer func() { b.Sched, b.deadline, b.timed = outer, deadline, timed }()
	b.timed = timed || late.Kind == engine.KindBudget
	if end := outer.Now().Add(d); deadline == nil || end.Before(*deadline) {
		b.deadline = new(end)
	}
	return outer.Within(d, late, func(s engine.Sched) error { return b.under(s, outer, body) })
}

// AtWork is Within for as long as body works: its time stands still while all of it sleeps or waits for answers from
// outside, and what its recorded effects took counts again. A run that is not in a store, and whose script does not
// sleep, works all the time.
func (b *Branch) AtWork(d time.Duration, late *engine.Error, body func() error) error {
	if quiet.Of(b.Sched) == nil {
		return b.Within(d, late, body)
	}
	return b.atWork(d, late, body)
}

// atWork is separate so that a run that is parked, and works all the time, does not hold its frame.
//
//go:noinline
func (b *Branch) atWork(d time.Duration, late *engine.Error, body func() error) error {
	outer, timed := b.Sched, b.timed
	defer func() { b.Sched, b.timed = outer, timed }()
	b.timed = timed || late.Kind == engine.KindBudget
	return quiet.Of(outer).Within(outer, d, late, func(s engine.Sched) error { return b.under(s, outer, body) })
}

// under runs body on this branch with a scheduler of a bounded time.
func (b *Branch) under(s, outer engine.Sched, body func() error) error {
	b.Sched = s
	err := body()
	if err != nil && outer.Err() == nil {
		if why := s.Err(); why != nil {
			return b.Locate(Because(why, err), nil)
		}
	}
	return err
}

// Locate says where in the run and the script an error happened, unless a deeper place did. It is nil for
// nil.
func (b *Branch) Locate(err error, n *flow.Node) error {
	if err == nil {
		return nil
	}
	if c, ok := err.(*engine.Control); ok {
		return c
	}
	e := engine.AsError(err)
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

// OnCancel implements [engine.Branch].
func (b *Branch) OnCancel(f func()) (stop func() bool) { return b.Sched.OnCancel(f) }

// Err implements [engine.Branch].
func (b *Branch) Err() error { return b.Sched.Err() }

// TooDeep is the error of nodes that call each other without end.
func TooDeep() error {
	return engine.Errorf(engine.KindScript, diag.ScriptError, "nodes call each other more than %d deep", node.MaxNesting).
		WithHelp("a node that calls itself never ends; use loop(node, next)")
}

// Nest counts an agent that begins, inside those that called it, and refuses one too many: before
// anything of it runs. Its own bound counts from here.
func (b *Branch) Nest(a *agent.Spec) error {
	outer := b.Deepest
	b.BoundDepth(a.Budget.Depth)
	most := b.Deepest
	if most == 0 {
		most = agent.DefaultDepth + 1
	}
	if b.Agents+1 >= most {
		b.Deepest = outer
		err := engine.Errorf(engine.KindBudget, diag.BudgetExceeded, "agent %q is not called: agents call each other %d deep already", a.Name, most-1).
			WithHelp("see which agent calls itself, or raise it with budget(depth = ...) on the outermost agent")
		err.Scope = b.At.Root().Path() // none of those around calls one either, and no model on the way could do better: it is not told
		return err
	}
	b.Agents++
	return nil
}

// BoundDepth bounds how many agents may call each other from here on, if that is set.
func (b *Branch) BoundDepth(c engine.Cap) {
	own, set := c.Value()
	most := b.Agents + int32(min(max(own, 0), node.MaxNesting)) + 1 // and one, since 0 is no bound
	if set && (b.Deepest == 0 || most < b.Deepest) {
		b.Deepest = most
	}
}

// InCallback is the position of what the running callback does.
func (b *Branch) InCallback() *engine.Frame {
	if b.Callback.Scope == "" {
		return b.At
	}
	return b.At.Child(b.Callback.Scope, "", b.Callback.N)
}

// place is the position of the next thing that the running callback does of a word, counted like
// the places of [run.CallsAt]. kind is what is done there, "" when the word says it.
func (b *Branch) place(word, kind string) *engine.Frame {
	return b.InCallback().Child(word, kind, b.Ordinal(CallKey{word, ""}))
}

// Ordinal counts what the running callback does of a kind and name.
func (b *Branch) Ordinal(key CallKey) int {
	if b.Callback.calls == nil {
		b.Callback.calls = &Tally{}
	}
	return b.Callback.calls.Count(key)
}

// Tally counts by key. Most callbacks have a few keys, for which a map is ten times as large: it
// is held by every run that is parked in a function.
type Tally struct {
	few  []tallied
	many map[CallKey]int // instead, beyond fewKeys
}

type tallied struct {
	key CallKey
	n   int
}

const fewKeys = 8

// Count returns how often a key was counted before, and counts it.
func (t *Tally) Count(key CallKey) int {
	if t.many != nil {
		n := t.many[key]
		t.many[key] = n + 1
		return n
	}
	for i := range t.few {
		if e := &t.few[i]; e.key == key {
			e.n++
			return e.n - 1
		}
	}
	if len(t.few) == fewKeys {
		t.many = make(map[CallKey]int, 2*fewKeys)
		for _, e := range t.few {
			t.many[e.key] = e.n
		}
		t.few = nil
		t.many[key] = 1
		return 0
	}
	t.few = append(t.few, tallied{key, 1})
	return 0
}

func (b *Branch) Wait(ready func() bool) error { return b.Sched.Wait(ready) }

func (b *Branch) Wake() { b.Sched.Wake() }

// Run is the shared state of a run's branches.
type Run struct {
	Spec    *flow.RunSpec
	Events  emitter // which knows the id
	nodes   interpreter
	handler engine.Handler
	memory  atomic.Pointer[runMemory] // nil until it is needed
	Pending flight.Pending
	Forms   dialect.Compiler // of answers that a provider's schema gave another form
	Left    atomic.Int64     // calls that were left behind and have not returned
	Resumed *model.Thread    // of the session: what its last run came to
	Over    atomic.Bool      // it has ended, or was given up: whoever sets it reports its end
	parked  atomic.Bool      // all of it waits for answers, and it ends for now
	Secrets *redact.Known    // of its handlers; nil: they hold none
}

// NewRun makes the state of a run that has not begun.
func NewRun(spec *flow.RunSpec, nodes interpreter) Run {
	secrets := redact.Knows(spec.Secrets)
	return Run{Spec: spec, Events: emitter{Listener: spec.Listener, run: cmp.Or(spec.ID, "run")}, nodes: nodes,
		handler: effectSide(spec.Handler, spec.Journal, secrets), Secrets: secrets}
}

// Durable is the journal of a run that outlives its process, nil of any other.
func (r *Run) Durable() engine.DurableJournal {
	j, _ := r.Spec.Journal.(engine.DurableJournal)
	return j
}

// On returns the scheduler that the run's branches are on, given the one that it was begun on.
func (r *Run) On(s engine.Sched) engine.Sched {
	j := r.Durable()
	if j == nil && !r.Spec.Sleeps {
		return s
	}
	if j != nil {
		j.OnAnswer(s.Wake)
	}
	return quiet.Around(s, j == nil || !r.Spec.Parks)
}

// Branch is a branch at the position of the run.
func (r *Run) Branch(s engine.Sched) *Branch {
	return &Branch{Run: r, Sched: s, scope: scope{At: engine.MainFrame()}}
}

// Begin is the run's first branch, within its budget.
func (r *Run) Begin(s engine.Sched) *Branch {
	r.Secrets.Look()
	b := r.Branch(s)
	b.Budget = NewBudget(nil, b.At, "the budget of the run", &r.Spec.Limits, true)
	b.BoundDepth(r.Spec.Limits.Depth)
	return b
}
