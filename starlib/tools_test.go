package starlib_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// TestHostTools checks that a tool of the host is predeclared under its name, and runs as an effect.
func TestHostTools(t *testing.T) {
	params, _ := generable.NewSchema("search", "", []generable.Field{{Name: "q", Type: generable.StrT}})
	search := &agent.Tool{Name: "search", Doc: "Searches.", Params: params, Class: engine.ClassRead}
	m, found := loadWith(starlib.Options{Tools: []*agent.Tool{search}}, `main = agent(prompt = "Find.", tools = [search])`)
	if found != nil {
		t.Fatal(render(m, found))
	}
	turn := 0
	h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		if e.Kind == engine.EffectTool {
			return engine.Outcome{Attempt: 1, Value: generable.StrOf("found " + generable.JSON(e.Req.(*engine.ToolRequest).Args, nil))}
		}
		turn++
		req := e.Req.(*model.Request)
		if turn == 1 {
			return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishCalls,
				Parts: []model.Part{{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "search", Args: `{"q": "x"}`}}}}}
		}
		last := req.Messages[len(req.Messages)-1].Parts[0].Result.Text
		return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: last}}}}
	})
	out, err := exec(t, m, `"x"`, func(r *run.Spec) { r.Handler = h })
	if err != nil || generable.JSON(out, nil) != `"found {\"q\":\"x\"}"` {
		t.Errorf("got %s, %v", generable.JSON(out, nil), err)
	}
	if m, found := loadWith(starlib.Options{Tools: []*agent.Tool{search}}, `search = 3`); codes(found) != "AS206" {
		t.Errorf("got %s", render(m, found))
	}
}

// TestTools checks that a model can call a tool of the script, and gets its docstring and types.
func TestTools(t *testing.T) {
	m := sound(t, `
def compile(path = field(str, "which"), flags = [], strict = False):
    """Compiles one file.

    Args:
      path: not this, the field has a guide
      flags: extra flags
    """
    print("compiling", path)
    if strict:
        fail("too strict")
    return "compiled %s %s" % (path, flags)

main = agent(prompt = "Work.", tools = [compile, tool(lambda q = str: {"found": q}, name = "search")],
    skills = [skill("do", "Does", knowledge = {"style": knowledge("Voice", lambda: "be brief"), "tone": "kind"})])
`)
	var reqs []*model.Request
	calls := []model.ToolCall{
		{ID: "1", Name: "compile", Args: `{"path": "a.kt", "flags": ["-x"]}`},
		{ID: "2", Name: "search", Args: `{"q": "y"}`},
		{ID: "3", Name: "style", Args: ``},
		{ID: "4", Name: "compile", Args: `{"path": "b", "strict": true}`},
		{ID: "5", Name: "compile", Args: `{"paht": "b"}`},
		{ID: "6", Name: "tone", Args: `{}`},
	}
	h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req := e.Req.(*model.Request)
		reqs = append(reqs, req)
		resp := &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "done"}}}
		if len(reqs) == 1 {
			resp = &model.Response{Finish: model.FinishCalls}
			for i := range calls {
				resp.Parts = append(resp.Parts, model.Part{Kind: model.PartCall, Call: &calls[i]})
			}
		}
		return engine.Outcome{Attempt: 1, Response: resp}
	})
	out, err := exec(t, m, `"go"`, func(r *run.Spec) { r.Handler = h })
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := out.AsStr(); s != "done" {
		t.Errorf("got %q", s)
	}
	def := reqs[0].Tools[0]
	if def.Description != "Compiles one file." {
		t.Errorf("description %q", def.Description)
	}
	if got := def.Params.JSONSchema(); !strings.Contains(got, `"description": "which"`) || !strings.Contains(got, `"description": "extra flags"`) || strings.Count(got, `"default"`) != 2 {
		t.Errorf("schema %s", got)
	}
	var results []string
	for _, p := range reqs[1].Messages[len(reqs[1].Messages)-1].Parts {
		results = append(results, p.Result.Text)
	}
	want := []string{`compiled a.kt ["-x"]`, `{"found":"y"}`, "be brief", "error: too strict", "error: bad arguments", "kind"}
	for i := range want {
		if !strings.HasPrefix(results[i], want[i]) {
			t.Errorf("result %d is %q, want %q", i, results[i], want[i])
		}
	}
}
