package conversation_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// thinker answers after a number of rounds of calls, and with thoughts when asked for them. It depends only on the
// request, so that runs may share it.
func thinker(rounds int) engine.HandlerFunc {
	return func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req := e.Req.(*model.Request)
		called := 0
		for _, m := range req.Messages {
			called += len(model.CallsIn(m.Parts))
		}
		r := enginetest.Says("7")
		switch {
		case thinks(req):
			r = enginetest.Says(fmt.Sprintf("thought %d", called))
		case called < rounds && req.Choice.Mode != model.ChoiceNone:
			r = enginetest.Calls("look", fmt.Sprintf(`{"at":"%d"}`, called))
			r.Parts[0].Call.ID = fmt.Sprint("c", called)
			r.Parts = append([]model.Part{{Kind: model.PartText, Text: "I look."}}, r.Parts...)
		}
		return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
	}
}

// thinks reports whether a request asks for thoughts.
func thinks(req *model.Request) bool {
	return model.TextIn(req.Messages[len(req.Messages)-1].Parts) == model.ThoughtsPrompt
}

func lookTool(t *testing.T) *agent.Tool {
	return &agent.Tool{Name: "look", Params: enginetest.Schema(t, "look", generable.Field{Name: "at", Type: generable.StrT}), Returns: generable.StrT, Class: engine.ClassRead,
		Run: engine.GoFunc("look", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.StrOf("seen"), nil })}
}

// asking records the requests to a handler.
type asking struct {
	engine.Handler
	seen []*model.Request
}

func (a *asking) Do(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
	_ = e.ID() // as a journal does, which computes the digest
	a.seen = append(a.seen, e.Req.(*model.Request))
	return a.Handler.Do(ctx, e, k)
}

// turns writes the kind of each request: T for thoughts, L for a last answer, O for any other.
func (a *asking) turns() string {
	var b strings.Builder
	for _, req := range a.seen {
		last := model.TextIn(req.Messages[len(req.Messages)-1].Parts)
		switch {
		case thinks(req):
			b.WriteByte('T')
		case strings.HasPrefix(last, "The budget of this task"):
			b.WriteByte('L')
		default:
			b.WriteByte('O')
		}
	}
	return b.String()
}

// A model is asked for its thoughts before its first answer and after every k rounds of results, in turns that allow no
// call and request no type. All other turns are unchanged.
func TestReasoningEvery(t *testing.T) {
	for _, tt := range []struct {
		every, rounds int
		want          string
	}{
		{0, 0, "O"}, {0, 3, "OOOO"},
		{1, 0, "TO"}, {1, 1, "TOTO"}, {1, 2, "TOTOTO"}, {1, 3, "TOTOTOTO"}, {1, 4, "TOTOTOTOTO"},
		{2, 0, "TO"}, {2, 1, "TOO"}, {2, 2, "TOOTO"}, {2, 3, "TOOTOO"}, {2, 4, "TOOTOOTO"},
		{3, 0, "TO"}, {3, 1, "TOO"}, {3, 2, "TOOO"}, {3, 3, "TOOOTO"}, {3, 4, "TOOOTOO"},
	} {
		t.Run(fmt.Sprintf("every %d of %d", tt.every, tt.rounds), func(t *testing.T) {
			c := enginetest.Compose()
			main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Think.", Out: generable.IntT, ReasoningEvery: tt.every, Tools: []*agent.Tool{lookTool(t)},
				Choice: model.ToolChoice{Mode: model.ChoiceRequired}, Budget: engine.Limits{Turns: engine.AtMost(12)}})
			c.Sound(t)
			h := &asking{Handler: thinker(tt.rounds)}
			out, err := enginetest.RunNode(t, main, h, "in")
			if err != nil || enginetest.Int(out) != 7 || h.turns() != tt.want {
				t.Fatalf("got %s, %v in the turns %s, want %s", generable.JSON(out, nil), err, h.turns(), tt.want)
			}
			thoughts, called := 0, 0
			for i, req := range h.seen {
				results := 0
				for _, m := range req.Messages {
					if m.Role == model.RoleTool {
						results++
					}
				}
				if len(req.Tools) != 1 || req.System != h.seen[0].System {
					t.Errorf("turn %d: tools %v, system %q", i, req.Tools, req.System)
				}
				if anew := (model.Request{Model: req.Model, System: req.System, Messages: req.Messages, Tools: req.Tools, Choice: req.Choice, Output: req.Output}); req.Digest() != anew.Digest() {
					t.Errorf("turn %d has the digest of another request", i)
				}
				if thinks(req) {
					thoughts++
					if req.Choice.Mode != model.ChoiceNone || req.Output != nil {
						t.Errorf("turn %d, of thoughts: choice %q, output %v", i, req.Choice.Mode, req.Output)
					}
					continue
				}
				choice := model.ChoiceRequired
				if called > 0 {
					choice = model.ChoiceAuto
				}
				if called += 1; req.Choice.Mode != choice || req.Output == nil || req.Output.Type != generable.IntT {
					t.Errorf("turn %d: choice %q, want %q; output %v", i, req.Choice.Mode, choice, req.Output)
				}
				if said := spoken(req); strings.Count(said, "a:thought") != thoughts || strings.Count(said, model.ActPrompt) != thoughts || results != called-1 {
					t.Errorf("turn %d: %d thoughts and %d results expected in %s", i, thoughts, called-1, said)
				}
			}
			if most := enginetest.TotalCalls(flow.Bounds(main, 1)); most != 12 {
				t.Errorf("bounded by %d calls", most)
			}
			_, err = enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("in"), Handler: thinker(tt.rounds), Model: "test/model"})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// The conversation contains the request for thoughts, the thoughts and the request to continue, in order.
