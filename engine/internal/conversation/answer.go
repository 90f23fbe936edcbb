package conversation

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

// decode reads a model's text as a value of a type, see [exec.Decode].
func decode(b *exec.Branch, t *generable.Type, text, form string) (lenient.Result, error) {
	return exec.Decode(&b.Run.Forms, t, text, form)
}

// emitRepairs emits an event for each repair that was needed to read an answer.
func emitRepairs(b *exec.Branch, repairs []generable.Repair) {
	for _, r := range repairs {
		b.Tell(engine.EventRepair, &event.Repair{Name: r.Kind, Text: r.Path + " " + r.Before + " → " + r.After})
	}
}

// lastWords asks for an answer when no more calls are possible.
const lastWords = "The budget of this task is used up: no more tools can be called. Give your final answer now, with what you have."

// lastShare is the fraction of a wall time after which an agent with a last answer begins no other turn.
const lastShare = 0.8

// ending says when a conversation ends without the model ending it.
type ending struct {
	why          error // the limit that ended it
	maxTurns     int64 // the host may raise it
	maxToolCalls int64 // the host may raise it
}

// begin sets the limits that the conversation itself counts. The limits of a named budget are counted by the budget,
// for all that share it.
func (t *conversation) begin() {
	own := func(c engine.Cap, def int64) int64 {
		if t.Agent.Budget.Name != "" && c.Set() {
			return math.MaxInt64
		}
		return c.Or(def)
	}
	l := &t.Agent.Budget
	t.reasoning = t.reasons()
	t.end.maxTurns, t.end.maxToolCalls = own(l.Turns, agent.DefaultTurns), own(l.ToolCalls, agent.DefaultToolCalls)
	switch {
	case l.Wall == 0:
		t.Until = t.b.Sched.Now().Add(agent.DefaultAgentWall)
	case l.Wall > 0 && t.closes():
		t.Until = t.b.Sched.Now().Add(time.Duration(lastShare*float64(l.Wall)) - t.b.Moved())
	}
}

// modelAsk returns what the turn's model call asks of the budgets.
func (t *conversation) modelAsk() exec.Ask {
	a := exec.Ask{Want: exec.Estimate{units.ModelCalls: 1, units.Turns: 1}, Of: &t.Dialogue}
	if k := t.Reservation; k != nil {
		k.Next = exec.Estimate{}
		if !t.Closing {
			k.Next = a.Want
		}
	}
	return a
}

// closes reports whether the conversation ends with a last answer when a budget is used up. Without tools and reasoning
// turns any answer is the last.
func (t *conversation) closes() bool {
	return t.Agent.Budget.OnLimit == engine.OnLimitAnswer && (len(t.sk.defs) > 0 || t.reasoning != nil)
}

// close returns the request for a last answer.
func (t *conversation) close(req *model.Request, why error) *model.Request {
	t.Closing, t.end.why = true, why
	if t.b.Wants(engine.EventBudget) {
		t.news(event.BudgetLastAnswer, units.Turns, int64(t.Turn), t.end.maxTurns, 0)
	}
	next := req.Extend(model.TextMessage(model.RoleUser, lastWords))
	callsNone(next)
	next.Reheaded()
	return next
}

// next returns the request of a turn, or the request for a last answer if a limit is reached.
func (t *conversation) next(req *model.Request) (*model.Request, error) {
	turn := int64(t.Turn)
	for !t.Closing {
		switch {
		case t.due:
			return t.close(req, t.end.why), nil
		case turn+1 < t.end.maxTurns, turn < t.end.maxTurns && !t.closes():
			t.warn(units.Turns, turn, turn+1, t.end.maxTurns)
			return req, nil
		}
		more, err := t.extend(units.Turns, &t.end.maxTurns, turn)
		switch {
		case err != nil:
			return nil, err
		case more:
		case turn < t.end.maxTurns:
			return t.close(req, t.spent(t.end.maxTurns)), nil
		default:
			return nil, t.spent(t.end.maxTurns)
		}
	}
	return req, nil
}

// extend asks the host to raise a limit that the conversation itself counts.
func (t *conversation) extend(r units.Resource, most *int64, used int64) (bool, error) {
	if t.b.Run.Spec.OnBudget == nil {
		return false, nil
	}
	l := engine.BudgetLimit{Budget: t.label(), Scope: t.b.Path(), Resource: units.Args[r], Agent: t.Agent.Name, Limit: engine.AtMost(*most), Used: engine.AtMost(used)}
	to, err := t.b.AskHost(l, t.b.At, int(t.Turn))
	if err != nil || to <= *most {
		return false, err
	}
	*most = to
	if t.b.Wants(engine.EventBudget) {
		t.news(event.BudgetExtended, r, used, to, 0)
	}
	return true, nil
}

