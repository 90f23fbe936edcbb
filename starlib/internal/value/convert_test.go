package value

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
)

// anyValue returns a random value of the engine.
func anyValue(r *rand.Rand, depth int, point *generable.Type) generable.Value {
	n := 9
	if depth == 0 {
		n = 6
	}
	switch r.IntN(n) {
	case 0:
		return generable.Value{}
	case 1:
		return generable.BoolOf(r.IntN(2) == 0)
	case 2:
		return generable.IntOf(r.Int64() - r.Int64())
	case 3:
		i := new(big.Int).Lsh(big.NewInt(r.Int64()-r.Int64()), 70)
		return generable.BigOf(i)
	case 4:
		v, _ := generable.FloatOf(r.NormFloat64() * 1e10)
		return v
	case 5:
		return generable.StrOf(strings.Repeat("é\x00\"z", r.IntN(4)))
	case 6:
		items := make([]generable.Value, r.IntN(12))
		for i := range items {
			items[i] = anyValue(r, depth-1, point)
		}
		return generable.NewList(items).Value()
	case 7:
		m := generable.NewMap(0)
		for range r.IntN(12) {
			m.Set(string(rune('a'+r.IntN(26))), anyValue(r, depth-1, point))
		}
		return m.Value()
	}
	return generable.NewRecord(point, []generable.Value{anyValue(r, depth-1, point), anyValue(r, depth-1, point)}).Value()
}

// TestValuesCrossUnchanged checks that a value that enters the script and leaves it is equal, keeps the order of its
// keys, and comes back as the same script value.
func TestValuesCrossUnchanged(t *testing.T) {
	point, errs := generable.NewSchema("Point", "", []generable.Field{{Name: "x", Type: generable.AnyT}, {Name: "from", Type: generable.AnyT}})
	if errs != nil {
		t.Fatal(errs)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		v := anyValue(r, 4, point)
		form := FromData(v)
		back, err := ToData(form)
		if err != nil {
			t.Fatalf("%s: %v", generable.JSON(v, nil), err)
		}
		if !generable.Equal(v, back) || generable.JSON(v, nil) != generable.JSON(back, nil) {
			t.Fatalf("%s came back as %s", generable.JSON(v, nil), generable.JSON(back, nil))
		}
		if again := FromData(v); containers(form) && again != form {
			t.Fatalf("%s has two forms", generable.JSON(v, nil))
		}
		switch form := form.(type) {
		case *starlark.List:
			if form.Append(starlark.None) == nil {
				t.Fatal("a list that entered the script can be changed")
			}
		case *starlark.Dict:
			if form.SetKey(starlark.String("new"), starlark.None) == nil {
				t.Fatal("a dict that entered the script can be changed")
			}
		}
	}
}

func containers(v starlark.Value) bool {
	switch v.(type) {
	case *starlark.List, *starlark.Dict, *Record:
		return true
	}
	return false
}

// TestEqualValuesHashTheSame checks that hash and equality of instances agree.
func TestEqualValuesHashTheSame(t *testing.T) {
	point := &generable.Type{Kind: generable.RecordType, Name: "P", Fields: []generable.Field{{Name: "x", Type: generable.AnyT}}}
	make := func(v generable.Value) starlark.Value {
		return FromData(generable.NewRecord(point, []generable.Value{v}).Value())
	}
	one, _ := generable.FloatOf(1)
	zero, _ := generable.FloatOf(0)
	negative, _ := generable.FloatOf(-1 * 0.0)
	ab, ba := generable.NewMap(2), generable.NewMap(2)
	ab.Set("a", generable.IntOf(1))
	ab.Set("b", generable.IntOf(2))
	ba.Set("b", generable.IntOf(2))
	ba.Set("a", one)
	for _, pair := range [][2]generable.Value{{generable.IntOf(1), one}, {zero, negative}, {ab.Value(), ba.Value()}} {
		a, b := make(pair[0]), make(pair[1])
		same, err := starlark.Equal(a, b)
		if err != nil || !same {
			t.Errorf("%s and %s differ: %v", a, b, err)
		}
		x, _ := a.Hash()
		y, _ := b.Hash()
		if x != y {
			t.Errorf("%s and %s hash to %d and %d", a, b, x, y)
		}
	}
	a, _ := make(generable.StrOf("ab")).Hash()
	b, _ := make(generable.StrOf("ba")).Hash()
	if a == b {
		t.Error("different instances hash the same")
	}
}

