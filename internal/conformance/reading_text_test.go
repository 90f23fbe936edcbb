package conformance

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// readingTypes declares the types as which the texts of these tests are read.
const readingTypes = `
Note = schema("A note", title = str, body = str, n = field(int, default = 0))
Function = schema("A function", sig = str, doc = str)
Code = schema("Code", name = str, code = str, test = field(str, default = ""))
Codes = list[Code]
Pair = schema("Two numbers", a = int, b = field(int, default = 0))
Pairs = list[Pair]
Ints = list[int]
Tags = schema("Tags", tags = list[str])
Points = schema("Points", points = list[Pair])
`

func newTextReader(t *testing.T) reader { return reader{loaded(t, agentscript.New(), readingTypes)} }

// wants reads texts and compares their values; "" stands for a text that is rejected.
func (r reader) wants(t *testing.T, rows [][3]string) {
	t.Helper()
	for _, row := range rows {
		typ := r.typ(row[0])
		res := lenient.Decode(typ, row[1], generable.Options{})
		got := ""
		if res.OK {
			got = generable.JSON(res.Value, typ)
		}
		if got != row[2] {
			t.Errorf("%s of %s\n is  %s %v\n not %s\n repairs %v", row[0], row[1], got, res.Errors, row[2], res.Repairs)
		}
	}
}

// Promise 28.1 (reading): text dropped inside the chosen value, or directly after it within its structure, is a repair
// with a cost, and at safe an answer whose list or object visibly contained more is not ok. Text there that contains a
// key, a value or an item never counts as prose.
func TestPromise_28_1_Losses(t *testing.T) {
	r := newTextReader(t)
	r.wants(t, [][3]string{
		{"Ints", `[1, 2] 3, 4]`, ""}, {"any", `[1, 2] 3, 4]`, ""},
		{"Ints", `[1, 2], 3, 4]`, ""}, {"any", `{"a": {"b": 1}} "c" is 2, d: 3}`, ""},
		{"any", "```json\n[1, 2] 3]\n```\nDone.", ""},
		{"any", `#x"ok": [95]}`, ""}, {"any", `x "a": 1, "b": {"c": 2}, "d": 3`, ""},
		{"any", `{149]`, ""}, {"any", `{"ok1219}`, ""}, {"any", `{"id": 1, "next[:30}`, ""},
		{"any", `{}note":"Zoë"`, ""}, {"any", `[{"ok": 1073}, <b>"items": "say"}<b> {"meta": "a"}]`, ""},
		// What is around a value, and says nothing about it, is prose.
		{"any", `{"a": 1} (see [docs])`, `{"a":1}`}, {"any", `The list [1, 2] is all.`, `[1,2]`},
		{"any", "Here is \"it\":\n{\"a\": 1}\nSay \"no\".", `{"a":1}`},
		// Comments do not swallow what follows them.
		{"any", `[//25, 34]`, `[25,34]`}, {"any", `{"a": 1 // one}`, `{"a":1}`}, {"any", `{"a": /*2}`, `{"a":2}`},
		{"any", `78, 115[ 160]`, `[78,115,[160]]`}, {"any", `[92] 94, 78`, `[[92],94,78]`},
	})
	// A closer too early somewhere in a list or an object of items: either all of it is read, or none.
	rnd := rand.New(rand.NewPCG(28, 1))
	for range 4000 {
		n, at := 2+rnd.IntN(6), 0
		open, closer := "[", "]"
		object := rnd.IntN(2) == 0
		if object {
			open, closer = "{", "}"
		}
		var items []string
		for i := range n {
			v := []string{`"text"`, "17", "true", `[1, 2]`, `{"x": 1}`, `"a, b"`, "null"}[rnd.IntN(7)]
			if object {
				v = `"k` + string(rune('a'+i)) + `": ` + v
			}
			items = append(items, v)
		}
		at = 1 + rnd.IntN(n-1)
		separator := []string{", ", ",", " ", "\n", ",\n  "}[rnd.IntN(5)]
		whole := open + strings.Join(items, ", ") + closer
		text := open + strings.Join(items[:at], ", ") + closer + separator + strings.Join(items[at:], ", ") + closer
		res := lenient.Decode(nil, text, generable.Options{})
		if !res.OK {
			continue
		}
		want := lenient.Decode(nil, whole, generable.Options{Level: generable.Strict}).Value
		got := generable.JSON(res.Value, nil)
		for _, item := range items {
			if _, value, ok := strings.Cut(item, ": "); ok && object {
				item = value
			}
			if v := lenient.Decode(nil, item, generable.Options{Level: generable.Strict}).Value; !strings.Contains(got, generable.JSON(v, nil)) {
				t.Fatalf("%s is read as %s without %s", text, got, item)
			}
		}
		if !generable.Equal(res.Value, want) && res.Cost == 0 {
			t.Errorf("%s is %s at no cost, want %s", text, got, whole)
		}
	}
}

