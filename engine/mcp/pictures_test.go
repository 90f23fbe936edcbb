//go:build unix

package mcp_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// Promise 24.66 (MCP): a picture that a tool of a server returns is sent to the model of any provider, after the text
// of the result. For sound, that text says what it is.
func TestPromise_24_66_PicturesReachModels(t *testing.T) {
	t.Parallel()
	for model, holds := range map[string]string{
		"openai/gpt-5-mini": "data:image/png;base64,cG5n", "anthropic/claude-sonnet-4-6": `"data":"cG5n"`, "google/gemini-3-flash-preview": `"data":"cG5n"`,
		"mistral/mistral-small": "data:image/png;base64,cG5n", "openrouter/x/y": "data:image/png;base64,cG5n", "ollama/qwen3": `"images":["cG5n"]`,
	} {
		for _, transport := range transports {
			t.Run(model+" "+transport, func(t *testing.T) {
				s := llmtest.New(llmtest.Reply{Calls: []llmtest.Call{{ID: "c1", Name: "picture", Args: "{}"}}}, llmtest.Reply{Text: "a cat"})
				defer s.Close()
				provider, _, _ := strings.Cut(model, "/")
				base := map[string]string{"anthropic": s.Anthropic(), "google": s.Gemini(), "ollama": s.Ollama()}[provider]
				if base == "" {
					base = s.OpenAI()
				}
				models := llm.New(llm.WithBaseURL(provider, base), llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { return "key-of-a-test", strings.HasSuffix(name, "_API_KEY") })))
				defer models.Close()
				script := strings.ReplaceAll(declared(t, "good", "good", transport, "")+`main = agent(prompt = "Use the tools.", tools = [good])`, "EXE", strconv.Quote(process(t, "good").Command))
				mod, err := agentscript.New(agentscript.WithUngranted(), agentscript.WithModels(models), agentscript.WithDefaultModel(model), agentscript.WithMCP(client(t))).
					Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(script)}}, "main.star")
				if err != nil {
					t.Fatal(err)
				}
				res, err := mod.Start(t.Context(), agentscript.InputText("go")).Wait()
				if err != nil || res.Text() != "a cat" {
					t.Fatalf("%q, %v", res.Text(), err)
				}
				sent := s.Requests()
				last := strings.ReplaceAll(string(sent[len(sent)-1].Body), `": "`, `":"`)
				wants := []string{holds, "[audio audio/wav, 3 bytes]"}
				if provider != "anthropic" && provider != "google" { // these take pictures inside results
					wants = append(wants, "What picture gave")
				}
				for _, want := range wants {
					if !strings.Contains(last, want) {
						t.Errorf("the model is not sent %s: %s", want, last)
					}
				}
			})
		}
	}
}
