package dialect

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

func compile(t *testing.T, typ *generable.Type, target string) *Wire {
	t.Helper()
	w, err := Compile(typ, target)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Answers that follow a schema, ignore it, or contradict it.
func TestDecode(t *testing.T) {
	s := samples()
	ints := generable.DictOfType(generable.IntT)
	maybe := generable.OneOf(s["union"], generable.NoneT)
	for _, row := range []struct {
		name   string
		typ    *generable.Type
		target string
		text   string
		want   string // the value as JSON, or the error
	}{
		{"wrapped", s["enum"], "openai", `{"value": "high"}`, `"high"`},
		{"not wrapped", s["enum"], "openai", `high`, `"high"`},
		{"wrapped, another case", s["enum"], "openai", `{"Value": "HIGH"}`, `"high"`},
		{"wrapped and cut off", s["list"], "openai", `{"value": ["low", "high"`, `["low","high"]`},
		{"not wrapped", s["list"], "openai", `["low"]`, `["low"]`},
		{"wrapped with a remark", s["union"], "openai", `{"value": {"type": "Approved", "confidence": 1}, "note": "fine"}`, `{"type":"Approved","confidence":1.0}`},
		{"union not wrapped", s["union"], "openai", `{"type": "Approved", "confidence": 1}`, `{"type":"Approved","confidence":1.0}`},
		{"null in the wrapper", maybe, "openai", `{"value": null}`, `null`},
		{"a natural object is not the wrapper of nothing", maybe, "openai", `{"type": "approved", "confidence": "0.5"}`, `{"type":"Approved","confidence":0.5}`},
		{"pairs", ints, "openai", `{"value": [{"key": "a", "value": 1}, {"key": "b", "value": "2"}]}`, `{"a":1,"b":2}`},
		{"pairs not wrapped", ints, "openai", `[{"key": "a", "value": 1}]`, `{"a":1}`},
		{"a natural dict in the wrapper", ints, "openai", `{"value": {"a": 1}}`, `{"a":1}`},
		{"a natural dict", ints, "openai", `{"a": 1}`, `{"a":1}`},
		{"a natural dict with the wrapper's key", ints, "openai", `{"value": 1}`, `{"value":1}`},
		{"a key twice", ints, "openai", `{"value": [{"key": "a", "value": 1}, {"key": "a", "value": 2}]}`, `each key once`},
		{"pairs broken as models do", ints, "openai", "```json\n{value: [{key: 'a', value: 1,},]}\n```", `{"a":1}`},
		{"null for a field left out", s["optional"], "openai", `{"where": null, "weight": null, "owner": null, "severity": null, "tags": null}`, `{"where":null,"weight":1.0,"owner":null,"severity":"low","tags":[]}`},
		{"absent mark", s["optional"], "openai", `{"where": null, "weight": 2, "owner": {"absent": true}, "severity": "high", "tags": ["a"]}`, `{"where":null,"weight":2.0,"owner":"ada","severity":"high","tags":["a"]}`},
		{"left out in spite of the schema", s["optional"], "openai", `{}`, `{"where":null,"weight":1.0,"owner":"ada","severity":"low","tags":[]}`},
		{"any value boxed", s["inline"], "openai", `{"id": 1, "data": null, "extra": {"json": "{\"a\": [1, null]}"}}`, `{"id":1,"data":null,"extra":{"a":[1,null]}}`},
		{"any value by itself", s["inline"], "openai", `{"id": "x", "data": "t", "extra": "5"}`, `{"id":"x","data":"t","extra":"5"}`},
		{"any value boxed, no JSON text", s["inline"], "openai", `{"id": 1, "data": {"entries": [{"key": "k", "value": 2}]}, "extra": {"json": ""}}`, `{"id":1,"data":{"k":2},"extra":{"json":""}}`},
		{"a dict beside a list", s["inline"], "openai", `{"id": 1, "data": {"k": 2}, "extra": {"json": "1"}}`, `{"id":1,"data":{"k":2},"extra":{"json":"1"}}`},
		{"unrolled", s["tree"], "anthropic", `{"name": "1", "children": [{"name": "2", "children": [{"name": "3", "children": [{"name": "4", "children": ["{\"name\": \"5\", \"children\": []}"]}]}]}]}`,
			`{"name":"1","children":[{"name":"2","children":[{"name":"3","children":[{"name":"4","children":[{"name":"5","children":[]}]}]}]}]}`},
		{"unrolled, the text broken", s["tree"], "anthropic", `{"name": "1", "children": [{"name": "2", "children": [{"name": "3", "children": [{"name": "4", "children": ["{name: '5', children: [}"]}]}]}]}`,
			`{"name":"1","children":[{"name":"2","children":[{"name":"3","children":[{"name":"4","children":[{"name":"5","children":[]}]}]}]}]}`},
		{"unrolled, no text", s["tree"], "anthropic", `{"name": "1", "children": [{"name": "2", "children": [{"name": "3", "children": [{"name": "4", "children": ["five"]}]}]}]}`, `the string holds JSON text`},
		{"digits", s["limits"], "openai", `{"email": "a@b.de", "site": "https://b.de", "code": "AB-1", "zip": "01234", "score": 0, "count": 1, "serial": "4611686018427387903", "tags": ["a", "b"]}`,
			`{"email":"a@b.de","site":"https://b.de","code":"AB-1","zip":"01234","score":0.0,"count":1,"serial":4611686018427387903,"tags":["a","b"]}`},
		{"a limit that the schema cannot say", s["limits"], "openai", `{"email": "a@b.de", "site": "b", "code": "AB-1", "zip": "01234", "score": 0, "count": 1, "serial": "-1", "tags": ["a", "b"]}`, `site: want a URI`},
		{"a limit of a rewritten field", s["limits"], "openai", `{"email": "a@b.de", "site": "https://b.de", "code": "AB-1", "zip": "01234", "score": 0, "count": 1, "serial": "-1", "tags": ["a", "b"]}`, `serial: want at least 0`},
		{"renamed", s["names"], "anthropic", `{"gr__e_in_m_2": 1.5, "gr__e_in_m": "x"}`, `{"größe in m":1.5,"gr__e_in_m":"x"}`},
		{"renamed, where quotes are not taken", schema("Q", "", field{Name: `a"b`, Type: generable.IntT}, field{Name: "a_b", Type: generable.StrT}), "openai", `{"a_b_2": 1, "a_b": "x"}`, `{"a\"b":1,"a_b":"x"}`},
		{"renamed, by its own name", s["names"], "anthropic", `{"größe in m": 1.5, "g": "x"}`, `{"größe in m":1.5,"gr__e_in_m":"x"}`},
		{"nothing", s["union"], "openai", `I cannot help with that.`, `text without JSON`},
	} {
		w := compile(t, row.typ, row.target)
		r := w.Decode(row.text, generable.Options{})
		got := generable.JSON(r.Value, row.typ)
		if !r.OK {
			got = r.Errors.Error()
		}
		if got != row.want && (r.OK || !strings.Contains(got, row.want)) {
			t.Errorf("%s: %s under %s\ngot  %s\nwant %s\n%v", row.name, row.text, row.target, got, row.want, r.Repairs)
		}
	}
}

// If nothing is rewritten the natural decoder does all the work.
func TestNaturalWire(t *testing.T) {
	s := samples()
	for name, targets := range map[string]string{"record": "openai anthropic gemini mistral deepseek openrouter ollama", "optional": "gemini ollama", "dict": "gemini ollama", "tree": "openai gemini ollama compat", "union": "gemini llama.cpp"} {
		for target := range strings.FieldsSeq(targets) {
			if w := compile(t, s[name], target); w.Rewritten() || w.Type != s[name] || w.Form != "" {
				t.Errorf("%s under %s is rewritten: %v", name, target, w.Rewrites)
			}
		}
	}
}

// The records of repairs inside a JSON text are reported, with their place.
func TestDecodeRecords(t *testing.T) {
	w := compile(t, samples()["inline"], "openai")
	r := w.Decode(`{"id": 1, "data": null, "extra": {"json": "{a: 1}"}}`, generable.Options{})
	if !r.OK || r.Cost == 0 || len(r.Repairs) == 0 || r.Repairs[0].Path != ".extra.a" {
		t.Errorf("%+v", r)
	}
	if got := generable.JSON(r.Value, nil); got != `{"id":1,"data":null,"extra":{"a":1}}` {
		t.Error(got)
	}
}

// One record covers all places of one type, with their number.
func TestDecodeCounts(t *testing.T) {
	w := compile(t, generable.ListOfType(generable.DictOfType(generable.IntT)), "openai")
	for text, want := range map[string]string{
		`{"value": [[{"key": "a", "value": 1}]]}`:                             "dict[str, int]",
		`{"value": [[{"key": "a", "value": 1}], [{"key": "a", "value": 2}]]}`: "dict[str, int] (2 times)",
	} {
		r := w.Decode(text, generable.Options{})
		if n := len(r.Repairs); !r.OK || n != 2 || r.Repairs[1].After != want {
			t.Errorf("%s: %+v", text, r.Repairs)
		}
	}
}
