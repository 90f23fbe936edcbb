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

// Branch is the [engine.Branch] of every run: the engine's state of a line of execution.
type Branch struct {
	Run   *Run
	Sched engine.Sched
	host  any
	last  *reading // position of the last event, nil before the first: most branches emit none
	// denies returns the failure of the call that a person is deciding about, with changed data, if a rule denies that.
	// nil denies nothing.
	denies func(data generable.Value) *engine.Error
	scope
}

// scope is the state that a parallel child inherits, and that is restored after a panic below. It is copied as a whole,
// so that no field can be forgotten in one place.
type scope struct {
	At           *engine.Frame
	Budget       *budget
	Callback     Callback       // the running callback
	Transcript   Transcript     // what a forum said so far, until an agent has read it
	Instructions *Instructions  // for the next agent, or nil
	Dialogue     *Dialogue      // the conversation that the branch serves, nil for none
	Thread       *model.Thread  // the conversation that agents with a shared history continue; nil: none yet
	Depth        int32          // the nesting of nodes
	Agents       int32          // the nesting of agent calls
	Deepest      int32          // one more than the maximum of Agents; 0 is the default
	timed        bool           // an agent's time is limited, and a flow may continue after it
	Recovering   bool           // the branch runs a fixer of a tool call
	EffectRank   uint8          // the rank of the effect class under which rules judged the tool whose function runs; 0: no rule depends on it
	beside       uint8          // branches that run concurrently with this one, saturating
	Observer     agent.Observer // of the agent whose model is called, nil without one
	deadline     *time.Time     // the earliest time limit; nil without one
	Reservation  *Reservation   // for a last answer, of the innermost conversation that keeps one
}

// Callback is the state of the running callback.
type Callback struct {
	Scope string // its segment, if other callbacks share its position
	N     int    // the segment's ordinal
	calls *Tally // counts calls of nodes by kind and name, and places by word
}

// CallKey identifies what a callback does: by a word and, if any, a name.
type CallKey struct{ Word, Name string }

// Fork makes the branch of a parallel child. The child runs no callback and has no observer; instructions for the next
// agent stay with the branch that forks.
func (b *Branch) Fork(s engine.Sched, at *engine.Frame) *Branch {
	own := &Branch{Run: b.Run, Sched: s, scope: b.scope}
	own.At, own.Callback, own.Instructions, own.Observer = at, Callback{}, nil, nil
	return own
}

// Path returns the position in the run.
func (b *Branch) Path() string { return b.At.Path() }

// RunID returns the run's id.
func (b *Branch) RunID() string { return b.Run.Events.run }

// Host returns the host language's state of this branch, initially nil.
func (b *Branch) Host() any { return b.host }

// SetHost sets the host language's state of this branch.
func (b *Branch) SetHost(h any) { b.host = h }

// Log emits a log event.
func (b *Branch) Log(text string) {
	if b.Run.Events.Wants(engine.EventLog) {
		b.Emit(engine.Event{Kind: engine.EventLog, Data: &event.Log{Text: text}})
	}
}

// Phase emits an event that says which part of the script begins, for people who watch. It has no effect on the run or
// on positions. It lasts until the next phase at its position, or until the node there ends.
func (b *Branch) Phase(name string) {
	if b.Run.Events.Wants(engine.EventPhase) {
		b.Emit(engine.Event{Kind: engine.EventPhase, Data: &event.Phase{Name: name}})
	}
}

// Wants reports whether anybody listens to events of a kind.
func (b *Branch) Wants(k engine.EventKind) bool { return b.Run.Events.Wants(k) }

// Tell emits an event if somebody listens to its kind. It is for rare events. For frequent ones, callers check
// [Branch.Wants] first, to avoid building an event that nobody receives.
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

// Call implements [run.Call].
func (b *Branch) Call(n *flow.Node, input generable.Value) (generable.Value, error) {
	return b.Run.nodes.Call(b, n, input)
}

// interpreter runs nodes. It is the part of the interpreter that this package uses.
type interpreter interface {
	// Call runs a node for a callback, which counts its calls of the node's kind and name.
	Call(b *Branch, n *flow.Node, input generable.Value) (generable.Value, error)
}

// Invoke calls a callback in a new scope of calls. A panic becomes an error: neither a bug in host code nor one in the
// engine may crash a process that serves other runs.
func (b *Branch) Invoke(f engine.Func, args ...generable.Value) (generable.Value, error) {
	return b.InvokeAs("", 0, f, args...)
}

// InvokeAs is Invoke for a callback that shares its position with others: its calls are placed below the segment scope.
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

// Recovered turns a panic into the error of the function that defers it.
func (b *Branch) Recovered(err *error) {
	if p := recover(); p != nil {
		*err = b.Locate(engine.Panicked("the engine", p), nil)
	}
}

// Within runs body on this branch until d has passed. What fails because of that gets the error late, with the position
// where it stopped.
func (b *Branch) Within(d time.Duration, late *engine.Error, body func() error) error {
	outer, deadline, timed := b.Sched, b.deadline, b.timed
	defer func() { b.Sched, b.deadline, b.timed = outer, deadline, timed }()
	b.timed = timed || late.Kind == engine.KindBudget
	if end := outer.Now().Add(d); deadline == nil || end.Before(*deadline) {
		b.deadline = new(end)
	}
	return outer.Within(d, late, func(s engine.Sched) error { return b.under(s, outer, body) })
}

