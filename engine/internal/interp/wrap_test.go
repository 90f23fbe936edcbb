package interp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// feedback says what it is about.
var feedback = engine.GoFunc("feedback", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
	return generable.StrOf("not " + generable.JSON(a[0], nil)), nil
})

// until waits for the text done.
var untilDone = engine.GoFunc("done", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
	return generable.BoolOf(strings.Contains(generable.JSON(a[0], nil), "DONE")), nil
})

// Instructions for a node reach the one agent in it that calls a model, past steps and structures around that agent,
// and no agent that these steps call.
func TestWhatIsSaidReachesTheAgentInside(t *testing.T) {
	upper := func(c *enginetest.Composer) *flow.Node {
		return c.Step("upper", generable.StrT, generable.StrT, func(v generable.Value) generable.Value { return generable.StrOf(strings.ToUpper(enginetest.Str(v))) })
	}
	value := func(c *enginetest.Composer) *flow.Node {
		return c.Step("value", flow.AttemptOf(generable.StrT), generable.StrT, func(v generable.Value) generable.Value { r, _ := v.AsRecord(); return r.At(1) })
	}
	for name, build := range map[string]func(c *enginetest.Composer) *flow.Node{
		"alone": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), c.Prompted("student", generable.StrT, generable.StrT), upper(c))
		},
		"between": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), asideStep(c), c.Prompted("student", generable.StrT, generable.StrT), upper(c))
		},
		"nested": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), c.Then(c.Site("then", ""), c.Prompted("student", generable.StrT, generable.StrT), upper(c)), c.Step("", generable.StrT, generable.StrT, enginetest.Identity))
		},
		"tried": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), c.Attempt(c.Site("attempt", ""), c.Prompted("student", generable.StrT, generable.StrT)), value(c), upper(c))
		},
		"again": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), c.Retry(c.Site("retry", ""), c.Prompted("student", generable.StrT, generable.StrT), flow.RetryOptions{}), upper(c))
		},
	} {
		c := enginetest.Compose()
		taught := c.Wrap(c.Site("wrap", ""), c.Prompted("teacher", generable.StrT, generable.StrT), build(c))
		talked := c.Retry(c.Site("retry", ""), build(c), flow.RetryOptions{UntilFunc: untilDone, Feedback: feedback})
		both := c.Wrap(c.Site("wrap", ""), c.Prompted("teacher", generable.StrT, generable.StrT), c.Retry(c.Site("retry", ""), build(c), flow.RetryOptions{UntilFunc: untilDone, Feedback: feedback}))
		c.Sound(t)
		for how, main := range map[string]*flow.Node{"wrap": taught, "feedback": talked, "both": both} {
			h := &classroom{student: []string{"no", "done"}}
			if how == "wrap" {
				h.student = h.student[1:]
			}
			out, err := enginetest.RunNode(t, main, h, "x")
			if err != nil || enginetest.Str(out) != "DONE" {
				t.Errorf("%s, %s: %s, %v", name, how, enginetest.Str(out), err)
				continue
			}
			system, talk := "You are student.", `x|no|not "NO"`
			if how != "feedback" {
				system = "Be brief."
			}
			if how == "wrap" {
				talk = "x"
			}
			if got := conversation(h.last); h.last.System != system || got != talk {
				t.Errorf("%s, %s: the student is told %q and then %s", name, how, h.last.System, got)
			}
			if h.others != "" {
				t.Errorf("%s, %s: somebody else is told %q", name, how, h.others)
			}
		}
	}
}

// classroom answers a teacher, a student and the agents that they call.
type classroom struct {
	student []string
	last    *model.Request // of the student
	others  string         // the text received by an agent that is not the student
}

func (r *classroom) Do(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	text, req := "Be brief.", e.Req.(*model.Request)
	if e.Agent == "student" {
		r.last, text = req, r.student[0]
		r.student = r.student[1:]
	} else if req.System != "You are "+e.Agent+"." || len(req.Messages) != 1 {
		r.others = req.System
	}
	resp := enginetest.Says(text)
	return engine.Outcome{Response: &resp, Attempt: 1}
}

// asideStep returns a step whose function calls another agent.
func asideStep(c *enginetest.Composer) *flow.Node {
	own := c.Prompted("own", generable.StrT, generable.StrT)
	return c.Fn(c.Site("fn", "calls"), engine.GoFunc("calls", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		_, err := run.Call(b, own, a[0])
		return a[0], err
	}), generable.StrT, generable.StrT)
}

func conversation(r *model.Request) string {
	var texts []string
	for _, m := range r.Messages {
		texts = append(texts, m.Parts[0].Text)
	}
	return strings.Join(texts, "|")
}

// If several agents could be meant, or none, that is reported while composing.
func TestNobodyIsMeant(t *testing.T) {
	for name, build := range map[string]func(c *enginetest.Composer) *flow.Node{
		"two agents": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), c.Prompted("a", generable.StrT, generable.StrT), c.Prompted("b", generable.StrT, generable.StrT))
		},
		"a function too": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), c.CodeAgent("f", generable.StrT, generable.StrT, enginetest.Identity), c.Prompted("b", generable.StrT, generable.StrT))
		},
		"at once": func(c *enginetest.Composer) *flow.Node {
			return c.Par(c.Site("par", ""), flow.ParOptions{}, c.Prompted("a", generable.StrT, generable.StrT))
		},
		"steps": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), c.Step("", generable.StrT, generable.StrT, enginetest.Identity))
		},
		"a retry that talks": func(c *enginetest.Composer) *flow.Node {
			return c.Retry(c.Site("retry", ""), c.Prompted("a", generable.StrT, generable.StrT), flow.RetryOptions{Feedback: feedback})
		},
	} {
		c := enginetest.Compose()
		c.Retry(c.Site("retry", ""), build(c), flow.RetryOptions{Feedback: feedback})
		want := "AS325"
		if name != "a retry that talks" {
			c.Wrap(c.Site("wrap", ""), c.Prompted("teacher", generable.StrT, generable.StrT), build(c))
			want = "AS325 AS325"
		}
		if got := strings.Join(c.Codes(), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
