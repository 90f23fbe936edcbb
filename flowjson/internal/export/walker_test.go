package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/flowjson/internal/export"
)

// composer writes random scripts within what the format can express. Each expression takes a value of a type and
// returns a str.
type composer struct {
	*rand.Rand
	agents  int
	lines   []string
	returns map[string][]any // for agents that do not return a str: their possible results; true and false mean a verdict for one that judges
}

func (c *composer) name(kind string) string {
	c.agents++
	return fmt.Sprintf("%s%d", kind, c.agents)
}

func (c *composer) task(in string) string {
	return fmt.Sprintf("agent(%q, input = %s, task = \"Do it.\")", c.name("t"), in)
}

// said are the texts that agents return and conditions compare with.
var said = []any{"red", "green", "blue", "else"}

func (c *composer) said() string { return said[c.IntN(3)].(string) }

func (c *composer) flow(depth int, in string) string {
	if depth == 0 {
		return c.task(in)
	}
	first := ""
	if in != "str" {
		first = c.task(in) + " >> "
	}
	switch c.IntN(11) {
	case 7:
		return c.again(depth, in)
	case 8:
		return c.behind(depth, in)
	case 9:
		return c.unasked(in)
	case 0:
		return c.task(in)
	case 1:
		return "(" + c.flow(depth-1, in) + " >> " + c.flow(depth-1, "str") + ")"
	case 2:
		return c.choice(depth, in)
	case 3:
		return "(" + first + c.loop(depth) + ")"
	case 4:
		return "(" + first + c.judged(depth) + ")"
	case 5:
		group := c.name("p")
		var branches []string
		for i := range 2 + c.IntN(3) {
			branches = append(branches, fmt.Sprintf("agent(\"%s_%d\", input = %s, task = \"Do a part.\")", group, i, in))
		}
		return fmt.Sprintf("(par(%s) >> %s)", strings.Join(branches, ", "), c.task("list[str]"))
	case 6:
		return "(" + first + c.graph(depth) + ")"
	}
	return c.textual(depth, in)
}

// choice branches on an agent that returns a bool, a number or one of some words.
func (c *composer) choice(depth int, in string) string {
	name := c.name("c")
	of := func(t string) string {
		return fmt.Sprintf("agent(%q, input = %s, output = %s, task = \"Choose.\")", name, in, t)
	}
	to := func(t string) string { return c.flow(depth-1, t) }
	switch c.IntN(5) {
	case 0:
		c.returns[name] = []any{true, false}
		return fmt.Sprintf("branch(%s, {True: %s, False: %s})", of("bool"), to("bool"), to("bool"))
	case 1:
		c.returns[name] = []any{true, false}
		return fmt.Sprintf("branch(%s, [when(%s, %s)], otherwise = %s)", of("bool"), []string{"eq(True)", "ne(True)", "~eq(False)", "~ne(False)"}[c.IntN(4)], to("bool"), to("bool"))
	case 2:
		t, low, high := "int", any(c.IntN(50)), any(50+c.IntN(50))
		if c.IntN(2) == 0 {
			t, low, high = "float", float64(c.IntN(50))+0.5, 60.25
		}
		c.returns[name] = []any{0, 25, low, 50, high, 99}
		tests := []string{fmt.Sprintf("ge(%v)", high), fmt.Sprintf("~le(%v)", high), fmt.Sprintf("gt(%v)", high), fmt.Sprintf("eq(%v)", high)}
		return fmt.Sprintf("branch(%s, [when(%s, %s), when(lt(%v), %s)], otherwise = %s)", of(t), tests[c.IntN(4)], to(t), low, to(t), to(t))
	case 3:
		words := []string{"p", "q", "r", "s"}[:2+c.IntN(3)]
		enum := strings.ToUpper(name)
		c.lines = append(c.lines, fmt.Sprintf("%s = enum(%s)", enum, `"`+strings.Join(words, `", "`)+`"`))
		for _, w := range words {
			c.returns[name] = append(c.returns[name], w)
		}
		if c.IntN(2) == 0 {
			tests := []string{`eq("q")`, `ne("q")`, `ge("q")`, `eq("p") | eq("q")`, `~(eq("p") & ne("q"))`}
			return fmt.Sprintf("branch(%s, [when(%s, %s)], otherwise = %s)", of(enum), tests[c.IntN(3+min(2, len(words)-2))], to(enum), to(enum))
		}
		var routes []string
		for _, w := range words {
			routes = append(routes, fmt.Sprintf("%q: %s", w, to(enum)))
		}
		return fmt.Sprintf("branch(%s, {%s})", of(enum), strings.Join(routes, ", "))
	}
	return c.textual(depth, in)
}

