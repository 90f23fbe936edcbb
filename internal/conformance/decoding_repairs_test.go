package conformance

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Promise 13.6 (types and decoding): the value is found in fences of any tag and shape, in prose, after reasoning,
// which may be unterminated, and as the whole text.
func TestPromise_13_6_Candidates(t *testing.T) {
	newReader(t).check(t, []reading{
		{"A", "```yaml\n{\"a\": 1}\n```", `{"a":1}`, "fence"},
		{"A", "1. So:\n\n    ```json5 title=x\n    {\"a\": 1}\n    ```\n", `{"a":1}`, "fence prose"},
		{"A", "~~~\n{\"a\": 1}\n~~~", `{"a":1}`, "fence"},
		{"any", "````md\n{\"a\": \"```json\\n[2]\\n```\"}\n````", "{\"a\":\"```json\\n[2]\\n```\"}", "fence"},
		{"A", "The set {1, 2} and f[0] give {\"a\": 1}, as {said}.", `{"a":1}`, "prose"},
		{"A", "<reasoning>{\"a\": 2}</reasoning>{\"a\": 1}", `{"a":1}`, "reasoning"},
		{"A", "{\"a\": 2} hm</think>{\"a\": 1}", `{"a":1}`, "reasoning"},
		{"A", "<think>I take {\"a\": 1}", `{"a":1}`, "reasoning prose"},
		{"A", "{\"a\": 1}<think>or {\"a\": 2}", `{"a":1}`, "prose"},
		{"A", "[2]\n{\"a\": 1}", `{"a":1}`, "not-chosen"},
	})
}

// Promise 13.7 (types and decoding): of several values, the one that needs the least repair is taken, and the later
// one if they are equal; `first`, `last` and `error` change that.
func TestPromise_13_7_Picks(t *testing.T) {
	a := newReader(t).typ("A")
	for text, want := range map[string][4]string{ // best, first, last, error
		`{"a": 1} or {"a": 2}`:                                  {`{"a":2}`, `{"a":1}`, `{"a":2}`, ""},
		`{"a": 1} or {"a": "2"}`:                                {`{"a":1}`, `{"a":1}`, `{"a":2}`, ""},
		`{"b": 1} or {"a": 2}`:                                  {`{"a":2}`, `{"a":2}`, `{"a":2}`, `{"a":2}`},
		"```json\n{\"a\": 1}\n```\nNot {\"a\": 2}":              {`{"a":1}`, `{"a":1}`, `{"a":2}`, ""},
		"```json\n{\"a\": 1}\n```\n```json\n{\"a\": 2}\n``` x":  {`{"a":2}`, `{"a":1}`, `{"a":2}`, ""},
		"{'a': 1}, then {\"a\": 2}, then {'a': 3}, in the end.": {`{"a":2}`, `{"a":1}`, `{"a":3}`, ""},
	} {
		for i, pick := range []string{"best", "first", "last", "error"} {
			var o generable.Options
			if err := o.Set("pick", pick); err != nil {
				t.Fatal(err)
			}
			got := ""
			if res := lenient.Decode(a, text, o); res.OK {
				got = generable.JSON(res.Value, a)
			} else if len(res.Errors) == 0 || pick != "error" {
				t.Errorf("%s of %q: %v", pick, text, res.Errors)
			}
			if got != want[i] {
				t.Errorf("%s of %q is %q, want %q", pick, text, got, want[i])
			}
		}
	}
}

