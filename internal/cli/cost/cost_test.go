package cost_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/prices"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/sample"
	"github.com/agentscript/agentscript/internal/cli/cost"
)

// generated writes random flows.
type generated struct {
	r    *rand.Rand
	head strings.Builder
	n    int
}

// budget returns a random budget, or none.
func (g *generated) budget(size int) string {
	var parts []string
	if g.r.IntN(2) == 0 {
		parts = append(parts, fmt.Sprintf("tokens = %d", 1+g.r.IntN(3000*size)))
	}
	if g.r.IntN(2) == 0 {
		parts = append(parts, fmt.Sprintf("usd = %f", float64(1+g.r.IntN(3000*size))*4/1e6))
	}
	if g.r.IntN(4) == 0 {
		parts = append(parts, fmt.Sprintf("model_calls = %d", 1+g.r.IntN(2*size)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "budget(" + strings.Join(parts, ", ") + ")"
}

func (g *generated) agent() string {
	g.n++
	name := fmt.Sprintf("a%d", g.n)
	more := ""
	if g.r.IntN(3) == 0 {
		more += fmt.Sprintf(", max_tokens = %d", 1+g.r.IntN(3000))
	}
	switch b := g.budget(2); {
	case g.r.IntN(4) == 0:
		more += ", budget = pot"
	case b != "" && g.r.IntN(2) == 0:
		more += ", budget = " + b
	}
	if g.r.IntN(3) == 0 {
		more += ", tools = [look]"
	}
	if g.r.IntN(8) == 0 {
		more += ", extra = " + []string{`{"n": 3}`, `{"max_tokens": 30000}`, `{"service_tier": "priority"}`}[g.r.IntN(3)]
	}
	fmt.Fprintf(&g.head, "%s = agent(prompt = %q, model = \"acme/%s\"%s)\n", name, strings.Repeat("word ", 1+g.r.IntN(200)), []string{"cheap", "dear", "odd"}[g.r.IntN(3)], more)
	return name
}

// typed returns an agent with an output, whose answers may not fit.
func (g *generated) typed(output, more string) string {
	g.n++
	fmt.Fprintf(&g.head, "b%d = agent(prompt = \"Be typed.\", model = \"acme/dear\", output = %s, repairs = %d%s)\n", g.n, output, g.r.IntN(4), more)
	if output == "Draft" {
		return fmt.Sprintf("then(b%d, text())", g.n)
	}
	return fmt.Sprintf("b%d", g.n)
}

// named returns the variable that holds a node, which can then be written several times.
func (g *generated) named(node string) string {
	g.n++
	fmt.Fprintf(&g.head, "n%d = %s\n", g.n, node)
	return fmt.Sprintf("n%d", g.n)
}

func (g *generated) node(depth int) string {
	if depth == 0 {
		return g.agent()
	}
	a, b := g.node(depth-1), g.node(g.r.IntN(depth))
	var n string
	switch g.r.IntN(20) {
	case 6:
		n = fmt.Sprintf("then(par(%s, %s, %s), each(%s), text())", a, b, g.agent(), g.agent())
	case 7:
		n = fmt.Sprintf("then(items(), each(%s), each(%s), text())", a, b)
	case 8:
		n = fmt.Sprintf("then(forum(%s, %s, captain = %s, rounds = %d), text())", a, b, g.agent(), 1+g.r.IntN(3))
	case 9:
		n = fmt.Sprintf("retry(%s, max = %d, until = lambda v: False, on_limit = \"last\")", a, 1+g.r.IntN(3))
	case 10:
		n = fmt.Sprintf("vote(%s, %s, quorum = 1)", a, b)
	case 11:
		kind := []string{"branch", "handoff"}[g.r.IntN(2)]
		n = fmt.Sprintf("then(%s(%s, {\"x\": %s, \"y\": %s}), text())", kind, g.typed("Either", ""), a, b)
	case 12:
		a, b, c := g.named(a), g.named(b), g.agent()
		n = fmt.Sprintf("graph(%s, [edge(%s, %s), edge(%s, %s, when = matches(\"o\")), edge(%s, %s)], max_steps = %d, on_no_match = \"finish\")", a, a, b, b, a, b, c, 3+g.r.IntN(5))
	case 13:
		n = g.typed("Draft", fmt.Sprintf(", tools = [look, as_tool(%s, \"ask1\", \"Asks.\"), as_tool(then(each(%s), text()), \"ask2\", \"Asks.\")], budget = budget(turns = %d, tool_calls = %d)", a, b, 1+g.r.IntN(3), 1+g.r.IntN(4)))
	case 14:
		n = g.typed("Draft", fmt.Sprintf(", tools = [tool(bad, on_error = again(2))], on_tool_error = [fix(then(string(), %s), retries = %d, then = \"call\"), fix(then(string(), %s))], budget = budget(turns = 2, tool_calls = %d)", a, 1+g.r.IntN(3), b, 1+g.r.IntN(3)))
	case 15:
		n = g.typed("Draft", fmt.Sprintf(", skills = [skill(\"one\", \"One.\", tools = [look]), skill(\"two\", \"Two.\")], select = router(otherwise = \"one\", repairs = %d)", g.r.IntN(3)))
	case 16:
		n = fmt.Sprintf("conversation(loop(then(%s, %s), lambda v: v, max = 3, on_limit = \"last\"), history = compress(after = 2, keep = 1, how = \"summary\"))", a, b)
	case 17:
		n = fmt.Sprintf("then(loop(verify(task = \"It is fine.\", model = \"acme/cheap\"), until = eq(\"success\", True), repair = then(string(), %s), max = %d, on_limit = \"last\"), text())", a, 1+g.r.IntN(3))
	case 18:
		n = fmt.Sprintf("then(wrap(%s, %s), text())", a, g.agent())
	case 19:
		n = fmt.Sprintf("then(par(then(%s, items()), items()), each(each(%s)), text())", a, b)
	case 0:
		n = fmt.Sprintf("then(%s, %s)", a, b)
	case 1:
		n = fmt.Sprintf("loop(%s, lambda v: v, max = %d, on_limit = \"last\")", a, 1+g.r.IntN(3))
	case 2:
		n = fmt.Sprintf("fallback(%s, %s)", a, b)
	case 3:
		n = fmt.Sprintf("race(%s, %s)", a, b)
	default:
		n = fmt.Sprintf("then(par(%s, %s, %s), text())", a, b, g.agent())
	}
	if budget := g.budget(4); budget != "" {
		n = fmt.Sprintf("bounded(%s, %s)", n, budget)
	}
	if g.r.IntN(3) == 0 {
		n = fmt.Sprintf("then(attempt(%s), said())", n)
	}
	return n
}

// server answers within its limits. It reads fewer tokens than estimated, or up to one per byte.
type server struct {
	mu     sync.Mutex
	r      *rand.Rand
	models *llm.Registry
	maker  *sample.Maker
	strays bool
	usd    float64
	calls  int64
}

func textOf(messages []model.Message) (bytes int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			bytes += len(p.Text)
		}
	}
	return bytes
}

// answer returns an answer of the requested type, or not.
func (s *server) answer(req *model.Request) string {
	if req.Output == nil || req.Output.Type == nil || !req.Output.Type.HasSchema() {
		return "ok"
	}
	v, err := s.maker.Value(req.Output.Type, "it")
	if err != nil || s.r.IntN(2) == 0 {
		return "none of it"
	}
	return generable.JSON(v, req.Output.Type)
}

func (s *server) Do(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	bytes := textOf(req.Messages) + len(req.System)
	s.mu.Lock()
	s.calls++
	u := model.Usage{In: s.r.IntN(bytes/4 + 1)}
	if len(req.Since()) < len(req.Messages) { // the server reported the size of what it read earlier
		u.In = s.r.IntN(textOf(req.Since())/4 + 1)
	}
	if s.strays {
		u.In = s.r.IntN(bytes + 1)
	}
	_, most := s.models.AnswerSize(req)
	if most == 0 {
		most = 32_768
	}
	answers, limits, _ := llm.ExtraUse(req.Params.Extra)
	if req.Params.MaxTokens != nil && !limits {
		most = min(most, *req.Params.MaxTokens)
	}
	most *= answers
	if e.MaxOut > 0 {
		most = int(e.MaxOut)
	}
	u.Out = s.r.IntN(most + 1)
	if s.r.IntN(3) == 0 {
		u.Out = most
	}
	u.Reasoning, u.CacheRead = s.r.IntN(u.Out+1), s.r.IntN(u.In+1)
	r := model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: s.answer(req)}}}
	if len(req.Tools) > 0 && req.Choice.Mode != model.ChoiceNone && s.r.IntN(2) == 0 {
		r.Parts, r.Finish = nil, model.FinishCalls
		for range 1 + s.r.IntN(2) {
			tool := req.Tools[s.r.IntN(len(req.Tools))]
			args, err := s.maker.Value(tool.Params, fmt.Sprint(s.calls))
			if err != nil {
				panic(err)
			}
			r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: fmt.Sprint("c", s.calls, len(r.Parts)), Name: tool.Name, Args: generable.JSON(args, tool.Params)}})
		}
	}
	if e.Short && u.Out == int(e.MaxOut) {
		r = model.Response{Finish: model.FinishLength, Parts: []model.Part{{Kind: model.PartText, Text: "o"}}}
	}
	usd, _ := s.models.PriceCall(req, u)
	s.usd += usd
	wait := time.Duration(s.r.IntN(1000)) * time.Millisecond
	s.mu.Unlock()
	_ = clock.Sleep(ctx, wait)
	return engine.Outcome{Response: &r, Usage: u, Attempt: 1}
}