// textual branches on a text; the rest may bypass it.
func (c *composer) textual(depth int, in string) string {
	test := []string{"eq", "ne", "~eq", "~ne"}[c.IntN(4)]
	otherwise := "fn(lambda x: x, input = str, output = str)"
	if c.IntN(3) > 0 {
		otherwise = c.flow(depth-1, "str")
	}
	return fmt.Sprintf("branch(agent(%q, input = %s, task = \"Say a word.\"), [when(%s(%q), %s)], otherwise = %s)",
		c.name("t"), in, test, c.said(), c.flow(depth-1, "str"), otherwise)
}

// again branches on the output of a branch, and on what bypassed it.
func (c *composer) again(depth int, in string) string {
	if c.IntN(2) == 0 {
		return fmt.Sprintf("branch(%s, [when(eq(%q), %s), when(ne(%q), %s)], otherwise = %s)", c.textual(depth, in), c.said(), c.flow(depth-1, "str"), c.said(), c.flow(depth-1, "str"), c.flow(depth-1, "str"))
	}
	first, second := c.name("c"), c.name("c")
	values := []any{1, 5, 10, 20}
	c.returns[first], c.returns[second] = values, values
	return fmt.Sprintf("branch(branch(agent(%q, input = %s, output = int, task = \"Count.\"), [when(gt(%d), agent(%q, input = int, output = int, task = \"Count again.\"))], otherwise = fn(lambda x: x, input = int, output = int)), [when(ge(%d), %s), when(lt(%d), %s)], otherwise = %s)",
		first, in, 3+c.IntN(10), second, 11+c.IntN(4), c.flow(depth-1, "int"), 2+c.IntN(5), c.flow(depth-1, "int"), c.flow(depth-1, "int"))
}

// behind branches on the output of a loop, or by conditions combined from several tests.
func (c *composer) behind(depth int, in string) string {
	to := func(t string) string { return c.flow(depth-1, t) }
	switch c.IntN(3) {
	case 0:
		first := ""
		if in != "str" {
			first = c.task(in) + " >> "
		}
		until := []string{`eq("success", True)`, `eq("feedback", "green")`, `ne("feedback", "red") & eq("success", True)`}[c.IntN(3)]
		return fmt.Sprintf("(%sbranch(loop(%s, until = %s, repair = pick(\"feedback\")), [when(eq(\"feedback\", %q), %s), when(eq(\"success\", False), %s)], otherwise = %s))",
			first, c.judge(), until, c.said(), to("Critique[str]"), to("Critique[str]"), to("Critique[str]"))
	case 1:
		name := c.name("c")
		c.returns[name] = []any{10, 50, 55, 70, 85, 99}
		tests := [][2]string{{"ge(80)", "gt(55) & lt(90)"}, {"gt(55) & lt(90)", "eq(50) | ge(85)"}, {"~(ge(60) & le(80))", "eq(70)"}, {"eq(50) | ge(85)", "ne(70) & ne(99)"}}[c.IntN(4)]
		return fmt.Sprintf("(%s >> branch(loop(agent(%q, output = int, task = \"Count.\"), until = %s, repair = agent(%q, input = int, task = \"Again.\")), [when(%s, %s), when(%s, %s)], otherwise = %s))",
			c.task(in), name, []string{"ge(50)", "gt(50)", "le(70)"}[c.IntN(3)], c.name("t"), tests[0], to("int"), tests[1], to("int"), to("int"))
	}
	tests := [][2]string{{`ne("red") & ne("green")`, `eq("red")`}, {`eq("red") | eq("green")`, `~eq("blue")`}, {`eq("red") & ne("blue")`, `~(eq("red") | eq("blue"))`}}[c.IntN(3)]
	return fmt.Sprintf("branch(agent(%q, input = %s, task = \"Say a word.\"), [when(%s, %s), when(%s, %s)], otherwise = %s)",
		c.name("t"), in, tests[0], to("str"), tests[1], to("str"), to("str"))
}

