package conformance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
)

// leads returns a script whose agent lead has one tool, work, made from the node inner that src declares.
func leads(src string) string {
	return src + `
main = agent(name = "lead", prompt = "Lead.", tools = [inner.as_tool("work", "Does the work")])
`
}

// Promise 18.30 (tools): as_tool makes any node a tool: its input becomes the parameters, its output is the result,
// and its effects are inside the call.
func TestPromise_18_30_NodesAsTools(t *testing.T) {
	answers := answersOf{"lead": {calling("work", `{topic: "tides"}`), said("end")}, "inner": {said("twice a day")}}
	r := toolLoop(t, leads(`Query = schema("What to find", topic = str, unit = field(str, "of the answer", default = "km"))
inner = agent(input = Query, prompt = "Find it.")`), answers)
	if r.err != nil || r.told("lead")[0] != "twice a day" || r.requests["inner"][0].Messages[0].Parts[0].Text != `{"topic":"tides","unit":"km"}` {
		t.Fatalf("%v; told %q; %+v", r.err, r.told("lead"), r.requests["inner"])
	}
	if def := r.requests["lead"][0].Tools[0]; def.Name != "work" || def.Description != "Does the work" || strings.Join(def.Params.FieldNames(), " ") != "topic unit" {
		t.Errorf("it is offered as %+v", def)
	}
	for name, one := range map[string]struct{ src, args, want string }{
		"a pipeline": {`inner = fn(lambda s: s + "!", input = str, output = str) >> fn(len, input = str, output = int)`, `{"input": "abc"}`, "4"},
		"a parallel": {`inner = fn(len, input = str, output = int) / fn(len, input = str, output = int)`, `{"input": "abc"}`, "[3,3]"},
		"a function": {`inner = fn(lambda s: {"n": len(s)}, input = str, output = dict)`, `{"input": "abc"}`, `{"n":3}`},
		"a graph":    {`inner = graph(fn(len, input = str, output = int), [])`, `{"input": "abc"}`, "3"},
		"many items": {"inner = each(fn(len, input = str, output = int))", `{"input": ["a", "bc"]}`, "[1,2]"},
		"an agent with tools": {`inner = agent(name = "middle", prompt = "M.", tools = [as_tool(agent(name = "inner", prompt = "I."), "deep", "Digs")])`,
			`{"input": "abc"}`, "dug"},
	} {
		r := toolLoop(t, leads(one.src), answersOf{"lead": {calling("work", one.args), said("end")},
			"middle": {calling("deep", `{"input": "down"}`), said("dug")}, "inner": {said("gold")}})
		if told := r.told("lead"); r.err != nil || len(told) != 1 || told[0] != one.want {
			t.Errorf("%s: %v; told %q, want %q", name, r.err, told, one.want)
		}
	}
}

// Promise 18.31 (tools): a node that is a tool has its one place in the agent, and check, graph, describe and check
// --cost see it there; a second place is the error AS401.
func TestPromise_18_31_OnePlace(t *testing.T) {
	twice := `inner = agent(prompt = "I.")
work = inner.as_tool("work", "Works")
a = agent(prompt = "A.", tools = [work])
b = agent(prompt = "B.", tools = [work])
main = a >> b
`
	if found, shown := checked(twice); codes(found) != "AS401" || !strings.Contains(shown, "the agent inner is part of another agent already") {
		t.Errorf("in two agents:\n%s", shown)
	}
	if found, shown := checked("inner = agent(prompt = \"I.\")\n" + leads("") + "other = inner >> fn(len, input = str, output = int)\n"); codes(found) != "AS401" {
		t.Errorf("in a pipeline as well:\n%s", shown)
	}
	mod := loaded(t, agentscript.New(), leads(`inner = agent(prompt = "I.", repairs = 0)`))
	if found := mod.Diagnostics(); len(found) > 0 {
		t.Errorf("check says %v", found)
	}
	main := mod.Node("main")
	if kids := main.Children(); len(kids) != 1 || kids[0].Name() != "inner" || kids[0].Free() {
		t.Errorf("the agent holds %v", kids)
	}
	var bounds []string
	for _, b := range flow.Bounds(main, 1) {
		bounds = append(bounds, fmt.Sprint(b.Agent, " ", b.Calls))
	}
	if got := strings.Join(bounds, ", "); got != "inner 32, lead 8" {
		t.Errorf("the bounds are %s", got)
	}
	out := offline(t, "graph", "examples/delegate.star")
	if out.code != 0 || !strings.Contains(out.stdout, `["tool research"]`) || !strings.Contains(out.stdout, `["researcher"]`) {
		t.Errorf("graph prints\n%s%s", out.stdout, out.stderr)
	}
	computes(t, "[true,true]", strings.Replace(leads(`inner = agent(prompt = "I.")`), "main =", "boss =", 1)+`
def got():
    text = describe(boss)
    return ["- work(input: str) — Does the work" in text, "agent inner: str -> str" in text]
`)
}

