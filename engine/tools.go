package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// maxToolName bounds the part of a position that a model makes up: the name of a tool that
// does not exist.
const maxToolName = 64

// calling is one call of a tool on its way: what is known of it, and what came of it. A run whose call
// waits for a person holds one, and stands on the frames of the functions below, which are kept small.
type calling struct {
	*ToolCall
	at      *Frame
	sk      *skillPlan
	t       *Tool              // nil when there is none of that name
	args    generable.Value    // as they were read
	repairs []generable.Repair // made to read them
	made    generable.Value    // what it was last executed with, which interceptors, people and fixers change
	failure *Error             // that the model is to see, or by which the run ends
	result  *ToolResult
	runs    int32 // executions
	barred  bool  // the failure is why it may not be made
	ends    bool  // the failure ends the run
}

// tools runs the calls that one answer of the model asks for, and returns their results in order.
// What a model can correct, an unknown tool, bad arguments, a tool that failed, goes back to it as a
// result. Nine mechanisms stand around a call. Each has a place of its own; their order is that of
// this function, of toolCall and of tryCall, and is written nowhere else.
func (t *turns) tools(calls []*ToolCall) ([]Part, error) {
	// 1. The bounds of the conversation: how many calls, and the same one how often in a row.
	if unmade, err := t.permit(calls); err != nil || unmade != nil {
		return unmade, err
	}
	// 2. The rules of the tools: how often, and after which others.
	barred := t.barred(calls)
	// 3. The arguments are read, before any call begins: that takes more stack than a call that
	// waits may stand on.
	made := t.callings(calls, barred)
	err := t.atOnce(calls, cmp.Or(t.a.ToolsAtOnce, DefaultToolsAtOnce), func(i int, s Sched) error {
		return t.b.fork(s, made[i].at).toolCall(&made[i]) // 4 to 8
	})
	// 9. The failure streak, the last answer and the rules of the turns that follow.
	return t.came(made, err)
}

// toolCall runs one call, with events around it. The error ends the run.
func (b *branch) toolCall(c *calling) (err error) {
	defer b.recovered(&err)
	b.tellCall(c, PhaseStart, "", nil)
	b.tellRepairs(c.repairs)
	var out generable.Value
	if !c.barred {
		kind := FailedArgs
		if c.failure == nil {
			c.runs, kind = 1, FailedRun
			out, c.failure, c.ends = b.tryCall(c.sk, c.t, &c.made) // 4 to 6
		}
		// 7. Recovery: remedies for what failed, which may try the call again.
		if c.failure != nil && !c.ends && b.remedies(c.sk, c.t, kind) != nil {
			out = b.mend(c)
		}
	}
	// 8. The result: observers see it, and it becomes the text that the model is told.
	return b.came(c, out)
}

// tryCall makes a call once with the arguments as they are, which interceptors and people may
// replace. It returns the failure of the call, and whether that ends the run.
func (b *branch) tryCall(sk *skillPlan, t *Tool, args *generable.Value) (generable.Value, *Error, bool) {
	hooked := !t.knows && b.hooked(sk.agent)
	// 4. The interceptors before the call.
	if hooked {
		if out, made, failure, ends := b.beforeCall(sk, t, args); made || failure != nil {
			return out, failure, ends
		}
	}
	// 5. The budget of calls, policies and people, and then the tool itself.
	out, tried, err := b.runTool(sk, t, args)
	if err != nil {
		failure, ends := b.toolFailure(t, err, tried)
		return out, failure, ends
	}
	// 6. The interceptors after the call.
	if hooked {
		return b.afterCall(sk, t, *args, out)
	}
	return out, nil, false
}

