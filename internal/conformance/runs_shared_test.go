package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
)

// Promise 5.11 (runs): a hundred runs of one loaded module run at the same time without affecting each other.
func TestPromise_5_11_ConcurrentRuns(t *testing.T) {
	const src = `
TABLE = {"add": 3, "words": ["a", "b"]}
Even = schema("Even", n = int)
Odd = schema("Odd", n = int)
Parity = union("Parity", Even, Odd)

def shift(by):
    def f(n):
        print("at", n)
        return n + by + TABLE["add"] - len(TABLE["words"]) - 1
    return fn(f, input = int, output = int)

parity = agent(input = int, output = Parity, run = lambda n: Even(n = n) if n % 2 == 0 else Odd(n = n))
count = fn(lambda n: n + 1, input = int, output = int)
tell = branch(parity, {
    Even: fn(lambda e: "even %d" % e.n, input = Even, output = str),
    Odd: template("odd {{n}}", input = Odd) >> agent(name = "echo", prompt = "Repeat."),
})
branches = count.loop(lambda n: None if n % 10 == 0 else n) / shift(10) / shift(100)
main = branches >> each(tell) >> fn(lambda xs: ", ".join(xs), input = list[str], output = str)
`
	parity := func(n int) string {
		if n%2 == 0 {
			return fmt.Sprintf("even %d", n)
		}
		return fmt.Sprintf("echo(odd %d)", n)
	}
	mod := loaded(t, agentscript.New(), src)
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range 100 {
		all.Go(func() {
			<-begin
			id := fmt.Sprint("run ", i)
			logs := 0
			opts := []agentscript.RunOption{input(i), agentscript.ID(id), agentscript.HandlerForAll(replies(nil)), agentscript.RunLimits(engine.Limits{ModelCalls: engine.AtMost(3)}),
				agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
					if e.Run != id {
						t.Errorf("%s sees an event of %s", id, e.Run)
					}
					if e.Kind == engine.EventLog {
						logs++
						if e.Text() != fmt.Sprint("at ", i) {
							t.Errorf("%s sees the log %q", id, e.Text())
						}
					}
				})}
			if i%4 == 3 {
				opts = append(opts, agentscript.Cooperative(uint64(i)))
			}
			res, err := mod.Start(t.Context(), opts...).Wait()
			want := strings.Join([]string{parity(i - i%10 + 10), parity(i + 10), parity(i + 100)}, ", ")
			if err != nil || res.Text() != want || logs != 2 {
				t.Errorf("%s: %s, %v, %d logs, want %s", id, res.Text(), err, logs, want)
			}
		})
	}
	close(begin)
	all.Wait()
}

// Promise 5.12 (runs): values that branches share are immutable: a script that changes a captured value gets an error
// that says how to copy it.
func TestPromise_5_12_CapturedValuesAreFrozen(t *testing.T) {
	for _, c := range []struct{ name, src, says string }{
		{"a global, from two branches", `
SEEN = []
def note(n):
    (json.decode("null") or SEEN).append(n)
    return n
main = fn(note, input = int, output = int) / fn(lambda n: note(n + 1), input = int, output = int)
`, "append: cannot append to frozen list"},
		{"a list captured by a factory, from two branches", `
def noting(seen):
    def note(n):
        seen.append(n)
        return n
    return fn(note, input = int, output = int)
shared = []
main = noting(shared) / noting(shared)
`, "append: cannot append to frozen list"},
		{"a dict, from the items of each", `
COUNT = {}
def note(n):
    (json.decode("null") or COUNT)[n] = 1
    return n
main = fn(lambda n: [n, n], input = int, output = list[int]) >> each(fn(note, input = int, output = int))
`, "cannot insert into frozen hash table"},
		{"the input that branches share", `
def sort(xs):
    (json.decode("null") or xs).append(0)
    return xs
main = fn(lambda n: [n], input = int, output = list[int]) >> (fn(sort, input = list[int], output = list[int]) / fn(sort, input = list[int], output = list[int])) >> fn(lambda xs: 1, output = int)
`, "append: cannot append to frozen list"},
		{"a value inside of a record", `
Bag = schema("A bag", items = list[int])
BAG = Bag(items = [1])
def note(n):
    (json.decode("null") or BAG.items).append(n)
    return n
main = fn(note, input = int, output = int) / fn(lambda n: n, input = int, output = int)
`, "append: cannot append to frozen list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mod := loaded(t, agentscript.New(), c.src)
			for _, way := range [][]agentscript.RunOption{{input(1)}, {input(1), agentscript.Cooperative(seeds(1)[0])}} {
				_, err := mod.Start(t.Context(), way...).Wait()
				var e *engine.Error
				if !errors.As(err, &e) || e.Kind != engine.KindScript || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Help, "list(x)") {
					t.Fatalf("the error is %v", err)
				}
				if e.Pos.File != "flow.star" || e.Pos.Line < 3 {
					t.Errorf("it is at %s", e.Pos)
				}
			}
		})
	}
	t.Run("a copy can be changed", func(t *testing.T) {
		gives(t, "[[1,2,9],[1,2,9],[1,2]]", `
LIST = [1, 2]
def longer(n):
    own = list(LIST)
    own.append(n)
    return own
same = fn(lambda n: LIST, input = int, output = list[int])
main = par(fn(longer, input = int, output = list[int]), fn(longer, input = int, output = list[int]), same)
`, input(9))
	})
}

