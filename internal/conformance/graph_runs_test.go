package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/hang"
)

// turns counts how often the node with a name ran.
func turns(t *testing.T, src, name string, opts ...agentscript.RunOption) (int, agentscript.Result, error) {
	t.Helper()
	n := 0
	opts = append(opts, agentscript.OnEvent(engine.EventNode, func(e engine.Event) {
		if e.Phase() == engine.PhaseEnd && strings.Contains(e.Path[strings.LastIndexByte(e.Path, '/')+1:], ":"+name+"#") {
			n++
		}
	}))
	res, err := loaded(t, agentscript.New(), src).Start(t.Context(), opts...).Wait()
	return n, res, err
}

// Promise 3.6 (typed graph): every loop has a limit, 1000 turns by default; reaching it is a distinct error, or ends
// the loop with `on_limit = "last"`.
func TestPromise_3_6_BoundedLoops(t *testing.T) {
	const body = "inc = agent(input = int, output = int, run = lambda n: n + 1)\n"
	for _, c := range []struct {
		name, loop string
		turns      int
		want       string // "" for the error
	}{
		{"until next gives None", "inc.loop(lambda n: None if n >= 5 else n)", 5, "5"},
		{"once", "inc.loop(lambda n: None)", 1, "1"},
		{"by default a thousand", "inc.loop(lambda n: n)", 1000, ""},
		{"max", "inc.loop(lambda n: n, max = 3)", 3, ""},
		{"the last turn may end it", "inc.loop(lambda n: None if n == 3 else n, max = 3)", 3, "3"},
		{"the last output", `inc.loop(lambda n: n, max = 3, on_limit = "last")`, 3, "3"},
		{"until", "loop(inc, until = lambda n: n >= 4, repair = fn(lambda n: n, input = int, output = int))", 4, "4"},
		{"until, bounded", "loop(inc, until = lambda n: False, repair = fn(lambda n: n, input = int, output = int), max = 7)", 7, ""},
		{"a node as next", "inc.loop(fn(lambda n: None if n > 1 else n, input = int, output = int | None))", 2, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, res, err := turns(t, body+"main = "+c.loop+"\n", "inc", input(0))
			if n != c.turns {
				t.Errorf("the body ran %d times, want %d", n, c.turns)
			}
			if c.want != "" {
				if err != nil || res.Text() != c.want {
					t.Errorf("it gives %s, %v; want %s", res.Text(), err, c.want)
				}
				return
			}
			e, ok := err.(*engine.Error)
			if !ok || e.Code != "AS703" || !strings.Contains(e.Message, fmt.Sprint(c.turns)) || !strings.Contains(e.Help, "on_limit") {
				t.Errorf("it gives %s, %v; want AS703 with the limit and the remedy", res.Text(), err)
			}
		})
	}
	refuse(t, []refusal{
		{"zero", body + "main = inc.loop(lambda n: n, max = 0)\n", "AS307", []string{"at least 1, got 0"}},
		{"less", body + "main = inc.loop(lambda n: n, max = -1)\n", "AS307", []string{"at least 1, got -1"}},
		{"no next", body + "main = inc.loop()\n", "AS203", []string{"what makes the next input"}},
		{"a next of another type", body + "main = inc.loop(fn(lambda n: \"\", input = int, output = str))\n", "AS315", []string{"inc wants int, or None to stop"}},
		{"a repair of another type", body + "main = loop(inc, until = lambda n: True, repair = fn(lambda n: \"\", input = int, output = str))\n", "AS315", []string{"inc wants int"}},
		{"a repair that cannot take it", body + "main = loop(inc, until = lambda n: True, repair = fn(lambda s: 1, input = str, output = int))\n", "AS301", []string{"inc returns int, fn wants str"}},
	})
	fails(t, "AS705", body+"main = inc.loop(lambda n: json.decode('\"x\"'))\n", []agentscript.RunOption{input(1)}, "want int")
}

