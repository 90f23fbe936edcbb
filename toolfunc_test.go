package agentscript_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

type place struct {
	Lat float64 `json:"lat" jsonschema:"minimum=-90,maximum=90"`
	Lon float64 `json:"lon"`
}

type search struct {
	Query string            `json:"query" doc:"what to look for"`
	Kind  string            `json:"kind,omitempty" jsonschema:"enum=book,enum=film"`
	Most  int8              `json:"most" jsonschema:"default=10"`
	Near  *place            `json:"near"`
	Words []string          `json:"words,omitempty"`
	Notes map[string]string `json:"notes,omitempty"`
	Since time.Time         `json:"since,omitzero"`
	Wait  time.Duration     `json:"wait,omitempty"`
}

type hits struct {
	Titles []string      `json:"titles"`
	Took   time.Duration `json:"took"`
}

// called runs an agent whose model calls a tool once, and returns the result that the model receives.
func called(t *testing.T, tool agent.HostTool, args string) *model.ToolResult {
	t.Helper()
	var told *model.ToolResult
	models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req := e.Req.(*model.Request)
		r := &model.Response{Finish: model.FinishCalls, Parts: []model.Part{{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: tool.Name, Args: args}}}}
		if last := req.Messages[len(req.Messages)-1]; last.Role == model.RoleTool {
			told = last.Parts[0].Result
			r = &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "done"}}}
		}
		return engine.Outcome{Response: r, Attempt: 1}
	})
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("test/model"), agentscript.WithTool(tool))
	mod, err := eng.Load(t.Context(), script("main = agent(prompt = \"P.\", tools = ["+tool.Name+"])\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Start(t.Context(), agentscript.Input("x")).Wait(); err != nil || told == nil {
		t.Fatal(told, err)
	}
	return told
}