// refused returns the error of a failed call, or nil if a budget refused the call or cut off its answer, and a last
// answer may be requested instead.
func (t *conversation) refused(req *model.Request, e *engine.Error, attempt int) error {
	spent := e.Kind == engine.KindBudget && e.Code == diag.BudgetExceeded
	if spent && attempt > 0 {
		e = t.cutOff(e)
	}
	if t.closes() && !t.Closing && spent {
		t.end.why = e
		return nil
	}
	return atModel(t.b.Run, t.Agent, req.Model, e)
}

// cutOff returns the error of an answer that a budget cut off, with its readable part.
func (t *conversation) cutOff(e *engine.Error) *engine.Error {
	own := *e
	if t.Thinking { // thoughts are not part of an answer
		own.Raw = ""
		return &own
	}
	if t.sk.output != nil && e.Raw != "" && e.Partial.IsNull() {
		if res, err := decode(t.b, t.sk.Out, e.Raw, ""); err == nil {
			own.Partial = res.Partial
		}
	}
	return &own
}

// lasting is run for a conversation that keeps tokens for a last answer.
func (t *conversation) lasting() (generable.Value, error) {
	k := &exec.Reservation{In: t.b.Budget, Outer: t.b.Reservation}
	t.Reservation, t.b.Reservation = k, k
	defer func() {
		t.b.Reservation = k.Outer
		t.b.Release(k)
	}()
	return t.run()
}

// answersAfter reports whether the agent gives a last answer after this refusal of a tool.
func answersAfter(a *agent.Spec, e *engine.Error) bool {
	return a.Budget.OnLimit == engine.OnLimitAnswer && e.Kind == engine.KindBudget && e.Code == diag.BudgetExceeded
}

// spentOn makes the next turn the last one if a budget refused calls of this turn.
func (t *conversation) spentOn(made []toolCall) {
	for i := range made {
		if f := made[i].failure; f != nil && answersAfter(t.Agent, f) {
			t.due, t.end.why = true, f
			return
		}
	}
}

// partial adds what the agent has produced to the error of a used-up budget.
func (t *conversation) partial(err error) error {
	e, ok := err.(*engine.Error)
	if !ok || e.Kind != engine.KindBudget {
		return err
	}
	own := *e
	own.Usage = t.usage
	if own.Raw == "" {
		own.Raw = model.TextIn(t.words)
	}
	return &own
}

// calledLast returns the error of a last answer that is a call: it says what ended the conversation, and that a last
// answer was requested.
func (t *conversation) calledLast(tool string) error {
	why := *engine.AsError(t.end.why)
	why.Message += fmt.Sprintf("; agent %q was asked for a last answer without tools, and called %q instead of answering", t.Agent.Name, tool)
	return &why
}

// warn reports when a conversation passes a threshold of a limit that it counts itself.
func (t *conversation) warn(r units.Resource, before, after, limit int64) {
	if !t.b.Wants(engine.EventBudget) {
		return
	}
	for _, part := range t.Agent.Budget.Thresholds() {
		if !exec.Passed(before, part, limit) && exec.Passed(after, part, limit) {
			t.news(event.BudgetThreshold, r, after, limit, part)
		}
	}
}

func (t *conversation) news(what event.BudgetWhat, r units.Resource, used, limit int64, part float64) {
	t.b.EmitBudget([]event.BudgetChange{{What: what, Budget: t.label(), Scope: t.b.Path(), Resource: units.Args[r],
		Used: units.InUnits(used, r), Limit: units.InUnits(limit, r), At: part}}, false)
}

func (t *conversation) label() string { return "the budget of agent " + strconv.Quote(t.Agent.Name) }

// shown returns the value of an output that is a picture, a list of pictures or a sound, if the answer contains it.
func shown(r *model.Response, out *generable.Type) (generable.Value, bool) {
	pictures, sounds := r.Pictures(), r.Sounds()
	switch {
	case out == model.ImageType && len(pictures) > 0:
		return model.ImageValue(pictures[0]), true
	case out.Kind == generable.ListType && out.Elem == model.ImageType && len(pictures) > 0:
		return generable.ListOf(text.Each(pictures, model.ImageValue)...), true
	case out == model.AudioType && len(sounds) > 0:
		return model.AudioValue(sounds[0], r.Text()), true
	}
	return generable.Value{}, false
}

// wordless returns the error of an answer that has only pictures or sounds where text is wanted, else nil.
func (t *conversation) wordless(r *model.Response) error {
	what, help := "", ""
	switch pictures, sounds := len(r.Pictures()), len(r.Sounds()); {
	case pictures > 0:
		what, help = text.CountInWords(pictures, "picture"), "say output = Image for a picture, or output = list[Image] for several; or ask for text"
	case sounds > 0:
		what, help = text.CountInWords(sounds, "sound"), "say output = Audio for what the model says aloud; or ask for text"
	default:
		return nil
	}
	return engine.Errorf(engine.KindSchema, diag.BadModelOutput, "the answer to agent %q is %s and no text, and its output is %s", t.Agent.Name, what, t.sk.Out).WithHelp("%s", help)
}
