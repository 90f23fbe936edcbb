package engine

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// agent runs an agent once, within its budget.
func (b *branch) agent(p *agentPlan, v generable.Value) (generable.Value, error) {
	said := told{b.heard, b.brief}
	b.heard, b.brief = hearing{}, nil
	agents, deepest := b.agents, b.deepest
	err := b.nest(p.spec)
	if err != nil {
		return v, err
	}
	if p.bounds || p.spec.Budget.Wall > 0 {
		v, err = b.bounded(p, v, said)
	} else {
		v, err = b.skill(p, v, said)
	}
	b.agents, b.deepest = agents, deepest
	return v, err
}

// bounded is skill within the agent's own budget.
func (b *branch) bounded(p *agentPlan, v generable.Value, said told) (out generable.Value, err error) {
	a := p.spec
	if p.bounds && (a.Budget.Name == "" || !b.budget.within(a.Budget.Name)) {
		outer := b.budget
		b.budget = newBudget(outer, b.at, a.Name, &a.Budget, false)
		defer func() { b.budget = outer }()
	}
	if a.Budget.Wall <= 0 {
		return b.skill(p, v, said)
	}
	err = b.within(a.Budget.Wall, outOfTime(a.Name, a.Budget.Wall), func() error {
		out, err = b.skill(p, v, said)
		return err
	})
	return out, err
}

// skill carries out the skill for an input, by its function or by a model.
func (b *branch) skill(p *agentPlan, v generable.Value, said told) (generable.Value, error) {
	sk, err := b.pickSkill(p, v, said)
	if err != nil {
		return v, err
	}
	if err := b.begins(sk); err != nil {
		return v, err
	}
	if sk.Run == nil {
		sk, err := b.withServers(sk)
		if err != nil {
			return v, err
		}
		t := &turns{dialogue: dialogue{a: sk.agent, outer: b.inside}, b: b, sk: sk, input: v, said: said}
		acting := b.acting
		b.inside, b.acting = &t.dialogue, 0 // its calls are ruled by themselves
		if t.begin(); t.closes() {
			v, err = t.lasting()
		} else {
			v, err = t.run()
		}
		b.inside, b.acting = t.outer, acting
		return v, b.failed(sk.agent, err)
	}
	args := []generable.Value{v}
	if runArity(sk.Run) == 2 {
		if !said.inside {
			return v, unheard(sk.agent.Name)
		}
		args = append(args, said.value())
	}
	out, err := b.invoke(sk.Run, args...)
	if err != nil {
		return out, err
	}
	if out, err = converted(out, sk.Out, sk.agent.Name); err != nil {
		return out, err
	}
	return sk.give(out)
}

// told is what an agent is told beside its input.
type told struct {
	hearing
	brief *brief
}

// turns is the conversation of one agent call.
type turns struct {
	dialogue
	b     *branch
	sk    *skillPlan
	input generable.Value
	said  told
	usage Usage
	made  int32  // tool calls
	asked int32  // how often the model was asked again
	calls *tally // of each tool, for positions; nil before the first
	stuck stuck  // on a tool
	words []Part // of the model's last answer
	same  repeated
	end   ending
	ruled *ruledCalls // nil as long as no tool has rules
	own   int         // where in the messages the agent's own input stands, of a history
}

// run talks to the model until it gives an answer that fits, or a budget ends.
func (t *turns) run() (generable.Value, error) {
	req, err := t.request()
	if err != nil {
		return generable.Value{}, err
	}
	for ; ; t.turn++ {
		if req, err = t.next(req); err == nil && t.turn > 0 {
			req, err = t.compressed(req, int(t.turn))
		}
		if err != nil {
			return generable.Value{}, t.stuck.tell(t.partial(err))
		}
		var resp *Response
		if req, resp, err = t.ask(req); err != nil {
			return generable.Value{}, t.stuck.tell(t.partial(err))
		}
		var next *Request
		var v generable.Value
		parts := resp.Parts
		if calls := resp.Calls(); len(calls) > 0 {
			next, err = t.called(req, parts, calls)
		} else {
			next, v, err = t.take(req, resp)
		}
		if t.said.brief != nil && t.said.brief.talk != nil {
			t.said.brief.talk.keep(t.sk, req, parts, next)
			t.said.brief.talk.own = t.own
		}
		if next == nil {
			t.shares(req, parts, err)
			return v, t.stuck.tell(t.partial(err))
		}
		req = next
	}
}

