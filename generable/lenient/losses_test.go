package lenient

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// Brackets in a text without quotes belong to it as long as they are balanced on its line.
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
		// Calls of constructors are still their arguments.
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

// Values with only separators, line ends or blanks between them are a list.
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
		// With words between them the later of equals counts.
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