// Promise 5.13 (runs): the host's middleware wraps every effect, with the first one given outermost, and does not see
// effects that are answered from the journal.
func TestPromise_5_13_Middleware(t *testing.T) {
	var mu sync.Mutex
	var order []string
	wrap := func(name string) engine.Middleware {
		return func(next engine.Handler) engine.Handler {
			return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, s engine.Sink) engine.Outcome {
				mu.Lock()
				order = append(order, name+" "+string(e.Kind)+" "+e.Name)
				mu.Unlock()
				out := next.Do(ctx, e, s)
				if out.Response != nil {
					r := *out.Response
					r.Parts = append(r.Parts[:len(r.Parts):len(r.Parts)], model.Part{Kind: model.PartText, Text: "<" + name})
					out.Response = &r
				}
				return out
			})
		}
	}
	eng := agentscript.New(agentscript.WithModels(replies(nil)), agentscript.WithDefaultModel("acme/x"), agentscript.WithMiddleware(wrap("outer"), wrap("inner")))
	mod := loaded(t, eng, `main = agent(prompt = "A.")`)
	j := &store.Memory{}
	for range 2 {
		res, err := mod.Start(t.Context(), input("x"), agentscript.RunJournal(j)).Wait()
		if err != nil || res.Text() != "main(x)<inner<outer" {
			t.Errorf("%s, %v", res.Text(), err)
		}
	}
	if got := strings.Join(order, ", "); got != "outer model acme/x, inner model acme/x" {
		t.Errorf("the order is %s", got)
	}
	// A refusal by the middleware never reaches the model.
	blocked := agentscript.New(agentscript.WithModels(unrecorded), agentscript.WithMiddleware(func(engine.Handler) engine.Handler {
		return answering(func(context.Context, string, *model.Request) engine.Outcome {
			return engine.Failed(engine.Errorf(engine.KindQuota, diag.RateLimited, "not today"))
		})
	}))
	if _, err := loaded(t, blocked, `main = agent(prompt = "A.")`).Start(t.Context(), input("x")).Wait(); err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("the error is %v", err)
	}
}

// Promise 5.14 (runs): a seed of the cooperative scheduler gives one order of effects, the same every time; different
// seeds give different orders.
func TestPromise_5_14_SeedsRepeat(t *testing.T) {
	mod := loaded(t, agentscript.New(), `
def asked(i):
    return agent(name = "a%d" % i, prompt = "A.") >> agent(name = "b%d" % i, prompt = "B.")
main = par(*[asked(i) for i in range(8)])
`)
	order := func(seed uint64) string {
		var agents []string
		_, err := mod.Start(t.Context(), input("x"), agentscript.Cooperative(seed), agentscript.HandlerForAll(answering(func(_ context.Context, agent string, _ *model.Request) engine.Outcome {
			agents = append(agents, agent)
			return said(agent)
		}))).Wait()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(agents, " ")
	}
	orders := map[string]bool{}
	for _, seed := range seeds(10) {
		first := order(seed)
		if again := order(seed); again != first {
			t.Errorf("seed %#x gives %s, then %s", seed, first, again)
		}
		if strings.Count(first, " ") != 15 {
			t.Errorf("seed %#x: %s", seed, first)
		}
		orders[first] = true
	}
	if len(orders) < 8 {
		t.Errorf("ten seeds give %d orders", len(orders))
	}
}