// ask makes one model call, and gives the request that was made in the end. A run that is parked stands
// here, so its frames are kept small.
func (t *turns) ask(req *Request) (*Request, *Response, error) {
	if t.b.hooked(t.a) {
		return t.askHooked(req, int(t.turn))
	}
	resp, err := t.askModel(req)
	if err == nil && resp == nil {
		return t.askLast(req, nil)
	}
	return req, resp, err
}

// askLast asks for a last answer instead of a call that a budget refused, changed as that was to be.
func (t *turns) askLast(req *Request, change func(*Request) (*Request, error)) (*Request, *Response, error) {
	req = t.close(req, t.end.why)
	made, err := req, error(nil)
	if change != nil {
		if made, err = change(req); err != nil {
			return req, nil, err
		}
	}
	resp, err := t.askModel(made)
	if err != nil && asError(err).Kind == KindBudget {
		err = t.end.why
	}
	return req, resp, err
}

// askModel makes one model call as it is asked for. Without a response and an error a budget refused it,
// and a last answer is to be asked for.
func (t *turns) askModel(req *Request) (*Response, error) {
	a := t.claim()
	t.b.onlooker = t.a.Onlooker
	out := t.b.model(req, t.a.Name, int(t.turn), &a)
	t.b.onlooker = nil
	t.usage = t.usage.Add(out.Usage)
	if out.Err != nil {
		return nil, t.refused(req, out.Err, out.Attempt)
	}
	t.words, t.seen = out.Response.Parts, 0
	if !out.Usage.Estimated && out.Usage.In > 0 {
		t.seen = int64(out.Usage.In) + int64(max(out.Usage.Out, 0))
	}
	return out.Response, finished(out.Response, t.a.Name)
}

// atModel puts what is wrong with the name of a model where the script gives it.
func (a *AgentSpec) atModel(asked string, e *Error) error {
	if e.Code != diag.UnknownProvider || asked != a.Model || !a.ModelSpan.IsValid() {
		return e
	}
	own := *e
	own.Pos = a.ModelSpan.Pos
	own.Cause = &diag.Diagnostic{Code: e.Code, Message: e.Message, Span: a.ModelSpan, Cause: e.Cause}
	return &own
}

// called makes the calls that an answer asks for. A run whose call waits for a person stands here, so
// the frames down to there are kept small.
func (t *turns) called(req *Request, parts []Part, calls []*ToolCall) (*Request, error) {
	if t.closing {
		return nil, t.calledLast(calls[0].Name)
	}
	results, err := t.tools(calls)
	if err != nil {
		return nil, err
	}
	return withPictures(req.withResults(parts, results), results), nil
}

//go:noinline
func (r *Request) withResults(parts, results []Part) *Request {
	return r.Extend(Message{Role: RoleAssistant, Parts: parts}, Message{Role: RoleTool, Parts: results}).called()
}

// take does what an answer without calls comes to: it is the result, or it does not fit and is asked
// for again. Without a next request the conversation is over.
func (t *turns) take(req *Request, resp *Response) (next *Request, v generable.Value, err error) {
	text := resp.Text()
	if t.sk.output == nil {
		v, err = t.sk.give(generable.StrOf(text))
		return nil, v, err
	}
	v, complaint, err := t.decode(text, resp.Dialect)
	if err == nil {
		v, err = t.sk.give(v)
		return nil, v, err
	}
	if complaint == "" { // no other answer would do
		return nil, v, err
	}
	if int(t.asked) >= t.a.Repairs || t.closing {
		v, err = t.badOutput(text, err)
		return nil, v, err
	}
	t.asked++
	if t.b.Wants(EventRepair) {
		t.b.emit(Event{Kind: EventRepair, Data: &RepairData{Name: t.a.Name, Text: "asked again: " + complaint}})
	}
	return req.Extend(Message{Role: RoleAssistant, Parts: resp.Parts}, TextMessage(RoleUser, complaint)), v, nil
}