// Promise 28.2 (reading): choosing among whole values is no loss: a value that was not chosen is recorded with cost 0
// and its position. Untyped values with only separators or blanks between them are a list.
func TestPromise_28_2_Choosing(t *testing.T) {
	r := newTextReader(t)
	r.wants(t, [][3]string{
		{"any", `{"a":1}{"a":1}`, `[{"a":1},{"a":1}]`}, {"any", `[1,2][3]`, `[[1,2],[3]]`}, {"any", `[1,2] []`, `[[1,2],[]]`},
		{"any", "{}\n{}", `[{},{}]`}, {"any", `{"a":1}, {"b":2},`, `[{"a":1},{"b":2}]`}, {"any", "{\"p\": \"C:\\dir\"}\n{\"p\": 2}", `[{"p":"C:\\dir"},{"p":2}]`},
		{"any", `{"a":"one"} or rather {"a":"two"}`, `{"a":"two"}`}, {"Pair", `{"a":1} {"a":2}`, `{"a":2,"b":0}`},
		{"Pairs", "First {\"a\":1}\nthen {\"a\":2}", `[{"a":1,"b":0},{"a":2,"b":0}]`},
		{"any", "A draft: {\"a\": 1}\n```json\n{\"a\": 2}\n```", `{"a":2}`},
		{"any", "```python\nx = {\"a\": 1}\n```\nSo {\"a\": 2}.", `{"a":2}`},
	})
	for text, at := range map[string]int{
		`{"a": 10} or rather {"a": 20}`:                    0,
		"Use {\"a\": 1}.\n```json\n{\"a\": 2}\n```":        4,
		"```json\n{\"a\": 2}\n```\nbut not {\"a\": \"x\"}": 29,
	} {
		res := r.read("Pair", text)
		i := slices.IndexFunc(res.Repairs, func(k generable.Repair) bool { return k.Kind == "not-chosen" })
		if !res.OK || i < 0 || res.Repairs[i].Offset != at || res.Repairs[i].Cost != 0 || !strings.HasPrefix(res.Repairs[i].Before, `{"a"`) {
			t.Errorf("%s: %v %v", text, res.Errors, res.Repairs)
		}
	}
}

// Promise 28.3 (reading): a quote or a closing bracket inside an open string ends it only if what follows is valid
// there.
func TestPromise_28_3_StructureInStrings(t *testing.T) {
	newTextReader(t).wants(t, [][3]string{
		{"any", `{"a": "Use {"b": "c", "d": [1, "e"]} here", "n": 1}`, `{"a":"Use {\"b\": \"c\", \"d\": [1, \"e\"]} here","n":1}`},
		{"any", `{"a": "f("x", {"k": "v"}); g["y"]", "n": 1}`, `{"a":"f(\"x\", {\"k\": \"v\"}); g[\"y\"]","n":1}`},
		{"any", `{"a": "see [1" and more", "n": 1}`, `{"a":"see [1\" and more","n":1}`},
		{"any", `["see [1" and more"]`, `["see [1\" and more"]`},
		{"any", `["^[a-z"]+$", "\\d{2}"]`, `["^[a-z\"]+$","\\d{2}"]`},
		{"any", `["\\text{"a"}", "\\frac{1}{2}"]`, `["\\text{\"a\"}","\\frac{1}{2}"]`},
		{"any", "{\"a\": \"So:\n```json\n{\"b\": [\"c\"]}\n```\nDone.\", \"n\": 1}", `{"a":"So:\n` + "```json" + `\n{\"b\": [\"c\"]}\n` + "```" + `\nDone.","n":1}`},
		{"any", `{"a": "first, b: "second"}`, `{"a":"first","b":"second"}`},
		{"any", `{"a": "one", b: "two", "c": 3}`, `{"a":"one","b":"two","c":3}`},
		{"Note", `{"title": "He said "no, never" twice", "body": "<a href="x" class="y">z</a>"}`, `{"title":"He said \"no, never\" twice","body":"<a href=\"x\" class=\"y\">z</a>","n":0}`},
	})
}

