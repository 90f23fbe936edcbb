package generable_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// Each limit is checked against the values at and next to its boundary.
func TestLimitsAtTheirEdges(t *testing.T) {
	p, n := gentest.Ptr[float64], gentest.Ptr[int]
	above := new(big.Int).Lsh(big.NewInt(1), 70)
	text := func(n int) string { return strings.Repeat("é", n) }
	items := func(n int) []any { return make([]any, n) }
	entries := func(n int) *generable.Map {
		m := generable.NewMap(n)
		for i := range n {
			m.Set(text(i), generable.IntOf(int64(i)))
		}
		return m
	}
	for _, c := range []struct {
		limits generable.Limits
		in     []any
		out    []any
	}{
		{generable.Limits{Ge: p(3)}, []any{3, 3.0, 4, generable.BigOf(above), nil, "2"}, []any{2, 2.9999999999999996, -3}},
		{generable.Limits{Gt: p(3)}, []any{4, 3.0000000000000004}, []any{3, 3.0, 2}},
		{generable.Limits{Le: p(3)}, []any{3, 3.0, 2, -4}, []any{4, 3.0000000000000004, generable.BigOf(above)}},
		{generable.Limits{Lt: p(3)}, []any{2, 2.9999999999999996}, []any{3, 3.0, 4}},
		{generable.Limits{Ge: p(-1), Le: p(-1)}, []any{-1, -1.0}, []any{-2, 0, -1.5}},
		{generable.Limits{Le: p(1 << 53)}, []any{1 << 53}, []any{1<<53 + 1}},
		{generable.Limits{MinLen: n(2)}, []any{text(2), text(3), items(2), entries(2), 1}, []any{text(1), "", items(1), entries(1), entries(0)}},
		{generable.Limits{MaxLen: n(2)}, []any{text(2), "", items(2), entries(2)}, []any{text(3), items(3), entries(3)}},
		{generable.Limits{MinLen: n(0), MaxLen: n(0)}, []any{"", items(0), entries(0)}, []any{"x", items(1), entries(1)}},
		{generable.Limits{MultipleOf: p(3)}, []any{0, 3, -6, 9.0, "4"}, []any{1, 2, 4, -1, 3.5}},
		{generable.Limits{MultipleOf: p(0.01)}, []any{0.07, 1, 1.1, -0.03}, []any{0.075, 0.001}},
		{generable.Limits{Unique: true}, []any{items(0), items(1), []any{1, "1", true}, []any{1, 1.5}}, []any{items(2), []any{1, 1.0}, []any{"a", "b", "a"}, []any{0.0, 0}}},
		{generable.Limits{Only: generable.NewList([]generable.Value{generable.IntOf(1), generable.StrOf("a")})}, []any{1, 1.0, "a"}, []any{2, "b", "1", nil}},
		{generable.Limits{Pattern: "^a"}, []any{"a", "ab", 1}, []any{"ba", ""}},
	} {
		f := &generable.Field{Name: "f", Limits: &c.limits}
		for _, x := range c.in {
			if errs := generable.CheckLimits(f, of(x)); len(errs) > 0 {
				t.Errorf("%v is refused: %v", x, errs)
			}
		}
		for _, x := range c.out {
			if errs := generable.CheckLimits(f, of(x)); len(errs) != 1 || errs[0].Path != ".f" {
				t.Errorf("%v under %+v: %v", x, c.limits, errs)
			}
		}
	}
}

