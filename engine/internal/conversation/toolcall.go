package conversation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// toolCall is the state of one tool call and its result. A run whose call waits for a person holds one and is parked on
// the frames of the functions below, which are kept small.
type toolCall struct {
	*model.ToolCall
	at      *engine.Frame
	sk      *skillPlan
	t       *agent.Tool        // nil if there is no such tool
	args    generable.Value    // as they were read
	repairs []generable.Repair // that were needed to read them
	made    generable.Value    // the arguments of the last execution, which interceptors, people and fixers may change
	failure *engine.Error      // for the model to see, or the error that ends the run
	result  *model.ToolResult
	runs    int32 // executions
	barred  bool  // failure says why the call may not be made
	counted bool  // by the rules of its tool
	ends    bool  // the failure ends the run
}

// tools runs the tool calls in one answer of the model, and returns their results in order. What a model can correct
// (an unknown tool, bad arguments, a failed tool) is returned to it as a result. Nine mechanisms surround a call. Each
// has its own place. Their order is that of this function, of runToolCall and of tryCall, and is defined nowhere else.
func (t *conversation) tools(calls []*model.ToolCall) ([]model.Part, error) {
	// 1. The limits of the conversation: how many calls, and how often the same one in a row.
	if unmade, err := t.permit(calls); err != nil || unmade != nil {
		return unmade, err
	}
	// 2. The rules of the tools: how often, and after which other tools.
	// 3. The arguments are read before any call begins: reading takes more stack than a waiting call should keep.
	made := t.callings(calls)
	err := t.atOnce(calls, cmp.Or(t.Agent.ToolsAtOnce, agent.DefaultToolsAtOnce), func(i int, s engine.Sched) error {
		return runToolCall(t.b.Fork(s, made[i].at), &made[i]) // 4 to 8
	})
	// 9. The failure streak, the last answer and the rules for the following turns.
	return t.settleToolCalls(made, err)
}

// runToolCall runs one call and emits its events. An error ends the run.
func runToolCall(b *exec.Branch, c *toolCall) (err error) {
	defer b.Recovered(&err)
	emitToolCall(b, c, engine.PhaseStart, "", nil)
	emitRepairs(b, c.repairs)
	var out generable.Value
	if !c.barred {
		kind := agent.FailedArgs
		if c.failure == nil {
			c.runs, kind = 1, agent.FailedRun
			out, c.failure, c.ends = tryCall(b, c.sk, c.t, &c.made) // 4 to 6
		}
		// 7. Recovery: remedies for the failure, which may repeat the call.
		if c.failure != nil && !c.ends && remedies(b, c.sk, c.t, kind) != nil {
			b.WentOn(c.failure)
			out = recoverCall(b, c)
		}
	}
	// 8. The result: observers see it, and it becomes the text for the model.
	return settleToolCall(b, c, out)
}

// tryCall makes a call once with the current arguments, which interceptors and people may replace. It returns the
// failure of the call, and whether that ends the run.
func tryCall(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value) (generable.Value, *engine.Error, bool) {
	hooked := !knows(t) && hooked(b, sk.agent)
	// 4. The interceptors before the call.
	if hooked {
		if out, made, failure, ends := beforeCall(b, sk, t, args); made || failure != nil {
			return out, failure, ends
		}
	}
	// 5. The budget of calls, policies and people, and then the tool itself.
	out, tried, err := runTool(b, sk, t, args)
	if err != nil {
		failure, ends := toolFailure(b, t, err, tried)
		return out, failure, ends
	}
	// 6. The interceptors after the call.
	if hooked {
		return afterCall(b, sk, t, *args, out)
	}
	return out, nil, false
}

// runTool runs a tool of the script inline, any other as an effect. It reports whether a handler attempted the call.
func runTool(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value) (out generable.Value, tried bool, err error) {
	if b.Run.Spec.Prepared != nil {
		if out, stands, err := standIn(b, sk, t, args); stands || err != nil {
			return out, false, err
		}
	}
	if t.Run == nil {
		a, err := permitHosted(b, sk, t, args) // also makes the reservation
		if err != nil {
			return out, false, err
		}
		return runHosted(b, sk, t, *args, a)
	}
	if err := b.ReserveToolCall(sk.agent.Name); err != nil {
		return out, false, err
	}
	if err = permit(b, sk, t, args); err != nil {
		return out, false, err
	}
	acting := b.EffectRank
	b.EffectRank = ruledAs(b, sk, t)
	if p := b.Run.Spec.Prepared; p != nil && p.Call != nil {
		out, err = p.Call(b.At, t, *args, func() (generable.Value, error) { return invoked(b, t, *args) })
	} else {
		out, err = invoked(b, t, *args)
	}
	b.EffectRank = acting
	if err != nil {
		out, err = escalates(b, err)
		return out, false, err
	}
	out, err = exec.Converted(out, cmp.Or(t.Returns, generable.AnyT), "tool "+t.Name)
	return out, false, err
}

