package exec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// unique runs a spec everywhere and requires that no effect id occurs twice. It returns the ids.
func unique(t *testing.T, spec run.Spec) []string {
	t.Helper()
	if _, err := enginetest.Everywhere(t, spec); err != nil {
		t.Fatal(err)
	}
	var seen enginetest.IDs
	spec.Listener = seen.Listener()
	if spec.Handler == nil {
		spec.Handler = enginetest.Echo
	}
	if _, err := run.Exec(sched.NewGoSched(t.Context()), &spec); err != nil {
		t.Fatal(err)
	}
	slices.Sort(seen.All)
	for i, id := range seen.All {
		if i > 0 && seen.All[i-1] == id {
			t.Errorf("the id %s occurs twice", id)
		}
	}
	return seen.All
}

func paths(ids []string) string {
	var out []string
	for _, id := range ids {
		path, _, _ := strings.Cut(id, "@")
		out = append(out, path)
	}
	return strings.Join(out, "\n")
}

// asks makes a callback that calls nodes, each with "q", and then returns v.
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

// Several callbacks share one position: those of a branch's routes, those of a loop's turn, together with the nodes
// placed there. Their calls have distinct positions.
func TestCallsOfCallbacksHaveTheirOwnPositions(t *testing.T) {
	c := enginetest.Compose()
	judge := c.Prompted("judge", generable.StrT, generable.StrT)
	body := c.Prompted("judge", generable.StrT, generable.StrT) // the same name
	no, yes := generable.BoolOf(false), generable.BoolOf(true)
	branch := c.Branch(c.Site("branch", ""), body, []flow.Route{
		{When: asks(no, judge), Handler: c.Prompted("judge", generable.StrT, generable.StrT)},
		{When: asks(no, judge), Handler: c.Text()},
		{When: asks(yes, judge, judge), Handler: c.Prompted("judge", generable.StrT, generable.StrT)},
	}, flow.BranchOptions{Otherwise: c.Text()})
	turns := 0
	loop := c.Loop(c.Site("loop", ""), c.Prompted("judge", generable.StrT, generable.StrT), flow.LoopOptions{Next: engine.GoFunc("next", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		if _, err := run.Call(b, judge, generable.StrOf("q")); err != nil {
			return a[0], err
		}
		if len(enginetest.Str(a[0])) > 60 {
			return generable.Value{}, nil
		}
		turns++
		return a[0], nil
	})})
	until := c.Loop(c.Site("loop", "until"), c.Prompted("judge", generable.StrT, generable.StrT), flow.LoopOptions{UntilFunc: asks(yes, judge), Repair: c.Prompted("mend", generable.StrT, generable.StrT)})
	main := c.Then(c.Site("then", "main"), branch, loop, until)
	c.Sound(t)
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

// Names come from scripts and models and may contain anything.
func TestHostileNamesDoNotCollide(t *testing.T) {
	c := enginetest.Compose()
	a := c.Prompted("b", generable.StrT, generable.StrT)
	inner := c.Then(c.Site("then", "x"), a)
	evil := c.Prompted("x#0/agent:b", generable.StrT, generable.StrT)
	nodes := []*flow.Node{inner, evil, c.Prompted("é", generable.StrT, generable.StrT), c.Prompted("line\nbreak@[0]", generable.StrT, generable.StrT), c.Prompted("100%", generable.StrT, generable.StrT), c.Prompted("100%25", generable.StrT, generable.StrT)}
	list := func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		for _, n := range nodes {
			if _, err := run.Call(b, n, generable.StrOf("q")); err != nil {
				return generable.Value{}, err
			}
		}
		return generable.Value{}, nil
	}
	c.Sound(t)
	for _, id := range unique(t, run.Spec{Main: engine.GoFunc("main", 0, list)}) {
		if strings.Count(id, "@") != 1 || strings.ContainsAny(id, "\n ") || !utf8.ValidString(id) {
			t.Errorf("the id %q", id)
		}
	}
}

func TestLongPositions(t *testing.T) {
	for shift := range 8 {
		c := enginetest.Compose()
		n := c.Prompted("leaf", generable.StrT, generable.StrT)
		for i := range 120 {
			n = c.Then(c.Site("then", strings.Repeat("é", 4)+strings.Repeat("x", shift)+fmt.Sprint(i%10)), n)
		}
		c.Sound(t)
		ids := unique(t, run.Spec{Node: n, Input: generable.StrOf("q")})
		if len(ids) != 1 || len(ids[0]) > 300 || !utf8.ValidString(ids[0]) {
			t.Errorf("shift %d: ids %q", shift, ids)
		}
	}
}