// unasked returns an agent whose output no condition compares.
func (c *composer) unasked(in string) string {
	name := c.name("c")
	t := []string{"bool", "int", "float"}[c.IntN(3)]
	c.returns[name] = map[string][]any{"bool": {true, false}, "int": {-1, 0, 7}, "float": {-0.5, 0, 7.5}}[t]
	return fmt.Sprintf("(agent(%q, input = %s, output = %s, task = \"Do it.\") >> %s)", name, in, t, c.task(t))
}

func (c *composer) judge() string {
	name := c.name("v")
	c.returns[name] = []any{true, false}
	return fmt.Sprintf("verify(name = %q, task = \"Judge it.\")", name)
}

func (c *composer) loop(depth int) string {
	body := c.judge()
	if c.IntN(2) == 0 {
		body = c.flow(depth-1, "str") + " >> " + body
	}
	until := []string{`eq("success", True)`, `ne("success", False)`, `~eq("success", False)`, `eq("feedback", "green")`}[c.IntN(4)]
	repair := `pick("feedback")`
	if c.IntN(2) == 0 {
		repair += " >> " + c.flow(depth-1, "str")
	} else if c.IntN(2) == 0 {
		repair = c.flow(depth-1, "Critique[str]")
	}
	return fmt.Sprintf("loop(%s, until = %s, repair = %s) >> pick(\"feedback\")", body, until, repair)
}

// judged branches on a verdict, or on a part of one.
func (c *composer) judged(depth int) string {
	switch c.IntN(3) {
	case 0:
		return fmt.Sprintf("branch(%s >> pick(\"success\"), {True: %s, False: %s})", c.judge(), c.flow(depth-1, "bool"), c.flow(depth-1, "bool"))
	case 1:
		return fmt.Sprintf("branch(%s >> pick(\"feedback\"), [when(eq(\"red\"), %s)], otherwise = %s)", c.judge(), c.flow(depth-1, "str"), c.flow(depth-1, "str"))
	}
	return fmt.Sprintf("branch(%s, [when(eq(\"feedback\", %q), %s), when(eq(\"success\", True), %s)], otherwise = %s)",
		c.judge(), c.said(), c.flow(depth-1, "Critique[str]"), c.flow(depth-1, "Critique[str]"), c.flow(depth-1, "Critique[str]"))
}

// graph leads forward from node to node, and by conditions anywhere. An agent follows it, since what follows may be a
// choice, and its ends may have conditions.
func (c *composer) graph(depth int) string {
	graph := c.name("g")
	n := 2 + c.IntN(3)
	node := func(i int) string {
		if i >= n {
			return "FINISH"
		}
		return fmt.Sprintf("%s_%d", graph, i)
	}
	var edges []string
	edge := func(from, to int, more string) {
		edges = append(edges, fmt.Sprintf("edge(%s, %s%s)", node(from), node(to), more))
	}
	for i := range n {
		judges := c.IntN(3) == 0
		if judges {
			c.lines = append(c.lines, node(i)+" = "+c.judge())
		} else {
			c.lines = append(c.lines, node(i)+" = "+c.flow(depth-1, "str")+" >> "+c.task("str"))
		}
		to := c.IntN(n + 1)
		switch {
		case judges:
			edge(i, to, `, when = eq("success", False), map = pick("feedback")`)
			edge(i, i+1, `, map = pick("feedback")`)
		default:
			if c.IntN(2) == 0 {
				edge(i, to, fmt.Sprintf(", when = eq(%q)", c.said()))
			}
			edge(i, i+1, "")
		}
	}
	c.lines = append(c.lines, fmt.Sprintf("%s = graph(%s, [%s])", graph, node(0), strings.Join(edges, ", ")))
	return graph + " >> " + c.task("str")
}

