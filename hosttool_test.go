package agentscript_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// What a host says of a tool, that its results are text from outside and when it may be called, a script
// can make stricter and not take away.
func TestScriptsKeepTheRulesOfHosts(t *testing.T) {
	text := func(context.Context, engine.ToolCallInfo, generable.Value) (generable.Value, error) {
		return generable.StrOf("text"), nil
	}
	tools := func(name string, rules *agent.ToolRules) agentscript.Option {
		return agentscript.WithTool(agent.HostTool{Tool: agent.Tool{Name: name, Doc: "D.", Returns: generable.StrT, Untrusted: true, Rules: rules}, Do: text})
	}
	for tool, wants := range map[string][]string{
		`look`:                                          {`"trusted": false`, "may be called once"},
		`tool(look, untrusted = False, max = 5)`:        {`"trusted": false`, "may be called once"},
		`never`:                                         {"not on a Sunday", "not on a Sunday"},
		`tool(never, forbidden = "do")`:                 {"not on a Sunday", "not on a Sunday"},
		`tool(later, only_after = ["look"])`:            {`only after "login"`, `only after "login"`},
		`tool(often, max = 1)`:                          {`"trusted": false`, "may be called once"},
		`tool(tool(often, max = 1), max = 2)`:           {`"trusted": false`, "may be called once"},
		`tool(often, untrusted = True, timeout = "1m")`: {`"trusted": false`, `"trusted": false`},
	} {
		name := strings.Trim(strings.NewReplacer("tool(", "", ")", "").Replace(strings.SplitN(tool, ",", 2)[0]), " ")
		var told []string
		models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			last := e.Req.(*model.Request).Messages[len(e.Req.(*model.Request).Messages)-1]
			for _, p := range last.Parts {
				if p.Result != nil {
					told = append(told, p.Result.Text)
				}
			}
			part, finish := model.Part{Kind: model.PartText, Text: "end"}, model.FinishStop
			if len(told) < 2 {
				part, finish = model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: name, Args: "{}"}}, model.FinishCalls
			}
			return engine.Outcome{Response: &model.Response{Finish: finish, Parts: []model.Part{part}}}
		})
		eng := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/x"), tools("login", nil), tools("often", nil),
			tools("look", &agent.ToolRules{Max: 1}), tools("never", &agent.ToolRules{Forbidden: "not on a Sunday"}), tools("later", &agent.ToolRules{OnlyAfter: []string{"login"}}))
		more := "login"
		if name != "look" {
			more += ", look"
		}
		mod, err := eng.Load(t.Context(), script("main = agent(prompt = \"A.\", tools = ["+more+", "+tool+"])\n"), "flow.star")
		if err != nil {
			t.Errorf("%s: %v", tool, err)
			continue
		}
		if _, err := mod.Start(t.Context(), agentscript.InputText("x")).Wait(); err != nil || len(told) != len(wants) {
			t.Errorf("%s: %v, told %q", tool, err, told)
			continue
		}
		for i, want := range wants {
			if !strings.Contains(told[i], want) {
				t.Errorf("%s: told %q, want %q", tool, told[i], want)
			}
		}
	}
}
