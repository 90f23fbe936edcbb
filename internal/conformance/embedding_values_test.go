package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Promise 9.3 (embedding): input is passed as Go values, and results are decoded into Go types.
func TestPromise_9_3_TypedResults(t *testing.T) {
	type Part struct {
		Name  string            `json:"name"`
		Price float64           `json:"price"`
		Count int               `json:"count"`
		Tags  []string          `json:"tags"`
		Note  *string           `json:"note"`
		Extra map[string]string `json:"extra"`
	}
	const src = `
Part = schema("A part", name = str, price = float, count = field(int, ge = 0), tags = list[str], note = str | None, extra = dict[str, str])
same = fn(lambda p: p, input = Part, output = Part)
main = each(same)
`
	mod := loaded(t, agentscript.New(), src)
	text := "naïve \"日本\" \x00 </script>"
	parts := []Part{
		{Name: text, Price: 2, Count: 1 << 53, Tags: []string{"a", ""}, Note: &text, Extra: map[string]string{"k": "v", "": "empty"}},
		{Tags: []string{}, Extra: map[string]string{}},
	}
	for name, in := range map[string]agentscript.RunOption{
		"a slice of structs": agentscript.Input(parts),
		"a pointer":          agentscript.Input(&parts),
		"maps": agentscript.Input([]map[string]any{
			{"name": text, "price": 2.0, "count": 1 << 53, "tags": []string{"a", ""}, "note": text, "extra": map[string]string{"k": "v", "": "empty"}},
			{"name": "", "price": 0, "count": uint8(0), "tags": []int{}, "note": nil, "extra": struct{}{}}}),
		"JSON": agentscript.Input(json.RawMessage(encoded(t, parts))),
		"text": agentscript.InputText(encoded(t, parts)),
	} {
		got, err := agentscript.As[[]Part](mod.Start(t.Context(), in).Wait())
		if err != nil || !reflect.DeepEqual(got, parts) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	t.Run("what a result can be read into", func(t *testing.T) {
		mod := loaded(t, agentscript.New(), `def main(v = any):
    return v
`)
		give := func(v any) (agentscript.Result, error) {
			return mod.Start(t.Context(), agentscript.Args(map[string]any{"v": v})).Wait()
		}
		if got, err := agentscript.As[int](give(41)); err != nil || got != 41 {
			t.Error(got, err)
		}
		if got, err := agentscript.As[string](give("x")); err != nil || got != "x" {
			t.Error(got, err)
		}
		if got, err := agentscript.As[*bool](give(nil)); err != nil || got != nil {
			t.Error(got, err)
		}
		if got, err := agentscript.As[any](give([]any{1, "x", nil, true})); err != nil || !reflect.DeepEqual(got, []any{int64(1), "x", nil, true}) {
			t.Error(got, err)
		}
		if got, err := agentscript.As[map[string]float64](give(map[string]float64{"pi": 3.14})); err != nil || got["pi"] != 3.14 {
			t.Error(got, err)
		}
		huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
		if got, err := agentscript.As[*big.Int](give(huge)); err != nil || got.Cmp(huge) != 0 {
			t.Error(got, err)
		}
		if got, err := agentscript.As[int](give("no number")); err == nil || got != 0 || !strings.Contains(err.Error(), "int") {
			t.Error(got, err)
		}
		if res, err := give("text"); err != nil || res.Text() != "text" || res.JSON() != `"text"` {
			t.Error(res.Text(), res.JSON(), err)
		}
		if res, err := give(generable.IntOf(7)); err != nil || res.Text() != "7" {
			t.Error(res.Text(), err)
		}
	})
	t.Run("declared order and type", func(t *testing.T) {
		res, err := mod.Start(t.Context(), agentscript.Input(parts[1:])).Wait()
		want := `[{"name":"","price":0.0,"count":0,"tags":[],"note":null,"extra":{}}]`
		if err != nil || res.JSON() != want || res.Type == nil || res.Type.String() != "list[Part]" {
			t.Errorf("%s of %v, %v", res.JSON(), res.Type, err)
		}
	})
	t.Run("what does not fit", func(t *testing.T) {
		for name, c := range map[string]struct {
			in   agentscript.RunOption
			says []string
		}{
			"a wrong field":        {agentscript.Input([]map[string]any{{"name": 1, "price": 0, "count": 0, "tags": []string{}, "note": nil, "extra": nil}}), []string{"[0].name", "str"}},
			"below a limit":        {agentscript.Input([]Part{{Count: -1, Tags: []string{}, Extra: map[string]string{}}}), []string{"count", "0"}},
			"a missing field":      {agentscript.Input([]map[string]any{{}}), []string{"name", "price"}},
			"no list":              {agentscript.Input("x"), []string{"list[Part]"}},
			"no JSON form":         {agentscript.Input(make(chan int)), []string{"no JSON form"}},
			"its own JSON fails":   {agentscript.Input(badJSON{errors.New("not today")}), []string{"not today"}},
			"text that is no JSON": {agentscript.InputText("not json"), []string{"list[Part]"}},
			"nothing":              {agentscript.ID("x"), []string{"but got nothing", "--input-json"}},
		} {
			_, err := mod.Start(t.Context(), c.in, agentscript.OnEvent(engine.EventNode, func(e engine.Event) {
				t.Errorf("%s: %s begins", name, e.Path)
			})).Wait()
			var e *engine.Error
			if !errors.As(err, &e) || !errors.Is(err, engine.ErrInput) || e.Code != diag.BadInput {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for _, w := range c.says {
				if !strings.Contains(e.Message+"\n"+e.Help, w) {
					t.Errorf("%s: %q (help %q) lacks %q", name, e.Message, e.Help, w)
				}
			}
		}
		if _, err := mod.Start(t.Context(), agentscript.Input(badJSON{})).Wait(); err == nil || !strings.Contains(err.Error(), "panic") {
			t.Errorf("an input whose JSON panics: %v", err)
		}
	})
	t.Run("arguments", func(t *testing.T) {
		mod := loaded(t, agentscript.New(), `
def main(title = str, n = field(int, "how many", default = 3, ge = 1), tags = list[str], loud = False):
    return [title, n, tags, loud]
`)
		for _, c := range []struct {
			args map[string]any
			want string
			says string
		}{
			{map[string]any{"title": "x", "tags": []string{"a"}}, `["x",3,["a"],false]`, ""},
			{map[string]any{"title": "x", "tags": []string{}, "n": 9, "loud": true}, `["x",9,[],true]`, ""},
			{map[string]any{"tags": []string{}}, "", "main needs title"},
			{map[string]any{"title": 1, "tags": []string{}}, "", "title"},
			{map[string]any{"title": "x", "tags": []string{}, "n": 0}, "", "n"},
			{map[string]any{"title": "x", "tags": []string{}, "lout": true}, "", "main has no parameter lout"},
		} {
			res, err := mod.Start(t.Context(), agentscript.Args(c.args)).Wait()
			if c.says == "" && (err != nil || res.JSON() != c.want) || c.says != "" && (!errors.Is(err, engine.ErrInput) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v: %s, %v, want %s%s", c.args, res.JSON(), err, c.want, c.says)
			}
		}
	})
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// badJSON has no JSON form; without an error, it panics.
type badJSON struct{ err error }

func (b badJSON) MarshalJSON() ([]byte, error) {
	if b.err == nil {
		panic("no JSON")
	}
	return nil, b.err
}

// Promise 9.4 (embedding): a host adds its own builtins, tools and models, which are visible and checked like the
// built-in ones.
func TestPromise_9_4_HostBuiltins(t *testing.T) {
	double := agentscript.Builtin{Name: "double", Returns: generable.IntT, Doc: "Doubles a number. It is of the host.",
		Params: []generable.Field{{Name: "n", Type: generable.IntT, Guide: "what to double"},
			{Name: "times", Type: generable.IntT, Guide: "how often", Optional: true, Default: generable.IntOf(1)}},
		Func: func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			n, _ := args[0].AsInt()
			times, _ := args[1].AsInt()
			if n == 13 {
				return generable.Value{}, errors.New("not thirteen")
			}
			return generable.IntOf(n << times), nil
		}}
	var calls atomic.Int64
	models := llm.New(variables(), llm.WithModel("acme/x", ownModel{name: "x"}, llm.Caps{}))
	var printed []string
	eng := agentscript.New(agentscript.WithBuiltin(double), agentscript.WithTool(*stock(&calls)), agentscript.WithModels(models),
		agentscript.WithPrint(func(_ diag.Pos, text string) { printed = append(printed, text) }))
	run := func(src string, opts ...agentscript.RunOption) (agentscript.Result, error) {
		return loaded(t, eng, src).Start(t.Context(), opts...).Wait()
	}
	if res, err := run("N = double(4)\nmain = fn(lambda n: double(n, times = 2) + N, input = int, output = int)", input(1)); err != nil || res.Text() != "12" {
		t.Errorf("%s, %v", res.Text(), err)
	}
	_, err := run("main = fn(lambda n: double(n), input = int, output = int)", input(13))
	var e *engine.Error
	if !errors.As(err, &e) || e.Message != "not thirteen" || e.Pos.String() != "flow.star:1:27" {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		name, src, codes string
		says             []string
	}{
		{"an unknown argument", "x = double(n = 1, tines = 2)", "AS202", []string{"double has no argument tines", `did you mean "times"?`}},
		{"a missing argument", "x = double()", "AS203", []string{"double needs n", "what to double"}},
		{"one too many", "x = double(1, 2, 3)", "AS205", []string{"double takes 2 arguments by position"}},
		{"an argument of another kind", `x = double("1")`, "AS204", []string{"n: want"}},
		{"a name that is nearly right", "x = duoble(1)", "AS201", []string{`did you mean "double"?`}},
		{"hiding it", "double = 1", "AS206", []string{"double"}},
		{"a failure while loading", "x = double(13)", "AS213", []string{"not thirteen"}},
		{"a tool's name that is nearly right", "main = agent(prompt = \"A.\", tools = [stok])", "AS201", []string{`did you mean "stock"?`}},
		{"hiding a tool", "stock = 1", "AS206", []string{"stock"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, shown := checkedBy(eng, c.src+"\n")
			if codes(found) != c.codes {
				t.Errorf("found %s, want %s\n%s", codes(found), c.codes, shown)
			}
			for _, w := range append(c.says, "--> flow.star:1:", "^") {
				if !strings.Contains(shown, w) {
					t.Errorf("this lacks %q:\n%s", w, shown)
				}
			}
		})
	}
	t.Run("help", func(t *testing.T) {
		printed = nil
		loaded(t, eng, "help(double)\nhelp()\n")
		all := strings.Join(printed, "\n")
		for _, w := range []string{"double(n, times = 1)", "Doubles a number. It is of the host.", "how often"} {
			if !strings.Contains(all, w) {
				t.Errorf("help lacks %q:\n%s", w, all)
			}
		}
	})
	t.Run("a tool is called with checked arguments, and its result is checked", func(t *testing.T) {
		for args, want := range map[string]string{`{"what": "pears"}`: "3", `{"what": 7}`: "", `{}`: "bad arguments", `{"wat": "x"}`: "bad arguments"} {
			before := calls.Load()
			var told string
			_, err := run("main = agent(prompt = \"A.\", tools = [stock])", input("x"), agentscript.HandlerForAll(engine.Handlers{
				engine.EffectTool: agent.HostTools{"stock": stock(&calls)},
				engine.EffectModel: answering(func(_ context.Context, _ string, r *model.Request) engine.Outcome {
					if last := r.Messages[len(r.Messages)-1]; last.Role == model.RoleTool {
						told = last.Parts[0].Result.Text
						return said("done")
					}
					return calling("stock", args)
				})}))
			if err != nil || !strings.Contains(told, want) {
				t.Errorf("%s: told %q, %v", args, told, err)
			}
			if called := calls.Load() > before; called == (want == "bad arguments") {
				t.Errorf("%s: the tool is called: %v", args, called)
			}
		}
	})
	t.Run("a tool that is listed twice is offered once", func(t *testing.T) {
		models := scripted.Answers(map[string][]string{"main": {"ok"}})
		src := "main = agent(prompt = \"A.\", tools = [stock, stock], skills = [skill(\"s\", \"Does it\", tools = [stock])])"
		if _, err := run(src, input("x"), agentscript.HandlerForAll(models)); err != nil {
			t.Fatal(err)
		}
		if n := len(models.Requests()[0].Request.Tools); n != 1 {
			t.Errorf("%d tools are offered", n)
		}
	})
	t.Run("the tool knows its call", func(t *testing.T) {
		keys := map[string]bool{}
		tool := *stock(new(atomic.Int64))
		tool.Do = func(_ context.Context, call agent.ToolCallInfo, _ generable.Value) (generable.Value, error) {
			keys[call.Run+"/"+call.ID+" for "+call.Agent] = true
			return generable.IntOf(1), nil
		}
		eng := agentscript.New(agentscript.WithTool(tool), agentscript.WithModels(scripted.New([]scripted.Row{
			{Agent: "main", Calls: []scripted.Call{{Name: "stock", Args: []byte(`{"what": "x"}`)}}}, {Agent: "main", Calls: []scripted.Call{{Name: "stock", Args: []byte(`{"what": "x"}`)}}}, {Agent: "main", Text: new("ok")}})))
		if _, err := loaded(t, eng, "main = agent(prompt = \"A.\", tools = [stock])").Start(t.Context(), input("x"), agentscript.ID("r7")).Wait(); err != nil {
			t.Fatal(err)
		}
		if len(keys) != 2 {
			t.Errorf("two calls have the keys %v", keys)
		}
		for key := range keys {
			if !strings.HasPrefix(key, "r7/main/agent:main#0/tool:stock#") || !strings.HasSuffix(key, " for main") {
				t.Errorf("a key is %q", key)
			}
		}
	})
	t.Run("a model", func(t *testing.T) {
		if res, err := run(`main = agent(model = "acme/x", prompt = "A.")`, input("hi")); err != nil || res.Text() != "x at 0: system=A. human=hi" {
			t.Errorf("%s, %v", res.Text(), err)
		}
	})
	t.Run("other engines do not know them", func(t *testing.T) {
		if found, _ := checked("x = double(1)\n"); codes(found) != "AS201" {
			t.Errorf("found %s", codes(found))
		}
	})
}