// runTool runs a tool of the script inline, any other as an effect. It reports whether a handler
// tried the call.
func (b *branch) runTool(sk *skillPlan, t *Tool, args *generable.Value) (out generable.Value, tried bool, err error) {
	if t.Run == nil {
		a, err := b.permitHosted(sk, t, args) // reserves as well
		if err != nil {
			return out, false, err
		}
		return b.runHosted(sk, t, *args, a)
	}
	if err := b.claim(sk.agent.Name); err != nil {
		return out, false, err
	}
	if err = b.permit(sk, t, args); err != nil {
		return out, false, err
	}
	acting := b.acting
	b.acting = b.ruledAs(sk, t)
	if t.Timeout > 0 {
		out, err = b.inTime(t, *args)
	} else {
		out, err = b.invoke(t.Run, *args)
	}
	b.acting = acting
	if err != nil {
		out, err = b.escalates(err)
		return out, false, err
	}
	out, err = converted(out, typing.OrAny(t.Returns), "tool "+t.Name)
	return out, false, err
}

// callings finds the tools that are called and reads their arguments. What is barred is not read.
func (t *turns) callings(calls []*ToolCall, barred barring) []calling {
	if t.calls == nil {
		t.calls = &tally{}
	}
	made := make([]calling, len(calls))
	for i, call := range calls {
		name := text.Clip(call.Name, maxToolName)
		c := &made[i]
		*c = calling{ToolCall: call, sk: t.sk, t: t.sk.tool(call.Name), at: t.b.at.child("tool", name, t.calls.count(callKey{word: name}))}
		if c.failure = barred.of(i); c.t == nil {
			c.failure = t.sk.unknownTool(call.Name)
		}
		if c.barred = c.failure != nil; c.barred {
			continue
		}
		if c.failure = t.b.tooLong(t.a, call.Args); c.failure == nil {
			c.args, c.repairs, c.failure, c.ends = t.b.read(c.t, call.Args, call.Dialect)
			c.made = c.args
		}
	}
	return made
}

// came settles what the calls of a turn came to. When a budget refused some of them, the run ends by the
// first of these in their order: the others came to their end before, so that it does not depend on
// which was refused earlier, and a replay gives the same.
func (t *turns) came(made []calling, err error) ([]Part, error) {
	results := make([]Part, len(made))
	for i := range made {
		c := &made[i]
		if c.failure != nil && c.result == nil {
			if err == nil {
				err = c.failure
			}
			c.failure = nil
		}
		results[i] = Part{Kind: PartResult, Result: c.result}
	}
	t.stuck.turn(made)
	t.spentOn(made)
	t.ended(made)
	return results, err
}

// came settles what a call came to: the result that the model is told, with the failure in it, or the
// error that ends the run. What a budget refused ends it once the other calls have ended, and has no
// result.
func (b *branch) came(c *calling, out generable.Value) error {
	text, pictures, failure, ends := b.words(c, out)
	b.tellCall(c, PhaseEnd, text, failure)
	c.failure = failure
	switch {
	case !ends:
		c.result = ToolResult{CallID: c.ID, Name: c.Name, Text: text, IsError: failure != nil}.marked(c.t, failure)
		c.result.keepPictures(pictures)
	case failure.Kind != KindBudget:
		c.failure = nil
		return failure
	}
	return nil
}

// words gives the text of a call's result, the pictures beside it and, when it failed, the failure, and
// whether that ends the run.
func (b *branch) words(c *calling, out generable.Value) (text string, pictures []Image, failure *Error, ends bool) {
	if err := b.observed(c.sk, c.t, c.made, out, c.failure); err != nil {
		return "", nil, asError(err), true
	}
	if c.failure == nil {
		return toldResult(c.t, out), picturesIn(out), nil, false
	}
	return toldFailure(c.failure), nil, b.blame(c.failure, c.sk, c.Name, int(c.runs)), c.ends && !c.sk.agent.answersAfter(c.failure)
}

// tellCall emits the event of a call. Reading what a skill knows has no start.
func (b *branch) tellCall(c *calling, phase Phase, text string, failure *Error) {
	kind := c.sk.event(c.Name)
	if !b.Wants(kind) || phase == PhaseStart && kind != EventTool {
		return
	}
	if phase == PhaseStart {
		text = c.Args
	}
	var d EventData = &ToolData{phase, c.Name, text, failure}
	if kind == EventKnowledge {
		d = &KnowledgeData{phase, c.Name, text, failure}
	}
	b.emit(Event{Kind: kind, Data: d})
}

