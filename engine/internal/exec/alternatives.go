package exec

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/generable"
)

// Catch returns the failure that the script handles here before it continues, or the error with which the branch ends if
// it must not handle it: see [Branch.Catchable].
func (b *Branch) Catch(err error) (failed *engine.Error, ends error) {
	failed, ends = b.Catchable(err)
	b.WentOn(failed)
	return failed, ends
}

// Catchable returns the failure that a script may handle and continue after. It returns the error with which the branch
// ends instead if the branch must stop (cancelled, out of time, ended by a sibling), if a limit of the whole run is
// reached, if a person must decide but nobody could be asked, and if the flow itself is not at fault: a panic, a failing
// journal, a replay that differs from its record, answers prepared for another flow, a limit on money without a known
// price, an assertion of a test.
//
// In a branch that a sibling has ended, a failure that would have been caught is not what ended it, and must not be
// reported as the cause.
func (b *Branch) Catchable(err error) (failed *engine.Error, ends error) {
	failed = b.ordinary(err)
	stop := b.Sched.Err()
	switch {
	case failed == nil:
		return nil, err
	case stop == nil:
		return failed, nil
	case engine.IsControl(stop):
		return nil, stop
	}
	return nil, err
}

// ordinary returns a failure that a script may handle in a branch that continues, nil for any other error.
func (b *Branch) ordinary(err error) *engine.Error {
	if err == nil || engine.IsControl(err) {
		return nil
	}
	e := engine.AsError(b.Locate(err, nil))
	switch e.Code {
	case diag.MockFailed, diag.UnknownPrice:
		return nil
	}
	switch e.Kind {
	case engine.KindCancelled, engine.KindApproval, engine.KindPanic, engine.KindReplay, engine.KindStore, engine.KindTest:
		return nil
	case engine.KindBudget:
		if e.OfRun {
			return nil
		}
	}
	if status := b.outcome(e); status != e.Status() { // it may have been caught before, further in
		e = e.WithStatus(status)
	}
	return e
}

// outcome returns the status of the node at the branch's position, given its failure.
func (b *Branch) outcome(e *engine.Error) engine.Status {
	if e.Kind != engine.KindBudget || e.Scope == "" {
		return engine.StatusFailed
	}
	rest, around := strings.CutPrefix(b.At.Path(), e.Scope)
	switch {
	case !around || rest != "" && rest[0] != '/':
		return engine.StatusFailed
	case b.Budget.apart && e.Code != diag.StepLimit && b.Budget.spent() == Estimate{}:
		return engine.StatusSkipped
	}
	return engine.StatusCancelled
}

// Apart counts the branch's use separately until the returned function is called, so that [Branch.Catch] can
// distinguish what never began from what was stopped. Without an agent's budget around the branch this is not needed:
// exceeding the run's budget ends the run.
func (b *Branch) Apart() (end func()) {
	outer := b.Budget
	if outer.up == nil {
		return func() {}
	}
	b.countApart()
	return func() { b.Budget = outer }
}

// countApart opens a budget without limits.
func (b *Branch) countApart() {
	b.Budget = NewBudget(b.Budget, b.At, "", nil, false)
	b.Budget.apart = true
}

// spent returns what was used of a budget.
func (b *budget) spent() Estimate {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	return b.account.used
}

// InTurn runs n functions one after the other until one succeeds. If all fail, it returns the last error with notes
// about the others. A failure that must not be caught is returned at once.
func (b *Branch) InTurn(n int, do func(i int) error) error {
	var failed []*engine.Error
	for i := range n {
		err := do(i)
		if err == nil {
			return nil
		}
		e, ends := b.Catchable(err)
		if ends != nil {
			return ends
		}
		if i == n-1 {
			return WithNotes(e, failed)
		}
		b.WentOn(e)
		failed = append(failed, e)
	}
	return nil
}

// WentOn records that the script continued after a failure. A resumed run, which asks again for what ended the run,
// reuses this failure as recorded.
func (b *Branch) WentOn(failed *engine.Error) {
	j := b.Run.Durable()
	if j == nil || failed == nil {
		return
	}
	if id := failed.Effect(); id != "" {
		j.Caught(id)
	}
}

