package conversation

import (
	"cmp"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/ways"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// recovery is the recovery of one failed tool call. All of it is composition: a replay does the same again.
type recovery struct {
	b       *exec.Branch
	sk      *skillPlan
	t       *agent.Tool
	raw     string // the current arguments
	dialect string // of raw
	args    generable.Value
	made    *generable.Value // the arguments of the last execution, after interceptors and people
	out     generable.Value
	failure *engine.Error // nil once recovered
	kind    string        // of the failure
	ends    bool          // recovery must stop, and so must the agent
	unfit   bool          // the last result does not fit the tool

	steps int
	runs  int // executions
	fails int
	next  map[string]int  // by kind: the index of the current remedy
	asked map[string]int  // by kind: how often the current remedy was asked, if it is a fixer
	tried []*engine.Error // failures of fixers and judges
}

// recoverCall applies the remedies for a failed call.
func recoverCall(b *exec.Branch, c *toolCall) generable.Value {
	first := c.failure
	m := &recovery{b: b, sk: c.sk, t: c.t, raw: orEmptyObject(c.Args), dialect: c.Dialect, args: c.args, made: &c.made, kind: agent.FailedArgs, runs: int(c.runs), next: map[string]int{}, asked: map[string]int{}}
	if c.runs > 0 {
		m.kind = agent.FailedRun
	}
	m.fail(first)
	by := ""
	for m.failure != nil && !m.ends {
		list := remedies(b, c.sk, c.t, m.kind)
		i := m.next[m.kind]
		if i >= len(list) {
			break
		}
		if m.kind == agent.FailedRun && !recoverable(m.failure) {
			break
		}
		r := &list[i]
		by = r.String()
		m.took(i)
		if m.do(r) {
			break
		}
	}
	c.runs = int32(m.runs)
	if m.failure != nil {
		c.failure, c.ends = exec.WithNotes(m.failure, m.tried), m.ends
		return m.out
	}
	c.failure, c.ends = nil, false
	if b.Wants(engine.EventRepair) {
		b.Emit(engine.Event{Kind: engine.EventRepair, Attempt: m.runs, Data: &event.Repair{Name: c.Name, Value: new(m.out),
			Text: "corrected by " + by + " after " + text.CountInWords(m.steps, "step") + ": " + first.Message}})
	}
	return m.out
}

// took reports that a remedy of the tool or the agent is used. Those of the run are not part of the flow.
func (m *recovery) took(i int) {
	if !m.b.Wants(engine.EventRoute) {
		return
	}
	scope, list := m.t.Name, m.t.OnError.Of(m.kind)
	if len(list) == 0 {
		scope, list = "", m.sk.agent.OnToolError.Of(m.kind)
	}
	if i < len(list) {
		m.b.Emit(engine.Event{Kind: engine.EventRoute, Data: &event.Route{Of: m.sk.agent, From: m.sk.agent.Name, Way: ways.Remedy(scope, m.kind, i, &list[i])}})
	}
}

// recoverable reports whether remedies apply to a tool's failure: a used-up budget and a forbidden call are not
// recoverable.
func recoverable(e *engine.Error) bool {
	return e.Kind != engine.KindBudget && e.Kind != engine.KindPolicy
}

func (m *recovery) fail(e *engine.Error) {
	m.failure = e
	m.fails++
}

// step takes one of the limited number of recovery steps, and reports whether one was left.
func (m *recovery) step() bool {
	if m.steps++; m.steps <= agent.MaxRecoverySteps {
		return true
	}
	m.steps--
	e := engine.Errorf(engine.KindTool, diag.ToolNotMended, "tool %q was not mended in %s: %w", m.t.Name, text.CountInWords(agent.MaxRecoverySteps, "step"), m.failure)
	e.Pos = m.t.Span.Pos
	m.fail(e.WithHelp("see in the events what its fixers made of it"))
	return false
}

// do applies a remedy, and reports whether the recovery is over.
func (m *recovery) do(r *agent.Remedy) (over bool) {
	m.unfit = false
	switch r.Do {
	case agent.RemedyFix:
		kind := m.kind
		asked, _, over := m.fix(r, m.asked[kind])
		if m.asked[kind] = asked; asked >= r.MaxTimes() {
			m.another(kind)
		}
		return over
	case agent.RemedyAsk: // it sees how often the call failed, and decides anew each time
		kind := m.kind
		_, decided, over := m.fix(r, 0)
		if !decided || m.unfit {
			m.another(kind)
		}
		return over
	case agent.RemedyAgain:
		return m.again(r, true)
	case agent.RemedyEscalate, agent.RemedyAbandon:
		m.decided(r)
		return true
	case agent.RemedyFixed:
		kind := m.kind
		over = !m.step() || m.accept(r.Value, r.Args)
		m.another(kind) // it would be the same value
		return over
	}
	return true
}

// another selects the next remedy for a kind.
func (m *recovery) another(kind string) {
	m.next[kind]++
	m.asked[kind] = 0
}

// again executes the call again until it succeeds or the remedy's times are used up.
func (m *recovery) again(r *agent.Remedy, listed bool) (over bool) {
	for range r.MaxTimes() {
		if m.kind == agent.FailedArgs || m.failure == nil || m.ends || !recoverable(m.failure) {
			break
		}
		if !m.step() {
			return true
		}
		m.execute()
	}
	if listed && m.failure != nil {
		m.another(m.kind)
	}
	return false
}

// execute calls the tool with the current arguments. Each execution after the first has a separate position, since it
// is another effect.
func (m *recovery) execute() {
	b, at := m.b, m.b.At
	if m.runs > 0 {
		b.At = at.Child("again", "", m.runs-1)
		defer func() { b.At = at }()
	}
	m.runs++
	*m.made = m.args
	out, failure, ends := tryCall(b, m.sk, m.t, m.made)
	m.out, m.failure, m.ends, m.kind = out, nil, ends, agent.FailedRun
	if failure != nil {
		m.fail(failure)
	}
}

// fix asks a fixer or judge, which was asked before times already, until it answers or its number of times is reached.
// It returns how often it has now been asked, and whether it answered.
func (m *recovery) fix(r *agent.Remedy, before int) (asked int, answered, over bool) {
	for asked = before; asked < r.MaxTimes(); {
		if !m.step() {
			return asked, false, true
		}
		asked++
		v, verdict, err := m.consult(r)
		switch {
		case err == nil && verdict.Do == agent.RemedyFixed:
			return asked, true, m.accept(v, r.Args || verdict.Args)
		case err == nil:
			return asked, true, m.follow(&verdict)
		}
		failed, ends := m.b.Catch(err)
		switch {
		case ends != nil:
			m.failure, m.ends = engine.AsError(ends), true
			return asked, false, true
		case failed.Code == diag.WrongTypeAtBoundary && r.Do == agent.RemedyAsk: // a value that is not a remedy is a mistake in the script
			m.failure, m.ends = engine.AsError(err), true
			return asked, false, true
		case failed.Verdict != nil:
			m.decided(remedyOf(failed.Verdict))
			return asked, false, true
		}
		m.tried = append(m.tried, failed)
		// Another remedy may succeed, but the failure must not be silent.
		m.b.Tell(engine.EventRepair, &event.Repair{Name: m.t.Name, Text: r.String() + " failed: " + failed.Message, Err: failed})
	}
	return asked, false, false
}

// follow applies a function's decision; afterwards the function is asked again.
func (m *recovery) follow(r *agent.Remedy) (over bool) {
	switch r.Do {
	case agent.RemedyAgain:
		if m.kind == agent.FailedArgs { // there is nothing to execute
			return true
		}
		return m.again(r, false)
	case agent.RemedyFix:
		_, _, over = m.fix(r, 0)
		return over
	case agent.RemedyAsk:
		return true
	}
	return m.do(r)
}

// consult runs a fixer or judge at a separate position.
func (m *recovery) consult(r *agent.Remedy) (v generable.Value, verdict agent.Remedy, err error) {
	b := m.b
	outer := b.Recovering
	b.Recovering = true
	defer func() { b.Recovering = outer }()
	word := "fix"
	if r.Do == agent.RemedyAsk {
		word = "ask"
	}
	f := m.report()
	f.Again = r.Args
	if r.Fixer != nil {
		fixer, in := r.Fixer.(*flow.Node), f.Data()
		if fixer.In().Conforms(in) != nil {
			in = generable.StrOf(f.Text())
		}
		v, err = b.InvokeAs(word, m.steps-1, engine.GoFunc(word, 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			return b.Call(fixer, args[0])
		}), in)
		return v, agent.Remedy{Do: agent.RemedyFixed}, err
	}
	info := r.Judge.Info()
	_, err = b.InvokeAs(word, m.steps-1, &judging{r.Judge, info, f, &verdict})
	return verdict.Value, verdict, err
}