// arguments reads what a fixer wrote as a tool's parameters.
func (b *branch) arguments(t *Tool, text, form string) (generable.Value, *Error, bool) {
	args, repairs, failure, ends := b.read(t, text, form)
	b.tellRepairs(repairs)
	return args, failure, ends
}

// read reads what a model wrote as a tool's parameters.
func (b *branch) read(t *Tool, text, form string) (generable.Value, []generable.Repair, *Error, bool) {
	args, err := b.decode(t.params(), orEmptyObject(text), form)
	switch {
	case err != nil:
		return args.Value, nil, asError(err), true
	case !args.OK:
		return generable.Value{}, args.Repairs, t.badArgs("%w", args.Errors), false
	case cutOff(text, args.Repairs):
		return generable.Value{}, args.Repairs, t.badArgs("they end in the midst of a value; send them whole"), false
	}
	return args.Value, args.Repairs, nil, false
}

func (t *Tool) badArgs(format string, args ...any) *Error {
	e := Errorf(KindTool, diag.ToolFailed, "bad arguments: "+format, args...)
	e.Pos = t.Span.Pos
	return e
}

// toolFailure is the failure of a call whose tool failed, and whether it ends the run.
func (b *branch) toolFailure(t *Tool, err error, tried bool) (failure *Error, ends bool) {
	if stop := b.sched.Err(); stop != nil { // the call failed because the branch is to end
		return because(stop, err), true
	}
	failure = asError(err)
	if !failure.Pos.IsValid() {
		own := *failure
		own.Pos = t.Span.Pos
		failure = &own
	}
	return failure, !b.mendable(failure, tried)
}

// mendable reports whether it helps to tell a model of a failure. A refused call, and what is
// wrong with the run rather than with the call, ends the run. A handler that reports a spent
// budget or a cancellation speaks of something of its own, as does an agent inside that used up what
// it alone was given.
func (b *branch) mendable(e *Error, tried bool) bool {
	switch e.Kind {
	case KindStore, KindReplay, KindConfig, KindApproval:
		return false
	case KindBudget:
		return tried || !b.held(e)
	}
	return !e.OfRun && !e.decides() && !IsControl(e)
}

// held reports whether what a failure used up bounds more than the branch's own position: nothing
// would be won by telling a model about that, whose next call is refused as well.
func (b *branch) held(e *Error) bool {
	return e.OfRun || e.Scope != "" && !strings.HasPrefix(e.Scope, b.at.Path()+"/")
}

func (p *skillPlan) tool(name string) *Tool {
	for _, t := range p.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// cutOff reports whether arguments end within a text, number or word, of which the rest is
// missing: an answer may be read that far, but a tool would act on it. Brackets that are not
// closed lose nothing.
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
func (b *branch) runHosted(sk *skillPlan, t *Tool, args generable.Value, a *ask) (out generable.Value, tried bool, err error) {
	if o := b.do(b.hosted(sk, t, args), a); o.Err != nil {
		return o.Value, o.Attempt > 0, o.Err
	} else if t.Server != nil {
		out, err = t.given(o.Value)
	} else {
		out, err = converted(o.Value, typing.OrAny(t.Returns), "tool "+t.Name)
	}
	return out, true, err
}

// hosted is the effect of calling a tool of the host or of a server.
func (b *branch) hosted(sk *skillPlan, t *Tool, args generable.Value) *Effect {
	return (&inFlight{effect: Effect{Kind: EffectTool, Name: t.handled(), Agent: sk.agent.Name, Run: b.RunID(), At: b.at,
		Req: &ToolRequest{Args: args, Version: t.Version, Server: t.Server, Tool: t.Remote}, Class: cmp.Or(t.Class, ClassOnce), Timeout: t.Timeout}}).begin()
}
