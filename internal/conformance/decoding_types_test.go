package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// folding declares more types as which texts are read.
const folding = `
Even = schema("Even", n = field(int, ge = 0, le = 100, multiple_of = 2), code = field(str, pattern = "^[A-Z]+$"))
Mail = schema("A mail", to = field(str, format = "email"), tags = field(list[str], min_len = 1, max_len = 2, unique = True))
Odd = schema("Odd", n = field(int, check = ~eq(0)))
Risk = enum("low", "high", "very high", _alias = {"low": ["minor"]})
Named = schema("Named", first_name = str, age = field(int, alias = ["years", "alter"]))
Row = schema("A row", risk = Risk, by = Named | None)
Rows = list[Row]
Circle = schema("A circle", radius = float)
Square = schema("A square", side = float)
Shape = union("A shape", Circle, Square, _tag = "kind")
Either = Circle | Square
Loose = int | bool | list[str]
Tree = schema("A tree", v = int, kids = field(list[ref("Tree")], default = []))
`

func newKinds(t *testing.T) reader { return reader{loaded(t, agentscript.New(), folding)} }

// Promise 13.15 (types and decoding): the tag decides a named union, whether it is exact, folded, late or around the
// object; without a valid tag the result is an error that lists the variants, and a body that contradicts its tag is
// an error too.
func TestPromise_13_15_NamedUnions(t *testing.T) {
	r := newKinds(t)
	r.check(t, []reading{
		{"Shape", `{"kind": "Circle", "radius": 1.5}`, `{"kind":"Circle","radius":1.5}`, ""},
		{"Shape", `{"kind": "SQUARE", "side": 1.5}`, `{"kind":"Square","side":1.5}`, "tag-fold"},
		{"Shape", `{"side": 1.5, "kind": "Square"}`, `{"kind":"Square","side":1.5}`, ""},
		{"Shape", `{"square": {"side": 1.5}}`, `{"kind":"Square","side":1.5}`, "outer-tag"},
	})
	for _, text := range []string{`{"radius": 1.5}`, `{"kind": "Oval", "radius": 1.5}`, `{"kind": null, "radius": 1.5}`} {
		res := r.read("Shape", text)
		if res.OK || !strings.Contains(res.Errors.Error(), "Circle, Square") {
			t.Errorf("%s: %s", text, told(res))
		}
	}
	for _, level := range []generable.Level{generable.Safe, generable.Loose} {
		res := lenient.Decode(r.typ("Shape"), `{"kind": "Circle", "side": 1.5}`, generable.Options{Level: level})
		if res.OK || len(res.Errors) == 0 {
			t.Errorf("a circle with a side is %s", told(res))
		}
	}
	computes(t, `[null,"Square"]`, folding+`
def got():
    return [Shape.from_llm_output('{"radius": 1.5}'), str(typeof(Shape.from_llm_output('{"side": 1.5, "kind": "square"}')))]
`)
}

// Promise 13.16 (types and decoding): an inline union takes the variant that fits; if several fit equally well, the
// result is an error that names them.
func TestPromise_13_16_InlineUnions(t *testing.T) {
	r := newKinds(t)
	r.check(t, []reading{
		{"Either", `{"radius": 1.5}`, `{"radius":1.5}`, ""}, {"Either", `{"side": 2.5}`, `{"side":2.5}`, ""},
		{"Loose", `7`, `7`, ""}, {"Loose", `true`, `true`, ""}, {"Loose", `["a"]`, `["a"]`, ""}, {"Loose", `{}`, "", ""},
	})
	const both = `{"radius": 1.5, "side": 2.5}`
	if res := r.read("Either", both); res.OK || !strings.Contains(res.Errors.Error(), "Circle and Square") {
		t.Errorf("%s as Either is %s", both, told(res))
	}
	if res := lenient.Decode(r.typ("Either"), both, generable.Options{Level: generable.Loose}); !res.OK || !slices.Contains(kindsOf(res), "best-fit") {
		t.Errorf("%s as Either at loose is %s", both, told(res))
	}
}