// judging wraps a judge as a callback, so that it has a position in the run.
type judging struct {
	agent.Judge
	info    engine.FuncInfo
	failure *agent.ToolFailure
	verdict *agent.Remedy
}

func (j *judging) Info() engine.FuncInfo { return j.info }

func (j *judging) Call(b engine.Branch, _ []generable.Value) (v generable.Value, err error) {
	*j.verdict, err = j.Judge.Judge(b, j.failure)
	return v, err
}

func (m *recovery) report() *agent.ToolFailure {
	return &agent.ToolFailure{Tool: m.t.Name, Args: m.raw, Value: m.args, Err: m.failure, Kind: m.kind,
		Schema: m.t.Parameters().JSONSchema(), Attempt: m.fails}
}

// accept takes the result of a fix. For bad arguments these are new arguments, which are read and executed. For a
// failure it is the tool's result or, with again, new arguments too.
func (m *recovery) accept(v generable.Value, again bool) (over bool) {
	if m.kind == agent.FailedRun && !again {
		out, err := m.result(v)
		if m.unfit = err != nil; m.unfit {
			m.fail(engine.AsError(m.b.Locate(err, nil)))
			return false
		}
		m.out, m.failure = out, nil
		return false
	}
	if m.kind == agent.FailedRun && !recoverable(m.failure) {
		return true
	}
	text, ok := v.AsStr()
	if !ok {
		text = generable.JSON(v, nil)
		_, ok = v.AsRecord() // of a schema that the fixer declared
	}
	m.raw, m.dialect = text, ""
	if failure := tooLong(m.b, m.sk.agent, text); failure != nil {
		m.fail(failure)
		return false
	}
	if ok {
		args, failure, ends := arguments(m.b, m.t, text)
		if m.ends = ends; failure != nil {
			m.fail(failure)
			return ends
		}
		m.args = args
	} else {
		args, errs := m.t.Parameters().Convert(v)
		if errs != nil {
			m.fail(badArgs(m.t, "%w", errs))
			return false
		}
		m.args = args
	}
	m.execute()
	return m.ends
}

