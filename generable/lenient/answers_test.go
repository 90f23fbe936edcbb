package lenient

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// TestAnswers reads realistic model answers with several malformations each.
func TestAnswers(t *testing.T) {
	rows := []struct{ name, text, want string }{
		{"Python literal", `{'a': 'He said "hi"', 'b': "it's", 'c': [True, None], 'd': (1,), 'e': {1, 2}}`,
			`{"a":"He said \"hi\"","b":"it's","c":[true,null],"d":[1],"e":[1,2]}`},
		{"cut, then prose with quotes", "{\"a\": 1, \"b\": [1, 2]\n\nI hope this helps! Let me know: \"yes\" or \"no\".",
			`{"a":1,"b":[1,2]}`},
		{"code in a string", "{\n  \"code\": \"def f():\n    print(\"hello, world\")\n    return {\"a\": 1}\",\n  \"lang\": \"python\"\n}",
			`{"code":"def f():\n    print(\"hello, world\")\n    return {\"a\": 1}","lang":"python"}`},
		{"markup with attributes", `{"html": "<div class="x" id="y">Hi</div>", "n": 1}`,
			`{"html":"<div class=\"x\" id=\"y\">Hi</div>","n":1}`},
		{"a tool call in prose", "Thought: I need to use {tool}.\nAction Input: {\"query\": \"weather in \"Paris\" today\", \"n\": 3}",
			`{"query":"weather in \"Paris\" today","n":3}`},
		{"written by hand", "{\n  \"title\": \"A: B\",\n  // a comment\n  \"list\": [\n    \"one\",\n    \"two\"\n    \"three\",\n  ],\n  'nested': { key: value, other: \"x\" }\n  last: null\n}",
			`{"title":"A: B","list":["one","two","three"],"nested":{"key":"value","other":"x"},"last":null}`},
		{"ticks in strings in a fence", "```json\n{\n  \"steps\": [\"Run `make`\", \"Then ```go test```\"],\n  \"ok\": true\n}\n```\nThe above `ok` is {true}.",
			"{\"steps\":[\"Run `make`\",\"Then ```go test```\"],\"ok\":true}"},
		{"cut in a key", `{"items": [{"id": 1, "name": "A"}, {"id": 2, "name": "B"}, {"id": 3, "na`,
			`{"items":[{"id":1,"name":"A"},{"id":2,"name":"B"},{"id":3}]}`},
		{"comma missing at a line end", "[{\"a\": 1}, {\"a\": 3}\n{\"a\": 4}]", `[{"a":1},{"a":3},{"a":4}]`},
		{"inches", `{"text": "5'10" tall", "w": 3}`, `{"text":"5'10\" tall","w":3}`},
		{"quotations everywhere", `{"q": "What is "x"?", "a": "It is "y", or "z".", "c": [ "p", "q "r" s" ]}`,
			`{"q":"What is \"x\"?","a":"It is \"y\", or \"z\".","c":["p","q \"r\" s"]}`},
		{"a quotation with commas", `{"a": "He said: "no, never", and left", "b": 2}`,
			`{"a":"He said: \"no, never\", and left","b":2}`},
		{"and so on", `{"key": "value", "key2": "value2", ... }`, `{"key":"value","key2":"value2"}`},
		{"objects without a list", "{\n\"a\": \"x\"\n},\n{\n\"a\": \"z\"\n}", `[{"a":"x"},{"a":"z"}]`},
		{"in an element", `<answer>{"a": 1}</answer>`, `{"a":1}`},
		{"a path that ends in a backslash", `{"a": "C:\\Users\\me\", "b": 1}`, `{"a":"C:\\Users\\me\\","b":1}`},
		{"a query", `{"sql": "SELECT * FROM t WHERE a = "b" AND c IN ("d", "e")", "ok": true}`,
			`{"sql":"SELECT * FROM t WHERE a = \"b\" AND c IN (\"d\", \"e\")","ok":true}`},
		{"JSON in a reason", `{"reasoning": "The user said: {\"x\": 1}. So...", "answer": "B"}`,
			`{"reasoning":"The user said: {\"x\": 1}. So...","answer":"B"}`},
		{"an outline, no JSON", "The result is:\n- name: Bob\n- age: 5", ``},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := Decode(nil, row.text, generable.Options{})
			if row.want == "" {
				if r.OK {
					t.Fatalf("got %s, want an error", generable.JSON(r.Value, nil))
				}
				return
			}
			if got := generable.JSON(r.Value, nil); !r.OK || got != row.want {
				t.Errorf("got  %s\nwant %s\n%v", got, row.want, r.Errors)
			}
		})
	}
}
