package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// repeated counts calls of one tool with the same arguments, one after the other.
type repeated struct {
	call *ToolCall // the last, nil before the first
	n    int64
}

// add counts a call and gives how often it was asked for in a row.
func (r *repeated) add(c *ToolCall) int64 {
	if r.call == nil || r.call.Name != c.Name || !sameArgs(r.call.Args, c.Args) {
		r.n = 0
	}
	r.call = c
	r.n++
	return r.n
}

// sameArgs compares arguments as a model wrote them, apart from white space between their parts.
func sameArgs(a, b string) bool {
	if a == b {
		return true
	}
	i, j, quoted := 0, 0, false
	for {
		if !quoted {
			for i < len(a) && blank(a[i]) {
				i++
			}
			for j < len(b) && blank(b[j]) {
				j++
			}
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
		switch {
		case a[i] == '"':
			quoted = !quoted
		case quoted && a[i] == '\\' && i+1 < len(a) && j+1 < len(b):
			if i, j = i+1, j+1; a[i] != b[j] {
				return false
			}
		}
		i, j = i+1, j+1
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// permit looks at the bounds on a turn's calls before any is made: none is made when not all can
// be. At a limit it gives an error or, for an agent that then answers once more, results that say
// so.
func (t *turns) permit(calls []*ToolCall) ([]Part, error) {
	before := int64(t.made)
	after := before + int64(len(calls))
	var over error
	for after > t.end.mostUse && over == nil {
		more, err := t.extend(resToolCalls, &t.end.mostUse, before)
		switch {
		case err != nil:
			return nil, err
		case !more:
			over = overspent(t.label(), t.end.mostUse, resToolCalls)
		}
	}
	if over == nil {
		over = t.repeats(calls)
	}
	switch {
	case over == nil:
		t.made = int32(after)
		t.warn(resToolCalls, before, after, t.end.mostUse)
		return nil, nil
	case !t.closes():
		return nil, over
	}
	t.end.due, t.end.why = true, over
	results := make([]Part, len(calls))
	for i, c := range calls {
		results[i] = Part{Kind: PartResult, Result: &ToolResult{CallID: c.ID, Name: c.Name, IsError: true,
			Text: "error: the call was not made: the budget of this task is used up"}}
	}
	return results, nil
}

// repeats refuses a call that was asked for too often in a row.
func (t *turns) repeats(calls []*ToolCall) error {
	most := t.a.Budget.SameCall.or(t.b.run.spec.Limits.SameCall.or(DefaultSameCall))
	for i, c := range calls {
		if i > 0 && c.Name == calls[i-1].Name && sameArgs(c.Args, calls[i-1].Args) {
			continue // at once, not one after the other
		}
		if t.same.add(c) > most {
			return Errorf(KindBudget, diag.BudgetExceeded, "agent %q asked %s in a row for the same call of tool %q", t.a.Name, times(int(t.same.n)), text.Clip(c.Name, maxToolName)).
				WithHelp("say in the prompt what to do with its result, let the result differ, or raise it with budget(same_call = ...)")
		}
	}
	return nil
}

// tooLong is the failure of a call whose arguments are longer than the budget lets them be. The
// model is told of it.
func (b *branch) tooLong(a *AgentSpec, args string) *Error {
	own := a.Budget.ArgBytes
	if !own.set() {
		own = b.run.spec.Limits.ArgBytes
	}
	if !own.set() || int64(len(args)) <= own.n() {
		return nil
	}
	return Errorf(KindTool, diag.ToolFailed, "bad arguments: they are %d bytes long, and at most %d are taken; send less at once", len(args), own.n()).
		WithHelp("raise it with budget(arg_bytes = ...)")
}
