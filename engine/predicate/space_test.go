package predicate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

func pred(t testing.TB, op Op, field string, v ...generable.Value) *Predicate {
	t.Helper()
	var value *generable.Value
	if len(v) > 0 {
		value = &v[0]
	}
	p, err := New(op, field, value)
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
	num := func(op Op, f float64) *Predicate { return pred(t, op, "", numeral(f)) }
	text := func(op Op, s string) *Predicate { return pred(t, op, "", generable.StrOf(s)) }
	level, _ := generable.NewEnum("Level", "", []string{"low", "high"})
	none := pred(t, Eq, "", generable.Value{})
	for _, row := range []struct {
		typ  *generable.Type
		tell []*Predicate
		want string
	}{
		{generable.FloatT, []*Predicate{num(Ge, 80), num(Le, 79)}, "79 < x < 80"},
		{generable.IntT, []*Predicate{num(Ge, 80), num(Le, 79)}, ""},
		{generable.IntT, []*Predicate{num(Gt, 80), num(Lt, 80)}, "x = 80"},
		{generable.IntT, []*Predicate{num(Gt, 80.5), num(Lt, 79.5)}, "x = 80"},
		{generable.FloatT, []*Predicate{num(Ge, 80), num(Ge, 50)}, "x < 50"},
		{generable.FloatT, []*Predicate{num(Ge, 80), num(Lt, 80)}, ""},
		{generable.FloatT, []*Predicate{num(Eq, 1), num(Ne, 1)}, ""},
		{generable.FloatT, []*Predicate{num(Ne, 1)}, "x = 1"},
		{generable.FloatT, []*Predicate{num(Ge, 0).And(num(Le, 1)).Not()}, "0 <= x <= 1"},
		{generable.FloatT, []*Predicate{num(Lt, 0).Or(num(Gt, 1))}, "0 <= x <= 1"},
		{generable.IntT, []*Predicate{num(Lt, 0), num(Eq, 1), num(Gt, 2)}, "x = 0, x = 2"},
		{level, []*Predicate{text(Eq, "low")}, `"high"`},
		{level, []*Predicate{text(Eq, "low"), text(Ne, "low")}, ""},
		{generable.BoolT, []*Predicate{pred(t, Eq, "", generable.BoolOf(true))}, "False"},
		{generable.StrT, []*Predicate{text(Eq, "a"), text(Eq, "b")}, `any text but "a", "b"`},
		{generable.StrT, []*Predicate{text(Ne, "a")}, `x = "a"`},
		{generable.StrT, []*Predicate{text(Eq, "a"), text(Ne, "a")}, ""},
		{generable.StrT, []*Predicate{text(Matches, "^a")}, "any text"},
		{generable.StrT, []*Predicate{text(Matches, "^a"), text(Matches, "^a").Not()}, "any text"}, // see [engine.part.condition]
		{generable.OneOf(generable.IntT, generable.NoneT), []*Predicate{num(Ge, 0), num(Lt, 0)}, "None"},
		{generable.OneOf(generable.IntT, generable.NoneT), []*Predicate{num(Ge, 0), num(Lt, 0), none}, ""},
	} {
		all := NewSpace(row.typ, "", row.tell)
		rest := all.Remaining()
		var names []string
		for _, p := range row.tell {
			sure, may := all.Region(p, "")
			if len(all.allOf([]Cells{sure, all.without(may)})) > 0 {
				t.Errorf("%s: what holds for certain may not hold", p)
			}
			rest.Take(sure)
			names = append(names, p.String())
		}
		if got := strings.Join(all.Describe("", rest.Has), ", "); got != row.want {
			t.Errorf("%s on %s leaves %q, want %q", strings.Join(names, "; "), row.typ, got, row.want)
		}
		if rest.Empty() != (row.want == "") {
			t.Errorf("%s on %s: empty is %t", strings.Join(names, "; "), row.typ, rest.Empty())
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
				return &Predicate{op: Not, kids: []*Predicate{a}}
			}
		}
		if rnd.IntN(8) == 0 {
			return pred(t, Eq, "", generable.Value{})
		}
		return pred(t, Op(rnd.IntN(6)), "", numeral(float64(rnd.IntN(9))/2))
	}
	for _, typ := range []*generable.Type{generable.IntT, generable.FloatT, generable.OneOf(generable.FloatT, generable.NoneT)} {
		for range 2000 {
			p := random(3)
			var points []*Predicate // so that each value below is a cell
			for i := -2; i < 40; i++ {
				points = append(points, pred(t, Eq, "", numeral(float64(i)/4)))
			}
			all := NewSpace(typ, "", append(points, p))
			sure, may := all.Region(p, "")
			never, always := p.Settled(typ)
			for i := -2; i < 40; i++ {
				v := numeral(float64(i) / 4)
				if all.whole && v.Kind() != generable.Int {
					continue
				}
				at, _ := all.Region(pred(t, Eq, "", v), "")
				in := func(c Cells) bool { return len(all.allOf([]Cells{c, at})) > 0 }
				if holds := p.Holds(v); in(sure) && !holds || holds && !in(may) {
					t.Fatalf("%s on %s of %s: holds %t, sure %v, may %v of %v", p, typing.Literal(v), typ, holds, sure, may, all.numbers)
				} else if never && holds || always && !holds {
					t.Fatalf("%s on %s of %s: holds %t, never %t, always %t", p, typing.Literal(v), typ, holds, never, always)
				}
			}
		}
	}
}

// What is wrong with a test is found behind a ~ as well.
func TestMismatchesBehindAnOpposite(t *testing.T) {
	point := &generable.Type{Kind: generable.RecordType, Name: "Point", Fields: []generable.Field{{Name: "x", Type: generable.IntT}}}
	found := pred(t, Eq, "y", generable.IntOf(1)).Not().Mismatches(point)
	if got := strings.Join(found, "; "); got != `eq("y", 1): Point has no field "y"; it has x` {
		t.Errorf("said %q", got)
	}
}

// What only a text can answer may hold of texts alone, and not of what is none or a number.
func TestConditionsOnTexts(t *testing.T) {
	for _, p := range []*Predicate{pred(t, Matches, "", generable.StrOf("^a")), pred(t, Gt, "", generable.StrOf("m"))} {
		s := NewSpace(generable.OneOf(generable.IntT, generable.StrT, generable.NoneT), "", []*Predicate{p, pred(t, Eq, "", generable.IntOf(1))})
		sure, may := s.Region(p, "")
		rest := s.Remaining()
		rest.Take(may)
		if got := strings.Join(s.Describe("", rest.Has), ", "); len(sure) > 0 || got != "any number, None" {
			t.Errorf("%s holds for certain of %v, and not of %q", p, sure, got)
		}
	}
}
