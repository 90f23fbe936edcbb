package lenient

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// kinds lists the kinds of the repairs, in order, without repetitions.
func kinds(r Result) string {
	var out []string
	for _, rep := range r.Repairs {
		if len(out) == 0 || out[len(out)-1] != rep.Kind {
			out = append(out, rep.Kind)
		}
	}
	return strings.Join(out, " ")
}

// TestDecodeText covers the acceptance rows LP: texts read without a type. A row without a value requires an error.
func TestDecodeText(t *testing.T) {
	rows := []struct {
		row, text, want, repairs string
	}{
		{"LP1 object", `{"name": "Alice", "age": 30}`, `{"name":"Alice","age":30}`, ""},
		{"LP2 nested", `{"user": {"name": "Bob"}}`, `{"user":{"name":"Bob"}}`, ""},
		{"LP3 list", `["a", "b", "c"]`, `["a","b","c"]`, ""},
		{"LP4 bools", `{"yes": true, "no": false}`, `{"yes":true,"no":false}`, ""},
		{"LP4 null", `{"nothing": null}`, `{"nothing":null}`, ""},
		{"LP5 float", `{"score": 0.95}`, `{"score":0.95}`, ""},
		{"LP5 negative", `{"delta": -3}`, `{"delta":-3}`, ""},
		{"LP6 tagged fence", "```json\n{\"key\":\"value\"}\n```", `{"key":"value"}`, "fence"},
		{"LP6 plain fence", "```\n{\"key\":\"value\"}\n```", `{"key":"value"}`, "fence"},
		{"LP7 trailing comma in object", `{"a": 1, "b": 2,}`, `{"a":1,"b":2}`, "trailing-comma"},
		{"LP7 trailing comma in list", `["x", "y",]`, `["x","y"]`, "trailing-comma"},
		{"LP8 prose", `Here is the result: {"key": "val"} Done.`, `{"key":"val"}`, "prose"},
		{"LP9 escaped quote", `{"msg": "say \"hello\""}`, `{"msg":"say \"hello\""}`, ""},
		{"LP9 escaped line feed", `{"line": "one\ntwo"}`, `{"line":"one\ntwo"}`, ""},
		{"LP10 no JSON", `this is not json at all`, ``, ""},
		{"LP10 empty", ``, ``, ""},
		{"LP10 blank", " \n\t ", ``, ""},
		{"LP11 empty object", `{}`, `{}`, ""},
		{"LP11 empty list", `[]`, `[]`, ""},
		{"LP11 blank object", `{   }`, `{}`, ""},
		{"LP11 blank list", `[   ]`, `[]`, ""},
		{"LP12 objects", `[{"id": 1}, {"id": 2}]`, `[{"id":1},{"id":2}]`, ""},
		{"LP13 64 bit", `{"n": 9999999999}`, `{"n":9999999999}`, ""},
		{"LP14 32 bit edge", `{"i": 2147483647, "l": 2147483648}`, `{"i":2147483647,"l":2147483648}`, ""},
		{"LP15 least 32 bit", `{"min":-2147483648}`, `{"min":-2147483648}`, ""},
		{"LP16 exponents", `[1e+5, 1e-2, 1E2]`, `[100000.0,0.01,100.0]`, ""},
		{"LP16 exponent in object", `{"d": 1.5e2}`, `{"d":150.0}`, ""},
		{"LP17 25 digits", `[1234567890123456789012345]`, `[1234567890123456789012345]`, ""},
		{"LP18 unicode escape", `["\u00FF"]`, `["ÿ"]`, ""},
		{"LP18 bad unicode escape", `{"c": "\uZZZZ"}`, `{"c":"uZZZZ"}`, "bad-escape"},
		{"LP18 cut unicode escape", `["\u123`, `[""]`, "truncated"},
		{"LP19 cut number", `{"n":12`, `{"n":12}`, "truncated"},
		{"LP19 cut fraction", `[1.5`, `[1.5]`, "truncated"},
		{"LP19 cut exponent", `[1e2`, `[100.0]`, "truncated"},
		{"LP19 cut string", `["abc`, `["abc"]`, "truncated"},
		{"LP20 lone minus", `[-`, `[]`, "truncated"},
		{"LP21 backslash at the end", `["\`, `["\\"]`, "truncated"},
		{"LP22 blanks everywhere", " { \"a\" : [ 1 , { \"b\" : null } ] \n, \"c\"\t:\r\n\"d\" } ", `{"a":[1,{"b":null}],"c":"d"}`, ""},
		{"LP23 deep", `{"a":{"b":{"c":42}}}`, `{"a":{"b":{"c":42}}}`, ""},
		{"LP23 list of objects", `{"a":[{"b":1},{"b":2}]}`, `{"a":[{"b":1},{"b":2}]}`, ""},
		{"LP25 bare word", `[abc]`, `["abc"]`, "unquoted"},
		{"LP25 markup", `[<html>]`, `["<html>"]`, "unquoted"},
		{"LP26 bare word as value", `{"k": foo}`, `{"k":"foo"}`, "unquoted"},
		{"LP27 word like null", `{"a": nope}`, `{"a":"nope"}`, "unquoted"},
		{"LP27 half true inside", `{"a": tru}`, `{"a":true}`, "truncated"},
		{"LP28 Python true", `{"a": True}`, `{"a":true}`, "python-literal"},
		{"LP28 Python None", `{"a": None}`, `{"a":null}`, "python-literal"},
		{"LP28 NaN", `{"a": NaN}`, `{"a":"NaN"}`, "python-literal to-string"},
		{"LP29 single quotes", `{'a': 1}`, `{"a":1}`, "quotes"},
		{"LP29 bare key", `{a: 1}`, `{"a":1}`, "unquoted"},
		{"LP30 comment", "{\"a\":1 // c\n}", `{"a":1}`, "comment"},
		{"LP31 comma and brace in string", `{"a": "x,}"}`, `{"a":"x,}"}`, ""},
		{"LP31 comma and bracket in string", `{"a": "x, ]y"}`, `{"a":"x, ]y"}`, ""},
		{"LP32 fence in string", "{\"a\": \"```json\\nx\\n```\"}", "{\"a\":\"```json\\nx\\n```\"}", ""},
		{"LP33 citation", `Note [1]: {"a":1}`, `{"a":1}`, "prose"},
		{"LP34 braces in prose", `Use {x} like so: {"a":1}`, `{"a":1}`, "prose"},
		{"LP35 reasoning", `<think>{"x":1}</think>{"a":1}`, `{"a":1}`, "reasoning"},
		{"LP36 two fences", "```\n{\"a\":1}\n```\nor\n```\n{\"a\":2}\n```", `{"a":2}`, "fence prose not-chosen"},
		{"LP37 missing bracket", `{"a": [1,2}`, `{"a":[1,2]}`, "missing-closer"},
		{"LP38 missing colon", `{"a" 1}`, `{"a":1}`, "missing-colon"},
		{"LP38 missing comma", `{"a": 1 "b": 2}`, `{"a":1,"b":2}`, "missing-comma"},
		{"LP38 missing commas in list", `[1 2 3]`, `[1,2,3]`, "missing-comma"},
		{"LP39 two commas", `{"a":1,,"b":2}`, `{"a":1,"b":2}`, "extra-comma"},
		{"LP40 inner quotes", `{"e":"he said "hi" ok"}`, `{"e":"he said \"hi\" ok"}`, "unescaped-quote"},
		{"LP41 smart quotes", `{“a”: 1}`, `{"a":1}`, "quotes"},
		{"LP42 numbers of other languages", `{"a": .5, "b": +1, "c": 0x1F, "d": 1_000}`, `{"a":0.5,"b":1,"c":31,"d":1000}`, "number-syntax"},
		{"LP43 int", `42`, `42`, ""},
		{"LP43 bool", `true`, `true`, ""},
		{"LP43 string", `"str"`, `"str"`, ""},
		{"LP44 byte order mark", "\ufeff{\"a\":1}", `{"a":1}`, ""},
		{"LP44 text behind", `{"a":1} and so on`, `{"a":1}`, "prose"},
		{"LP45 duplicate key", `{"a":1,"a":2}`, `{"a":2}`, "duplicate-key"},
		{"LP46 cut after key", `{"tool":"greet","arguments":{"name"`, `{"tool":"greet","arguments":{"name":null}}`, "missing-value truncated"},
	}
	for _, row := range rows {
		t.Run(row.row, func(t *testing.T) { checkRow(t, row.text, row.want, row.repairs) })
	}
}

// checkRow decodes text without a type and compares value and repairs.
func checkRow(t *testing.T, text, want, repairs string) {
	t.Helper()
	r := Decode(nil, text, generable.Options{})
	if want == "" {
		if r.OK || len(r.Errors) == 0 {
			t.Fatalf("got %s, want an error", generable.JSON(r.Value, nil))
		}
		return
	}
	if !r.OK {
		t.Fatalf("error: %v", r.Errors)
	}
	if got := generable.JSON(r.Value, nil); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := kinds(r); got != repairs {
		t.Errorf("repairs %q, want %q", got, repairs)
	}
}

// TestDepth covers LP24: exceeding the nesting limit is an error and not a crash.
func TestDepth(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, row := range []struct {
		depth, limit int
		ok           bool
	}{{64, 0, true}, {65, 0, true}, {512, 0, true}, {513, 0, false}, {64, 64, true}, {65, 64, false}, {100_000, 200_000, true}} {
		r := Decode(nil, nested(row.depth), generable.Options{MaxDepth: row.limit})
		if r.OK != row.ok {
			t.Errorf("depth %d, limit %d: OK %v, %v", row.depth, row.limit, r.OK, r.Errors)
		}
		if !row.ok && (len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Expected, "nesting")) {
			t.Errorf("depth %d: %v", row.depth, r.Errors)
		}
	}
}