// Promise 13.8 (types and decoding): the value may be a scalar, a list or a dict, and may appear wherever an object
// may.
func TestPromise_13_8_Roots(t *testing.T) {
	newReader(t).check(t, []reading{
		{"int", "```\n-7\n```", "-7", "fence"}, {"int", "<think>8?</think>\n7", "7", "reasoning"}, {"float", "2.5e-1", "0.25", ""},
		{"bool", "Yes.", "true", "to-bool"}, {"Level", "**High**", `"high"`, "enum-fold"}, {"str", "It is {so}: [1].", `"It is {so}: [1]."`, ""},
		{"Ints", "They are:\n```json\n[1, 2]\n```", "[1,2]", "fence prose"}, {"Ints", "1, 2", "[1,2]", "missing-brackets"},
		{"Counts", "Here: {\"a b\": 1, c: 2}.", `{"a b":1,"c":2}`, "prose unquoted@.c"},
	})
}

// malformations returns a row for each known malformation of models.
func malformations() []reading {
	return []reading{
		{"any", `{'a': "b", «c»: ‘d’, ` + "`e`: 1}", `{"a":"b","c":"d","e":1}`, "quotes quotes@.a quotes@.c"},
		{"any", `{"a: 1, "b": "x, "c": y"}`, `{"a":1,"b":"x","c":"y"}`, "missing-quote@.a missing-quote@.b missing-quote@.c"},
		{"any", `{"a": "the "best" one", "b": 1}`, `{"a":"the \"best\" one","b":1}`, "unescaped-quote@.a"},
		{"any", `{a-b: 1, $c: 2, d.e: 3}`, `{"a-b":1,"$c":2,"d.e":3}`, `unquoted@["a-b"] unquoted@["$c"] unquoted@["d.e"]`},
		{"any", "{# one\n\"a\": 1, // two\n/* three */ \"b\": 2}", `{"a":1,"b":2}`, "comment comment@.a"},
		{"any", `{,"a": 1,, "b" 2 "c":: 3,}`, `{"a":1,"b":2,"c":3}`, "extra-comma extra-comma@.a missing-colon@.b missing-comma@.b junk@.c trailing-comma@.c"},
		{"any", `[True, FALSE, None, undefined, nil, (1, 2)]`, `[true,false,null,null,null,[1,2]]`, ""},
		{"any", `{"a": [1, {"b": "tw`, `{"a":[1,{"b":"tw"}]}`, "truncated@.a[1].b"},
		{"any", `{"a": {"b": [1, 2}, "c": 3}`, `{"a":{"b":[1,2]},"c":3}`, "missing-closer@.a.b[1]"},
		{"any", `{"a": [1, 2]], "c": 3}}`, `{"a":[1,2],"c":3}`, ""},
		{"any", `{\"a\": \"b\\\"c\"}`, `{"a":"b\"c"}`, "escaped-document escaped-document@.a"},
		{"any", `{"a": "one " +` + "\n" + `"two"}`, `{"a":"one two"}`, "concatenation@.a"},
		{"any", `{"a": [1, 2, ...], ...}`, `{"a":[1,2]}`, ""},
		{"any", "{\"a\": 1}\n{\"a\": 2}\n\n{\"a\": 3}\n", `[{"a":1},{"a":2},{"a":3}]`, "sequence"},
		{"any", `｛“a”：［1，2］｝`, `{"a":[1,2]}`, ""},
		{"any", `{{"a": {{"b": 1}}}}`, `{"a":{"b":1}}`, ""},
		{"Profile", `{"name": "n", "address": "{\"street\": \"s\", \"zip\": 1,}", "aliases": []}`, `{"name":"n","address":{"street":"s","zip":1},"aliases":[]}`, ""},
	}
}

