package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// answers replies with one response after the other and keeps the requests.
type answers struct {
	mu   sync.Mutex
	next []model.Response
	seen []*model.Request
}

func (a *answers) Do(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, e.Req.(*model.Request))
	if len(a.next) == 0 {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.ScriptedModel, "no answer left"))
	}
	r := a.next[0]
	a.next = a.next[1:]
	return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
}

func says(text string) model.Response {
	return model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: text}}, Usage: model.Usage{In: 10, Out: 5}}
}

func calls(parts ...string) model.Response { // name, args, name, args, …
	r := model.Response{Finish: model.FinishCalls}
	for i := 0; i < len(parts); i += 2 {
		r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: parts[i] + string(rune('0'+i)), Name: parts[i], Args: parts[i+1]}})
	}
	return r
}

func schema(t *testing.T, name string, fields ...generable.Field) *generable.Type {
	t.Helper()
	s, errs := generable.NewSchema(name, "", fields)
	if errs != nil {
		t.Fatal(errs)
	}
	return s
}

func runNode(t *testing.T, main *flow.Node, h engine.Handler, in string) (generable.Value, error) {
	t.Helper()
	return run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf(in), Handler: h, Model: "test/model"})
}

func TestAgentDecodesItsAnswer(t *testing.T) {
	c := compose()
	point := schema(t, "Point", generable.Field{Name: "x", Type: intT}, generable.Field{Name: "label", Type: strT, Guide: "what it is called"})
	main := c.Agent(c.site("agent", "locate"), &agent.AgentSpec{Name: "locate", Out: point, Prompt: "Locate it."})
	c.sound(t)
	a := &answers{next: []model.Response{says("Sure!\n```json\n{\"x\": 3, \"label\": \"hall\",}\n```")}}
	out, err := runNode(t, main, a, "the hall")
	if err != nil || generable.JSON(out, nil) != `{"x":3,"label":"hall"}` {
		t.Fatalf("got %s, %v", generable.JSON(out, nil), err)
	}
	req := a.seen[0]
	if !strings.HasPrefix(req.System, "Locate it.\n\n") || !strings.Contains(req.System, `"label"`) || !strings.Contains(req.System, "what it is called") {
		t.Errorf("the system text does not hold prompt and format:\n%s", req.System)
	}
	if req.Messages[0].Parts[0].Text != "the hall" || req.Output.Type != point {
		t.Errorf("request %+v", req)
	}
}

func TestBadAnswerIsAskedForAgain(t *testing.T) {
	point := schema(t, "Point", generable.Field{Name: "x", Type: intT})
	for _, repairs := range []int{0, 1} {
		c := compose()
		main := c.Agent(c.site("agent", "locate"), &agent.AgentSpec{Name: "locate", Out: point, Prompt: "Locate it.", Repairs: repairs})
		c.sound(t)
		a := &answers{next: []model.Response{says(`{"x": "north"}`), says(`{"x": 4}`)}}
		out, err := runNode(t, main, a, "?")
		if repairs == 0 {
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != engine.KindSchema || e.Code != diag.BadModelOutput || e.Raw != `{"x": "north"}` || e.Usage.Out != 5 || !strings.Contains(e.Message, "x: want int") {
				t.Errorf("without repairs: %#v", err)
			}
			continue
		}
		if err != nil || generable.JSON(out, nil) != `{"x":4}` {
			t.Errorf("got %s, %v", generable.JSON(out, nil), err)
		}
		if again := a.seen[1].Messages; len(again) != 3 || !strings.Contains(again[2].Parts[0].Text, "x") {
			t.Errorf("the second request does not carry the mistake: %+v", again)
		}
	}
}

func TestOnBadOutput(t *testing.T) {
	c := compose()
	main := c.Agent(c.site("agent", "count"), &agent.AgentSpec{Name: "count", Out: intT, Prompt: "Count.",
		OnBadOutput: engine.GoFunc("bad", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			return generable.IntOf(int64(len(str(a[0])))), nil
		})})
	c.sound(t)
	out, err := runNode(t, main, &answers{next: []model.Response{says("many")}}, "?")
	if err != nil || integer(out) != 4 {
		t.Fatalf("got %d, %v", integer(out), err)
	}
}