// Promise 3.10 (typed graph): in a forum the participants of a round run on the input and the transcript of earlier
// rounds; the captain runs last, sees everything and gives the result.
func TestPromise_3_10_Forum(t *testing.T) {
	const seen = `
def record(name):
    def f(x, said):
        return name + "<" + x + "|" + ",".join([s["name"] + ":" + s["output"] for s in said]) + ">"
    return agent(name = name, run = f)
`
	gives(t, "c<x|a:a<x|>,b:b<x|>>", seen+`main = record("a") * record("b") * record("c")`, input("x"))
	gives(t, "c<x|a:a<x|>,b:b<x|>,a:a<x|a:a<x|>,b:b<x|>>,b:b<x|a:a<x|>,b:b<x|>>>", seen+`main = forum(record("a"), record("b"), record("c"), rounds = 2)`, input("x"))
	// A captain with one parameter gets only the input; numbers and instances are unchanged.
	gives(t, "38", `
def part(k):
    return agent(name = k, input = list[int], output = int, run = lambda xs: xs[0])
main = part("add") * part("mul") * agent(input = list[int], output = int, run = lambda xs: xs[0] + xs[1] * xs[2] + 12)
`, input([]int{5, 7, 3}))
	gives(t, `[5,"x"]`, `
main = forum(fn(lambda n: n, input = int, output = int), fn(lambda n: "x", input = int, output = str),
    agent(input = int, output = list[any], run = lambda n, said: [s["output"] for s in said]))
`, input(5))

	// A model reads the transcript in its messages, after the input, each line with its speaker.
	_, calls := asked(t, `
opener = agent(prompt = "Open.")
critic = agent(prompt = "Object.")
captain = agent(prompt = "Decide.")
main = forum(opener, critic, captain, rounds = 2)
`, "Cache?", map[string][]string{"opener": {"Yes.", "Still yes."}, "critic": {"No.", "Still no."}, "captain": {"A little."}})
	heard := map[string][]string{}
	for _, c := range calls {
		var texts []string
		for _, m := range c.Request.Messages {
			texts = append(texts, m.Parts[0].Text)
		}
		heard[c.Agent] = append(heard[c.Agent], strings.Join(texts, "\n"))
	}
	if calls[len(calls)-1].Agent != "captain" {
		t.Errorf("the last call was for %s", calls[len(calls)-1].Agent)
	}
	for agent, want := range map[string][][]string{
		"opener":  {{"Cache?"}, {"Cache?", "opener", "Yes.", "critic", "No."}},
		"critic":  {{"Cache?"}, {"Cache?", "opener", "Yes.", "critic", "No."}},
		"captain": {{"Cache?", "Yes.", "No.", "Still yes.", "Still no."}},
	} {
		if len(heard[agent]) != len(want) {
			t.Errorf("%s was asked %d times, want %d", agent, len(heard[agent]), len(want))
			continue
		}
		for i, words := range want {
			at := 0
			for _, w := range words {
				j := strings.Index(heard[agent][i][at:], w)
				if j < 0 {
					t.Errorf("in round %d %s does not hear %q in its place:\n%s", i, agent, w, heard[agent][i])
					break
				}
				at += j + len(w)
			}
		}
	}
	if strings.Contains(heard["opener"][0], "No.") || strings.Contains(heard["opener"][1], "Still") {
		t.Errorf("the opener hears its own round:\n%s", strings.Join(heard["opener"], "\n---\n"))
	}
	refuse(t, []refusal{
		{"nobody to decide", "main = forum(fn(lambda s: s))\n", "AS316", []string{"a participant and a captain"}},
		{"no rounds", "main = forum(fn(lambda s: s), fn(lambda s: s), rounds = 0)\n", "AS307", []string{"rounds: want at least 1, got 0"}},
		{"a member of another input", "main = forum(agent(run = lambda s: s), agent(input = int, name = \"b\", run = lambda n: \"\"), agent(run = lambda s: s))\n", "AS304", []string{"b takes int"}},
	})
}