// TestRepairs covers the malformations beyond the acceptance rows.
func TestRepairs(t *testing.T) {
	rows := []struct{ name, text, want, repairs string }{
		{"brace in string within prose", `Here: {"b": "literal } and more"} done`, `{"b":"literal } and more"}`, "prose"},
		{"compact, bare keys", `{a:1,b:2,s:"x"}`, `{"a":1,"b":2,"s":"x"}`, "unquoted"},
		{"compact, trailing comma", `{"a":1,"b":2,"s":"x",}`, `{"a":1,"b":2,"s":"x"}`, "trailing-comma"},
		{"cut behind escapes", `{"b":"\u0041\u00e9"`, `{"b":"Aé"}`, "truncated"},
		{"draft and final", `First draft {"a":1} Final {"a":2}`, `{"a":2}`, "prose"},
		{"quoted words in a list in a string", `{"text": "he said "yes", "no", and left"}`, `{"text":"he said \"yes\", \"no\", and left"}`, "unescaped-quote"},
		{"end quote missing before comma", `{"a":"b,c,"d":"e"}`, `{"a":"b,c","d":"e"}`, "missing-quote"},
		{"end quote missing in list", `["hello, "world"]`, `["hello","world"]`, "missing-quote"},
		{"end quote missing before closer", `{"a":"foo}`, `{"a":"foo"}`, "missing-quote"},
		{"end quote missing before closers", `{"a":{"b":"foo}}`, `{"a":{"b":"foo"}}`, "missing-quote"},
		{"brackets that belong to a cut string", `{"a": "see {x}`, `{"a":"see {x}"}`, "truncated"},
		{"end quote missing before line end", "{\"a\": \"foo\n \"b\": 1}", `{"a":"foo","b":1}`, "control-character missing-quote"},
		{"end quote of key missing", `{"a: 1, "b": 2}`, `{"a":1,"b":2}`, "missing-quote"},
		{"end quote of key missing before string", `{"key: "value"}`, `{"key":"value"}`, "missing-quote"},
		{"start quotes missing", `{a": 1, "b": x"}`, `{"a":1,"b":"x"}`, "missing-quote"},
		{"doubled braces", `{{"a":1}}`, `{"a":1}`, "doubled-brace"},
		{"doubled braces inside", `{"a": {{"b":1}}, "c": 2}`, `{"a":{"b":1},"c":2}`, "doubled-brace"},
		{"escaped document", `{\"a\": \"b\", \"c\": 1}`, `{"a":"b","c":1}`, "escaped-document"},
		{"escapes in an escaped document", `{\"a\": \"x\\ny\"}`, `{"a":"x\ny"}`, "escaped-document"},
		{"concatenation", `{"a": "x" + "y"}`, `{"a":"xy"}`, "concatenation"},
		{"ellipsis", `[1, 2, ...]`, `[1,2]`, "ellipsis trailing-comma"},
		{"lines of JSON", "{\"a\":1}\n{\"a\":2}", `[{"a":1},{"a":2}]`, "sequence"},
		{"triple quotes", `{"a": """multi "line" text"""}`, `{"a":"multi \"line\" text"}`, "quotes"},
		{"doubled quotes", `{""k"": ""v""}`, `{"k":"v"}`, "quotes"},
		{"constructor", `{"a": ObjectId("12"), "b": 2}`, `{"a":"12","b":2}`, "call"},
		{"padded JSON", `callback({"a":1});`, `{"a":1}`, "prose"},
		{"set", `{1, 2, 3}`, `[1,2,3]`, "set-literal"},
		{"tuple", `{"a": (1, 2)}`, `{"a":[1,2]}`, "set-literal"},
		{"apostrophe in single quotes", `{"a": 'it's'}`, `{"a":"it's"}`, "quotes unescaped-quote"},
		{"ticks", "{\"a\": `x y`}", `{"a":"x y"}`, "quotes"},
		{"full-width punctuation", `{"a"： 1，"b"： 2}`, `{"a":1,"b":2}`, "odd-colon full-width odd-colon"},
		{"bare URL and time", `{"a": http://x.com/a?b=c, "b": 10:30}`, `{"a":"http://x.com/a?b=c","b":"10:30"}`, "unquoted"},
		{"stray words before keys", `{COMMENT "a": 1, JUNK "b": 2}`, `{"a":1,"b":2}`, "junk"},
		{"hash comment", "{\"a\": 1 # c\n, \"b\": 2}", `{"a":1,"b":2}`, "comment"},
		{"block comment", `{"a": /* x */ 1}`, `{"a":1}`, "comment"},
		{"list cut before prose", "[1,2,3\nThat's it.", `[1,2,3]`, "prose truncated"},
		{"object cut before prose", "{\"a\": 1\nThat is it.", `{"a":1}`, "prose truncated"},
		{"brace open in reasoning", `<think> a {"x": 1, </think> {"a":1}`, `{"a":1}`, "reasoning"},
		{"reasoning without start tag", `stuff {"x":1} </think> {"a":1}`, `{"a":1}`, "reasoning"},
		{"reasoning without end", `<think> no end {"a":1}`, `{"a":1}`, "reasoning prose"},
		{"string cut at fence", "```json\n{\"a\": \"foo\n```\nbye", `{"a":"foo"}`, "fence prose control-character missing-quote truncated"},
		{"list cut at fence", "```\n{\"a\": [1, 2\n```\nbye", `{"a":[1,2]}`, "fence prose truncated"},
		{"fence inside a string", "```json\n{\"code\": \"\n```py\nx\n```\", \"b\": 1}\n```", `{"code":"\n` + "```py\\nx\\n```" + `","b":1}`, "fence control-character"},
		{"code block as a value", "{\"a\": ```py\nx = \"1\"\n```, \"b\": 1}", `{"a":"x = \"1\"","b":1}`, "quotes"},
		{"tilde fence", "~~~\n{\"a\":1}\n~~~", `{"a":1}`, "fence"},
		{"indented fence", "- so:\n  ```json\n  {\"a\":1}\n  ```", `{"a":1}`, "fence prose"},
		{"fence within a longer fence", "````md\n```json\n{\"a\":1}\n```\n````", `{"a":1}`, "fence"},
		{"fence on one line", "```json {\"a\":1}```", `{"a":1}`, "fence"},
		{"key without value at the end", `{"a": 1, "b"}`, `{"a":1,"b":null}`, "missing-value"},
		{"value missing", `{"a": 1, "b": }`, `{"a":1,"b":null}`, "missing-value"},
		{"extra closer", `{"a": 1], "b": 2}`, `{"a":1,"b":2}`, "extra-closer"},
		{"wrong closer", `{"a": [1, 2}, "b": 3}`, `{"a":[1,2],"b":3}`, "wrong-closer"},
		{"path and regular expression", `{"path": "C:\dir", "re": "\d+\.\w"}`, `{"path":"C:\\dir","re":"\\d+\\.\\w"}`, "bad-escape"},
		{"JSON in a JSON string", `"see {\"a\":1}"`, `"see {\"a\":1}"`, ""},
		{"undefined", `{"a": undefined, "b": NULL}`, `{"a":null,"b":null}`, "python-literal"},
		{"comment inside a concatenation", `{"a": "x" + /* c */ "y"}`, `{"a":"xy"}`, "comment concatenation"},
		{"number with a unit", `{"a": 10 px, "b": 1}`, `{"a":"10 px","b":1}`, "unquoted"},
		{"exponent without digits", `[2e, 3]`, `[2.0,3]`, "number-syntax"},
		{"blank of a typesetter", "{\"a\":\u00a01,\u00a0\"b\":2}", `{"a":1,"b":2}`, "odd-blank"},
		{"lines of JSON with commas", "{\"a\":1},\n{\"a\":2},", `[{"a":1},{"a":2}]`, "sequence"},
		{"members without braces", `"a": 1, "b": 2`, `{"a":1,"b":2}`, "missing-brackets"},
		{"items without brackets", `"a", "b"`, `["a","b"]`, "missing-brackets"},
		{"numbers without brackets", `1, 2, 3`, `[1,2,3]`, "missing-brackets"},
		{"tuple as the whole", `("a", 2)`, `["a",2]`, "set-literal missing-brackets"},
		{"string cut", `"abc`, `"abc"`, "missing-quote missing-brackets"},
		{"string in single quotes", `'abc'`, `"abc"`, "quotes missing-brackets"},
		{"string with inner quotes", `"a 24" screen"`, `"a 24\" screen"`, "unescaped-quote missing-brackets"},
		{"strings added", `"a" + "b"`, `"ab"`, "concatenation missing-brackets"},
		{"prose that begins with a quotation", `"Hello," he said.`, ``, ""},
		{"prose that begins with a number", `3 apples, 4 pears`, ``, ""},
		{"code with a leading zero", `{"zip": 00123}`, `{"zip":"00123"}`, "unquoted"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) { checkRow(t, row.text, row.want, row.repairs) })
	}
}