// Compete runs bodies on n branches concurrently until one succeeds, and returns its index. Unless e is nil, it records
// as the effect e which branch won and what the others had used: a replay then does not depend on which branch is
// faster, and does not run the others.
func (b *Branch) Compete(e *engine.Effect, n int, branch func(i int, s engine.Sched) *Branch, body func(i int, br *Branch) error) (int, error) {
	failed := make([]*engine.Error, n)
	used := make([]*budget, n)
	begin := func(i int, s engine.Sched) (bool, error) {
		br := branch(i, s)
		if e != nil {
			br.countApart()
			used[i] = br.Budget
		}
		caught, ends := br.Catchable(body(i, br))
		if failed[i] = caught; caught != nil {
			return false, caught
		}
		return !engine.IsControl(ends), ends // a failure that nobody may handle ends the race
	}
	i, lost, known, err := b.chosen(e, n)
	if err != nil {
		return -1, err
	}
	if known {
		if _, err := begin(i, b.Sched); failed[i] == nil {
			b.settle(b.Budget, nil, spent{of: lost})
			return i, err
		}
		failed[i] = nil // it would no longer win: run them all
	}
	i, err = b.first(n, begin)
	if err == nil && i < 0 || i >= n {
		return -1, Unrun()
	}
	if i >= 0 {
		if err == nil {
			err = b.choose(e, i, used)
		}
		return i, err
	}
	for _, f := range failed {
		if f != nil && err == error(f) {
			return -1, WithNotes(f, failed)
		}
	}
	return -1, err
}

// chosen looks up which of n branches won, and what the others used.
func (b *Branch) chosen(e *engine.Effect, n int) (won int, lost Estimate, known bool, err error) {
	if e == nil {
		return 0, lost, false, nil
	}
	out, known := b.Known(e)
	if out.Err != nil {
		return 0, lost, false, out.Err
	}
	list, ok := out.Value.AsList()
	if !known || !ok || list.Len() > 1+len(lost) || list.Len() < 1+int(units.Turns) {
		return 0, lost, false, nil
	}
	i, ok := list.At(0).AsInt()
	for r := range list.Len() - 1 {
		used, counts := list.At(1 + r).AsInt()
		lost[r], ok = used, ok && counts && used >= 0
	}
	return int(i), lost, ok && i >= 0 && i < int64(n), nil
}

// choose records which branch won, and what the others used.
func (b *Branch) choose(e *engine.Effect, won int, used []*budget) error {
	if e == nil {
		return nil
	}
	var lost Estimate
	for i, own := range used {
		if i == won {
			continue
		}
		for r, n := range own.spent() {
			lost[r] = units.Add(lost[r], n)
		}
	}
	record := []generable.Value{generable.IntOf(int64(won))}
	for _, n := range lost {
		record = append(record, generable.IntOf(n))
	}
	if out := b.record(e, engine.Outcome{Value: generable.ListOf(record...), Attempt: 1}); out.Err != nil {
		return out.Err
	}
	return nil
}

// Unrun returns the error for a scheduler that returned without running its bodies.
func Unrun() *engine.Error {
	return engine.Errorf(engine.KindPanic, diag.Panic, "the scheduler did not run its bodies").WithHelp("engine/sched/schedtest shows what a scheduler must do")
}

// WithNotes adds notes about other failed attempts to an error.
//
//go:noinline
func WithNotes(e *engine.Error, others []*engine.Error) *engine.Error {
	own := *e
	own.Notes = slices.Clone(e.Notes)
	for _, o := range others {
		if o != nil && o != e {
			at := ""
			if o.Path != "" {
				at = o.Path + ": "
			}
			own.Notes = append(own.Notes, at+o.Message)
		}
	}
	return &own
}

// Choosing returns the effect that records which of several branches on an input was chosen, nil if the run has no
// journal.
func (b *Branch) Choosing(name string, at *engine.Frame, of int, input generable.Value) *engine.Effect {
	if b.Run.Spec.Journal == nil {
		return nil
	}
	return (&InFlight{Effect: engine.Effect{Kind: engine.EffectChoice, Name: name, Run: b.RunID(), At: at, Req: &Choice{of, input}, Class: engine.ClassRead}}).Begin()
}

