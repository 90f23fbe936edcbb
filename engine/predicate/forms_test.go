package predicate

import (
	"math"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/sample"
)

func float(f float64) generable.Value {
	v, _ := generable.FloatOf(f)
	return v
}

func TestFoldedHolds(t *testing.T) {
	str := generable.StrOf
	for _, row := range []struct {
		op        Op
		with, v   generable.Value
		folded    bool
		unchanged bool // as without fold
	}{
		{Eq, str("Yes"), str("yES"), true, false},
		{Eq, str("Yes"), str("no"), false, true},
		{Eq, str("straße"), str("STRASSE"), false, true}, // characters are compared one by one
		{Eq, str("k"), str("\u212a"), true, false},
		{Ne, str("Yes"), str("yes"), false, false},
		{Ge, str("en"), str("EN"), true, false},
		{Le, str("en"), str("EN"), true, true},
		{Lt, str("B"), str("a"), true, false},
		{Gt, str("B"), str("a"), false, false},
		{Gt, str("é"), str("É"), false, true},
		{Eq, str("1"), generable.IntOf(1), false, true},
		{Eq, generable.IntOf(1), float(1), true, true},
		{Ge, generable.IntOf(1), float(2), true, true},
		{Eq, generable.BoolOf(true), generable.BoolOf(true), true, true},
	} {
		plain := pred(t, row.op, "", row.with)
		p := plain.Folded()
		if got := p.Holds(row.v); got != row.folded || (got == plain.Holds(row.v)) != row.unchanged {
			t.Errorf("%s of %s: %t, without fold %t", p, generable.JSON(row.v, nil), got, plain.Holds(row.v))
		}
		if plain.IsFolded() || !p.IsFolded() {
			t.Errorf("%s and %s", plain, p)
		}
	}
}

func TestExactHolds(t *testing.T) {
	list := func(v ...generable.Value) generable.Value { return generable.NewList(v).Value() }
	one := generable.IntOf(1)
	dict := generable.NewMap(2)
	dict.Set("a", one)
	dict.Set("b", float(2))
	turned := generable.NewMap(2)
	turned.Set("b", float(2))
	turned.Set("a", one)
	for _, row := range []struct {
		with, v generable.Value
		same    bool
	}{
		{generable.IntOf(42), generable.IntOf(42), true},
		{generable.IntOf(42), float(42), false},
		{float(42), generable.IntOf(42), false},
		{float(42), float(42), true},
		{float(0), float(math.Copysign(0, -1)), true},
		{generable.StrOf("a"), generable.StrOf("a"), true},
		{generable.StrOf("a"), generable.StrOf("A"), false},
		{list(one, one), list(one, one), true},
		{list(one, one), list(one, float(1)), false},
		{dict.Value(), turned.Value(), true},
		{generable.Value{}, generable.Value{}, true},
		{one, generable.BoolOf(true), false},
	} {
		eq, ne := pred(t, Eq, "", row.with).Exact(), pred(t, Ne, "", row.with).Exact()
		if eq.Holds(row.v) != row.same || ne.Holds(row.v) == row.same {
			t.Errorf("%s of %s: want %t", eq, generable.JSON(row.v, nil), row.same)
		}
	}
}

// And, Or and Not change each operand, and the original predicate stays unchanged.
func TestFormsOfCombinations(t *testing.T) {
	p := pred(t, Eq, "", generable.StrOf("A")).And(pred(t, Gt, "n", generable.IntOf(1)).Or(pred(t, Has, "n"))).Or(Always().Not())
	was := p.String()
	if got := p.Folded().Exact().String(); got != `(eq("A", fold = True, exact = True) & (gt("n", 1, fold = True) | has("n"))) | ~always` {
		t.Error(got)
	}
	if p.String() != was || p.Folded().Size() != p.Size() {
		t.Error(p)
	}
	if _, err := New(True, "n", nil); err == nil {
		t.Error("a constant has a field")
	}
	if p, err := New(False, "", nil); err != nil || p.Holds(generable.IntOf(1)) || p.String() != "never" || p.Op() != False {
		t.Error(p, err)
	}
}

