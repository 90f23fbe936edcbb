package interp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

func TestForumCaptainSeesTheTranscript(t *testing.T) {
	c := enginetest.Compose()
	a, b := c.Prompted("a", generable.StrT, generable.StrT), c.Prompted("b", generable.StrT, generable.StrT)
	captain := c.Prompted("captain", generable.StrT, generable.StrT)
	main := c.Forum(c.Site("forum", "main"), flow.ForumOptions{Rounds: 2}, a, b, captain)
	c.Sound(t)
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("topic")})
	if err != nil {
		t.Fatal(err)
	}
	text := enginetest.Str(out)
	if strings.Count(text, "### a\n") < 2 || !strings.HasPrefix(text, "captain(topic\n") {
		t.Errorf("the captain saw %q", text)
	}
	if !strings.Contains(text, "### a\na(topic\n\n## Transcript") {
		t.Errorf("in the second round a did not see the first: %q", text)
	}
}

func TestForumCaptainWithTwoParametersGetsTheTranscript(t *testing.T) {
	c := enginetest.Compose()
	a := c.CodeAgent("a", generable.IntT, generable.IntT, enginetest.Add(1))
	b := c.CodeAgent("b", generable.IntT, generable.IntT, enginetest.Add(2))
	captain := c.Agent(c.Site("agent", "captain"), &agent.Spec{Name: "captain", In: generable.IntT, Out: generable.IntT,
		Run: engine.GoFunc("captain", 2, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			sum := enginetest.Int(args[0])
			l, _ := args[1].AsList()
			for _, said := range l.Items() {
				m, _ := said.AsMap()
				v, _ := m.Get("output")
				sum += enginetest.Int(v)
			}
			return generable.IntOf(sum), nil
		})})
	main := c.Forum(c.Site("forum", ""), flow.ForumOptions{}, a, b, captain)
	c.Sound(t)
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.IntOf(10)})
	if err != nil || enginetest.Int(out) != 10+11+12 {
		t.Fatalf("got %d, %v; want 33", enginetest.Int(out), err)
	}
}

// A forum inside a forum: its members receive what was said around them, and a captain's function receives what was
// said in its own forum.
func TestForumInsideAForum(t *testing.T) {
	c := enginetest.Compose()
	var got []string
	captain := func(name string) *flow.Node {
		return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Run: engine.GoFunc(name, 2, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			var names []string
			l, _ := a[1].AsList()
			for _, said := range l.Items() {
				m, _ := said.AsMap()
				who, _ := m.Get("name")
				names = append(names, enginetest.Str(who))
			}
			got = append(got, name+": "+strings.Join(names, " "))
			return generable.StrOf(name), nil
		})})
	}
	inner := c.Forum(c.Site("forum", "inner"), flow.ForumOptions{}, c.Prompted("inside", generable.StrT, generable.StrT), captain("deputy"))
	main := c.Forum(c.Site("forum", ""), flow.ForumOptions{Rounds: 2}, c.CodeAgent("first", generable.StrT, generable.StrT, enginetest.Identity), inner, captain("chair"))
	c.Sound(t)
	var prompts []string
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		prompts = append(prompts, e.Req.(*model.Request).Messages[0].Parts[0].Text)
		return enginetest.Echo(ctx, e, k)
	})
	if _, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("topic"), Handler: h, Model: "test/model"}); err != nil {
		t.Fatal(err)
	}
	if want := "deputy: inside, deputy: inside, chair: first inner first inner"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
	if prompts[0] != "topic" || prompts[1] != "topic\n\n## Transcript\n\n### first\ntopic\n\n### inner\ndeputy" {
		t.Errorf("prompts %q", prompts)
	}
}
