//go:build e2e

package e2e

import (
	"testing"

	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
)

// clients returns models as a host may provide them.
func clients(t *testing.T, base string) map[string]llms.Model {
	t.Helper()
	native, err := ollama.New(ollama.WithServerURL(base), ollama.WithModel("talker"))
	if err != nil {
		t.Fatal(err)
	}
	chat, err := openai.New(openai.WithBaseURL(base+"/v1"), openai.WithToken("none"), openai.WithModel("talker"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]llms.Model{"native": native, "chat": chat}
}

// TestOllamaHostModel checks that a host's own model returns the same text, streamed or not, and a value of the type
// that the prompt asks for, since it carries no schema.
func TestOllamaHostModel(t *testing.T) {
	base := talker(t, conversation, []string{"<|plain|>", "Here: ", `{"ok": true,`, ` "score": 7}`})
	verdict := declared(t)(generable.NewSchema("Verdict", "", []generable.Field{{Name: "ok", Type: generable.BoolT}, {Name: "score", Type: generable.IntT}}))
	for name, m := range clients(t, base) {
		r := local(t, base, llm.WithModel("acme/"+name, m, llm.Caps{Stream: true}))
		for _, stream := range []bool{false, true} {
			req := prompt("hello")
			req.Output = &model.Output{Type: verdict}
			out, s := ask(t, r, "acme/"+name, req, stream)
			if out.Err != nil {
				t.Fatalf("%s: %v", name, out.Err)
			}
			text := out.Response.Text()
			if got := decoded(t, verdict, out.Response); !got.OK || generable.JSON(got.Value, nil) != `{"ok":true,"score":7}` || stream && s.text != text {
				t.Errorf("%s: %q, streamed %q, %v", name, text, s.text, got.Errors)
			}
			if out.Response.Usage.Estimated || out.Response.Usage.Out < 3 {
				t.Errorf("%s: %+v", name, out.Response.Usage)
			}
		}
	}
}
