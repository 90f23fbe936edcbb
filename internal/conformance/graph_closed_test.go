package conformance

import (
	"encoding/json"
	"testing"

	"github.com/agentscript/agentscript"
)

// The kinds of nodes, each for an int and for a list[int] as input. A kind's text makes a new node, and gives computes
// that node's output, for comparison with a run.
var kinds = []struct {
	name, ints, lists string
	gives             func(v any) any
}{
	{"agent", "inc()", "sum()", base},
	{"fn", "fn(lambda n: n + 1, input = int, output = int)", "fn(total, input = list[int], output = int)", base},
	{"pipeline", "then(inc(), double())", "then(sum(), double())", func(v any) any { return 2 * base(v).(int) }},
	{"parallel", "par(inc(), double())", "par(sum(), sum())", func(v any) any {
		if n, ok := v.(int); ok {
			return []int{n + 1, 2 * n}
		}
		return []int{base(v).(int), base(v).(int)}
	}},
	{"forum", "forum(inc(), double(), biggest())", "forum(sum(), largest())", func(v any) any {
		if n, ok := v.(int); ok {
			return max(n+1, 2*n)
		}
		return base(v)
	}},
	{"loop", "loop(inc(), lambda n: None if n > 9 else n)", "loop(sum(), lambda n: None if n > 9 else [n, n])", func(v any) any {
		for {
			n := base(v).(int)
			if n > 9 {
				return n
			}
			if _, list := v.([]int); list {
				v = []int{n, n}
			} else {
				v = n
			}
		}
	}},
	{"branch", "branch(inc(), [when(lambda n: n < 5, double())], otherwise = inc())", "branch(sum(), [when(lambda n: n < 5, double())], otherwise = inc())", func(v any) any {
		if n := base(v).(int); n < 5 {
			return 2 * n
		} else {
			return n + 1
		}
	}},
	{"fallback", "fallback(fn(lambda n: fail(\"no\"), input = int, output = int), inc())", "fallback(sum(), sum())", base},
	{"race", "race(fn(lambda n: fail(\"no\"), input = int, output = int), inc())", "race(sum())", base},
	{"retry", "retry(inc(), until = gt(0))", "retry(sum(), 2)", base},
	{"vote", "vote(inc(), double(), inc())", "vote(sum(), sum())", base},
	{"attempt", "then(attempt(inc()), fn(lambda a: a.value, input = Attempt[int], output = int))", "then(attempt(sum()), fn(lambda a: a.value, input = Attempt[int], output = int))", base},
	{"merge", "par(inc(), double(), merge = fn(lambda ns: ns[0], input = list[int], output = int))", "par(sum(), sum(), merge = fn(lambda ns: ns[0], input = list[int], output = int))", base},
	{"handoff", "handoff(inc(), {int: fn(lambda n: n, input = int, output = int)})", "handoff(sum(), {int: fn(lambda n: n, input = int, output = int)})", base},
}

// base computes what the agents of the table compute: one more for an int, the sum for a list.
func base(v any) any {
	if list, ok := v.([]int); ok {
		sum := 0
		for _, n := range list {
			sum += n
		}
		return sum
	}
	return v.(int) + 1
}

const closedParts = `
def total(ns):
    n = 0
    for x in ns:
        n += x
    return n
def inc():
    return agent(name = "inc", input = int, output = int, run = lambda n: n + 1)
def double():
    return agent(name = "double", input = int, output = int, run = lambda n: n * 2)
def sum():
    return agent(name = "sum", input = list[int], output = int, run = total)
def most(v, said):
    return max([s["output"] if type(s["output"]) == "int" else total(s["output"]) for s in said])
def biggest():
    return agent(name = "biggest", input = int, output = int, run = most)
def largest():
    return agent(name = "largest", input = list[int], output = int, run = most)
`

// Promise 3.7 (typed graph): any node can be used wherever a node can be: each kind before and after every other kind,
// in a parallel, in a forum, as the body of a loop, as the source and the handler of a branch, and in an each.
func TestPromise_3_7_Closed(t *testing.T) {
	sample := func(list bool) any {
		if list {
			return []int{1, 2}
		}
		return 3
	}
	typeOf := func(v any) (string, bool) {
		if _, ok := v.([]int); ok {
			return "list[int]", true
		}
		return "int", false
	}
	run := func(t *testing.T, src string, in, want any, out string) {
		t.Helper()
		mod := loaded(t, agentscript.New(agentscript.WithStrict()), closedParts+"main = "+src+"\n")
		if got := mod.Node("main").Out().String(); got != out {
			t.Errorf("%s gives %s, want %s", src, got, out)
		}
		res, err := mod.Start(t.Context(), input(in)).Wait()
		if err != nil {
			t.Errorf("%s: %v", src, err)
			return
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if res.JSON() != string(text) {
			t.Errorf("%s of %v gives %s, want %s", src, in, res.JSON(), text)
		}
	}
	runs := 0
	for _, list := range []bool{false, true} {
		in := sample(list)
		inType, _ := typeOf(in)
		for _, a := range kinds {
			text := func() string {
				if list {
					return a.lists
				}
				return a.ints
			}
			first := func() string { // an agent with the same input
				if list {
					return "sum()"
				}
				return "inc()"
			}
			captain := "biggest()"
			if list {
				captain = "largest()"
			}
			got := a.gives(in)
			out, isList := typeOf(got)
			most := got
			if isList {
				most = base(got)
			}
			t.Run(a.name+" of "+inType, func(t *testing.T) {
				for i, b := range kinds {
					runs += 2
					if testing.Short() && i%3 > 0 {
						continue
					}
					next := b.ints
					if isList {
						next = b.lists
					}
					after := b.gives(got)
					afterType, _ := typeOf(after)
					run(t, text()+" >> "+next, in, after, afterType)
					run(t, "then("+text()+", "+next+")", in, after, afterType)
				}
				run(t, "par("+text()+", "+text()+")", in, []any{got, got}, "list["+out+"]")
				run(t, "par("+first()+", "+text()+", output = int | list[int])", in, []any{base(in), got}, "list[int | list[int]]")
				run(t, text()+" * "+captain, in, most, "int")
				run(t, "forum("+first()+", "+text()+", rounds = 2)", in, got, out)
				run(t, "loop("+text()+", lambda v: None)", in, got, out)
				run(t, "("+text()+").branch({"+out+": fn(lambda v: v, input = "+out+", output = "+out+")})", in, got, out)
				run(t, "branch(fn(lambda v: v, input = "+inType+", output = "+inType+"), {"+inType+": "+text()+"})", in, got, out)
				run(t, "branch(fn(lambda v: v, input = "+inType+", output = "+inType+"), [when(lambda v: False, fn(lambda v: fail(\"no route\"), input = "+inType+", output = "+out+"))], otherwise = "+text()+")", in, got, out)
				run(t, "each("+text()+")", []any{in, in}, []any{got, got}, "list["+out+"]")
				runs += 9
			})
		}
	}
	if want := 2 * len(kinds) * (2*len(kinds) + 9); runs != want {
		t.Errorf("%d compositions were run, want %d", runs, want)
	}
	// The same without functions around: what reads as an operator expression.
	run(t, "inc() >> (double() >> inc())", 1, 5, "int")
	run(t, "inc() * biggest() >> inc() / double()", 1, []int{3, 4}, "list[int]")
	run(t, "inc().loop(lambda n: None) / (inc() >> double())", 1, []int{2, 4}, "list[int]")
	run(t, "(inc() >> double()).branch({int: inc() >> inc()})", 1, 6, "int")
}
