package predicate

import (
	"math"
	"math/big"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// A set holds what asks the same: numbers are the same when they are equal.
func TestSetOfNumbers(t *testing.T) {
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
		s := Set{}
		s.Add(pred(t, Eq, "n", row.a))
		if got := s.Has(pred(t, Eq, "n", row.b)); got != row.same {
			t.Errorf("%s and %s: %v", generable.JSON(row.a, nil), generable.JSON(row.b, nil), got)
		}
	}
}