// Promise 13.17 (types and decoding): keys and enum values are read in any case and punctuation and by their aliases,
// a single value is read as a list of one, JSON in a string as the value it encodes, and an object wrapped in one key
// without the wrapper; each of these is recorded.
func TestPromise_13_17_Folding(t *testing.T) {
	r := newKinds(t)
	for _, c := range []reading{
		{"Named", `{"firstName": "A", "Years": 3}`, `{"first_name":"A","age":3}`, ""}, {"Named", `{"FIRST NAME": "A", "alter": 3}`, `{"first_name":"A","age":3}`, ""},
		{"Risk", `"Very-High"`, `"very high"`, ""}, {"Risk", `VERY_HIGH`, `"very high"`, ""}, {"Risk", `minor.`, `"low"`, ""},
		{"Row", `{"risk": ["high"], "by": null}`, `{"risk":"high","by":null}`, ""},
		{"Rows", `{"risk": "low", "by": "{\"first_name\": \"A\", \"age\": 3}"}`, `[{"risk":"low","by":{"first_name":"A","age":3}}]`, ""},
		{"Named", `{"named": {"first_name": "A", "age": 3}}`, `{"first_name":"A","age":3}`, ""},
		{"Rows", `{"rows": [{"risk": "low", "by": null}]}`, `[{"risk":"low","by":null}]`, ""},
		{"Risk", `"medium"`, "", ""}, {"Named", `{"surname": "A", "age": 3}`, "", ""},
	} {
		res := r.read(c.as, c.text)
		if res.OK != (c.want != "") || res.OK && (generable.JSON(res.Value, nil) != c.want || res.Cost == 0 && !slices.Contains(kindsOf(res), "alias")) {
			t.Errorf("%s of %s: %s", c.as, c.text, told(res))
		}
	}
}

// Promise 13.18 (types and decoding): a negated choice is not a choice: "not high" is not `high` at any level, and two
// choices in one sentence are an error that names them.
func TestPromise_13_18_Negation(t *testing.T) {
	r := newKinds(t)
	for text, want := range map[string]string{
		"not high": "", "It isn't low.": "", "hardly high": "", "anything but high": "", "non-high": "", "no low risk here": "", "never high": "", "neither low nor high": "", "low or high": "",
		"The risk is high.": `"high"`, "I would say: very high!": `"very high"`, "It's not low, it is high": `"high"`,
	} {
		for _, text := range []string{text, `"` + text + `"`} {
			res := lenient.Decode(r.typ("Risk"), text, generable.Options{Level: generable.Loose})
			got := ""
			if res.OK {
				got = generable.JSON(res.Value, nil)
			}
			if got != want {
				t.Errorf("%q is %q, want %q", text, got, want)
			}
		}
	}
	if res := lenient.Decode(r.typ("Risk"), "low or high", generable.Options{Level: generable.Loose}); !strings.Contains(res.Errors.Error(), "low and high") {
		t.Errorf("two choices: %v", res.Errors)
	}
}

// Promise 13.19 (types and decoding): `max_cost` refuses a value whose repairs together cost more, and accepts one
// whose repairs cost exactly as much.
func TestPromise_13_19_MaxCost(t *testing.T) {
	r := newKinds(t)
	const text = `{first_name: 'A', "years": "3",}`
	cost := r.read("Named", text).Cost
	if cost < 5 {
		t.Fatalf("%s costs %d", text, cost)
	}
	for limit := 1; limit < cost+3; limit++ {
		res := lenient.Decode(r.typ("Named"), text, generable.Options{MaxCost: limit})
		if res.OK != (limit >= cost) || !res.OK && len(res.Errors) == 0 {
			t.Errorf("with max_cost %d of %d: %s", limit, cost, told(res))
		}
	}
	// What costs too much is rejected in favour of what costs less.
	if res := lenient.Decode(r.typ("Named"), text+` or {"first_name": "B", "age": 4}`, generable.Options{MaxCost: 1, Pick: generable.PickFirst}); !res.OK || res.Cost != 0 {
		t.Errorf("%s", told(res))
	}
}

// Promise 13.20 (types and decoding): an item or entry that does not fit is an error, or is dropped or kept unchanged
// with a record, at every depth.
func TestPromise_13_20_BadItems(t *testing.T) {
	r := newKinds(t)
	const text = `{"v": 1, "kids": [{"v": 2, "kids": [{"v": "x"}, {"v": 3}]}, {"v": 4}]}`
	for how, want := range map[generable.BadItem]string{
		generable.ItemError: "",
		generable.ItemDrop:  `{"v":1,"kids":[{"v":2,"kids":[{"v":3,"kids":[]}]},{"v":4,"kids":[]}]}`,
		generable.ItemKeep:  `{"v":1,"kids":[{"v":2,"kids":[{"v":"x"},{"v":3,"kids":[]}]},{"v":4,"kids":[]}]}`,
	} {
		res := lenient.Decode(r.typ("Tree"), text, generable.Options{OnBadItem: how})
		if how == generable.ItemError {
			if res.OK || len(res.Errors) != 1 || res.Errors[0].Path != ".kids[0].kids[0].v" {
				t.Errorf("errors: %s", told(res))
			}
			continue
		}
		if got := generable.JSON(res.Value, nil); !res.OK || got != want || len(res.Repairs) != 1 || res.Repairs[0].Path != ".kids[0].kids[0]" {
			t.Errorf("%d: %s\n%s", how, got, told(res))
		}
	}
	dict := generable.DictOfType(generable.IntT)
	if res := lenient.Decode(dict, `{"a": 1, "b": "x"}`, generable.Options{OnBadItem: generable.ItemDrop}); generable.JSON(res.Value, nil) != `{"a":1}` || kindsOf(res)[0] != "drop-item" {
		t.Errorf("a dict: %s", told(res))
	}
}