func TestThoughtsStayInTheConversation(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Think.", ReasoningEvery: 1, Tools: []*agent.Tool{lookTool(t)}})
	c.Sound(t)
	h := &asking{Handler: thinker(1)}
	if _, err := enginetest.RunNode(t, main, h, "in"); err != nil {
		t.Fatal(err)
	}
	ask, act := " u:"+model.ThoughtsPrompt, " u:"+model.ActPrompt
	first := "u:in" + ask + " a:thought 0" + act
	want := []string{"u:in" + ask, first, first + " a:I look. call:look result:look" + ask, first + " a:I look. call:look result:look" + ask + " a:thought 1" + act}
	for i, req := range h.seen {
		if got := spoken(req); got != want[i] {
			t.Errorf("turn %d:\n%s\nwant\n%s", i, got, want[i])
		}
	}
}

// An agent without tools thinks once. A repair is requested without thinking again.
func TestThoughtsWithoutTools(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Think.", Out: generable.IntT, ReasoningEvery: 1, Repairs: 1})
	c.Sound(t)
	a := &enginetest.Answers{Next: []model.Response{enginetest.Says("7 or 8"), enginetest.Says("eight"), enginetest.Says("8")}}
	h := &asking{Handler: a}
	var repairs int
	out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("in"), Handler: h, Model: "test/model",
		Listener: engine.Listener{Kinds: engine.EventRepair, Emit: func(engine.Event) { repairs++ }}})
	if err != nil || enginetest.Int(out) != 8 || h.turns() != "TOO" || repairs != 1 {
		t.Fatalf("got %s, %v in %s with %d repairs", generable.JSON(out, nil), err, h.turns(), repairs)
	}
	for i, req := range h.seen {
		if req.Choice != (model.ToolChoice{}) || len(req.Tools) > 0 || (req.Output == nil) != (i == 0) {
			t.Errorf("turn %d: choice %v, output %v", i, req.Choice, req.Output)
		}
	}
	if most := enginetest.TotalCalls(flow.Bounds(main, 1)); most != 3 {
		t.Errorf("bounded by %d calls, want 3", most)
	}
}

// Thoughts count in every budget. The rest of a budget is for the answer.
func TestThoughtsWithinBudgets(t *testing.T) {
	turns := func(n int64, on engine.OnLimit) engine.Limits {
		return engine.Limits{Turns: engine.AtMost(n), OnLimit: on}
	}
	calls := func(n int64, on engine.OnLimit) engine.Limits {
		return engine.Limits{ModelCalls: engine.AtMost(n), OnLimit: on}
	}
	const fails, answers = engine.OnLimitFail, engine.OnLimitAnswer
	for _, tt := range []struct {
		name   string
		budget engine.Limits
		tools  bool
		rounds int
		want   string // turns
		raw    string // of a failure: the last words that are not thoughts; "-" for none
	}{
		{"the only turn is for the answer", turns(1, fails), true, 0, "O", ""},
		{"the last turn is", turns(3, fails), true, 1, "TOO", ""},
		{"turns that are used up", turns(4, fails), true, 9, "TOTO", "I look."},
		{"a last answer in the only turn", turns(1, answers), true, 9, "L", ""},
		{"a last answer", turns(4, answers), true, 9, "TOTL", ""},
		{"a last answer in place of thoughts", turns(3, answers), true, 9, "TOL", ""},
		{"a last answer without tools", turns(2, answers), false, 0, "TL", ""},
		{"calls that are used up by thoughts", calls(1, fails), true, 9, "T", "-"},
		{"one call", calls(1, answers), true, 9, "L", ""},
		{"one call without tools", calls(1, answers), false, 0, "L", ""},
		{"three calls", calls(3, answers), true, 9, "TOL", ""},
		{"a named budget", engine.Limits{Name: "p", Turns: engine.AtMost(3), OnLimit: answers}, true, 9, "TOL", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := enginetest.Compose()
			spec := &agent.Spec{Name: "a", Prompt: "Think.", Out: generable.IntT, ReasoningEvery: 1, Budget: tt.budget}
			if tt.tools {
				spec.Tools = []*agent.Tool{lookTool(t)}
			}
			main := c.Agent(c.Site("agent", "a"), spec)
			c.Sound(t)
			h := &asking{Handler: thinker(tt.rounds)}
			out, err := enginetest.RunNode(t, main, h, "in")
			if h.turns() != tt.want {
				t.Errorf("turns %s, want %s", h.turns(), tt.want)
			}
			if tt.raw != "" {
				var e *engine.Error
				if !errors.As(err, &e) || e.Code != diag.BudgetExceeded || cmp.Or(e.Raw, "-") != tt.raw {
					t.Errorf("got %v with %q", err, e.Raw)
				}
			} else if err != nil || enginetest.Int(out) != 7 {
				t.Errorf("got %s, %v", generable.JSON(out, nil), err)
			}
			if last := h.seen[len(h.seen)-1]; strings.HasSuffix(tt.want, "L") && strings.Count(spoken(last), model.ThoughtsPrompt) != strings.Count(tt.want, "T") {
				t.Errorf("the last answer is asked for with %s", spoken(last))
			}
			if most := enginetest.TotalCalls(flow.Bounds(main, 1)); int64(len(h.seen)) > most {
				t.Errorf("%d calls, bounded by %d", len(h.seen), most)
			}
			if _, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("in"), Handler: thinker(tt.rounds), Model: "test/model"}); (err != nil) != (tt.raw != "") {
				t.Error(err)
			}
		})
	}
}