// Promise 18.32 (tools): a failure inside a node that is a tool goes back to the model, even if it is the node's own
// budget that is used up; a budget around the call, of its agent or the run, ends what it bounds.
func TestPromise_18_32_FailuresInside(t *testing.T) {
	spin := "def spin():\n    \"\"\"Spins.\"\"\"\n    return \"spun\"\n\n"
	for name, one := range map[string]struct {
		inner   string
		answers []engine.Outcome
		words   string
	}{
		"an error":      {`inner = fn(lambda s: fail("the pipe is blocked"), input = str, output = str)`, nil, "the pipe is blocked"},
		"its model":     {`inner = agent(prompt = "I.")`, []engine.Outcome{engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "it is down"))}, "it is down"},
		"its answer":    {`inner = agent(prompt = "I.", output = int, repairs = 0)`, []engine.Outcome{said("many")}, "no int"},
		"its turns":     {spin + `inner = agent(prompt = "I.", tools = [spin], budget = budget(turns = 1))`, []engine.Outcome{calling("spin", "{}")}, "within one turn"},
		"its calls":     {spin + `inner = agent(prompt = "I.", tools = [spin], budget = budget(model_calls = 1))`, []engine.Outcome{calling("spin", "{}")}, `the budget of agent "inner"`},
		"it gives up":   {`inner = agent(prompt = "I.", tools = [give_up])`, []engine.Outcome{calling("give_up", `{"reason": "no way"}`)}, "no way"},
		"a wrong value": {`inner = fn(lambda s: json.decode("1"), input = str, output = str)`, nil, "str"},
	} {
		r := toolLoop(t, leads(one.inner), answersOf{"lead": {calling("work", `{"input": "x"}`), said("end")}, "inner": one.answers})
		if told := r.told("lead"); r.err != nil || len(told) != 1 || !strings.Contains(told[0], one.words) || !strings.HasPrefix(told[0], "error: ") {
			t.Errorf("%s: %v; told %q", name, r.err, told)
		}
	}
	around := `inner = agent(prompt = "I.")
main = agent(name = "lead", prompt = "Lead.", tools = [inner.as_tool("work", "Works")], budget = budget(model_calls = 1))
`
	r := toolLoop(t, around, answersOf{"lead": {calling("work", `{"input": "x"}`), said("end")}, "inner": {said("y")}})
	if e := r.failure(); e == nil || e.Kind != engine.KindBudget || !strings.Contains(e.Message, `agent "lead"`) || len(r.requests["inner"]) > 0 {
		t.Errorf("the caller's budget: %v", r.err)
	}
}