// Promise 28.4 (reading): an unquoted value extends to the next key that the type knows, including balanced brackets,
// paragraphs, lines and version-like numbers.
func TestPromise_28_4_BareValues(t *testing.T) {
	newTextReader(t).wants(t, [][3]string{
		{"Function", `{sig: def f(a: int, b: dict[str, int] = {}) -> str, doc: Adds: a and b}`, `{"sig":"def f(a: int, b: dict[str, int] = {}) -> str","doc":"Adds: a and b"}`},
		{"Function", "{\n  sig: function add(a, b) {\n    return a + b;\n  },\n  doc: Adds\n}", `{"sig":"function add(a, b) {\n    return a + b;\n  }","doc":"Adds"}`},
		{"Note", "{\n  title: Hello: you,\n  body: Dear team,\n\n  note: this is important, and\n\n  url: see below.\n\n  n: 3\n}", `{"title":"Hello: you","body":"Dear team,\n\n  note: this is important, and\n\n  url: see below.","n":3}`},
		{"Note", `{title: a: b, c: d, body: x, e: f, n: 1}`, `{"title":"a: b, c: d","body":"x, e: f","n":1}`},
		{"Note", `{title: He said "hello, you" and left, body: x}`, `{"title":"He said \"hello, you\" and left","body":"x","n":0}`},
		{"Note", "title: Hello\nbody: one: two\nthree: four\nn: 5", `{"title":"Hello","body":"one: two\nthree: four","n":5}`},
		{"Note", "{title: x, body: " + strings.Repeat("word: and more, ", 200) + "end, n: 1}", `{"title":"x","body":"` + strings.Repeat("word: and more, ", 200) + `end","n":1}`},
		{"any", `{a: b, c: d}`, `{"a":"b","c":"d"}`}, {"any", `{"a": words{in braces}more, "b": 1}`, `{"a":"words{in braces}more","b":1}`},
		{"any", `{a: max(int a, int b), b: 1}`, `{"a":"max(int a, int b)","b":1}`},
		{"any", `{a 'b'}`, `{"a":"b"}`}, {"any", `{a “b”}`, `{"a":"b"}`}, {"any", "{\n a 'b'\n\"c\": 1}", `{"a":"b","c":1}`},
		{"any", `2.0.1`, `"2.0.1"`}, {"any", `{"v": 2.0.1, "w": [1.2.3]}`, `{"v":"2.0.1","w":["1.2.3"]}`},
		{"any", `4,`, `4`}, {"any", `4 ,`, `4`}, {"int", `4,`, `4`}, {"float", `4.5 ,`, `4.5`},
		{"any", "{\u180e\"a\"\u180e:\u180e1\u180e}", `{"a":1}`}, {"any", "{a:\u180ex\u180e, b: 2}", `{"a":"x","b":2}`},
	})
}

// Promise 28.5 (reading): where text is expected, a fence is text up to its closing ticks, whatever it contains, also
// several in one object and in lists.
func TestPromise_28_5_FencesAsValues(t *testing.T) {
	r := newTextReader(t)
	const code = "f(\"x\", [1]); // }, \"name\": 2\n{\"a\": '}'}, g()"
	want := strings.Trim(generable.JSON(generable.StrOf(code), nil), `"`)
	for _, tag := range []string{"", "js", "python", "json"} {
		one := `{"name": "a", "code": ` + "```" + tag + "\n" + code + "\n```"
		r.wants(t, [][3]string{
			{"Code", one + "}", `{"name":"a","code":"` + want + `","test":""}`},
			{"Code", one + ", \"test\": ```" + tag + "\n" + code + "\n```\n}", `{"name":"a","code":"` + want + `","test":"` + want + `"}`},
			{"any", one + `, "n": 1}`, `{"name":"a","code":"` + want + `","n":1}`},
		})
		item := one + "\n}"
		res := r.read("Codes", "["+strings.Repeat(item+",\n", 15)+item+"]")
		if l, _ := res.Value.AsList(); !res.OK || l.Len() != 16 {
			t.Errorf("%q: %v, want 16 items", tag, res.Errors)
		}
	}
	r.wants(t, [][3]string{
		{"Code", "{\"name\": \"a\", // it's \"code\"\n \"code\": ```\nx\n``` // done\n, \"test\": \"t\"}", `{"name":"a","code":"x","test":"t"}`},
		{"Pair", "{\"a\": 1 // one, \"b\": 3\n, \"b\": 2}", `{"a":1,"b":2}`},
		{"Pair", "{a: 1 # one\nb: 2}", `{"a":1,"b":2}`},
	})
}

