package agentscript_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// Nil arguments of a host are errors that say which argument, or are ignored; none causes a panic.
func TestNilArguments(t *testing.T) {
	var noContext context.Context
	files := fstest.MapFS{"flow.star": {Data: []byte("main = fn(lambda s: s, input = str, output = str)\ndef other(n = int): return n\nword = \"x\"\n")}}
	eng := agentscript.New(nil, agentscript.WithMiddleware(nil), agentscript.WithModels(nil), agentscript.WithHandler(engine.EffectModel, nil), agentscript.WithPrint(nil))
	mod, err := eng.Load(t.Context(), files, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	_, noCtx := eng.Load(noContext, files, "flow.star")
	_, noCtxFile := eng.LoadFile(noContext, "flow.star")
	_, noFS := eng.Load(t.Context(), nil, "flow.star")
	found, _ := eng.Check(t.Context(), nil, "flow.star")
	foundFile, _ := eng.CheckFile(noContext, "flow.star")
	_, noCtxRun := mod.Start(noContext, agentscript.Input("x")).Wait()
	_, noNode := mod.StartNode(t.Context(), mod.Node("typo"), agentscript.Input("x")).Wait()
	_, typo := mod.StartNamed(t.Context(), "othre").Wait()
	_, word := mod.StartNamed(t.Context(), "word").Wait()
	for _, tt := range []struct {
		err  error
		code diag.Code
		says string
	}{
		{noCtx, diag.MissingArgument, "flow.star got no context"},
		{noCtxFile, diag.MissingArgument, "flow.star got no context"},
		{noFS, diag.MissingArgument, "flow.star got no file system"},
		{found.Err(), diag.MissingArgument, "flow.star got no file system"},
		{foundFile.Err(), diag.MissingArgument, "flow.star got no context"},
		{noCtxRun, diag.MissingArgument, "the run got no context"},
		{noNode, diag.NoMain, "there is no node to run"},
		{typo, diag.NoMain, "flow.star has no othre to run"},
		{word, diag.NoMain, "which cannot be run"},
	} {
		if !errors.Is(tt.err, &engine.Error{Code: tt.code}) && !strings.Contains(fmt.Sprint(tt.err), string(tt.code)) || !strings.Contains(fmt.Sprint(tt.err), tt.says) {
			t.Errorf("got %v, want %s %s", tt.err, tt.code, tt.says)
		}
	}
	var e *engine.Error
	if !errors.As(typo, &e) || !strings.Contains(e.Help, "other") {
		t.Errorf("the help is %v", e)
	}
	got, err := mod.Start(t.Context(), nil, agentscript.Input("x"), agentscript.OnEvent(engine.EventAll, nil), agentscript.OnEvent(engine.EventRun, func(engine.Event) {}), agentscript.HandlerForAll(nil), agentscript.RunJournal(nil)).Wait()
	if err != nil || got.Text() != "x" {
		t.Errorf("%s, %v", got.Text(), err)
	}
	if got, err := mod.StartNamed(t.Context(), "other", agentscript.Args(map[string]any{"n": 3})).Wait(); err != nil || got.Text() != "3" {
		t.Errorf("%s, %v", got.Text(), err)
	}
}

// A nil *engine.Error that a host returns as an error, which is then not nil, is not a failure of a builtin.
func TestNilErrorOfABuiltin(t *testing.T) {
	own := func() error { return (*engine.Error)(nil) }
	eng := agentscript.New(
		agentscript.WithBuiltin(agentscript.Builtin{Name: "data", Doc: "Gives data.", Returns: generable.IntT,
			Func: func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.IntOf(3), own() }}),
		agentscript.WithStarlark(starlib.Builtin{Name: "form", Doc: "Gives a form.", Returns: "int",
			Func: func(*starlib.Call) (starlark.Value, error) { return starlark.MakeInt(4), own() }}))
	mod, err := eng.Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte("loaded = data() * form()\ndef main(): return [loaded, data(), form()]\n")}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := mod.Start(t.Context()).Wait(); err != nil || got.Text() != "[12,3,4]" {
		t.Errorf("%s, %v", got.Text(), err)
	}
}

