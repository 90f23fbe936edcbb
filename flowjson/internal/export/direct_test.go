package export_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/export"
	"github.com/agentscript/agentscript/generable"
)

// hosted composes as a host does, without a script.
type hosted struct {
	*flow.Session
	*testing.T
}

func host(t *testing.T) *hosted { return &hosted{flow.NewSession(), t} }

// node wraps a node in one conversation, which must have no errors.
func (h *hosted) node(n *flow.Node) *flow.Node {
	h.Helper()
	h.WithHistory(diag.Span{}, n, &agent.History{Shared: true})
	if found := h.Diagnostics(); found.HasErrors() {
		h.Fatal(found)
	}
	return n
}

func (h *hosted) agent(s agent.Spec) *flow.Node {
	if s.Prompt == "" && s.Task == "" {
		s.Task = "Do it."
	}
	return h.Agent(flow.Site{}, &s)
}

func (h *hosted) agents(n int) []*flow.Node {
	nodes := make([]*flow.Node, n)
	for i := range nodes {
		nodes[i] = h.agent(agent.Spec{Name: fmt.Sprintf("a%d", i)})
	}
	return nodes
}

// agentsOf returns the agents of a file as "name type", and its transitions as "from to".
func agentsOf(t *testing.T, text string) (agents, edges []string) {
	file := decoded(t, []byte(text))
	for _, a := range file["agents"].([]any) {
		agents = append(agents, fmt.Sprint(a.(object)["name"], " ", a.(object)["type"]))
	}
	list, _ := file["transitions"].([]any)
	for _, e := range list {
		edges = append(edges, fmt.Sprint(e.(object)["from"], " ", e.(object)["to"]))
	}
	return agents, edges
}

