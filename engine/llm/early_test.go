package llm_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// TestEnough: the request ends when there is enough, even if the server would never have ended it, and without a
// listener.
func TestEnough(t *testing.T) {
	mail := &generable.Type{Kind: generable.RecordType, Name: "Mail", Fields: []generable.Field{
		{Name: "spam", Type: generable.BoolT}, {Name: "why", Type: generable.StrT, Optional: true, Default: generable.StrOf("")},
	}}
	is := generable.BoolOf(true)
	spam, err := predicate.New(predicate.Eq, "spam", &is)
	if err != nil {
		t.Fatal(err)
	}
	text := `{"spam": true, "why": "` + strings.Repeat("a long reason ", 50) + `"}`
	for _, m := range []string{"openai/gpt-5", "ollama/m", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-flash"} {
		for name, listen := range map[string]bool{"with a listener": true, "alone": false} {
			t.Run(m+" "+name, func(t *testing.T) {
				s := server(t, llmtest.Reply{Text: text, Fault: llmtest.StallStream})
				req := prompt("x")
				req.Output = &model.Output{Type: mail, Enough: spam}
				e := effect(m, req)
				e.Stream = listen
				got := need(t, port(t, s, llm.WithRetry(llm.RetryPolicy{Attempts: 1})).Do(t.Context(), e, func(engine.Token) {}))
				if got.Text() != `{"spam":true}` || got.Finish != model.FinishStop || got.RawFinish != "enough" || !got.Usage.Estimated {
					t.Errorf("got %q, %s, %+v", got.Text(), got.RawFinish, got.Usage)
				}
			})
		}
	}
	t.Run("scripted", func(t *testing.T) {
		s := scripted.New([]scripted.Row{{Text: &text}})
		req := prompt("x")
		req.Output = &model.Output{Type: mail, Enough: spam}
		if got := need(t, s.Do(t.Context(), effect("", req), nil)); got.Text() != `{"spam":true}` {
			t.Errorf("got %q", got.Text())
		}
	})
	t.Run("not enough", func(t *testing.T) {
		s := server(t, llmtest.Reply{Text: `{"spam": false, "why": "fine"}`})
		req := prompt("x")
		req.Output = &model.Output{Type: mail, Enough: spam}
		if got := need(t, ask(port(t, s), "openai/gpt-5", req)); got.Text() != `{"spam": false, "why": "fine"}` {
			t.Errorf("got %q", got.Text())
		}
	})
}