// result reads a fix's value as the tool's result. If the tool returns text, a text that looks like the call's own
// arguments is not a result.
func (m *recovery) result(v generable.Value) (generable.Value, error) {
	who := "the fix of tool " + m.t.Name
	out, err := exec.Converted(v, cmp.Or(m.t.Returns, generable.AnyT), who)
	if err != nil || m.t.Returns == nil || m.t.Returns.Kind != generable.StrType {
		return out, err
	}
	given, ok := out.AsStr()
	if !ok || len(m.t.Parameters().Fields) == 0 || !strings.HasPrefix(strings.TrimSpace(given), "{") {
		return out, nil
	}
	if _, failure, _ := arguments(m.b, m.t, given); failure == nil {
		return out, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "%s must return the tool's result, but returned arguments of a call: %s", who, text.Clip(given, exec.MaxShown)).
			WithHelp("execute the call with them: fix(by, then = \"call\"), or have the fixer return the result")
	}
	return out, nil
}

// decided ends the recovery as a verdict says.
func (m *recovery) decided(r *agent.Remedy) {
	var e *engine.Error
	switch r.Do {
	case agent.RemedyEscalate:
		e = escalated(m.b, m.t.Name, r, m.failure)
	default:
		e = engine.Errorf(engine.KindTool, diag.ToolGaveUp, "tool %q of agent %q gave up: %s", m.t.Name, m.sk.agent.Name, reason(r, m.failure))
		e.Verdict, m.ends = &engine.Verdict{Reason: r.Reason}, true
		e.WithHelp("the script ends the agent here; see the cause for what failed")
	}
	e.Cause, e.Pos = m.failure, r.Span.Or(m.t.Span).Pos
	m.fail(e)
}

// remedyOf returns the remedy in a fixer's verdict, which it returned instead of a fix.
func remedyOf(v *engine.Verdict) *agent.Remedy {
	if v.Escalate {
		return &agent.Remedy{Do: agent.RemedyEscalate, Reason: v.Reason, Severity: v.Severity}
	}
	return &agent.Remedy{Do: agent.RemedyAbandon, Reason: v.Reason}
}

// reason returns the script's reason, else the failure's message.
func reason(r *agent.Remedy, failure *engine.Error) string {
	if r.Reason != "" || failure == nil {
		return r.Reason
	}
	return failure.Message
}

// remedies returns the remedies that apply to a skill's tool: its own, its agent's, or the run's.
func remedies(b *exec.Branch, sk *skillPlan, t *agent.Tool, kind string) []agent.Remedy {
	for _, r := range [...]*agent.Recovery{t.OnError, sk.agent.OnToolError, b.Run.Spec.OnToolError} {
		if list := r.Of(kind); len(list) > 0 {
			return list
		}
	}
	return nil
}
