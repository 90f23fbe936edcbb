package generable_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

func TestAppendJSON(t *testing.T) {
	s := newSamples(t)
	approved, _ := s.Approved.Construct(dict("confidence", 0.95))
	sum, errs := s.Expr.Convert(dict("kind", "Add", "left", dict("kind", "Num", "value", 1), "right", dict("kind", "Num", "value", 2)).Value())
	if errs != nil {
		t.Fatal(errs)
	}
	for _, tc := range []struct {
		v    any
		typ  *generable.Type
		want string
	}{
		{nil, nil, "null"}, {true, nil, "true"}, {-7, nil, "-7"}, {"a", nil, `"a"`},
		{1.0, nil, "1.0"}, {0.1, nil, "0.1"}, {1e21, nil, "1e+21"}, {1e20, nil, "100000000000000000000.0"}, {1e-7, nil, "1e-07"}, {math.Copysign(0, -1), nil, "-0.0"},
		{math.MaxFloat64, nil, "1.7976931348623157e+308"}, {5e-324, nil, "5e-324"},
		{[]any{1, []any{}}, nil, "[1,[]]"}, {dict("b", 1, "a", 2), nil, `{"b":1,"a":2}`},
		{"<a href=\"x\">&</a>\u2028\x01\x7f", nil, `"<a href=\"x\">&</a>\u2028\u0001` + "\x7f" + `"`},
		{approved, nil, `{"confidence":0.95}`},
		{approved, s.Approved, `{"confidence":0.95}`},
		{approved, s.Decision, `{"type":"Approved","confidence":0.95}`},
		{approved, generable.OneOf(s.Decision, generable.NoneT), `{"type":"Approved","confidence":0.95}`},
		{approved, generable.OneOf(s.Approved, s.Rejected), `{"confidence":0.95}`},
		{[]any{approved}, generable.ListOfType(s.Decision), `[{"type":"Approved","confidence":0.95}]`},
		{dict("a", []any{approved}), generable.OneOf(generable.DictOfType(generable.ListOfType(s.Decision)), generable.NoneT), `{"a":[{"type":"Approved","confidence":0.95}]}`},
		{[]any{approved}, generable.OneOf(generable.ListOfType(generable.IntT), generable.ListOfType(s.Decision)), `[{"type":"Approved","confidence":0.95}]`},
		{[]any{approved, 1}, generable.OneOf(generable.ListOfType(generable.IntT), generable.ListOfType(s.Decision)), `[{"confidence":0.95},1]`},
		{sum, s.Expr, `{"kind":"Add","left":{"kind":"Num","value":1.0},"right":{"kind":"Num","value":2.0}}`},
	} {
		if got := generable.JSON(of(tc.v), tc.typ); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

// The standard library must read back what was written.
func TestJSONAgainstStandardLibrary(t *testing.T) {
	for seed := range int64(gentest.Rounds()) {
		v := gentest.NewGenerator(seed).Plain(5)
		text := generable.AppendJSON(nil, v, nil)
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var got any
		if err := dec.Decode(&got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if want := standard(v); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s reads back as %v, want %v", text, got, want)
		}
	}
}

// standard returns v as encoding/json would represent it, with numbers as texts.
func standard(v generable.Value) any {
	switch v.Kind() {
	case generable.Null:
		return nil
	case generable.Bool:
		b, _ := v.AsBool()
		return b
	case generable.Str:
		s, _ := v.AsStr()
		return s
	case generable.ListKind:
		out := []any{}
		list, _ := v.AsList()
		for _, item := range list.Items() {
			out = append(out, standard(item))
		}
		return out
	case generable.MapKind:
		out := map[string]any{}
		m, _ := v.AsMap()
		for i := range m.Len() {
			k, item := m.At(i)
			out[k] = standard(item)
		}
		return out
	}
	return json.Number(generable.JSON(v, nil))
}

func FuzzFloat(f *testing.F) {
	for _, x := range []float64{0, 1, -1.5, 1e21, 1e-7, math.MaxFloat64, 5e-324, 123456789.125} {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, x float64) {
		v, ok := generable.FloatOf(x)
		if !ok {
			return
		}
		text := generable.JSON(v, nil)
		var back float64
		if err := json.Unmarshal([]byte(text), &back); err != nil || back != x {
			t.Fatalf("%v became %s, %v", x, text, err)
		}
		if !strings.ContainsAny(text, ".e") {
			t.Fatalf("%s reads as an integer", text)
		}
	})
}

// Canonical texts are equal exactly for values that are equal, apart from 1 and 1.0.
func TestCanon(t *testing.T) {
	s := newSamples(t)
	for seed := range int64(400) {
		g := gentest.NewGenerator(seed)
		var pool []generable.Value
		for range 12 {
			pool = append(pool, g.Plain(2))
		}
		typ := s.Decision
		for range 6 {
			pool = append(pool, g.Value(typ, 3), g.Value(typ.Variants[0], 3))
		}
		for _, a := range pool {
			for _, b := range pool {
				same := string(generable.AppendCanon(nil, a)) == string(generable.AppendCanon(nil, b))
				if same && !generable.Equal(a, b) {
					t.Fatalf("seed %d: one text for %s and %s", seed, generable.JSON(a, nil), generable.JSON(b, nil))
				}
				if !same && generable.Equal(a, b) && !mixesNumbers(a, b) {
					t.Fatalf("seed %d: two texts for %s and %s", seed, generable.JSON(a, nil), generable.JSON(b, nil))
				}
			}
		}
	}
	if a, b := string(generable.AppendCanon(nil, gentest.Float(0))), string(generable.AppendCanon(nil, gentest.Float(math.Copysign(0, -1)))); a != b {
		t.Errorf("zeros differ: %s, %s", a, b)
	}
	x := dict("a", 1, "b", dict("d", 1, "c", 2)).Value()
	y := dict("b", dict("c", 2, "d", 1), "a", 1).Value()
	if !generable.Equal(x, y) || string(generable.AppendCanon(nil, x)) != string(generable.AppendCanon(nil, y)) {
		t.Error("the order of keys makes a difference")
	}
}

// mixesNumbers reports whether a has an integer where b has a float, or the reverse.
func mixesNumbers(a, b generable.Value) bool {
	kinds := func(v generable.Value) string {
		var out strings.Builder
		var walk func(v generable.Value)
		walk = func(v generable.Value) {
			out.WriteString(v.Kind().String())
			switch v.Kind() {
			case generable.ListKind:
				list, _ := v.AsList()
				for _, item := range list.Items() {
					walk(item)
				}
			case generable.MapKind:
				m, _ := v.AsMap()
				for _, key := range slices.Sorted(slices.Values(m.Keys())) {
					item, _ := m.Get(key)
					walk(item)
				}
			}
		}
		walk(v)
		return out.String()
	}
	return kinds(a) != kinds(b)
}