// A declaration accepts limits that leave one value and refuses those that leave none.
func TestLimitsThatLeaveRoom(t *testing.T) {
	p, n := gentest.Ptr[float64], gentest.Ptr[int]
	for _, c := range []struct {
		typ    *generable.Type
		limits generable.Limits
		ok     bool
	}{
		{generable.IntT, generable.Limits{Ge: p(2), Le: p(2)}, true},
		{generable.IntT, generable.Limits{Ge: p(2), Le: p(1.9)}, false},
		{generable.FloatT, generable.Limits{Gt: p(1), Lt: p(1.1)}, true},
		{generable.FloatT, generable.Limits{Gt: p(1), Lt: p(1)}, false},
		{generable.FloatT, generable.Limits{Ge: p(1), Lt: p(1)}, false},
		{generable.FloatT, generable.Limits{Gt: p(1), Le: p(1)}, false},
		{generable.FloatT, generable.Limits{Ge: p(0), Gt: p(1), Le: p(1)}, false},
		{generable.FloatT, generable.Limits{Ge: p(1), Gt: p(0), Le: p(1)}, true},
		{generable.FloatT, generable.Limits{Ge: p(1), Le: p(1), Lt: p(2)}, true},
		{generable.FloatT, generable.Limits{Ge: p(1), Le: p(2), Lt: p(1)}, false},
		{generable.FloatT, generable.Limits{Ge: p(math.NaN())}, false},
		{generable.FloatT, generable.Limits{Lt: p(math.Inf(1))}, false},
		{generable.StrT, generable.Limits{MinLen: n(0), MaxLen: n(0)}, true},
		{generable.StrT, generable.Limits{MinLen: n(3), MaxLen: n(2)}, false},
		{generable.StrT, generable.Limits{MaxLen: n(-1)}, false},
		{generable.FloatT, generable.Limits{MultipleOf: p(math.SmallestNonzeroFloat64)}, true},
		{generable.FloatT, generable.Limits{MultipleOf: p(0)}, false},
		{generable.FloatT, generable.Limits{MultipleOf: p(-1)}, false},
		{generable.FloatT, generable.Limits{MultipleOf: p(math.Inf(1))}, false},
		{generable.OneOf(generable.StrT, generable.IntT), generable.Limits{Ge: p(1), MinLen: n(1)}, true},
		{generable.StrT, generable.Limits{Ge: p(1)}, false},
		{generable.IntT, generable.Limits{Unique: true}, false},
		{generable.BoolT, generable.Limits{MinLen: n(1)}, false},
	} {
		limited, errs := generable.Limited(c.typ, c.limits)
		if (len(errs) == 0) != c.ok {
			t.Errorf("%s with %+v: %v", c.typ, c.limits, errs)
		}
		if !c.ok && limited != c.typ {
			t.Errorf("%s with %+v keeps what is wrong", c.typ, c.limits)
		}
	}
}

// Numbers change their kind only if no digit is lost.
func TestConvertAtTheEdgesOfNumbers(t *testing.T) {
	pow := func(n uint, plus int64) generable.Value {
		i := new(big.Int).Lsh(big.NewInt(1), n)
		return generable.BigOf(i.Add(i, big.NewInt(plus)))
	}
	for _, c := range []struct {
		in   generable.Value
		to   *generable.Type
		want string // "" if the number cannot have that type
	}{
		{pow(53, 0), generable.FloatT, "9007199254740992.0"},
		{pow(53, 1), generable.FloatT, ""},
		{pow(53, 2), generable.FloatT, "9007199254740994.0"},
		{pow(62, 0), generable.FloatT, "4611686018427388000.0"},
		{generable.IntOf(math.MaxInt64), generable.FloatT, ""},
		{generable.IntOf(math.MinInt64), generable.FloatT, "-9223372036854776000.0"},
		{pow(64, 0), generable.FloatT, "18446744073709552000.0"},
		{pow(64, 1), generable.FloatT, ""},
		{pow(1023, 0), generable.FloatT, "8.98846567431158e+307"},
		{pow(1024, 0), generable.FloatT, ""},
		{gentest.Float(math.Copysign(0, -1)), generable.IntT, "0"},
		{gentest.Float(1 << 53), generable.IntT, "9007199254740992"},
		{gentest.Float(-1 << 63), generable.IntT, "-9223372036854775808"},
		{gentest.Float(1 << 63), generable.IntT, ""},
		{gentest.Float(math.Nextafter(1<<63, 0)), generable.IntT, "9223372036854774784"},
		{gentest.Float(0.5), generable.IntT, ""},
		{pow(63, 0), generable.IntT, "9223372036854775808"},
		{generable.BoolOf(true), generable.IntT, ""},
		{generable.StrOf("1"), generable.IntT, ""},
	} {
		v, errs := c.to.Convert(c.in)
		if got := generable.JSON(v, nil); (len(errs) == 0) != (c.want != "") || len(errs) == 0 && got != c.want {
			t.Errorf("%s as %s: %s, %v, want %q", generable.JSON(c.in, nil), c.to, got, errs, c.want)
		}
	}
}

// A type of the maximum depth can be a field, and a deeper one cannot.
func TestDepthOfTypesAtItsEdge(t *testing.T) {
	deep := generable.IntT
	for range generable.MaxTypeDepth - 1 {
		deep = generable.ListOfType(deep)
	}
	if typ, errs := generable.NewSchema("S", "", []generable.Field{{Name: "f", Type: deep}}); len(errs) > 0 || typ.TooDeep() {
		t.Errorf("a type of the greatest depth: %v", errs)
	}
	deeper := generable.ListOfType(deep)
	if deeper.TooDeep() || !generable.ListOfType(deeper).TooDeep() {
		t.Error("the depth is counted wrongly")
	}
	if typ, errs := generable.NewSchema("S", "", []generable.Field{{Name: "f", Type: deeper}}); len(errs) != 1 || typ.Fields[0].Type.Kind != generable.ErrorType {
		t.Errorf("a deeper type: %v", errs)
	}
}
