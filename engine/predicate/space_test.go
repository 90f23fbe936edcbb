package predicate

import (
	"math/rand/v2"
	"slices"
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

// TestGaps checks the names of what conditions leave over.
func TestGaps(t *testing.T) {
	num := func(op Op, f float64) *Predicate { return pred(t, op, "", numeral(f)) }
	text := func(op Op, s string) *Predicate { return pred(t, op, "", generable.StrOf(s)) }
	level, _ := generable.NewEnum("Level", "", []string{"low", "high"})
	none := pred(t, Eq, "", generable.Value{})
	exactly := func(f float64) *Predicate {
		v, _ := generable.FloatOf(f)
		return pred(t, Eq, "", v).Exact()
	}
	numbers := generable.OneOf(generable.IntT, generable.FloatT)
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
		{generable.StrT, []*Predicate{text(Matches, "^a")}, `~matches("^a")`},
		{generable.StrT, []*Predicate{text(Matches, "^a"), text(Matches, "^a").Not()}, ""},
		{generable.FloatT, []*Predicate{Always()}, ""},
		{generable.IntT, []*Predicate{Never(), num(Gt, 5)}, "x <= 5"},
		{generable.BoolT, []*Predicate{Never(), Always().Not().Or(pred(t, Eq, "", generable.BoolOf(true)))}, "False"},
		{level, []*Predicate{text(Eq, "LOW").Folded()}, `"high"`},
		{level, []*Predicate{text(Gt, "LOX").Folded(), text(Eq, "High").Folded()}, `"low"`},
		{generable.StrT, []*Predicate{text(Eq, "Yes").Folded()}, `any text but "yes" in any case`},
		{generable.StrT, []*Predicate{text(Ne, "Yes").Folded()}, `x = "yes" in any case`},
		{generable.StrT, []*Predicate{text(Ne, "Yes").Folded(), text(Eq, "Yes")}, `x = "yes" in any case but "Yes"`},
		{generable.StrT, []*Predicate{text(Eq, "Yes"), text(Eq, "no").Folded()}, `any text but "Yes", "no" in any case`},
		{generable.StrT, []*Predicate{text(Eq, "Yes").Folded(), text(Ne, "yes")}, ""},
		{generable.StrT, []*Predicate{text(Ne, "a").Folded(), text(Eq, "a"), text(Eq, "A")}, ""},
		{generable.StrT, []*Predicate{text(Ne, "k").Folded(), text(Eq, "k"), text(Eq, "K")}, `x = "k" in any case but "k", "K"`}, // there is a third spelling, with the Kelvin sign
		{generable.StrT, []*Predicate{text(Ne, "10").Folded(), text(Eq, "10")}, ""},
		{numbers, []*Predicate{num(Ne, 42).Exact()}, "x = 42"},
		{numbers, []*Predicate{num(Eq, 42).Exact()}, "x < 42, x = 42.0, x > 42"},
		{numbers, []*Predicate{num(Eq, 42).Exact(), num(Ne, 42)}, "x = 42.0"},
		{numbers, []*Predicate{num(Eq, 42).Exact(), exactly(42), num(Gt, 42)}, "x < 42"},
		{numbers, []*Predicate{num(Lt, 42), num(Gt, 43), num(Eq, 43).Exact()}, "42 <= x < 43, x = 43.0"},
		{numbers, []*Predicate{num(Ne, 2.5).Exact()}, "x = 2.5"},
		{numbers, []*Predicate{num(Ne, 2.5).Exact(), num(Eq, 2.5)}, ""},
		{generable.OneOf(generable.IntT, generable.NoneT), []*Predicate{num(Ge, 0), num(Lt, 0)}, "None"},
		{generable.OneOf(generable.IntT, generable.NoneT), []*Predicate{num(Ge, 0), num(Lt, 0), none}, ""},
	} {
		var names []string
		rest := NewSpace(row.typ, true, row.tell).Rest()
		for _, p := range row.tell {
			rest.Take(rest.space.Region(p))
			names = append(names, p.String())
		}
		if got := strings.Join(rest.Describe(), ", "); got != row.want || rest.Empty() != (got == "") {
			t.Errorf("%s on %s leaves %q, want %q", strings.Join(names, "; "), row.typ, got, row.want)
		}
	}
}