// TestFrozenOnLeaving checks that a list is frozen when it leaves, and comes back unchanged unless it contains tuples,
// which always come back as lists.
func TestFrozenOnLeaving(t *testing.T) {
	plain := starlark.NewList([]starlark.Value{starlark.MakeInt(1), starlark.NewList(nil)})
	v, err := ToData(plain)
	if err != nil {
		t.Fatal(err)
	}
	Freeze(plain, v)
	if plain.Append(starlark.None) == nil {
		t.Error("the list is not frozen")
	}
	if FromData(v) != starlark.Value(plain) {
		t.Error("an unchanged list does not come back at no cost")
	}
	tupled := starlark.NewList([]starlark.Value{starlark.Tuple{starlark.MakeInt(1)}})
	v, err = ToData(tupled)
	if err != nil {
		t.Fatal(err)
	}
	Freeze(tupled, v)
	if got := FromData(v).String(); got != "[[1]]" {
		t.Errorf("a tuple came back as %s", got)
	}
}

// TestSharedStructureIsConvertedOnce checks that 2^60 paths to one list cost only 60 lists.
func TestSharedStructureIsConvertedOnce(t *testing.T) {
	v := starlark.Value(starlark.NewList(nil))
	for range 20 {
		v = starlark.NewList([]starlark.Value{v, v})
	}
	if _, err := ToData(v); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		v = starlark.NewList([]starlark.Value{v, v})
	}
	if _, err := ToData(v); err == nil || !strings.Contains(err.Error(), "more than 20000000 items") {
		t.Errorf("got %v", err)
	}
}

func TestDeepAndCyclicValues(t *testing.T) {
	deep := func(n int) starlark.Value {
		v := starlark.Value(starlark.MakeInt(1))
		for range n {
			v = starlark.NewList([]starlark.Value{v})
		}
		return v
	}
	if _, err := ToData(deep(maxDepth)); err != nil {
		t.Error(err)
	}
	if _, err := ToData(deep(maxDepth + 2)); err == nil || !strings.Contains(err.Error(), "nested more than") {
		t.Errorf("got %v", err)
	}
	list := starlark.NewList(nil)
	dict := starlark.NewDict(1)
	if err := errors.Join(list.Append(dict), list.Append(list), dict.SetKey(starlark.String("up"), list)); err != nil {
		t.Fatal(err)
	}
	for _, v := range []starlark.Value{list, dict} {
		if _, err := ToData(v); err == nil || !strings.Contains(err.Error(), "contains itself") {
			t.Errorf("%s: got %v", v.Type(), err)
		}
	}
}

// FuzzCrossing passes Starlark expressions through the boundary.
func FuzzCrossing(f *testing.F) {
	for _, s := range []string{"[1, 2.5]", `{"a": (1, None)}`, "range(3)", "set([1])", "[lambda: 1]", `"é"[:1]`, "{1: 2}", "b\"x\"", "1 << 80", "float('nan')"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		if len(expr) > 200 {
			return
		}
		thread := &starlark.Thread{}
		thread.SetMaxExecutionSteps(1000)
		v, err := starlark.EvalOptions(&syntax.FileOptions{}, thread, "x", expr, nil)
		if err != nil {
			return
		}
		out, err := ToData(v)
		if err != nil {
			return
		}
		back, err := ToData(FromData(out))
		if err != nil || !generable.Equal(out, back) {
			t.Errorf("%s: %s came back as %s, %v", expr, generable.JSON(out, nil), generable.JSON(back, nil), err)
		}
	})
}

// TestCutCharacters checks that a str that was cut inside a character cannot leave the script, and that the error says
// how to cut.
func TestCutCharacters(t *testing.T) {
	for _, v := range []starlark.Value{starlark.String("日本")[:4], starlark.NewList([]starlark.Value{starlark.String("é")[:1]})} {
		_, err := ToData(v)
		var cannot *ConvertError
		if !errors.As(err, &cannot) || !strings.Contains(cannot.Help, "truncate(s, 80)") {
			t.Errorf("%q: %v", v, err)
		}
	}
}
