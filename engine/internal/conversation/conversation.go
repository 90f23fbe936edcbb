package conversation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/engine/internal/ways"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Agent runs an agent once, within its budget.
func Agent(b *exec.Branch, p *Plan, v generable.Value) (generable.Value, error) {
	said := promptContext{b.Transcript, b.Instructions}
	b.Transcript, b.Instructions = exec.Transcript{}, nil
	agents, deepest := b.Agents, b.Deepest
	err := b.Nest(p.Spec)
	if err != nil {
		return v, err
	}
	if p.bounds || p.Spec.Budget.Wall > 0 {
		v, err = bounded(b, p, v, said)
	} else {
		v, err = skill(b, p, v, said)
	}
	b.Agents, b.Deepest = agents, deepest
	return v, err
}

// bounded runs the skill within the agent's own budget.
func bounded(b *exec.Branch, p *Plan, v generable.Value, said promptContext) (out generable.Value, err error) {
	a := p.Spec
	if p.bounds && (a.Budget.Name == "" || !b.Budget.Within(a.Budget.Name)) {
		outer := b.Budget
		own := exec.NewBudget(outer, b.At, a.Name, &a.Budget, false)
		b.Budget = own
		defer b.EndBudget(own, outer)
	}
	if a.Budget.Wall <= 0 {
		return skill(b, p, v, said)
	}
	err = b.AtWork(a.Budget.Wall, exec.OutOfTime(a.Name, a.Budget.Wall), func() error {
		out, err = skill(b, p, v, said)
		return err
	})
	return out, err
}

// skill runs the skill for an input, by its function or by a model.
func skill(b *exec.Branch, p *Plan, v generable.Value, said promptContext) (generable.Value, error) {
	sk, err := pickSkill(b, p, v, said)
	if err != nil {
		return v, err
	}
	if err := begins(b, sk); err != nil {
		return v, err
	}
	if sk.Run == nil {
		sk, err := withServers(b, sk)
		if err != nil {
			return v, err
		}
		t := &conversation{Dialogue: exec.Dialogue{Agent: sk.agent, Outer: b.Dialogue}, b: b, sk: sk, input: v, said: said}
		acting := b.EffectRank
		b.Dialogue, b.EffectRank = &t.Dialogue, 0 // its calls are judged by their own rules
		if t.begin(); t.closes() {
			v, err = t.lasting()
		} else {
			v, err = t.run()
		}
		b.Dialogue, b.EffectRank = t.Outer, acting
		return v, failed(b, sk.agent, err)
	}
	args := []generable.Value{v}
	if callback.SkillArity(sk.Run) == 2 {
		if !said.Inside {
			return v, unheard(sk.agent.Name)
		}
		args = append(args, said.Value())
	}
	out, err := b.Invoke(sk.Run, args...)
	if err != nil {
		return out, err
	}
	if out, err = exec.Converted(out, sk.Out, sk.agent.Name); err != nil {
		return out, err
	}
	return sk.give(out)
}

// promptContext is what an agent receives in addition to its input.
type promptContext struct {
	exec.Transcript
	instructions *exec.Instructions
}

// conversation is the conversation of one agent call.
type conversation struct {
	exec.Dialogue
	b     *exec.Branch
	sk    *skillPlan
	input generable.Value
	said  promptContext
	usage model.Usage
	made  int32         // tool calls
	asked int32         // how often the model was asked to correct its answer
	own   int32         // the index of the agent's own input in the messages, with a history
	due   bool          // the next turn is the last
	read  bool          // the last answer could be read as the output
	calls *exec.Tally   // counts each tool's calls, for positions; nil before the first
	stuck failureStreak // on a tool
	words []model.Part  // of the model's last answer
	same  repeatGuard
	end   ending
	ruled *ruledCalls // nil if no tool has rules

	reasoning *reasoning // nil: it has no reasoning turns
}

// run calls the model until an answer fits, or a budget ends.
func (t *conversation) run() (generable.Value, error) {
	req, err := t.request()
	if err != nil {
		return generable.Value{}, err
	}
	for ; ; t.Turn++ {
		if req, err = t.next(req); err == nil && t.Turn > 0 {
			req, err = t.compressed(req, int(t.Turn))
		}
		if err != nil {
			return generable.Value{}, t.stuck.explain(t.partial(err))
		}
		var resp *model.Response
		if req, resp, err = t.ask(t.thoughtful(req)); err != nil {
			return generable.Value{}, t.stuck.explain(t.partial(err))
		}
		if t.Thinking {
			req = t.thought(resp)
			continue
		}
		var next *model.Request
		var v generable.Value
		parts := resp.Parts
		if calls := resp.Calls(); len(calls) > 0 {
			next, err = t.called(req, parts, calls)
		} else {
			next, v, err = t.acceptAnswer(req, resp)
		}
		if t.said.instructions != nil && t.said.instructions.Continuation != nil {
			t.said.instructions.Continuation.Keep(t.sk, req, parts, next)
			t.said.instructions.Continuation.Own = int(t.own)
		}
		if next == nil {
			t.shares(req, parts, v, err)
			return v, t.stuck.explain(t.partial(err))
		}
		req = next
	}
}

