package engine

import (
	"fmt"
	"math"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// lastWords ask for an answer when nothing more may be done for it.
const lastWords = "The budget of this task is used up: no more tools can be called. Give your final answer now, with what you have."

// lastShare is the part of a wall time after which an agent with a last answer begins no other turn.
const lastShare = 0.8

// ending is how a conversation comes to its end before the model ends it.
type ending struct {
	due     bool  // the next turn is the last
	why     error // the limit that ended it
	mostOwn int64 // turns; the host may raise it
	mostUse int64 // tool calls, likewise
}

// begin settles the bounds that the conversation counts itself. Those of a named budget count for
// all that share it.
func (t *turns) begin() {
	own := func(c Cap, def int64) int64 {
		if t.a.Budget.Name != "" && c.set() {
			return math.MaxInt64
		}
		return c.or(def)
	}
	l := &t.a.Budget
	t.end.mostOwn, t.end.mostUse = own(l.Turns, DefaultTurns), own(l.ToolCalls, DefaultToolCalls)
	switch {
	case l.Wall == 0:
		t.until = t.b.sched.Now().Add(DefaultAgentWall)
	case l.Wall > 0 && t.closes():
		t.until = t.b.sched.Now().Add(time.Duration(lastShare * float64(l.Wall)))
	}
}

// claim is what the turn's call asks of the budgets.
func (t *turns) claim() ask {
	a := ask{want: estimate{resModelCalls: 1, resTurns: 1}, of: &t.dialogue}
	if k := t.keep; k != nil {
		k.next = estimate{}
		if !t.closing {
			k.next = a.want
		}
	}
	return a
}

// closes reports whether the conversation ends with a last answer when a budget is used up. Without
// tools any answer is the last.
func (t *turns) closes() bool { return t.a.Budget.OnLimit == OnLimitAnswer && len(t.sk.defs) > 0 }

// close makes the request for a last answer.
func (t *turns) close(req *Request, why error) *Request {
	t.closing, t.end.why = true, why
	if t.b.Wants(EventBudget) {
		t.news(BudgetLastAnswer, resTurns, int64(t.turn), t.end.mostOwn, 0)
	}
	next := req.Extend(TextMessage(RoleUser, lastWords))
	next.Choice = ToolChoice{Mode: ChoiceNone} // the tools stay: calls of them were made
	next.reheaded()
	return next
}

// next gives the request of a turn, which may have become the one for a last answer.
func (t *turns) next(req *Request) (*Request, error) {
	turn := int64(t.turn)
	for !t.closing {
		switch {
		case t.end.due:
			return t.close(req, t.end.why), nil
		case turn+1 < t.end.mostOwn, turn < t.end.mostOwn && !t.closes():
			t.warn(resTurns, turn, turn+1, t.end.mostOwn)
			return req, nil
		}
		more, err := t.extend(resTurns, &t.end.mostOwn, turn)
		switch {
		case err != nil:
			return nil, err
		case more:
		case turn < t.end.mostOwn:
			return t.close(req, t.spent(t.end.mostOwn)), nil
		default:
			return nil, t.spent(t.end.mostOwn)
		}
	}
	return req, nil
}

// extend asks the host to raise a bound that the conversation counts itself.
func (t *turns) extend(r resource, most *int64, used int64) (bool, error) {
	if t.b.run.spec.OnBudget == nil {
		return false, nil
	}
	l := BudgetLimit{Budget: t.label(), Scope: t.b.Path(), Resource: resourceArgs[r], Agent: t.a.Name, Limit: AtMost(*most), Used: AtMost(used)}
	to, err := t.b.askHost(l, t.b.at, int(t.turn))
	if err != nil || to <= *most {
		return false, err
	}
	*most = to
	if t.b.Wants(EventBudget) {
		t.news(BudgetExtended, r, used, to, 0)
	}
	return true, nil
}

// refused is what becomes of a call that failed, nil when a budget refused it, which was not made
// then, and a last answer may be asked for instead.
func (t *turns) refused(req *Request, e *Error, attempt int) error {
	if t.closes() && !t.closing && attempt == 0 && e.Kind == KindBudget && e.Code == diag.BudgetExceeded {
		t.end.why = e
		return nil
	}
	return t.a.atModel(req.Model, e)
}

// lasting is run for a conversation that keeps room for a last answer.
func (t *turns) lasting() (generable.Value, error) {
	k := &reserve{in: t.b.budget, outer: t.b.keeper}
	t.keep, t.b.keeper = k, k
	defer func() {
		t.b.keeper = k.outer
		t.b.release(k)
	}()
	return t.run()
}

// answersAfter reports whether the agent answers once more when a tool was refused so.
func (a *AgentSpec) answersAfter(e *Error) bool {
	return a.Budget.OnLimit == OnLimitAnswer && e.Kind == KindBudget && e.Code == diag.BudgetExceeded
}

// spentOn has the next turn be the last when a budget refused calls of this one.
func (t *turns) spentOn(made []calling) {
	for i := range made {
		if f := made[i].failure; f != nil && t.a.answersAfter(f) {
			t.end.due, t.end.why = true, f
			return
		}
	}
}

// partial adds to a spent budget what the agent had come to.
func (t *turns) partial(err error) error {
	e, ok := err.(*Error)
	if !ok || e.Kind != KindBudget {
		return err
	}
	own := *e
	own.Usage = t.usage
	if own.Raw == "" {
		own.Raw = textIn(t.words)
	}
	return &own
}

// calledLast is the error of a last answer that is a call: what ended the conversation, and that it
// had its chance.
func (t *turns) calledLast(tool string) error {
	why := *asError(t.end.why)
	why.Message += fmt.Sprintf("; agent %q was asked for a last answer without tools, and called %q instead of answering", t.a.Name, tool)
	return &why
}