// answers determines what agents answer: the n-th answer of an agent is always the same.
type answers struct {
	seed    uint64
	returns map[string][]any

	mu    sync.Mutex
	asked map[string]int
	order []string
}

// next returns the next answer of an agent. Eventually all answers let the flow go forward.
func (a *answers) next(agent string) any {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.asked[agent]
	a.asked[agent]++
	a.order = append(a.order, agent)
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d", a.seed, agent, k)
	pick := int(h.Sum64() % (1 << 31))
	of, typed := a.returns[agent]
	judges := strings.HasPrefix(agent, "v")
	switch {
	case judges && k >= 3:
		return object{"success": true, "feedback": "green"}
	case judges:
		return object{"success": of[pick%2], "feedback": said[pick/2%len(said)]}
	case typed:
		return of[pick%len(of)]
	case k >= 3:
		return "else"
	}
	return said[pick%len(said)]
}

// called returns the agents in order; those of a parallel, which are called in any order, by name.
func (a *answers) called() []string {
	group := func(name string) string { p, _, _ := strings.Cut(name, "_"); return p }
	for i := 0; i < len(a.order); {
		j := i + 1
		for j < len(a.order) && strings.HasPrefix(a.order[i], "p") && group(a.order[j]) == group(a.order[i]) {
			j++
		}
		slices.Sort(a.order[i:j])
		i = j
	}
	return a.order
}

// ran runs a node with the answers. It returns the agents that were called, and everything that was sent to their
// models.
func ran(t *testing.T, mod *agentscript.Module, n *flow.Node, a *answers) (called []string, sent map[string]string) {
	t.Helper()
	var mu sync.Mutex
	sent = map[string]string{}
	if _, err := mod.StartNode(context.Background(), n, agentscript.Input("go"), agentscript.Model("openai/m"), agentscript.HandlerFor(engine.EffectModel, engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req := e.Req.(*model.Request)
		text, err := json.Marshal(req)
		if err != nil {
			panic(err)
		}
		mu.Lock()
		text, _, _ = bytes.Cut(text, []byte(`,"output":`)) // an enum has no name in a file; the system text holds its values
		sent[e.Agent] += string(text) + "\n"
		mu.Unlock()
		v := a.next(e.Agent)
		said, _ := v.(string)
		if _, typed := a.returns[e.Agent]; typed {
			b, err := json.Marshal(v)
			if err != nil {
				panic(err)
			}
			said = string(b)
		}
		return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: said}}}}
	}))).Wait(); err != nil {
		t.Fatal(err)
	}
	return a.called(), sent
}

// followed follows the transitions of a file, as its format defines it, with the answers.
func followed(t *testing.T, text string, a *answers) []string {
	t.Helper()
	file := decoded(t, []byte(text))
	agents, leaves := map[string]object{}, map[string][]object{}
	for _, v := range file["agents"].([]any) {
		agents[v.(object)["name"].(string)] = v.(object)
	}
	at := file["agents"].([]any)[0].(object)["name"].(string)
	list, _ := file["transitions"].([]any)
	for i, v := range list {
		from := v.(object)["from"].(string)
		if leaves[from] = append(leaves[from], v.(object)); i == 0 {
			at = from
		}
	}
	var value any = "go"
	for steps := 0; at != "__finish__"; steps++ {
		if steps > 10_000 {
			t.Fatalf("it goes round without an end: %v\n%s", a.order[len(a.order)-30:], text)
		}
		here := agents[at]
		params, _ := here["params"].(object)
		switch here["type"] {
		case "transform":
			value = projected(value, params["transformations"].([]any)[0].(object))
		case "parallel":
			for _, name := range params["agents"].([]any) {
				a.next(name.(string))
			}
		default:
			value = a.next(at)
		}
		next := ""
		for _, e := range leaves[at] {
			if c, ok := e["condition"].(object); ok && !holds(t, c, value) {
				continue
			}
			next = e["to"].(string)
			if p, ok := e["transformation"].(object); ok {
				value = projected(value, p)
			}
			break
		}
		if next == "" {
			if len(leaves[at]) > 0 {
				t.Fatalf("stuck at %s with %v", at, value)
			}
			break
		}
		at = next
	}
	return a.called()
}

