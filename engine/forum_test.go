package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

func TestForumCaptainSeesTheTranscript(t *testing.T) {
	c := compose()
	a, b := c.prompted("a", strT, strT), c.prompted("b", strT, strT)
	captain := c.prompted("captain", strT, strT)
	main := c.Forum(c.site("forum", "main"), flow.ForumOptions{Rounds: 2}, a, b, captain)
	c.sound(t)
	out, err := everywhere(t, run.Spec{Node: main, Input: generable.StrOf("topic")})
	if err != nil {
		t.Fatal(err)
	}
	text := str(out)
	if strings.Count(text, "### a\n") < 2 || !strings.HasPrefix(text, "captain(topic\n") {
		t.Errorf("the captain saw %q", text)
	}
	if !strings.Contains(text, "### a\na(topic\n\n## Transcript") {
		t.Errorf("in the second round a did not see the first: %q", text)
	}
}

func TestForumCaptainWithTwoParametersGetsTheTranscript(t *testing.T) {
	c := compose()
	a := c.agent("a", intT, intT, add(1))
	b := c.agent("b", intT, intT, add(2))
	captain := c.Agent(c.site("agent", "captain"), &agent.AgentSpec{Name: "captain", In: intT, Out: intT,
		Run: engine.GoFunc("captain", 2, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			sum := integer(args[0])
			l, _ := args[1].AsList()
			for _, said := range l.Items() {
				m, _ := said.AsMap()
				v, _ := m.Get("output")
				sum += integer(v)
			}
			return generable.IntOf(sum), nil
		})})
	main := c.Forum(c.site("forum", ""), flow.ForumOptions{}, a, b, captain)
	c.sound(t)
	out, err := everywhere(t, run.Spec{Node: main, Input: generable.IntOf(10)})
	if err != nil || integer(out) != 10+11+12 {
		t.Fatalf("got %d, %v; want 33", integer(out), err)
	}
}

// A forum inside a forum: its members hear what was said around them, and a captain's function
// gets what was said in its own.
func TestForumInsideAForum(t *testing.T) {
	c := compose()
	var got []string
	captain := func(name string) *flow.Node {
		return c.Agent(c.site("agent", name), &agent.AgentSpec{Name: name, Run: engine.GoFunc(name, 2, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			var names []string
			l, _ := a[1].AsList()
			for _, said := range l.Items() {
				m, _ := said.AsMap()
				who, _ := m.Get("name")
				names = append(names, str(who))
			}
			got = append(got, name+": "+strings.Join(names, " "))
			return generable.StrOf(name), nil
		})})
	}
	inner := c.Forum(c.site("forum", "inner"), flow.ForumOptions{}, c.prompted("inside", strT, strT), captain("deputy"))
	main := c.Forum(c.site("forum", ""), flow.ForumOptions{Rounds: 2}, c.agent("first", strT, strT, identity), inner, captain("chair"))
	c.sound(t)
	var prompts []string
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		prompts = append(prompts, e.Req.(*model.Request).Messages[0].Parts[0].Text)
		return echo(ctx, e, k)
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