// request is the first turn's request.
func (t *turns) request() (*Request, error) {
	system := t.sk.system
	switch brief := t.said.brief; {
	case brief == nil:
	case brief.talk != nil && brief.talk.request != nil:
		t.own = brief.talk.own
		return t.compressed(brief.talk.request, 0)
	case brief.system != nil:
		system = t.taught(*brief.system)
	}
	if t.a.Template != nil && (t.said.brief == nil || t.said.brief.system == nil) {
		text, err := t.a.Template.Render(t.input, t.a.In)
		if err != nil {
			return nil, Errorf(KindType, diag.UnknownPlaceholder, "%w", err)
		}
		system = strings.Trim(text+"\n\n"+system, "\n")
	}
	after := ""
	if t.said.last != nil {
		after = "\n\n## Transcript\n\n" + t.said.text()
	}
	user := Message{Role: RoleUser, Parts: inputParts(t.input, t.sk.In, after)}
	model, fallbacks := t.b.run.modelFor(t.a)
	req := &Request{
		Model: model, Fallbacks: fallbacks, Choice: t.a.Choice, System: system, Messages: []Message{user},
		Tools: t.sk.defs, Output: t.sk.output, Params: t.a.Params,
	}
	req.cacheHead(&t.sk.head)
	if t.sk.history == nil {
		return req, nil
	}
	return t.continued(req)
}

// finished refuses answers that are none. Tool calls of an answer that was cut off are cut
// off as well, though they may parse.
func finished(r *Response, agent string) error {
	switch r.Finish {
	case FinishLength:
		e := Errorf(KindTruncated, diag.ProviderError, "the answer to agent %q was cut off by the token limit", agent)
		e.Raw = r.Text()
		return e.WithHelp("raise max_tokens, or ask for less")
	case FinishRefusal, FinishFilter:
		e := Errorf(KindRefused, diag.ProviderError, "the model refused to answer agent %q (%s)", agent, r.Finish)
		e.Raw = r.Text()
		return e.WithHelp("see what it said, change the prompt, or use another model")
	}
	if len(r.Calls()) == 0 && strings.TrimSpace(r.Text()) == "" {
		return Errorf(KindBadResponse, diag.ProviderError, "the model gave agent %q an empty answer", agent).
			WithHelp("say in the prompt what to answer when there is nothing to say, or use another model")
	}
	return nil
}

// decode reads an answer, in the form that a schema of the dialect gave it, as the skill's
// output.
func (t *turns) decode(text, form string) (generable.Value, string, error) {
	res, err := t.b.decode(t.sk.Out, text, form)
	if err != nil {
		return generable.Value{}, "", err
	}
	t.b.tellRepairs(res.Repairs)
	if res.OK {
		return res.Value, "", nil
	}
	e := Errorf(KindSchema, diag.BadModelOutput, "the answer to agent %q is no %s: %w", t.a.Name, t.sk.Out, res.Errors)
	e.Raw, e.Partial, e.Usage = text, res.Partial, t.usage
	return res.Value, res.Complaint(), e.WithHelp("%s", t.badOutputHelp())
}

func (t *turns) badOutputHelp() string {
	if t.asked == 0 {
		return "ask again with repairs = 1, or set on_bad_output"
	}
	return fmt.Sprintf("it was asked again %s: say in the prompt what is wanted, raise repairs, or set on_bad_output", times(int(t.asked)))
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// badOutput is the last resort for an answer that does not fit.
func (t *turns) badOutput(raw string, cause error) (generable.Value, error) {
	if t.a.OnBadOutput == nil {
		return generable.Value{}, cause
	}
	out, err := t.b.invoke(t.a.OnBadOutput, generable.StrOf(raw))
	if err != nil {
		return out, err
	}
	return converted(out, t.a.Out, "on_bad_output of "+t.a.Name)
}

func (t *turns) spent(n int64) error {
	e := Errorf(KindBudget, diag.BudgetExceeded, "agent %q gave no answer within %s", t.a.Name, text.CountInWords(int(n), "turn"))
	e.Usage = t.usage
	if t.asked > 0 && t.made == 0 {
		return e.WithHelp("asking again for an answer that fits takes a turn as well: raise budget(turns = ...), or lower repairs")
	}
	return e.WithHelp("raise it with budget(turns = ...), or see in the events which tools it keeps calling")
}

// unheard is the failure of an agent that was called where nothing could be proven before.
func unheard(agent string) error {
	message, help := Unheard(agent)
	return Errorf(KindScript, diag.CallbackArity, "%s: its run takes two parameters", message).WithHelp("%s", help)
}
