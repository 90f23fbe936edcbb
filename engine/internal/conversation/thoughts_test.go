package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// Whatever a model answers when asked for thoughts, the agent continues: with its words if there are any, else as if it
// had not been asked. A refusal fails.
func TestThoughtsThatAreNone(t *testing.T) {
	said := func(finish model.Finish, parts ...model.Part) model.Response {
		return model.Response{Finish: finish, Parts: parts, Usage: model.Usage{In: 100, Out: 5}}
	}
	words := model.Part{Kind: model.PartText, Text: "Look first.", Opaque: &model.Opaque{Provider: "google", Data: "sig"}}
	secret := model.Part{Kind: model.PartReasoning, Text: "hm", Opaque: &model.Opaque{Provider: "anthropic", Data: "sig"}}
	call := enginetest.Calls("look", `{"at":"x"}`).Parts[0]
	for _, tt := range []struct {
		name    string
		thought model.Response
		want    string // the assistant's part of the next request; "" for none
		log     bool
	}{
		{"words", said(model.FinishStop, words), "Look first.", false},
		{"words that are cut off", said(model.FinishLength, words), "Look first.", false},
		{"words beside a call", said(model.FinishCalls, secret, words, call), "Look first.", true},
		{"a call alone", said(model.FinishCalls, secret, call), "", true},
		{"nothing", said(model.FinishStop, model.Part{Kind: model.PartText}), "", false},
		{"a refusal", said(model.FinishRefusal, words), "-", false},
	} {
		for _, tools := range []bool{true, false} {
			t.Run(fmt.Sprint(tt.name, " with tools ", tools), func(t *testing.T) {
				c := enginetest.Compose()
				spec := &agent.Spec{Name: "a", Prompt: "Think.", ReasoningEvery: 2}
				if tools {
					spec.Tools = []*agent.Tool{lookTool(t)}
				}
				main := c.Agent(c.Site("agent", "a"), spec)
				c.Sound(t)
				a := &enginetest.Answers{Next: []model.Response{tt.thought, enginetest.Says("done")}}
				logged := 0
				out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("in"), Handler: a, Model: "test/model",
					Listener: engine.Listener{Kinds: engine.EventLog, Emit: func(engine.Event) { logged++ }}})
				if tt.want == "-" {
					if !errors.Is(err, engine.ErrRefused) || len(a.Seen) != 1 {
						t.Errorf("got %v after %d turns", err, len(a.Seen))
					}
					return
				}
				if err != nil || enginetest.Str(out) != "done" || (logged == 1) != tt.log || logged > 1 {
					t.Fatalf("got %v, %v with %d lines logged", out, err, logged)
				}
				want := "u:in"
				if tt.want != "" {
					want = "u:in u:" + model.ThoughtsPrompt + " a:" + tt.want + " u:" + model.ActPrompt
				}
				if got := spoken(a.Seen[1]); got != want {
					t.Errorf("then asked %s\nwant %s", got, want)
				}
				for _, m := range a.Seen[1].Messages {
					for _, p := range m.Parts {
						if tt.log && (p.Opaque != nil || p.Kind == model.PartReasoning) {
							t.Errorf("the words of a call that is not made keep %+v", p)
						}
					}
				}
			})
		}
	}
}

// The request for empty thoughts is not sent again, and not counted.
func TestEmptyThoughtsLeaveRoom(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Think.", ReasoningEvery: 1, Budget: engine.Limits{Tokens: engine.AtMost(13_000)}})
	c.Sound(t)
	a := &enginetest.Answers{Next: []model.Response{{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText}}, Usage: model.Usage{In: 10_000, Out: 5}}, enginetest.Says("done")}}
	if out, err := enginetest.RunNode(t, main, a, "in"); err != nil || enginetest.Str(out) != "done" {
		t.Errorf("got %v, %v", out, err)
	}
}

// Agents that share a conversation see each other's thoughts in it, and think anew.
func TestThoughtsInASharedHistory(t *testing.T) {
	c := enginetest.Compose()
	share := func(name string, every int) *flow.Node {
		return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Prompt: "You are " + name + ".", History: sharing, ReasoningEvery: every})
	}
	main := c.Then(c.Op("then"), share("x", 1), share("y", 0), share("z", 2))
	c.Sound(t)
	heard := map[string][]string{}
	if _, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("in"), Handler: Transcript(heard), Model: "test/model"}); err != nil {
		t.Fatal(err)
	}
	ask, act := " u:"+model.ThoughtsPrompt, " u:"+model.ActPrompt
	x := "u:in" + ask + " a:x" + act
	y := x + " a:x u:x"
	for name, want := range map[string][]string{"x": {"u:in" + ask, x}, "y": {y}, "z": {y + " a:y u:y" + ask, y + " a:y u:y" + ask + " a:z" + act}} {
		if !slices.Equal(heard[name], want) {
			t.Errorf("%s was asked\n%s\nwant\n%s", name, strings.Join(heard[name], "\n"), strings.Join(want, "\n"))
		}
	}
}

