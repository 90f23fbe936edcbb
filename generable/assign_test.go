package generable_test

import (
	"fmt"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

func TestAssignable(t *testing.T) {
	s := newSamples(t)
	twin := newSamples(t)
	other := gentest.Must(t)(generable.NewSchema("Approved", "another", nil))
	fold := gentest.Must(t)(generable.NewUnion("Fold", "", "", []*generable.Type{s.Approved, s.Rejected, s.Measurement}))
	bound := generable.RefTo("Decision")
	bound.Bind(s.Decision)
	opt := func(t *generable.Type) *generable.Type { return generable.OneOf(t, generable.NoneT) }
	for _, tc := range []struct {
		from, to *generable.Type
		want     string // the reasons, "" when it fits
	}{
		{generable.StrT, generable.StrT, ""}, {generable.IntT, generable.FloatT, "int is not float"}, {generable.FloatT, generable.IntT, "float is not int"}, {generable.BoolT, generable.IntT, "bool is not int"},
		{generable.StrT, generable.AnyT, ""}, {generable.AnyT, generable.StrT, ""}, {generable.AnyT, s.Decision, ""}, {generable.ErrorT, generable.IntT, ""}, {generable.IntT, generable.ErrorT, ""},
		{s.Approved, s.Decision, ""}, {s.Decision, s.Approved, "Rejected is not Approved"}, {s.Measurement, s.Decision, "Measurement is not Decision"},
		{s.Approved, twin.Decision, ""}, {s.Approved, other, "two different types are named Approved"},
		{s.Decision, fold, ""}, {fold, s.Decision, "Measurement is not Decision"},
		{s.Decision, generable.OneOf(s.Approved, s.Rejected), ""}, {generable.OneOf(s.Approved, s.Rejected), s.Decision, ""},
		{s.Approved, opt(s.Decision), ""}, {opt(s.Approved), s.Decision, "None is not Decision"}, {opt(s.Approved), opt(s.Decision), ""},
		{generable.StrT, opt(generable.StrT), ""}, {generable.NoneT, opt(generable.StrT), ""}, {opt(generable.StrT), generable.StrT, "None is not str"}, {generable.NoneT, generable.StrT, "None is not str"},
		{generable.OneOf(generable.IntT, generable.StrT), generable.OneOf(generable.StrT, generable.BoolT), "int is not str | bool"},
		{generable.ListOfType(s.Approved), generable.ListOfType(s.Decision), ""}, {generable.ListOfType(s.Decision), generable.ListOfType(s.Approved), "[]: Rejected is not Approved"},
		{generable.DictOfType(generable.StrT), generable.DictOfType(opt(generable.StrT)), ""}, {generable.DictOfType(generable.ListOfType(generable.IntT)), generable.DictOfType(generable.ListOfType(generable.StrT)), "[str][]: int is not str"},
		{generable.ListOfType(generable.IntT), generable.DictOfType(generable.IntT), "list[int] is not dict[str, int]"}, {generable.ListOfType(generable.AnyT), generable.ListOfType(generable.IntT), ""},
		{s.Severity, generable.StrT, ""}, {generable.StrT, s.Severity, "str is not Severity"}, {generable.ListOfType(s.Severity), generable.ListOfType(generable.StrT), ""},
		{s.Approved, bound, ""}, {bound, s.Decision, ""}, {generable.ListOfType(bound), generable.ListOfType(s.Decision), ""},
		{generable.RefTo("X"), generable.RefTo("X"), ""}, {generable.RefTo("X"), generable.RefTo("Y"), "X is not Y"},
		{s.Measurement, generable.DictOfType(generable.AnyT), "Measurement is not dict[str, any]"},
	} {
		got := ""
		for i, r := range generable.Assignable(tc.from, tc.to) {
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
		from, to *generable.Type
		want     bool
	}{
		{generable.AnyT, generable.StrT, true}, {generable.AnyT, generable.AnyT, false}, {generable.StrT, generable.AnyT, false}, {generable.ListOfType(generable.AnyT), generable.ListOfType(generable.StrT), true},
		{generable.ListOfType(generable.StrT), generable.ListOfType(generable.AnyT), false}, {generable.ListOfType(generable.AnyT), generable.ListOfType(generable.AnyT), false}, {generable.DictOfType(generable.AnyT), generable.DictOfType(s.Decision), true},
		{generable.ListOfType(generable.AnyT), generable.OneOf(generable.ListOfType(generable.StrT), generable.NoneT), true}, {generable.ListOfType(generable.AnyT), generable.OneOf(generable.ListOfType(generable.AnyT), generable.NoneT), false},
		{s.Approved, s.Decision, false}, {generable.AnyT, s.Decision, true}, {generable.ErrorT, generable.StrT, false}, {generable.StrT, generable.ErrorT, false},
		{generable.OneOf(generable.ListOfType(generable.AnyT), generable.NoneT), generable.OneOf(generable.ListOfType(generable.StrT), generable.NoneT), true},
	} {
		if got := generable.Unchecked(tc.from, tc.to); got != tc.want {
			t.Errorf("%s to %s: %t", tc.from, tc.to, got)
		}
	}
}

func TestJoin(t *testing.T) {
	s := newSamples(t)
	for _, tc := range []struct {
		types, unions []*generable.Type
		want          string // "" for none
	}{
		{nil, nil, ""},
		{[]*generable.Type{generable.StrT, generable.StrT}, nil, "str"},
		{[]*generable.Type{generable.StrT, generable.OneOf(generable.StrT, generable.NoneT)}, nil, "str | None"},
		{[]*generable.Type{s.Approved, s.Rejected}, nil, ""},
		{[]*generable.Type{s.Approved, s.Rejected}, []*generable.Type{s.Expr, s.Decision}, "Decision"},
		{[]*generable.Type{s.Approved, s.Decision}, nil, "Decision"},
		{[]*generable.Type{s.Approved, s.Measurement}, []*generable.Type{s.Decision}, ""},
		{[]*generable.Type{s.Severity, generable.StrT}, nil, "str"},
		{[]*generable.Type{generable.IntT, generable.FloatT}, nil, ""},
		{[]*generable.Type{generable.IntT, generable.AnyT}, nil, "any"},
		{[]*generable.Type{generable.ListOfType(s.Approved), generable.ListOfType(s.Decision)}, nil, "list[Decision]"},
	} {
		got, ok := generable.Join(tc.types, tc.unions)
		if ok != (tc.want != "") || (ok && got.String() != tc.want) {
			t.Errorf("Join(%v, %v) is %v, want %q", tc.types, tc.unions, got, tc.want)
		}
	}
}

// poolOf makes related random types, so that assignable pairs are not rare.
func poolOf(g *gentest.Generator) []*generable.Type {
	pool := []*generable.Type{g.Typ(3), g.Typ(3), generable.NoneT, generable.StrT}
	add := func(t *generable.Type) { pool = append(pool, t) }
	for range 24 {
		a, b := pool[g.Intn(len(pool))], pool[g.Intn(len(pool))]
		switch g.Intn(6) {
		case 0:
			add(generable.ListOfType(a))
		case 1:
			add(generable.DictOfType(a))
		case 2:
			add(generable.OneOf(a, b))
		case 3:
			add(generable.OneOf(a, generable.NoneT))
		case 4:
			add(g.Enum())
		case 5:
			u := g.Union(1)
			add(u)
			add(u.Variants[0])
			wider, errs := generable.NewUnion(g.Name("Wider"), "", u.Tag, append(append([]*generable.Type(nil), u.Variants...), g.Schema(0, u.Tag)))
			if len(errs) == 0 {
				add(wider)
			}
		}
	}
	return pool
}

// Without any, assignability is an order: every type fits itself, and what fits through a third type fits. Values
// confirm it: a value of one type is a value of the other.
func TestAssignableIsAnOrder(t *testing.T) {
	pairs, triples := 0, 0
	seeds := int64(60)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		g := gentest.NewGenerator(seed)
		pool := poolOf(g)
		fits := func(a, b *generable.Type) bool { return generable.Assignable(a, b) == nil }
		for _, a := range pool {
			if !fits(a, a) {
				t.Fatalf("seed %d: %s does not fit itself", seed, a)
			}
			if !fits(a, generable.OneOf(a, generable.NoneT)) || !fits(a, generable.AnyT) {
				t.Fatalf("seed %d: %s does not fit what is wider", seed, a)
			}
			if generable.Unchecked(a, a) {
				t.Fatalf("seed %d: %s to itself is unchecked", seed, a)
			}
			for _, b := range pool {
				if !fits(a, b) {
					continue
				}
				pairs++
				if !fits(generable.ListOfType(a), generable.ListOfType(b)) || !fits(generable.DictOfType(a), generable.DictOfType(b)) || !fits(generable.OneOf(a, generable.NoneT), generable.OneOf(b, generable.NoneT)) {
					t.Fatalf("seed %d: %s fits %s, but not inside list, dict or | None", seed, a, b)
				}
				if v := g.Value(a, 3); b.Conforms(v) != nil {
					t.Fatalf("seed %d: %s fits %s, but its value %s does not: %v", seed, a, b, generable.JSON(v, a), b.Conforms(v))
				}
				if got, ok := generable.Join([]*generable.Type{a, b}, nil); !ok || !fits(a, got) || !fits(b, got) {
					t.Fatalf("seed %d: Join(%s, %s) is %v", seed, a, b, got)
				}
				for _, c := range pool {
					if fits(b, c) {
						triples++
						if !fits(a, c) {
							t.Fatalf("seed %d: %s fits %s fits %s, but the first does not fit the last: %s", seed, a, b, c, fmt.Sprint(generable.Assignable(a, c)))
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

// Types that share their parts are compared in time proportional to their number, not to the number of paths through
// them.
func TestAssignShared(t *testing.T) {
	made := func(of *generable.Type) *generable.Type {
		for range 60 {
			of = generable.OneOf(generable.ListOfType(of), generable.ListOfType(generable.ListOfType(of)), generable.DictOfType(of))
		}
		return of
	}
	from, to, wider := made(generable.IntT), made(generable.StrT), made(generable.OneOf(generable.IntT, generable.StrT))
	if why := generable.Assignable(from, to); len(why) == 0 || why[0].Text == "" {
		t.Errorf("ints fit strs: %v", why)
	}
	if why := generable.Assignable(from, wider); why != nil {
		t.Errorf("ints do not fit what takes ints and strs: %v", why)
	}
	if generable.Assignable(wider, from) == nil {
		t.Error("strs fit ints")
	}
}