// ask makes one model call, and returns the request that was finally made. A parked run waits here, so its frames are
// kept small.
func (t *conversation) ask(req *model.Request) (*model.Request, *model.Response, error) {
	if hooked(t.b, t.Agent) {
		return t.askHooked(req, int(t.Turn))
	}
	resp, err := t.askModel(req)
	if err == nil && resp == nil {
		return t.askLast(req, nil)
	}
	return req, resp, err
}

// askLast requests a last answer in place of a call that a budget refused. change applies to it as it did to that call.
func (t *conversation) askLast(req *model.Request, change func(*model.Request) (*model.Request, error)) (*model.Request, *model.Response, error) {
	if t.Thinking { // what is left of the budget is for the answer
		req = t.stopThinking()
	}
	req = t.close(req, t.end.why)
	made, err := req, error(nil)
	if change != nil {
		if made, err = change(req); err != nil {
			return req, nil, err
		}
	}
	resp, err := t.askModel(made)
	if err != nil && engine.AsError(err).Kind == engine.KindBudget {
		err = t.end.why
	}
	return req, resp, err
}

// askModel makes one model call as requested. If it returns neither a response nor an error, a budget refused the call,
// and a last answer must be requested.
func (t *conversation) askModel(req *model.Request) (*model.Response, error) {
	a := t.modelAsk()
	t.b.Observer = t.Agent.Observer
	out := t.b.Model(req, t.Agent.Name, int(t.Turn), &a)
	t.b.Observer = nil
	if out.Response != nil && !out.Value.IsNull() {
		read := *out.Response
		read.Read, out.Response = new(out.Value), &read
	}
	t.usage = t.usage.Add(out.Usage)
	if out.Err != nil {
		return nil, t.refused(req, out.Err, out.Attempt)
	}
	if t.Closing && t.end.why != nil { // the last answer continues after a budget's refusal
		t.b.WentOn(engine.AsError(t.end.why))
	}
	for i := range out.Response.Citations {
		t.b.Tell(engine.EventCitation, &event.Citation{Name: t.Agent.Name, Citation: &out.Response.Citations[i]})
	}
	if t.Seen = 0; !out.Usage.Estimated && out.Usage.In > 0 {
		t.Seen = int64(out.Usage.In) + int64(max(out.Usage.Out, 0))
	}
	if t.Thinking && !refusedToThink(out.Response) {
		return out.Response, nil
	}
	t.words = out.Response.Parts
	if r := out.Response; req.Choice.Mode == model.ChoiceNone && r.Finish == model.FinishStop {
		return r, nil // even if empty: a model that may not call tools any more may have said everything before
	}
	return out.Response, finished(out.Response, t.Agent.Name)
}

// atModel places an error in the name of a model where the script names it, and lists the aliases if the name is
// unknown.
func atModel(r *exec.Run, a *agent.Spec, asked string, e *engine.Error) error {
	if e.Code != diag.UnknownProvider {
		return e
	}
	own := *e
	if len(r.Spec.Aliases) > 0 && !strings.Contains(asked, "/") {
		known := slices.Sorted(maps.Keys(r.Spec.Aliases))
		own.Help = cmp.Or(diag.DidYouMean(asked, known), "the aliases are "+strings.Join(known, ", ")) + "; " + e.Help
	}
	if asked == r.Spec.Named(a.Model) && a.ModelSpan.IsValid() {
		own.Pos = a.ModelSpan.Pos
		own.Cause = &diag.Diagnostic{Code: e.Code, Message: e.Message, Span: a.ModelSpan, Cause: e.Cause}
	}
	return &own
}

// called makes the calls in an answer. A run whose call waits for a person is parked here, so the frames down to it are
// kept small.
func (t *conversation) called(req *model.Request, parts []model.Part, calls []*model.ToolCall) (*model.Request, error) {
	if t.Closing {
		return nil, t.calledLast(calls[0].Name)
	}
	results, err := t.tools(calls)
	if err != nil {
		return nil, err
	}
	t.reasoning.worked()
	return withPictures(withResults(req, parts, results), results), nil
}