// A call of a tool without a function fails and says why.
func TestToolWithoutAFunction(t *testing.T) {
	calls := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Response: &model.Response{Finish: model.FinishCalls, Parts: []model.Part{{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "empty", Args: "{}"}}}}}
	})
	mod := flow(t, `main = agent(prompt = "A.", model = "acme/x", tools = [empty])`, agentscript.WithModels(calls),
		agentscript.WithTool(agent.HostTool{Tool: agent.Tool{Name: "empty", Doc: "Nothing.", Returns: generable.StrT, Class: engine.ClassRead}}))
	if _, err := mod.Start(t.Context(), agentscript.Input("x")).Wait(); !errors.Is(err, engine.ErrConfig) || !strings.Contains(err.Error(), `tool "empty" has no function`) {
		t.Errorf("got %v", err)
	}
}

// Runs are bounded by default, and unbounded on request.
func TestDefaultLimits(t *testing.T) {
	echo := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}}
	})
	// It debits as many steps as requested, so that the test need not execute them.
	work := agentscript.Builtin{Name: "work", Doc: "Works.", Returns: generable.BoolT, Func: func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		return generable.BoolOf(true), b.Steps(10_000_000)
	}}
	mod := flow(t, "a = agent(prompt = \"A.\", model = \"acme/x\")\ndef main(n = int):\n    for _ in range(n):\n        a(\"x\")\n    return n\ndef busy():\n    while work(): pass\n", agentscript.WithModels(echo), agentscript.WithBuiltin(work))
	n := func(n int) agentscript.RunOption { return agentscript.Args(map[string]any{"n": n}) }
	if _, err := mod.Start(t.Context(), n(agentscript.DefaultModelCalls)).Wait(); err != nil {
		t.Error(err)
	}
	if _, err := mod.Start(t.Context(), n(agentscript.DefaultModelCalls+1)).Wait(); !errors.Is(err, engine.ErrBudget) || !strings.Contains(err.Error(), "limit of 1000 model calls") {
		t.Errorf("got %v", err)
	}
	if _, err := mod.Start(t.Context(), n(agentscript.DefaultModelCalls+1), agentscript.RunLimits(engine.Limits{ModelCalls: engine.Unlimited()})).Wait(); err != nil {
		t.Error(err)
	}
	if _, err := mod.StartNamed(context.Background(), "busy").Wait(); !errors.Is(err, engine.ErrBudget) || !strings.Contains(err.Error(), "limit of 200000000 script steps") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := mod.StartNamed(ctx, "busy", agentscript.RunLimits(engine.Limits{Steps: engine.Unlimited()})).Wait(); !errors.Is(err, engine.ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

// The wall time has a default if nothing else ends the run. Time passes at once here, because everything waits.
func TestDefaultWall(t *testing.T) {
	patient := engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
		select {
		case <-ctx.Done():
			return engine.Failed(engine.Errorf(engine.KindNetwork, "AS710", "closed"))
		case <-time.After(1000 * time.Hour):
			return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}}
		}
	})
	limits := func(wall time.Duration) []agentscript.RunOption {
		return []agentscript.RunOption{agentscript.RunLimits(engine.Limits{Wall: wall})}
	}
	for name, tt := range map[string]struct {
		deadline time.Duration
		grace    time.Duration
		opts     []agentscript.RunOption
		ends     time.Duration
		says     string
	}{
		"default":             {0, agentscript.DefaultGrace, nil, agentscript.DefaultWall, "did not end within 1h0m0s"},
		"default, no grace":   {0, 0, nil, agentscript.DefaultWall, "did not end within 1h0m0s"},
		"a deadline":          {100 * time.Hour, agentscript.DefaultGrace, nil, 100 * time.Hour, "the run's deadline passed"},
		"its own":             {0, agentscript.DefaultGrace, limits(2 * time.Hour), 2 * time.Hour, "did not end within 2h0m0s"},
		"its own, no grace":   {0, 0, limits(2 * time.Hour), 2 * time.Hour, "did not end within 2h0m0s"},
		"none":                {0, agentscript.DefaultGrace, limits(engine.NoWall), 1000 * time.Hour, ""},
		"the largest":         {0, agentscript.DefaultGrace, limits(1<<63 - 1), 1000 * time.Hour, ""},
		"a deadline, and own": {100 * time.Hour, agentscript.DefaultGrace, limits(2 * time.Hour), 2 * time.Hour, "did not end within 2h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mod := flow(t, `main = agent(prompt = "A.", model = "acme/x")`, agentscript.WithModels(patient), agentscript.WithGrace(tt.grace))
				ctx := context.Background()
				if tt.deadline > 0 {
					bounded, cancel := context.WithTimeout(ctx, tt.deadline)
					defer cancel()
					ctx = bounded
				}
				begun := time.Now()
				_, err := mod.Start(ctx, append(tt.opts, agentscript.Input("x"))...).Wait()
				if took := time.Since(begun); took != tt.ends {
					t.Errorf("it took %s", took)
				}
				if tt.says == "" && err != nil || tt.says != "" && (!errors.Is(err, engine.ErrTimeout) || !strings.Contains(err.Error(), tt.says)) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// Text that is not UTF-8 is an error that says where it is; it is not changed silently.
func TestInputIsUTF8(t *testing.T) {
	type inner struct {
		Names []string `json:"names"`
		Raw   []byte
		skip  string // never written, whatever it holds
	}
	type outer struct {
		inner
		Deep  *inner         `json:"deep,omitempty"`
		Any   map[string]any `json:"any"`
		Left  string         `json:"-"`
		Plain string
	}
	cyclic := map[string]any{}
	cyclic["a"] = cyclic
	anything := flow(t, "main = fn(lambda v: v, input = any, output = any)")
	words := flow(t, "main = fn(lambda v: v, input = str, output = str)")
	args := flow(t, "def main(who = any): return who")
	for _, tt := range []struct {
		mod  *agentscript.Module
		in   agentscript.RunOption
		says string
	}{
		{words, agentscript.Input("ab\xff"), "want valid UTF-8"},
		{words, agentscript.InputText("ab\xff"), "the input is no UTF-8 text: byte 2 is 0xff"},
		{anything, agentscript.InputText("[\"\xff\"]"), "the input is no UTF-8 text: byte 2 is 0xff"},
		{anything, agentscript.Input(generable.StrOf("\xff")), "the input is no UTF-8 text: byte 0 is 0xff"},
		{anything, agentscript.Input(generable.ListOf(generable.IntOf(1), generable.StrOf("\xff"))), "at [1]: byte 0"},
		{anything, agentscript.Input(map[string]any{"a": "\xff"}), "a: want valid UTF-8"},
		{anything, agentscript.Input(map[string]any{"a": []any{1, map[string]string{"b": "x\xc3"}}}), "a[1].b: want valid UTF-8"},
		{anything, agentscript.Input(map[string]int{"k\xff": 1}), "want valid UTF-8"},
		{anything, agentscript.Input(outer{inner: inner{Names: []string{"", "\xff"}}}), "names[1]: want valid UTF-8"},
		{anything, agentscript.Input(&outer{Deep: &inner{Names: []string{"\xff"}}}), "deep.names[0]: want"},
		{anything, agentscript.Input([]outer{{Any: map[string]any{"x": "\xff"}}}), "[0].any.x: want"},
		{anything, agentscript.Input([1]outer{{Plain: "\xff"}}), "[0].Plain: want"},
		{anything, agentscript.Input(written("\"\xff\"")), "want JSON from its own method"},
		{args, agentscript.Args(map[string]any{"who": []string{"\xff"}}), "the argument who has no JSON form: [0]: want valid UTF-8"},
		{anything, agentscript.Input(cyclic), "has no JSON form"},
		{anything, agentscript.Input(outer{Left: "\xff", inner: inner{Raw: []byte("\xff"), skip: "\xff"}}), ""},
		{anything, agentscript.Input("\uFFFD is a character"), ""},
		{anything, agentscript.Input(map[string]any{"a": nil, "b": (*int)(nil), "c": 1.5}), ""},
	} {
		_, err := tt.mod.Start(t.Context(), tt.in).Wait()
		switch {
		case tt.says == "" && err != nil:
			t.Errorf("got %v", err)
		case tt.says != "" && (!errors.Is(err, &engine.Error{Kind: engine.KindInput, Code: diag.BadInput}) || !strings.Contains(err.Error(), tt.says)):
			t.Errorf("got %v, want %s", err, tt.says)
		}
	}
}

// written writes its own JSON.
type written string

func (w written) MarshalJSON() ([]byte, error) { return []byte(w), nil }

func flow(t *testing.T, src string, opts ...agentscript.Option) *agentscript.Module {
	t.Helper()
	m, err := agentscript.New(opts...).Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(src)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Loading a script that takes too long is abandoned, with advice and the position that it has reached.
func TestLoadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which the time passes while the script prints, and at no other
		slow := fstest.MapFS{"slow.star": {Data: []byte("x = []\nprint(\"begun\")\nfor i in range(1000000000):\n    x.clear()\nmain = agent(run = lambda s: s)\n")}}
		late := func(ctx context.Context, want diag.Code, says string, opts ...agentscript.Option) {
			t.Helper()
			opts = append(opts, agentscript.WithPrint(func(diag.Pos, string) { time.Sleep(2 * time.Millisecond) }))
			_, err := agentscript.New(opts...).Load(ctx, slow, "slow.star")
			var l *agentscript.LoadError
			if !errors.As(err, &l) || l.List[0].Code != want || !strings.Contains(l.List[0].Message, says) || (len(l.List[0].Help) == 0 || l.List[0].Span.Line < 2) && want != diag.Cancelled {
				t.Errorf("%v", err)
			}
		}
		late(t.Context(), diag.Timeout, "loading did not end within 1ms", agentscript.WithLoadTimeout(time.Millisecond))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		late(ctx, diag.Timeout, "loading did not end by its deadline")
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		late(ctx, diag.Cancelled, "cancelled")
		late(t.Context(), diag.StepLimit, "too many steps", agentscript.WithLoadTimeout(0))
	})
}

