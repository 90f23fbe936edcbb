package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
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

// What is said to a node reaches the one agent in it that a model carries out, behind steps and
// whatever stands around that agent, and nobody whom these steps call.
func TestWhatIsSaidReachesTheAgentInside(t *testing.T) {
	upper := func(c *composer) *flow.Node {
		return c.step("upper", strT, strT, func(v generable.Value) generable.Value { return generable.StrOf(strings.ToUpper(str(v))) })
	}
	value := func(c *composer) *flow.Node {
		return c.step("value", flow.AttemptOf(strT), strT, func(v generable.Value) generable.Value { r, _ := v.AsRecord(); return r.At(1) })
	}
	for name, build := range map[string]func(c *composer) *flow.Node{
		"alone": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), c.prompted("student", strT, strT), upper(c))
		},
		"between": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), asideStep(c), c.prompted("student", strT, strT), upper(c))
		},
		"nested": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), c.Then(c.site("then", ""), c.prompted("student", strT, strT), upper(c)), c.step("", strT, strT, identity))
		},
		"tried": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), c.Attempt(c.site("attempt", ""), c.prompted("student", strT, strT)), value(c), upper(c))
		},
		"again": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), c.Retry(c.site("retry", ""), c.prompted("student", strT, strT), flow.RetryOptions{}), upper(c))
		},
	} {
		c := compose()
		taught := c.Wrap(c.site("wrap", ""), c.prompted("teacher", strT, strT), build(c))
		talked := c.Retry(c.site("retry", ""), build(c), flow.RetryOptions{UntilFunc: untilDone, Feedback: feedback})
		both := c.Wrap(c.site("wrap", ""), c.prompted("teacher", strT, strT), c.Retry(c.site("retry", ""), build(c), flow.RetryOptions{UntilFunc: untilDone, Feedback: feedback}))
		c.sound(t)
		for how, main := range map[string]*flow.Node{"wrap": taught, "feedback": talked, "both": both} {
			h := &classroom{student: []string{"no", "done"}}
			if how == "wrap" {
				h.student = h.student[1:]
			}
			out, err := runNode(t, main, h, "x")
			if err != nil || str(out) != "DONE" {
				t.Errorf("%s, %s: %s, %v", name, how, str(out), err)
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

// classroom answers a teacher, a student and whom they call.
type classroom struct {
	student []string
	last    *model.Request // of the student
	others  string         // what an agent was told that is no student
}

func (r *classroom) Do(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	text, req := "Be brief.", e.Req.(*model.Request)
	if e.Agent == "student" {
		r.last, text = req, r.student[0]
		r.student = r.student[1:]
	} else if req.System != "You are "+e.Agent+"." || len(req.Messages) != 1 {
		r.others = req.System
	}
	resp := says(text)
	return engine.Outcome{Response: &resp, Attempt: 1}
}

// asideStep is a step whose function calls an agent of its own.
func asideStep(c *composer) *flow.Node {
	own := c.prompted("own", strT, strT)
	return c.Fn(c.site("fn", "calls"), engine.GoFunc("calls", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		_, err := run.Call(b, own, a[0])
		return a[0], err
	}), strT, strT)
}

func conversation(r *model.Request) string {
	var texts []string
	for _, m := range r.Messages {
		texts = append(texts, m.Parts[0].Text)
	}
	return strings.Join(texts, "|")
}

// Where several agents could be meant, or none, it is said while composing.
func TestNobodyIsMeant(t *testing.T) {
	for name, build := range map[string]func(c *composer) *flow.Node{
		"two agents": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), c.prompted("a", strT, strT), c.prompted("b", strT, strT))
		},
		"a function too": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), c.agent("f", strT, strT, identity), c.prompted("b", strT, strT))
		},
		"at once": func(c *composer) *flow.Node {
			return c.Par(c.site("par", ""), flow.ParOptions{}, c.prompted("a", strT, strT))
		},
		"steps": func(c *composer) *flow.Node { return c.Then(c.site("then", ""), c.step("", strT, strT, identity)) },
		"a retry that talks": func(c *composer) *flow.Node {
			return c.Retry(c.site("retry", ""), c.prompted("a", strT, strT), flow.RetryOptions{Feedback: feedback})
		},
	} {
		c := compose()
		c.Retry(c.site("retry", ""), build(c), flow.RetryOptions{Feedback: feedback})
		want := "AS325"
		if name != "a retry that talks" {
			c.Wrap(c.site("wrap", ""), c.prompted("teacher", strT, strT), build(c))
			want = "AS325 AS325"
		}
		if got := strings.Join(c.codes(), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