// invoked calls the function of a tool.
func invoked(b *exec.Branch, t *agent.Tool, args generable.Value) (generable.Value, error) {
	if t.Timeout > 0 {
		return b.InTime(t, args)
	}
	return b.Invoke(t.Run, args)
}

// standIn returns the stand-in result of a call. The call counts against its limits, but nobody is asked about it,
// since it is not made. What a rule denies stays denied.
//
//go:noinline
func standIn(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value) (out generable.Value, stands bool, err error) {
	stand := b.Run.Spec.Prepared.StandIn
	if _, notes := t.Run.(*memoryRun); stand == nil || notes || knows(t) { // these only affect the run
		return out, false, nil
	}
	d := policy.Decision{}
	if ruled(b, sk) {
		d = rules(b, sk, t, *args)
	}
	if d.Ruling != policy.Denied {
		if out, stands, err = stand(t); err != nil || !stands {
			return out, stands, err
		}
	}
	if err = b.ReserveToolCall(sk.agent.Name); err != nil {
		return out, true, err
	}
	if d.Ruling == policy.Denied {
		return out, true, denied(b, t, d)
	}
	b.EmitPolicy(engine.PhaseEnd, t.Name, "mocked", nil)
	return out, true, nil
}

// callings finds the called tools and reads the arguments. The arguments of a barred call are not read.
func (t *conversation) callings(calls []*model.ToolCall) []toolCall {
	if t.calls == nil {
		t.calls = &exec.Tally{}
	}
	if t.sk.hasRules && t.ruled == nil {
		t.ruled = &ruledCalls{map[string]int{}, map[string]bool{}}
	}
	made := make([]toolCall, len(calls))
	for i, call := range calls {
		name := text.Clip(call.Name, agent.MaxToolName)
		c := &made[i]
		*c = toolCall{ToolCall: call, sk: t.sk, t: t.sk.tool(call.Name), at: t.b.At.Child("tool", name, t.calls.Count(exec.CallKey{Word: name}))}
		if c.t == nil {
			c.failure = t.sk.unknownTool(call.Name)
		} else if c.t.Rules != nil {
			c.failure = t.ruled.bar(c.t)
		}
		if c.barred = c.failure != nil; c.barred {
			continue
		}
		if c.failure = tooLong(t.b, t.Agent, call.Args); c.failure == nil {
			c.args, c.repairs, c.failure, c.ends = read(t.b, c.t, call.Args, call.Dialect)
			c.made = c.args
		}
		if c.t.Rules != nil && (c.failure != nil || !t.denies(c)) {
			t.ruled.count(c)
		}
	}
	return made
}

// settleToolCalls settles the results of a turn's calls. If a budget refused several of them, the error is that of the
// first in their order. All others have ended before, so the result does not depend on which was refused first, and a
// replay ends the same way.
func (t *conversation) settleToolCalls(made []toolCall, err error) ([]model.Part, error) {
	results := make([]model.Part, len(made))
	for i := range made {
		c := &made[i]
		if c.failure != nil && c.result == nil {
			if err == nil {
				err = c.failure
			}
			c.failure = nil
		}
		results[i] = model.Part{Kind: model.PartResult, Result: c.result}
	}
	t.stuck.turn(made)
	t.spentOn(made)
	t.ended(made)
	return results, err
}

// settleToolCall settles the result of a call: the text for the model, including a failure, or the error that ends the
// run. A refusal by a budget ends the run after the other calls have ended, and has no result.
func settleToolCall(b *exec.Branch, c *toolCall, out generable.Value) error {
	text, pictures, failure, ends := words(b, c, out)
	emitToolCall(b, c, engine.PhaseEnd, text, failure)
	c.failure = failure
	switch {
	case !ends:
		b.WentOn(failure) // the model will see it
		c.result = marked(model.ToolResult{CallID: c.ID, Name: c.Name, Text: text, IsError: failure != nil}, c.t, failure)
		c.result.Pictures = pictures
	case failure.Kind != engine.KindBudget:
		c.failure = nil
		return failure
	}
	return nil
}