func TestMismatchesOfForms(t *testing.T) {
	level, _ := generable.NewEnum("Level", "", []string{"Low", "high"})
	str := generable.StrOf
	for _, row := range []struct {
		p    *Predicate
		of   *generable.Type
		want string
	}{
		{pred(t, Eq, "", generable.BoolOf(true)).Folded(), generable.BoolT, "eq(True, fold = True): fold compares texts without regard to case, and True is no text"},
		{pred(t, Ge, "", generable.IntOf(80)).Folded(), generable.AnyT, "ge(80, fold = True): fold compares texts without regard to case, and 80 is no text"},
		{pred(t, Ge, "", str("m")).Folded(), generable.IntT, `ge("m", fold = True) can never hold for int`},
		{pred(t, Ge, "", str("m")).Folded(), generable.StrT, ""},
		{pred(t, Eq, "", str("LOW")).Folded(), level, ""},
		{pred(t, Eq, "", str("LOW")), level, `eq("LOW") can never hold for one of "Low", "high"`},
		{pred(t, Eq, "", str("mid")).Folded(), level, `eq("mid", fold = True) can never hold for one of "Low", "high"`},
		{pred(t, Eq, "", float(42)).Exact(), generable.IntT, "eq(42.0, exact = True) can never hold for int: 42.0 is of type float"},
		{pred(t, Eq, "", generable.IntOf(42)).Exact(), generable.FloatT, "eq(42, exact = True) can never hold for float: 42 is of type int"},
		{pred(t, Eq, "", float(42)).Exact(), generable.OneOf(generable.IntT, generable.FloatT), ""},
		{pred(t, Eq, "", float(42)).Exact(), generable.StrT, "eq(42.0, exact = True) can never hold for str"},
		{Always().And(Never()), generable.NoneT, ""},
	} {
		if got := strings.Join(row.p.Mismatches(row.of), "; "); got != row.want {
			t.Errorf("%s of %s: %q", row.p, row.of, got)
		}
	}
	if got := pred(t, Eq, "", str("HIHG")).Folded().NearValue(level); got != "high" {
		t.Errorf("near is %q", got)
	}
	if got := Always().Subjects(); len(got) != 0 {
		t.Errorf("always tests %q", got)
	}
}

func TestMended(t *testing.T) {
	point := &generable.Type{Kind: generable.RecordType, Name: "Point", Fields: []generable.Field{{Name: "x", Type: generable.IntT}, {Name: "y", Type: generable.FloatT}}}
	for _, row := range []struct {
		p    *Predicate
		want string
	}{
		{pred(t, Eq, "x", generable.IntOf(1)).Folded().And(pred(t, Eq, "y", generable.IntOf(42)).Exact().Not()), `eq("x", 1) & ~eq("y", 42.0, exact = True)`},
		{pred(t, Eq, "x", float(42)).Exact(), `eq("x", 42, exact = True)`},
		{pred(t, Eq, "x", float(4.5)).Exact(), ""},
		{pred(t, Eq, "z", float(4)).Exact(), ""},
		{pred(t, Eq, "x", generable.StrOf("a")).Exact().Folded(), ""},
		{pred(t, Eq, "x", generable.IntOf(4)).Exact().Or(Never()), ""},
	} {
		got := ""
		if p := row.p.Corrected(point); p != nil {
			got = p.String()
		}
		if got != row.want {
			t.Errorf("%s becomes %q, want %q", row.p, got, row.want)
		}
	}
}

