package lenient_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/generable/lenient"
)

// maxHeap is how much may be allocated while a text of a few bytes is read.
const maxHeap = 256 << 20

// bounded returns the result of f. If f does not terminate, bounded ends the process before it uses up all memory: f
// cannot be stopped otherwise.
func bounded(what string, f func() lenient.Result) lenient.Result {
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan lenient.Result, 1)
	go func() { done <- f() }()
	for {
		select {
		case r := <-done:
			return r
		default:
		}
		if runtime.ReadMemStats(&now); now.TotalAlloc-before.TotalAlloc > maxHeap {
			panic("never ends: " + what)
		}
		runtime.Gosched()
	}
}

// manyLists returns a schema of n lists, each of which has all of them as items.
func manyLists(n int) string {
	var defs, all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"$ref":"#/$defs/L%d"}`, i))
	}
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"L%d":{"type":"array","maxItems":%d,"items":{"anyOf":[%s]}}`, i, 100+i, strings.Join(all, ",")))
	}
	return `{"$ref":"#/$defs/L0","$defs":{` + strings.Join(defs, ",") + `}}`
}

// A value without brackets becomes the only item of a list, and that list of the next, as long as the type does not
// lead back to a list that already wraps it. At level Loose, a part of a value that does not fit is left out, as
// elsewhere.
func TestListsOfThemselves(t *testing.T) {
	const (
		self     = `{"type":"array","items":{"$ref":"#"}}`
		twoSteps = `{"$ref":"#/$defs/A","$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/B"}},"B":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`
		tuple    = `{"type":"array","prefixItems":[{"$ref":"#"},{}]}`
		limited  = `{"type":"array","maxItems":3,"items":{"$ref":"#"}}`
		orNull   = `{"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}`
		orInt    = `{"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"integer"}]}}`
		orStr    = `{"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"string"}]}}`
		crossed  = `{"$ref":"#/$defs/A","$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/B"}},"B":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"string"}]}}}}`
		nested   = `{"type":"array","items":{"type":"array","items":{"type":"string"}}}`
		record   = `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`
		inRecord = `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/A"}}},"required":["a"]}}}`
		optional = `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["a"]}`
	)
	const no = "" // an error
	for _, row := range []struct{ schema, text, safe, loose string }{
		{self, `"a"`, no, no},
		{self, `["a"]`, no, `[[]]`},
		{self, `[[], "a"]`, no, `[[],[]]`},
		{self, `[[[]], []]`, `[[[]],[]]`, `[[[]],[]]`},
		{self, `{"b": 1}`, no, no},
		{twoSteps, `"a"`, no, `[[]]`},
		{twoSteps, `["a"]`, no, `[[[]]]`},
		{tuple, `"a"`, no, no},
		{tuple, `["a", 1]`, no, `[[],1]`},
		{limited, `"a"`, no, `[]`},
		{orNull, `"a"`, no, `[null]`},
		{orInt, `"a"`, no, no},
		{orInt, `"5"`, `[5]`, `[5]`},
		{orInt, `["5", [6]]`, `[5,[6]]`, `[5,[6]]`},
		{orStr, `"a"`, `["a"]`, `["a"]`},
		{crossed, `"a"`, `[["a"]]`, `[["a"]]`},
		{nested, `"a"`, `[["a"]]`, `[["a"]]`},
		{record, `{"a": "b"}`, no, `{"a":[]}`},
		{record, `{"a": ["b"]}`, no, `{"a":[[]]}`},
		{inRecord, `{"a": {"a": {"a": []}}}`, `{"a":[{"a":[{"a":[]}]}]}`, `{"a":[{"a":[{"a":[]}]}]}`},
		{inRecord, `{"a": "b"}`, no, `{"a":[]}`},
		{optional, `{"b": {"b": {"a": "c"}}}`, `{"a":null}`, `{"a":null}`},
		{manyLists(9), `"a"`, no, `[[]]`},
	} {
		typ, _, errs := jsonschema.Parse(row.schema, jsonschema.Options{})
		if errs != nil {
			t.Fatalf("%s: %v", row.schema, errs)
		}
		for level, want := range map[generable.Level]string{generable.Safe: row.safe, generable.Loose: row.loose, generable.Strict: "?"} {
			o := generable.Options{Level: level}
			what := fmt.Sprintf("%.80s reads %s at level %v", row.schema, row.text, level)
			r := bounded(what, func() lenient.Result { return lenient.Decode(typ, row.text, o) })
			got := ""
			if r.OK {
				got = generable.JSON(r.Value, typ)
			}
			if want != "?" && got != want {
				t.Errorf("%s as %s, want %q; %v", what, got, want, r.Errors)
			}
			in := bounded(what+" in pieces", func() lenient.Result {
				s := lenient.NewStream(typ, lenient.StreamOptions{Options: o, On: func(*lenient.StreamEvent) {}})
				for i := range len(row.text) {
					s.Feed(row.text[i : i+1])
					s.Snapshot()
				}
				return s.Close()
			})
			if in.OK != r.OK || !generable.Equal(in.Value, r.Value) || in.Errors.Error() != r.Errors.Error() {
				t.Errorf("%s in pieces as %s %v, at once as %s %v", what, generable.JSON(in.Value, nil), in.Errors, got, r.Errors)
			}
		}
	}
}

// Exceeding the nesting limit is an error however the text arrives.
func TestStreamsTooDeep(t *testing.T) {
	for _, row := range []struct {
		text  string
		limit int
	}{
		{`{"items": [{"x": 1}, 5]}`, 2},
		{`[[5]]`, 1},
		{strings.Repeat("[", 600), 0},
		{strings.Repeat("[", 600) + strings.Repeat("]", 600), 0},
		{strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600), 0},
	} {
		for _, typ := range []*generable.Type{nil, generable.ListOfType(generable.AnyT), generable.DictOfType(generable.AnyT)} {
			o := generable.Options{MaxDepth: row.limit}
			want := lenient.Decode(typ, row.text, o)
			if want.OK {
				t.Fatalf("%.40s is read under a limit of %d", row.text, row.limit)
			}
			for _, n := range []int{1, 7, len(row.text)} {
				s := lenient.NewStream(typ, lenient.StreamOptions{Options: o, On: func(*lenient.StreamEvent) {}})
				for i := 0; i < len(row.text); i += n {
					s.Feed(row.text[i:min(len(row.text), i+n)])
				}
				if got := s.Close(); got.OK || got.Errors.Error() != want.Errors.Error() {
					t.Errorf("%.40s in pieces of %d: OK %v, %s, %v, want %v", row.text, n, got.OK, generable.JSON(got.Value, nil), got.Errors, want.Errors)
				}
			}
		}
	}
}