// words returns the text of a call's result and its pictures. For a failed call it also returns the failure, and
// whether that ends the run.
func words(b *exec.Branch, c *toolCall, out generable.Value) (text string, pictures []model.Image, failure *engine.Error, ends bool) {
	if err := notifyToolCall(b, c.sk, c.t, c.made, out, c.failure); err != nil {
		return "", nil, engine.AsError(err), true
	}
	if c.failure == nil {
		return capped(model.InputText(out, c.t.Returns), c.t.MaxResult), picturesIn(out), nil, false
	}
	return capped("error: "+c.failure.Message, 0), nil, blame(b, c.failure, c.sk, c.Name, int(c.runs)), c.ends && !answersAfter(c.sk.agent, c.failure)
}

// emitToolCall emits the event of a call. Reading knowledge has no start event.
func emitToolCall(b *exec.Branch, c *toolCall, phase engine.Phase, text string, failure *engine.Error) {
	kind := engine.EventTool
	if c.t != nil && knows(c.t) {
		kind = engine.EventKnowledge
	}
	if !b.Wants(kind) || phase == engine.PhaseStart && kind != engine.EventTool {
		return
	}
	if phase == engine.PhaseStart {
		text = c.Args
	}
	d := &event.Tool{Phase: phase, Name: c.Name, Text: text, Err: failure, Of: c.sk.agent, Made: phase == engine.PhaseEnd && c.runs > 0 && !turnedDown(failure)}
	switch {
	case kind == engine.EventKnowledge:
		b.Emit(engine.Event{Kind: kind, Data: (*event.Knowledge)(d)})
		return
	case c.t != nil && c.t.Server != nil:
		d.Server = c.t.Server.Name
	}
	b.Emit(engine.Event{Kind: kind, Data: d})
}

// arguments reads what a fixer wrote as a tool's parameters.
func arguments(b *exec.Branch, t *agent.Tool, text string) (generable.Value, *engine.Error, bool) {
	args, repairs, failure, ends := read(b, t, text, "")
	emitRepairs(b, repairs)
	return args, failure, ends
}

// read reads what a model wrote as a tool's parameters.
func read(b *exec.Branch, t *agent.Tool, text, form string) (generable.Value, []generable.Repair, *engine.Error, bool) {
	args, err := decode(b, t.Parameters(), orEmptyObject(text), form)
	switch {
	case err != nil:
		return args.Value, nil, engine.AsError(err), true
	case !args.OK:
		return generable.Value{}, args.Repairs, badArgs(t, "%w", args.Errors), false
	case cutOff(text, args.Repairs):
		return generable.Value{}, args.Repairs, badArgs(t, "they end in the midst of a value; send them whole"), false
	}
	return args.Value, args.Repairs, nil, false
}

func badArgs(t *agent.Tool, format string, args ...any) *engine.Error {
	e := engine.Errorf(engine.KindTool, diag.ToolFailed, "bad arguments: "+format, args...)
	e.Pos = t.Span.Pos
	return e
}

// toolFailure returns the failure of a call whose tool failed, and whether it ends the run.
func toolFailure(b *exec.Branch, t *agent.Tool, err error, tried bool) (failure *engine.Error, ends bool) {
	if stop := b.Sched.Err(); stop != nil { // the call failed because the branch must end
		return exec.Because(stop, err), true
	}
	failure = engine.AsError(err)
	if !failure.Pos.IsValid() {
		own := *failure
		own.Pos = t.Span.Pos
		failure = &own
	}
	return failure, !modelCanReact(b, failure, tried)
}

// modelCanReact reports whether a model can react to a failure. A refused call, and a fault of the run rather than of the
// call, ends the run. A used-up budget or a cancellation that a handler reports is the handler's own, and so is that of
// an inner agent that used up its share.
func modelCanReact(b *exec.Branch, e *engine.Error, tried bool) bool {
	switch e.Kind {
	case engine.KindStore, engine.KindReplay, engine.KindTest, engine.KindConfig, engine.KindApproval:
		return false
	case engine.KindBudget:
		return tried || !e.OfRun && (e.Scope == "" || strings.HasPrefix(e.Scope, b.At.Path()+"/"))
	}
	return !e.OfRun && !e.Decides() && !engine.IsControl(e)
}

