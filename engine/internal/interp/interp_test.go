package interp_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

func TestChainRunsInOrder(t *testing.T) {
	c := enginetest.Compose()
	a, b, d := c.Step("a", generable.IntT, generable.IntT, enginetest.Add(1)), c.Step("b", generable.IntT, generable.IntT, func(v generable.Value) generable.Value { return generable.IntOf(enginetest.Int(v) * 10) }), c.Step("d", generable.IntT, generable.IntT, enginetest.Add(-3))
	main := c.Then(c.Op("`>>`"), c.Then(c.Op("`>>`"), a, b), d)
	c.Sound(t)
	if n := len(main.Children()); n != 3 {
		t.Errorf("a >> b >> d has %d children, want one pipeline of 3", n)
	}
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.IntOf(4)})
	if err != nil || enginetest.Int(out) != 47 {
		t.Fatalf("got %v, %v; want 47", enginetest.Int(out), err)
	}
}

func TestParallelKeepsOrder(t *testing.T) {
	c := enginetest.Compose()
	var nodes []*flow.Node
	for i := range int64(20) {
		nodes = append(nodes, c.Step(fmt.Sprint("s", i), generable.IntT, generable.IntT, enginetest.Add(i)))
	}
	main := c.Par(c.Site("par", "main"), flow.ParOptions{Limit: 3}, nodes...)
	c.Sound(t)
	if got := main.Out().String(); got != "list[int]" {
		t.Errorf("output type %s", got)
	}
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.IntOf(100)})
	if err != nil {
		t.Fatal(err)
	}
	l, _ := out.AsList()
	for i := range l.Len() {
		if enginetest.Int(l.At(i)) != int64(100+i) {
			t.Fatalf("branch %d gave %d", i, enginetest.Int(l.At(i)))
		}
	}
}

func TestLoopEndsWithNone(t *testing.T) {
	c := enginetest.Compose()
	double := c.Step("double", generable.IntT, generable.IntT, func(v generable.Value) generable.Value { return generable.IntOf(2 * enginetest.Int(v)) })
	next := engine.GoFunc("next", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
		if enginetest.Int(a[0]) > 100 {
			return generable.Value{}, nil
		}
		return a[0], nil
	})
	main := c.Loop(c.Site("loop", "main"), double, flow.LoopOptions{Next: next})
	c.Sound(t)
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.IntOf(1)})
	if err != nil || enginetest.Int(out) != 128 {
		t.Fatalf("got %d, %v; want 128", enginetest.Int(out), err)
	}
}

func TestLoopLimit(t *testing.T) {
	forever := engine.GoFunc("next", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) { return a[0], nil })
	for _, last := range []bool{false, true} {
		c := enginetest.Compose()
		main := c.Loop(c.Site("loop", "main"), c.Step("inc", generable.IntT, generable.IntT, enginetest.Add(1)), flow.LoopOptions{Next: forever, Max: 3, LastWins: last})
		c.Sound(t)
		out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.IntOf(0)})
		var e *engine.Error
		switch {
		case last && (err != nil || enginetest.Int(out) != 3):
			t.Errorf("last: got %d, %v", enginetest.Int(out), err)
		case !last && (!errors.As(err, &e) || e.Code != diag.LoopLimit || e.Path == "" || !e.Pos.IsValid()):
			t.Errorf("fail: got %#v", err)
		}
	}
}

// The help of a loop that reaches its limit uses the words of the loop.
func TestHelpOfALoopLimit(t *testing.T) {
	never := engine.GoFunc("never", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.BoolOf(false), nil })
	again := engine.GoFunc("again", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) { return a[0], nil })
	for help, options := range map[string]func(step func() *flow.Node) flow.LoopOptions{
		"make next return None earlier, raise max": func(func() *flow.Node) flow.LoopOptions { return flow.LoopOptions{Next: again} },
		"make next return None earlier":            func(step func() *flow.Node) flow.LoopOptions { return flow.LoopOptions{NextNode: step()} },
		"make until return True earlier, raise max": func(step func() *flow.Node) flow.LoopOptions {
			return flow.LoopOptions{UntilFunc: never, Repair: step()}
		},
	} {
		c := enginetest.Compose()
		step := func() *flow.Node {
			return c.Step(c.Fresh(), generable.IntT, generable.IntT, enginetest.Identity)
		}
		o := options(step)
		o.Max = 2
		main := c.Loop(c.Site("loop", "main"), step(), o)
		c.Sound(t)
		_, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.IntOf(0)})
		var e *engine.Error
		if !errors.As(err, &e) || e.Code != diag.LoopLimit || !strings.HasPrefix(e.Help, help) {
			t.Errorf("want the help %q: %v", help, e)
		}
	}
}

