package conversation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// pairedMessages returns what is wrong with calls and results: each call must be answered by the next message, and each
// result must answer a call of the previous message.
func pairedMessages(messages []model.Message) string {
	for i, m := range messages {
		calls, results := map[string]bool{}, map[string]bool{}
		for _, p := range m.Parts {
			if p.Call != nil {
				calls[p.Call.ID] = true
			}
		}
		if i+1 < len(messages) {
			for _, p := range messages[i+1].Parts {
				if p.Result != nil {
					results[p.Result.CallID] = true
				}
			}
		}
		if !reflect.DeepEqual(calls, results) {
			return fmt.Sprintf("message %d calls %v, and the next one answers %v", i, calls, results)
		}
	}
	if len(messages) > 0 {
		for _, p := range messages[0].Parts {
			if p.Result != nil {
				return "the first message is a result"
			}
		}
	}
	return ""
}

// Promise 22.7 (memory): in random conversations, compression keeps the system text, the agent's own input and the
// newest messages, in their order. Whatever is omitted or summarized, each call has its result and each result its
// call.
func TestPromise_22_7_Compression(t *testing.T) {
	shorter := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 7))
		comp := &agent.Compression{After: 4 + rng.IntN(8), Keep: 1 + rng.IntN(4), How: agent.CompressWindow}
		if rng.IntN(3) == 0 {
			comp.After, comp.Tokens = 0, 30+rng.IntN(100)
		}
		if rng.IntN(2) == 0 {
			comp.How = agent.CompressSummary
		}
		c := enginetest.Compose()
		look := &agent.Tool{Name: "look", Class: engine.ClassRead, Returns: generable.StrT, Run: engine.GoFunc("look", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			return generable.StrOf(strings.Repeat("r", rng.IntN(200))), nil
		})}
		turns := 1 + rng.IntN(12)
		chat := c.Agent(c.Site("agent", "chat"), &agent.Spec{Name: "chat", Prompt: "S.", Tools: []*agent.Tool{look},
			History: &agent.History{Shared: rng.IntN(4) > 0, Compress: comp}, Budget: engine.Limits{Turns: engine.AtMost(100), ToolCalls: engine.Unlimited()}})
		c.Sound(t)
		calls, left, input := 0, 0, ""
		var before []model.Message
		h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			req := e.Req.(*model.Request)
			if len(req.Tools) == 0 { // it summarizes
				if rng.IntN(3) == 0 {
					return engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "down"))
				}
				return enginetest.Answer("the sum")
			}
			if why := pairedMessages(req.Messages); why != "" {
				t.Fatalf("seed %d: %s", seed, why)
			}
			if req.System != "S." || req.Messages[0].Role != model.RoleUser {
				t.Fatalf("seed %d: system %q, first a message of %s", seed, req.System, req.Messages[0].Role)
			}
			whole := append([]model.Message(nil), req.Messages...)
			if len(before) > 0 && !reflect.DeepEqual(whole[0], before[0]) {
				shorter++
				whole = whole[1:]
			}
			at, inputs := -1, 0 // index in before
			for _, m := range whole {
				if len(m.Parts) == 1 && m.Parts[0].Text == input {
					inputs++
				}
				i := slices.IndexFunc(before, func(was model.Message) bool { return reflect.DeepEqual(was, m) })
				if i >= 0 && i <= at {
					t.Fatalf("seed %d: the order has changed", seed)
				}
				at = max(at, i)
			}
			if inputs != 1 {
				t.Fatalf("seed %d: the input stands %d times", seed, inputs)
			}
			newest := whole[len(whole)-1]
			if answered := newest.Role == model.RoleTool; !answered && newest.Parts[0].Text != input || answered && newest.Parts[0].Result.CallID != fmt.Sprint(calls-len(newest.Parts)+1) {
				t.Fatalf("seed %d: the newest message is gone", seed)
			}
			out := model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: fmt.Sprint("a", rng.Uint64())}}}
			if left--; left > 0 {
				out.Finish = model.FinishCalls
				for range 1 + rng.IntN(3) {
					calls++
					out.Parts = append(out.Parts, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: fmt.Sprint(calls), Name: "look", Args: "{}"}})
				}
			}
			before = append(append([]model.Message(nil), req.Messages...), model.Message{Role: model.RoleAssistant, Parts: out.Parts})
			return engine.Outcome{Response: &out}
		})
		main := engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
			for i := range turns {
				left, input = 1+rng.IntN(5), fmt.Sprintf("question %d", i)
				if !chat.Agent().History.Shared {
					before = nil
				}
				if _, err := run.Call(b, chat, generable.StrOf(input)); err != nil {
					return generable.Value{}, err
				}
			}
			return generable.Value{}, nil
		})
		if _, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Main: main, Handler: h, Model: "test/model"}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if shorter < 200 {
		t.Errorf("only %d conversations were made shorter", shorter)
	}
}

// Promise 22.8 (memory): an event reports what was omitted or summarized. If a summary fails, the run does not fail:
// the beginnings of the messages replace them.
func TestPromise_22_8_SummariesMayFail(t *testing.T) {
	for _, tt := range []struct {
		name, want, first string
		how               agent.CompressHow
		sum               engine.Outcome
	}{
		{"left out", "6 messages of 9 left out", "(6 earlier messages left out)", agent.CompressWindow, engine.Outcome{}},
		{"summed up", "6 messages of 9 summed up", "Summary of the conversation before this:\n\nthe sum", agent.CompressSummary, enginetest.Answer(" the sum\n")},
		{"cut short", "6 messages of 9 cut short, as the summary failed: down", "Summary of the conversation before this:\n\nuser: q0\nassistant: a\nuser: q1\nassistant: a\nuser: q2\nassistant: a",
			agent.CompressSummary, engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "down"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := enginetest.Compose()
			chat := c.Agent(c.Site("agent", "chat"), &agent.Spec{Name: "chat", Prompt: "S.",
				History: &agent.History{Shared: true, Compress: &agent.Compression{After: 8, Keep: 3, How: tt.how, Model: "test/small"}}})
			c.Sound(t)
			first := ""
			h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
				req := e.Req.(*model.Request)
				if e.Name == "test/small" {
					if e.Agent != "chat.summary" {
						t.Errorf("the summary is a call of %q", e.Agent)
					}
					return tt.sum
				}
				first = req.Messages[0].Parts[0].Text
				return enginetest.Answer("a")
			})
			main := engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (out generable.Value, err error) {
				for i := range 5 {
					if out, err = run.Call(b, chat, generable.StrOf(fmt.Sprint("q", i))); err != nil {
						return out, err
					}
				}
				return out, nil
			})
			var told []string
			spec := run.Spec{Main: main, Handler: h, Model: "test/model",
				Listener: engine.Listener{Kinds: engine.EventHistory, Emit: func(e engine.Event) { told = append(told, e.Text()) }}}
			if _, err := run.Exec(sched.NewCoopSched(1), &spec); err != nil {
				t.Fatal(err)
			}
			if strings.Join(told, "|") != tt.want || first != tt.first {
				t.Errorf("told %q, first message %q", told, first)
			}
		})
	}
}