// Promise 13.9 (types and decoding): every malformation that models are known for is repaired, alone and in
// combination with others.
func TestPromise_13_9_Malformations(t *testing.T) {
	r := newReader(t)
	for _, c := range malformations() {
		res := r.read(c.as, c.text)
		if got := generable.JSON(res.Value, r.typ(c.as)); !res.OK || got != c.want {
			t.Errorf("%q gives %s, want %s\n%s", c.text, got, c.want, told(res))
		}
		if got := repairs(res); len(res.Repairs) == 0 || c.repairs != "" && got != c.repairs {
			t.Errorf("%q is repaired by %q, want %q", c.text, got, c.repairs)
		}
		for _, around := range []string{"So it is:\n\n```json\n%\n```\n\nWell?", "<think>[0]</think>\n\n%"} {
			if around[0] == '<' && c.repairs == "sequence" {
				continue // values side by side are one value if they are the whole text
			}
			text := strings.Replace(around, "%", c.text, 1)
			if res := r.read(c.as, text); !res.OK || generable.JSON(res.Value, r.typ(c.as)) != c.want {
				t.Errorf("%q gives %s, want %s", text, told(res), c.want)
			}
		}
	}
}

// Promise 13.10 (types and decoding): a text that ends anywhere is read as far as it goes: each prefix of a document
// yields a prefix of its value.
func TestPromise_13_10_Truncation(t *testing.T) {
	const whole = `{"name": "Zoë \"Z\" \u00e9\ud83d\ude00", "items": [{"id": 12, "ok": true}, {"id": -2.5e3, "ok": null}], "deep": {"a": {"b": [[], {}]}}}`
	full := lenient.Decode(nil, whole, generable.Options{}).Value
	last := generable.Value{}
	for n := 1; n < len(whole); n++ {
		if cut := lenient.Decode(nil, whole[:n], generable.Options{}); !cut.OK || !slices.Contains(kindsOf(cut), "truncated") {
			t.Errorf("%q is %s", whole[:n], told(cut))
		}
		known := lenient.Decode(nil, whole[:n], generable.Options{Partial: true}).Value
		if !shows(last, known) || !shows(known, full) {
			t.Errorf("%q shows %s after %s", whole[:n], generable.JSON(known, nil), generable.JSON(last, nil))
		}
		last = known
	}
	if list, _ := memberOf(last, "items"); generable.JSON(list, nil) != `[{"id":12,"ok":true},{"id":-2500.0,"ok":null}]` {
		t.Errorf("in the end %s is known", generable.JSON(last, nil))
	}
}

// Promise 13.11 (types and decoding): nothing is silent: a text that yields a value without a repair record is that
// value's JSON; records lie within the text, and their costs add up to the value's cost.
func TestPromise_13_11_NothingSilent(t *testing.T) {
	const sound = `{"name": "n", "list": [1, 2.5, {"a": null, "b": "x \"y\" z"}], "deep": {"k": [true, "// no"]}, "last": "é"}`
	pieces := []string{"{", "}", "[", "]", `"`, "'", ",", ":", "\\", "null", "True", "é", "//", "\n", "-", "0", "...", "+", "x", "\\u12", "\xff", "｛", " "}
	rng := rand.New(rand.NewPCG(13, 11))
	kinds := lenient.RepairKinds()
	silent := 0
	for range 5000 {
		text := sound
		for range 1 + rng.IntN(3) {
			i := rng.IntN(len(text) + 1)
			text = text[:i] + pieces[rng.IntN(len(pieces))] + text[min(len(text), i+rng.IntN(3)):]
		}
		res := lenient.Decode(nil, text, generable.Options{})
		cost := 0
		for _, r := range res.Repairs {
			cost += r.Cost
			if !slices.Contains(kinds, r.Kind) || r.Offset < 0 || r.Offset > len(text) {
				t.Fatalf("%q: %+v", text, r)
			}
		}
		if cost != res.Cost {
			t.Fatalf("%q: the repairs cost %d, the value %d", text, cost, res.Cost)
		}
		if !res.OK || len(res.Repairs) > 0 {
			continue
		}
		silent++
		var want, got any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%q is no JSON (%v), and is read without a record as %s", text, err, told(res))
		}
		if err := json.Unmarshal([]byte(generable.JSON(res.Value, nil)), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is read without a record as %s", text, told(res))
		}
	}
	if silent < 50 {
		t.Errorf("only %d of the texts are sound", silent)
	}
}
