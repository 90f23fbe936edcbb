package mock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/llm/mock"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
)

func schema(t *testing.T, name string, fields ...generable.Field) *generable.Type {
	t.Helper()
	typ, errs := generable.NewSchema(name, "", fields)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return typ
}

func ask(m *mock.Model, req *model.Request, sink engine.Sink) engine.Outcome {
	return m.Do(context.Background(), &engine.Effect{Kind: engine.EffectModel, Agent: "clerk", Req: req, Stream: sink != nil}, sink)
}

// An agent calls each allowed tool once after the user message, and then answers.
func TestTools(t *testing.T) {
	m := mock.New(mock.Options{})
	params := schema(t, "pay", generable.Field{Name: "amount", Type: generable.IntT}, generable.Field{Name: "to", Type: generable.StrT})
	req := &model.Request{Messages: []model.Message{model.TextMessage(model.RoleUser, "pay")}, Tools: []model.ToolDef{{Name: "pay", Params: params}, {Name: "look", Params: schema(t, "look")}}}
	out := ask(m, req, nil)
	calls := out.Response.Calls()
	if len(calls) != 2 || calls[0].Name != "pay" || !strings.Contains(calls[0].Args, `"to":"[mock] to of tool pay"`) || calls[1].Args != "{}" || out.Response.Finish != model.FinishCalls {
		t.Fatalf("%+v", calls)
	}
	only := *req
	only.Choice = model.ToolChoice{Mode: model.ChoiceTool, Tool: "look"}
	if calls := ask(m, &only, nil).Response.Calls(); len(calls) != 1 || calls[0].Name != "look" {
		t.Errorf("of one tool: %+v", calls)
	}
	next := req.Extend(model.Message{Role: model.RoleAssistant, Parts: out.Response.Parts}, model.Message{Role: model.RoleTool})
	said := ""
	if out := ask(m, next, func(k engine.Token) { said += k.Text }); out.Response.Text() != "[mock] clerk" || said != "[mock] clerk" || !out.Usage.Estimated {
		t.Errorf("%q, streamed %q", out.Response.Text(), said)
	}
	if calls := ask(m, next.Extend(model.TextMessage(model.RoleUser, "and again")), nil).Response.Calls(); len(calls) != 2 {
		t.Errorf("when the user speaks again: %+v", calls)
	}
}

// A request for thoughts asks for nothing new: the model does not repeat earlier calls.
func TestToolsBesideThoughts(t *testing.T) {
	m := mock.New(mock.Options{})
	said := func(text string) model.Message { return model.TextMessage(model.RoleUser, text) }
	thought := model.TextMessage(model.RoleAssistant, "hm")
	req := &model.Request{Messages: []model.Message{said("look"), said(model.ThoughtsPrompt), thought, said(model.ActPrompt)}, Tools: []model.ToolDef{{Name: "look", Params: schema(t, "look")}}}
	first := ask(m, req, nil).Response
	if len(first.Calls()) != 1 {
		t.Fatalf("%+v", first)
	}
	next := req.Extend(model.Message{Role: model.RoleAssistant, Parts: first.Parts}, model.Message{Role: model.RoleTool}, said(model.ThoughtsPrompt), thought, said(model.ActPrompt))
	if r := ask(m, next, nil).Response; len(r.Calls()) != 0 || r.Text() == "" {
		t.Errorf("called again: %+v", r)
	}
}

// A tool that may only be called after others is called once these have succeeded.
func TestToolsInTurn(t *testing.T) {
	none := schema(t, "none")
	req := &model.Request{Messages: []model.Message{model.TextMessage(model.RoleUser, "go")}, Tools: []model.ToolDef{
		{Name: "pay", Params: none, After: []string{"look", "ask"}}, {Name: "look", Params: none}, {Name: "ask", Params: none, After: []string{"look"}},
		{Name: "flee", Params: none, After: []string{"fail"}}, {Name: "fail", Params: none}}}
	var names []string
	for range 6 {
		r := ask(mock.New(mock.Options{}), req, nil).Response
		results := model.Message{Role: model.RoleTool}
		for _, c := range r.Calls() {
			names = append(names, c.Name)
			results.Parts = append(results.Parts, model.Part{Kind: model.PartResult, Result: &model.ToolResult{CallID: c.ID, Name: c.Name, IsError: c.Name == "fail"}})
		}
		req = req.Extend(model.Message{Role: model.RoleAssistant, Parts: r.Parts}, results)
	}
	if want := []string{"look", "fail", "ask", "pay"}; !slices.Equal(names, want) {
		t.Errorf("called %v, want %v", names, want)
	}
}

