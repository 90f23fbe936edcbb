package input_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/input"
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
		for name, read := range map[string]func(string, *generable.Type) (generable.Value, error){"text": input.Text, "json": input.JSON} {
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

// JSON wants JSON where Text takes the text itself.
func TestJSON(t *testing.T) {
	if v, err := input.JSON(`"a\tb"`, generable.StrT); err != nil || generable.JSON(v, nil) != `"a\tb"` {
		t.Errorf("%v, %v", v, err)
	}
	for _, text := range []string{"7", "bare words", "[]"} {
		if v, err := input.JSON(text, generable.StrT); !errors.Is(err, engine.ErrInput) {
			t.Errorf("%s gives %v, %v", text, generable.JSON(v, nil), err)
		}
	}
}

func TestArgs(t *testing.T) {
	m := flow(t, "P = schema(\"P\", x = int)\ndef main(p = P, n = 3, who = str | None, name = \"x\"):\n    return [p.x, n, who, name]\n")
	entry, missing := m.Main()
	if missing != nil {
		t.Fatal(missing)
	}
	var fields []generable.Field
	for _, p := range entry.Params {
		fields = append(fields, generable.Field{Name: p.Name, Type: p.Type})
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
		args, err := input.Args(text, fields)
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
