package agentscript_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

func flow(t *testing.T, src string, opts ...agentscript.Option) *agentscript.Module {
	t.Helper()
	m, err := agentscript.New(opts...).Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(src)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Input is read like an answer of a model, but what its writer misspelt is an error.
func TestInputIsLenient(t *testing.T) {
	m := flow(t, "Point = schema(\"A point\", x = int, y = field(int, \"up\", default = 0))\nmain = agent(input = Point, output = int, run = lambda p: p.x + p.y)\n")
	for _, tt := range []struct{ text, want, wrong string }{
		{`{"x": 1, "y": 2}`, "3", ""},
		{"{'x': '1', y: 2,}", "3", ""},
		{`{"x": 1, "yy": 2}`, "", `yy: want no key but x, y, got "yy" at line 1, column 10; did you mean y?`},
		{"{\n  \"x\": \"one\"}", "", `x: want int, got "one" at line 2, column 8`},
	} {
		for name, read := range map[string]func(string, *generable.Type) (generable.Value, error){"text": agentscript.FromText, "json": agentscript.FromJSON} {
			v, err := read(tt.text, m.Type("Point"))
			if tt.wrong != "" {
				var e *engine.Error
				if !errors.As(err, &e) || e.Code != diag.BadInput || !strings.Contains(e.Message, tt.wrong) {
					t.Errorf("%s %s: %v", name, tt.text, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", name, tt.text, err)
				continue
			}
			if got, err := m.Start(t.Context(), agentscript.Input(v)).Wait(); err != nil || got.JSON() != tt.want {
				t.Errorf("%s %s: %s, %v", name, tt.text, got.JSON(), err)
			}
		}
	}
}

// FromJSON wants JSON where FromText takes the text itself.
func TestFromJSONText(t *testing.T) {
	if v, err := agentscript.FromJSON(`"a\tb"`, generable.StrT); err != nil || generable.JSON(v, nil) != `"a\tb"` {
		t.Errorf("%v, %v", v, err)
	}
	for _, text := range []string{"7", "bare words", "[]"} {
		if v, err := agentscript.FromJSON(text, generable.StrT); !errors.Is(err, engine.ErrInput) {
			t.Errorf("%s gives %v, %v", text, generable.JSON(v, nil), err)
		}
	}
}

func TestArgsFromJSON(t *testing.T) {
	m := flow(t, "P = schema(\"P\", x = int)\ndef main(p = P, n = 3, who = str | None, name = \"x\"):\n    return [p.x, n, who, name]\n")
	entry, missing := m.Main()
	if missing != nil {
		t.Fatal(missing)
	}
	for text, want := range map[string]string{
		`{"p": {"x": "1"}, 'n': 4}`:           `[1,4,null,"x"]`,
		`{"p": {"x": 1}, "who": "me"}`:        `[1,3,"me","x"]`,
		`{"p": {"x": 1}, "name": null}`:       `[1,3,null,"x"]`,
		`{"p": {"x": 1}, "nme": "y"}`:         `nme: want no key but p, n, who, name, got "nme" at line 1, column 17; did you mean n`,
		"{\"p\": {\"x\": 1,\n \"z\": \"y\"}}": `p.z: want no key but x, got "z" at line 2, column 2`,
		`["x"]`:                               `the arguments of main are an object, not list`,
		`7`:                                   `the arguments of main are an object, not int`,
	} {
		args, err := agentscript.ArgsFromJSON(text, entry.Params)
		if err == nil {
			got, err := m.Start(t.Context(), agentscript.Args(args)).Wait()
			if err != nil || got.JSON() != want {
				t.Errorf("%s: %s, %v", text, got.JSON(), err)
			}
		} else if !errors.Is(err, engine.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A script that does not get ready is given up, with a remedy.
func TestLoadTimeout(t *testing.T) {
	slow := fstest.MapFS{"slow.star": {Data: []byte("x = []\nfor i in range(1000000000):\n    x.clear()\nmain = agent(run = lambda s: s)\n")}}
	late := func(ctx context.Context, want diag.Code, says string, opts ...agentscript.Option) {
		t.Helper()
		_, err := agentscript.New(opts...).Load(ctx, slow, "slow.star")
		var l *agentscript.LoadError
		if !errors.As(err, &l) || l.List[0].Code != want || !strings.Contains(l.List[0].Message, says) || len(l.List[0].Help) == 0 && want != diag.Cancelled {
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
}

// ModelOverride goes over what the script names, also on an agent that is made in the run, and
// events show the request and the answer.
func TestModelOverride(t *testing.T) {
	ok := "ok"
	m := flow(t, "fixed = agent(model = \"openai/a\", prompt = \"Fixed.\")\ndef main():\n    made = agent(model = \"openai/b\", prompt = \"Made.\")\n    return fixed(\"x\") + made(\"y\")\n",
		agentscript.WithModels(scripted.New([]scripted.Row{{Agent: "*", Text: &ok, Repeat: true}})))
	var sent, got []string
	_, err := m.Start(t.Context(), agentscript.ModelOverride("ollama/c"), agentscript.ModelFor("fixed", "ollama/d"),
		agentscript.OnEvent(engine.EventEffect, func(e engine.Event) {
			d := e.Data.(*engine.EffectData)
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
