package engine

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

func pred(t testing.TB, op PredOp, field string, v ...generable.Value) *Predicate {
	t.Helper()
	var value *generable.Value
	if len(v) > 0 {
		value = &v[0]
	}
	p, err := NewPredicate(op, field, value)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func numeral(f float64) generable.Value {
	if f == float64(int64(f)) {
		return generable.IntOf(int64(f))
	}
	v, _ := generable.FloatOf(f)
	return v
}

// TestGaps names what conditions leave over.
func TestGaps(t *testing.T) {
	num := func(op PredOp, f float64) *Predicate { return pred(t, op, "", numeral(f)) }
	text := func(op PredOp, s string) *Predicate { return pred(t, op, "", generable.StrOf(s)) }
	level, _ := generable.NewEnum("Level", "", []string{"low", "high"})
	none := pred(t, PredEq, "", generable.Value{})
	for _, row := range []struct {
		typ  *generable.Type
		tell []*Predicate
		want string
	}{
		{generable.FloatT, []*Predicate{num(PredGe, 80), num(PredLe, 79)}, "79 < x < 80"},
		{generable.IntT, []*Predicate{num(PredGe, 80), num(PredLe, 79)}, ""},
		{generable.IntT, []*Predicate{num(PredGt, 80), num(PredLt, 80)}, "x = 80"},
		{generable.IntT, []*Predicate{num(PredGt, 80.5), num(PredLt, 79.5)}, "x = 80"},
		{generable.FloatT, []*Predicate{num(PredGe, 80), num(PredGe, 50)}, "x < 50"},
		{generable.FloatT, []*Predicate{num(PredGe, 80), num(PredLt, 80)}, ""},
		{generable.FloatT, []*Predicate{num(PredEq, 1), num(PredNe, 1)}, ""},
		{generable.FloatT, []*Predicate{num(PredNe, 1)}, "x = 1"},
		{generable.FloatT, []*Predicate{num(PredGe, 0).And(num(PredLe, 1)).Not()}, "0 <= x <= 1"},
		{generable.FloatT, []*Predicate{num(PredLt, 0).Or(num(PredGt, 1))}, "0 <= x <= 1"},
		{generable.IntT, []*Predicate{num(PredLt, 0), num(PredEq, 1), num(PredGt, 2)}, "x = 0, x = 2"},
		{level, []*Predicate{text(PredEq, "low")}, `"high"`},
		{level, []*Predicate{text(PredEq, "low"), text(PredNe, "low")}, ""},
		{generable.BoolT, []*Predicate{pred(t, PredEq, "", generable.BoolOf(true))}, "False"},
		{generable.StrT, []*Predicate{text(PredEq, "a"), text(PredEq, "b")}, `any text but "a", "b"`},
		{generable.StrT, []*Predicate{text(PredNe, "a")}, `x = "a"`},
		{generable.StrT, []*Predicate{text(PredEq, "a"), text(PredNe, "a")}, ""},
		{generable.StrT, []*Predicate{text(PredMatches, "^a")}, "any text"},
		{generable.StrT, []*Predicate{text(PredMatches, "^a"), text(PredMatches, "^a").Not()}, "any text"}, // see [part.condition]
		{generable.OneOf(generable.IntT, generable.NoneT), []*Predicate{num(PredGe, 0), num(PredLt, 0)}, "None"},
		{generable.OneOf(generable.IntT, generable.NoneT), []*Predicate{num(PredGe, 0), num(PredLt, 0), none}, ""},
	} {
		all := newSpace(row.typ, "", row.tell)
		rest := all.remaining()
		var names []string
		for _, p := range row.tell {
			sure, may := all.region(p, "")
			if len(all.allOf([]cells{sure, all.without(may)})) > 0 {
				t.Errorf("%s: what holds for certain may not hold", p)
			}
			rest.take(sure)
			names = append(names, p.String())
		}
		if got := strings.Join(all.describe("", rest.has), ", "); got != row.want {
			t.Errorf("%s on %s leaves %q, want %q", strings.Join(names, "; "), row.typ, got, row.want)
		}
		if rest.empty() != (row.want == "") {
			t.Errorf("%s on %s: empty is %t", strings.Join(names, "; "), row.typ, rest.empty())
		}
	}
}

// TestSpacesAgree evaluates random predicates on values around their bounds: what holds for
// certain holds, and what holds may hold.
func TestSpacesAgree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var random func(depth int) *Predicate
	random = func(depth int) *Predicate {
		if depth > 0 && rnd.IntN(3) > 0 {
			switch a, b := random(depth-1), random(depth-1); rnd.IntN(3) {
			case 0:
				return a.And(b)
			case 1:
				return a.Or(b)
			default:
				return &Predicate{op: PredNot, kids: []*Predicate{a}}
			}
		}
		if rnd.IntN(8) == 0 {
			return pred(t, PredEq, "", generable.Value{})
		}
		return pred(t, PredOp(rnd.IntN(6)), "", numeral(float64(rnd.IntN(9))/2))
	}
	for _, typ := range []*generable.Type{generable.IntT, generable.FloatT, generable.OneOf(generable.FloatT, generable.NoneT)} {
		for range 2000 {
			p := random(3)
			var points []*Predicate // so that each value below is a cell
			for i := -2; i < 40; i++ {
				points = append(points, pred(t, PredEq, "", numeral(float64(i)/4)))
			}
			all := newSpace(typ, "", append(points, p))
			sure, may := all.region(p, "")
			never, always := p.settled(typ)
			for i := -2; i < 40; i++ {
				v := numeral(float64(i) / 4)
				if all.whole && v.Kind() != generable.Int {
					continue
				}
				at, _ := all.region(pred(t, PredEq, "", v), "")
				in := func(c cells) bool { return len(all.allOf([]cells{c, at})) > 0 }
				if holds := p.Holds(v); in(sure) && !holds || holds && !in(may) {
					t.Fatalf("%s on %s of %s: holds %t, sure %v, may %v of %v", p, literal(v), typ, holds, sure, may, all.numbers)
				} else if never && holds || always && !holds {
					t.Fatalf("%s on %s of %s: holds %t, never %t, always %t", p, literal(v), typ, holds, never, always)
				}
			}
		}
	}
}