func TestBranchRoutesByType(t *testing.T) {
	c := enginetest.Compose()
	circle, _ := generable.NewSchema("Circle", "", []generable.Field{{Name: "r", Type: generable.FloatT}})
	rect, _ := generable.NewSchema("Rect", "", []generable.Field{{Name: "w", Type: generable.FloatT}, {Name: "h", Type: generable.FloatT}})
	shape, errs := generable.NewUnion("Shape", "", "", []*generable.Type{circle, rect})
	if errs != nil {
		t.Fatal(errs)
	}
	c.DeclareUnion(shape)
	classify := c.CodeAgent("classify", generable.StrT, shape, func(v generable.Value) generable.Value {
		m := generable.NewMap(2)
		if enginetest.Str(v) == "circle" {
			f, _ := generable.FloatOf(6)
			m.Set("r", f)
			r, errs := circle.Construct(m)
			if errs != nil {
				panic(errs)
			}
			return r.Value()
		}
		m.Set("w", generable.IntOf(2)) // widened by construction
		m.Set("h", generable.IntOf(3))
		r, errs := rect.Construct(m)
		if errs != nil {
			panic(errs)
		}
		return r.Value()
	})
	name := func(n string) func(generable.Value) generable.Value {
		return func(v generable.Value) generable.Value { return generable.StrOf(n + generable.JSON(v, nil)) }
	}
	main := c.Branch(c.Site("branch", "main"), classify, []flow.Route{
		{Type: circle, Handler: c.CodeAgent("circle", circle, generable.StrT, name("circle "))},
		{Type: rect, Handler: c.Then(c.Site("then", ""), c.CodeAgent("rect", rect, generable.StrT, name("rect ")), c.Step("up", generable.StrT, generable.StrT, func(v generable.Value) generable.Value { return generable.StrOf(strings.ToUpper(enginetest.Str(v))) }))},
	}, flow.BranchOptions{})
	c.Sound(t)
	for in, want := range map[string]string{"circle": `circle {"r":6.0}`, "x": `RECT {"W":2.0,"H":3.0}`} {
		out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf(in)})
		if err != nil || enginetest.Str(out) != want {
			t.Errorf("%s: got %q, %v; want %q", in, enginetest.Str(out), err, want)
		}
	}
}

// A value that no route takes, where composing could not know, is a separate error.
func TestNoRoute(t *testing.T) {
	c := enginetest.Compose()
	main := c.Branch(c.Site("branch", "b"), c.Step("any", generable.StrT, generable.AnyT, enginetest.Identity), []flow.Route{enginetest.On(generable.IntT, c.Step("i", generable.IntT, generable.StrT, enginetest.Identity)), enginetest.On(true, c.Step("t", generable.AnyT, generable.StrT, enginetest.Identity))}, flow.BranchOptions{})
	c.Sound(t)
	_, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x")})
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != diag.NoRoute || e.Kind != engine.KindType || e.Path != "main/branch:b#0" || !strings.Contains(e.Message, "no branch handles str") {
		t.Errorf("got %#v", err)
	}
}

func TestEachRunsOverAList(t *testing.T) {
	c := enginetest.Compose()
	main := c.Each(c.Site("each", "main"), flow.EachOptions{Limit: 4}, c.Prompted("reader", generable.StrT, generable.StrT))
	c.Sound(t)
	var items []generable.Value
	for i := range 30 {
		items = append(items, generable.StrOf(fmt.Sprint("doc", i)))
	}
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.ListOf(items...)})
	if err != nil {
		t.Fatal(err)
	}
	l, _ := out.AsList()
	for i := range l.Len() {
		if enginetest.Str(l.At(i)) != fmt.Sprintf("reader(doc%d)", i) {
			t.Fatalf("item %d: %q", i, enginetest.Str(l.At(i)))
		}
	}
}

// counting returns a loop of n turns.
func counting(c *enginetest.Composer, n int64) *flow.Node {
	next := engine.GoFunc("next", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
		if enginetest.Int(a[0]) >= n {
			return generable.Value{}, nil
		}
		return a[0], nil
	})
	return c.Loop(c.Site("loop", "main"), c.Step("inc", generable.IntT, generable.IntT, enginetest.Add(1)), flow.LoopOptions{Next: next, Max: int(n) + 1})
}

// A loop needs no more memory for many turns than for few.
func TestLoopsRunInConstantSpace(t *testing.T) {
	live := func(turns int64) uint64 {
		c := enginetest.Compose()
		main := counting(c, turns)
		last := c.Fn(c.Site("fn", "last"), engine.GoFunc("last", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return generable.IntOf(int64(m.HeapAlloc + m.StackInuse)), nil
		}), generable.IntT, generable.IntT)
		all := c.Then(c.Site("then", ""), main, last)
		c.Sound(t)
		out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: all, Input: generable.IntOf(0)})
		if err != nil {
			t.Fatal(err)
		}
		return uint64(enginetest.Int(out))
	}
	live(10) // one-time allocations
	// Stacks are counted in spans, and the runtime may have one more by chance: memory kept per turn would be there
	// each time.
	few, many := live(100), live(100_000)
	for tries := 1; tries < 5 && many > few+64<<10; tries++ {
		few, many = max(few, live(100)), min(many, live(100_000))
	}
	if many > few+64<<10 {
		t.Errorf("%d bytes are live after 100 turns, %d after 100,000", few, many)
	}
}

