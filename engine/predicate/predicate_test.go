package predicate

import (
	"math"
	"math/big"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// Predicates with the same meaning have the same key: equal numbers are the same.
func TestKeysOfNumbers(t *testing.T) {
	const large = 1 << 60
	float := func(f float64) generable.Value {
		v, _ := generable.FloatOf(f)
		return v
	}
	digits, _ := new(big.Int).SetString("1152921504606847000", 10)
	for _, row := range []struct {
		a, b generable.Value
		same bool
	}{
		{float(large), generable.IntOf(large), true},
		{float(large), generable.BigOf(digits), false},
		{generable.IntOf(1<<53 + 1), generable.IntOf(1 << 53), false},
		{float(0), float(math.Copysign(0, -1)), true},
		{float(1.5), float(1.5), true},
		{float(1.5), float(1.25), false},
		{generable.IntOf(1), generable.StrOf("1"), false},
	} {
		key := func(v generable.Value) string { return string(pred(t, Eq, "n", v).appendKey(nil)) }
		if got := key(row.a) == key(row.b); got != row.same {
			t.Errorf("%s and %s: %v", generable.JSON(row.a, nil), generable.JSON(row.b, nil), got)
		}
	}
}

func TestOfText(t *testing.T) {
	for text, want := range map[string]string{
		"score > 3":       `gt("score", 3)`,
		"a.b<=0.5":        `le("a.b", 0.5)`,
		" kind == 'bug' ": `eq("kind", "bug")`,
		"ok = true":       `eq("ok", True)`,
		"n != x":          `ne("n", "x")`,
		"score":           "", "> 3": "", "a > 3 and b": "", "len(x) > 3": "", "a => 3": "", "": "",
	} {
		got := ""
		if p := OfText(text); p != nil {
			got = p.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