// ModelOverride overrides what the script names, even for an agent that is created during the run, and events show
// the request and the answer.
func TestModelOverride(t *testing.T) {
	ok := "ok"
	m := flow(t, "fixed = agent(model = \"openai/a\", prompt = \"Fixed.\")\ndef main():\n    made = agent(model = \"openai/b\", prompt = \"Made.\")\n    return fixed(\"x\") + made(\"y\")\n",
		agentscript.WithModels(scripted.New([]scripted.Row{{Agent: "*", Text: &ok, Repeat: true}})))
	var sent, got []string
	_, err := m.Start(t.Context(), agentscript.ModelOverride("ollama/c"), agentscript.ModelFor("fixed", "ollama/d"),
		agentscript.OnEvent(engine.EventEffect, func(e engine.Event) {
			d := e.Data.(*event.Effect)
			if r, ok := d.Request.(*model.Request); ok {
				sent = append(sent, r.Model+" "+r.System)
			}
			if d.Response != nil {
				got = append(got, d.Response.Text())
			}
		})).Wait()
	if err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(sent, "; "); s != "ollama/d Fixed.; ollama/c Made." {
		t.Errorf("sent %s", s)
	}
	if s := strings.Join(got, "; "); s != "ok; ok" {
		t.Errorf("got %s", s)
	}
}