func TestWideAndDeepGraphs(t *testing.T) {
	c := enginetest.Compose()
	wide := make([]*flow.Node, 10_000)
	for i := range wide {
		wide[i] = c.Step("noop", generable.IntT, generable.IntT, enginetest.Identity)
	}
	deep := c.Step("noop", generable.IntT, generable.IntT, enginetest.Identity)
	for range 9_000 {
		deep = c.Then(c.Site("then", "deep"), deep)
	}
	flat := c.Step("noop", generable.IntT, generable.IntT, enginetest.Add(1))
	for range 3_000 {
		flat = c.Then(c.Op("`>>`"), flat, c.Step("noop", generable.IntT, generable.IntT, enginetest.Add(1)))
	}
	right := c.Step("noop", generable.IntT, generable.IntT, enginetest.Add(1))
	for range 3_000 {
		right = c.Then(c.Op("`>>`"), c.Step("noop", generable.IntT, generable.IntT, enginetest.Add(1)), right)
	}
	main := c.Then(c.Site("then", "main"), deep, flat, right, c.Par(c.Site("par", ""), flow.ParOptions{}, wide...))
	c.Sound(t)
	if n := len(flat.Children()); n != 3_001 {
		t.Errorf("a chain of 3,001 operands has %d children", n)
	}
	for name, s := range map[string]engine.Sched{"goroutines": sched.NewGoSched(t.Context()), "cooperative": sched.NewCoopSched(1)} {
		out, err := run.Exec(s, &run.Spec{Node: main, Input: generable.IntOf(0)})
		l, _ := out.AsList()
		if err != nil || l.Len() != 10_000 || enginetest.Int(l.At(9_999)) != 6_002 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEachOverNothing(t *testing.T) {
	c := enginetest.Compose()
	main := c.Each(c.Site("each", ""), flow.EachOptions{Limit: 0}, c.Prompted("reader", generable.StrT, generable.StrT))
	c.Sound(t)
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.ListOf()})
	if l, ok := out.AsList(); err != nil || !ok || l.Len() != 0 {
		t.Errorf("got %s, %v", generable.JSON(out, nil), err)
	}
}

// A node that makes the next input may return None to stop.
func TestLoopWithANodeAsNext(t *testing.T) {
	c := enginetest.Compose()
	next := c.Step("next", generable.IntT, generable.OneOf(generable.IntT, generable.NoneT), func(v generable.Value) generable.Value {
		if enginetest.Int(v) > 20 {
			return generable.Value{}
		}
		return v
	})
	repaired := c.Loop(c.Site("loop", "check"), c.Step("check", generable.IntT, generable.BoolT, func(v generable.Value) generable.Value { return generable.BoolOf(enginetest.Int(v) > 3) }),
		flow.LoopOptions{UntilFunc: engine.GoFunc("ok", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) { return a[0], nil }),
			Repair: c.Step("mend", generable.BoolT, generable.IntT, func(generable.Value) generable.Value { return generable.IntOf(4) })})
	main := c.Then(c.Site("then", ""), c.Loop(c.Site("loop", "double"), c.Step("double", generable.IntT, generable.IntT, func(v generable.Value) generable.Value { return generable.IntOf(2 * enginetest.Int(v)) }), flow.LoopOptions{NextNode: next}),
		c.Step("small", generable.IntT, generable.IntT, func(v generable.Value) generable.Value { return generable.IntOf(enginetest.Int(v) - 30) }), repaired)
	c.Sound(t)
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.IntOf(1)})
	if ok, _ := out.AsBool(); err != nil || !ok {
		t.Errorf("got %s, %v", generable.JSON(out, nil), err)
	}
}

// What a branch would have handled is not the error of the run if a sibling ended the branch first.
func TestFailureThatEndsABranchIsReported(t *testing.T) {
	enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
		c := enginetest.Compose()
		fails := func(name string, wait bool) *flow.Node {
			return c.Fn(c.Site("fn", name), engine.GoFunc(name, 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
				if wait { // until it must stop
					_ = b.Wait(func() bool { return false })
				}
				return generable.Value{}, errors.New(name + " failed")
			}), generable.StrT, generable.StrT)
		}
		main := c.Par(c.Site("par", ""), flow.ParOptions{Output: generable.AnyT},
			c.Attempt(c.Site("attempt", ""), fails("attempted", true)),
			c.Retry(c.Site("retry", ""), fails("retried", true), flow.RetryOptions{Max: 2}),
			c.Par(c.Site("par", ""), flow.ParOptions{OnError: flow.OnErrorKeep}, fails("kept", true)),
			c.Race(c.Site("race", ""), flow.FirstOptions{}, fails("raced", true), fails("raced too", true)),
			c.Fallback(c.Site("fallback", ""), flow.FirstOptions{}, fails("tried", true), fails("tried too", true)),
			fails("last", false))
		c.Sound(t)
		if _, err := run.Exec(s, &run.Spec{Node: main, Input: generable.StrOf("x")}); err == nil || !strings.Contains(err.Error(), "last failed") {
			t.Error(err)
		}
	})
}
