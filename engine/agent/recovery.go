package agent

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/generable"
)

// Recovery says what happens to failed calls of a tool before the model learns of them. The first remedy of a list is
// tried until it no longer helps, then the next. A tool's own list comes before its agent's, and that before the
// run's. Without a remedy, and if none has helped, the failure is returned to the model as the result of the call.
type Recovery struct {
	BadArgs []Remedy // for arguments that cannot be read or do not fit
	Failure []Remedy // for a tool that failed
}

// RemedyKind is the kind of a remedy.
type RemedyKind uint8

// The kinds of remedies.
const (
	RemedyTell     RemedyKind = iota // the model sees the failure: the default
	RemedyFix                        // Fixer or Judge returns the arguments or, for a failure, the result
	RemedyAgain                      // the same call again, at most Times more; does nothing for bad arguments
	RemedyEscalate                   // an event notifies people, and the model is told
	RemedyAbandon                    // the agent ends with an error
	RemedyFixed                      // Value is what a fix would return
	RemedyAsk                        // Judge returns the remedy
)

var remedyWords = [...]string{"tell", "fix", "again", "escalate", "give_up", "fixed", "on_error"}

// String returns the word for the remedy in scripts and messages.
func (k RemedyKind) String() string { return remedyWords[k] }

// MaxRecoverySteps limits the recovery of one call: executions after the first, runs of fixers, and decisions of
// functions together.
const MaxRecoverySteps = 8

// Remedy is one action for a failed call.
type Remedy struct {
	Do       RemedyKind
	Fixer    Flow            // of a fix: takes a [ToolFailureType] or a str, see [flow.Session.Fix]
	Judge    Judge           // of a fix without a Fixer, and of RemedyAsk
	Args     bool            // of a fix: it returns arguments even for a failure, with which the call is executed again
	Times    int             // of a fix: how often it is asked about one call, for each class of failures; of again: further executions; default 1
	Value    generable.Value // of RemedyFixed
	Reason   string          // of escalate and give up
	Severity engine.Severity // of escalate
	Span     diag.Span
}

// String names the remedy for people, as in "fix mender".
func (r *Remedy) String() string {
	switch {
	case r.Fixer != nil:
		return r.Do.String() + " " + r.Fixer.Label()
	case r.Judge != nil:
		return r.Do.String() + " " + r.Judge.Info().Name
	}
	return r.Do.String()
}

// MaxTimes returns Times, at least 1.
func (r *Remedy) MaxTimes() int { return max(r.Times, 1) }

// Judge is a function that decides about a failed call. As a fix it may return RemedyFixed.
type Judge interface {
	Judge(b engine.Branch, f *ToolFailure) (Remedy, error)
	Info() engine.FuncInfo
}

// The classes of failures, as a [ToolFailure] names them.
const (
	FailedArgs = "bad_args" // the arguments cannot be read, or do not fit
	FailedRun  = "failure"  // the tool failed
	// It is unknown whether the tool was carried out: its process ended before the outcome was known.
	// [Tool.Reconcile] handles that, and no remedy does.
	FailedUnknown = "unknown"
)

// ToolFailure is a call of a tool that failed, as fixers and judges see it.
type ToolFailure struct {
	Tool    string
	Args    string          // what the model wrote, or what a fix changed it to
	Value   generable.Value // the arguments as decoded; null if they do not fit
	Err     *engine.Error
	Kind    string // [FailedArgs], [FailedRun] or [FailedUnknown]
	Schema  string // the JSON Schema of the arguments
	Attempt int    // the number of this failure of the call, from 1

	Again bool // arguments are wanted
}

// ToolFailureType is the schema of a [ToolFailure] as a value.
var ToolFailureType = &generable.Type{Kind: generable.RecordType, Name: "ToolFailure", Doc: "A call of a tool that failed", Fields: []generable.Field{
	{Name: "tool", Type: generable.StrT, Guide: "the name of the tool"},
	{Name: "args", Type: generable.StrT, Guide: "the arguments as they were written"},
	{Name: "value", Type: generable.AnyT, Guide: "the arguments as they were read; None when they do not fit"},
	{Name: "error", Type: generable.StrT, Guide: "what is wrong"},
	{Name: "kind", Type: generable.StrT, Guide: "bad_args when the arguments do not fit, failure when the tool failed, unknown when on_unknown asks whether it was carried out"},
	{Name: "schema", Type: generable.StrT, Guide: "the JSON Schema of the arguments"},
	{Name: "attempt", Type: generable.IntT, Guide: "which failure of this call it is, from 1"},
}}

