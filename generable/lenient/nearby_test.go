package lenient

import (
	"fmt"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// Valid JSON is read exactly even if its last text holds an open bracket and ticks, prose or other values follow.
func TestOpenBracketsInValidJSON(t *testing.T) {
	for _, value := range []string{`["^[a-z"]`, `["a","x ["]`, `["x]["]`, `[["("]]`, `{"a":"{"}`, `{"a":["b ["]}`, `[1,{"a":"{ \"b\": {"}]`} {
		for _, frame := range []string{"%s", "```json\n%s\n```", "```\n%s\n```\nThat is \"it\", is it not?", "```%s```", "~~~\n%s\n~~~", "%s\n```", "So: %s\nThe \"end\"", "<think>[\"a [\"]</think>%s"} {
			nearby(t, generable.AnyT, fmt.Sprintf(frame, value), value)
		}
		nearby(t, generable.AnyT, value+"\n[\"z\"]", `[`+value+`,["z"]]`)
	}
	for _, text := range []string{`"x ["`, `"Hello [world]"`, `"see {x}"`, `"a: [b], c"`, `"[1]"`, `"{\"a\": 1}"`} {
		nearby(t, generable.AnyT, "```json\n"+text+"\n```", text)
		nearby(t, generable.StrT, "```json\n"+text+"\n```", text)
	}
}

// Semicolons separate values as commas do.
func TestSemicolonsBetweenValues(t *testing.T) {
	nearby(t, generable.AnyT, `{"a":1}; {"a":2}`, `[{"a":1},{"a":2}]`)
	nearby(t, generable.AnyT, "[1];\n[2];[3];", `[[1],[2],[3]]`)
	nearby(t, generable.ListOfType(generable.DictOfType(generable.IntT)), `{"a":1};{"a":2}`, `[{"a":1},{"a":2}]`)
	nearby(t, generable.AnyT, `x = {"a":1};`, `{"a":1}`)
}

// An answer that continues after {" lacks both characters.
func TestAnswerBehindItsFirstQuote(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`name": "Bob", "age": 3}`, `{"name":"Bob","age":3}`},
		{"name\": \"Bob\",\n\"tags\": [\"a\"]\n}", `{"name":"Bob","tags":["a"]}`},
		{`name": {"x": 1}, "tags": ["a"]}`, `{"name":{"x":1},"tags":["a"]}`},
		{`items": [{"a": 1}, {"a": "}"}]}`, `{"items":[{"a":1},{"a":"}"}]}`},
		{`Note": {"a": 1}`, `{"a":1}`}, // its braces match
	} {
		nearby(t, generable.AnyT, c.text, c.want)
	}
}

// A comment sign begins an unquoted text if a single word follows it, and then whatever may follow a value. The
// members after it are not lost.
func TestCommentsThatAreTexts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a": #fff, "b": 1}`, `{"a":"#fff","b":1}`},
		{"{\"a\": #fff,\n\"b\": 1}", `{"a":"#fff","b":1}`},
		{"{\"a\": #fff\n}", `{"a":"#fff"}`},
		{`{"a": //server/share, "b": 1}`, `{"a":"//server/share","b":1}`},
		{`{"tags": [#news, #sport], "b": 1}`, `{"tags":["#news","#sport"],"b":1}`},
		{"{\"a\": #note\n 5, \"b\": 1}", `{"a":5,"b":1}`},
		{"{\"a\": //note, and so on\n 5, \"b\": 1}", `{"a":5,"b":1}`},
		{"[1, #c\n2, //more\n]", `[1,2]`},
	} {
		nearby(t, generable.AnyT, c.text, c.want)
	}
}

// Members on separate lines are an object, even with brackets in some of their values.
func TestMembersOnLinesWithBrackets(t *testing.T) {
	nearby(t, generable.AnyT, "name: Bob\nage: 3\ntags: [\"a\", \"b\"]", `{"name":"Bob","age":3,"tags":["a","b"]}`)
	nearby(t, generable.AnyT, "```json\na: 1\nb: [2]\n```", `{"a":1,"b":[2]}`)
	nearby(t, generable.AnyT, "```yaml\na: 1\nb: {\"c\": 2}\n```", `{"a":1,"b":{"c":2}}`)
	nearby(t, generable.AnyT, "The result: [1]\nSee also: the manual", `[1]`)
}