// TestTruncation cuts a document at every byte: the rest is read as far as possible.
func TestTruncation(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{`{`, `{}`}, {`[`, `[]`}, {`{"`, `{}`}, {`{"a`, `{}`}, {`{"a"`, `{"a":null}`}, {`{"a":`, `{"a":null}`},
		{`{"a":"`, `{"a":""}`}, {`{"a":"x`, `{"a":"x"}`}, {`{"a":"x"`, `{"a":"x"}`}, {`{"a":"x",`, `{"a":"x"}`},
		{`{"a":"x","b`, `{"a":"x"}`}, {`{"a":t`, `{"a":true}`}, {`{"a":fal`, `{"a":false}`}, {`{"a":nul`, `{"a":null}`},
		{`{"a":-`, `{"a":null}`}, {`{"a":1.`, `{"a":1.0}`}, {`{"a":1e`, `{"a":1.0}`}, {`{"a":1e+`, `{"a":1.0}`},
		{`{"a":[1,{"b":[2,3`, `{"a":[1,{"b":[2,3]}]}`}, {`["x\`, `["x"]`}, {`["x\u00e`, `["x"]`}, {"[\"\xe2\x82", `[""]`},
		{"[\"x\\ud83d\\ud", `["x"]`},
	} {
		r := Decode(nil, row.text, generable.Options{})
		if got := generable.JSON(r.Value, nil); !r.OK || got != row.want {
			t.Errorf("%s: got %s, want %s; %v", row.text, got, row.want, r.Errors)
		}
	}
	text := `{"name":"Zoë \"Z\" \u00e9\ud83d\ude00","items":[{"id":1,"ok":true},{"id":-2.5e3,"ok":null}],"deep":{"a":{"b":[[],{}]}}}`
	for i := range len(text) + 1 {
		if r := Decode(nil, text[:i], generable.Options{}); !r.OK && i > 0 {
			t.Errorf("prefix %q: %v", text[:i], r.Errors)
		}
	}
}
