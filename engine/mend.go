package engine

import (
	"github.com/agentscript/agentscript/internal/text"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// mending is one call of a tool that failed, and what is done about it. All of it is composition: a
// replay does the same again.
type mending struct {
	b       *branch
	sk      *skillPlan
	t       *Tool
	raw     string // the arguments as they are now
	dialect string // of raw
	args    generable.Value
	made    *generable.Value // what the last execution took, after interceptors and people
	out     generable.Value
	failure *Error // nil once mended
	kind    string // of the failure
	ends    bool   // nothing more may be done, nor may the agent go on

	steps int
	runs  int // executions
	fails int
	next  map[string]int // by kind: which remedy is tried
	tried []*Error       // failures of fixers and judges
}

// mend does about a failed call what its remedies say.
func (b *branch) mend(c *calling) generable.Value {
	first := c.failure
	m := &mending{b: b, sk: c.sk, t: c.t, raw: orEmptyObject(c.Args), dialect: c.Dialect, args: c.args, made: &c.made, kind: FailedArgs, runs: int(c.runs), next: map[string]int{}}
	if c.runs > 0 {
		m.kind = FailedRun
	}
	m.fail(first)
	by := ""
	for m.failure != nil && !m.ends {
		list := b.remedies(c.sk, c.t, m.kind)
		i := m.next[m.kind]
		if i >= len(list) {
			break
		}
		if m.kind == FailedRun && !recoverable(m.failure) {
			break
		}
		r := &list[i]
		by = r.label()
		if m.do(r) {
			break
		}
	}
	c.runs = int32(m.runs)
	if m.failure != nil {
		c.failure, c.ends = withNotes(m.failure, m.tried), m.ends
		return m.out
	}
	c.failure, c.ends = nil, false
	if b.Wants(EventRepair) {
		b.emit(Event{Kind: EventRepair, Attempt: m.runs, Data: &RepairData{Name: c.Name, Value: &Datum{m.out},
			Text: "mended by " + by + " after " + text.CountInWords(m.steps, "step") + ": " + first.Message}})
	}
	return m.out
}

// label names a remedy for people.
func (r *Remedy) label() string {
	switch {
	case r.Fixer != nil:
		return remedyWords[r.Do] + " " + r.Fixer.Label()
	case r.Judge != nil:
		return remedyWords[r.Do] + " " + r.Judge.Info().Name
	}
	return remedyWords[r.Do]
}

// recoverable reports whether remedies are tried for a failure of a tool: a budget is not mended, nor is
// what is not allowed.
func recoverable(e *Error) bool {
	return e.Kind != KindBudget && e.Kind != KindPolicy
}

// decides reports whether the error ends the agent whose call failed by it. Once it has ended one, it is
// a failure like any other: it has the place of that agent.
func (e *Error) decides() bool { return e.Verdict != nil && e.Path == "" }

func (m *mending) fail(e *Error) {
	m.failure = e
	m.fails++
}

// step takes one of the steps that a call may be mended in, and tells whether there was one.
func (m *mending) step() bool {
	if m.steps++; m.steps <= MaxMends {
		return true
	}
	m.steps--
	e := Errorf(KindTool, diag.ToolNotMended, "tool %q was not mended in %s: %w", m.t.Name, text.CountInWords(MaxMends, "step"), m.failure)
	e.Pos = m.t.Span.Pos
	m.fail(e.WithHelp("see in the events what its fixers made of it"))
	return false
}

// do carries out a remedy as far as it goes, and tells whether the mending is over.
func (m *mending) do(r *Remedy) (over bool) {
	switch r.Do {
	case RemedyFix, RemedyAsk:
		return m.fix(r)
	case RemedyAgain:
		return m.again(r, true)
	case RemedyEscalate, RemedyGiveUp:
		m.decided(r)
		return true
	case RemedyFixed:
		return !m.step() || m.accept(r.Value, r.Args)
	}
	return true
}

// again executes the call again until it succeeds or the remedy's times are used up.
func (m *mending) again(r *Remedy, listed bool) (over bool) {
	for range r.times() {
		if m.kind == FailedArgs || m.failure == nil || m.ends || !recoverable(m.failure) {
			break
		}
		if !m.step() {
			return true
		}
		m.execute()
	}
	if listed && m.failure != nil {
		m.next[m.kind]++
	}
	return false
}

// execute calls the tool with the arguments as they are now. What comes after the first execution has
// a position of its own: it is another effect.
func (m *mending) execute() {
	b, at := m.b, m.b.at
	if m.runs > 0 {
		b.at = at.child("again", "", m.runs-1)
		defer func() { b.at = at }()
	}
	m.runs++
	*m.made = m.args
	out, failure, ends := b.tryCall(m.sk, m.t, m.made)
	m.out, m.failure, m.ends, m.kind = out, nil, ends, FailedRun
	if failure != nil {
		m.fail(failure)
	}
}

// fix asks a fixer or judge, at most so many times when it fails itself.
func (m *mending) fix(r *Remedy) (over bool) {
	for range r.times() {
		if !m.step() {
			return true
		}
		v, verdict, err := m.consult(r)
		switch {
		case err == nil && verdict.Do == RemedyFixed:
			return m.accept(v, r.Args || verdict.Args)
		case err == nil:
			return m.follow(&verdict)
		}
		failed := m.b.Catch(err)
		switch {
		case failed == nil:
			m.failure, m.ends = asError(err), true
			return true
		case failed.Verdict != nil:
			m.decided(remedyOf(failed.Verdict))
			return true
		}
		m.tried = append(m.tried, failed)
		m.tell(r, failed)
	}
	m.next[m.kind]++
	return false
}

// follow does what a function decided; then it is asked again.
func (m *mending) follow(r *Remedy) (over bool) {
	switch r.Do {
	case RemedyAgain:
		if m.kind == FailedArgs { // there is nothing to execute
			return true
		}
		return m.again(r, false)
	case RemedyFix:
		at := m.next[m.kind]
		kind := m.kind
		over = m.fix(r)
		m.next[kind] = at
		return over
	case RemedyAsk:
		return true
	}
	return m.do(r)
}

// tell makes an event of a fixer or judge that failed: it may be mended by another one, and is not to
// be silent.
func (m *mending) tell(r *Remedy, failed *Error) {
	if m.b.Wants(EventRepair) {
		m.b.emit(Event{Kind: EventRepair, Data: &RepairData{Name: m.t.Name, Text: r.label() + " failed: " + failed.Message, Err: failed}})
	}
}

// consult runs a fixer or judge at a position of its own.
func (m *mending) consult(r *Remedy) (v generable.Value, verdict Remedy, err error) {
	b := m.b
	outer := b.mending
	b.mending = true
	defer func() { b.mending = outer }()
	word := "fix"
	if r.Do == RemedyAsk {
		word = "ask"
	}
	f := m.report()
	f.again = r.Args
	if r.Fixer != nil {
		fixer, in := r.Fixer.(*Node), f.Data()
		if fixer.In().Conforms(in) != nil {
			in = generable.StrOf(f.Text())
		}
		v, err = b.invokeAs(word, m.steps-1, GoFunc(word, 1, func(_ Branch, args []generable.Value) (generable.Value, error) {
			return b.Call(fixer, args[0])
		}), in)
		return v, Remedy{Do: RemedyFixed}, err
	}
	info := r.Judge.Info()
	_, err = b.invokeAs(word, m.steps-1, &judging{r.Judge, info, f, &verdict})
	return verdict.Value, verdict, err
}

// judging is a judge as a callback, so that it has a place in the run.
type judging struct {
	Judge
	info    FuncInfo
	failure *ToolFailure
	verdict *Remedy
}

func (j *judging) Info() FuncInfo { return j.info }

func (j *judging) Call(b Branch, _ []generable.Value) (v generable.Value, err error) {
	*j.verdict, err = j.Judge.Judge(b, j.failure)
	return v, err
}

func (m *mending) report() *ToolFailure {
	return &ToolFailure{Tool: m.t.Name, Args: m.raw, Value: m.args, Err: m.failure, Kind: m.kind,
		Schema: m.t.params().JSONSchema(), Attempt: m.fails}
}

// accept takes what a fix gave: of bad arguments the arguments, which are read anew and executed, of a
// failure the result, or with again the arguments likewise.
func (m *mending) accept(v generable.Value, again bool) (over bool) {
	if m.kind == FailedRun && !again {
		out, err := m.result(v)
		if err != nil {
			m.fail(m.b.misfixed(err))
			m.next[m.kind]++
			return false
		}
		m.out, m.failure = out, nil
		return false
	}
	if m.kind == FailedRun && !recoverable(m.failure) {
		return true
	}
	text, ok := v.AsStr()
	if !ok {
		text = generable.JSON(v, nil)
		_, ok = v.AsRecord() // of a schema of the fixer's own
	}
	m.raw, m.dialect = text, ""
	if failure := m.b.tooLong(m.sk.agent, text); failure != nil {
		m.fail(failure)
		return false
	}
	if ok {
		args, failure, ends := m.b.arguments(m.t, text, "")
		if m.ends = ends; failure != nil {
			m.fail(failure)
			return ends
		}
		m.args = args
	} else {
		args, errs := m.t.params().Convert(v)
		if errs != nil {
			m.fail(m.t.badArgs("%w", errs))
			return false
		}
		m.args = args
	}
	m.execute()
	return m.ends
}

// result reads what a fix gave for a result: what the tool returns. Where that is text, something that
// looks like the call's own arguments is none.
func (m *mending) result(v generable.Value) (generable.Value, error) {
	who := "the fix of tool " + m.t.Name
	out, err := converted(v, typing.OrAny(m.t.Returns), who)
	if err != nil || m.t.Returns == nil || m.t.Returns.Kind != generable.StrType {
		return out, err
	}
	given, ok := out.AsStr()
	if !ok || len(m.t.params().Fields) == 0 || !strings.HasPrefix(strings.TrimSpace(given), "{") {
		return out, nil
	}
	if _, failure, _ := m.b.arguments(m.t, given, ""); failure == nil {
		return out, Errorf(KindType, diag.WrongTypeAtBoundary, "%s is to give what the tool gives, and gave arguments of a call: %s", who, text.Clip(given, mostShown)).
			WithHelp("execute the call with them: fix(by, then = \"call\"), or have the fixer give the result")
	}
	return out, nil
}

func (b *branch) misfixed(err error) *Error { return asError(b.locate(err, nil)) }

// decided ends the mending as a verdict says.
func (m *mending) decided(r *Remedy) {
	var e *Error
	switch r.Do {
	case RemedyEscalate:
		e = m.b.escalated(m.t.Name, r, m.failure)
	default:
		e = Errorf(KindTool, diag.ToolGaveUp, "tool %q of agent %q gave up: %s", m.t.Name, m.sk.agent.Name, r.reason(m.failure))
		e.Verdict, m.ends = &Verdict{Reason: r.Reason}, true
		e.WithHelp("the script ends the agent here; see the cause for what failed")
	}
	e.Cause, e.Pos = m.failure, r.Span.Or(m.t.Span).Pos
	m.fail(e)
}

// remedyOf is what a fixer decided instead of a fix.
func remedyOf(v *Verdict) *Remedy {
	if v.Escalate {
		return &Remedy{Do: RemedyEscalate, Reason: v.Reason, Severity: v.Severity}
	}
	return &Remedy{Do: RemedyGiveUp, Reason: v.Reason}
}

// reason is why, as the script says, or else as the failure does.
func (r *Remedy) reason(failure *Error) string {
	if r.Reason != "" || failure == nil {
		return r.Reason
	}
	return failure.Message
}
