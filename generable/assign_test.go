package generable

import (
	"fmt"
	"testing"
)

func TestAssignable(t *testing.T) {
	s := newSamples(t)
	twin := newSamples(t)
	other := must(t)(NewSchema("Approved", "another", nil))
	fold := must(t)(NewUnion("Fold", "", "", []*Type{s.Approved, s.Rejected, s.Measurement}))
	bound := RefTo("Decision")
	bound.Bind(s.Decision)
	opt := func(t *Type) *Type { return OneOf(t, NoneT) }
	for _, tc := range []struct {
		from, to *Type
		want     string // the reasons, "" when it fits
	}{
		{StrT, StrT, ""}, {IntT, FloatT, "int is not float"}, {FloatT, IntT, "float is not int"}, {BoolT, IntT, "bool is not int"},
		{StrT, AnyT, ""}, {AnyT, StrT, ""}, {AnyT, s.Decision, ""}, {ErrorT, IntT, ""}, {IntT, ErrorT, ""},
		{s.Approved, s.Decision, ""}, {s.Decision, s.Approved, "Rejected is not Approved"}, {s.Measurement, s.Decision, "Measurement is not Decision"},
		{s.Approved, twin.Decision, ""}, {s.Approved, other, "two different types are named Approved"},
		{s.Decision, fold, ""}, {fold, s.Decision, "Measurement is not Decision"},
		{s.Decision, OneOf(s.Approved, s.Rejected), ""}, {OneOf(s.Approved, s.Rejected), s.Decision, ""},
		{s.Approved, opt(s.Decision), ""}, {opt(s.Approved), s.Decision, "None is not Decision"}, {opt(s.Approved), opt(s.Decision), ""},
		{StrT, opt(StrT), ""}, {NoneT, opt(StrT), ""}, {opt(StrT), StrT, "None is not str"}, {NoneT, StrT, "None is not str"},
		{OneOf(IntT, StrT), OneOf(StrT, BoolT), "int is not str | bool"},
		{ListOfType(s.Approved), ListOfType(s.Decision), ""}, {ListOfType(s.Decision), ListOfType(s.Approved), "[]: Rejected is not Approved"},
		{DictOfType(StrT), DictOfType(opt(StrT)), ""}, {DictOfType(ListOfType(IntT)), DictOfType(ListOfType(StrT)), "[str][]: int is not str"},
		{ListOfType(IntT), DictOfType(IntT), "list[int] is not dict[str, int]"}, {ListOfType(AnyT), ListOfType(IntT), ""},
		{s.Severity, StrT, ""}, {StrT, s.Severity, "str is not Severity"}, {ListOfType(s.Severity), ListOfType(StrT), ""},
		{s.Approved, bound, ""}, {bound, s.Decision, ""}, {ListOfType(bound), ListOfType(s.Decision), ""},
		{RefTo("X"), RefTo("X"), ""}, {RefTo("X"), RefTo("Y"), "X is not Y"},
		{s.Measurement, DictOfType(AnyT), "Measurement is not dict[str, any]"},
	} {
		got := ""
		for i, r := range Assignable(tc.from, tc.to) {
			if i > 0 {
				got += "; "
			}
			got += r.String()
			if r.From == nil || r.To == nil {
				t.Errorf("%s to %s: a reason without its types", tc.from, tc.to)
			}
		}
		if got != tc.want {
			t.Errorf("%s to %s: %q, want %q", tc.from, tc.to, got, tc.want)
		}
	}
}

func TestUnchecked(t *testing.T) {
	s := newSamples(t)
	for _, tc := range []struct {
		from, to *Type
		want     bool
	}{
		{AnyT, StrT, true}, {AnyT, AnyT, false}, {StrT, AnyT, false}, {ListOfType(AnyT), ListOfType(StrT), true},
		{ListOfType(StrT), ListOfType(AnyT), false}, {ListOfType(AnyT), ListOfType(AnyT), false}, {DictOfType(AnyT), DictOfType(s.Decision), true},
		{ListOfType(AnyT), OneOf(ListOfType(StrT), NoneT), true}, {ListOfType(AnyT), OneOf(ListOfType(AnyT), NoneT), false},
		{s.Approved, s.Decision, false}, {AnyT, s.Decision, true}, {ErrorT, StrT, false}, {StrT, ErrorT, false},
		{OneOf(ListOfType(AnyT), NoneT), OneOf(ListOfType(StrT), NoneT), true},
	} {
		if got := Unchecked(tc.from, tc.to); got != tc.want {
			t.Errorf("%s to %s: %t", tc.from, tc.to, got)
		}
	}
}

