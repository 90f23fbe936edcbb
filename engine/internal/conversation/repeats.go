package conversation

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/text"
)

// repeatGuard counts consecutive calls of one tool with the same arguments.
type repeatGuard struct {
	call *model.ToolCall // the last, nil before the first
	n    int64
}

// add counts a call and returns how many times in a row it was requested.
func (r *repeatGuard) add(c *model.ToolCall) int64 {
	if r.call == nil || r.call.Name != c.Name || !sameArgs(r.call.Args, c.Args) {
		r.n = 0
	}
	r.call = c
	r.n++
	return r.n
}

// sameArgs compares arguments as a model wrote them, ignoring white space between their parts.
func sameArgs(a, b string) bool { return a == b || squeezed(a) == squeezed(b) }

func squeezed(args string) string {
	quoted, escaped := false, false
	return strings.Map(func(r rune) rune {
		switch {
		case escaped:
			escaped = false
		case r == '"':
			quoted = !quoted
		case quoted:
			escaped = r == '\\'
		case strings.ContainsRune(" \t\n\r", r):
			return -1
		}
		return r
	}, args)
}

// permit checks the limits on a turn's calls before any is made: if not all can be made, none is. At a limit it returns
// an error or, for an agent that then gives a last answer, results that say so.
func (t *conversation) permit(calls []*model.ToolCall) ([]model.Part, error) {
	before := int64(t.made)
	after := before + int64(len(calls))
	var over error
	for after > t.end.maxToolCalls && over == nil {
		more, err := t.extend(units.ToolCalls, &t.end.maxToolCalls, before)
		switch {
		case err != nil:
			return nil, err
		case !more:
			over = exec.Overspent(t.label(), t.end.maxToolCalls, units.ToolCalls)
		}
	}
	if over == nil {
		over = t.repeats(calls)
	}
	switch {
	case over == nil:
		t.made = int32(after)
		t.warn(units.ToolCalls, before, after, t.end.maxToolCalls)
		return nil, nil
	case !t.closes():
		return nil, over
	}
	t.due, t.end.why = true, over
	results := make([]model.Part, len(calls))
	for i, c := range calls {
		results[i] = model.Part{Kind: model.PartResult, Result: &model.ToolResult{CallID: c.ID, Name: c.Name, IsError: true,
			Text: "error: the call was not made: the budget of this task is used up"}}
	}
	return results, nil
}

// repeats refuses a call that was requested too often in a row.
func (t *conversation) repeats(calls []*model.ToolCall) error {
	most := t.Agent.Budget.SameCall.Or(t.b.Run.Spec.Limits.SameCall.Or(agent.DefaultSameCall))
	for i, c := range calls {
		if i > 0 && c.Name == calls[i-1].Name && sameArgs(c.Args, calls[i-1].Args) {
			continue // concurrent, not in a row
		}
		if t.same.add(c) > most {
			return engine.Errorf(engine.KindBudget, diag.BudgetExceeded, "agent %q asked %s in a row for the same call of tool %q", t.Agent.Name, times(int(t.same.n)), text.Clip(c.Name, agent.MaxToolName)).
				WithHelp("say in the prompt what to do with its result, let the result differ, or raise it with budget(same_call = ...)")
		}
	}
	return nil
}

// tooLong returns the failure of a call whose arguments are longer than the budget permits. The model sees it.
func tooLong(b *exec.Branch, a *agent.Spec, args string) *engine.Error {
	own := cmp.Or(a.Budget.ArgBytes, b.Run.Spec.Limits.ArgBytes)
	if !own.Set() || int64(len(args)) <= own.N() {
		return nil
	}
	return engine.Errorf(engine.KindTool, diag.ToolFailed, "bad arguments: they are %d bytes long, and at most %d are taken; send less at once", len(args), own.N()).
		WithHelp("raise it with budget(arg_bytes = ...)")
}

// failureStreak is a series of failed tool calls. The model sees each failure; if a budget ends because of them, its
// error says so.
type failureStreak struct {
	tool  string
	on    *engine.Error // nil if the last calls succeeded
	turns int           // consecutive turns in which the same call failed
}

// turn records the calls of one turn: the first that failed, if any.
func (s *failureStreak) turn(made []toolCall) {
	for i := range made {
		name, f := made[i].Name, made[i].failure
		if f == nil {
			continue
		}
		if s.on == nil || s.tool != name || s.on.Code != f.Code {
			s.turns = 0
		}
		s.tool, s.on, s.turns = name, f, s.turns+1
		return
	}
	*s = failureStreak{}
}

// explain adds the failures that a budget was spent on to its error.
func (s *failureStreak) explain(err error) error {
	e, ok := err.(*engine.Error)
	if !ok || s.on == nil || e.Kind != engine.KindBudget {
		return err
	}
	own := *e
	name := text.Clip(s.tool, agent.MaxToolName)
	if s.on.Code == diag.UnknownTool {
		own.Message += fmt.Sprintf("; the model asked for the tool %q, which does not exist, %s", name, times(s.turns))
	} else {
		own.Message += fmt.Sprintf("; the tool %q failed %s in a row: %s", name, times(s.turns), s.on.Message)
	}
	switch {
	case s.on.Code == diag.UnknownTool:
		own.Help = s.on.Help
	case s.on.Help != "":
		own.Help += "; " + s.on.Help
	}
	if own.Cause == nil {
		own.Cause = s.on
	}
	return &own
}

// unknownTool returns the failure of a call of a tool that the skill does not have.
func (p *skillPlan) unknownTool(name string) *engine.Error {
	names := p.toolNames()
	name = text.Clip(name, agent.MaxToolName)
	if len(names) == 0 {
		return engine.Errorf(engine.KindTool, diag.UnknownTool, "there is no tool %q; there are no tools", name).
			WithHelp("set tools = [...] on the agent, or say in the prompt that there are none")
	}
	e := engine.Errorf(engine.KindTool, diag.UnknownTool, "there is no tool %q; the tools are: %s", name, strings.Join(names, ", "))
	if hint := diag.DidYouMean(name, names); hint != "" {
		return e.WithHelp("the tools are %s; %s: say its name in the prompt, or rename it", strings.Join(names, ", "), strings.TrimSuffix(hint, "?"))
	}
	return e.WithHelp("the tools are %s: say in the prompt which to use, or add the one that it asks for", strings.Join(names, ", "))
}
