package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

// TestMistralTurns: Mistral's models, whoever serves them, refuse a user's turn after results of tools. A model's turn
// is inserted there, and nowhere else.
func TestMistralTurns(t *testing.T) {
	call := model.Message{Role: model.RoleAssistant, Parts: []model.Part{callPart("call_a", "now", "{}")}}
	result := model.Message{Role: model.RoleTool, Parts: []model.Part{resultPart("call_a", "now", "noon")}}
	user := model.TextMessage(model.RoleUser, "Answer now.")
	for mo, bridged := range map[string]bool{
		"mistral/anything": true, "openrouter/mistralai/Devstral-small": true, "compat/org/Ministral-8b": true,
		"openrouter/x/y": false, "compat/org/qwen3": false, "openai/gpt-5": false, "deepseek/deepseek-chat": false,
	} {
		for want, conversation := range map[string][]model.Message{
			"user assistant tool assistant user":                {user, call, result, user},
			"user assistant tool assistant tool assistant user": {user, call, result, call, result, user},
			"user assistant tool":                               {user, call, result},
			"user assistant tool assistant user assistant user": {user, call, result, model.TextMessage(model.RoleAssistant, "Noon."), user, model.TextMessage(model.RoleAssistant, "Yes."), user},
			"user assistant tool assistant user user":           {user, call, result, user, user},
			"user assistant tool assistant user assistant tool": {user, call, result, user, call, result},
			"user user": {user, user},
			"user assistant tool assistant user (said by the one)": {user, call, result, model.TextMessage(model.RoleAssistant, "Noon."), user},
		} {
			s := server(t, llmtest.Reply{Text: "yes"})
			out := port(t, s).Do(t.Context(), effect(mo, &model.Request{Messages: conversation, Tools: tools()}), nil)
			if out.Err != nil {
				t.Fatalf("%s: %v", mo, out.Err)
			}
			var sent struct {
				Messages []struct{ Role, Content string }
			}
			if err := json.Unmarshal(s.Requests()[0].Body, &sent); err != nil {
				t.Fatal(err)
			}
			var roles []string
			added := 0
			for i, m := range sent.Messages {
				if m.Content == "OK." {
					added++
					if !bridged || m.Role != "assistant" || sent.Messages[i-1].Role != "tool" || sent.Messages[i+1].Role != "user" {
						t.Errorf("%s: %+v in %+v", mo, m, sent.Messages)
					}
				}
				roles = append(roles, m.Role)
			}
			want, _, _ = strings.Cut(want, " (")
			if got := strings.Join(roles, " "); bridged && got != want || !bridged && len(roles) != len(conversation) {
				t.Errorf("%s: %s, want %s", mo, got, want)
			}
		}
	}
}