func (p *skillPlan) tool(name string) *agent.Tool {
	for _, t := range p.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// cutOff reports whether arguments end within a text, number or word whose rest is missing. An answer may be read up to
// that point, but a tool would act on it. Brackets that are not closed lose nothing.
func cutOff(args string, repairs []generable.Repair) bool {
	args = strings.TrimSpace(args)
	return args != "" && !strings.ContainsRune("\"]}", rune(args[len(args)-1])) &&
		slices.ContainsFunc(repairs, func(r generable.Repair) bool { return r.Kind == "truncated" })
}

func orEmptyObject(args string) string {
	if strings.TrimSpace(args) == "" {
		return "{}"
	}
	return args
}

// runHosted runs a tool of the host or of a server as an effect.
func runHosted(b *exec.Branch, sk *skillPlan, t *agent.Tool, args generable.Value, a *exec.Ask) (out generable.Value, tried bool, err error) {
	e := hosted(b, sk, t, args)
	if t.Reconcile != nil {
		if why, unknown := b.IsUnknown(e); unknown {
			if out, settled, err := reconciled(b, t, e, args, why); settled || err != nil {
				return out, true, err
			}
		}
	}
	if o := b.Do(e, a); o.Err != nil {
		return o.Value, o.Attempt > 0, o.Err
	} else if t.Server != nil {
		out, err = t.Given(o.Value)
	} else {
		out, err = exec.Converted(o.Value, cmp.Or(t.Returns, generable.AnyT), "tool "+t.Name)
	}
	return out, true, err
}

// hosted returns the effect of calling a tool of the host or of a server.
func hosted(b *exec.Branch, sk *skillPlan, t *agent.Tool, args generable.Value) *engine.Effect {
	req := &engine.ToolRequest{Args: args, Version: t.Version, Tool: t.Remote}
	if t.Server != nil {
		req.Server = t.Server
	}
	return (&exec.InFlight{Effect: engine.Effect{Kind: engine.EffectTool, Name: t.Handled(), Agent: sk.agent.Name, Run: b.RunID(), At: b.At,
		Req: req, Class: cmp.Or(t.Class, engine.ClassOnce), Timeout: t.Timeout, OnUnknown: t.OnUnknown, Returns: t.Returns}}).Begin()
}

// reconciled asks a tool's function whether a call was executed. It returns false if the call must be made again, or if
// the function does not know: then the effect's policy decides.
func reconciled(b *exec.Branch, t *agent.Tool, e *engine.Effect, args generable.Value, why *engine.Error) (out generable.Value, settled bool, err error) {
	f := &agent.ToolFailure{Tool: t.Name, Args: generable.JSON(args, nil), Value: args, Err: engine.Unsure(e, why), Kind: agent.FailedUnknown, Schema: t.Parameters().JSONSchema(), Attempt: 1}
	var verdict agent.Remedy
	info := t.Reconcile.Info()
	if _, err = b.InvokeAs("unknown", 0, &judging{t.Reconcile, info, f, &verdict}); err != nil {
		return out, false, err
	}
	var o engine.Outcome
	switch verdict.Do {
	case agent.RemedyTell:
		return out, false, nil
	case agent.RemedyAgain:
		e.OnUnknown = engine.UnknownRetry
		return out, false, nil
	case agent.RemedyFixed:
		if o.Value, err = exec.Converted(verdict.Value, cmp.Or(t.Returns, generable.AnyT), "on_unknown of tool "+t.Name); err != nil {
			return out, false, err
		}
	case agent.RemedyAbandon:
		o.Err = engine.Errorf(engine.KindTool, diag.ToolFailed, "%s", cmp.Or(verdict.Reason, "it was not carried out"))
	default:
		return out, false, engine.Errorf(engine.KindScript, diag.WrongTypeAtBoundary, "on_unknown of tool %s returned %s", t.Name, verdict.Do).
			WithHelp("return fixed(result) for a call that was carried out, again() for one that was not, give_up(why) for one that failed, or None to have a person asked")
	}
	if o = b.Settle(e, o); o.Err != nil {
		return out, false, o.Err
	}
	return o.Value, true, nil
}