// TestNames checks that what has no name gets a unique one.
func TestNames(t *testing.T) {
	h := host(t)
	critique := flow.CritiqueOf(generable.StrT)
	judge := h.Verify(flow.Site{}, h.agent(agent.Spec{Out: flow.VerdictType}))
	n := h.node(h.Then(flow.Site{}, h.agent(agent.Spec{}), h.agent(agent.Spec{Name: "agent"}), h.agent(agent.Spec{Name: "agent_2"}), h.agent(agent.Spec{Name: "take_feedback"}), judge,
		h.Pick(flow.Site{}, "feedback", critique), h.Par(flow.Site{Name: "agent_2"}, flow.ParOptions{}, h.agent(agent.Spec{}), h.agent(agent.Spec{Name: "parallel"}))))
	agents, _ := agentsOf(t, written(t, n, export.Options{}))
	want := "agent task, agent_3 task, agent_2 task, take_feedback task, agent_4 verify, take_feedback_2 transform, agent_2_2 parallel, agent_5 task, parallel task"
	if got := strings.Join(agents, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestOptions checks that the file contains the options, and defaults for the rest.
func TestOptions(t *testing.T) {
	h := host(t)
	n := h.node(h.Then(flow.Site{Name: "review"}, h.agents(2)...))
	for _, tt := range []struct {
		o    export.Options
		want string
	}{
		{export.Options{}, "{\n  \"id\": \"review\",\n  \"version\": \"1.0\",\n  \"agents\": [\n"},
		{export.Options{ID: "f", Version: "2", Description: "a < b"}, "{\n  \"id\": \"f\",\n  \"version\": \"2\",\n  \"description\": \"a < b\",\n  \"agents\": [\n"},
	} {
		if got := written(t, n, tt.o); !strings.HasPrefix(got, tt.want) || !strings.HasSuffix(got, "\n}\n") {
			t.Errorf("%+v: got\n%s", tt.o, got)
		}
	}
}

// TestModels checks that the model of most agents is the flow's, unless an agent leaves it to the run.
func TestModels(t *testing.T) {
	for _, tt := range []struct {
		models []string
		flow   string
		own    []string
	}{
		{[]string{"openai/a", "openai/b", "openai/b"}, "openai/b", []string{"openai/a", "", ""}},
		{[]string{"openai/a", "openai/b"}, "openai/a", []string{"", "openai/b"}},
		{[]string{"openai/a", "", "openai/a"}, "", []string{"openai/a", "", "openai/a"}},
	} {
		h := host(t)
		var nodes []*flow.Node
		for i, m := range tt.models {
			nodes = append(nodes, h.agent(agent.Spec{Name: fmt.Sprint("a", i), Model: m}))
		}
		file := decoded(t, []byte(written(t, h.node(h.Then(flow.Site{}, nodes...)), export.Options{})))
		got, _ := file["defaultModel"].(string)
		var own []string
		for _, a := range file["agents"].([]any) {
			m, _ := a.(object)["model"].(string)
			own = append(own, m)
		}
		if got != tt.flow || fmt.Sprint(own) != fmt.Sprint(tt.own) {
			t.Errorf("%v: got %q and %q", tt.models, got, own)
		}
	}
}

// results is a merge that declares its condition.
type results struct {
	engine.Func
	variable string
	literal  generable.Value
}

func (r results) MergeCondition() (string, string, generable.Value) {
	return r.variable, "equals", r.literal
}

// TestMerge checks that a merge that is a condition is written as one, and that any other function is not.
func TestMerge(t *testing.T) {
	list := generable.ListOfType(generable.StrT)
	first := engine.GoFunc("first", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) { return args[0], nil })
	for _, tt := range []struct {
		f    engine.Func
		want string
	}{
		{results{first, "results.1.output", generable.StrOf("best")}, `map[operation:equals value:best variable:results.1.output]`},
		{results{first, "results.0.name", generable.StrOf("a0")}, `map[operation:equals value:a0 variable:results.0.name]`},
		{results{first, "results.2.output", generable.StrOf("best")}, ""},
		{results{first, "results.-1.output", generable.StrOf("best")}, ""},
		{results{first, "results.0.length", generable.StrOf("best")}, ""},
		{results{first, "", generable.StrOf("best")}, ""},
		{results{first, "results.0.output", generable.Value{}}, ""},
		{first, ""},
	} {
		h := host(t)
		merge := h.Fn(flow.Site{}, tt.f, list, generable.StrT)
		n := h.node(h.Then(flow.Site{}, h.Par(flow.Site{}, flow.ParOptions{Merge: merge}, h.agents(2)...), h.agent(agent.Spec{Name: "z"})))
		if tt.want == "" {
			if text, found := export.Write(n, export.Options{}); text != nil || !strings.Contains(found.Error(), "merge by a fn") {
				t.Errorf("%v: is written, with %v", tt.f, found)
			}
			continue
		}
		file := decoded(t, []byte(written(t, n, export.Options{})))
		params := file["agents"].([]any)[0].(object)["params"].(object)
		if got := fmt.Sprint(params["merge"]); got != tt.want || fmt.Sprint(params["agents"]) != "[a0 a1]" {
			t.Errorf("got %v, want %s", params, tt.want)
		}
	}
}

// passing is a function that declares that it returns its input.
type passing struct{ engine.Func }

func (passing) IsIdentity() bool { return true }

// TestPassing checks that transitions lead past a handler that passes on its input.
func TestPassing(t *testing.T) {
	h := host(t)
	pass := func() *flow.Node { return h.Fn(flow.Site{}, passing{identity}, generable.StrT, generable.StrT) }
	nodes := h.agents(4)
	eq := func(text string) *predicate.Predicate {
		v := generable.StrOf(text)
		p, err := predicate.New(predicate.Eq, "", &v)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	n := h.node(h.Then(flow.Site{}, pass(), h.Branch(flow.Site{}, nodes[0], []flow.Route{{Pred: eq("x"), Handler: nodes[1]}}, flow.BranchOptions{Otherwise: pass()}), pass(), nodes[2]))
	text := written(t, n, export.Options{})
	if _, edges := agentsOf(t, text); fmt.Sprint(edges) != "[a0 a1 a0 a2 a1 a2]" {
		t.Errorf("got %v\n%s", edges, text)
	}
	both := h.node(h.Par(flow.Site{}, flow.ParOptions{}, pass(), h.agent(agent.Spec{Name: "x"})))
	if agents, _ := agentsOf(t, written(t, both, export.Options{})); fmt.Sprint(agents) != "[parallel parallel take_all transform x task]" {
		t.Errorf("got %v", agents)
	}
	for name, bad := range map[string]*flow.Node{
		"a flow without an agent":         pass(),
		"a choice before the first agent": h.Branch(flow.Site{}, pass(), []flow.Route{{Pred: eq("x"), Handler: nodes[3]}}, flow.BranchOptions{Otherwise: pass()}),
		"a body without an agent":         h.Loop(flow.Site{}, pass(), flow.LoopOptions{Until: eq("x"), Repair: h.agent(agent.Spec{Name: "r"})}),
	} {
		if text, found := export.Write(bad, export.Options{}); text != nil || !strings.Contains(found.Error(), name) {
			t.Errorf("%s: got %v\n%s", name, found, text)
		}
	}
}

var identity = engine.GoFunc("same", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) { return args[0], nil })

// TestSettings checks that what only a host can set is written or reported too.
func TestSettings(t *testing.T) {
	inf := 1.0
	inf /= 1 - inf
	extra := func(text string) model.Params { return model.Params{Extra: []byte(text)} }
	for _, tt := range []struct {
		spec agent.Spec
		want string // in the file, or in the report
		bad  bool
	}{
		{agent.Spec{Params: extra(`{"prediction": {"type": "content", "content": "so"}}`)}, `"speculation": "so"`, false},
		{agent.Spec{Params: extra(`{"prediction": {"type": "content", "content": "so"}, "user": "me"}`)}, "extra", true},
		{agent.Spec{Params: model.Params{Temperature: &inf}}, "a temperature that is not a number", true},
		{agent.Spec{Prompt: "\xff"}, "a text that is not UTF-8", true},
		{agent.Spec{Prompt: "ends with a line\n"}, "a text that begins or ends with blanks", true},
		{agent.Spec{Budget: engine.Limits{Turns: engine.Unlimited()}}, "turns without a bound", true},
		{agent.Spec{Budget: engine.Limits{Turns: engine.AtMost(3)}}, `"maxIterations": 3`, false},
		{agent.Spec{Choice: model.ToolChoice{Mode: model.ChoiceTool, Tool: "none"}}, "a tool_choice of a tool that is called none", true},
	} {
		h := host(t)
		tt.spec.Name = "a"
		n := h.node(h.agent(tt.spec))
		text, found := export.Write(n, export.Options{})
		if got := string(text) + found.Error(); !strings.Contains(got, tt.want) || tt.bad != (text == nil) {
			t.Errorf("want %s, got %s", tt.want, got)
		}
	}
}

// TestJudgedByFlow checks that a verdict not returned by a single agent is reported, and errors inside too.
func TestJudgedByFlow(t *testing.T) {
	h := host(t)
	thinker := h.Verify(flow.Site{}, h.agent(agent.Spec{Name: "thinker", Out: flow.VerdictType, ReasoningEvery: 2}))
	if text, found := export.Write(thinker, export.Options{}); text != nil || !strings.Contains(found.Error(), "reasoning_every") {
		t.Errorf("got %v", found)
	}
	judge := h.agent(agent.Spec{Name: "judge", Out: flow.VerdictType, Repairs: 5})
	n := h.node(h.Verify(flow.Site{}, h.Then(flow.Site{}, h.agent(agent.Spec{Name: "first"}), judge)))
	text, found := export.Write(n, export.Options{})
	if got := found.Error(); text != nil || !strings.Contains(got, "a verdict by a pipeline") || !strings.Contains(got, "judge: a JSON flow cannot express repairs") || len(found) != 2 {
		t.Errorf("got %v", found)
	}
}

// TestMapPasses checks that an edge whose map returns its input carries everything.
func TestMapPasses(t *testing.T) {
	h := host(t)
	a := h.agents(2)
	pass := h.Fn(flow.Site{}, passing{identity}, generable.StrT, generable.StrT)
	n := h.node(h.Graph(flow.Site{}, a[0], []flow.Edge{{From: a[0], To: a[1], Map: pass}}, flow.GraphOptions{}))
	if _, edges := agentsOf(t, written(t, n, export.Options{})); fmt.Sprint(edges) != "[a0 a1]" {
		t.Errorf("got %v", edges)
	}
}

// TestNoEnd checks that a flow from which no path leads out is reported.
func TestNoEnd(t *testing.T) {
	h := host(t)
	a := h.agents(2)
	n := h.node(h.Graph(flow.Site{}, a[0], []flow.Edge{{From: a[0], To: a[1]}, {From: a[1], To: a[0]}}, flow.GraphOptions{OnNoMatch: flow.NoMatchError}))
	if text, found := export.Write(n, export.Options{}); text != nil || !strings.Contains(found.Error(), "a flow that never ends") {
		t.Errorf("got %v\n%s", found, text)
	}
}

// TestLong writes ten thousand nodes at once, in sequence, nested or in parallel: the work grows linearly.
func TestLong(t *testing.T) {
	shapes := map[string]func(h *hosted, n int) *flow.Node{
		"one after the other": func(h *hosted, n int) *flow.Node { return h.Then(flow.Site{}, h.agents(n)...) },
		"inside each other": func(h *hosted, n int) *flow.Node {
			agents := h.agents(n)
			node := agents[0]
			for _, a := range agents[1:] {
				node = h.Then(flow.Site{}, node, a)
			}
			return node
		},
		"in parallel": func(h *hosted, n int) *flow.Node { return h.Par(flow.Site{}, flow.ParOptions{}, h.agents(n)...) },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) float64 {
				h := host(t)
				node := h.node(shape(h, n))
				return testing.AllocsPerRun(1, func() {
					if text, found := export.Write(node, export.Options{}); text == nil {
						t.Fatal(found)
					}
				})
			}
			if small, large := cost(999), cost(9990); large > 12*small {
				t.Errorf("999 agents take %.0f allocations, 9990 take %.0f", small, large)
			}
		})
	}
}