// Thoughts that a budget cuts off are not part of an answer: the last answer is requested without them, or the error
// keeps the model's earlier words.
func TestThoughtsThatABudgetCutsOff(t *testing.T) {
	for _, on := range []engine.OnLimit{engine.OnLimitFail, engine.OnLimitAnswer} {
		c := enginetest.Compose()
		main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Think.", Out: generable.IntT, ReasoningEvery: 1, Budget: engine.Limits{OnLimit: on}, Tools: []*agent.Tool{lookTool(t)}})
		c.Sound(t)
		h := &asking{Handler: engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
			if !thinks(e.Req.(*model.Request)) {
				return thinker(0)(ctx, e, k)
			}
			cut := engine.Errorf(engine.KindBudget, diag.BudgetExceeded, "the budget cut the answer off")
			cut.Raw = "12"
			return engine.Outcome{Err: cut, Attempt: 1}
		})}
		out, err := enginetest.RunNode(t, main, h, "in")
		if on == engine.OnLimitAnswer {
			if last := h.seen[len(h.seen)-1]; err != nil || enginetest.Int(out) != 7 || h.turns() != "TL" || strings.Contains(spoken(last), model.ThoughtsPrompt) {
				t.Errorf("got %s, %v in %s, last asked %s", generable.JSON(out, nil), err, h.turns(), spoken(last))
			}
			continue
		}
		var e *engine.Error
		if !errors.As(err, &e) || e.Code != diag.BudgetExceeded || e.Raw != "" || !e.Partial.IsNull() {
			t.Errorf("got %v, raw %q, partial %s", err, e.Raw, generable.JSON(e.Partial, nil))
		}
	}
}

// A run that is killed before any of its calls continues from its journal, and repeats no call.
func TestThoughtsResume(t *testing.T) {
	for cut := range 8 {
		c := enginetest.Compose()
		main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Think.", Out: generable.IntT, ReasoningEvery: 1, Tools: []*agent.Tool{lookTool(t)}, Budget: engine.Limits{Turns: engine.AtMost(8)}})
		c.Sound(t)
		j, h := &store.Memory{}, &asking{Handler: thinker(3)}
		ctx, kill := context.WithCancel(t.Context())
		n := 0
		_, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Node: main, Input: generable.StrOf("in"), Model: "test/model", Journal: j,
			Handler: engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
				if n++; n > cut {
					kill()
					return engine.Failed(engine.Errorf(engine.KindCancelled, diag.Cancelled, "killed"))
				}
				return h.Do(ctx, e, k)
			})})
		kill()
		if err == nil {
			t.Fatalf("cut at %d: the run was not killed", cut)
		}
		out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("in"), Model: "test/model", Journal: j, Handler: h})
		if err != nil || enginetest.Int(out) != 7 || h.turns() != "TOTOTOTO" {
			t.Errorf("cut at %d: got %v, %v in %s", cut, out, err, h.turns())
		}
	}
}

// A wrong interval is reported where the agent is declared.
func TestReasoningEveryIsChecked(t *testing.T) {
	c := enginetest.Compose()
	c.Agent(c.Site("agent", "less"), &agent.Spec{Name: "less", Prompt: "Think.", ReasoningEvery: -1})
	c.Agent(c.Site("agent", "code"), &agent.Spec{Name: "code", ReasoningEvery: 1, Run: engine.GoFunc("code", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) { return a[0], nil })})
	if got := enginetest.Said(c.Diagnostics()); !strings.Contains(got, `reasoning_every of agent "less" is at least 1, got -1`) || !strings.Contains(got, `agent "code" has run = and reasoning_every`) {
		t.Errorf("reported:\n%s", got)
	}
}
