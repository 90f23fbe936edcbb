package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// maxToolName bounds the part of a position that a model makes up: the name of a tool that
// does not exist.
const maxToolName = 64

// tools runs the calls of one turn and gives their results in order. What a model can mend,
// an unknown tool, bad arguments, a tool that failed, goes back to it as a result.
func (t *turns) tools(calls []*ToolCall) ([]Part, error) {
	if unmade, err := t.permit(calls); err != nil || unmade != nil {
		return unmade, err
	}
	if t.calls == nil {
		t.calls = &tally{}
	}
	positions := make([]*Frame, len(calls))
	for i, c := range calls {
		name := clip(c.Name, maxToolName)
		positions[i] = t.b.at.child("tool", name, t.calls.count(callKey{word: name}))
	}
	barred := t.barred(calls)
	results, failures := make([]Part, len(calls)), make([]*Error, len(calls))
	limit := cmp.Or(t.a.ToolsAtOnce, DefaultToolsAtOnce)
	err := t.atOnce(calls, limit, func(i int, s Sched) error {
		br := t.b.fork(s, positions[i])
		return br.guard(func() error {
			r, failure, err := br.toolCall(t.sk, calls[i], barred.of(i))
			results[i], failures[i] = Part{Kind: PartResult, Result: r}, failure
			if r != nil {
				r.pictures = br.given
			}
			if err != nil && asError(err).Kind == KindBudget {
				failures[i], err = asError(err), nil
			}
			return err
		})
	})
	err = firstRefused(results, failures, err)
	t.stuck.turn(calls, failures)
	t.spentOn(failures)
	t.ended(calls, failures)
	return results, err
}

// firstRefused is what the run ends by when a budget refused calls of an answer: the first of them in
// their order. The others came to their end before, so that it does not depend on which was refused
// earlier, and a replay gives the same.
func firstRefused(results []Part, failures []*Error, err error) error {
	for i, f := range failures {
		if f != nil && results[i].Result == nil {
			if failures[i] = nil; err == nil {
				err = f
			}
		}
	}
	return err
}

// toolCall runs one call, with events around it. The error ends the run; a failure is one that
// the model is to see in the result.
func (b *Branch) toolCall(sk *skillPlan, c *ToolCall, barred *Error) (*ToolResult, *Error, error) {
	b.tellCall(sk, c, PhaseStart, "", nil)
	text, failure, ends := b.tool(sk, c, barred)
	b.tellCall(sk, c, PhaseEnd, text, failure)
	if ends {
		return nil, nil, failure
	}
	return ToolResult{CallID: c.ID, Name: c.Name, Text: text, IsError: failure != nil}.marked(sk.tool(c.Name), failure), failure, nil
}

// tellCall emits the event of a call. Reading what a skill knows has no start.
func (b *Branch) tellCall(sk *skillPlan, c *ToolCall, phase Phase, text string, failure *Error) {
	kind := sk.event(c.Name)
	if !b.Wants(kind) || phase == PhaseStart && kind != EventTool {
		return
	}
	if phase == PhaseStart {
		text = c.Args
	}
	b.emit(Event{Kind: kind, Phase: phase, Name: c.Name, Text: text, Err: failure})
}

// tool gives the text of a call's result and, when it failed, the failure, and whether that
// ends the run. Its stages are functions of their own: the tool is found, the arguments are read, the
// call is executed, what failed is mended, and what came of it is put into words.
func (b *Branch) tool(sk *skillPlan, c *ToolCall, barred *Error) (text string, failure *Error, ends bool) {
	t := sk.tool(c.Name)
	if t == nil {
		return b.unmade(sk, c, sk.unknownTool(c.Name))
	}
	if barred != nil {
		return b.unmade(sk, c, barred)
	}
	var out generable.Value
	runs, kind := 0, FailedArgs
	args, failure, ends := generable.Value{}, b.tooLong(sk.agent, c), false
	if failure == nil {
		args, failure, ends = b.arguments(t, c.Args, c.Dialect)
	}
	made := args // what it was last executed with, which interceptors, people and fixers change
	if failure == nil {
		runs, kind = 1, FailedRun
		out, failure, ends = b.use(sk, t, &made)
	}
	if failure != nil && !ends && b.remedies(sk, t, kind) != nil {
		out, failure, ends, runs = b.mend(sk, t, c, args, &made, failure, runs)
	}
	if err := b.observed(sk, t, made, out, failure); err != nil {
		return "", asError(err), true
	}
	if failure == nil {
		b.given = picturesIn(out)
		return toldResult(t, out), nil, false
	}
	return toldFailure(failure), b.blame(failure, sk, c.Name, runs), ends && !sk.agent.answersAfter(failure)
}