func TestToolFunc(t *testing.T) {
	var got search
	find, err := agentscript.ToolFunc("find", "Finds titles", func(ctx context.Context, s search) (hits, error) {
		got = s
		if call, ok := agentscript.ToolCall(ctx); !ok || call.ID == "" || call.Agent != "main" {
			return hits{}, fmt.Errorf("the call is not known: %+v", call)
		}
		if s.Query == "nothing" {
			return hits{}, errors.New("the catalogue is closed")
		}
		return hits{[]string{"Ulysses"}, 1500 * time.Millisecond}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct{ args, want string }{
		{`{"query": "u"}`, `{"titles":["Ulysses"],"took":"1.5s"}`},
		{`{query: "u", kind: "Book", most: 3, near: {"lat": 1, "lon": "2.5"}, words: "one", notes: {"a": "b"}, since: "2026-05-01T00:00:00Z", wait: "1m30s"}`, `{"titles":["Ulysses"],"took":"1.5s"}`},
		{`{"query": "nothing"}`, `error: the catalogue is closed`},
		{`{}`, `query`},
		{`{"query": "u", "kind": "song"}`, `want one of book, film`},
		{`{"query": "u", "near": {"lat": 100, "lon": 0}}`, `near.lat`},
		{`{"query": "u", "wait": "soon"}`, `wait`},
		{`{"query": "u", "most": 300}`, `most: want an integer that a Go int8 can hold`},
	}
	for _, r := range rows {
		told := called(t, find, r.args)
		if !strings.Contains(told.Text, r.want) || told.IsError != !strings.HasPrefix(r.want, "{") {
			t.Errorf("%s: told %+v, want %s", r.args, told, r.want)
		}
		if strings.Contains(r.args, "1m30s") {
			since := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
			if got.Kind != "book" || got.Most != 3 || *got.Near != (place{1, 2.5}) || got.Words[0] != "one" || got.Notes["a"] != "b" || !got.Since.Equal(since) || got.Wait != 90*time.Second {
				t.Errorf("the function gets %+v", got)
			}
		}
	}
	called(t, find, `{"query": "u"}`)
	if got.Most != 10 || got.Near != nil || got.Kind != "" || got.Wait != 0 {
		t.Errorf("left out, the fields are %+v", got)
	}
	want := []string{`"description":"what to look for"`, `"enum":["book","film"]`, `"minimum":-90`, `"format":"date-time"`, `90s`, `"required":["query"]`}
	schema := strings.ReplaceAll(strings.ReplaceAll(find.Params.JSONSchema(), "\n", ""), " ", "")
	for _, w := range want {
		if !strings.Contains(schema, strings.ReplaceAll(w, " ", "")) {
			t.Errorf("%s is not in the schema:\n%s", w, find.Params.JSONSchema())
		}
	}
}

func TestToolFuncRefuses(t *testing.T) {
	type deep struct {
		Inner []struct {
			Done chan bool `json:"done"`
		} `json:"inner"`
	}
	tool := func(err error) string { return fmt.Sprint(err) }
	_, noStruct := agentscript.ToolFunc("f", "", func(context.Context, string) (string, error) { return "", nil })
	_, badField := agentscript.ToolFunc("f", "", func(context.Context, deep) (string, error) { return "", nil })
	_, badResult := agentscript.ToolFunc("f", "", func(context.Context, struct{}) (func(), error) { return nil, nil })
	_, badTag := agentscript.ToolFunc("f", "", func(context.Context, struct {
		N int `jsonschema:"minimum=low"`
	}) (string, error) {
		return "", nil
	})
	_, badName := agentscript.ToolFunc("f.g", "", func(context.Context, struct{}) (string, error) { return "", nil })
	_, noFunc := agentscript.ToolFunc[struct{}, string]("f", "", nil)
	_, own := agentscript.ToolFunc("f", "", func(context.Context, time.Time) (string, error) { return "", nil })
	for _, r := range []struct {
		err  error
		want string
	}{
		{noStruct, "takes string, want a struct"}, {badField, "inner[].done"}, {badField, "chan bool"}, {badResult, "the result of tool"},
		{badTag, "N: want a number for minimum"}, {badName, `cannot name the tool "f.g"`}, {noFunc, "no function"}, {own, "want a struct"},
	} {
		if !strings.Contains(tool(r.err), r.want) {
			t.Errorf("got %v, want %q", r.err, r.want)
		}
	}
}

// notes is the state of a host.
type notes struct{ all []string }

func (n *notes) AddNote(_ context.Context, in struct {
	Text string `json:"text"`
}) (int, error) {
	n.all = append(n.all, in.Text)
	return len(n.all), nil
}

func (n *notes) Notes(context.Context, struct{}) ([]string, error) { return n.all, nil }

func (n *notes) Forget() { n.all = nil }

func TestToolsOf(t *testing.T) {
	n := &notes{}
	tools, err := agentscript.ToolsOf(n, map[string]string{"AddNote": "Keeps a note", "Notes": "Lists the notes"})
	if err != nil || len(tools) != 2 || tools[0].Name != "add_note" || tools[0].Doc != "Keeps a note" || tools[1].Name != "notes" {
		t.Fatalf("got %+v, %v", tools, err)
	}
	if told := called(t, tools[0], `{"text": "milk"}`); told.Text != "1" {
		t.Errorf("told %+v", told)
	}
	if told := called(t, tools[1], `{}`); told.Text != `["milk"]` {
		t.Errorf("told %+v", told)
	}
	_, err = agentscript.ToolsOf(n, map[string]string{"AddNotes": "", "Forget": ""})
	for _, want := range []string{"has no method AddNotes", `did you mean "AddNote"?`, "Forget is func(): a tool is func(context.Context, A) (R, error)"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if _, err := agentscript.ToolsOf(notes{}, map[string]string{"Notes": ""}); err == nil || !strings.Contains(err.Error(), "a pointer to it may have") {
		t.Errorf("a value without its pointer's methods: %v", err)
	}
	if _, err := agentscript.ToolsOf(nil, nil); err == nil {
		t.Error("nil has tools")
	}
}

// Several tools are registered at once, and limits are written using only names of the root package.
func TestWithTools(t *testing.T) {
	n := &notes{}
	tools, err := agentscript.ToolsOf(n, map[string]string{"AddNote": "Keeps a note", "Notes": "Lists the notes"})
	if err != nil {
		t.Fatal(err)
	}
	models, err := scripted.Read(strings.NewReader(`{"agent": "clerk", "calls": [{"name": "add_note", "args": {"text": "milk"}}]}
{"agent": "clerk", "calls": [{"name": "notes", "args": {}}]}
{"agent": "clerk", "text": "kept"}`), "rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithTools(tools...))
	mod, err := eng.Load(t.Context(), script("main = agent(\"clerk\", prompt = \"Keep notes.\", tools = [add_note, notes])\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	_, err = mod.Start(t.Context(), agentscript.Input("x"), agentscript.RunLimits(agentscript.Limits{ToolCalls: agentscript.AtMost(1)})).Wait()
	if e, ok := errors.AsType[*engine.Error](err); !ok || e.Kind != engine.KindBudget {
		t.Errorf("two calls of a run that may make one: %v", err)
	}
	if got := strings.Join(n.all, ","); got != "milk" {
		t.Errorf("kept %q", got)
	}
}

func TestToolResultsThatHaveNoForm(t *testing.T) {
	nan, err := agentscript.ToolFunc("nan", "", func(context.Context, struct{}) (float64, error) { var zero float64; return zero / zero, nil })
	if err != nil {
		t.Fatal(err)
	}
	if told := called(t, nan, "{}"); !told.IsError || !strings.Contains(told.Text, "no JSON form") {
		t.Errorf("told %+v", told)
	}
	loose, err := agentscript.ToolFunc("loose", "", func(context.Context, struct{}) (any, error) { return map[string]any{"n": 1}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if told := called(t, loose, "{}"); told.IsError || told.Text != `{"n":1}` {
		t.Errorf("told %+v", told)
	}
	value, err := agentscript.ToolFunc("value", "", func(context.Context, struct{}) (generable.Value, error) { return generable.StrOf("v"), nil })
	if err != nil {
		t.Fatal(err)
	}
	if told := called(t, value, "{}"); told.Text != "v" {
		t.Errorf("told %+v", told)
	}
	crash, err := agentscript.ToolFunc("crash", "", func(context.Context, struct{}) (string, error) { panic("boom") })
	if err != nil {
		t.Fatal(err)
	}
	if told := called(t, crash, "{}"); !told.IsError || !strings.Contains(told.Text, "boom") {
		t.Errorf("told %+v", told)
	}
}

// A script can make a host's rules for a tool stricter, but cannot remove them: that its results are text from
// outside, and when it may be called.
func TestScriptsKeepTheRulesOfHosts(t *testing.T) {
	text := func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
		return generable.StrOf("text"), nil
	}
	tools := func(name string, rules *agent.ToolRules) agentscript.Option {
		return agentscript.WithTool(agent.HostTool{Tool: agent.Tool{Name: name, Doc: "D.", Returns: generable.StrT, Untrusted: true, Rules: rules}, Do: text})
	}
	for tool, wants := range map[string][]string{
		`look`:                                          {`"trusted": false`, "may be called once"},
		`tool(look, untrusted = False, max = 5)`:        {`"trusted": false`, "may be called once"},
		`closed`:                                        {"not on a Sunday", "not on a Sunday"},
		`tool(closed, forbidden = "do")`:                {"not on a Sunday", "not on a Sunday"},
		`tool(later, only_after = ["look"])`:            {`only after "login"`, `only after "login"`},
		`tool(often, max = 1)`:                          {`"trusted": false`, "may be called once"},
		`tool(tool(often, max = 1), max = 2)`:           {`"trusted": false`, "may be called once"},
		`tool(often, untrusted = True, timeout = "1m")`: {`"trusted": false`, `"trusted": false`},
	} {
		name := strings.Trim(strings.NewReplacer("tool(", "", ")", "").Replace(strings.SplitN(tool, ",", 2)[0]), " ")
		var told []string
		models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			last := e.Req.(*model.Request).Messages[len(e.Req.(*model.Request).Messages)-1]
			for _, p := range last.Parts {
				if p.Result != nil {
					told = append(told, p.Result.Text)
				}
			}
			part, finish := model.Part{Kind: model.PartText, Text: "end"}, model.FinishStop
			if len(told) < 2 {
				part, finish = model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: name, Args: "{}"}}, model.FinishCalls
			}
			return engine.Outcome{Response: &model.Response{Finish: finish, Parts: []model.Part{part}}}
		})
		eng := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/x"), tools("login", nil), tools("often", nil),
			tools("look", &agent.ToolRules{Max: 1}), tools("closed", &agent.ToolRules{Forbidden: "not on a Sunday"}), tools("later", &agent.ToolRules{OnlyAfter: []string{"login"}}))
		more := "login"
		if name != "look" {
			more += ", look"
		}
		mod, err := eng.Load(t.Context(), script("main = agent(prompt = \"A.\", tools = ["+more+", "+tool+"])\n"), "flow.star")
		if err != nil {
			t.Errorf("%s: %v", tool, err)
			continue
		}
		if _, err := mod.Start(t.Context(), agentscript.InputText("x")).Wait(); err != nil || len(told) != len(wants) {
			t.Errorf("%s: %v, told %q", tool, err, told)
			continue
		}
		for i, want := range wants {
			if !strings.Contains(told[i], want) {
				t.Errorf("%s: told %q, want %q", tool, told[i], want)
			}
		}
	}
}
