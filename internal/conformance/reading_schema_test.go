package conformance

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/generable/lenient"
)

// wrapped are types of which a model tends to omit a level.
const wrapped = `
Circle = schema("A circle", name = str, radius = int)
Line = schema("A line", name = str, length = int)
Call = schema("A call", selected = Circle | Line)
Calls = list[Call]
Plan = schema("A plan", calls = Calls)
Revenue = schema("Money", revenue = float)
Either = schema("Money", revenue = int | float)
`

// Promise 28.7 (reading): at loose, flat objects for a class with a wrapped field and a number for a class of one float
// are read.
func TestPromise_28_7_ImpliedStructure(t *testing.T) {
	r := reader{loaded(t, agentscript.New(), wrapped)}
	const flat = `{"name": "a", "radius": 5}, {"name": "b", "length": 10}`
	const full = `[{"selected":{"name":"a","radius":5}},{"selected":{"name":"b","length":10}}]`
	for _, row := range []reading{
		{"Calls", "[" + flat + "]", full, "implied-field"},
		{"Calls", strings.ReplaceAll(flat, "}, {", "}\nand\n{"), full, ""},
		{"Plan", `{"calls": [` + flat + `]}`, `{"calls":` + full + `}`, "implied-field"},
		{"Call", `{"name": "b", "length": 10}`, `{"selected":{"name":"b","length":10}}`, "implied-field"},
		{"Revenue", "1214.1", `{"revenue":1214.1}`, "implied-field"},
		{"Either", "1214.1", `{"revenue":1214.1}`, "implied-field"},
		{"Either", "1214", `{"revenue":1214}`, "implied-field"},
	} {
		typ := r.typ(row.as)
		res := lenient.Decode(typ, row.text, generable.Options{Level: generable.Loose})
		if got := generable.JSON(res.Value, typ); !res.OK || got != row.want || !strings.Contains(strings.Join(kindsOf(res), " "), row.repairs) {
			t.Errorf("%q as %s is %s, want %s", row.text, row.as, told(res), row.want)
		}
		if res := lenient.Decode(typ, row.text, generable.Options{}); res.OK {
			t.Errorf("%q as %s is %s at safe, which guesses nothing", row.text, row.as, told(res))
		}
	}
	// If integers are distinguished, a number is wanted, and not an int.
	got := decodes(t, `{"n": "many"}`, "--schema", file(t, "n.json", `{"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}`))
	if got.code != 1 || !strings.Contains(got.stderr, `n: want number, got "many"`) {
		t.Errorf("%+v", got)
	}
}

// Errors say what was read: not what it was read as, nor its kind.
func TestReadingShownInErrors(t *testing.T) {
	typ := loaded(t, agentscript.New(), `T = schema("T", n = field(int, le = 10), s = field(str, pattern = "^a"), e = enum("low", _name = "E"))`).Type("T")
	long := strings.Repeat("x", 500)
	for text, want := range map[string]string{
		`{"n": [1,` + "\n" + ` 2], "s": "a", "e": "low"}`:             `n: want int, got [1, 2] at`,
		`{"n": {"a": "1"}, "s": "a", "e": {"b": 1, "c": 2}}`:          `e: want one of low, got {"b": 1, "c": 2} at`,
		`{"n": "1,234", "s": "a", "e": "low"}`:                        `n: want at most 10, got "1,234" at`,
		`{"n": 12.0, "s": "a", "e": "low"}`:                           `n: want at most 10, got 12.0 at`,
		`{"n": 1, "s": 7, "e": "low"}`:                                `s: want text that matches ^a, got 7 at`,
		`{"n": ["` + long + `", 1], "s": "a", "e": "low"}`:            `n: want int, got ["` + long[:60],
		`{"n": 1, "s": "a", "e": [` + strings.Repeat(" ", 300) + `]}`: `e: want one of low, got [… at`,
	} {
		res := lenient.Decode(typ, text, generable.Options{})
		if res.OK || !strings.Contains(res.Errors.Error(), want) {
			t.Errorf("%.80q: %s\nwant %s", text, res.Errors, want)
		}
		for _, e := range res.Errors {
			if len(e.Got) > 120 {
				t.Errorf("%.80q: got is %d bytes long", text, len(e.Got))
			}
		}
	}
	for text, want := range map[string]string{
		`{"n": 1, "s": "a\q", "e": "low"}`: "`a\\q`", `{"n": 1, s: "a", "e": "low"}`: "unquoted `s`",
	} {
		if res := lenient.Decode(typ, text, generable.Options{Level: generable.Strict}); res.OK || !strings.Contains(res.Errors.Error(), want) {
			t.Errorf("%s: %s\nwant %s", text, res.Errors, want)
		}
	}
}