func TestToolLoop(t *testing.T) {
	c := compose()
	params := schema(t, "mul", generable.Field{Name: "a", Type: intT}, generable.Field{Name: "b", Type: intT})
	mul := &agent.Tool{Name: "mul", Doc: "Multiplies.", Params: params, Returns: intT, Class: engine.ClassRead,
		Run: engine.GoFunc("mul", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			r, _ := args[0].AsRecord()
			a, _ := r.Get("a")
			b, _ := r.Get("b")
			if integer(b) == 0 {
				return generable.Value{}, errors.New("b is zero")
			}
			return generable.IntOf(integer(a) * integer(b)), nil
		})}
	main := c.Agent(c.site("agent", "calc"), &agent.AgentSpec{Name: "calc", Prompt: "Compute.", Tools: []*agent.Tool{mul}})
	c.sound(t)
	a := &answers{next: []model.Response{
		calls("mul", `{"a": 2, "b": 3}`, "mul", `{"a": 1, "b": 0}`, "div", `{}`, "mul", `{"a": "x"}`),
		says("6"),
	}}
	out, err := runNode(t, main, a, "2*3")
	if err != nil || str(out) != "6" {
		t.Fatalf("got %q, %v", str(out), err)
	}
	results := a.seen[1].Messages[2].Parts
	want := []struct {
		text   string
		failed bool
	}{{"6", false}, {"b is zero", true}, {`there is no tool "div"; the tools are: mul`, true}, {"bad arguments", true}}
	if len(results) != len(want) {
		t.Fatalf("%d results", len(results))
	}
	for i, w := range want {
		if r := results[i].Result; !strings.Contains(r.Text, w.text) || r.IsError != w.failed || r.CallID != a.seen[1].Messages[1].Parts[i].Call.ID {
			t.Errorf("result %d is %+v, want %q", i, r, w.text)
		}
	}
}

func TestEndlessToolCallsEnd(t *testing.T) {
	c := compose()
	noop := &agent.Tool{Name: "noop", Params: schema(t, "noop"), Run: engine.GoFunc("noop", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.StrOf("again"), nil
	})}
	main := c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", Prompt: "Go on.", Tools: []*agent.Tool{noop}, Budget: engine.Limits{Turns: engine.AtMost(3)}})
	c.sound(t)
	n := 0
	h := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		n++
		r := calls("noop", "{}")
		return engine.Outcome{Response: &r, Attempt: 1}
	})
	if _, err := runNode(t, main, h, "x"); !errors.Is(err, engine.ErrBudget) || n != 3 {
		t.Errorf("%d model calls, error %v; want 3 and a budget error", n, err)
	}
}

func TestHostToolIsAnEffect(t *testing.T) {
	c := compose()
	params := schema(t, "weather", generable.Field{Name: "city", Type: strT})
	tool := agent.Tool{Name: "weather", Params: params, Returns: strT, Class: engine.ClassRead}
	main := c.Agent(c.site("agent", "guide"), &agent.AgentSpec{Name: "guide", Prompt: "Guide.", Tools: []*agent.Tool{&tool}})
	c.sound(t)
	ran := 0
	host := &agent.HostTool{Tool: tool, Do: func(_ context.Context, call engine.ToolCallInfo, args generable.Value) (generable.Value, error) {
		ran++
		if !strings.HasPrefix(call.ID, "main/agent:guide#0/tool:weather#0@") || call.Agent != "guide" {
			t.Errorf("call %+v", call)
		}
		return generable.StrOf("rain"), nil
	}}
	model := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		r := calls("weather", `{"city":"Bergen"}`)
		if m := e.Req.(*model.Request).Messages; len(m) > 1 {
			r = says(m[2].Parts[0].Result.Text)
		}
		return engine.Outcome{Response: &r, Attempt: 1}
	})
	h := engine.Handlers{engine.EffectModel: model, engine.EffectTool: agent.HostTools{"weather": host}}
	out, err := everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h})
	if err != nil || str(out) != "rain" {
		t.Fatalf("got %q, %v", str(out), err)
	}
	if ran != 6 { // goroutines and five seeds; both replays answer from the journal
		t.Errorf("the tool ran %d times", ran)
	}
}

func TestKnowledgeIsATool(t *testing.T) {
	c := compose()
	main := c.Agent(c.site("agent", "writer"), &agent.AgentSpec{Name: "writer", Prompt: "Write.", Skills: []*agent.Skill{{
		Name: "write", Doc: "Writes in the house style", Knowledge: []agent.Knowledge{{Key: "style", Doc: "Voice and tone", Text: "No adjectives."}}}}})
	c.sound(t)
	a := &answers{next: []model.Response{calls("style", ""), says("done")}}
	if _, err := runNode(t, main, a, "x"); err != nil {
		t.Fatal(err)
	}
	first, second := a.seen[0], a.seen[1]
	if strings.Contains(first.System, "No adjectives") || !strings.Contains(first.System, "Writes in the house style") || first.Tools[0].Name != "style" {
		t.Errorf("first request: %s, tools %v", first.System, first.Tools)
	}
	if got := second.Messages[2].Parts[0].Result.Text; got != "No adjectives." {
		t.Errorf("the tool gave %q", got)
	}
}