func TestJoin(t *testing.T) {
	s := newSamples(t)
	for _, tc := range []struct {
		types, unions []*Type
		want          string // "" for none
	}{
		{nil, nil, ""},
		{[]*Type{StrT, StrT}, nil, "str"},
		{[]*Type{StrT, OneOf(StrT, NoneT)}, nil, "str | None"},
		{[]*Type{s.Approved, s.Rejected}, nil, ""},
		{[]*Type{s.Approved, s.Rejected}, []*Type{s.Expr, s.Decision}, "Decision"},
		{[]*Type{s.Approved, s.Decision}, nil, "Decision"},
		{[]*Type{s.Approved, s.Measurement}, []*Type{s.Decision}, ""},
		{[]*Type{s.Severity, StrT}, nil, "str"},
		{[]*Type{IntT, FloatT}, nil, ""},
		{[]*Type{IntT, AnyT}, nil, "any"},
		{[]*Type{ListOfType(s.Approved), ListOfType(s.Decision)}, nil, "list[Decision]"},
	} {
		got, ok := Join(tc.types, tc.unions)
		if ok != (tc.want != "") || (ok && got.String() != tc.want) {
			t.Errorf("Join(%v, %v) is %v, want %q", tc.types, tc.unions, got, tc.want)
		}
	}
}

// pool makes related random types, so that assignable pairs are no rarity.
func (g *generator) pool() []*Type {
	pool := []*Type{g.typ(3), g.typ(3), NoneT, StrT}
	add := func(t *Type) { pool = append(pool, t) }
	for range 24 {
		a, b := pool[g.Intn(len(pool))], pool[g.Intn(len(pool))]
		switch g.Intn(6) {
		case 0:
			add(ListOfType(a))
		case 1:
			add(DictOfType(a))
		case 2:
			add(OneOf(a, b))
		case 3:
			add(OneOf(a, NoneT))
		case 4:
			add(g.enum())
		case 5:
			u := g.union(1)
			add(u)
			add(u.Variants[0])
			wider, errs := NewUnion(g.name("Wider"), "", u.Tag, append(append([]*Type(nil), u.Variants...), g.schema(0, u.Tag)))
			if len(errs) == 0 {
				add(wider)
			}
		}
	}
	return pool
}

// Without any, assignability is an order: everything fits itself, and what fits through a
// third type fits. Values bear it out: what is a value of one is a value of the other.
func TestAssignableIsAnOrder(t *testing.T) {
	pairs, triples := 0, 0
	for seed := range int64(60) {
		g := newGenerator(seed)
		pool := g.pool()
		fits := func(a, b *Type) bool { return Assignable(a, b) == nil }
		for _, a := range pool {
			if !fits(a, a) {
				t.Fatalf("seed %d: %s does not fit itself", seed, a)
			}
			if !fits(a, OneOf(a, NoneT)) || !fits(a, AnyT) {
				t.Fatalf("seed %d: %s does not fit what is wider", seed, a)
			}
			if Unchecked(a, a) {
				t.Fatalf("seed %d: %s to itself is unchecked", seed, a)
			}
			for _, b := range pool {
				if !fits(a, b) {
					continue
				}
				pairs++
				if !fits(ListOfType(a), ListOfType(b)) || !fits(DictOfType(a), DictOfType(b)) || !fits(OneOf(a, NoneT), OneOf(b, NoneT)) {
					t.Fatalf("seed %d: %s fits %s, but not inside list, dict or | None", seed, a, b)
				}
				if v := g.value(a, 3); b.Conforms(v) != nil {
					t.Fatalf("seed %d: %s fits %s, but its value %s does not: %v", seed, a, b, JSON(v, a), b.Conforms(v))
				}
				if got, ok := Join([]*Type{a, b}, nil); !ok || !fits(a, got) || !fits(b, got) {
					t.Fatalf("seed %d: Join(%s, %s) is %v", seed, a, b, got)
				}
				for _, c := range pool {
					if fits(b, c) {
						triples++
						if !fits(a, c) {
							t.Fatalf("seed %d: %s fits %s fits %s, but the first does not fit the last: %s", seed, a, b, c, fmt.Sprint(Assignable(a, c)))
						}
					}
				}
			}
		}
	}
	if pairs < 1000 || triples < 3000 {
		t.Errorf("too few related types: %d pairs, %d triples", pairs, triples)
	}
}