// TestSpacesAgree takes random conditions, one after the other, from small types whose values are all known. A
// condition finds something left, and nothing is left at the end, exactly if that is true for the values. What is known
// only at run time is never reported as taken.
func TestSpacesAgree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	record := func(name string, fields ...generable.Field) *generable.Type {
		typ, err := generable.NewSchema(name, "", fields)
		if err != nil {
			t.Fatal(err)
		}
		return typ
	}
	float := func(f float64) generable.Value {
		v, _ := generable.FloatOf(f)
		return v
	}
	optional := func(typ *generable.Type) *generable.Type { return generable.OneOf(typ, generable.NoneT) }
	level, _ := generable.NewEnum("Level", "", []string{"low", "mid", "high"})
	inner := record("Inner", generable.Field{Name: "ok", Type: generable.BoolT}, generable.Field{Name: "n", Type: optional(generable.IntT)})
	other := record("Other", generable.Field{Name: "ok", Type: level})
	outer := record("Outer", generable.Field{Name: "level", Type: level}, generable.Field{Name: "n", Type: generable.FloatT},
		generable.Field{Name: "in", Type: optional(inner)}, generable.Field{Name: "two", Type: generable.OneOf(inner, other)}, generable.Field{Name: "text", Type: generable.StrT})
	mixed := record("Mixed", generable.Field{Name: "n", Type: generable.OneOf(generable.IntT, generable.FloatT)}, generable.Field{Name: "s", Type: generable.OneOf(generable.StrT, generable.BoolT)})
	var values func(typ *generable.Type) []generable.Value
	values = func(typ *generable.Type) (out []generable.Value) {
		for _, c := range typing.Cases(typ) {
			switch c.Kind {
			case generable.NoneType:
				out = append(out, generable.Value{})
			case generable.BoolType:
				out = append(out, generable.BoolOf(false), generable.BoolOf(true))
			case generable.EnumType, generable.StrType:
				for _, v := range append([]string{"other"}, c.Values...)[min(len(c.Values), 1):] {
					out = append(out, generable.StrOf(v))
				}
				if c.Kind == generable.StrType {
					for _, s := range []string{"low", "Low", "LOW", "mid", "Mid", "MID", "high", "HIGH", "1"} {
						out = append(out, generable.StrOf(s))
					}
				}
			case generable.IntType:
				out = append(out, numeral(0), numeral(1), numeral(2), numeral(3))
			case generable.FloatType:
				out = append(out, float(0.5), float(1), float(1.5), float(2), float(2.5))
			case generable.RecordType:
				made := [][]generable.Value{nil}
				for _, f := range c.Fields {
					var next [][]generable.Value
					for _, m := range made {
						for _, v := range values(f.Type) {
							next = append(next, append(m[:len(m):len(m)], v))
						}
					}
					made = next
				}
				for _, m := range made {
					out = append(out, generable.NewRecord(c, m).Value())
				}
			}
		}
		return out
	}
	fields := map[*generable.Type][]string{
		outer: {"level", "n", "in", "in.ok", "in.n", "two.ok", "text", "gone"},
		mixed: {"n", "s"},
		inner: {"ok", "n"},
	}
	var random func(names []string, depth int, open *bool) *Predicate
	random = func(names []string, depth int, open *bool) *Predicate {
		if depth > 0 && rnd.IntN(3) > 0 {
			switch a, b := random(names, depth-1, open), random(names, depth-1, open); rnd.IntN(3) {
			case 0:
				return a.And(b)
			case 1:
				return a.Or(b)
			default:
				return &Predicate{op: Not, kids: []*Predicate{a}}
			}
		}
		field := ""
		if len(names) > 0 {
			field = names[rnd.IntN(len(names))]
		}
		words := []string{"low", "mid", "high", "Low", "MID", "1"}
		switch rnd.IntN(18) {
		case 12:
			return []*Predicate{Always(), Never()}[rnd.IntN(2)]
		case 13, 14:
			return pred(t, Op(rnd.IntN(2)), field, generable.StrOf(words[rnd.IntN(len(words))])).Folded()
		case 15:
			return pred(t, Op(rnd.IntN(2)), field, generable.IntOf(int64(1+rnd.IntN(2)))).Exact()
		case 16:
			return pred(t, Op(rnd.IntN(2)), field, float(float64(1+rnd.IntN(2)))).Exact()
		case 17:
			*open = true
			p := pred(t, Gt+Op(rnd.IntN(4)), field, generable.StrOf(words[rnd.IntN(len(words))]))
			if rnd.IntN(2) == 0 {
				p = p.Folded()
			}
			return p
		case 0:
			return pred(t, Eq, field, generable.Value{})
		case 1:
			return pred(t, Has, field)
		case 2:
			*open = true
			return pred(t, Matches, field, generable.StrOf("o"))
		case 3, 4:
			return pred(t, Op(rnd.IntN(2)), field, generable.BoolOf(rnd.IntN(2) == 0))
		case 5, 6, 7:
			return pred(t, Op(rnd.IntN(2)), field, generable.StrOf(words[rnd.IntN(len(words))]))
		default:
			return pred(t, Op(rnd.IntN(6)), field, numeral(float64(1+rnd.IntN(2))))
		}
	}
	for typ, n := range map[*generable.Type]int{generable.IntT: 200, generable.FloatT: 200, level: 200, generable.NoneT: 20, inner: 1000, mixed: 1000, generable.StrT: 500, generable.OneOf(generable.BoolT, generable.IntT): 200, outer: 150} {
		if testing.Short() {
			n /= 4
		}
		domain := values(typ)
		for range n {
			open, names := false, fields[typ]
			if k := len(names); k > 2 { // so that the conditions meet
				names = []string{names[rnd.IntN(k)], names[rnd.IntN(k)], names[rnd.IntN(k)]}
			}
			list := make([]*Predicate, 1+rnd.IntN(5))
			for i := range list {
				list[i] = random(names, 2, &open)
			}
			left := slices.Clone(domain)
			rest := NewSpace(typ, rnd.IntN(2) == 0, list).Rest()
			for i, p := range list {
				was := len(left)
				left = slices.DeleteFunc(left, p.Holds)
				some := rest.Take(rest.space.Region(p))
				if taken := len(left) < was; taken && !some || !open && taken != some {
					t.Fatalf("%s of %v on %s: takes some %t, said %t", p, list[:i], typ, taken, some)
				}
			}
			if empty := len(left) == 0; rest.Empty() && !empty || !open && rest.Empty() != empty {
				t.Fatalf("%v on %s leaves %d values, said %q", list, typ, len(left), rest.Describe())
			}
			never, always := list[0].Settled(typ)
			if holds := slices.ContainsFunc(domain, list[0].Holds); holds && never || !open && holds == never {
				t.Fatalf("%s on %s: said to hold never %t", list[0], typ, never)
			}
			if fails := slices.ContainsFunc(domain, func(v generable.Value) bool { return !list[0].Holds(v) }); fails && always || !open && fails == always {
				t.Fatalf("%s on %s: said to hold always %t", list[0], typ, always)
			}
		}
	}
}

// Mistakes in a test are also found after a ~.
func TestMismatchesBehindAnOpposite(t *testing.T) {
	point := &generable.Type{Kind: generable.RecordType, Name: "Point", Fields: []generable.Field{{Name: "x", Type: generable.IntT}}}
	found := pred(t, Eq, "y", generable.IntOf(1)).Not().Mismatches(point)
	if got := strings.Join(found, "; "); got != `eq("y", 1): Point has no field "y"; it has x` {
		t.Errorf("said %q", got)
	}
}

// A test of texts holds for no number and not for None.
func TestConditionsOnTexts(t *testing.T) {
	for _, p := range []*Predicate{pred(t, Matches, "", generable.StrOf("^a")), pred(t, Gt, "", generable.StrOf("m"))} {
		rest := NewSpace(generable.OneOf(generable.IntT, generable.StrT, generable.NoneT), true, []*Predicate{p, pred(t, Eq, "", generable.IntOf(1))}).Rest()
		some := rest.Take(rest.space.Region(p))
		if got := strings.Join(rest.Describe(), ", "); !some || got != "any number, None, any text and ~"+p.String() || !rest.Vague() {
			t.Errorf("%s takes some %t, and leaves %q", p, some, got)
		}
	}
}
