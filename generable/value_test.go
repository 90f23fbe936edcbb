package generable

import (
	"math"
	"math/big"
	"strconv"
	"testing"
	"unsafe"
)

func TestValueIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Value{}); n != 24 {
		t.Errorf("a value has %d bytes", n)
	}
}

func TestValueAccess(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 70)
	s := newSamples(t)
	rec, _ := s.Approved.Construct(dict("confidence", 1))
	for _, tc := range []struct {
		v    Value
		kind Kind
		name string
	}{
		{Value{}, Null, "None"},
		{BoolOf(true), Bool, "bool"},
		{IntOf(-7), Int, "int"},
		{BigOf(huge), Big, "int"},
		{BigOf(big.NewInt(5)), Int, "int"},
		{BigOf(new(big.Int).SetInt64(math.MinInt64)), Int, "int"},
		{flt(1.5), Float, "float"},
		{StrOf("é"), Str, "str"},
		{StrOf(""), Str, "str"},
		{ListOf(IntOf(1)), ListKind, "list"},
		{dict("a", 1).Value(), MapKind, "dict"},
		{rec.Value(), RecordKind, "Approved"},
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
		if tc.v.IsNull() != (k == Null) || isBool != (k == Bool) || isInt != (k == Int) || isBig != (k == Int || k == Big) ||
			isFloat != (k == Float) || isNumber != (k == Int || k == Big || k == Float) || isStr != (k == Str) ||
			isList != (k == ListKind) || isMap != (k == MapKind) || isRecord != (k == RecordKind) {
			t.Errorf("%v answers to the wrong accessors", k)
		}
	}
	if i, _ := IntOf(math.MinInt64).AsInt(); i != math.MinInt64 {
		t.Error("int lost")
	}
	if b, _ := BigOf(huge).AsBig(); b.Cmp(huge) != 0 {
		t.Error("big lost")
	}
	if f, _ := flt(-0.25).AsFloat(); f != -0.25 {
		t.Error("float lost")
	}
	if s, _ := StrOf("x\x00é").AsStr(); s != "x\x00é" {
		t.Error("string lost")
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, ok := FloatOf(f); ok {
			t.Errorf("%v is no value", f)
		}
	}
}

func TestEqual(t *testing.T) {
	s := newSamples(t)
	one, _ := s.Approved.Construct(dict("confidence", 1))
	same, _ := s.Approved.Construct(dict("confidence", 1))
	twin, _ := newSamples(t).Approved.Construct(dict("confidence", 1))
	lookalike := must(t)(NewSchema("Approved", "another", []Field{{Name: "confidence", Type: FloatT}}))
	other, _ := lookalike.Construct(dict("confidence", 1))
	big1, big2 := BigOf(new(big.Int).Lsh(big.NewInt(1), 70)), BigOf(new(big.Int).Lsh(big.NewInt(1), 70))
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
		a, b := val(tc.a), val(tc.b)
		if Equal(a, b) != tc.want || Equal(b, a) != tc.want {
			t.Errorf("Equal(%s, %s) is not %t", JSON(a, nil), JSON(b, nil), tc.want)
		}
		if !Equal(a, a) {
			t.Errorf("%s is not equal to itself", JSON(a, nil))
		}
	}
}

func TestMap(t *testing.T) {
	m := NewMap(0)
	const n = 100
	for i := range n {
		m.Set("k"+strconv.Itoa(i), IntOf(int64(i)))
	}
	m.Set("k7", StrOf("seven"))
	if m.Len() != n {
		t.Fatalf("%d entries", m.Len())
	}
	for i := range n {
		key, v := m.At(i)
		got, ok := m.Get(key)
		if key != "k"+strconv.Itoa(i) || key != m.Keys()[i] || !ok || !Equal(got, v) {
			t.Fatalf("entry %d is %s", i, key)
		}
	}
	if v, _ := m.Get("k7"); !Equal(v, StrOf("seven")) {
		t.Error("not replaced")
	}
	if _, ok := m.Get("missing"); ok {
		t.Error("found what is not there")
	}
}

func TestRecord(t *testing.T) {
	typ := must(t)(NewSchema("Wide", "", func() (fields []Field) {
		for i := range 20 {
			fields = append(fields, Field{Name: "f" + strconv.Itoa(i), Type: IntT})
		}
		return fields
	}()))
	vals := make([]Value, 20)
	for i := range vals {
		vals[i] = IntOf(int64(i))
	}
	r := NewRecord(typ, vals)
	if v, ok := r.Get("f19"); !ok || !Equal(v, r.At(19)) || r.Type() != typ {
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
	NewRecord(typ, vals[:1])
}

func TestHostCacheKeepsTheFirst(t *testing.T) {
	l := NewList(nil)
	if l.Host() != nil {
		t.Error("not empty")
	}
	l.SetHost("first")
	l.SetHost("second")
	if l.Host() != "first" {
		t.Errorf("got %v", l.Host())
	}
}