// An object that begins like the one before it is another item of a list without brackets: its content would be lost.
func TestItemsOfAListWithoutBrackets(t *testing.T) {
	for _, text := range []string{`{"items": {"a": 1}, {"a": 2}}`, `{"items": {"a": 1}, {"a": 2}, "n": 3}`, `{"a": {"a": 1}, {"a": 2}}`} {
		if r := Decode(generable.AnyT, text, generable.Options{}); r.OK {
			t.Errorf("%s\n is  %s", text, generable.JSON(r.Value, nil))
		}
	}
	nearby(t, generable.AnyT, `{"a": {"x": 1}, {"b": 2}}`, `{"a":{"x":1},"b":2}`)
}

// A program in an unescaped text belongs to the text: what opens in it is closed in it.
func TestProgramsInTexts(t *testing.T) {
	for _, program := range []string{
		"function g(a) {\n  const o = {\"x\": [1, 2], y: \"z\"};\n  return o[\"x\"].map(v => ({\"v\": v, \"w\": `${v}`}));\n}\n",
		"def f(x):\n    \"\"\"Doc \"q\".\"\"\"\n    d = {\"a\": [1, \"b\"], 'c': x[\"k\"]}\n    return d\n",
	} {
		want := generable.JSON(generable.StrOf(program), nil)
		nearby(t, generable.AnyT, `{"text": "`+program+`", "n": 1}`, `{"text":`+want+`,"n":1}`)
		nearby(t, generable.AnyT, `{"n": 1, "text": "Here: `+program+`"}`, `{"n":1,"text":"Here: `+want[1:]+`}`)
	}
	nearby(t, generable.AnyT, "Sure, see: {'note': {'a': 1}, 'tags': [true]}", `{"note":{"a":1},"tags":[true]}`)
	lost := "Sure, see: {\n  'body'  'a',\n  'note': {'a': 1}, 'tags': [true]}"
	if r := Decode(generable.AnyT, lost, generable.Options{}); r.OK {
		t.Errorf("%q is %s", lost, generable.JSON(r.Value, nil))
	}
}

// The numbers of a numbered list are not values, the groups of a number are one number, and all letters that Python
// writes before a string are read alike.
func TestNumbersAndPrefixes(t *testing.T) {
	nearby(t, generable.ListOfType(generable.DictOfType(generable.IntT)), "1. {\"a\":1}\n2. {\"a\":2}", `[{"a":1},{"a":2}]`)
	nearby(t, generable.AnyT, "1\n{\"a\":1}\n2.5", `[1,{"a":1},2.5]`)
	nearby(t, generable.DictOfType(generable.IntT), `{"a": 1,234,567, "b": 1,234}`, `{"a":1234567,"b":1234}`)
	nearby(t, generable.DictOfType(generable.IntT), `{"a": 1,234,567}`, `{"a":1234567}`)
	nearby(t, generable.AnyT, `{"a": f"b {c}", "d": rb"e", "g": f, "h": false}`, `{"a":"b {c}","d":"e","g":"f","h":false}`)
}

// nearby checks what a text is read as, both as a whole and in pieces.
func nearby(t *testing.T, typ *generable.Type, text, want string) {
	t.Helper()
	r := Decode(typ, text, generable.Options{})
	if got := generable.JSON(r.Value, nil); !r.OK || got != want {
		t.Errorf("%q\n is  %s %v\n not %s\n %v", text, got, r.Errors, want, r.Repairs)
	}
	m := NewMachine(typ, generable.Options{})
	for i := range len(text) {
		m.Feed(text[i : i+1])
		m.Snapshot()
	}
	if got := m.Close(); got.OK != r.OK || generable.JSON(got.Value, nil) != generable.JSON(r.Value, nil) {
		t.Errorf("%q in pieces\n is  %s\n not %s", text, generable.JSON(got.Value, nil), generable.JSON(r.Value, nil))
	}
}
