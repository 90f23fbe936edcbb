package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
	"github.com/agentscript/agentscript/generable/jsonschema"
)

// dialects declares the types of this family, with values that use what providers write differently.
const dialects = `
Level = enum("low", "high")
Yes = schema("Yes", sure = float)
No = schema("No", why = str, hints = field(list[str], default = []))
Verdict = union("The verdict", Yes, No)
Tree = schema("A tree", name = str, kids = list[ref("Tree")])
Review = schema("A review", verdict = Verdict, level = field(Level, default = "low"), note = str | None, counts = dict[str, int], score = field(float, ge = 0, le = 1), tree = Tree)
Tags = list[str]
Counts = dict[str, int]
`

const review = `{"verdict":{"type":"No","why":"x","hints":["a"]},"level":"high","note":null,"counts":{"a b":1},"score":0.5,"tree":{"name":"1","kids":[{"name":"2","kids":[]}]}}`

func dialectType(t *testing.T, name string) *generable.Type {
	t.Helper()
	return loaded(t, agentscript.New(), dialects).Type(name)
}

// Promise 14.1 (every provider): a type compiles to the schema dialect of OpenAI, Anthropic, Gemini, Mistral,
// DeepSeek, OpenRouter, Ollama and compatible servers, and a value written in any of these dialects is decoded to the
// same value.
func TestPromise_14_1_EveryProvider(t *testing.T) {
	if got := strings.Join(dialect.Targets(), " "); got != "openai anthropic gemini mistral deepseek openrouter ollama compat" {
		t.Errorf("the targets are %s", got)
	}
	const openAI, wrapping = "openai mistral deepseek openrouter", "openai anthropic mistral deepseek openrouter compat"
	for _, row := range []struct{ name, targets, form, want string }{
		{"Review", openAI, strings.ReplaceAll(review, `{"a b":1}`, `[{"key":"a b","value":1}]`), review},
		{"Review", "anthropic", strings.NewReplacer(`{"a b":1}`, `[{"key":"a b","value":1}]`, `"note":null,`, "").Replace(review), review},
		{"Review", "gemini ollama compat", review, review},
		{"Tags", wrapping, `{"value":["a","b"]}`, `["a","b"]`},
		{"Tags", "gemini ollama", `["a","b"]`, `["a","b"]`},
		{"Counts", openAI + " anthropic", `{"value":[{"key":"a","value":1}]}`, `{"a":1}`},
		{"Counts", "gemini ollama compat", `{"a":1}`, `{"a":1}`},
		{"Verdict", wrapping, `{"value":{"type":"Yes","sure":0.5}}`, `{"type":"Yes","sure":0.5}`},
		{"Verdict", "gemini ollama", `{"type":"Yes","sure":0.5}`, `{"type":"Yes","sure":0.5}`},
		{"Level", wrapping, `{"value":"high"}`, `"high"`},
		{"Level", "gemini ollama", `"high"`, `"high"`},
	} {
		comesBack(t, dialectType(t, row.name), row.targets, row.form, row.want)
	}
}

// comesBack requires that each target's form of a value is read as that value, without a repair.
func comesBack(t *testing.T, typ *generable.Type, targets, form, want string) {
	t.Helper()
	for target := range strings.FieldsSeq(targets) {
		w, err := dialect.Compile(typ, target)
		if err != nil {
			t.Fatal(err)
		}
		back := w.Decode(form, generable.Options{Level: generable.Strict})
		if got := generable.JSON(back.Value, typ); !back.OK || got != want || back.Cost > 0 {
			t.Errorf("%s under %s: %s comes back as %s %v", typ, target, form, got, back.Errors)
		}
	}
}

// Promise 14.2 (every provider): the same type yields the same schema, byte for byte, with properties in their
// declared order.
func TestPromise_14_2_StableBytes(t *testing.T) {
	for _, target := range dialect.Targets() {
		a, err := dialect.Compile(dialectType(t, "Review"), target)
		b, err2 := dialect.Compile(dialectType(t, "Review"), target)
		if err != nil || err2 != nil || a.Schema != b.Schema {
			t.Fatalf("%s: two schemas of one type differ: %v %v", target, err, err2)
		}
		at := -1
		for _, name := range []string{"verdict", "level", "note", "counts", "score", "tree"} {
			next := strings.Index(a.Schema, `"`+name+`":{`)
			if next < at {
				t.Errorf("%s: %s is out of order in\n%s", target, name, a.Schema)
			}
			at = next
		}
	}
}