// Promise 3.11 (typed graph): a parallel whose branches have different output types is an error with the remedy
// `output = A | B`, unless the types are variants of one union.
func TestPromise_3_11_JoinedOutputs(t *testing.T) {
	const types = `
A = schema("A", n = int)
B = schema("B", n = int)
C = schema("C", n = int)
U = union("A or B", A, B)
def to(t):
    return agent(name = str(t).lower()[0], input = int, output = t, run = lambda n, t = t: t(n = n))
def text():
    return agent(name = "text", input = int, output = str, run = lambda n: "n")
`
	for _, c := range []struct{ src, out string }{
		{"to(A) / to(A)", "list[A]"},
		{"to(A) / to(B)", "list[U]"},
		{"par(to(A), to(B), to(A))", "list[U]"},
		{"par(to(A), to(C), output = A | C)", "list[A | C]"},
		{"par(to(A), text(), output = any)", "list[any]"},
		{"par(to(A), to(A), output = U)", "list[U]"},
		{"par(to(A), fn(lambda n: A(n = n), input = int))", "list[any]"},
		{"par(to(A), fn(lambda n: A(n = n), input = int, output = A | None))", "list[A | None]"},
		{"fn(lambda n: A(n = n), input = int, output = U).branch({A: fn(lambda a: a, input = A, output = A), B: fn(lambda b: b, input = B, output = B)})", "U"},
		{"fn(lambda n: n, input = int, output = int).branch([when(lambda n: n > 1, to(A))], otherwise = to(C), output = A | C)", "A | C"},
	} {
		if got := loaded(t, agentscript.New(), types+"main = "+c.src+"\n").Node("main").Out().String(); got != c.out {
			t.Errorf("%s gives %s, want %s", c.src, got, c.out)
		}
	}
	gives(t, `[{"type":"A","n":1},{"type":"B","n":1}]`, types+"main = to(A) / to(B)\n", input(1))
	refuse(t, []refusal{
		{"operators", types + "main = to(A) / to(C)\n", "AS303", []string{"a returns A, c returns C", "declare it: par(a, c, output = A | C)"}},
		{"a function", types + "main = par(to(A), to(B), to(C))\n", "AS303", []string{"declare it: output = A | B | C"}},
		{"a declaration that is too small", types + "main = par(to(A), to(C), output = A)\n", "AS303", []string{"c returns C", "widen it: output = A | C"}},
		{"handlers", types + "main = fn(lambda n: n > 1, input = int, output = bool).branch({True: fn(lambda b: 1, output = int), False: fn(lambda b: \"\", output = str)})\n", "AS303",
			[]string{"the route for True returns int, the route for False returns str", "declare it: output = int | str"}},
	})
	// The remedies work.
	loaded(t, agentscript.New(), types+"main = par(to(A), to(C), output = A | C)\n")
	loaded(t, agentscript.New(), types+"main = fn(lambda n: True, input = int, output = bool).branch({True: fn(lambda b: 1, output = int), False: fn(lambda b: \"\", output = str)}, output = int | str)\n")
}

// Promise 3.13 (typed graph): the outputs of a parallel and of an each come in the order written, and `limit =` bounds
// how many branches run at once.
func TestPromise_3_13_Order(t *testing.T) {
	const src = `
def slow(k):
    return agent(name = "a%d" % k, input = int, output = int, run = lambda n, k = k: n * 10 + k)
`
	for _, seed := range []uint64{0, 1, 2, 3} {
		gives(t, "[10,11,12,13,14]", src+"main = par([slow(k) for k in range(5)])\n", input(1), agentscript.Cooperative(seed))
		gives(t, "[10,20,30,40]", src+"main = slow(0).each(limit = 2)\n", input([]int{1, 2, 3, 4}), agentscript.Cooperative(seed))
	}
	gives(t, "[]", src+"main = slow(0).each()\n", input([]int{}))
	for _, c := range []struct {
		main string
		want int
	}{
		{"par([ask(k) for k in range(8)])", 8},
		{"par([ask(k) for k in range(8)], limit = 3)", 3},
		{"fn(lambda s: [s] * 20, output = list[str]) >> ask(0).each(limit = 2)", 2},
		{"fn(lambda s: [s] * 40, output = list[str]) >> ask(0).each()", 16},
		{"ask(1) * ask(2) * ask(3)", 2}, // the captain waits for the participants
	} {
		src := "def ask(k):\n    return agent(name = \"a%d\" % k, model = \"test/model\", prompt = \"Ask.\")\nmain = " + c.main + "\n"
		if got := atOnce(t, src, c.want); got != c.want {
			t.Errorf("%s runs %d at once, want %d", c.main, got, c.want)
		}
	}
	refuse(t, []refusal{
		{"limit below zero", src + "main = par(slow(0), limit = -1)\n", "AS204", []string{"limit"}},
		{"no items at once", src + "main = slow(0).each(limit = 0)\n", "AS307", []string{"limit: want at least 1, got 0"}},
		{"each without a list", src + "main = slow(0) >> slow(1).each()\n", "AS318", []string{"each"}},
	})
}

// atOnce runs main on a model whose first calls wait for each other, and checks the maximum number of concurrent calls.
func atOnce(t *testing.T, src string, want int) int {
	t.Helper()
	var mu sync.Mutex
	under, most := 0, 0
	all := make(chan struct{})
	models := engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
		mu.Lock()
		if under++; under > most {
			if most = under; most == want {
				close(all)
			}
		}
		mu.Unlock()
		select {
		case <-all:
		case <-ctx.Done():
		case <-hang.Context(t).Done():
		}
		time.Sleep(time.Millisecond) // so that one too many would be seen
		mu.Lock()
		under--
		mu.Unlock()
		return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "x"}}}}
	})
	mod := loaded(t, agentscript.New(agentscript.WithModels(models)), src)
	if _, err := mod.Start(t.Context(), input("x")).Wait(); err != nil {
		t.Error(err)
	}
	return most
}