// unmade is what a call comes to that there is no tool for, or that its rules bar.
func (b *Branch) unmade(sk *skillPlan, c *ToolCall, failure *Error) (string, *Error, bool) {
	if err := b.observed(sk, nil, generable.Value{}, generable.Value{}, failure); err != nil {
		return "", asError(err), true
	}
	return toldFailure(failure), b.blame(failure, sk, c.Name, 0), false
}

// arguments reads what a model wrote as a tool's parameters.
func (b *Branch) arguments(t *Tool, text, form string) (generable.Value, *Error, bool) {
	args, err := b.decode(t.params(), orEmptyObject(text), form)
	if err != nil {
		return args.Value, asError(err), true
	}
	b.tellRepairs(args.Repairs)
	switch {
	case !args.OK:
		return generable.Value{}, t.badArgs("%w", args.Errors), false
	case cutOff(text, args.Repairs):
		return generable.Value{}, t.badArgs("they end in the midst of a value; send them whole"), false
	}
	return args.Value, nil, false
}

func (t *Tool) badArgs(format string, args ...any) *Error {
	e := Errorf(KindTool, diag.ToolFailed, "bad arguments: "+format, args...)
	e.Pos = t.Span.Pos
	return e
}

// execute calls a tool once. The arguments become those that a person put in their place.
func (b *Branch) execute(sk *skillPlan, t *Tool, args *generable.Value) (generable.Value, *Error, bool) {
	out, tried, err := b.runTool(sk, t, args)
	if err == nil {
		return out, nil, false
	}
	if stop := b.sched.Err(); stop != nil { // the call failed because the branch is to end
		return out, because(stop, err), true
	}
	failure := asError(err)
	if !failure.Pos.IsValid() {
		own := *failure
		own.Pos = t.Span.Pos
		failure = &own
	}
	return out, failure, !b.mendable(failure, tried)
}

// mendable reports whether it helps to tell a model of a failure. A refused call, and what is
// wrong with the run rather than with the call, ends the run. A handler that reports a spent
// budget or a cancellation speaks of something of its own, as does an agent inside that used up what
// it alone was given.
func (b *Branch) mendable(e *Error, tried bool) bool {
	switch e.Kind {
	case KindStore, KindReplay, KindConfig, KindApproval:
		return false
	case KindBudget:
		return tried || !b.held(e)
	}
	return !e.OfRun && !e.decides() && !IsControl(e)
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

// runTool runs a tool of the script inline, any other as an effect. It reports whether a
// handler tried the call.
func (b *Branch) runTool(sk *skillPlan, t *Tool, args *generable.Value) (out generable.Value, tried bool, err error) {
	who := "tool " + t.Name
	if t.Run != nil {
		if err := b.claim(sk.agent.Name); err != nil {
			return out, false, err
		}
		if *args, err = b.permit(sk, t, *args); err != nil {
			return out, false, err
		}
		if t.Timeout > 0 {
			out, err = b.inTime(t, *args)
		} else {
			out, err = b.invoke(t.Run, *args)
		}
		if err != nil {
			return out, false, err
		}
		out, err = converted(out, orAny(t.Returns), who)
		return out, false, err
	}
	class := t.Class
	if class == "" {
		class = ClassOnce
	}
	o := b.doPermitted(sk, t, args, &Effect{Kind: EffectTool, Name: t.handled(), Agent: sk.agent.Name, Run: b.RunID(), At: b.at,
		Req: &ToolRequest{Args: *args, Version: t.Version, Server: t.Server, Tool: t.Remote}, Class: class, Timeout: t.Timeout}, &ask{want: estimate{resToolCalls: 1}})
	if o.Err != nil {
		return o.Value, o.Attempt > 0, o.Err
	}
	if t.Server != nil {
		out, err = t.given(o.Value)
		return out, true, err
	}
	out, err = converted(o.Value, orAny(t.Returns), who)
	return out, true, err
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