//go:noinline
func withResults(r *model.Request, parts, results []model.Part) *model.Request {
	return r.Extend(model.Message{Role: model.RoleAssistant, Parts: parts}, model.Message{Role: model.RoleTool, Parts: results}).Called()
}

// acceptAnswer handles an answer without calls: it is the result, or it does not fit and the model is asked again.
// Without a next request the conversation is over.
func (t *conversation) acceptAnswer(req *model.Request, resp *model.Response) (next *model.Request, v generable.Value, err error) {
	text := resp.Text()
	if v, ok := shown(resp, t.sk.Out); ok {
		t.read = true
		v, err = t.sk.give(v)
		return nil, v, err
	}
	if strings.TrimSpace(text) == "" {
		if err := t.wordless(resp); err != nil {
			return nil, v, err
		}
	}
	if t.sk.output == nil {
		t.read = true
		v, err = t.sk.give(generable.StrOf(text))
		return nil, v, err
	}
	complaint := ""
	if resp.Read != nil {
		v = *resp.Read
	} else {
		v, complaint, err = t.decode(text, resp.Dialect)
	}
	if t.read = err == nil; t.read {
		v, err = t.sk.give(v)
		return nil, v, err
	}
	if complaint == "" { // another answer would not help
		return nil, v, err
	}
	if int(t.asked) >= t.Agent.Repairs || t.Closing {
		v, err = t.badOutput(text, err)
		return nil, v, err
	}
	t.asked++
	t.b.Tell(engine.EventRepair, &event.Repair{Name: t.Agent.Name, Text: "asked again: " + complaint})
	return req.Extend(model.Message{Role: model.RoleAssistant, Parts: resp.Parts}, model.TextMessage(model.RoleUser, complaint)), v, nil
}

// request returns the first turn's request.
func (t *conversation) request() (*model.Request, error) {
	system := t.sk.system
	switch brief := t.said.instructions; {
	case brief == nil:
	case brief.Continuation != nil && brief.Continuation.Request != nil:
		t.own = int32(brief.Continuation.Own)
		return t.compressed(brief.Continuation.Request, 0)
	case brief.System != nil:
		system = t.taught(*brief.System)
	}
	if t.Agent.Template != nil && (t.said.instructions == nil || t.said.instructions.System == nil) {
		text, err := t.Agent.Template.Render(t.input, t.Agent.In)
		if err != nil {
			return nil, engine.Errorf(engine.KindType, diag.UnknownPlaceholder, "%w", err)
		}
		system = strings.Trim(text+"\n\n"+system, "\n")
	}
	after := ""
	if t.said.Last != nil {
		after = "\n\n## Transcript\n\n" + t.said.Text()
	}
	asked, err := t.withTask(model.InputMessage(t.input, t.sk.In, after))
	if err != nil {
		return nil, err
	}
	m, fallbacks := modelFor(t.b.Run, t.Agent)
	req := &model.Request{
		Model: m, Fallbacks: fallbacks, Choice: t.Agent.Choice, System: system, Messages: asked,
		Tools: t.sk.defs, Output: t.sk.output, Params: t.Agent.Params,
	}
	req.CacheHead(&t.sk.head)
	if t.sk.History == nil {
		return req, nil
	}
	return t.continued(req)
}

// withTask returns the input's message and, if the agent has a task, the message with the task.
func (t *conversation) withTask(input []model.Message) ([]model.Message, error) {
	task := t.Agent.Task
	if t.Agent.TaskText != nil {
		var err error
		if task, err = t.Agent.TaskText.Render(t.input, t.Agent.In); err != nil {
			return nil, engine.Errorf(engine.KindType, diag.UnknownPlaceholder, "%w", err)
		}
	}
	switch {
	case task == "":
		return input, nil
	case len(input) == 1 && len(input[0].Parts) == 1 && input[0].Parts[0].Kind == model.PartText && input[0].Parts[0].Text == "":
		input = input[:0] // providers refuse a message without text, and the task says what to do
	}
	return append(input, model.TextMessage(model.RoleUser, task)), nil
}