// Promise 26.76 (sound): no run of a random flow makes more model calls than `check --cost` reports, or spends more: with
// servers that keep their limits at most its sum, which counts shared budgets once, and with misjudged inputs at most the sum
// plus the reported overrun.
func TestPromise_26_76_NeverBelow(t *testing.T) {
	table, err := prices.Embedded().With([]byte(`{"acme/cheap": {"input": 1, "output": 4, "cache_read": 0.1, "context": 40000},
		"acme/dear": {"input": 3, "output": 15, "context": 50000}, "acme/odd": {"input": 6, "output": 2, "context": 60000}}`))
	if err != nil {
		t.Fatal(err)
	}
	models := llm.New(llm.WithPrices(table), llm.WithProvider("acme", nil))
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 100
	}
	ran := map[string]int{}
	for seed := range seeds {
		g := &generated{r: rand.New(rand.NewPCG(seed, 76))}
		main := g.node(1 + g.r.IntN(3))
		src := "pot = budget(\"pot\", tokens = 4000, usd = 0.02)\n" + `
def look(at = str):
    """Looks."""
    return "nothing"

Draft = schema("A draft", title = str, score = field(int, ge = 3))
Either = enum("x", "y")

def bad(at = str):
    """Fails."""
    return fail("no")

def items():
    return fn(lambda v: ["x", "y", "z"], input = any, output = list[str])

def string():
    return fn(lambda v: "x", input = any, output = str)

def text():
    return fn(lambda v: "x", input = any, output = str)

def said():
    return fn(lambda v: "x", input = any, output = str)
` + g.head.String() + "main = then(" + main + ", text())\n"
		eng := agentscript.New(agentscript.WithPricer(models))
		m, err := eng.Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(src)}}, "flow.star")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, src)
		}
		bounds, shared := flow.SharedBounds(3, m.Node("main"))
		report := cost.Of("flow.star", false, 3, bounds, shared, models, "")
		parts := 0.0
		for _, a := range report.Agents {
			parts += *a.CostUSD
		}
		if report.CostUSD > parts*1.000001 {
			t.Errorf("seed %d: a sum of $%g, more than its parts, $%g", seed, report.CostUSD, parts)
		}
		if report.CostUSD < parts*0.99 {
			ran["shared"]++
		}
		for _, strays := range []bool{false, true} {
			s := &server{r: rand.New(rand.NewPCG(seed, 2)), models: models, strays: strays, maker: sample.New(seed)}
			overrun := false
			run := m.Start(t.Context(), agentscript.Input("x"), agentscript.HandlerFor(engine.EffectModel, s), agentscript.Cooperative(seed),
				agentscript.OnEvent(engine.EventBudget, func(e engine.Event) {
					d, _ := e.Data.(*event.Budget)
					overrun = overrun || d.Change != nil && d.Change.What == event.BudgetOverrun
				}))
			if _, err := run.Wait(); err != nil && engine.AsError(err).Kind == engine.KindPanic { // runs may fail: budgets are exhausted, answers do not fit
				t.Fatalf("seed %d: %v\n%s", seed, err, src)
			}
			most := report.CostUSD
			if strays {
				most += report.OverrunUSD
			} else if overrun {
				t.Errorf("seed %d: overrun without anything misjudged\n%s", seed, src)
			}
			if s.calls > report.Calls || s.usd > most*1.000001+1e-9 {
				t.Errorf("seed %d, strays %v: %d calls for $%g, and at most %d calls for $%g were said\n%s%s", seed, strays, s.calls, s.usd, report.Calls, most, src, report)
			}
			if overrun {
				ran["overruns"]++
			}
			if s.usd > report.CostUSD/2 {
				ran["near"]++
			}
			ran["calls"] += int(s.calls)
		}
		if t.Failed() && seed > 20 {
			return
		}
	}
	if ran["shared"] < int(seeds)/10 || ran["overruns"] < int(seeds)/20 || ran["near"] < int(seeds)/20 || ran["calls"] < 2*int(seeds) {
		t.Errorf("of %d flows: %v", seeds, ran)
	}
}

