package conversation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

func TestAgentDecodesItsAnswer(t *testing.T) {
	c := enginetest.Compose()
	point := enginetest.Schema(t, "Point", generable.Field{Name: "x", Type: generable.IntT}, generable.Field{Name: "label", Type: generable.StrT, Guide: "what it is called"})
	main := c.Agent(c.Site("agent", "locate"), &agent.Spec{Name: "locate", Out: point, Prompt: "Locate it."})
	c.Sound(t)
	a := &enginetest.Answers{Next: []model.Response{enginetest.Says("Sure!\n```json\n{\"x\": 3, \"label\": \"hall\",}\n```")}}
	out, err := enginetest.RunNode(t, main, a, "the hall")
	if err != nil || generable.JSON(out, nil) != `{"x":3,"label":"hall"}` {
		t.Fatalf("got %s, %v", generable.JSON(out, nil), err)
	}
	req := a.Seen[0]
	if !strings.HasPrefix(req.System, "Locate it.\n\n") || !strings.Contains(req.System, `"label"`) || !strings.Contains(req.System, "what it is called") {
		t.Errorf("the system text does not hold prompt and format:\n%s", req.System)
	}
	if req.Messages[0].Parts[0].Text != "the hall" || req.Output.Type != point {
		t.Errorf("request %+v", req)
	}
}

func TestBadAnswerIsAskedForAgain(t *testing.T) {
	point := enginetest.Schema(t, "Point", generable.Field{Name: "x", Type: generable.IntT})
	for _, repairs := range []int{0, 1} {
		c := enginetest.Compose()
		main := c.Agent(c.Site("agent", "locate"), &agent.Spec{Name: "locate", Out: point, Prompt: "Locate it.", Repairs: repairs})
		c.Sound(t)
		a := &enginetest.Answers{Next: []model.Response{enginetest.Says(`{"x": "north"}`), enginetest.Says(`{"x": 4}`)}}
		out, err := enginetest.RunNode(t, main, a, "?")
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
		if again := a.Seen[1].Messages; len(again) != 3 || !strings.Contains(again[2].Parts[0].Text, "x") {
			t.Errorf("the second request does not carry the mistake: %+v", again)
		}
	}
}

func TestOnBadOutput(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "count"), &agent.Spec{Name: "count", Out: generable.IntT, Prompt: "Count.",
		OnBadOutput: engine.GoFunc("bad", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			return generable.IntOf(int64(len(enginetest.Str(a[0])))), nil
		})})
	c.Sound(t)
	out, err := enginetest.RunNode(t, main, &enginetest.Answers{Next: []model.Response{enginetest.Says("many")}}, "?")
	if err != nil || enginetest.Int(out) != 4 {
		t.Fatalf("got %d, %v", enginetest.Int(out), err)
	}
}

func TestToolLoop(t *testing.T) {
	c := enginetest.Compose()
	params := enginetest.Schema(t, "mul", generable.Field{Name: "a", Type: generable.IntT}, generable.Field{Name: "b", Type: generable.IntT})
	mul := &agent.Tool{Name: "mul", Doc: "Multiplies.", Params: params, Returns: generable.IntT, Class: engine.ClassRead,
		Run: engine.GoFunc("mul", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			r, _ := args[0].AsRecord()
			a, _ := r.Get("a")
			b, _ := r.Get("b")
			if enginetest.Int(b) == 0 {
				return generable.Value{}, errors.New("b is zero")
			}
			return generable.IntOf(enginetest.Int(a) * enginetest.Int(b)), nil
		})}
	main := c.Agent(c.Site("agent", "calc"), &agent.Spec{Name: "calc", Prompt: "Compute.", Tools: []*agent.Tool{mul}})
	c.Sound(t)
	a := &enginetest.Answers{Next: []model.Response{
		enginetest.Calls("mul", `{"a": 2, "b": 3}`, "mul", `{"a": 1, "b": 0}`, "div", `{}`, "mul", `{"a": "x"}`),
		enginetest.Says("6"),
	}}
	out, err := enginetest.RunNode(t, main, a, "2*3")
	if err != nil || enginetest.Str(out) != "6" {
		t.Fatalf("got %q, %v", enginetest.Str(out), err)
	}
	results := a.Seen[1].Messages[2].Parts
	want := []struct {
		text   string
		failed bool
	}{{"6", false}, {"b is zero", true}, {`there is no tool "div"; the tools are: mul`, true}, {"bad arguments", true}}
	if len(results) != len(want) {
		t.Fatalf("%d results", len(results))
	}
	for i, w := range want {
		if r := results[i].Result; !strings.Contains(r.Text, w.text) || r.IsError != w.failed || r.CallID != a.Seen[1].Messages[1].Parts[i].Call.ID {
			t.Errorf("result %d is %+v, want %q", i, r, w.text)
		}
	}
}

func TestEndlessToolCallsEnd(t *testing.T) {
	c := enginetest.Compose()
	noop := &agent.Tool{Name: "noop", Params: enginetest.Schema(t, "noop"), Run: engine.GoFunc("noop", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.StrOf("again"), nil
	})}
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Go on.", Tools: []*agent.Tool{noop}, Budget: engine.Limits{Turns: engine.AtMost(3)}})
	c.Sound(t)
	n := 0
	h := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		n++
		r := enginetest.Calls("noop", "{}")
		return engine.Outcome{Response: &r, Attempt: 1}
	})
	if _, err := enginetest.RunNode(t, main, h, "x"); !errors.Is(err, engine.ErrBudget) || n != 3 {
		t.Errorf("%d model calls, error %v; want 3 and a budget error", n, err)
	}
}