func projected(value any, p object) any {
	part := strings.TrimPrefix(p["value"].(string), "input.")
	return value.(object)[part]
}

// holds evaluates a condition of a file.
func holds(t *testing.T, c object, value any) bool {
	if part, ok := strings.CutPrefix(c["variable"].(string), "output."); ok {
		value = value.(object)[part]
	} else if c["variable"] != "output" {
		t.Fatalf("unknown variable in %v", c)
	}
	want := c["value"]
	number := func(v any) (float64, bool) {
		switch v := v.(type) {
		case int:
			return float64(v), true
		case float64:
			return v, true
		}
		return 0, false
	}
	g, numbers := number(value)
	w, numbers2 := number(want)
	numbers = numbers && numbers2
	switch c["operation"] {
	case "equals":
		return value == want || numbers && g == w
	case "not_equals":
		return value != want && !(numbers && g == w)
	case "more":
		return numbers && g > w
	case "more_or_equal":
		return numbers && g >= w
	case "less":
		return numbers && g < w
	case "less_or_equal":
		return numbers && g <= w
	}
	t.Fatalf("unknown operation in %v", c)
	return false
}

// same compares a random flow with its file: the file is sound, and following its transitions calls the same agents in
// the same order as running the flow.
func same(t *testing.T, seed uint64) {
	t.Helper()
	c := &composer{Rand: rand.New(rand.NewPCG(seed, 1)), returns: map[string][]any{}}
	main := "conversation(" + c.flow(3, "str") + ")"
	if c.IntN(2) == 0 {
		main = "conversation(" + c.flow(2, "str") + " >> " + c.judge() + ")"
	}
	script := strings.Join(append(c.lines, "main = "+main), "\n") + "\n"
	mod := module(t, "f.star", script)
	n := mod.Node("main")
	text := written(t, n, export.Options{})
	back(t, text)
	again := reread(t, text)
	for s := range uint64(4) {
		fresh := func() *answers { return &answers{seed: s, returns: c.returns, asked: map[string]int{}} }
		want, asked := ran(t, mod, n, fresh())
		if got := followed(t, text, fresh()); !slices.Equal(got, want) {
			t.Fatalf("seed %d: the file asks\n%v\nthe flow\n%v\n%s\n%s", seed, got, want, script, text)
		}
		got, asked2 := ran(t, mod, again, fresh())
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: the file, run, asks\n%v\nthe flow\n%v\n%s\n%s", seed, got, want, script, text)
		}
		for name := range asked {
			if asked[name] != asked2[name] {
				t.Fatalf("seed %d: the file sends %s\n%s\nthe flow\n%s\n%s\n%s", seed, name, asked2[name], asked[name], script, text)
			}
		}
	}
}

// Promise 29.15 (flows): random compositions that the format can express can be exported. The transitions of the file,
// the script and the file that is read back call the same agents in the same order.
func TestPromise_29_15_Exported(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 80
	}
	for seed := range seeds {
		same(t, seed)
	}
}

func FuzzSameWay(f *testing.F) {
	f.Add(uint64(1 << 40))
	f.Fuzz(func(t *testing.T, seed uint64) { same(t, seed) })
}
