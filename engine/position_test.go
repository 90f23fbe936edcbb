package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// unique runs a spec everywhere and demands that no effect id occurs twice. It gives the ids.
func unique(t *testing.T, spec run.Spec) []string {
	t.Helper()
	if _, err := everywhere(t, spec); err != nil {
		t.Fatal(err)
	}
	var seen ids
	spec.Listener = seen.listener()
	if spec.Handler == nil {
		spec.Handler = echo
	}
	if _, err := run.Exec(sched.NewGoSched(t.Context()), &spec); err != nil {
		t.Fatal(err)
	}
	slices.Sort(seen.all)
	for i, id := range seen.all {
		if i > 0 && seen.all[i-1] == id {
			t.Errorf("the id %s occurs twice", id)
		}
	}
	return seen.all
}

func paths(ids []string) string {
	var out []string
	for _, id := range ids {
		path, _, _ := strings.Cut(id, "@")
		out = append(out, path)
	}
	return strings.Join(out, "\n")
}

// asks makes a callback that calls nodes, each on "q", and then gives v.
func asks(v generable.Value, nodes ...*flow.Node) engine.Func {
	return engine.GoFunc("asks", 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		for _, n := range nodes {
			if _, err := run.Call(b, n, generable.StrOf("q")); err != nil {
				return v, err
			}
		}
		return v, nil
	})
}

// Several callbacks stand at one position: those of a branch's routes, of a loop's turn, and
// beside them the nodes that are placed there. What they call has positions of its own.
func TestCallsOfCallbacksHaveTheirOwnPositions(t *testing.T) {
	c := compose()
	judge := c.prompted("judge", strT, strT)
	body := c.prompted("judge", strT, strT) // the same name
	no, yes := generable.BoolOf(false), generable.BoolOf(true)
	branch := c.Branch(c.site("branch", ""), body, []flow.Route{
		{When: asks(no, judge), Handler: c.prompted("judge", strT, strT)},
		{When: asks(no, judge), Handler: c.str()},
		{When: asks(yes, judge, judge), Handler: c.prompted("judge", strT, strT)},
	}, flow.BranchOptions{Otherwise: c.str()})
	turns := 0
	loop := c.Loop(c.site("loop", ""), c.prompted("judge", strT, strT), flow.LoopOptions{Next: engine.GoFunc("next", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		if _, err := run.Call(b, judge, generable.StrOf("q")); err != nil {
			return a[0], err
		}
		if len(str(a[0])) > 60 {
			return generable.Value{}, nil
		}
		turns++
		return a[0], nil
	})})
	until := c.Loop(c.site("loop", "until"), c.prompted("judge", strT, strT), flow.LoopOptions{UntilFunc: asks(yes, judge), Repair: c.prompted("mend", strT, strT)})
	main := c.Then(c.site("then", "main"), branch, loop, until)
	c.sound(t)
	got := paths(unique(t, run.Spec{Node: main, Input: generable.StrOf("q")}))
	for _, want := range []string{
		"main/then:main#0/branch0/agent:judge#0/llm0",
		"main/then:main#0/branch0/when0/agent:judge#0/llm0",
		"main/then:main#0/branch0/when2/agent:judge#1/llm0",
		"main/then:main#0/loop0[0]/agent:judge#0/llm0",
		"main/then:main#0/loop0[0]/next0/agent:judge#0/llm0",
		"main/then:main#0/loop0[1]/next0/agent:judge#0/llm0",
		"main/then:main#0/loop:until#0[0]/until0/agent:judge#0/llm0",
	} {
		if !strings.Contains(got+"\n", want+"\n") {
			t.Errorf("no effect at %s among\n%s", want, got)
		}
	}
}

// Names come from scripts and models and may hold anything.
func TestHostileNamesDoNotCollide(t *testing.T) {
	c := compose()
	a := c.prompted("b", strT, strT)
	inner := c.Then(c.site("then", "x"), a)
	evil := c.prompted("x#0/agent:b", strT, strT)
	nodes := []*flow.Node{inner, evil, c.prompted("é", strT, strT), c.prompted("line\nbreak@[0]", strT, strT), c.prompted("100%", strT, strT), c.prompted("100%25", strT, strT)}
	list := func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		for _, n := range nodes {
			if _, err := run.Call(b, n, generable.StrOf("q")); err != nil {
				return generable.Value{}, err
			}
		}
		return generable.Value{}, nil
	}
	c.sound(t)
	for _, id := range unique(t, run.Spec{Main: engine.GoFunc("main", 0, list)}) {
		if strings.Count(id, "@") != 1 || strings.ContainsAny(id, "\n ") || !utf8.ValidString(id) {
			t.Errorf("the id %q", id)
		}
	}
}