// finished refuses incomplete, refused and empty answers. If an answer was cut off, so were its tool calls, even if
// they parse.
func finished(r *model.Response, agent string) error {
	switch r.Finish {
	case model.FinishLength:
		e := engine.Errorf(engine.KindTruncated, diag.ProviderError, "the answer to agent %q was cut off by the token limit", agent)
		e.Raw = r.Text()
		return e.WithHelp("raise max_tokens, or ask for less")
	case model.FinishRefusal, model.FinishFilter:
		e := engine.Errorf(engine.KindRefused, diag.ProviderError, "the model refused to answer agent %q (%s)", agent, r.Finish)
		e.Raw = r.Text()
		return e.WithHelp("see what it said, change the prompt, or use another model")
	}
	if len(r.Calls()) == 0 && strings.TrimSpace(r.Text()) == "" && len(r.Pictures()) == 0 && len(r.Sounds()) == 0 {
		return engine.Errorf(engine.KindBadResponse, diag.ProviderError, "the model returned an empty answer to agent %q", agent).
			WithHelp("say in the prompt what to answer when there is nothing to say, or use another model")
	}
	return nil
}

// decode reads an answer as the skill's output, in the form of the dialect's schema.
func (t *conversation) decode(text, form string) (generable.Value, string, error) {
	res, err := decode(t.b, t.sk.Out, text, form)
	if err != nil {
		return generable.Value{}, "", err
	}
	emitRepairs(t.b, res.Repairs)
	if res.OK {
		return res.Value, "", nil
	}
	e := engine.Errorf(engine.KindSchema, diag.BadModelOutput, "the answer to agent %q is no %s: %w", t.Agent.Name, t.sk.Out, res.Errors)
	e.Raw, e.Partial, e.Usage = text, res.Partial, t.usage
	return res.Value, res.Complaint(), e.WithHelp("%s", t.badOutputHelp())
}

func (t *conversation) badOutputHelp() string {
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
func (t *conversation) badOutput(raw string, cause error) (generable.Value, error) {
	if t.Agent.OnBadOutput == nil {
		return generable.Value{}, cause
	}
	t.b.Tell(engine.EventRoute, &event.Route{Of: t.Agent, From: t.Agent.Name, Way: ways.OnBadOutput})
	out, err := t.b.Invoke(t.Agent.OnBadOutput, generable.StrOf(raw))
	if err != nil {
		return out, err
	}
	return exec.Converted(out, t.Agent.Out, "on_bad_output of "+t.Agent.Name)
}

func (t *conversation) spent(n int64) error {
	e := engine.Errorf(engine.KindBudget, diag.BudgetExceeded, "agent %q returned no answer within %s", t.Agent.Name, text.CountInWords(int(n), "turn"))
	e.Usage = t.usage
	if t.reasoning != nil {
		return e.WithHelp("each of its thoughts takes a turn as well: raise budget(turns = ...) or reasoning_every")
	}
	if t.asked > 0 && t.made == 0 {
		return e.WithHelp("asking again for an answer that fits takes a turn as well: raise budget(turns = ...), or lower repairs")
	}
	return e.WithHelp("raise it with budget(turns = ...), or see in the events which tools it keeps calling")
}

// unheard returns the error of an agent that was called without the required transcript, where loading could not prove
// that.
func unheard(agent string) error {
	message, help := node.Unheard(agent)
	return engine.Errorf(engine.KindScript, diag.CallbackArity, "%s: its run takes two parameters", message).WithHelp("%s", help)
}

// modelFor returns an agent's model and fallbacks, with aliases resolved.
func modelFor(r *exec.Run, a *agent.Spec) (model string, fallbacks []string) {
	model, fallbacks = chosenFor(r, a)
	if len(r.Spec.Aliases) > 0 && len(fallbacks) > 0 {
		fallbacks = text.Each(fallbacks, r.Spec.Named)
	}
	return r.Spec.Named(model), fallbacks
}

// chosenFor returns the model named for an agent: the caller's for this agent, the caller's for all, the script's with
// its fallbacks, or the default. A router that names none uses its agent's.
func chosenFor(r *exec.Run, a *agent.Spec) (model string, fallbacks []string) {
	if m, ok := r.Spec.Models[a.Name]; ok {
		return m, nil
	}
	if !r.Spec.Overrides && a.Model != "" {
		return a.Model, a.Fallbacks
	}
	if a.Of != nil && a.Model == "" {
		return chosenFor(r, a.Of)
	}
	return r.Spec.Model, nil
}

// taught returns the system text that a teacher wrote, followed by the skill's own additions.
func (t *conversation) taught(text string) string {
	own := *t.Agent
	own.Prompt, own.Template = "", nil
	return strings.Trim(text+"\n\n"+own.SystemText(t.sk.Skill), "\n")
}