// AtWork is Within for working time: the clock is stopped while everything in body sleeps or waits for outside answers,
// and the time that recorded effects took counts again. A run that is not in a store, and whose script does not sleep,
// works all the time.
func (b *Branch) AtWork(d time.Duration, late *engine.Error, body func() error) error {
	if quiet.Of(b.Sched) == nil {
		return b.Within(d, late, body)
	}
	return b.atWork(d, late, body)
}

// atWork is separate so that a parked run that works all the time does not keep its frame on the stack.
//
//go:noinline
func (b *Branch) atWork(d time.Duration, late *engine.Error, body func() error) error {
	outer, timed := b.Sched, b.timed
	defer func() { b.Sched, b.timed = outer, timed }()
	b.timed = timed || late.Kind == engine.KindBudget
	return quiet.Of(outer).Within(outer, d, late, func(s engine.Sched) error { return b.under(s, outer, body) })
}

// under runs body on this branch with a scheduler whose time is limited.
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

// Locate adds the position in the run and the script to an error, unless a deeper place already did. It returns nil for
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

// TooDeep returns the error of nodes that call each other endlessly.
func TooDeep() error {
	return engine.Errorf(engine.KindScript, diag.ScriptError, "nodes call each other more than %d deep", node.MaxNesting).
		WithHelp("a node that calls itself never ends; use loop(node, next)")
}

// Nest counts an agent inside those that called it, and refuses one too many before any of it runs. The agent's own
// depth limit counts from here.
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
		err.Scope = b.At.Root().Path() // no surrounding agent may call one either, and a model could not help: do not report it to one
		return err
	}
	b.Agents++
	return nil
}

// BoundDepth limits the nesting of agent calls from here on, if c is set.
func (b *Branch) BoundDepth(c engine.Cap) {
	own, set := c.Value()
	most := b.Agents + int32(min(max(own, 0), node.MaxNesting)) + 1 // plus one, since 0 means no limit
	if set && (b.Deepest == 0 || most < b.Deepest) {
		b.Deepest = most
	}
}

// InCallback returns the position for what the running callback does.
func (b *Branch) InCallback() *engine.Frame {
	if b.Callback.Scope == "" {
		return b.At
	}
	return b.At.Child(b.Callback.Scope, "", b.Callback.N)
}

// place returns the position of the callback's next action with this word, counted like the places of [run.CallsAt].
// kind says what is done there, "" if the word does.
func (b *Branch) place(word, kind string) *engine.Frame {
	return b.InCallback().Child(word, kind, b.Ordinal(CallKey{word, ""}))
}

// Ordinal counts the callback's actions of a kind and name.
func (b *Branch) Ordinal(key CallKey) int {
	if b.Callback.calls == nil {
		b.Callback.calls = &Tally{}
	}
	return b.Callback.calls.Count(key)
}

// Tally counts by key. Most callbacks have few keys, for which a map would be ten times as large, and every run that is
// parked in a function holds one.
type Tally struct {
	few  []tallied
	many map[CallKey]int // replaces few beyond fewKeys
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

// Run is the state that a run's branches share.
type Run struct {
	Spec    *flow.RunSpec
	Events  emitter // contains the run's id
	nodes   interpreter
	handler engine.Handler
	memory  atomic.Pointer[runMemory] // nil until it is needed
	Pending flight.Pending
	Forms   dialect.Compiler // of answers whose form a provider's schema changed
	Left    atomic.Int64     // abandoned calls that have not returned
	Resumed *model.Thread    // the thread of the session's last run
	Over    atomic.Bool      // it has ended or was abandoned: whoever sets it reports the end
	parked  atomic.Bool      // all of it waits for answers, and it ends for now
	Secrets *redact.Known    // of its handlers; nil: none
}

// NewRun returns the state of a run that has not begun.
func NewRun(spec *flow.RunSpec, nodes interpreter) Run {
	secrets := redact.Knows(spec.Secrets)
	return Run{Spec: spec, Events: emitter{Listener: spec.Listener, run: cmp.Or(spec.ID, "run")}, nodes: nodes,
		handler: effectSide(spec.Handler, spec.Journal, secrets), Secrets: secrets}
}

// Durable returns the journal if it outlives the process, else nil.
func (r *Run) Durable() engine.DurableJournal {
	j, _ := r.Spec.Journal.(engine.DurableJournal)
	return j
}

// On returns the scheduler for the run's branches, given the scheduler that the run was started with.
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

// Branch returns a new branch at the position of the run.
func (r *Run) Branch(s engine.Sched) *Branch {
	return &Branch{Run: r, Sched: s, scope: scope{At: engine.MainFrame()}}
}

// Begin returns the run's first branch, within the run's budget.
func (r *Run) Begin(s engine.Sched) *Branch {
	r.Secrets.Look()
	b := r.Branch(s)
	b.Budget = NewBudget(nil, b.At, "the budget of the run", &r.Spec.Limits, true)
	b.BoundDepth(r.Spec.Limits.Depth)
	return b
}
