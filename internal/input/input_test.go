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

// Input is read like an answer of a model, but misspellings of the writer are errors.
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

// JSON requires JSON where Text takes the text itself.
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

// What is around the value, or is not part of it, is rejected, whatever it is, and whether it would fit or not.
func TestInputIsOneValue(t *testing.T) {
	item := &generable.Type{Kind: generable.RecordType, Name: "Item", Fields: []generable.Field{{Name: "name", Type: generable.StrT}, {Name: "n", Type: generable.IntT}}}
	list := func(of *generable.Type) *generable.Type { return &generable.Type{Kind: generable.ListType, Elem: of} }
	const whole = `{"name":"a","n":1}`
	for _, tt := range []struct {
		t     *generable.Type
		text  string
		wrong string // "" if it is accepted
	}{
		{item, whole + `{"name":"b"`, `more follows its value at line 1, column 19`},
		{item, whole + `{`, "column 19"},
		{item, whole + ` {"na`, "column 20"},
		{item, whole + `, {"name":"b"`, "more follows"},
		{item, whole + ` 5`, "more follows"},
		{item, whole + ` [1`, "more follows"},
		{item, whole + `}`, "more follows"},
		{item, whole + `]`, "more follows"},
		{item, whole + `,`, "more follows"},
		{item, whole + "\n;", "line 2, column 1"},
		{item, whole + ` null`, "more follows"},
		{item, whole + ` // c`, "more follows"},
		{item, whole + "\n```", "more follows"},
		{item, `{"name":"a"}, "n":1}`, "more follows"},
		{item, `the item ` + whole, `it begins with what is no part of its value`},
		{item, `[1] ` + whole, "begins with"},
		{item, whole + whole, "2 values that fit"},
		{generable.AnyT, `{"k":5}{"k":6}`, "more than one value"},
		{generable.AnyT, "5\n6", "more than one value"},
		{generable.AnyT, `[1] 2`, "more than one value"},
		{generable.AnyT, `"x`, "a quote is not closed"},
		{generable.AnyT, `{"k":5} x`, "more follows"},
		{list(generable.IntT), `[1,2]]`, "more follows"},
		{list(generable.IntT), `[1,2] 3, 4]`, "want the end of the value"},
		{list(generable.IntT), `{"a":1}`, `want no key here, got "a" at line 1, column 1`},
		{list(generable.IntT), `[1,{"x":2}]`, `[1]: want no key here, got "x" at line 1, column 4`},
		{list(item), `[{"name":"a","n":{"value":1}}]`, `[0].n: want no key here, got "value"`},
		{list(item), `[{"name":"a","n":1,"z":1}]`, `[0].z: want no key but name, n, got "z"`},
		{item, `{"Item":` + whole + `}`, `want no key here, got "Item"`},

		{item, " \n" + whole + "\n\t\r\n ", ""},
		{item, "\ufeff" + whole, ""},
		{item, "{'name': a, n: '1',}", ""},
		{item, "name: a\nn: 1", ""},
		{item, "```json\n" + whole + "\n```\n", ""},
		{item, `{"name":"a", /* of */ "n":1}`, ""},
		{list(item), whole, ""},
		{list(item), whole + "\n" + whole, ""},
		{list(generable.IntT), "1, 2", ""},
		{list(generable.IntT), "[1 2]", ""},
		{generable.OneOf(list(generable.IntT), generable.NoneT), "1, 2", ""},
		{generable.AnyT, "name: a\nn: 1", ""},
	} {
		for name, read := range map[string]func(string, *generable.Type) (generable.Value, error){"text": input.Text, "json": input.JSON} {
			if name == "text" && tt.t == generable.AnyT {
				continue // it accepts any text
			}
			v, err := read(tt.text, tt.t)
			if (err == nil) != (tt.wrong == "") || err != nil && (!errors.Is(err, engine.ErrInput) || !strings.Contains(err.Error(), tt.wrong)) {
				t.Errorf("%s %q as %s: %s, %v, want %q", name, tt.text, tt.t, generable.JSON(v, tt.t), err, tt.wrong)
			}
		}
	}
	params := []generable.Field{{Name: "ns", Type: list(generable.IntT)}}
	for text, want := range map[string]string{
		`{"ns":[1]}{"ns":[2]}`:    "it is more than one value",
		`{"ns":[1]}{"n`:           "it is cut off",
		`{"ns":{"a":1}}`:          `ns[0]: want no key here, got "a"`,
		`{"main":{"ns":[1]}}`:     `want no key here, got "main"`,
		`{"ns":[1,{"x":2}]}`:      `ns[1]: want no key here, got "x"`,
		`{"ns":[1]} and the rest`: "more follows",
	} {
		if args, err := input.Args(text, params); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", text, args, err, want)
		}
	}
}

// A value of an enum needs no quotes, and is read like one in JSON.
func TestEnumInput(t *testing.T) {
	level := &generable.Type{Kind: generable.EnumType, Name: "Level", Values: []string{"low", "null", `"q"`}}
	for text, want := range map[string]string{
		"low": `"low"`, `"low"`: `"low"`, "LOW": `"low"`, `'Low'`: `"low"`, "null": `"null"`, `"q"`: `"\"q\""`,
		"none of it": "", "low or null": "", "": "",
	} {
		for _, as := range []*generable.Type{level, generable.OneOf(level, generable.NoneT)} {
			v, err := input.Text(text, as)
			if got := generable.JSON(v, as); err == nil && got != want || (err != nil) != (want == "") || err != nil && !errors.Is(err, engine.ErrInput) {
				t.Errorf("%q as %s: %s, %v, want %q", text, as, got, err, want)
			}
		}
	}
	for text, want := range map[string]string{`"LOW"`: `"low"`, "low": `"low"`, "7": ""} {
		if v, err := input.JSON(text, level); err == nil && generable.JSON(v, level) != want || (err != nil) != (want == "") {
			t.Errorf("%q as JSON: %s, %v, want %q", text, generable.JSON(v, level), err, want)
		}
	}
}