// Answers that break off are paid for, and requested again: the report says how much that is at most.
func TestRetried(t *testing.T) {
	table, err := prices.Embedded().With([]byte(`{"acme/dear": {"input": 3, "output": 15, "context": 50000}, "acme/cheap": {"input": 1, "output": 4, "context": 40000}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		src   string
		times int64 // each of the two calls
	}{
		{`main = agent("a", prompt = "x", output = int, model = "acme/dear")`, 4},
		{`main = agent("a", prompt = "x", output = int, model = ["acme/dear", "acme/cheap"])`, 8},
		{`main = bounded(agent("a", prompt = "x", output = int, model = "acme/dear"), budget(usd = 1.0))`, 2},
	} {
		var models *llm.Registry
		tries, usd := int64(0), 0.0
		breaks := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			tries++
			u := model.Usage{In: 0, Out: 50000}
			if e.MaxOut > 0 {
				u.Out = int(e.MaxOut)
			}
			cost, _ := models.PriceCall(&model.Request{Model: e.Name}, u)
			usd += cost
			if tries%tt.times == 0 {
				return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "none"}}, Usage: u}, Usage: u, Attempt: 1}
			}
			err := engine.Errorf(engine.KindTruncated, diag.ProviderError, "it broke off")
			err.Usage, err.Model = u, &engine.Provider{Retryable: true}
			return engine.Outcome{Err: err, Usage: u, Attempt: 1}
		})
		models = llm.New(llm.WithPrices(table), llm.WithProvider("acme", nil), llm.WithDriver(breaks))
		m, err := agentscript.New(agentscript.WithModels(models)).Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(tt.src)}}, "flow.star")
		if err != nil {
			t.Fatal(err)
		}
		bounds, shared := flow.SharedBounds(3, m.Node("main"))
		r := cost.Of("flow.star", false, 1, bounds, shared, models, "")
		if _, err := m.Start(t.Context(), agentscript.Input("x"), agentscript.VirtualTime()).Wait(); err == nil {
			t.Errorf("%s: no error", tt.src)
		}
		if usd > r.CostUSD+r.RetriedUSD+1e-9 || usd < 0.5*(r.CostUSD+r.RetriedUSD) {
			t.Errorf("%s: $%g in %d attempts, and at most $%g and $%g more were said", tt.src, usd, tries, r.CostUSD, r.RetriedUSD)
		}
	}
}

// The keys of the report keep their order, and new ones come last.
func TestReportKeys(t *testing.T) {
	usd := 1.0
	data, err := json.Marshal(cost.Report{File: "f", Code: true, Items: 1, Agents: []cost.Agent{}, Calls: 1, Tokens: 1, CostUSD: 1, Unpriced: []string{"m"},
		Shared: []cost.Shared{{Budget: "b", Use: cost.Use{Calls: 1}}}, OverrunUSD: 1, RunCalls: 1, RunUSD: &usd, RetriedUSD: 1})
	want := `{"file":"f","code":true,"items":1,"agents":[],"calls":1,"tokens":1,"cost_usd":1,"unpriced":["m"],"shared":[{"budget":"b","agents":null,"calls":1}],"overrun_usd":1,"run_calls":1,"run_usd":1,"retried_usd":1}`
	if err != nil || string(data) != want {
		t.Errorf("%v\n%s\n%s", err, data, want)
	}
}