func TestHostToolIsAnEffect(t *testing.T) {
	c := enginetest.Compose()
	params := enginetest.Schema(t, "weather", generable.Field{Name: "city", Type: generable.StrT})
	tool := agent.Tool{Name: "weather", Params: params, Returns: generable.StrT, Class: engine.ClassRead}
	main := c.Agent(c.Site("agent", "guide"), &agent.Spec{Name: "guide", Prompt: "Guide.", Tools: []*agent.Tool{&tool}})
	c.Sound(t)
	ran := 0
	host := &agent.HostTool{Tool: tool, Do: func(_ context.Context, call agent.ToolCallInfo, args generable.Value) (generable.Value, error) {
		ran++
		if !strings.HasPrefix(call.ID, "main/agent:guide#0/tool:weather#0@") || call.Agent != "guide" {
			t.Errorf("call %+v", call)
		}
		return generable.StrOf("rain"), nil
	}}
	model := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		r := enginetest.Calls("weather", `{"city":"Bergen"}`)
		if m := e.Req.(*model.Request).Messages; len(m) > 1 {
			r = enginetest.Says(m[2].Parts[0].Result.Text)
		}
		return engine.Outcome{Response: &r, Attempt: 1}
	})
	h := engine.Handlers{engine.EffectModel: model, engine.EffectTool: agent.HostTools{"weather": host}}
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h})
	if err != nil || enginetest.Str(out) != "rain" {
		t.Fatalf("got %q, %v", enginetest.Str(out), err)
	}
	if ran != 7 { // goroutines, virtual time and five seeds; both replays answer from the journal
		t.Errorf("the tool ran %d times", ran)
	}
}

func TestKnowledgeIsATool(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "writer"), &agent.Spec{Name: "writer", Prompt: "Write.", Skills: []*agent.Skill{{
		Name: "write", Doc: "Writes in the house style", Knowledge: []agent.Knowledge{{Key: "style", Doc: "Voice and tone", Text: "No adjectives."}}}}})
	c.Sound(t)
	a := &enginetest.Answers{Next: []model.Response{enginetest.Calls("style", ""), enginetest.Says("done")}}
	if _, err := enginetest.RunNode(t, main, a, "x"); err != nil {
		t.Fatal(err)
	}
	first, second := a.Seen[0], a.Seen[1]
	if strings.Contains(first.System, "No adjectives") || !strings.Contains(first.System, "Writes in the house style") || first.Tools[0].Name != "style" {
		t.Errorf("first request: %s, tools %v", first.System, first.Tools)
	}
	if got := second.Messages[2].Parts[0].Result.Text; got != "No adjectives." {
		t.Errorf("the tool gave %q", got)
	}
}

func TestAgentWithoutModel(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x")})
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != diag.NoModel || !strings.Contains(e.Help, "--scripted") {
		t.Errorf("got %#v", err)
	}
}

func TestAgentWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := enginetest.Compose()
		main := c.Agent(c.Site("agent", "slow"), &agent.Spec{Name: "slow", Prompt: "Think.", Budget: engine.Limits{Wall: time.Hour}})
		c.Sound(t)
		h := engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
			<-ctx.Done()
			return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))
		})
		if _, err := enginetest.RunNode(t, main, h, "x"); !errors.Is(err, engine.ErrBudget) {
			t.Errorf("got %v, want a budget error", err)
		}
	})
}

// An unfinished answer is an error, never passed on as an answer.
func TestUnfinishedAnswers(t *testing.T) {
	for finish, kind := range map[model.Finish]engine.ErrKind{model.FinishLength: engine.KindTruncated, model.FinishRefusal: engine.KindRefused, model.FinishFilter: engine.KindRefused} {
		c := enginetest.Compose()
		main := c.Prompted("a", generable.StrT, generable.StrT)
		c.Sound(t)
		r := enginetest.Says("half an ans")
		r.Finish = finish
		_, err := enginetest.RunNode(t, main, &enginetest.Answers{Next: []model.Response{r}}, "x")
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
		c := enginetest.Compose()
		main := c.Prompted("a", generable.StrT, generable.StrT)
		c.Sound(t)
		_, err := enginetest.RunNode(t, main, &enginetest.Answers{Next: []model.Response{enginetest.Says(text)}}, "x")
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindBadResponse {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What has already been tried is not proposed again.
func TestBadOutputHelpKnowsOfTheReask(t *testing.T) {
	for repairs, want := range map[int]string{0: "ask again with repairs = 1", 1: "asked again once"} {
		c := enginetest.Compose()
		main := c.Agent(c.Site("agent", "count"), &agent.Spec{Name: "count", Out: generable.IntT, Prompt: "Count.", Repairs: repairs})
		c.Sound(t)
		_, err := enginetest.RunNode(t, main, &enginetest.Answers{Next: []model.Response{enginetest.Says("many"), enginetest.Says("lots")}}, "x")
		var e *engine.Error
		if !errors.As(err, &e) || !strings.Contains(e.Help, want) {
			t.Errorf("repairs %d: %+v", repairs, e)
		}
	}
}