func TestAgentWithoutModel(t *testing.T) {
	c := compose()
	main := c.prompted("a", strT, strT)
	c.sound(t)
	_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x")})
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != diag.NoModel || !strings.Contains(e.Help, "--scripted") {
		t.Errorf("got %#v", err)
	}
}

func TestAgentWallTime(t *testing.T) {
	c := compose()
	main := c.Agent(c.site("agent", "slow"), &agent.AgentSpec{Name: "slow", Prompt: "Think.", Budget: engine.Limits{Wall: 20 * time.Millisecond}})
	c.sound(t)
	h := engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
		<-ctx.Done()
		return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))
	})
	if _, err := runNode(t, main, h, "x"); !errors.Is(err, engine.ErrBudget) {
		t.Errorf("got %v, want a budget error", err)
	}
}

// What a model cannot finish is told, never passed on as an answer.
func TestUnfinishedAnswers(t *testing.T) {
	for finish, kind := range map[model.Finish]engine.ErrKind{model.FinishLength: engine.KindTruncated, model.FinishRefusal: engine.KindRefused, model.FinishFilter: engine.KindRefused} {
		c := compose()
		main := c.prompted("a", strT, strT)
		c.sound(t)
		r := says("half an ans")
		r.Finish = finish
		_, err := runNode(t, main, &answers{next: []model.Response{r}}, "x")
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != kind || e.Raw != "half an ans" {
			t.Errorf("%s: %#v", finish, err)
		}
	}
}

func TestRequestDigestsChain(t *testing.T) {
	base := func() *model.Request {
		return &model.Request{Model: "a/b", System: "s", Messages: []model.Message{model.TextMessage(model.RoleUser, "hi")}}
	}
	grown := base().Extend(model.TextMessage(model.RoleAssistant, "x"), model.TextMessage(model.RoleUser, "y"))
	whole := base()
	whole.Messages = append(whole.Messages, model.TextMessage(model.RoleAssistant, "x"), model.TextMessage(model.RoleUser, "y"))
	if grown.Digest() != whole.Digest() {
		t.Error("a grown conversation and the same one built at once differ")
	}
	if base().Digest() == grown.Digest() {
		t.Error("a longer conversation has the same digest")
	}
	other := base()
	other.Params.Temperature = new(0.0)
	if other.Digest() == base().Digest() {
		t.Error("temperature 0 and unset have the same digest")
	}
}

func TestEmptyAnswerIsAnError(t *testing.T) {
	for _, text := range []string{"", " \n"} {
		c := compose()
		main := c.prompted("a", strT, strT)
		c.sound(t)
		_, err := runNode(t, main, &answers{next: []model.Response{says(text)}}, "x")
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindBadResponse {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What has been tried already is not proposed again.
func TestBadOutputHelpKnowsOfTheReask(t *testing.T) {
	for repairs, want := range map[int]string{0: "ask again with repairs = 1", 1: "asked again once"} {
		c := compose()
		main := c.Agent(c.site("agent", "count"), &agent.AgentSpec{Name: "count", Out: intT, Prompt: "Count.", Repairs: repairs})
		c.sound(t)
		_, err := runNode(t, main, &answers{next: []model.Response{says("many"), says("lots")}}, "x")
		var e *engine.Error
		if !errors.As(err, &e) || !strings.Contains(e.Help, want) {
			t.Errorf("repairs %d: %+v", repairs, e)
		}
	}
}

func TestConditionsAloneDoNotCoverABranch(t *testing.T) {
	yes := engine.GoFunc("yes", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.BoolOf(true), nil })
	for _, otherwise := range []bool{false, true} {
		c := compose()
		o := flow.BranchOptions{}
		if otherwise {
			o.Otherwise = c.str()
		}
		c.Branch(c.site("branch", ""), c.str(), []flow.Route{{When: yes, Handler: c.str()}}, o)
		if got := len(c.codes()); got != map[bool]int{false: 1, true: 0}[otherwise] {
			t.Errorf("otherwise %v: reported %v", otherwise, c.codes())
		}
	}
}

func TestPickWithADeclaredInput(t *testing.T) {
	c := compose()
	doc := schema(t, "Doc", generable.Field{Name: "title", Type: strT})
	if n := c.Pick(c.site("pick", ""), "title", doc); n.In() != doc || n.Out().Kind != generable.StrType || n.Failed() {
		t.Errorf("%s -> %s", n.In(), n.Out())
	}
	if n := c.Pick(c.site("pick", ""), "titel", doc); !n.Failed() {
		t.Error("a field that is not there is picked")
	}
	if got := c.codes(); len(got) != 1 || got[0] != "AS311" {
		t.Errorf("reported %v", got)
	}
}