// Choice is the request of an [engine.EffectChoice]: which of several branches won. No handler receives it. The journal
// records a list as its value: the index of the branch, and the model calls, tool calls, tokens, script steps, turns
// and money in billionths of a dollar that the others had used. A shorter list comes from a record made before these
// were counted.
type Choice struct {
	Of    int             // the number of branches
	Input generable.Value // their input
}

// Digest implements [engine.Payload].
func (c *Choice) Digest() [32]byte {
	return abi.Hash(generable.AppendCanon(binary.AppendUvarint(nil, uint64(c.Of)), c.Input))
}

// Par runs bodies concurrently, as the scheduler does. Until they have ended, each has a share of what is left of the
// surrounding budgets.
func (b *Branch) Par(n, limit int, body func(i int, s engine.Sched) error) error {
	if n < 2 {
		return b.Sched.Par(n, limit, body)
	}
	outer := b.beside
	b.fan(n, limit)
	defer func() { b.beside = outer }()
	if !b.Budget.metered {
		return b.Sched.Par(n, limit, body)
	}
	return b.shared(n, limit, body)
}

// fan records in the branch how many branches run next to each forked one.
func (b *Branch) fan(n, limit int) {
	if limit > 0 {
		n = min(n, limit)
	}
	b.beside = uint8(min(int(b.beside)+n-1, math.MaxUint8))
}

// shared is Par within a budget of tokens or money.
func (b *Branch) shared(n, limit int, body func(i int, s engine.Sched) error) error {
	c := b.Budget.share(n, limit)
	defer c.end()
	return b.Sched.Par(n, limit, func(i int, s engine.Sched) error {
		defer c.ended()
		return body(i, s)
	})
}

// first is Par for a race.
func (b *Branch) first(n int, body func(i int, s engine.Sched) (bool, error)) (int, error) {
	outer := b.beside
	b.fan(max(n, 1), 0)
	defer func() { b.beside = outer }()
	if n < 2 || !b.Budget.metered {
		return b.Sched.First(n, body)
	}
	c := b.Budget.share(n, 0)
	defer c.end()
	return b.Sched.First(n, func(i int, s engine.Sched) (bool, error) {
		defer c.ended()
		return body(i, s)
	})
}

// sharers are bodies that run concurrently within the surrounding budgets.
type sharers struct {
	of          *budget
	left, limit int   // bodies that have not ended, and how many run concurrently
	beside      int32 // how many are counted as running in addition to one
}

func (b *budget) share(n, limit int) *sharers {
	if limit <= 0 {
		limit = n
	}
	c := &sharers{of: b, left: n, limit: limit}
	c.count()
	return c
}

func (c *sharers) count() {
	c.of.run.mu.Lock()
	defer c.of.run.mu.Unlock()
	beside := int32(min(max(min(c.left, c.limit)-1, 0), math.MaxInt32/2))
	for at := c.of; at != nil; at = at.up {
		if at.account.metered() {
			at.account.inner().beside += beside - c.beside
		}
	}
	c.beside = beside
}

func (c *sharers) ended() {
	c.of.run.mu.Lock()
	c.left--
	c.of.run.mu.Unlock()
	c.count()
}

func (c *sharers) end() {
	c.of.run.mu.Lock()
	c.left = 0
	c.of.run.mu.Unlock()
	c.count()
}

// CutOff notifies the source of prepared model answers that err ended a branch, because a sibling ended it or before it
// began. Answers prepared for the agents of the branch's nodes, and for the agents that functions of these nodes may
// call, may then be left over. If the agents are not known (nodes is nil), this applies to all agents.
func (b *Branch) CutOff(err error, nodes []*flow.Node) {
	p := b.Run.Spec.Prepared
	if p == nil || p.CutOff == nil || err == nil || !engine.IsControl(b.Sched.Err()) {
		return
	}
	called, all := flow.Called(nodes...)
	if nodes == nil || !all {
		p.CutOff(nil)
		return
	}
	var names []string
	for _, n := range slices.Concat(nodes, called) {
		names = agentsBelow(n, names)
	}
	if len(names) > 0 {
		p.CutOff(names)
	}
}

// agentsBelow appends the names of the agents in a node.
func agentsBelow(n *flow.Node, names []string) []string {
	if a := n.Agent(); a != nil {
		names = append(names, a.Name)
	}
	for _, k := range n.Children() {
		names = agentsBelow(k, names)
	}
	return names
}
