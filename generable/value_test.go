package generable_test

import (
	"math"
	"math/big"
	"strconv"
	"testing"
	"unsafe"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
	"github.com/agentscript/agentscript/internal/gentest"
)

func TestValueIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(generable.Value{}); n != 24 {
		t.Errorf("a value has %d bytes", n)
	}
}

func TestValueAccess(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 70)
	s := newSamples(t)
	rec, _ := s.Approved.Construct(dict("confidence", 1))
	for _, tc := range []struct {
		v    generable.Value
		kind generable.Kind
		name string
	}{
		{generable.Value{}, generable.Null, "None"},
		{generable.BoolOf(true), generable.Bool, "bool"},
		{generable.IntOf(-7), generable.Int, "int"},
		{generable.BigOf(huge), generable.Big, "int"},
		{generable.BigOf(big.NewInt(5)), generable.Int, "int"},
		{generable.BigOf(new(big.Int).SetInt64(math.MinInt64)), generable.Int, "int"},
		{gentest.Float(1.5), generable.Float, "float"},
		{generable.StrOf("é"), generable.Str, "str"},
		{generable.StrOf(""), generable.Str, "str"},
		{generable.ListOf(generable.IntOf(1)), generable.ListKind, "list"},
		{dict("a", 1).Value(), generable.MapKind, "dict"},
		{rec.Value(), generable.RecordKind, "Approved"},
	} {
		if tc.v.Kind() != tc.kind || tc.v.TypeName() != tc.name {
			t.Errorf("got %v named %s, want %v named %s", tc.v.Kind(), tc.v.TypeName(), tc.kind, tc.name)
		}
		_, isBool := tc.v.AsBool()
		_, isInt := tc.v.AsInt()
		_, isBig := tc.v.AsBig()
		_, isFloat := tc.v.AsFloat()
		_, isNumber := tc.v.AsNumber()
		_, isStr := tc.v.AsStr()
		_, isList := tc.v.AsList()
		_, isMap := tc.v.AsMap()
		_, isRecord := tc.v.AsRecord()
		k := tc.kind
		if tc.v.IsNull() != (k == generable.Null) || isBool != (k == generable.Bool) || isInt != (k == generable.Int) || isBig != (k == generable.Int || k == generable.Big) ||
			isFloat != (k == generable.Float) || isNumber != (k == generable.Int || k == generable.Big || k == generable.Float) || isStr != (k == generable.Str) ||
			isList != (k == generable.ListKind) || isMap != (k == generable.MapKind) || isRecord != (k == generable.RecordKind) {
			t.Errorf("%v answers to the wrong accessors", k)
		}
	}
	if i, _ := generable.IntOf(math.MinInt64).AsInt(); i != math.MinInt64 {
		t.Error("int lost")
	}
	if b, _ := generable.BigOf(huge).AsBig(); b.Cmp(huge) != 0 {
		t.Error("big lost")
	}
	if f, _ := gentest.Float(-0.25).AsFloat(); f != -0.25 {
		t.Error("float lost")
	}
	if s, _ := generable.StrOf("x\x00é").AsStr(); s != "x\x00é" {
		t.Error("string lost")
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, ok := generable.FloatOf(f); ok {
			t.Errorf("%v is no value", f)
		}
	}
}

func TestEqual(t *testing.T) {
	s := newSamples(t)
	one, _ := s.Approved.Construct(dict("confidence", 1))
	same, _ := s.Approved.Construct(dict("confidence", 1))
	twin, _ := newSamples(t).Approved.Construct(dict("confidence", 1))
	lookalike := gentest.Must(t)(generable.NewSchema("Approved", "another", []generable.Field{{Name: "confidence", Type: generable.FloatT}}))
	other, _ := lookalike.Construct(dict("confidence", 1))
	big1, big2 := generable.BigOf(new(big.Int).Lsh(big.NewInt(1), 70)), generable.BigOf(new(big.Int).Lsh(big.NewInt(1), 70))
	for _, tc := range []struct {
		a, b any
		want bool
	}{
		{nil, nil, true}, {nil, false, false}, {true, true, true}, {true, false, false}, {true, 1, false},
		{1, 1, true}, {1, 1.0, true}, {1, 1.5, false}, {0.0, math.Copysign(0, -1), true},
		{1 << 53, float64(1 << 53), true}, {1<<53 + 1, float64(1 << 53), false}, {math.MaxInt64, 9223372036854775808.0, false},
		{big1, big2, true}, {big1, 1 << 62, false}, {big1, math.Pow(2, 70), true}, {big1, math.Pow(2, 71), false}, {big1, "x", false},
		{"a", "a", true}, {"a", "b", false}, {"1", 1, false}, {"", nil, false},
		{[]any{1, "a"}, []any{1.0, "a"}, true}, {[]any{1}, []any{1, 1}, false}, {[]any{}, nil, false},
		{dict("a", 1, "b", 2), dict("b", 2, "a", 1), true}, {dict("a", 1), dict("b", 1), false}, {dict("a", nil), dict("b", nil), false},
		{dict("a", 1), dict("a", 1, "b", 2), false},
		{one, same, true}, {one, twin, true}, {one, other, false}, {one, dict("confidence", 1.0), false},
	} {
		a, b := of(tc.a), of(tc.b)
		if generable.Equal(a, b) != tc.want || generable.Equal(b, a) != tc.want {
			t.Errorf("Equal(%s, %s) is not %t", generable.JSON(a, nil), generable.JSON(b, nil), tc.want)
		}
		if !generable.Equal(a, a) {
			t.Errorf("%s is not equal to itself", generable.JSON(a, nil))
		}
	}
}