// Promise 14.3 (every provider): check --schemas reports how much of its budgets each provider's schema uses and how
// the schema is rewritten; the prompt states whatever no schema of the provider can express.
func TestPromise_14_3_Budgets(t *testing.T) {
	reports := dialect.Report(dialectType(t, "Review"))
	for _, r := range reports {
		if r.Err != nil || len(r.Wire.Budget) == 0 {
			t.Errorf("%s: %v", r.Target, r.Err)
		}
	}
	all := reports.String()
	for _, want := range []string{"of 10", "unions", "dict-as-pairs at counts", "recursion-as-text", "required-null at level"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if w, _ := dialect.Compile(dialectType(t, "Review"), "anthropic"); !strings.Contains(w.Prompt, "at most 1") {
		t.Errorf("the prompt for a provider without bounds is\n%s", w.Prompt)
	}
}

// Promise 14.4 (every provider): a type is refused only if no rewrite is left, with an error that says what it
// exceeds.
func TestPromise_14_4_Refusal(t *testing.T) {
	fields := func(n int) *generable.Type {
		var list []generable.Field
		for i := range n {
			list = append(list, generable.Field{Name: fmt.Sprint("f", i), Type: generable.StrT, Optional: true, Default: generable.StrOf("")})
		}
		typ, errs := generable.NewSchema("Wide", "", list)
		if errs != nil {
			t.Fatal(errs)
		}
		return typ
	}
	if w, err := dialect.Compile(fields(60), "anthropic"); err != nil || slices.ContainsFunc(w.Budget, dialect.Use.Over) {
		t.Errorf("60 optional fields are not rewritten to fit: %v", err)
	}
	if _, err := dialect.Compile(fields(5001), "openai"); err == nil || !strings.Contains(err.Error(), "properties 5001 of 5000") {
		t.Errorf("5001 properties: %v", err)
	}
}

// Promise 14.5 (every provider): an answer in a provider's form is read even if it is broken, with a record of each
// repair and of each part converted back from that form; a re-ask refers to the type that the script declares.
func TestPromise_14_5_BrokenForms(t *testing.T) {
	w, err := dialect.Compile(dialectType(t, "Counts"), "openai")
	if err != nil {
		t.Fatal(err)
	}
	r := w.Decode("```json\n{value: [{\"key\": \"a b\", \"value\": 1,}]\n```", generable.Options{})
	var kinds []string
	for _, fix := range r.Repairs {
		kinds = append(kinds, fix.Kind)
	}
	for _, want := range []string{"fence", "trailing-comma", "wrapped", "dict-as-pairs"} {
		if !r.OK || !slices.Contains(kinds, want) {
			t.Errorf("no record of %s among %v, %v", want, kinds, r.Errors)
		}
	}
	r = w.Decode(`{"value": [{"key": "a b", "value": "x"}]}`, generable.Options{})
	if says := r.Complaint(); r.OK || !strings.Contains(says, `["a b"]: expected int, got "x"`) {
		t.Errorf("the complaint is\n%s", says)
	}
}

// Promise 14.6 (every provider): a JSON Schema of a tool or a host becomes a type and then a provider's schema again;
// literals of any kind, tuples, limits of items and types that contain themselves keep their values.
func TestPromise_14_6_FromSchemas(t *testing.T) {
	const wrapping = "openai anthropic mistral deepseek openrouter"
	const jsonValues = `{"$ref": "#/$defs/J", "$defs": {"J": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/J"}}, {"additionalProperties": {"$ref": "#/$defs/J"}}]}}}`
	const pair = `{"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false, "minItems": 2}`
	const optional = `{"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": []}`
	for _, row := range []struct{ schema, targets, form, want string }{
		{`{"enum": [1, 2.5, "a", true, null]}`, wrapping + " compat", `{"value":2.5}`, `2.5`},
		{`{"enum": [1, 2.5, "a", true, null]}`, "gemini ollama", `2.5`, `2.5`},
		{pair, wrapping, `{"value":{"0":"a","1":1}}`, `["a",1]`},
		{pair, "gemini ollama", `["a",1]`, `["a",1]`},
		{pair, "compat", `{"value":["a",1]}`, `["a",1]`},
		{`{"type": "array", "items": {"type": "string", "maxLength": 3}}`, wrapping + " compat", `{"value":["abc"]}`, `["abc"]`},
		{`{"type": "array", "items": {"type": "string", "maxLength": 3}}`, "gemini ollama", `["abc"]`, `["abc"]`},
		{optional, "openai mistral deepseek openrouter", `{"a":null,"b":{"json":"null"}}`, `{"b":null}`},
		{optional, "anthropic gemini", `{"b":{"json":"null"}}`, `{"b":null}`},
		{optional, "ollama compat", `{"b":null}`, `{"b":null}`},
		{jsonValues, wrapping, `{"value":["a",["b"],{"entries":[{"key":"c","value":"d"}]}]}`, `["a",["b"],{"c":"d"}]`},
		{jsonValues, "gemini ollama", `["a",["b"],{"c":"d"}]`, `["a",["b"],{"c":"d"}]`},
		{jsonValues, "compat", `{"value":["a",["b"],{"c":"d"}]}`, `["a",["b"],{"c":"d"}]`},
	} {
		typ, _, errs := jsonschema.Parse(row.schema, jsonschema.Options{})
		if errs != nil {
			t.Fatal(errs)
		}
		comesBack(t, typ, row.targets, row.form, row.want)
	}
}
