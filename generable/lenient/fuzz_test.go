package lenient

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// corpus holds the seed texts for fuzzing: one for each way in which models break JSON.
var corpus = []string{
	`{"name": "Alice", "age": 30}`, `[1, -2.5e3, true, false, null, "\u00e9\ud83d\ude00"]`,
	"```json\n{\"key\": \"value\"}\n```", "Sure! {\"a\": 1} Done.", "<think>{\"x\":1}</think>{\"a\":1}",
	`{"a": 1, "b": 2,}`, `{'a': 'it's', b: True, c: None}`, `{"e":"he said "hi" ok"}`,
	`{"a":"b,c,"d":"e"}`, `["hello, "world"]`, `{"a":{"b":"foo}}`, `{"a": "foo,` + "\n" + ` "b": 1}`,
	`{\"a\": \"b\\n\", \"c\": 1}`, `{"a": "x" + "y"}`, `[1, 2, ...]`, "{\"a\":1}\n{\"a\":2}",
	`{""k"": """v"""}`, `callback({"a": ObjectId("1")});`, `{1, 2, 3}`, `{"a": (1, 2)}`, `{{"a":1}}`,
	`{“a”： 1，"b": 0x1F}`, "{\"a\": /* x */ 1 // y\n, # z\n}", `{"a": [1, 2}, "b": 3}`, `{"a": tru`,
	"```\n{\"a\": \"foo\n```\nbye", `{"a": http://x.com/a?b=c, "t": 10:30}`, `{COMMENT "a": 1, JUNK "b": 2}`,
	"~~~\n[1,2\n~~~", "<think> no end {\"a\":1}", "[1,2,3\nThat's it.", "\ufeff{\"a\":1}", "\"a\\u00", "{\"a\":\"\xff\xc3\"}",
	`{"a": 1, {"b": 2}}`, "{\"a\": ```py\nx\n```}", "[[[[[[", "]]}}", `{"a" "b" "c"}`, `"\"`, "{\"a\":\"\\",
	"{{}\n\nr", "Template {{}\n\nreplace", `"":{1:nul""}nul]`, `[{""{1"",""}x]}`, `{a:{"a":1}=>nul]`, `"</think>{}"`, `"x<think>y</think>z"`, "~~~x~~~/{",
}

// strictValue reads text with encoding/json; ok is false when it is not valid JSON.
func strictValue(text string) (v generable.Value, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v, ok = readStrict(dec)
	if !ok {
		return generable.Value{}, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return generable.Value{}, false
	}
	return v, true
}

func readStrict(dec *json.Decoder) (generable.Value, bool) {
	tok, err := dec.Token()
	if err != nil {
		return generable.Value{}, false
	}
	switch x := tok.(type) {
	case nil:
		return generable.Value{}, true
	case bool:
		return generable.BoolOf(x), true
	case string:
		return generable.StrOf(x), true
	case json.Number:
		if !strings.ContainsAny(x.String(), ".eE") {
			b, ok := new(big.Int).SetString(x.String(), 10)
			if !ok {
				return generable.Value{}, false
			}
			return generable.BigOf(b), true
		}
		f, err := x.Float64()
		if err != nil {
			return generable.Value{}, false
		}
		return generable.FloatOf(f)
	case json.Delim:
		if x == '[' {
			var items []generable.Value
			for dec.More() {
				v, ok := readStrict(dec)
				if !ok {
					return generable.Value{}, false
				}
				items = append(items, v)
			}
			_, err := dec.Token()
			return generable.ListOf(items...), err == nil
		}
		m := generable.NewMap(0)
		for dec.More() {
			k, err := dec.Token()
			if err != nil {
				return generable.Value{}, false
			}
			v, ok := readStrict(dec)
			if !ok {
				return generable.Value{}, false
			}
			m.Set(k.(string), v)
		}
		_, err := dec.Token()
		return m.Value(), err == nil
	}
	return generable.Value{}, false
}

// FuzzDecode checks what the decoder guarantees for every text: no panic, linear work, valid JSON unaltered, and
// values whose JSON decodes to themselves without a repair.
func FuzzDecode(f *testing.F) {
	for _, text := range corpus {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := Decode(nil, text, generable.Options{})
		if limit := 6*len(text) + 512; r.Visits > limit {
			t.Errorf("%d visits of %d bytes", r.Visits, len(text))
		}
		if r.OK == (len(r.Errors) > 0) {
			t.Errorf("OK %v with errors %v", r.OK, r.Errors)
		}
		if json.Valid([]byte(text)) {
			if want, ok := strictValue(text); ok {
				if !r.OK || !generable.Equal(r.Value, want) {
					t.Fatalf("valid JSON altered: got %s, want %s; %v", generable.JSON(r.Value, nil), generable.JSON(want, nil), r.Errors)
				}
				for _, rep := range r.Repairs {
					if rep.Kind != "duplicate-key" && rep.Kind != "invalid-utf8" {
						t.Errorf("valid JSON repaired: %+v", rep)
					}
				}
			}
		}
		if !r.OK {
			return
		}
		out := generable.AppendJSON(nil, r.Value, nil)
		again := Decode(nil, string(out), generable.Options{})
		if !again.OK || !generable.Equal(again.Value, r.Value) || len(again.Repairs) > 0 {
			t.Fatalf("%s decodes to %s with %v, %v", out, generable.JSON(again.Value, nil), again.Repairs, again.Errors)
		}
		if !json.Valid(out) {
			t.Errorf("not JSON: %s", out)
		}
	})
}

// FuzzChunks checks that a text decodes the same however it is cut, and that the machine can return a snapshot at any
// time.
func FuzzChunks(f *testing.F) {
	for i, text := range corpus {
		f.Add(text, []byte{byte(i), 1, 3})
	}
	f.Fuzz(func(t *testing.T, text string, cuts []byte) {
		want := Decode(nil, text, generable.Options{})
		m := NewMachine(nil, generable.Options{})
		for rest, i := text, 0; rest != ""; i++ {
			n := 1
			if len(cuts) > 0 {
				n += int(cuts[i%len(cuts)]) % 9
			}
			n = min(n, len(rest))
			m.Feed(rest[:n])
			rest = rest[n:]
			if len(text) < 200 {
				m.Snapshot()
			}
		}
		got := m.Close()
		if a, b := render(got), render(want); a != b {
			t.Fatalf("in pieces:\n%s\nat once:\n%s", a, b)
		}
		if got.Visits != want.Visits {
			t.Errorf("%d visits in pieces, %d at once", got.Visits, want.Visits)
		}
	})
}

// render formats a result as text, to compare and to show it.
func render(r Result) string {
	var b bytes.Buffer
	b.Write(generable.AppendJSON(nil, r.Value, nil))
	b.WriteByte('\n')
	for _, rep := range r.Repairs {
		b.WriteString(rep.Kind + "@" + rep.Path + " " + rep.Before + "\n")
	}
	b.WriteString(r.Errors.Error())
	return b.String()
}
