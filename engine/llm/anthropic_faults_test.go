package llm_test

import (
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// Whatever fails on the way, whole or streamed, in text or in a call: the call ends in an error with a kind, in time,
// and never in a partial answer.
func TestClaudeFaults(t *testing.T) {
	kinds := map[llmtest.Fault][]engine.ErrKind{
		llmtest.StallHeaders: {engine.KindTimeout},
		llmtest.StallStream:  {engine.KindTimeout},
		llmtest.Cut:          {engine.KindTruncated},
		llmtest.End:          {engine.KindTruncated},
		llmtest.Reset:        {engine.KindNetwork},
		llmtest.Garbage:      {engine.KindBadResponse},
		llmtest.NoChoices:    {engine.KindBadResponse},
		llmtest.NoEnd:        {engine.KindTruncated},
	}
	replies := map[string]llmtest.Reply{
		"text":  {Text: "one two three four five six seven eight", In: 3, Out: 8},
		"calls": {Calls: []llmtest.Call{{ID: "toolu_1", Name: "compile", Args: `{"path":"a/rather/long/path/of/a/file.go"}`}, {ID: "toolu_2", Name: "now", Args: "{}"}}},
	}
	for fault, want := range kinds {
		for what, reply := range replies {
			for _, stream := range []bool{false, true} {
				if fault == llmtest.NoEnd && !stream {
					continue // a whole answer has no end marker
				}
				t.Run(string(fault)+" "+what, func(t *testing.T) {
					t.Parallel()
					own := reply
					own.Fault, own.Repeat = fault, true
					s := server(t, own)
					r := port(t, s, stalls(fault))
					req := prompt("x")
					req.Tools = tools()
					req.Params.MaxTokens = ptr(100)
					e := effect("anthropic/claude-opus-5", req)
					e.Stream = stream
					err := needErr(t, r.Do(t.Context(), e, func(engine.Token) {}))
					if err.Kind != want[0] {
						t.Errorf("streamed %v: kind %s: %v", stream, err.Kind, err)
					}
					if err.Help == "" || err.Model == nil || err.Model.Name != "anthropic" {
						t.Errorf("help %q, provider %+v", err.Help, err.Model)
					}
				})
			}
		}
	}
}
