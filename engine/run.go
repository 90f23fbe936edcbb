package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Journal remembers the effects of one run. It is used by many branches at once.
type Journal interface {
	// Answer gives the recorded outcome of an effect. It is asked on the composition side
	// and must not block for long.
	Answer(id string) (Outcome, bool)

	// Commit records an outcome and returns when that is as durable as the store makes it.
	// It is called on the effect side. What was done is to be recorded even when ctx is
	// cancelled by now: an answer was paid for. The first outcome of an id stays.
	Commit(ctx context.Context, id string, e *Effect, out Outcome) error
}

// RunSpec is all that a run needs beside its scheduler.
type RunSpec struct {
	ID       string            // part of idempotency keys; "" is "run"
	Node     *Node             // what to run, or
	Main     Func              // a function of the script, called with Args
	Input    generable.Value   // of Node; converted to its input type
	Args     []generable.Value // of Main
	Handler  Handler           // runs the effects
	Journal  Journal           // nil: nothing is remembered
	Session  *RunSession       // that the run takes while it lasts; nil: it is of none
	Keeps    *MemoryBank       // a memory that needs a session: without one nothing is called; nil: none does
	Model    string            // of agents that name none
	Models   map[string]string // by agent name, over all else
	Override string            // of all agents, over what the script says
	Limits   Limits
	OnBudget OnBudget // asked before a budget ends something; nil: nobody is
	Pricer   Pricer   // of model calls; nil: no price is known, and nothing is bought with a bounded sum
	Listener Listener

	OnToolError *Recovery // of tools of agents that have none of their own
	Hooks       []*Hooks  // around the calls of all agents
	Policies    []*Policy // over all calls of tools; a script can only be stricter
}

// Exec runs a node or function to its end on a scheduler and returns its value. Failures are
// *[Error] and tell where in the run they happened; a run that was cancelled says so whatever
// failed because of it.
func Exec(s Sched, spec *RunSpec) (generable.Value, error) { return NewExecution(s, spec).Run() }

// ended closes the run's events and says what it failed by.
func (b *branch) ended(err error) error {
	r := b.run
	if err != nil {
		if why := b.sched.Err(); why != nil { // say why everything stopped, not what stopped first
			err = because(why, err)
		}
		err = b.locate(uncontrolled(err), r.spec.Node)
	}
	broken := func() {
		if why := r.events.err(); err == nil && why != nil {
			err = b.locate(why, r.spec.Node)
		}
	}
	broken()
	if !r.over.CompareAndSwap(false, true) {
		return err // given up: its end was told
	}
	b.tellRun(PhaseEnd, err)
	broken()
	r.events.close()
	return err
}

func (b *branch) tellRun(phase Phase, err error) {
	if !b.Wants(EventRun) {
		return
	}
	d := &RunData{Phase: phase}
	if phase == PhaseEnd && b.budget != nil {
		d.Spent = b.budget.account()
	}
	if err != nil {
		d.Err = asError(err)
	}
	b.emit(Event{Kind: EventRun, Data: d})
}

// uncontrolled makes a failure of a control outcome that reached the top of its run: what
// stopped it is outside, a run in one of whose handlers this one runs.
func uncontrolled(err error) error {
	if !IsControl(err) {
		return err
	}
	e := because(&Error{Kind: KindCancelled, Code: diag.Cancelled, Message: "the run was cancelled", Cause: context.Canceled,
		Help: "see why the run around it ended"}, err)
	return e
}

func (b *branch) root(spec *RunSpec) (out generable.Value, err error) {
	if spec.Limits.Wall <= 0 {
		return b.main(spec)
	}
	err = b.within(spec.Limits.Wall, late(spec.Limits.Wall), func() error {
		out, err = b.main(spec)
		return err
	})
	return out, err
}

// Late is the error of a run that did not end within its wall time.
func (l Limits) Late() *Error { return late(l.Wall) }

func late(wall time.Duration) *Error {
	return Errorf(KindTimeout, diag.Timeout, "the run did not end within %s", wall).
		WithHelp("allow more time with --timeout, or find the slow step in the events")
}

func (b *branch) main(spec *RunSpec) (generable.Value, error) {
	if spec.Main != nil {
		return b.invoke(spec.Main, spec.Args...)
	}
	n := spec.Node
	if n == nil {
		return generable.Value{}, Errorf(KindInput, diag.NoMain, "there is nothing to run").
			WithHelp("give the run a node or a main function")
	}
	if n.Failed() {
		return generable.Value{}, uncomposed(n)
	}
	v, errs := n.In().Convert(spec.Input)
	if errs != nil {
		return v, Errorf(KindInput, diag.BadInput, "the input is no %s: %w", n.In(), errs).
			WithHelp("main takes %s", n.In())
	}
	return b.exec(n.compiled().root, v)
}

// modelFor gives the model of an agent: the caller's for this one, the caller's for all, the
// script's with those that stand in for it, the default. A router that names none takes its agent's.
func (r *run) modelFor(a *AgentSpec) (model string, fallbacks []string) {
	if m, ok := r.spec.Models[a.Name]; ok {
		return m, nil
	}
	if r.spec.Override == "" && a.Model != "" {
		return a.Model, a.Fallbacks
	}
	if a.Of != nil && a.Model == "" {
		return r.modelFor(a.Of)
	}
	return cmp.Or(r.spec.Override, r.spec.Model), nil
}