// A value that cannot be generated is an error that names the agent or tool, and the field.
func TestUnmet(t *testing.T) {
	never := &generable.Check{Says: "a prime", Holds: func(generable.Value) bool { return false }}
	typ := schema(t, "Order", generable.Field{Name: "total", Type: generable.IntT, Limits: &generable.Limits{Check: never}})
	user := []model.Message{model.TextMessage(model.RoleUser, "x")}
	for want, req := range map[string]*model.Request{
		`agent "clerk" cannot be mocked: total of clerk`:                  {Messages: user, Output: &model.Output{Type: typ}},
		`the arguments of tool "buy" cannot be mocked: total of tool buy`: {Messages: user, Tools: []model.ToolDef{{Name: "buy", Params: typ}}},
	} {
		if out := ask(mock.New(mock.Options{}), req, nil); out.Err == nil || out.Err.Code != diag.MockFailed || !strings.Contains(out.Err.Message, want) {
			t.Errorf("%v, want %q", out.Err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out := mock.New(mock.Options{}).Do(ctx, &engine.Effect{Kind: engine.EffectModel, Req: &model.Request{Messages: user}}, nil); !errors.Is(out.Err, context.Canceled) {
		t.Errorf("a cancelled call: %v", out.Err)
	}
}

// A tool that does more than read is answered with a value of its type and listed, unless Acts is set.
func TestStandIn(t *testing.T) {
	params := schema(t, "p")
	receipt := schema(t, "Receipt", generable.Field{Name: "id", Type: generable.StrT, Limits: &generable.Limits{Pattern: "^R-[0-9]{3}$"}})
	m, acting := mock.New(mock.Options{}), mock.New(mock.Options{Acts: true})
	for class, stands := range map[engine.Class]bool{engine.ClassRead: false, engine.ClassIdempotent: true, engine.ClassOnce: true, "": true} {
		tool := &agent.Tool{Name: "pay" + string(class), Params: params, Returns: receipt, Class: class}
		v, stood, err := m.StandIn(tool)
		if stood != stands || err != nil || stands && receipt.Conforms(v) != nil {
			t.Errorf("class %q: %s, %v, %v", class, generable.JSON(v, receipt), stood, err)
		}
		if _, stood, _ := acting.StandIn(tool); stood {
			t.Errorf("class %q stands in though it is to act", class)
		}
	}
	if !slices.Equal(m.Stood(), []string{"pay", "payidempotent", "payonce"}) {
		t.Errorf("stood in: %v", m.Stood())
	}
}

// The same applies to operations of the script, and to reads that are not granted.
func TestAround(t *testing.T) {
	made := 0
	granted := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		made++
		if e.Kind == engine.EffectEnv {
			return capability.Ungranted(capability.Use{Kind: e.Kind, Op: "get", Target: "HOME"})
		}
		return engine.Outcome{Value: generable.StrOf("real"), Attempt: 1}
	})
	m := mock.New(mock.Options{})
	for _, row := range []struct {
		kind     engine.EffectKind
		op       string
		class    engine.Class
		want     string
		attempts int
	}{
		{engine.EffectFS, "read", engine.ClassRead, `"real"`, 1},
		{engine.EffectFS, "write", engine.ClassIdempotent, `null`, 0},
		{engine.EffectEnv, "get", engine.ClassRead, `"[mock] the result of env.get"`, 1},
		{engine.EffectExec, "run", engine.ClassOnce, `"code":0`, 0},
		{engine.EffectHTTP, "post", engine.ClassOnce, `"status":200`, 0},
	} {
		made = 0
		e := &engine.Effect{Kind: row.kind, Class: row.class, Req: &capability.Request{Op: row.op, Args: generable.NewMap(0)}}
		if out := m.Around(granted).Do(t.Context(), e, nil); out.Err != nil || !strings.Contains(generable.JSON(out.Value, nil), row.want) || made != row.attempts {
			t.Errorf("%s.%s: %s, %v, made %d times", row.kind, row.op, generable.JSON(out.Value, nil), out.Err, made)
		}
	}
	if !slices.Equal(m.Stood(), []string{"env.get", "fs.write", "http.post", "sh.run"}) {
		t.Errorf("stood in: %v", m.Stood())
	}
	listing := &engine.Effect{Kind: engine.EffectMCP, Req: &remote.ListRequest{Server: &remote.Server{Name: "files"}}}
	for code, stands := range map[diag.Code]bool{diag.ServerNotGranted: true, diag.ServerTools: false} {
		failing := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
			return engine.Failed(engine.Errorf(engine.KindConfig, code, "no"))
		})
		for _, acts := range []bool{false, true} {
			m := mock.New(mock.Options{Acts: acts})
			if out := m.Around(failing).Do(t.Context(), listing, nil); (out.Err == nil) != (stands && !acts) || len(m.Stood()) > 0 != (out.Err == nil) {
				t.Errorf("a server that fails by %s: %v, %v", code, out.Err, m.Stood())
			}
		}
	}
	e := &engine.Effect{Kind: engine.EffectEnv, Class: engine.ClassRead, Req: &capability.Request{Op: "get", Args: generable.NewMap(0)}}
	if out := mock.New(mock.Options{Acts: true}).Around(granted).Do(t.Context(), e, nil); out.Err == nil || out.Err.Code != diag.UngrantedUse {
		t.Errorf("what is to act and is not granted: %+v", out)
	}
}