// When old messages are left out, no call is separated from its result, and the input stays.
func TestThoughtsInACompressedHistory(t *testing.T) {
	for every := 1; every <= 3; every++ {
		for keep := 1; keep <= 6; keep++ {
			c := enginetest.Compose()
			main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Think.", Out: generable.IntT, ReasoningEvery: every, Tools: []*agent.Tool{lookTool(t)},
				History: &agent.History{Compress: &agent.Compression{How: agent.CompressWindow, After: keep + 2, Keep: keep}}, Budget: engine.Limits{Turns: engine.AtMost(20)}})
			c.Sound(t)
			h := &asking{}
			n := 0
			h.Handler = engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
				if thinks(e.Req.(*model.Request)) {
					return enginetest.Answer("hm")
				}
				if n++; n > 6 {
					return enginetest.Answer("7")
				}
				r := enginetest.Calls("look", fmt.Sprintf(`{"at":"%d"}`, n))
				return engine.Outcome{Response: &r, Attempt: 1}
			})
			if out, err := enginetest.RunNode(t, main, h, "in"); err != nil || enginetest.Int(out) != 7 {
				t.Fatalf("every %d, keep %d: %v, %v", every, keep, out, err)
			}
			for i, req := range h.seen {
				open := 0
				for _, m := range req.Messages {
					open += len(model.CallsIn(m.Parts))
					if m.Role == model.RoleTool {
						open -= len(m.Parts)
					}
					if open < 0 || open > 0 && m.Role == model.RoleUser {
						t.Fatalf("every %d, keep %d, turn %d: %s", every, keep, i, spoken(req))
					}
				}
				if !strings.Contains(spoken(req), "u:in") {
					t.Errorf("every %d, keep %d, turn %d has lost the input: %s", every, keep, i, spoken(req))
				}
			}
		}
	}
}

// Hooks see reasoning turns like any other, and may replace the answer.
func TestHooksOfThoughts(t *testing.T) {
	var seen []string
	hook := engine.GoFunc("look on", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		r, _ := args[0].AsRecord()
		turn, _ := r.Get("turn")
		seen = append(seen, fmt.Sprint(enginetest.Int(turn)))
		if enginetest.Int(turn) == 2 {
			return agent.Substitute(generable.StrOf("enough")).Value(), nil
		}
		return agent.Proceed().Value(), nil
	})
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Think.", Out: generable.IntT, ReasoningEvery: 1, Tools: []*agent.Tool{lookTool(t)}, Hooks: []*agent.Hooks{{BeforeModel: []engine.Func{hook}}}})
	c.Sound(t)
	h := &asking{Handler: thinker(1)}
	out, err := enginetest.RunNode(t, main, h, "in")
	if err != nil || enginetest.Int(out) != 7 || strings.Join(seen, "") != "0123" || h.turns() != "TOO" {
		t.Fatalf("got %v, %v; hooks of the turns %v, turns %s", out, err, seen, h.turns())
	}
	if said := spoken(h.seen[2]); !strings.HasSuffix(said, "a:enough u:"+model.ActPrompt) {
		t.Errorf("asked with %s", said)
	}
}

// Tokens of thoughts are reasoning tokens, for the observer and for listeners.
func TestTokensOfThoughts(t *testing.T) {
	c := enginetest.Compose()
	look := &tokenKinds{}
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Think.", ReasoningEvery: 1, Observer: look})
	c.Sound(t)
	streams := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		out := thinker(0)(ctx, e, nil)
		sink(engine.Token{Attempt: 1, Text: out.Response.Text()})
		return out
	})
	var told []string
	_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("in"), Handler: streams, Model: "test/model",
		Listener: engine.Listener{Kinds: engine.EventToken, Emit: func(e engine.Event) { told = append(told, fmt.Sprint(e.Text(), " ", e.Data.(*event.Token).Reasoning)) }}})
	want := []string{"thought 0 true", "7 false"}
	if err != nil || !slices.Equal(look.said, want) || !slices.Equal(told, want) {
		t.Errorf("got %v; the observer saw %q, the listener %q", err, look.said, told)
	}
}

type tokenKinds struct{ said []string }

func (k *tokenKinds) Observe(func(string)) agent.StreamObserver {
	return agent.StreamObserver{Token: func(t engine.Token) error {
		k.said = append(k.said, fmt.Sprint(t.Text, " ", t.Reasoning))
		return nil
	}}
}

// The page about tools shows the prompt for thoughts.
func TestThePageShowsTheRequestToThink(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../../docs/tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{model.ThoughtsPrompt, model.ActPrompt} {
		if !strings.Contains(string(page), "> "+text+"\n") {
			t.Errorf("docs/tools.md does not show %q", text)
		}
	}
}