func TestMap(t *testing.T) {
	m := generable.NewMap(0)
	const n = 100
	for i := range n {
		m.Set("k"+strconv.Itoa(i), generable.IntOf(int64(i)))
	}
	m.Set("k7", generable.StrOf("seven"))
	if m.Len() != n {
		t.Fatalf("%d entries", m.Len())
	}
	for i := range n {
		key, v := m.At(i)
		got, ok := m.Get(key)
		if key != "k"+strconv.Itoa(i) || key != m.Keys()[i] || !ok || !generable.Equal(got, v) {
			t.Fatalf("entry %d is %s", i, key)
		}
	}
	if v, _ := m.Get("k7"); !generable.Equal(v, generable.StrOf("seven")) {
		t.Error("not replaced")
	}
	if _, ok := m.Get("missing"); ok {
		t.Error("found what is not there")
	}
}

func TestRecord(t *testing.T) {
	typ := gentest.Must(t)(generable.NewSchema("Wide", "", func() (fields []generable.Field) {
		for i := range 20 {
			fields = append(fields, generable.Field{Name: "f" + strconv.Itoa(i), Type: generable.IntT})
		}
		return fields
	}()))
	vals := make([]generable.Value, 20)
	for i := range vals {
		vals[i] = generable.IntOf(int64(i))
	}
	r := generable.NewRecord(typ, vals)
	if v, ok := r.Get("f19"); !ok || !generable.Equal(v, r.At(19)) || r.Type() != typ {
		t.Error("lost a field")
	}
	if _, ok := r.Get("f20"); ok {
		t.Error("found what is not there")
	}
	defer func() {
		if recover() == nil {
			t.Error("a record with too few values")
		}
	}()
	generable.NewRecord(typ, vals[:1])
}

func TestHostCacheKeepsTheFirst(t *testing.T) {
	l := generable.NewList(nil)
	if l.Host() != nil {
		t.Error("not empty")
	}
	l.SetHost("first")
	l.SetHost("second")
	if l.Host() != "first" {
		t.Errorf("got %v", l.Host())
	}
}

// A list or dict of a snapshot reads like any other, although its growing last part is stored separately.
func TestGrowing(t *testing.T) {
	in := generable.Internal(access.Key{})
	one, two := generable.IntOf(1), generable.IntOf(2)
	for _, c := range []struct{ growing, whole generable.Value }{
		{in.GrowingList([]generable.Value{one}, two), generable.ListOf(one, two)},
		{in.GrowingList(nil, two), generable.ListOf(two)},
		{in.GrowingMap([]string{"a", "b"}, []generable.Value{one}, two), dict("a", 1, "b", 2).Value()},
		{in.Nested(one, 2), generable.ListOf(generable.ListOf(one))},
	} {
		got, want := generable.JSON(c.growing, nil), generable.JSON(c.whole, nil)
		if got != want || !generable.Equal(c.growing, c.whole) || !generable.Equal(c.whole, c.growing) {
			t.Errorf("%s, want %s", got, want)
		}
		if m, ok := c.growing.AsMap(); ok {
			b, _ := m.Get("b")
			if a, _ := m.Get("a"); !generable.Equal(a, one) || !generable.Equal(b, two) {
				t.Errorf("a is %s, b is %s", generable.JSON(a, nil), generable.JSON(b, nil))
			}
		}
	}
}