// Promise 28.6 (reading): missing commas, doubled and single quotes, and wrong and surplus closing brackets lose no
// member and no item.
func TestPromise_28_6_MissingCommas(t *testing.T) {
	newTextReader(t).wants(t, [][3]string{
		{"any", `[{"a": 1, {"a": 2}, {"a": 3}]`, `[{"a":1},{"a":2},{"a":3}]`}, {"any", `[{"a": 1 {"a": 2} {"a": 3}]`, `[{"a":1},{"a":2},{"a":3}]`},
		{"any", `{"a": "x"{, "b": 2}`, `{"a":"x","b":2}`}, {"any", `{"a": {"b": 1}}, "c": 2}, "d": 3}`, `{"a":{"b":1},"c":2,"d":3}`},
		{"any", `{"a": {"b": 1}}, // c` + "\n" + ` 'c': 2}`, `{"a":{"b":1},"c":2}`}, {"any", `{"a": 1}, and "b": 2}`, `{"a":1,"b":2}`},
		{"any", `["a"" "b"" "c"]`, `["a","b","c"]`}, {"any", `["a""", "b", """c"]`, `["a","b","c"]`}, {"any", `["a"", "b""]`, `["a","b"]`},
		{"any", `["a", b", "c"]`, `["a","b","c"]`}, {"any", `["a", "b, "c"]`, `["a","b","c"]`}, {"any", `["a, "", "c"]`, `["a","","c"]`},
		{"any", `{"a "big" key": 1, "c": 2}`, `{"a \"big\" key":1,"c":2}`}, {"any", `{"no"te": 1, "c": 2}`, `{"no\"te":1,"c":2}`},
		{"any", `{"a": [1, 2), "c": 2}`, `{"a":[1,2],"c":2}`}, {"any", `{"a": ["x", "y"), "c": "z"}`, `{"a":["x","y"],"c":"z"}`}, {"any", `{"a": [1, 2}, "c": 2}`, `{"a":[1,2],"c":2}`},
		{"any", `{"t": {"ok": ["a", "b"}, "n": null}, "i": 1}`, `{"t":{"ok":["a","b"],"n":null},"i":1}`},
		{"any", `"abc\"def\nx`, `"abc\"def\nx"`}, {"any", `"caf\u00e9 and \"this\"`, `"café and \"this\""`},
		{"any", "{\"a\": 1\n\"b\": 2\n\"c\": \"x\"\n'd': 3}", `{"a":1,"b":2,"c":"x","d":3}`}, {"any", "{\"a\": 1 /* x */ \"b\": 2 // y\n\"c\": \"x\"}", `{"a":1,"b":2,"c":"x"}`},
		{"Tags", `{"tags": ["a" "b", c", "d]}`, `{"tags":["a","b","c","d"]}`},
		{"Points", `{"points": [{"a": 1, "b": 2 {"a": 3}, {"a": 4]}`, `{"points":[{"a":1,"b":2},{"a":3,"b":0},{"a":4,"b":0}]}`},
	})
}

// Promise 28.8 (reading): strict refuses what RFC 8259 refuses, including bad escapes, and messages show the text that
// was read.
func TestPromise_28_8_Strict(t *testing.T) {
	for _, text := range invalidDocuments {
		if json.Valid([]byte(text)) {
			t.Errorf("%q is JSON", text)
		}
		for _, typ := range []*generable.Type{nil, generable.ListOfType(generable.AnyT), generable.DictOfType(generable.AnyT)} {
			res := lenient.Decode(typ, text, generable.Options{Level: generable.Strict})
			if res.OK || len(res.Errors) == 0 || res.Errors[0].Got == "" {
				t.Errorf("%q as %v is %s %v", text, typ, generable.JSON(res.Value, nil), res.Errors)
			}
		}
	}
	if len(invalidDocuments) < 280 {
		t.Errorf("only %d documents", len(invalidDocuments))
	}
	for text, says := range map[string]string{
		`["\u00A"]`: `\u00A`, `{"a": 1} {"b": 2}`: `{\"a\": 1}`, `{"a": 1} // one`: "// one", `{"a": tru}`: "tru",
	} {
		if res := lenient.Decode(nil, text, generable.Options{Level: generable.Strict}); !strings.Contains(res.Errors.Error(), says) {
			t.Errorf("%s: %v, want %s in it", text, res.Errors, says)
		}
	}
	// Finding a value is not a repair.
	for text, want := range map[string]string{
		"So: [1].": `[1]`, "```json\n{\"a\": \"\\u00e9\\/\"}\n```": `{"a":"é/"}`, " [1]\r\n": `[1]`, "\ufeff[1]": `[1]`,
		"# Result\n\n[1]\n\nAs asked.": `[1]`, "<think>{}</think>[1]": `[1]`, "结果：[1]": `[1]`, "Not [1] but\n```\n[2]\n```": `[2]`,
	} {
		res := lenient.Decode(nil, text, generable.Options{Level: generable.Strict})
		if got := generable.JSON(res.Value, nil); !res.OK || got != want || res.Cost != 0 {
			t.Errorf("%s is %s %v", text, got, res.Errors)
		}
	}
}