// Promise 18.33 (tools): a Go function that takes a struct is a tool: its schema follows from the struct and its tags,
// the model's arguments are checked before the function is called, and its result is encoded in the same way.
func TestPromise_18_33_GoFunctions(t *testing.T) {
	type stop struct {
		City string        `json:"city" doc:"where"`
		Kind string        `json:"kind,omitempty" jsonschema:"enum=train,enum=bus"`
		Wait time.Duration `json:"wait,omitempty"`
		At   *time.Time    `json:"at"`
		Tags []string      `json:"tags,omitempty" jsonschema:"maxItems=2"`
	}
	type found struct {
		Lines []int         `json:"lines"`
		In    time.Duration `json:"in"`
	}
	var got []stop
	tool, err := agentscript.ToolFunc("stops", "Finds lines", func(_ context.Context, s stop) (found, error) {
		got = append(got, s)
		if s.City == "Atlantis" {
			return found{}, fmt.Errorf("no city %s", s.City)
		}
		return found{[]int{1, 7}, s.Wait + time.Minute}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := toolLoop(t, "main = agent(name = \"a\", prompt = \"P.\", tools = [stops])\n", answersOf{"a": {
		calling("stops", `{city: "Ulm", kind: "TRAIN", wait: "30s", at: "2026-05-02T08:00:00Z", tags: "x",}`),
		calling("stops", `{"city": "Atlantis"}`), calling("stops", `{"kind": "ship"}`), calling("stops", `{"city": "Ulm", "wait": "long"}`),
		calling("stops", `{"city": "Ulm", "tags": ["1", "2", "3"]}`), said("end")}}, tool)
	told := r.told("a")
	if r.err != nil || len(told) != 5 || told[0] != `{"lines":[1,7],"in":"1m30s"}` || told[1] != "error: no city Atlantis" {
		t.Fatalf("%v; told %q", r.err, told)
	}
	for i, words := range map[int][]string{2: {"city", "train, bus"}, 3: {"wait"}, 4: {"tags"}} {
		for _, w := range words {
			if !strings.HasPrefix(told[i], "error: bad arguments") || !strings.Contains(told[i], w) {
				t.Errorf("call %d is told %q, want %q", i, told[i], w)
			}
		}
	}
	if len(got) != 2 || got[0].Kind != "train" || got[0].At == nil || got[0].At.Hour() != 8 || len(got[0].Tags) != 1 {
		t.Errorf("the function got %+v", got)
	}
	def := r.requests["a"][0].Tools[0]
	for _, want := range []string{`"train"`, `"where"`, `"date-time"`, `"maxItems": 2`} {
		if !strings.Contains(def.Params.JSONSchema(), want) {
			t.Errorf("%s is not in the schema\n%s", want, def.Params.JSONSchema())
		}
	}
}

// shelf is a value of a host whose methods are tools.
type shelf struct{ books []string }

func (s *shelf) AddBook(_ context.Context, in struct {
	Title string `json:"title"`
}) (int, error) {
	s.books = append(s.books, in.Title)
	return len(s.books), nil
}

func (s *shelf) Burn() {}

// Promise 18.34 (tools): the methods of a Go value that are described are tools, and no others; a type that has no
// form for a model is an error at once, with the path of the field.
func TestPromise_18_34_GoMethods(t *testing.T) {
	s := &shelf{}
	tools, err := agentscript.ToolsOf(s, map[string]string{"AddBook": "Adds a book"})
	if err != nil || len(tools) != 1 {
		t.Fatal(tools, err)
	}
	r := toolLoop(t, "main = agent(name = \"a\", prompt = \"P.\", tools = [add_book])\n", answersOf{"a": {calling("add_book", `{"title": "Emma"}`), said("end")}}, tools...)
	if r.err != nil || r.told("a")[0] != "1" || len(s.books) != 1 {
		t.Errorf("%v; told %q; %v", r.err, r.told("a"), s.books)
	}
	for _, docs := range []map[string]string{{"Burn": "x"}, {"AddBok": "x"}} {
		if _, err := agentscript.ToolsOf(s, docs); err == nil {
			t.Errorf("%v is accepted", docs)
		}
	}
	type inner struct {
		Ready func() `json:"ready"`
	}
	_, err = agentscript.ToolFunc("f", "", func(context.Context, struct {
		All map[string][]inner `json:"all"`
	}) (string, error) {
		return "", nil
	})
	if err == nil || !strings.Contains(err.Error(), "all[str][].ready") {
		t.Errorf("a function as a field: %v", err)
	}
}
