package lenient

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// Brackets in an unquoted text belong to it as long as they are balanced on its line.
func TestBracketsInBareText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{sig: f(a, b: int) -> str, next: 2}`, `{"sig":"f(a, b: int) -> str","next":2}`},
		{`{sig: def f(a=[1,2], b={}): pass, next: 2}`, `{"sig":"def f(a=[1,2], b={}): pass","next":2}`},
		{`{"sig": max(int a, int b), "next": 2}`, `{"sig":"max(int a, int b)","next":2}`},
		{`{text: hello {name} world, n: 1}`, `{"text":"hello {name} world","n":1}`},
		{`{"a": words{in braces}more, "b": 1}`, `{"a":"words{in braces}more","b":1}`},
		{`{a: see [1] and [2, 3], b: 1}`, `{"a":"see [1] and [2, 3]","b":1}`},
		{`[x{y}, z[1], (a)]`, `["x{y}","z[1]","a"]`},
		{`{a: f(g(a, 2), "}"), b: 1}`, `{"a":"f(g(a, 2), \"}\")","b":1}`},
		{`{a: so sad :(, b: 1}`, `{"a":"so sad :(","b":1}`},
		{`{a: open [1, b: 2}`, `{"a":"open [1","b":2}`},
		// Calls of constructors are still read as their arguments.
		{`{"_id": ObjectId("123"), "n": NumberLong(5)}`, `{"_id":"123","n":5}`},
		{`{"p": Point(x=1, y=2)}`, `{"p":{"x":1,"y":2}}`},
		{`{"d": Decimal('1.5')}`, `{"d":"1.5"}`},
	} {
		r := Decode(generable.AnyT, c.text, generable.Options{})
		if got := generable.JSON(r.Value, nil); !r.OK || got != c.want {
			t.Errorf("%s\n is  %s %v\n not %s\n %v", c.text, got, r.Errors, c.want, r.Repairs)
		}
	}
}

// Values separated only by separators, line ends or blanks form a list.
func TestNeighbouringValues(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":1} {"a":2}`, `[{"a":1},{"a":2}]`},
		{`{"a":1}{"a":2}`, `[{"a":1},{"a":2}]`},
		{`[1,2] [3]`, `[[1,2],[3]]`},
		{`[1,2][]`, `[[1,2],[]]`},
		{`[] {}`, `[[],{}]`},
		{`{} {}`, `[{},{}]`},
		{"[1,2]\n[]", `[[1,2],[]]`},
		{`{"a":1}, {"a":2},`, `[{"a":1},{"a":2}]`},
		// With words between them, the last of equal candidates counts.
		{`{"a":"one"} or rather {"a":"two"}`, `{"a":"two"}`},
		{`2.0.1`, `"2.0.1"`},
		{`4,`, `4`},
		{`4 ,`, `4`},
	} {
		r := Decode(generable.AnyT, c.text, generable.Options{})
		if got := generable.JSON(r.Value, nil); !r.OK || got != c.want {
			t.Errorf("%s\n is  %s %v\n not %s\n %v", c.text, got, r.Errors, c.want, r.Repairs)
		}
	}
}

// Unreadable parts that visibly belong to a value are not prose: at Safe the answer is refused.
func TestDroppedText(t *testing.T) {
	for _, c := range []struct{ text, dropped string }{
		{`[1, 2] 3, 4]`, "3, 4"},
		{"{\"a\": {\"b\": 1}} \"c\" is 2, d: 3}", `"c" is 2, d: 3`},
		{"```json\n[1, 2] 3]\n```\nDone.", "3"},
	} {
		r := Decode(generable.AnyT, c.text, generable.Options{})
		if r.OK || len(r.Errors) != 1 {
			t.Errorf("%s is %s %v", c.text, generable.JSON(r.Value, nil), r.Errors)
		}
		r = Decode(generable.AnyT, c.text, generable.Options{Level: generable.Loose})
		if last := r.Repairs[len(r.Repairs)-1]; !r.OK || last.Kind != "dropped" || last.Before != c.dropped || last.Cost == 0 {
			t.Errorf("%s: %v %v", c.text, r.Errors, r.Repairs)
		}
	}
	for _, text := range []string{
		`{"a": 1}}`, `{"a": 1} (see [docs])`, `[1, 2]]. Done.`, "```json\n{\"a\": 1}\n```\nUse f(x]) now.", `{"a": 1} and {b}`,
	} {
		if r := Decode(generable.AnyT, text, generable.Options{}); !r.OK {
			t.Errorf("%s: %v", text, r.Errors)
		}
	}
}

// A quoted value needs no colon after its key.
func TestMembersWithoutColon(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{a 'b'}`, `{"a":"b"}`},
		{`{a “b”}`, `{"a":"b"}`},
		{"{a `b`, c 'd e'}", `{"a":"b","c":"d e"}`},
		{`{a "b"}`, `{"a":"b"}`},
		{`{a 1}`, `{"a":1}`},
	} {
		r := Decode(generable.AnyT, c.text, generable.Options{})
		if got := generable.JSON(r.Value, nil); !r.OK || got != c.want {
			t.Errorf("%s\n is  %s %v\n not %s\n %v", c.text, got, r.Errors, c.want, r.Repairs)
		}
	}
}

// Strict reads JSON strings only, and anything that touches a value is not prose.
func TestStrictRefuses(t *testing.T) {
	for _, text := range []string{
		`["\a"]`, `["\u00A"]`, `["\x00"]`, `["\u"]`, `["\'"]`, `["\0"]`, `["\ud800\u00"]`, `["\u{41}"]`, `["\ "]`, `{"a":"\q"}`,
		`{"\q":1}`, `"\a"`, "[\"\xff\"]", `[1]]`, `{"a":1}}`, `[1],`, `{"a":1},`, `[1]x`, `[1]#`, `{"a":"b"}/**/`, `{"a":"b"}#`,
	} {
		if r := Decode(generable.AnyT, text, generable.Options{Level: generable.Strict}); r.OK || len(r.Errors) == 0 {
			t.Errorf("%s is %s", text, generable.JSON(r.Value, nil))
		}
	}
	for _, text := range []string{`["\u00e9\/"]`, `So: [1].`, "[1]\n", "```\n[1]\n```", `See (["a"]) there`} {
		if r := Decode(generable.AnyT, text, generable.Options{Level: generable.Strict}); !r.OK {
			t.Errorf("%s: %v", text, r.Errors)
		}
	}
}

// When the scanner takes something back while reading, nothing remains that is read again.
func TestTakenBack(t *testing.T) {
	for _, text := range []string{
		"{s:```{},\"\"]",
		"{},b:9",
		"{},s:'",
		`[(""]`,
		`"",(""`,
		"{e:'}```, {b/*: ''}'\", \"xs\": [\"a\", \"b\"]}",
		"{e:``{[]}\"}``,, \"d/*f(a, {b: 'c'<think>x}\"b\"]}",
		"{\"n:``{\"a[2]}\": ,}```,\"cod-: \"f(a, {b: 'c'}\", \"xs\": [\"a\", \"b\"]}",
	} {
		for _, level := range []generable.Level{generable.Safe, generable.Loose} {
			if r := Decode(generable.AnyT, text, generable.Options{Level: level}); !r.OK && len(r.Errors) == 0 {
				t.Errorf("%s: neither a value nor an error", text)
			}
		}
	}
}
