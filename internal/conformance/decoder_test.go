package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// decoding declares the types as which the texts of these tests are read.
const decoding = `
Address = schema("An address", street = str, zip = int)
Profile = schema("A profile", name = str, address = Address, aliases = list[str])
Score = schema("A score", score = float, verdict = str)
Args = schema("Arguments", name = str, count = field(int, "How many", default = 0))
Level = enum("low", "normal", "high")
Task = schema("A task", title = str, level = Level, done = bool, hours = float, due = str | None)
Approved = schema("Ready", confidence = float)
Rejected = schema("Not ready", reason = str, hints = field(list[str], default = []))
Decision = union("Whether to ship", Approved, Rejected)
Wrapped = schema("With a decision", decision = Decision)
A = schema("An a", a = int)
X = schema("An x", x = int)
Counts = dict[str, int]
Ints = list[int]
Limited = schema("With limits", n = field(int, ge = 0, le = 10), s = field(str, min_len = 2))
`

// reader reads texts as types of the script above.
type reader struct{ mod *agentscript.Module }

func newReader(t *testing.T) reader { return reader{loaded(t, agentscript.New(), decoding)} }

func (r reader) typ(name string) *generable.Type {
	switch name {
	case "str":
		return generable.StrT
	case "int":
		return generable.IntT
	case "float":
		return generable.FloatT
	case "bool":
		return generable.BoolT
	case "any":
		return generable.AnyT
	}
	t := r.mod.Type(name)
	if t == nil {
		panic("no type " + name)
	}
	return t
}

func (r reader) read(name, text string) lenient.Result {
	return lenient.Decode(r.typ(name), text, generable.Options{})
}

// A reading is a text, the type it is read as, the resulting value as JSON ("" for none), and the kinds of the repairs
// in order.
type reading struct{ as, text, want, repairs string }

func (r reader) check(t *testing.T, readings []reading) {
	t.Helper()
	for _, c := range readings {
		res := r.read(c.as, c.text)
		if c.want == "" {
			if res.OK || len(res.Errors) == 0 {
				t.Errorf("%s of %q gives %s, want errors", c.as, c.text, generable.JSON(res.Value, r.typ(c.as)))
			}
			continue
		}
		if got := generable.JSON(res.Value, r.typ(c.as)); !res.OK || got != c.want {
			t.Errorf("%s of %q gives %s, %v; want %s", c.as, c.text, got, res.Errors, c.want)
		}
		if got := repairs(res); got != c.repairs {
			t.Errorf("%s of %q is repaired by %q, want %q", c.as, c.text, got, c.repairs)
		}
	}
}