// worded are types with everything that JSON Schema cannot express.
const worded = `
Level = enum("low", "high", _notes = {"low": "can wait"}, _alias = {"high": ["urgent"]})
Fault = schema("A fault", place = field(str, "where it is", alias = ["key-place", "spot"], alias_only = True), level = field(Level, stream = "atomic"),
    code = field(str, dedent = True, stream = ["first", "state"], default = ""), n = field(int, check = ~eq(0), alias = "count", default = 1))
`

// Promise 28.11 (reading): x-alias, x-enum, x-constraints and x-stream are read and written in JSON Schema. An alias
// may replace the real name, and code blocks are dedented on request.
func TestPromise_28_11_WordsOfJSONSchema(t *testing.T) {
	typ := loaded(t, agentscript.New(), worded).Type("Fault")
	text := jsonschema.ExportText(typ)
	for _, word := range []string{`"x-alias"`, `"x-alias-only": true`, `"x-enum"`, `"x-constraints"`, `"x-stream"`, `"x-dedent": true`} {
		if !strings.Contains(text, word) {
			t.Errorf("the schema lacks %s:\n%s", word, text)
		}
	}
	back, ignored, errs := jsonschema.Parse(text, jsonschema.Options{Check: func(says string) *generable.Check { return typ.Fields[3].Limits.Check }})
	if errs != nil || ignored != nil || back.ID() != typ.ID() {
		t.Fatalf("%v %v\n%s\n%s", errs, ignored, text, jsonschema.ExportText(back))
	}
	const answer = `{"key-place": "cellar", "level": "urgent", "code": "  if x:\n    y()", "count": 2}`
	const want = `{"place":"cellar","level":"high","code":"if x:\n  y()","n":2}`
	for name, typ := range map[string]*generable.Type{"declared": typ, "read": back} {
		res := lenient.Decode(typ, answer, generable.Options{})
		if got := generable.JSON(res.Value, typ); !res.OK || got != want || !strings.Contains(strings.Join(kindsOf(res), " "), "dedent") {
			t.Errorf("%s: %s", name, told(res))
		}
		// The name is not a key, at any level, and the error names the key.
		for _, level := range []generable.Level{generable.Safe, generable.Strict, generable.Loose} {
			res := lenient.Decode(typ, strings.ReplaceAll(answer, "key-place", "place"), generable.Options{Level: level})
			if res.OK || !strings.Contains(res.Errors.Error(), `["key-place"]: want str, got nothing`) {
				t.Errorf("%s at %d: %s", name, level, told(res))
			}
		}
		// A stream shows the same: the text that is dedented when it is complete, the field under its name.
		var places []string
		s := lenient.NewStream(typ, lenient.StreamOptions{On: func(e *lenient.StreamEvent) {
			if e.Kind == lenient.StreamField {
				places = append(places, e.Path()+" "+generable.JSON(e.Value, nil))
			}
			if e.Kind == lenient.StreamText && e.Path() == ".code" {
				t.Errorf("%s: the text is shown before its margin is known: %q", name, e.Text)
			}
		}})
		for i := range answer {
			s.Feed(answer[i : i+1])
		}
		if r := s.Close(); generable.JSON(r.Value, typ) != want || strings.Join(places, "; ") != `.place "cellar"; .level "high"; .code "if x:\n  y()"; .n 2` {
			t.Errorf("%s: %s\n%s", name, told(r), places)
		}
	}
	// A block between backticks is dedented too.
	res := lenient.Decode(typ, "{\"spot\": \"x\", \"level\": \"low\", \"code\": ```go\n    a\n      b\n```}", generable.Options{})
	if got := generable.JSON(res.Value, typ); got != `{"place":"x","level":"low","code":"a\n  b","n":1}` {
		t.Error(told(res))
	}
	// What models receive has the alias, and neither the name nor the words.
	for name, sent := range map[string]string{"schema": typ.JSONSchema(), "prompt": typ.PromptFragment(), "description": typ.LLMDescription()} {
		if !strings.Contains(sent, "key-place") || strings.Contains(sent, "**place**") || strings.Contains(sent, `"place"`) || strings.Contains(sent, "x-") {
			t.Errorf("%s:\n%s", name, sent)
		}
	}
	for _, target := range dialect.Targets() {
		w, err := dialect.Compile(typ, target)
		if err != nil {
			t.Fatal(err)
		}
		sent := string(w.Schema)
		if strings.Contains(sent, `"place"`) || strings.Contains(sent, `"x-`) || !strings.Contains(sent, "place") {
			t.Errorf("%s is sent %s", target, sent)
		}
		if res := w.Decode(answer, generable.Options{}); generable.JSON(res.Value, typ) != want {
			t.Errorf("%s: %s", target, told(res))
		}
	}
	computes(t, `["if x:\n  y()","if x:\n  y()",["cellar","cellar"],["atomic"]]`, worded+`
Again = type_from_json_schema(Fault.json_schema(words = True))

def got():
    values = [T.decode('`+strings.ReplaceAll(answer, `\n`, `\\n`)+`').value for T in [Fault, Again]]
    made = Fault(place = "x", level = "low", code = "  if x:\n    y()")
    return [made.code, values[0].code, [v.place for v in values], Fault.json_schema(words = True, as_dict = True)["properties"]["level"]["x-stream"]]
`)
	// The command checks what a schema constrains, and its type is the script's.
	schema := file(t, "fault.json", text)
	if got := decodes(t, answer, "--schema", schema); got.code != 0 || got.stdout != want+"\n" {
		t.Errorf("%+v", got)
	}
	if got := decodes(t, strings.Replace(answer, `"count": 2`, `"count": 0`, 1), "--schema", schema); got.code != 1 || !strings.Contains(got.stderr, "n: want ~eq(0), got 0 at") {
		t.Errorf("%+v", got)
	}
	// An alias that excludes the name must exist.
	if found, shown := checked(`T = schema("T", a = field(str, alias_only = True))` + "\nmain = agent(output = T)\n"); codes(found) == "" || !strings.Contains(shown, "alias_only rules the name out, and there is no alias") {
		t.Error(shown)
	}
	if _, _, errs := jsonschema.Parse(`{"properties": {"a": {"type": "string", "x-alias-only": true}}}`, jsonschema.Options{}); !strings.Contains(errs.Error(), "want an alias, which rules the name out") {
		t.Error(errs)
	}
}

