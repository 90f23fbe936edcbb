package exec_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

func words(s string) *model.Response {
	r := enginetest.Says(s)
	return &r
}

// A host's handler cannot evade a token budget with impossible counts: they are replaced by estimates, in the budget,
// the events and the error.
func TestUsageOfAHandlerIsBelievedWhenItCanBe(t *testing.T) {
	for name, u := range map[string]model.Usage{
		"negative":  {In: -100, Out: 1},
		"smallest":  {In: math.MinInt, Out: 1},
		"largest":   {In: math.MaxInt, Out: math.MaxInt},
		"reasoning": {In: 1, Out: 1, Reasoning: -1},
	} {
		for how, answer := range map[string]func() engine.Outcome{
			"in the outcome":  func() engine.Outcome { return engine.Outcome{Response: words("12345678"), Usage: u} },
			"in the response": func() engine.Outcome { r := words("12345678"); r.Usage = u; return engine.Outcome{Response: r} },
			"in the error": func() engine.Outcome {
				return engine.Failed(&engine.Error{Kind: engine.KindServer, Code: "AS710", Message: "no", Usage: u})
			},
		} {
			c := enginetest.Compose()
			main := c.Then(c.Site("then", ""), c.Prompted("a", generable.StrT, generable.StrT), c.Prompted("b", generable.StrT, generable.StrT), c.Prompted("c", generable.StrT, generable.StrT))
			c.Sound(t)
			calls := 0
			limits := engine.Limits{}
			if how != "in the response" {
				limits.Tokens = engine.AtMost(5)
			}
			spec := run.Spec{Node: main, Input: generable.StrOf("1234"), Model: "test/model", Limits: limits,
				Handler: engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome { calls++; return answer() }),
				Listener: engine.Listener{Kinds: engine.EventEffect, Emit: func(e engine.Event) {
					seen := []model.Usage{}
					d := e.Data.(*event.Effect)
					if d.Usage != nil {
						seen = append(seen, *d.Usage)
					}
					if d.Response != nil {
						seen = append(seen, d.Response.Usage)
					}
					if e.Err() != nil {
						seen = append(seen, e.Err().Usage)
					}
					for _, s := range seen {
						if !s.Plausible() {
							t.Errorf("%s %s: the events show %+v", name, how, s)
						}
					}
				}}}
			_, err := run.Exec(sched.NewGoSched(t.Context()), &spec)
			switch how {
			case "in the outcome":
				if !errors.Is(err, engine.ErrBudget) || calls == 3 {
					t.Errorf("%s: %d calls, %v", name, calls, err)
				}
			case "in the error":
				var e *engine.Error
				if !errors.As(err, &e) || !e.Usage.Plausible() {
					t.Errorf("%s: %#v", name, err)
				}
			default:
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// Sums saturate.
func TestUsageSaturates(t *testing.T) {
	most := model.Usage{In: math.MaxInt, Out: 1}
	if got := most.Add(most).Add(model.Usage{In: 1, Out: 1}); got != (model.Usage{In: math.MaxInt, Out: 3}) {
		t.Errorf("%+v", got)
	}
	// A record written elsewhere may contain anything.
	c := enginetest.Compose()
	main := c.Then(c.Site("then", ""), c.Prompted("a", generable.StrT, generable.StrT), c.Prompted("b", generable.StrT, generable.StrT), c.Prompted("c", generable.StrT, generable.StrT))
	c.Sound(t)
	for u, want := range map[model.Usage]error{
		{In: math.MaxInt, Out: math.MaxInt}: engine.ErrBudget,
		{In: math.MinInt, Out: math.MaxInt}: &engine.Error{Kind: engine.KindBadResponse},
	} {
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Model: "test/model",
			Limits: engine.Limits{Tokens: engine.AtMost(10)}, Handler: enginetest.Echo, Journal: recordOf{"a", engine.Outcome{Response: words("x"), Usage: u, Attempt: 1}}})
		if !errors.Is(err, want) {
			t.Errorf("%+v: %v", u, err)
		}
	}
}

// recordOf answers the calls of one agent.
type recordOf struct {
	agent string
	out   engine.Outcome
}

func (r recordOf) Answer(id string) (engine.Outcome, bool) {
	return r.out, strings.Contains(id, "agent:"+r.agent+"#")
}

func (r recordOf) Commit(context.Context, string, *engine.Effect, engine.Outcome) error { return nil }

// The tokens that the model has counted so far, including its last answer, are the input of the next call: a call that
// cannot fit is not made.
func TestTheNextCallIsReckonedFromTheLast(t *testing.T) {
	for limit, want := range map[int64]int{300: 1, 400: 2} {
		c := enginetest.Compose()
		main := looker(c, t, "a", engine.Limits{})
		main.Agent().Params.MaxTokens = new(10)
		c.Sound(t)
		w := works(endless)
		w.usage = model.Usage{In: 100, Out: 50}
		_, err := run.Exec(sched.NewCoopSched(1), spend(main, w, engine.Limits{Tokens: engine.AtMost(limit)}))
		if !errors.Is(err, engine.ErrBudget) || w.calls["a"] != want {
			t.Errorf("within %d tokens: %v after %d calls, want %d", limit, err, w.calls["a"], want)
		}
	}
}