func repairs(r lenient.Result) string {
	var kinds []string
	for _, p := range r.Repairs {
		if k := p.Kind + at(p.Path); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return strings.Join(kinds, " ")
}

func at(path string) string {
	if path == "" {
		return ""
	}
	return "@" + path
}

// Promise 7.1 (decoder): valid JSON of the right type is decoded without repair, and integers of any size are exact.
func TestPromise_7_1_ValidJSON(t *testing.T) {
	newReader(t).check(t, []reading{
		{"Args", `{"name": "Alice", "count": 30}`, `{"name":"Alice","count":30}`, ""},
		{"Profile", ` {"name":"Bob","address":{"street":"s","zip":1},"aliases":["a","b"]} `, `{"name":"Bob","address":{"street":"s","zip":1},"aliases":["a","b"]}`, ""},
		{"Ints", "[1, -2, 9999999999, 2147483647, 2147483648, -2147483648]", "[1,-2,9999999999,2147483647,2147483648,-2147483648]", ""},
		{"Ints", "[9223372036854775807, 9223372036854775808, 1234567890123456789012345]", "[9223372036854775807,9223372036854775808,1234567890123456789012345]", ""},
		{"any", "[1e+5, 1e-2, 1E2, 1.5e2, 0.95]", "[100000.0,0.01,100.0,150.0,0.95]", ""},
		{"any", `{"yes": true, "no": false, "nothing": null, "empty": [{}, [], ""]}`, `{"yes":true,"no":false,"nothing":null,"empty":[{},[],""]}`, ""},
		{"any", `["say \"hello\"", "one\ntwo", "\u00FF\ud83d\ude00\/\b"]`, "[\"say \\\"hello\\\"\",\"one\\ntwo\",\"ÿ😀/\\u0008\"]", ""},
		{"Decision", `{"type": "Approved", "confidence": 0.95}`, `{"type":"Approved","confidence":0.95}`, ""},
		{"Decision", `{"reason": "r", "type": "Rejected"}`, `{"type":"Rejected","reason":"r","hints":[]}`, ""},
		{"Level", `"high"`, `"high"`, ""},
		{"str", "just text, {not} json", `"just text, {not} json"`, ""},
		{"Score", `{"score": 1, "verdict": "x,}] ` + "```json" + ` // y"}`, `{"score":1.0,"verdict":"x,}] ` + "```json" + ` // y"}`, "int-to-float@.score"},
		{"Counts", `{"a": 1, "b c": 2}`, `{"a":1,"b c":2}`, ""},
	})
}

// Promise 7.2 (decoder): the value is found in fences, in prose and after reasoning; of several values, the one that
// fits the type is taken.
func TestPromise_7_2_Surroundings(t *testing.T) {
	newReader(t).check(t, []reading{
		{"A", "```json\n{\"a\": 1}\n```", `{"a":1}`, "fence"},
		{"A", "```\n{\"a\": 1}\n```", `{"a":1}`, "fence"},
		{"A", "```JSON\n{\"a\": 1}", `{"a":1}`, "fence"},
		{"A", "Here is the result: {\"a\": 1} Done.", `{"a":1}`, "prose"},
		{"A", "Note [1]: {\"a\": 1}", `{"a":1}`, "prose"},
		{"A", "Use {x} like so: {\"a\": 1}", `{"a":1}`, "prose"},
		{"A", "<think>{\"x\": 1} maybe</think>{\"a\": 1}", `{"a":1}`, "reasoning"},
		{"A", "```json\n{\"x\": 1}\n```\nand\n```json\n{\"a\": 2}\n```", `{"a":2}`, "fence prose not-chosen"},
		{"X", "```json\n{\"x\": 1}\n```\nand\n```json\n{\"a\": 2}\n```", `{"x":1}`, "fence prose not-chosen"},
		{"Ints", "The numbers are [1, 2].", "[1,2]", "prose"},
		{"A", "\ufeff{\"a\": 1}", `{"a":1}`, ""},
		{"int", "42", "42", ""}, {"bool", "true", "true", ""}, {"float", "```\n2.5\n```", "2.5", "fence"},
		{"A", "this is no json at all", "", ""}, {"A", "", "", ""}, {"A", " \n", "", ""}, {"A", "[<html>]", "", ""},
	})
}

// Promise 7.3 (decoder): trailing commas and other common malformations are repaired, and each repair is reported with
// its position.
func TestPromise_7_3_Repairs(t *testing.T) {
	newReader(t).check(t, []reading{
		{"A", `{"a": 1,}`, `{"a":1}`, "trailing-comma@.a"},
		{"Ints", `[1, 2,]`, `[1,2]`, "trailing-comma@[1]"},
		{"any", `{"a":1,,"b":2}`, `{"a":1,"b":2}`, "extra-comma@.a"},
		{"Ints", `[1 2 3]`, `[1,2,3]`, "missing-comma@[0] missing-comma@[1]"},
		{"A", `{"a" 1}`, `{"a":1}`, "missing-colon@.a"},
		{"A", `{'a': 1}`, `{"a":1}`, "quotes"},
		{"A", `{a: 1}`, `{"a":1}`, "unquoted@.a"},
		{"A", `{“a”: 1}`, `{"a":1}`, "quotes"},
		{"A", "{\"a\":1 // c\n}", `{"a":1}`, "comment@.a"},
		{"A", `{/* c */ "a": 1}`, `{"a":1}`, "comment"},
		{"any", `{"a": True, "b": None}`, `{"a":true,"b":null}`, "python-literal@.a python-literal@.b"},
		{"any", `{"a": .5, "b": +1, "c": 0x1F, "d": 1_000}`, `{"a":0.5,"b":1,"c":31,"d":1000}`, "number-syntax@.a number-syntax@.b number-syntax@.c number-syntax@.d"},
		{"any", `{"e":"he said "hi" ok"}`, `{"e":"he said \"hi\" ok"}`, "unescaped-quote@.e"},
		{"any", "{\"m\": \"one\ntwo\"}", `{"m":"one\ntwo"}`, "control-character@.m"},
		{"any", `{"a": [1,2}`, `{"a":[1,2]}`, "missing-closer@.a[1]"},
		{"any", `{"n":12`, `{"n":12}`, "truncated@.n"},
		{"any", `["abc`, `["abc"]`, "truncated@[0]"},
		{"any", `{"a":1,"a":2}`, `{"a":2}`, "duplicate-key@.a"},
	})
	// What looks like a malformation inside a string is not changed.
	newReader(t).check(t, []reading{
		{"any", `{"a": "x,}"}`, `{"a":"x,}"}`, ""}, {"any", `["x, ]y", "// no", "'q'", "True"]`, `["x, ]y","// no","'q'","True"]`, ""},
	})
	// A repair reports its position in the text, and what was there.
	res := newReader(t).read("A", "so: {'a': 0x1F}")
	if i := slices.IndexFunc(res.Repairs, func(r generable.Repair) bool { return r.Kind == "number-syntax" }); i < 0 {
		t.Errorf("the number is no repair: %+v", res.Repairs)
	} else if r := res.Repairs[i]; r.Path != ".a" || r.Offset != 10 || r.Before != "0x1F" || r.Cost == 0 {
		t.Errorf("the repair says %+v", r)
	}
	computes(t, `[true,[["trailing-comma",".a"],["string-to-number",".a"]]]`, decoding+`
def got():
    r = A.decode('{"a": "3",}')
    return [r.ok, [[p.kind, p.path] for p in r.repairs]]
`)
}

// Promise 7.4 (decoder): the tag decides a union's variant; without a valid tag, `from_llm_output` returns None and
// `decode` returns an error that lists the variants.
func TestPromise_7_4_Discriminators(t *testing.T) {
	r := newReader(t)
	r.check(t, []reading{
		{"Decision", `{"type": "Approved", "confidence": 1}`, `{"type":"Approved","confidence":1.0}`, "int-to-float@.confidence"},
		{"Decision", `{"type": "approved", "confidence": 0.5}`, `{"type":"Approved","confidence":0.5}`, "tag-fold"},
		{"Wrapped", `{"decision": {"type": "Rejected", "reason": "r"}}`, `{"decision":{"type":"Rejected","reason":"r","hints":[]}}`, ""},
		{"Decision", `{"type": "Unknown", "confidence": 1}`, "", ""},
		{"Decision", `{"confidence": 0.5}`, "", ""},
		{"Decision", `{"type": 3, "confidence": 0.5}`, "", ""},
		{"Decision", `{"type": "Approved", "reason": "no"}`, "", ""},
	})
	computes(t, `[null,null,["Approved","Rejected"],{"type":"Approved","confidence":0.5}]`, decoding+`
def got():
    errors = Decision.decode('{"type": "Unknown", "confidence": 1}').errors
    named = [v for v in ["Approved", "Rejected"] if v in errors[0].expected + errors[0].hint]
    return [Decision.from_llm_output('{"type": "Unknown"}'), Decision.from_llm_output('{"confidence": 1}'), named, Decision.from_llm_output('{"type": "Approved", "confidence": 0.5}')]
`)
	computes(t, `["A",null]`, `
A = schema("a", n = int)
B = schema("b", n = int)
U = union("u", A, B, _tag = "kind")
def got():
    return [str(typeof(U.from_llm_output('{"kind": "A", "n": 1}'))), U.from_llm_output('{"type": "A", "n": 1}')]
`)
}

// Promise 7.5 (decoder): a missing field gets its default; without a default it is an error.
func TestPromise_7_5_Defaults(t *testing.T) {
	newReader(t).check(t, []reading{
		{"Args", `{"name": "n"}`, `{"name":"n","count":0}`, ""},
		{"Args", `{"name": "n", "count": null}`, `{"name":"n","count":0}`, "null-to-default@.count"},
		{"Args", `{"count": 1}`, "", ""},
		{"Args", `{"name": null}`, "", ""},
		{"Args", `{"name": "n", "count": "many"}`, "", ""},
		{"Task", `{"title": "t", "level": "low", "done": true, "hours": 1.5}`, `{"title":"t","level":"low","done":true,"hours":1.5,"due":null}`, ""},
		{"Task", `{"title": "t", "level": "low", "done": true, "hours": 1.5, "due": null}`, `{"title":"t","level":"low","done":true,"hours":1.5,"due":null}`, ""},
		{"Args", `{"name": "n", "extra": 1}`, `{"name":"n","count":0}`, "extra-key@.extra"},
	})
}

// Promise 7.6 (decoder): coercions lose nothing and are reported.
func TestPromise_7_6_Coercions(t *testing.T) {
	newReader(t).check(t, []reading{
		{"Score", `{"score": 42, "verdict": "v"}`, `{"score":42.0,"verdict":"v"}`, "int-to-float@.score"},
		{"A", `{"a": 3.0}`, `{"a":3}`, "float-to-int@.a"}, {"A", `{"a": 1e6}`, `{"a":1000000}`, "float-to-int@.a"},
		{"A", `{"a": 3.5}`, "", ""}, {"A", `{"a": "3.5"}`, "", ""}, {"A", `{"a": true}`, "", ""}, {"A", `{"a": "abc"}`, "", ""}, {"A", `{"a": [1, 2]}`, "", ""},
		{"A", `{"a": "3"}`, `{"a":3}`, "string-to-number@.a"}, {"Score", `{"score": "0.5", "verdict": "v"}`, `{"score":0.5,"verdict":"v"}`, "string-to-number@.score"},
		{"Score", `{"score": 1, "verdict": 5}`, `{"score":1.0,"verdict":"5"}`, "int-to-float@.score to-string@.verdict"},
		{"Task", `{"title": "t", "level": "HIGH", "done": "true", "hours": 1.5}`, `{"title":"t","level":"high","done":true,"hours":1.5,"due":null}`, "enum-fold@.level to-bool@.done"},
		{"Task", `{"title": "t", "level": "urgent", "done": true, "hours": 1.5}`, "", ""},
		{"Profile", `{"name": "{\"a\": 1}", "address": "{\"street\": \"s\", \"zip\": 1}", "aliases": "[\"x\"]"}`, `{"name":"{\"a\": 1}","address":{"street":"s","zip":1},"aliases":["x"]}`, "stringified@.address stringified@.aliases"},
		{"Profile", `{"name": "n", "address": "somewhere", "aliases": []}`, "", ""},
		{"Args", `{"Name": "n", "Count": 2}`, `{"name":"n","count":2}`, "key-fold@.Name key-fold@.Count"},
		{"Ints", `3`, `[3]`, "single-to-list"},
		{"A", `{"result": {"a": 1}}`, `{"a":1}`, "unwrap"},
		{"Counts", `{"a": "1"}`, `{"a":1}`, "string-to-number@.a"},
		{"Ints", `["12345678901234567890123"]`, `[12345678901234567890123]`, "string-to-number@[0]"},
	})
}

// Promise 7.7 (decoder): all wrong fields are reported at once, each with its path, the expected type and the actual
// value.
func TestPromise_7_7_FieldErrors(t *testing.T) {
	res := newReader(t).read("Profile", "{\"name\": \"n\",\n \"address\": {\"zip\": \"x\"},\n \"aliases\": [\"a\", {}]}")
	var got []string
	for _, e := range res.Errors {
		got = append(got, e.Error())
	}
	slices.Sort(got)
	if want := []string{
		`address.street: want str, got nothing at line 2, column 13`,
		`address.zip: want int, got "x" at line 2, column 21`,
		`aliases[1]: want str, got {} at line 3, column 19`,
	}; res.OK || !slices.Equal(got, want) {
		t.Errorf("the errors are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	res = newReader(t).read("Limited", `{"n": 11, "s": "x"}`)
	if len(res.Errors) != 2 || !strings.Contains(res.Errors[0].Error(), "at most 10") || !strings.Contains(res.Errors[1].Error(), "2") {
		t.Errorf("limits are told as\n%v", res.Errors)
	}
	computes(t, `[[".n","int"],[".s","str"]]`, decoding+`
def got():
    return [[e.path, e.expected] for e in Limited.decode('{"n": "no", "s": {}}').errors]
`)
	// A model that is asked again gets exactly these errors.
	_, calls := asked(t, decoding+"main = agent(output = Limited, prompt = \"L.\")\n", "x", map[string][]string{"main": {`{"n": 11, "s": "x"}`, `{"n": 1, "s": "ok"}`}})
	last := calls[1].Request.Messages
	if text := last[len(last)-1].Parts[0].Text; len(calls) != 2 || !strings.Contains(text, "n: expected at most 10, got 11") || !strings.Contains(text, "s: ") {
		t.Errorf("the model is asked again with\n%s", text)
	}
}