func TestSettledConstants(t *testing.T) {
	for _, of := range []*generable.Type{generable.IntT, generable.AnyT, generable.StrT, generable.NoneT, generable.OneOf(generable.BoolT, generable.ListOfType(generable.IntT))} {
		if never, always := Always().Settled(of); never || !always {
			t.Errorf("always on %s: never %t, always %t", of, never, always)
		}
		if never, always := Never().Or(Always().Not()).Settled(of); !never || always {
			t.Errorf("never on %s: never %t, always %t", of, never, always)
		}
	}
}

// Tests with the same meaning share the answer that is known only at run time; all others do not.
func TestKeysOfForms(t *testing.T) {
	key := func(p *Predicate) string { return string(p.appendKey(nil)) }
	m, whole := generable.StrOf("m"), generable.IntOf(42)
	same := [][2]*Predicate{{pred(t, Ge, "", m).Folded(), pred(t, Ge, "", generable.StrOf("M")).Folded()}, {pred(t, Eq, "", whole), pred(t, Eq, "", float(42))}}
	others := [][2]*Predicate{{pred(t, Ge, "", m).Folded(), pred(t, Ge, "", m)}, {pred(t, Eq, "", whole).Exact(), pred(t, Eq, "", whole)},
		{pred(t, Eq, "", whole).Exact(), pred(t, Eq, "", float(42)).Exact()}, {Always(), Never()}}
	for _, pair := range same {
		if key(pair[0]) != key(pair[1]) {
			t.Errorf("%s and %s ask the same", pair[0], pair[1])
		}
	}
	for _, pair := range others {
		if key(pair[0]) == key(pair[1]) {
			t.Errorf("%s and %s do not ask the same", pair[0], pair[1])
		}
	}
}

// Values are generated for the checks of fields that compare in these ways.
func TestHintsOfForms(t *testing.T) {
	level, _ := generable.NewEnum("Level", "", []string{"Low", "high", "other"})
	text := func(op Op, s string) *Predicate { return pred(t, op, "", generable.StrOf(s)) }
	for _, row := range []struct {
		check *Predicate
		of    *generable.Type
	}{
		{text(Ge, "m").Folded(), generable.StrT}, {text(Gt, "Müll.").Folded(), generable.StrT}, {text(Le, "5"), generable.StrT}, {text(Lt, "5"), generable.StrT},
		{text(Lt, "B").Folded(), generable.StrT}, {text(Lt, "a").Folded(), generable.StrT}, {text(Ge, "m"), generable.StrT}, {text(Ge, "k").And(text(Lt, "L")).Folded(), generable.StrT},
		{text(Eq, "Yes (a)").Folded(), generable.StrT}, {text(Eq, "LOW").Folded(), level}, {text(Ne, "low").And(text(Ne, "HIGH")).Folded(), level},
		{pred(t, Eq, "", float(42)).Exact(), generable.FloatT}, {pred(t, Eq, "", generable.IntOf(42)).Exact(), generable.OneOf(generable.FloatT, generable.IntT)},
		{Always().And(text(Ge, "m")), generable.StrT}, {text(Lt, "").Not(), generable.StrT}, {Never().Not(), generable.BoolT},
	} {
		check := &generable.Check{Says: row.check.String(), Holds: row.check.Holds, Hints: row.check.Hints}
		made, err := generable.NewSchema("Made", "", []generable.Field{{Name: "v", Type: row.of, Limits: &generable.Limits{Check: check}}})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(6) {
			v, err := sample.New(seed).Value(made, "test")
			if err != nil {
				t.Errorf("%s on %s: %v", row.check, row.of, err)
				break
			}
			r, _ := v.AsRecord()
			if got, _ := r.Get("v"); !row.check.Holds(got) {
				t.Errorf("%s does not hold of %s", row.check, generable.JSON(got, nil))
			}
		}
	}
	spelled := map[string]bool{}
	for _, l := range text(Eq, "Yes").Folded().Hints() {
		spelled[l.Pattern] = true
	}
	if !spelled["^Yes$"] || !spelled["^yes$"] || !spelled["^YES$"] || len(spelled) != 3 {
		t.Errorf("spellings are %v", spelled)
	}
}