// Promise 28.12 (reading): decode --explain prints what was chosen, dropped and repaired, and why.
func TestPromise_28_12_ExplainedDecodings(t *testing.T) {
	schema := file(t, "a.json", `{"title": "A", "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}`)
	const answer = "Either {\"a\": 1}\nor rather\n```json\n{a: '2', \"more\": [3],}\n```\n"
	got := decodes(t, answer, "--schema", schema, "--explain", "--pick", "last")
	const want = `1:1: prose: Either {"a": 1} or rather; words around the value are not part of it (cost 0)
1:8: not chosen: {"a": 1}; another value was taken (cost 0)
3:1: fence: json; the value is in a block between ticks (cost 0)
4:1: chosen: {a: '2', "more": [3],}; it is the last that fits
4:2: unquoted in a: a -> "a"; a text or a key has no quotes (cost 3)
4:5: quotes in a: ' -> "; other quotes take the place of JSON's (cost 1)
4:5: string to number in a: "2" -> 2; the type wants a number (cost 2)
4:18: extra key in more: [3]; the type has no such field (cost 1)
4:22: trailing comma in more[0]; nothing follows the comma (cost 1)
read as A at level safe; its repairs cost 8
`
	if got.code != 0 || got.stdout != "{\"a\":2}\n" || got.stderr != want {
		t.Errorf("%d %s\n%s\nwant\n%s", got.code, got.stdout, got.stderr, want)
	}
	// What was lost, and what does not fit.
	got = decodes(t, `[1, 2] 3]`, "--schema", file(t, "l.json", `{"type": "array", "items": {"type": "integer"}}`), "--explain", "--level", "loose")
	if got.code != 0 || !strings.Contains(got.stderr, "1:7: dropped: 3; it followed the value and seemed a part of it; it is lost (cost 8)") {
		t.Errorf("%+v", got)
	}
	got = decodes(t, `{"a": "many"}`, "--schema", schema, "--explain")
	if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, "1:1: nearest: {\"a\": \"many\"}; it does not fit\nerror: a: want int, got \"many\" at line 1, column 7\nnot read as A at level safe: 1 error\n") {
		t.Errorf("%+v", got)
	}
	// Without a type too; rows and machines have data instead.
	if got = decodes(t, `[1,]`, "--explain"); got.code != 0 || !strings.Contains(got.stderr, "1:1: chosen: [1,]; it fits\n") {
		t.Errorf("%+v", got)
	}
	for _, flag := range []string{"--jsonl", "--report=json"} {
		if got = decodes(t, "", "--explain", flag); got.code != 2 || !strings.Contains(got.stderr, "--explain shows people what became of one answer") {
			t.Errorf("%+v", got)
		}
	}
}