// Data returns the failure as a value of [ToolFailureType].
func (f *ToolFailure) Data() generable.Value {
	return generable.NewRecord(ToolFailureType, []generable.Value{
		generable.StrOf(f.Tool), generable.StrOf(f.Args), f.Value, generable.StrOf(f.Err.Message),
		generable.StrOf(f.Kind), generable.StrOf(f.Schema), generable.IntOf(int64(f.Attempt)),
	}).Value()
}

// Text returns the failure as text, for a fixer that takes a str.
func (f *ToolFailure) Text() string {
	want := "Answer with the arguments that the call should have had, as JSON and nothing else."
	if f.Kind == FailedRun && !f.Again {
		want = "Answer with what the tool should have given, and nothing else."
	}
	return "A call of the tool " + strconv.Quote(f.Tool) + " failed: " + f.Err.Message +
		"\n\n## Arguments\n\n" + f.Args + "\n\n## Schema of the arguments\n\n" + f.Schema + "\n\n" + want
}

// Of returns the remedies for a class of failures, [FailedArgs] or [FailedRun].
func (r *Recovery) Of(kind string) []Remedy {
	if r == nil {
		return nil
	}
	if kind == FailedArgs {
		return r.BadArgs
	}
	return r.Failure
}

// remedies iterates over all remedies. A nil Recovery has none.
func (r *Recovery) remedies(yield func(*Remedy) bool) {
	if r == nil {
		return
	}
	for _, list := range [][]Remedy{r.BadArgs, r.Failure} {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// Mends returns the maximum number of times that a flow of [Spec.Fixers] is asked about one call.
func (a *Spec) RecoverySteps(f Flow) int {
	var args, failures int
	add := func(r *Recovery) {
		if r != nil {
			args, failures = max(args, asks(r.BadArgs, f)), max(failures, asks(r.Failure, f))
		}
	}
	add(a.OnToolError)
	for _, t := range a.AllTools() {
		add(t.OnError)
	}
	return min(args+failures, MaxRecoverySteps)
}

// asks returns how often a list of remedies may ask a flow. What a function decides is not known.
func asks(list []Remedy, f Flow) (times int) {
	for i := range list {
		switch m := &list[i]; {
		case m.Judge != nil:
			return MaxRecoverySteps
		case m.Fixer == f:
			times += m.MaxTimes()
		}
	}
	return times
}

// Fixers returns the flows that recover calls of the agent's tools, each once.
func (a *Spec) Fixers() []Flow {
	var flows []Flow
	add := func(r *Recovery) {
		for m := range r.remedies {
			if m.Fixer != nil && !slices.Contains(flows, m.Fixer) {
				flows = append(flows, m.Fixer)
			}
		}
	}
	add(a.OnToolError)
	for _, t := range a.AllTools() {
		add(t.OnError)
	}
	return flows
}

// checkRecovery checks that functions which decide about failures can be called.
func (c *checker) checkRecovery(at diag.Span, r *Recovery) bool {
	ok := true
	for m := range r.remedies {
		ok = callback.CheckArity(c.Reporter, m.Span.Or(at), m.Judge, 1, m.Do.String()) && ok
	}
	return ok
}

// mayBe reports whether a value of one type may be converted to another.
func mayBe(from, to *generable.Type) bool {
	if generable.Assignable(from, to) == nil {
		return true
	}
	switch from.Deref().Kind {
	case generable.AnyType, generable.DictType, generable.UnionType, generable.IntType:
		return true // it depends on the value
	}
	return false
}

// checkFixed warns if a tool's own remedies replace its result with something that is not of the tool's type: that
// would help no failed call. A fixer for bad arguments returns arguments.
func (c *checker) checkFixed(at diag.Span, t *Tool, r *Recovery) {
	if r == nil || t.Returns == nil {
		return
	}
	for i := range r.Failure {
		m := &r.Failure[i]
		by, gives := "", ""
		switch {
		case m.Args || m.Do != RemedyFix && m.Do != RemedyFixed:
			continue
		case m.Do == RemedyFixed:
			if _, errs := t.Returns.Convert(m.Value); errs == nil {
				continue
			}
			by, gives = "the value", m.Value.TypeName()
		case m.Fixer == nil || mayBe(m.Fixer.Out(), t.Returns):
			continue
		default:
			by, gives = m.Fixer.Label(), m.Fixer.Out().String()
		}
		d := c.Warnf(diag.CannotJoin, m.Span.Or(at), "%s sets a result of another type for tool %q", m.Do.String(), t.Name)
		d.Label = by + " returns " + gives + ", the tool returns " + t.Returns.String()
		d.Notef(t.Span.Or(at).Pos, "the tool is made")
		if m.Do == RemedyFixed {
			d.Helpf("write fixed(...) with a value of %s", t.Returns)
			continue
		}
		d.Helpf("if it returns arguments, repeat the call with them: then = \"call\"; or let it correct bad arguments only: recover(bad_args = ...)")
	}
}
