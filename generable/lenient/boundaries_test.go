package lenient

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// Integers keep all digits up to the maximum length, in every way of reading them.
func TestIntegersAtTheirEdges(t *testing.T) {
	for _, s := range []string{
		"0", "-1", "999999999999999999", "-99999999999999999", "-999999999999999999", "1000000000000000000",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", strings.Repeat("9", 4300),
	} {
		for _, typ := range []*generable.Type{generable.IntT, nil} {
			r := Decode(typ, s, generable.Options{Level: generable.Strict})
			if got := generable.JSON(r.Value, nil); !r.OK || got != s {
				t.Errorf("%.30s read as %.30s: %v", s, got, r.Errors)
			}
		}
	}
	if r := Decode(generable.IntT, strings.Repeat("9", 4301), generable.Options{}); r.OK {
		t.Error("an integer of 4301 digits is read")
	}
	for s, kind := range map[string]generable.Kind{
		"9223372036854775807": generable.Int, "9223372036854775808": generable.Big,
		"-9223372036854775808": generable.Int, "-9223372036854775809": generable.Big,
	} {
		if got := Decode(nil, s, generable.Options{}).Value.Kind(); got != kind {
			t.Errorf("%s is of kind %d, want %d", s, got, kind)
		}
	}
}

// The limits of nesting and cost are the last allowed values.
func TestOptionsAtTheirEdges(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, depth := range []int{1, 2, 7, 512} {
		o := generable.Options{MaxDepth: depth}
		if depth == 512 {
			o.MaxDepth = 0
		}
		if r := Decode(nil, nested(depth), o); !r.OK {
			t.Errorf("depth %d: %v", depth, r.Errors)
		}
		if r := Decode(nil, nested(depth+1), o); r.OK {
			t.Errorf("depth %d is read under a limit of %d", depth+1, depth)
		}
	}
	const broken = `{'a': True, "b": 1,}`
	cost := Decode(nil, broken, generable.Options{}).Cost
	if cost < 2 {
		t.Fatalf("cost %d", cost)
	}
	for limit, ok := range map[int]bool{0: true, cost - 1: false, cost: true, cost + 1: true} {
		if r := Decode(nil, broken, generable.Options{MaxCost: limit}); r.OK != ok {
			t.Errorf("cost %d under a limit of %d: %v %v", cost, limit, r.OK, r.Errors)
		}
	}
}

// Errors and repairs have the offset of their subject, in bytes, and errors have line and column, in runes.
func TestOffsets(t *testing.T) {
	typ := typeOf(t, `S; S = {a: str, n: int, l: list[int]}`)
	for _, c := range []struct {
		text             string
		line, col, bytes int
	}{
		{`{"a": "x", "n": "y", "l": []}`, 1, 17, 16},
		{"{\"a\": \"é\",\n\"n\": \"y\", \"l\": []}", 2, 6, 17},
		{"{\"a\": \"日本\", \"n\": \"y\", \"l\": []}", 1, 18, 21},
		{"{\n\n \"a\": \"x\", \"n\": 1, \"l\": [1,\n true ]}", 4, 2, 32},
		{"Here:\r\n```json\n{\"a\": \"x\", \"n\": \"y\", \"l\": []}\n```", 3, 17, 31},
		{`{"a": "x", "l": []}`, 1, 1, 0},
	} {
		r := Decode(typ, c.text, generable.Options{Level: generable.Strict})
		if r.OK || len(r.Errors) != 1 {
			t.Errorf("%q: %v %v", c.text, r.OK, r.Errors)
			continue
		}
		e := r.Errors[0]
		if e.Line != c.line || e.Col != c.col || e.Offset != c.bytes {
			t.Errorf("%q: %d:%d at %d, want %d:%d at %d (%v)", c.text, e.Line, e.Col, e.Offset, c.line, c.col, c.bytes, e)
		}
	}
	for text, want := range map[string]string{
		`[1, 2,]`:            "trailing-comma [1] 6",
		`{"é": 'x'}`:         `quotes ["é"] 7`,
		`{"a": {"b": True}}`: "python-literal .a.b 12",
		`[1 2]`:              "missing-comma [0] 3",
		`{"a" 1}`:            "missing-colon .a 5",
	} {
		r := Decode(nil, text, generable.Options{})
		if len(r.Repairs) == 0 {
			t.Errorf("%s: nothing repaired", text)
			continue
		}
		fix := r.Repairs[0]
		if got := fmt.Sprintf("%s %s %d", fix.Kind, fix.Path, fix.Offset); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