func TestLongPositions(t *testing.T) {
	for shift := range 8 {
		c := compose()
		n := c.prompted("leaf", strT, strT)
		for i := range 120 {
			n = c.Then(c.site("then", strings.Repeat("é", 4)+strings.Repeat("x", shift)+fmt.Sprint(i%10)), n)
		}
		c.sound(t)
		ids := unique(t, run.Spec{Node: n, Input: generable.StrOf("q")})
		if len(ids) != 1 || len(ids[0]) > 300 || !utf8.ValidString(ids[0]) {
			t.Errorf("shift %d: ids %q", shift, ids)
		}
	}
}

func TestRepeatedCallsHaveTheirOwnPositions(t *testing.T) {
	c := compose()
	critic, other := c.prompted("critic", strT, strT), c.prompted("critic", strT, strT)
	worker := c.Fn(c.site("fn", "worker"), engine.GoFunc("worker", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		for range 3 {
			for _, n := range []*flow.Node{critic, other} {
				if _, err := run.Call(b, n, generable.StrOf("q")); err != nil {
					return a[0], err
				}
			}
		}
		return a[0], nil
	}), strT, strT)
	split := c.step("split", strT, list(strT), func(v generable.Value) generable.Value { return generable.ListOf(v, v, v) })
	main := c.Then(c.site("then", ""), split, c.Each(c.site("each", ""), flow.EachOptions{Limit: 0}, worker))
	c.sound(t)
	if ids := unique(t, run.Spec{Node: main, Input: generable.StrOf("q")}); len(ids) != 18 {
		t.Errorf("%d effects, want 3 items of 6 calls", len(ids))
	}
}

// The same tool in several turns, and twice in one.
func TestPositionsOfToolsAndRepairs(t *testing.T) {
	c := compose()
	point := schema(t, "Point", generable.Field{Name: "x", Type: intT})
	main := c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", Out: point, Prompt: "Go.", Repairs: 2,
		Tools: []*agent.Tool{{Name: "look", Params: schema(t, "look"), Returns: strT, Class: engine.ClassRead}}})
	c.sound(t)
	model := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		r := says("no json")
		switch len(e.Req.(*model.Request).Messages) {
		case 1, 3:
			r = calls("look", "{}", "look", "{}")
		case 9:
			r = says(`{"x": 1}`)
		}
		return engine.Outcome{Response: &r, Attempt: 1}
	})
	tool := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Value: generable.StrOf("seen"), Attempt: 1}
	})
	got := paths(unique(t, run.Spec{Node: main, Input: generable.StrOf("q"), Handler: engine.Handlers{engine.EffectModel: model, engine.EffectTool: tool}}))
	want := "main/agent:a#0/llm0 main/agent:a#0/llm1 main/agent:a#0/llm2 main/agent:a#0/llm3 main/agent:a#0/llm4 " +
		"main/agent:a#0/tool:look#0 main/agent:a#0/tool:look#1 main/agent:a#0/tool:look#2 main/agent:a#0/tool:look#3"
	if strings.ReplaceAll(got, "\n", " ") != want {
		t.Errorf("effects at\n%s", got)
	}
}

// A node that calls itself ends with an error, on a host's stack as well as in a script.
func TestEndlessNestingIsAnError(t *testing.T) {
	c := compose()
	var self *flow.Node
	self = c.Fn(c.site("fn", "self"), engine.GoFunc("self", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) { return run.Call(b, self, a[0]) }), strT, strT)
	c.sound(t)
	_, err := runNode(t, self, nil, "x")
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindScript || !strings.Contains(e.Message, "deep") {
		t.Errorf("got %.200v", err)
	}
}

// The recipe of ids is fixed: what one version recorded is found by the next. A change here
// is a new ABI number.
func TestIdsOfThisABI(t *testing.T) {
	c := compose()
	main := c.Then(c.site("then", "main"), c.prompted("coder", strT, strT),
		c.Par(c.site("par", ""), flow.ParOptions{}, c.prompted("critic", strT, strT), c.prompted("critic", strT, strT)))
	c.sound(t)
	var seen ids
	spec := run.Spec{Node: main, Input: generable.StrOf("x"), Handler: echo, Model: "test/model", Listener: seen.listener()}
	if _, err := run.Exec(sched.NewGoSched(t.Context()), &spec); err != nil {
		t.Fatal(err)
	}
	want := `main/then:main#0/agent:coder#0/llm0@8563de8175767826
main/then:main#0/par0[0]/agent:critic#0/llm0@35ff0cef4ff4e580
main/then:main#0/par0[1]/agent:critic#1/llm0@35ff0cef4ff4e580`
	if got := seen.set(); got != want || engine.ABI != 1 {
		t.Errorf("ABI %d gives\n%s", engine.ABI, got)
	}
}