func TestRepeatedCallsHaveTheirOwnPositions(t *testing.T) {
	c := enginetest.Compose()
	critic, other := c.Prompted("critic", generable.StrT, generable.StrT), c.Prompted("critic", generable.StrT, generable.StrT)
	worker := c.Fn(c.Site("fn", "worker"), engine.GoFunc("worker", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		for range 3 {
			for _, n := range []*flow.Node{critic, other} {
				if _, err := run.Call(b, n, generable.StrOf("q")); err != nil {
					return a[0], err
				}
			}
		}
		return a[0], nil
	}), generable.StrT, generable.StrT)
	split := c.Step("split", generable.StrT, generable.ListOfType(generable.StrT), func(v generable.Value) generable.Value { return generable.ListOf(v, v, v) })
	main := c.Then(c.Site("then", ""), split, c.Each(c.Site("each", ""), flow.EachOptions{Limit: 0}, worker))
	c.Sound(t)
	if ids := unique(t, run.Spec{Node: main, Input: generable.StrOf("q")}); len(ids) != 18 {
		t.Errorf("%d effects, want 3 items of 6 calls", len(ids))
	}
}

// The same tool in several turns, and twice in one.
func TestPositionsOfToolsAndRepairs(t *testing.T) {
	c := enginetest.Compose()
	point := enginetest.Schema(t, "Point", generable.Field{Name: "x", Type: generable.IntT})
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Out: point, Prompt: "Go.", Repairs: 2,
		Tools: []*agent.Tool{{Name: "look", Params: enginetest.Schema(t, "look"), Returns: generable.StrT, Class: engine.ClassRead}}})
	c.Sound(t)
	model := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		r := enginetest.Says("no json")
		switch len(e.Req.(*model.Request).Messages) {
		case 1, 3:
			r = enginetest.Calls("look", "{}", "look", "{}")
		case 9:
			r = enginetest.Says(`{"x": 1}`)
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
	c := enginetest.Compose()
	var self *flow.Node
	self = c.Fn(c.Site("fn", "self"), engine.GoFunc("self", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) { return run.Call(b, self, a[0]) }), generable.StrT, generable.StrT)
	c.Sound(t)
	_, err := enginetest.RunNode(t, self, nil, "x")
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindScript || !strings.Contains(e.Message, "deep") {
		t.Errorf("got %.200v", err)
	}
}

// The recipe of ids is fixed: the next version finds what one version recorded. A change here requires a new ABI
// number.
func TestIdsOfThisABI(t *testing.T) {
	c := enginetest.Compose()
	main := c.Then(c.Site("then", "main"), c.Prompted("coder", generable.StrT, generable.StrT),
		c.Par(c.Site("par", ""), flow.ParOptions{}, c.Prompted("critic", generable.StrT, generable.StrT), c.Prompted("critic", generable.StrT, generable.StrT)))
	c.Sound(t)
	var seen enginetest.IDs
	spec := run.Spec{Node: main, Input: generable.StrOf("x"), Handler: enginetest.Echo, Model: "test/model", Listener: seen.Listener()}
	if _, err := run.Exec(sched.NewGoSched(t.Context()), &spec); err != nil {
		t.Fatal(err)
	}
	want := `main/then:main#0/agent:coder#0/llm0@8563de8175767826
main/then:main#0/par0[0]/agent:critic#0/llm0@35ff0cef4ff4e580
main/then:main#0/par0[1]/agent:critic#1/llm0@35ff0cef4ff4e580`
	if got := seen.Set(); got != want || engine.ABI != 1 {
		t.Errorf("ABI %d gives\n%s", engine.ABI, got)
	}
}

// hashed is a request that counts how often it is hashed.
type hashed struct{ n atomic.Int32 }

func (h *hashed) Digest() (d [32]byte) {
	h.n.Add(1)
	return d
}

// The id of an effect in flight is computed once, on the first request for it, and not at all without one. A copy of
// the effect keeps it, so that a handler may pass on a changed copy.
func TestAnEffectsIDIsComputedOnce(t *testing.T) {
	req := &hashed{}
	e := (&exec.InFlight{Effect: engine.Effect{Kind: engine.EffectTool, Name: "a", Req: req}}).Begin()
	if req.n.Load() != 0 {
		t.Error("the id was computed though nobody asked for it")
	}
	var asked sync.WaitGroup
	for range 8 {
		asked.Go(func() { e.ID() })
	}
	asked.Wait()
	changed := *e
	changed.Name = "b"
	if id := changed.ID(); id != e.ID() || req.n.Load() != 1 {
		t.Errorf("the copy's id is %q, the original's %q; the request was hashed %d times", id, e.ID(), req.n.Load())
	}
	alone := engine.Effect{Kind: engine.EffectTool, Name: "a", Req: req}
	if alone.ID() != e.ID() {
		t.Errorf("an effect made of the same fields has the id %q, want %q", alone.ID(), e.ID())
	}
}