// Promise 13.21 (types and decoding): the constraints of fields are checked on the value, all at once, and the value
// is never changed to meet them.
func TestPromise_13_21_Constraints(t *testing.T) {
	r := newKinds(t)
	for _, c := range []struct{ as, text, wrong string }{
		{"Even", `{"n": "42", "code": "AB"}`, ""}, {"Mail", `{"to": "a@b.org", "tags": ["x", "y"]}`, ""}, {"Odd", `{"n": 1}`, ""},
		{"Even", `{"n": 43, "code": "AB"}`, ".n"}, {"Even", `{"n": -2, "code": "ab"}`, ".n .code"}, {"Even", `{"n": 102, "code": ""}`, ".n .code"},
		{"Mail", `{"to": "nobody", "tags": []}`, ".to .tags"}, {"Mail", `{"to": "a@b.org", "tags": ["x", "x"]}`, ".tags"},
		{"Mail", `{"to": "a@b.org", "tags": ["x", "y", "z"]}`, ".tags"}, {"Odd", `{"n": 0}`, ".n"},
	} {
		for _, level := range []generable.Level{generable.Safe, generable.Loose} {
			res := lenient.Decode(r.typ(c.as), c.text, generable.Options{Level: level})
			var paths []string
			for _, e := range res.Errors {
				paths = append(paths, e.Path)
			}
			if got := strings.Join(paths, " "); got != c.wrong || res.OK != (c.wrong == "") {
				t.Errorf("%s of %s at level %d: wrong are %q, want %q\n%s", c.as, c.text, level, got, c.wrong, told(res))
			}
		}
	}
	parity := &generable.Limits{Check: &generable.Check{Says: "an even number", Holds: func(v generable.Value) bool {
		n, ok := v.AsInt()
		return ok && n%2 == 0
	}}}
	res := lenient.Decode(schemaOf(t, "N", generable.Field{Name: "n", Type: generable.IntT, Limits: parity}), `{"n": 3}`, generable.Options{})
	if res.OK || res.Errors[0].Expected != "an even number" {
		t.Errorf("a predicate of a host: %s", told(res))
	}
}

// Promise 13.22 (types and decoding): errors are data: path, expected, got, offset, line and column in runes, and a
// hint; all are reported at once, and together they form the text of a re-ask.
func TestPromise_13_22_Errors(t *testing.T) {
	r := newKinds(t)
	text := "Hé:\n[{\"risk\": \"lov\", \"by\": {\"first_name\": [], \"age\": \"é\"}},\n {\"by\": 7}]"
	res := r.read("Rows", text)
	want := map[string]generable.FieldError{
		"[0].risk":          {Expected: "one of low, high, very high", Got: `"lov"`, Hint: "did you mean low?", Line: 2, Col: 11},
		"[0].by.first_name": {Expected: "str", Got: "[]", Line: 2, Col: 39},
		"[0].by.age":        {Expected: "int", Got: `"é"`, Line: 2, Col: 50},
		"[1].risk":          {Expected: "one of low, high, very high", Got: "nothing", Line: 3, Col: 2},
		"[1].by":            {Expected: "Named | None", Got: "7", Line: 3, Col: 9},
	}
	again := res.Complaint()
	for _, e := range res.Errors {
		w, ok := want[e.Path]
		delete(want, e.Path)
		if !ok || e.Expected != w.Expected || e.Got != w.Got || e.Hint != w.Hint || e.Line != w.Line || e.Col != w.Col {
			t.Errorf("%+v, want %+v", *e, w)
		}
		if lines := strings.Split(text[:e.Offset], "\n"); len(lines) != e.Line || len([]rune(lines[e.Line-1]))+1 != e.Col {
			t.Errorf("%+v: the offset is elsewhere", *e)
		}
		if !strings.Contains(again, e.Path) || !strings.Contains(again, e.Expected) {
			t.Errorf("the second question does not tell of %s:\n%s", e.Path, again)
		}
	}
	if len(want) > 0 || res.OK {
		t.Errorf("not told: %+v", want)
	}
	if r.read("Risk", "high").Complaint() != "" {
		t.Error("a second question where nothing is wrong")
	}
}
